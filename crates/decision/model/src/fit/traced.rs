//! The parts of a program's time over (m, p), from traced runs at several of them.
//!
//! A part of a run is a sum of the part's shapes. Of as many runs as a part has shapes each size follows; of fewer,
//! what is measured is shared among all shapes that may have made it, each as likely, and their errors say so: they
//! are large and go together, so that the sum is known where it was measured and less and less elsewhere. No
//! size is below zero.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use nalgebra::{DMatrix, DVector};

use super::inputs::FileRows;
use super::runs::{Cell, Runs};
use crate::models::parameters::Estimate;
use crate::models::traced::{RegionGrowth, SHAPES, Shape, TracedTerms};
use mmgp_base::Mapping;
use mmgp_base::answer::{Style, Table};
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::{Profile, TermRow};

/// How far a part of one run is from its mean over runs, relative: as programs that were traced twice had it on
/// machines of their own. Assumed.
const SCATTER: f64 = 0.02;

/// What a part is known to at best, of the whole time.
const OF_TIME: f64 = 0.001;

/// The parts of the time of a rank, by their names among shapes and in words.
const PARTS: [(&str, &str); 8] = [
    ("T_HPU", "host"),
    ("T_APU/p", "regions: work over threads"),
    ("C_APU", "regions: uneven threads"),
    ("N*g", "regions: fork and join"),
    ("T_COL", "collectives"),
    ("W", "waiting for ranks in them"),
    ("T_P2P", "point to point"),
    // What a file does not tell of, as the time in MPI; the last.
    ("REST", "told by nothing"),
];

/// What is no more than this of the time is no part of its own.
const ROUNDING: f64 = 0.01;

/// Parts that add up to so much more than the time overlap.
const OVERLAP: f64 = 0.1;

/// The run of a configuration whose time is the median: one that was disturbed makes no part longer.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// How many runs there are of the configuration.
    runs: usize,
    /// The sum over the ranks of each phase and term.
    of_phases: BTreeMap<(String, String), f64>,
}

impl Seen {
    /// A term of a rank, in the mean: that of the whole run, or the sum over its phases where nobody says that.
    fn of(&self, mapping: Mapping, term: &str) -> f64 {
        let whole = self.of_phases.get(&(String::new(), term.to_string()));
        let of_phases = || {
            let phases = self.of_phases.iter().filter(|((_, of), _)| of == term);
            phases.map(|(_, value)| value).sum()
        };
        whole.copied().unwrap_or_else(of_phases) / f64::from(mapping.m())
    }

    /// A part of the time of a rank, in the mean \[s\].
    fn part(&self, mapping: Mapping, part: &str) -> f64 {
        let of = |term| self.of(mapping, term);
        match part {
            "T_HPU" => of("t_hpu"),
            "T_APU/p" => of("t_apu") / f64::from(mapping.p()),
            "C_APU" => of("c_apu"),
            "N*g" => of("gap"),
            "T_COL" => of("t_col"),
            "W" => of("wait"),
            "T_P2P" => of("p2p"),
            _ => {
                let told: f64 =
                    PARTS[..PARTS.len() - 1].iter().map(|it| self.part(mapping, it.0)).sum();
                let rest = of("time") - told;
                if rest > ROUNDING * of("time") { rest } else { 0.0 }
            }
        }
    }

    /// How far the parts add up to more than the time, relative.
    fn excess(&self, mapping: Mapping) -> f64 {
        let told: f64 = PARTS.iter().map(|it| self.part(mapping, it.0)).sum();
        told / self.of(mapping, "time").max(f64::MIN_POSITIVE) - 1.0
    }
}

/// What traced runs say, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedReport {
    /// The configurations that were traced, increasing.
    pub mappings: Vec<Mapping>,
    /// The parts of the time of a rank.
    pub parts: Vec<TracedPart>,
    /// The regions that count where most threads were traced, the longest first.
    pub regions: Vec<TracedRegion>,
}

/// A part of the time of a rank in traced runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedPart {
    /// What it is, in words.
    pub what: &'static str,
    /// What it took at each configuration \[s\].
    pub times: Vec<f64>,
    /// How it goes on over (m, p): `0.0054 + 0.0003/m`.
    pub formula: String,
}

/// A region of the configuration where most threads were traced.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedRegion {
    /// Its name.
    pub name: String,
    /// Its share of the time of a rank there.
    pub share: f64,
    /// The threads beyond which what they cannot share takes longer than what they can; where that was seen.
    pub limit: Option<u32>,
}

impl fmt::Display for TracedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table =
            Table::of(&self.parts).column("of a rank", Style::Plain, |it| it.what).left();
        for (place, mapping) in self.mappings.iter().enumerate() {
            table =
                table.headed(&mapping.to_string(), mapping.to_string(), Style::Time, move |it| {
                    it.times[place]
                });
        }
        let table = table.column("over (m, p) [s]", Style::Plain, |it| it.formula.clone()).left();
        write!(f, "What traced runs tell, in the place of equation 11.\n{}", table.text())?;
        let Some(most) = self.mappings.iter().max_by_key(|it| (it.p(), it.m())) else {
            return Ok(());
        };
        for TracedRegion { name, share, limit } in &self.regions {
            write!(f, "\nRegion {name} takes {:.0} % at {most}", 100.0 * share)?;
            if let Some(limit) = limit {
                write!(
                    f,
                    "; beyond {limit} threads, what its threads cannot share takes longer than what they can"
                )?;
            }
            write!(f, ".")?;
        }
        Ok(())
    }
}

/// Regions that take less of the time are not worth a line.
const WORTH_A_LINE: f64 = 0.1;

/// The traced configurations of a file.
pub(crate) struct TracedRuns {
    file: String,
    seen: BTreeMap<Mapping, Seen>,
    /// Times of the runs of each configuration \[s\].
    times: BTreeMap<Mapping, Vec<f64>>,
    /// Times of one collective on so many ranks, by operation: (ranks, time).
    collectives: BTreeMap<String, BTreeMap<u32, f64>>,
}

impl TracedRuns {
    /// Means over ranks and runs.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] where no run has one rank of one thread: nothing else says how much there is of
    /// what ranks and threads share.
    pub fn of(file: &FileRows<TermRow>) -> Result<Self> {
        let mut runs: BTreeMap<&str, (Mapping, f64)> = BTreeMap::new();
        for row in file.rows.iter().filter(|row| row.term == "time" && row.phase.is_empty()) {
            let slowest = runs.entry(&row.run).or_insert((Mapping::new(row.m, row.p)?, 0.0));
            slowest.1 = slowest.1.max(row.value);
        }
        let mut of_each: BTreeMap<Mapping, Vec<(f64, &str)>> = BTreeMap::new();
        for (run, (mapping, time)) in &runs {
            of_each.entry(*mapping).or_default().push((*time, run));
        }
        of_each.values_mut().for_each(|runs| runs.sort_by(|one, other| one.0.total_cmp(&other.0)));
        let mut seen: BTreeMap<Mapping, Seen> = BTreeMap::new();
        let mut collectives: BTreeMap<String, BTreeMap<u32, f64>> = BTreeMap::new();
        for row in &file.rows {
            if row.term == "o_col" {
                collectives.entry(row.phase.clone()).or_default().insert(row.m, row.value);
            }
            let Some((mapping, _)) = runs.get(&*row.run) else { continue };
            let of_each = &of_each[mapping];
            let is_median = of_each[(of_each.len() - 1) / 2].1 == row.run;
            if !is_median || ["g", "o_col"].contains(&&*row.term) {
                continue;
            }
            let seen = seen.entry(*mapping).or_default();
            seen.runs = of_each.len();
            // Of no rank: of each.
            let ranks = if row.rank.0.is_some() { 1.0 } else { f64::from(row.m) };
            let key = (row.phase.clone(), row.term.clone());
            *seen.of_phases.entry(key).or_default() += ranks * row.value;
        }
        if !seen.contains_key(&Mapping::SEQUENTIAL) {
            let found = "no traced run of one rank and one thread";
            let advice = "trace one into the same folder: OMP_NUM_THREADS=1 mmgp probe --out DIR -- mpirun -n 1 ./app";
            return Err(Error::too_little(file.file.clone(), found, advice));
        }
        if let Some((at, seen)) = seen.iter().find(|(at, seen)| seen.excess(**at) > OVERLAP) {
            let found = format!(
                "parts of the run at {at} that add up to {:.0} % of its time",
                100.0 * (1.0 + seen.excess(*at))
            );
            let advice = "they overlap, as where several threads enter regions of their own, and are no terms of one model";
            return Err(Error::too_little(file.file.clone(), found, advice));
        }
        let times = |(&mapping, runs): (&Mapping, &Vec<(f64, &str)>)| {
            (mapping, runs.iter().map(|(time, _)| *time).collect())
        };
        let times = of_each.iter().map(times).collect();
        Ok(Self { file: file.file.clone(), seen, times, collectives })
    }

    /// The whole times of the runs, on their slowest rank.
    pub fn runs(&self) -> Runs {
        let cell =
            |(mapping, times): (&Mapping, &Vec<f64>)| Cell::of((mapping.m(), mapping.p()), times);
        Runs::new(self.file.clone(), self.times.iter().map(cell).collect())
    }

    /// What a profile of the runs at one rank and one thread says.
    pub fn profile(&self) -> FileRows<Profile> {
        let one = Mapping::SEQUENTIAL;
        let seen = &self.seen[&one];
        let row = Profile {
            phase: "all".into(),
            repetition: 1,
            offloads: seen.of(one, "offloads").round() as u64,
            collectives: seen.of(one, "collectives").round() as u64,
            hpu_time_s: seen.of(one, "t_hpu"),
            apu_parallel_time_s: seen.of(one, "t_apu"),
            apu_serial_time_s: 0.0,
            gap_time_s: seen.of(one, "gap"),
        };
        FileRows { file: self.file.clone(), rows: vec![row] }
    }

    /// The sizes of all parts; `None` where one configuration alone was traced.
    pub fn terms(&self) -> (Option<TracedTerms>, Vec<Warning>) {
        if self.seen.len() < 2 {
            let said = format!(
                "{}: one configuration was traced, which cannot tell what ranks share from what each repeats: trace \
                 one inside as well, as 4 ranks of 4 threads",
                self.file
            );
            return (None, vec![Warning::Probed(said)]);
        }
        let mut terms = TracedTerms::growing(self.growth());
        for shapes in SHAPES.chunk_by(|one, other| one.part == other.part) {
            self.add_part(shapes, &mut terms);
        }
        let untold =
            |(at, seen): (&Mapping, &Seen)| (*at, seen.part(*at, "REST") / seen.of(*at, "time"));
        let untold = self.seen.iter().map(untold).filter(|(_, share)| *share > 0.0);
        let warning = untold.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(at, share)| {
            let said =
                format!("{}: {:.0} % of the time at {at} is in no term", self.file, 100.0 * share);
            Warning::Probed(said)
        });
        (Some(terms), warning.into_iter().collect())
    }

    /// What there is to say of the runs, and of the terms that were made of them.
    pub fn report(&self, terms: &TracedTerms) -> TracedReport {
        let mappings: Vec<Mapping> = self.seen.keys().copied().collect();
        let part = |&(part, what): &(&str, &'static str)| {
            let sizes = terms.sizes().filter(|(shape, _)| shape.part == part);
            let size =
                |(shape, size): (&Shape, &Estimate)| format!("{:.3e}{}", size.value, shape.text);
            let formula: Vec<String> = sizes.map(size).collect();
            let times = self.seen.iter().map(|(&at, seen)| seen.part(at, part)).collect();
            TracedPart { what, times, formula: formula.join(" + ") }
        };
        let parts = PARTS.iter().map(part).filter(|it| it.times.iter().any(|time| *time > 0.0));
        TracedReport { parts: parts.collect(), regions: self.regions(), mappings }
    }

    fn regions(&self) -> Vec<TracedRegion> {
        let Some((&at, seen)) = self.seen.iter().max_by_key(|(at, _)| (at.p(), at.m())) else {
            return Vec::new();
        };
        let of = |phase: &str, term: &str| {
            let key = (phase.to_string(), term.to_string());
            seen.of_phases.get(&key).copied().unwrap_or(0.0)
        };
        let whole = of("", "time");
        let phases = seen.of_phases.keys().filter(|(_, term)| term == "t_apu");
        let region = |(name, _): &(String, String)| {
            let (work, uneven) = (of(name, "t_apu"), of(name, "c_apu"));
            let time = work / f64::from(at.p()) + uneven + of(name, "gap");
            let limit = (work / uneven.max(f64::MIN_POSITIVE)).floor();
            let is_seen =
                at.p() > 1 && uneven > WORTH_A_LINE * time && limit < f64::from(16 * at.p());
            TracedRegion {
                name: name.clone(),
                share: time / whole,
                limit: is_seen.then_some(limit as u32),
            }
        };
        let mut regions: Vec<TracedRegion> =
            phases.map(region).filter(|region| region.share > WORTH_A_LINE).collect();
        regions.sort_by(|one, other| other.share.total_cmp(&one.share));
        regions
    }

    /// How the number of regions of a rank grows: of all powers that meet the runs the smallest.
    fn growth(&self) -> RegionGrowth {
        let counts =
            self.seen.iter().map(|(&mapping, seen)| (mapping, seen.of(mapping, "offloads")));
        let counts: Vec<(Mapping, f64)> = counts.filter(|(_, count)| *count > 0.0).collect();
        let Some((_, at_one)) = counts.iter().find(|(at, _)| *at == Mapping::SEQUENTIAL).copied()
        else {
            return RegionGrowth::default();
        };
        let logs = DMatrix::from_fn(counts.len(), 2, |row, column| {
            let at = counts[row].0;
            f64::from(if column == 0 { at.m() } else { at.p() }).ln()
        });
        let over = DVector::from_iterator(
            counts.len(),
            counts.iter().map(|(_, count)| (count / at_one).ln()),
        );
        let powers = logs.svd(true, true).solve(&over, 1e-9);
        powers.map_or_else(
            |_| RegionGrowth::default(),
            |it| RegionGrowth { by_m: it[0], by_p: it[1] },
        )
    }

    /// The measured values of a part, each with its standard error \[s\].
    fn points(&self, part: &str) -> Vec<(Mapping, f64, f64)> {
        let of = |(&mapping, seen): (&Mapping, &Seen)| {
            let value = seen.part(mapping, part);
            let scatter = SCATTER / (seen.runs as f64).sqrt();
            let error = (scatter * value).hypot(OF_TIME * seen.of(mapping, "time"));
            (mapping, value, error)
        };
        let mut points: Vec<(Mapping, f64, f64)> = self.seen.iter().map(of).collect();
        if part == "T_COL" {
            points.extend(self.timed_collectives());
        }
        points
    }

    /// What the program's collectives take on fewer ranks than it was traced on, by those that were timed
    /// beside it: as many times longer as they were in the run.
    fn timed_collectives(&self) -> Vec<(Mapping, f64, f64)> {
        let Some((&most, seen)) = self.seen.iter().max_by_key(|(mapping, _)| mapping.m()) else {
            return Vec::new();
        };
        let of = |ranks: u32| -> f64 {
            self.collectives.values().filter_map(|times| times.get(&ranks)).sum()
        };
        let (whole, at_most) = (seen.of(most, "t_col"), of(most.m()));
        let ranks: BTreeSet<u32> =
            self.collectives.values().flat_map(BTreeMap::keys).copied().collect();
        let between = ranks.into_iter().filter(|&ranks| ranks > 1 && ranks < most.m());
        let point = |ranks: u32| {
            let time = whole * of(ranks) / at_most;
            (Mapping::new(ranks, 1).ok().filter(|_| at_most > 0.0), time)
        };
        let found = between
            .map(point)
            .filter_map(|(mapping, time)| Some((mapping?, time, 0.2 * time + 1e-12)));
        found.collect()
    }

    fn add_part(&self, shapes: &[Shape], terms: &mut TracedTerms) {
        let points = self.points(shapes[0].part);
        let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
        if most <= 0.0 {
            return;
        }
        // Each shape at its largest where it was measured is what a size of `most` makes of it.
        let growth = terms.regions;
        let at = |shape: &Shape, mapping: Mapping| shape.at(growth, mapping);
        let scale =
            |shape: &Shape| points.iter().map(|point| at(shape, point.0)).fold(0.0, f64::max);
        let mut kept: Vec<&Shape> = shapes.iter().filter(|shape| scale(shape) > 0.0).collect();
        let (sizes, errors) = loop {
            let design = DMatrix::from_fn(points.len(), kept.len(), |row, column| {
                at(kept[column], points[row].0) / scale(kept[column])
            });
            let (sizes, errors) = conditioned(&design, &points, most);
            let negative = (0..kept.len()).filter(|&it| sizes[it] < 0.0);
            match negative.min_by(|&one, &other| sizes[one].total_cmp(&sizes[other])) {
                Some(worst) if kept.len() > 1 => _ = kept.remove(worst),
                _ => break (sizes, errors),
            }
        };
        for (index, shape) in kept.iter().enumerate() {
            let by = scale(shape);
            let size = Estimate {
                std_error: Some(errors[(index, index)].sqrt() / by),
                source: Some(self.file.clone()),
                ..Estimate::exact(sizes[index].max(0.0) / by)
            };
            let set = terms.set(shape.name, size);
            set.expect("invariant: a shape has its name");
            for (before, other) in kept.iter().enumerate().take(index) {
                let both = (errors[(index, index)] * errors[(before, before)]).sqrt();
                let correlation = (errors[(index, before)] / both).clamp(-1.0, 1.0);
                let said = terms.correlate(other.name, shape.name, correlation);
                said.expect("invariant: shapes have their names");
            }
        }
    }
}

/// Sizes given values that they add up to, beforehand as large as one another and together as the largest value, to
/// within all of it.
fn conditioned(
    design: &DMatrix<f64>,
    points: &[(Mapping, f64, f64)],
    most: f64,
) -> (DVector<f64>, DMatrix<f64>) {
    let count = design.ncols();
    let mean = DVector::from_element(count, most / count as f64);
    let before = DMatrix::from_diagonal_element(count, count, most * most);
    let errors = DVector::from_iterator(points.len(), points.iter().map(|point| point.2.powi(2)));
    let values = DVector::from_iterator(points.len(), points.iter().map(|point| point.1));
    let seen = design * &before * design.transpose() + DMatrix::from_diagonal(&errors);
    let inverse =
        seen.pseudo_inverse(1e-300).unwrap_or_else(|_| DMatrix::zeros(points.len(), points.len()));
    let gain = &before * design.transpose() * inverse;
    let sizes = &mean + &gain * (values - design * &mean);
    let after = &before - gain * design * &before;
    (sizes, (&after + after.transpose()) / 2.0)
}
