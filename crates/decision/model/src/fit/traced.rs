//! The parts of a program's time over (m, p), from traced runs at several of them.
//!
//! A file of them becomes what a rank of each configuration did ([`TracedRuns`]), of which follow sizes
//! ([`sizes`]) and what there is to say ([`report`]).

mod report;
mod sizes;

use std::collections::BTreeMap;

use super::inputs::FileRows;
use super::runs::{Cell, Runs};
use crate::models::traced::TracedTerms;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::{Profile, TermRow};

pub use report::{TracedPart, TracedRegion, TracedReport};

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
    /// What each rank did outside regions, and in them \[s\].
    of_ranks: BTreeMap<u32, [f64; 2]>,
}

impl Seen {
    /// Adds what a row says.
    fn add(&mut self, row: &TermRow) {
        // Of no rank: of each.
        let ranks = if row.rank.0.is_some() { 1.0 } else { f64::from(row.m) };
        *self.of_phases.entry((row.phase.clone(), row.term.clone())).or_default() +=
            ranks * row.value;
        let Some(rank) = row.rank.0 else { return };
        let [host, work] = self.of_ranks.entry(rank).or_default();
        match &*row.term {
            "t_hpu" => *host += row.value,
            "t_apu" => *work += row.value / f64::from(row.p),
            "c_apu" => *work += row.value,
            _ => {}
        }
    }

    /// A term of a rank, in the mean: that of the whole run, or the sum over its phases where nobody says that.
    fn of(&self, mapping: Mapping, term: &str) -> f64 {
        let whole = self.of_phases.get(&(String::new(), term.to_string()));
        let of_phases = || {
            let phases = self.of_phases.iter().filter(|((_, of), _)| of == term);
            // From a zero without sign, which an empty sum is not.
            phases.fold(0.0, |sum, (_, value)| sum + value)
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

/// The traced configurations of a file.
pub(crate) struct TracedRuns {
    file: String,
    seen: BTreeMap<Mapping, Seen>,
    /// Times of the runs of each configuration \[s\].
    times: BTreeMap<Mapping, Vec<f64>>,
    /// All runs of one rank and one thread.
    singles: Vec<Seen>,
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
        let mut runs: BTreeMap<&str, (Mapping, f64, Seen)> = BTreeMap::new();
        for row in file.rows.iter().filter(|row| row.term == "time" && row.phase.is_empty()) {
            let run = runs.entry(&row.run);
            let run = run.or_insert((Mapping::new(row.m, row.p)?, 0.0, Seen::default()));
            run.1 = run.1.max(row.value);
        }
        let mut collectives: BTreeMap<String, BTreeMap<u32, f64>> = BTreeMap::new();
        for row in &file.rows {
            match (&*row.term, runs.get_mut(&*row.run)) {
                ("o_col", _) => {
                    collectives.entry(row.phase.clone()).or_default().insert(row.m, row.value);
                }
                ("g", _) | (_, None) => {}
                (_, Some((_, _, seen))) => seen.add(row),
            }
        }
        let mut of_each: BTreeMap<Mapping, Vec<(f64, Seen)>> = BTreeMap::new();
        for (mapping, time, seen) in runs.into_values() {
            of_each.entry(mapping).or_default().push((time, seen));
        }
        of_each.values_mut().for_each(|runs| runs.sort_by(|one, other| one.0.total_cmp(&other.0)));
        let Some(singles) = of_each.get(&Mapping::SEQUENTIAL) else {
            let found = "no traced run of one rank and one thread";
            let advice = "trace one into the same folder: OMP_NUM_THREADS=1 mmgp probe --out DIR -- mpirun -n 1 ./app";
            return Err(Error::too_little(file.file.clone(), found, advice));
        };
        let singles = singles.iter().map(|(_, seen)| seen.clone()).collect();
        let times = |(&mapping, runs): (&Mapping, &Vec<(f64, Seen)>)| {
            (mapping, runs.iter().map(|(time, _)| *time).collect())
        };
        let median = |(&mapping, runs): (&Mapping, &Vec<(f64, Seen)>)| {
            (mapping, Seen { runs: runs.len(), ..runs[(runs.len() - 1) / 2].1.clone() })
        };
        let found = Self {
            file: file.file.clone(),
            seen: of_each.iter().map(median).collect(),
            times: of_each.iter().map(times).collect(),
            singles,
            collectives,
        };
        found.check()?;
        Ok(found)
    }

    /// Parts that overlap are no terms of one model.
    fn check(&self) -> Result<()> {
        let Some((at, seen)) = self.seen.iter().find(|(at, seen)| seen.excess(**at) > OVERLAP)
        else {
            return Ok(());
        };
        let share = 100.0 * (1.0 + seen.excess(*at));
        let found = format!("parts of the run at {at} that add up to {share:.0} % of its time");
        let advice = "they overlap, as where several threads enter regions of their own, and are no terms of one model";
        Err(Error::too_little(self.file.clone(), found, advice))
    }

    /// The whole times of the runs, on their slowest rank; without those that would take another on the
    /// processors that are asked about.
    pub fn runs(&self, terms: &TracedTerms) -> Runs {
        let there = self.processors().map_or(u64::MAX, |it| u64::from(it.count));
        let asked = terms.processors.map_or(u64::MAX, |it| u64::from(it.count));
        let is_alike = |at: &Mapping| at.apus() <= there || there == asked;
        let cell =
            |(mapping, times): (&Mapping, &Vec<f64>)| Cell::of((mapping.m(), mapping.p()), times);
        let runs = self.times.iter().filter(|(at, _)| is_alike(at)).map(cell);
        Runs::new(self.file.clone(), runs.collect())
    }

    /// What a profile of the runs at one rank and one thread says.
    pub fn profile(&self) -> FileRows<Profile> {
        let of = |seen: &Seen, term: &str| seen.of(Mapping::SEQUENTIAL, term);
        let row = |(repetition, seen): (u32, &Seen)| Profile {
            phase: "all".into(),
            repetition,
            offloads: of(seen, "offloads").round() as u64,
            collectives: of(seen, "collectives").round() as u64,
            hpu_time_s: of(seen, "t_hpu"),
            apu_parallel_time_s: of(seen, "t_apu"),
            apu_serial_time_s: 0.0,
            gap_time_s: of(seen, "gap"),
        };
        FileRows { file: self.file.clone(), rows: (1..).zip(&self.singles).map(row).collect() }
    }
}
