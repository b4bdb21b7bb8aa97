//! Whatever a fit returns can be written, read back and predicted from: random programs, measured by
//! files and runs that agree or contradict each other, at times of every size.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::refined::Traffic;
use super::super::shape::{Selection, Shape, TermChoices};
use super::super::{FileRows, FitResult, Inputs, Options, RefinedCounts, Runs, Settings, fit};
use super::trials::measured;
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use crate::models::refined::Placement;
use crate::models::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;
use mmgp_base::table::records::{MemoryStream, Run};

/// Programs that are tried of all; `cargo run -p fuzz` tries any number of fresh ones.
const PROGRAMS: u64 = 2_000;

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn happens(&mut self, probability: f64) -> bool {
        self.0.random_range(0.0..1.0) < probability
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.random_range(0..all.len())]
    }

    /// A power of ten between these exponents.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.0.random_range(low..high))
    }

    /// Mostly `usual`, sometimes nothing at all.
    fn or_nothing(&mut self, usual: f64) -> f64 {
        if self.happens(0.2) { 0.0 } else { usual }
    }

    /// A factor of noise that keeps a time above 0.
    fn noise(&mut self, size: f64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.0);
        (size * normal).exp()
    }

    /// A program whose times are around `scale` seconds.
    fn program(&mut self, scale: f64) -> Parameters {
        let decomposition = match self.happens(0.3) {
            true => Decomposition::Task { tasks: self.0.random_range(1..40) },
            false => Decomposition::Data,
        };
        let offloads = self.one_of(&[1.0, 10.0, 1e3, 1e6]);
        let mut time = |divisor: f64| {
            let size = scale / divisor * self.power(-3.0, 1.0);
            Estimate::exact(self.or_nothing(size))
        };
        let [t_hpu_s, t_apu_s, c_apu_s] = [0; 3].map(|_| time(1.0));
        let [o_offload_s, t_csw_s, g_s, o_col] = [0; 4].map(|_| time(10.0 * offloads));
        let (slope, bend) = (self.power(-3.0, 0.5), self.0.random_range(0.2..2.0));
        let slope = self.or_nothing(slope);
        let alpha = |m: u32| Estimate::exact(1.0 + slope * f64::from(m - 1).powf(bend));
        let terms = Terms {
            t_hpu_s,
            t_apu_s,
            c_apu_s,
            offloads: Estimate::exact(offloads),
            o_offload_s,
            t_csw_s,
            g_s,
            collectives: self.happens(0.5).then(|| Estimate::exact(offloads)),
            alpha: OverM::Table(Table::new((1..=16).collect(), (1..=16).map(alpha).collect())),
            o_col_s: OverM::Constant(o_col),
        };
        Parameters::new("truth", decomposition, self.one_of(&[1, 4, 16, 64]), terms)
    }

    /// Some of the configurations: any, of one m, of one p, without (1, 1), or next to none.
    fn configurations(&mut self) -> Vec<(u32, u32)> {
        let all = (1..=8_u32).flat_map(|m| (1..=8_u32).map(move |p| (m, p)));
        let (fixed, kind) = (self.0.random_range(1..9), self.0.random_range(0..6));
        let is_allowed = |&(m, p): &(u32, u32)| match kind {
            0 => m == fixed,
            1 => p == fixed,
            2 => m > 1,
            3 => m.is_power_of_two() && p.is_power_of_two(),
            4 => m == 1 || p == 1,
            _ => true,
        };
        let allowed: Vec<(u32, u32)> = all.filter(is_allowed).collect();
        let wanted = self.0.random_range(1..9).min(allowed.len());
        let mut chosen: Vec<(u32, u32)> = (0..wanted).map(|_| self.one_of(&allowed)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        if self.happens(0.05) {
            let factor = self.one_of(&[100, 10_000]);
            chosen.iter_mut().for_each(|each| each.0 = each.0.saturating_mul(factor));
        }
        chosen
    }

    fn runs(&mut self, truth: &Parameters, inputs: &mut Inputs) {
        let noise = self.one_of(&[0.0, 1e-3, 0.02, 0.3]);
        let misfit = self.one_of(&[0.0, 0.0, 0.1, 1.0]);
        let mut rows = Vec::new();
        for (m, p) in self.configurations() {
            let time = truth.time(Mapping::of(m, p)).0 * self.noise(misfit);
            for repetition in 1..=self.0.random_range(1..4) {
                let wild = if self.happens(0.02) { 1000.0 } else { 1.0 };
                let time_s = time * self.noise(noise) * wild;
                rows.push(Run { m, p, repetition, time_s });
            }
        }
        if let Ok((runs, _)) = Runs::from_rows("runs.csv", &rows) {
            inputs.runs = Some(runs);
        }
    }

    /// What micro-benchmarks and profile say of the program, each file off by a factor of its own.
    fn files(&mut self, truth: &Parameters) -> Inputs {
        let exact = measured(truth);
        let contradicts = self.happens(0.5);
        let noise = self.one_of(&[0.0, 1e-3, 0.05, 0.5]);
        let Inputs { mut alpha, mut offload, mut context_switch, mut collective, .. } = exact;
        let mut profile = exact.profile;
        let mut off = || if contradicts { self.power(-1.0, 1.0) } else { 1.0 };
        let factors = [0; 8].map(|_| off());
        let mut keep = |probability: f64| self.happens(probability);
        let kept = [0.5, 0.4, 0.4, 0.5, 0.5].map(&mut keep);
        // Small files make quick fits.
        let last = if keep(0.02) { 16 } else { 3 };
        alpha.iter_mut().for_each(|file| file.rows.retain(|row| row.processes <= last));
        collective.iter_mut().for_each(|file| file.rows.retain(|row| row.ranks <= last));
        // A slowdown is off at all m > 1 alike, or at each by itself.
        let each_by_itself = keep(0.5);
        for row in alpha.iter_mut().flat_map(|file| &mut file.rows) {
            let off =
                if each_by_itself && contradicts { self.power(-1.0, 1.0) } else { factors[0] };
            row.time_s *= self.noise(noise) * if row.processes > 1 { off } else { 1.0 };
        }
        for row in offload.iter_mut().flat_map(|file| &mut file.rows) {
            row.time_s *= self.noise(noise) * factors[1];
        }
        for row in context_switch.iter_mut().flat_map(|file| &mut file.rows) {
            row.time_s *= self.noise(noise) * factors[2];
        }
        for row in collective.iter_mut().flat_map(|file| &mut file.rows) {
            row.time_s *= self.noise(noise) * factors[3];
        }
        for row in profile.iter_mut().flat_map(|file| &mut file.rows) {
            row.hpu_time_s *= self.noise(noise) * factors[4];
            row.apu_parallel_time_s *= self.noise(noise) * factors[5];
            row.apu_serial_time_s *= self.noise(noise) * factors[6];
            row.gap_time_s *= self.noise(noise) * factors[7];
        }
        Inputs {
            alpha: alpha.filter(|_| kept[0]),
            offload: offload.filter(|_| kept[1]),
            context_switch: context_switch.filter(|_| kept[2]),
            collective: collective.filter(|_| kept[3]),
            profile: profile.filter(|_| kept[4]),
            memory: self.happens(0.1).then(|| self.memory()),
            prior: self.happens(0.1).then(|| self.prior(truth)),
            ..Inputs::default()
        }
    }

    fn memory(&mut self) -> FileRows<MemoryStream> {
        let row = |accelerators: u32| MemoryStream {
            accelerators,
            bytes: 1 << 20,
            repetition: 1,
            time_s: f64::from(accelerators.max(4)) * 1e-3,
        };
        FileRows { file: "memory.csv".into(), rows: (1..=8).map(row).collect() }
    }

    fn prior(&mut self, truth: &Parameters) -> Parameters {
        let mut prior = truth.clone();
        for entry in prior.terms.entries() {
            let factor = self.power(-1.0, 1.0);
            let relative = self.one_of(&[None, Some(0.0), Some(0.1), Some(3.0)]);
            let is_alpha = entry.term == Term::Alpha;
            let estimate = prior.terms.estimate_mut(entry).unwrap();
            estimate.value = if is_alpha { estimate.value } else { estimate.value * factor };
            estimate.std_error = relative.map(|relative| relative * estimate.value);
        }
        prior
    }

    fn options(&mut self) -> Options {
        let shapes =
            [Shape::Constant, Shape::Linear, Shape::Logarithmic, Shape::Curve, Shape::Table];
        let mut shape = || match self.happens(0.2) {
            true => Selection::Fixed(self.one_of(&shapes)),
            false => Selection::CrossValidated,
        };
        let (alpha, collective) = (shape(), shape());
        let counts = RefinedCounts {
            iterations: self.happens(0.5).then_some(37),
            hardware_contexts: self.happens(0.5).then_some(2),
            traffic: self.happens(0.5).then_some(Traffic { bytes: 1e9, exposed_bytes: 1e3 }),
            memories: self.happens(0.5).then_some((2, Placement::ByProcess)),
        };
        Options {
            terms: TermChoices { alpha, collective, ..TermChoices::default() },
            counts: self.happens(0.002).then_some(counts),
            processors: None,
        }
    }

    fn fit(&mut self) -> Result<FitResult> {
        let scale = match self.happens(0.05) {
            true => self.power(-300.0, 300.0),
            false => self.power(-7.0, 7.0),
        };
        let truth = self.program(scale);
        let mut inputs = self.files(&truth);
        if self.happens(0.8) {
            self.runs(&truth, &mut inputs);
        }
        let settings = Settings::new("trial", truth.decomposition, truth.apus);
        fit(&inputs, &settings.with(self.options()))
    }
}

/// Everything that a fit says can be said: numbers are finite, and a slowdown slows down.
fn check_numbers(parameters: &Parameters) {
    for entry in parameters.terms.entries() {
        let estimate = parameters.terms.estimate(entry).unwrap();
        let name = parameters.terms.name_of(entry);
        let least = if entry.term == Term::Alpha { 1.0 } else { 0.0 };
        assert!(estimate.value >= least, "{name} {estimate:?}");
        let numbers = [Some(estimate.value), estimate.std_error, estimate.degrees_of_freedom];
        assert!(numbers.iter().flatten().all(|each| each.is_finite()), "{name} {estimate:?}");
    }
    for (m, p) in [(1, 1), (2, 1), (1, 2), (4, 4), (16, 1), (100, 3)] {
        let time = parameters.time(Mapping::of(m, p)).0;
        assert!(time.is_finite() && time >= 0.0, "({m}, {p}): {time}");
        let error = parameters.propagated(&parameters.gradient(Mapping::of(m, p))).value;
        assert!(error.is_finite(), "({m}, {p}): +- {error}");
    }
}

fn check_written(parameters: &Parameters) {
    let text = parameters.to_toml();
    match Parameters::read(&Source::new("params.toml", &text)) {
        Ok(read) => assert_eq!(&read, parameters, "{text}"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn check(seed: u64) -> Option<Error> {
    let fitted = match Random(Xoshiro256PlusPlus::seed_from_u64(seed)).fit() {
        Ok(fitted) => fitted,
        Err(error) => return Some(error),
    };
    for parameters in [&fitted.parameters].into_iter().chain(&fitted.refined) {
        check_numbers(parameters);
        check_written(parameters);
    }
    let words = fitted.warnings.iter().map(ToString::to_string);
    let text = format!("{}\n{}", fitted.report, words.collect::<Vec<_>>().join("\n"));
    let is_number = |word: &str| !["inf", "-inf", "+inf", "NaN", "-NaN"].contains(&word);
    assert!(text.split([' ', '\n', ',', ';', '(', ')', '=']).all(is_number), "{text}");
    None
}

#[test]
fn whatever_a_fit_returns_can_be_written_read_and_predicted_from() {
    let mut refused = Vec::new();
    let mut broken = Vec::new();
    let programs = testing::seeds(PROGRAMS);
    for seed in 1..=programs {
        match std::panic::catch_unwind(|| check(seed)) {
            Ok(error) => refused.extend(error.map(|error| (seed, error.to_string()))),
            Err(_) => broken.push(seed),
        }
    }
    assert!(broken.is_empty(), "{} of {programs}: {broken:?}", broken.len());
    // Too few runs are refused, and no more than those.
    let share = refused.len() as f64 / programs as f64;
    let most = 0.45 + testing::room(0.45, PROGRAMS);
    assert!((0.05..most).contains(&share), "{share} refused: {refused:?}");
}
