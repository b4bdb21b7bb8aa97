//! Programs whose every time is known: tables that others measured, and truths that are formulas.

use std::collections::BTreeMap;
use std::path::Path;

use mmgp_base::table::Source;
use mmgp_base::table::records::Run;
use mmgp_base::{Mapping, Result, Site};
use mmgp_intake::{Claims, runs};
use mmgp_model::statistics::median;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A program.
pub struct Problem {
    pub name: String,
    /// Whether somebody measured it; otherwise its times are a formula's.
    pub is_table: bool,
    /// The true time of each configuration, and all that were measured; none of a formula.
    pub configurations: BTreeMap<Site, (f64, Vec<f64>)>,
    /// Values of further factors at each level; one level without any where there are none.
    pub levels: Vec<Vec<String>>,
}

/// Noise of the runs of a formula, relative.
const NOISE: f64 = 0.02;

/// Tables whose first repetition is a warm-up, as their source has it.
const WARM_UP: [&str; 1] = ["cp2k_h2o64"];

type Truth = fn(f64, f64) -> f64;

fn step(is_beyond: bool) -> f64 {
    f64::from(u8::from(is_beyond))
}

/// Times \[s\] on 16 APUs.
const TRUTHS: [(&str, Truth); 7] = [
    ("equation 11", |m, p| 6.0 * (1.0 + 0.35 * (m - 1.0)) + 360.0 / (m * p) + 11.1 + 4.2 * p),
    ("slope in m", |m, p| 12.0 + 3.0 * m + 400.0 / (m * p) + 1.5 * p),
    ("bandwidth", |m, p| {
        6.0 * (1.0 + 0.35 * (m - 1.0)) + 360.0 / (m * p).min(7.0) + 11.1 + 4.2 * p
    }),
    ("NUMA", |m, p| {
        let steps = 1.5 * step(m > 4.0) + 2.5 * step(m > 8.0);
        let shared = 360.0 / (m * p) * (1.0 + 0.3 * step(p > 4.0));
        6.0 * (1.0 + 0.1 * (m - 1.0) + steps) + shared + 11.1 + 2.0 * p
    }),
    ("20 tasks", |m, p| {
        6.0 * (1.0 + 0.15 * (m - 1.0)) + 18.0 * (20.0 / (m * p)).ceil() + 5.0 + 2.0 * p
    }),
    ("serial parts", |m, p| 20.0 + 40.0 / m + 300.0 / (m * p)),
    ("APUs", |m, p| 1.3 * (1.0 + 0.08 * (m - 1.0)) + 360.0 / (m * p) + 0.705 + 0.042 * p),
];

/// Tables of the same program on the same configurations in several versions, as a factor of so many values.
const VERSIONS: [(&str, &[&str]); 3] = [
    ("radix sort by version", &["radix_sort_pipeline", "radix_sort_run"]),
    ("mandelbrot by author", &["mandelbrot_fayas", "mandelbrot_feyenc"]),
    ("epidemic by machine", &["epidemic_laptop", "epidemic_cloud"]),
];

/// The part of the time that factors of a formula take or save, at (m, p).
type Effect = fn(f64, f64) -> f64;

/// Three factors of two values each: what all do alike, one that depends on p, one on m.
const EFFECTS: [Effect; 3] = [|_, _| 0.15, |_, p| 0.1 - 0.12 * p.ln(), |m, _| 0.1 - 0.08 * m.ln()];

/// All tables of a folder, then all formulas, then both with further factors.
///
/// # Errors
/// As [`runs`].
pub fn all(data: &Path) -> Result<Vec<Problem>> {
    let mut files: Vec<_> = std::fs::read_dir(data)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "csv"));
    files.sort();
    let mut problems = files.iter().map(|path| table(path)).collect::<Result<Vec<_>>>()?;
    problems.extend(TRUTHS.into_iter().map(|(name, truth)| {
        let of =
            |it: Mapping| (it.into(), (truth(f64::from(it.m()), f64::from(it.p())), Vec::new()));
        let configurations = mmgp_model::decide::feasible(16).map(of).collect();
        let levels = vec![Vec::new()];
        Problem { name: name.to_string(), is_table: false, configurations, levels }
    }));
    let versions = VERSIONS.iter().filter_map(|(name, tables)| versions(name, tables, &problems));
    let versions: Vec<Problem> = versions.collect();
    problems.extend(versions);
    problems.extend(TRUTHS.into_iter().map(|(name, truth)| with_factors(name, truth)));
    Ok(problems)
}

/// Tables as the levels of one factor, at the configurations that all have; `None` where one is not here.
fn versions(name: &str, tables: &[&str], problems: &[Problem]) -> Option<Problem> {
    let find = |table: &&str| problems.iter().find(|it| it.name == **table);
    let of: Vec<&Problem> = tables.iter().map(find).collect::<Option<_>>()?;
    let is_in_all = |site: &Site| of.iter().all(|it| it.configurations.contains_key(site));
    let at = |(level, problem): (u32, &&Problem)| {
        let both = problem.configurations.iter().filter(|(site, _)| is_in_all(site));
        let of_level = |(site, times): (&Site, &(f64, Vec<f64>))| {
            (Site::new(site.mapping, level), times.clone())
        };
        both.map(of_level).collect::<Vec<_>>()
    };
    Some(Problem {
        name: name.to_string(),
        is_table: true,
        configurations: (0..).zip(&of).flat_map(at).collect(),
        levels: tables.iter().map(|it| vec![(*it).to_string()]).collect(),
    })
}

/// A formula with three factors, on powers of two.
fn with_factors(name: &str, truth: Truth) -> Problem {
    let has = |level: u32, factor: usize| level >> factor & 1 == 1;
    let powers = mmgp_model::decide::feasible(16)
        .filter(|it| it.m().is_power_of_two() && it.p().is_power_of_two());
    let powers: Vec<Mapping> = powers.collect();
    let at = |level: u32| {
        let of = move |&it: &Mapping| {
            let (m, p) = (f64::from(it.m()), f64::from(it.p()));
            let effect = |(factor, effect): (usize, &Effect)| match has(level, factor) {
                true => 1.0 + effect(m, p),
                false => 1.0,
            };
            let effects: f64 = EFFECTS.iter().enumerate().map(effect).product();
            (Site::new(it, level), (truth(m, p) * effects, Vec::new()))
        };
        powers.iter().map(of).collect::<Vec<_>>()
    };
    let values = |level| (0..EFFECTS.len()).map(|it| has(level, it).to_string()).collect();
    Problem {
        name: format!("{name} with three factors"),
        is_table: false,
        configurations: (0..8).flat_map(at).collect(),
        levels: (0..8).map(values).collect(),
    }
}

fn table(path: &Path) -> Result<Problem> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (rows, _) = runs(&Source::read(path)?, &Claims::default())?;
    let first = if WARM_UP.contains(&name.as_str()) { 2 } else { 1 };
    let mut times: BTreeMap<Mapping, Vec<f64>> = BTreeMap::new();
    for Run { m, p, repetition, time_s } in rows {
        if repetition >= first {
            times.entry(Mapping::new(m, p)?).or_default().push(time_s);
        }
    }
    let with_truth =
        |(at, times): (Mapping, Vec<f64>)| (at.into(), (median_of_logs(&times).exp(), times));
    let configurations = times.into_iter().map(with_truth).collect();
    Ok(Problem { name, is_table: true, configurations, levels: vec![Vec::new()] })
}

fn median_of_logs(times: &[f64]) -> f64 {
    median(times.iter().map(|time| time.ln()).collect()).expect("every configuration has a time")
}

impl Problem {
    /// What a configuration takes longer than the fastest, relative to that.
    pub fn regret(&self, site: Site) -> f64 {
        let all = self.configurations.values().map(|(truth, _)| *truth);
        self.configurations[&site].0 / all.fold(f64::INFINITY, f64::min) - 1.0
    }

    /// The times of so many runs of each configuration, in the order of the configurations: those
    /// measured in an order by chance, again from the start when used up; of a formula, with noise.
    pub fn script(&self, seed: u64, runs: usize) -> BTreeMap<Site, Vec<f64>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let times = |(&at, (truth, measured)): (&Site, &(f64, Vec<f64>))| {
            let mut measured = measured.clone();
            measured.shuffle(&mut random);
            let times = if measured.is_empty() {
                let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
                (0..runs).map(|_| truth * (1.0 + NOISE * normal()).max(0.5)).collect()
            } else {
                measured.iter().copied().cycle().take(runs).collect()
            };
            (at, times)
        };
        self.configurations.iter().map(times).collect()
    }
}
