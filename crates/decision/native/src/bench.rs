//! The micro-benchmarks of this computer: the same files as those of an emulated machine, as an ordinary user.
//!
//! | file | what is timed here |
//! |---|---|
//! | `alpha.csv` | products of matrices on m threads: on cores, on their siblings, then two to a processor |
//! | `offload.csv` | messages to a thread that waits on another processor, and back |
//! | `context_switch.csv` | threads on one processor that take turns: by `yield`, and by `futex` (one wakes the next and sleeps) |
//! | `collective.csv` | barriers and sums of a double among m threads |
//! | `memory.csv` | copies of what no cache holds |
//!
//! Threads share memory, as processes do within a node, and what is in it moves between caches alike. What
//! MPI itself adds is not in `collective.csv`, and the change of address spaces not in
//! `context_switch.csv`; it made 6 % of a switch on an EPYC.
//!
//! # Repetitions
//! Each measurement is made once for nothing, which also tells how many calls a row needs so that the clock does
//! not show. Then they are repeated turn about, by lots in which the one that has had the least time is the
//! likeliest, so that what changes with time falls on all: each until its mean is known to 2 % (95 %) or a
//! nanosecond, or the time is over (after Hunold and Carpen-Amarie 2016). A repetition during which others had
//! a processor for more than 2 % is none, unless there are no better ones, and a warning says so.
//!
//! What cannot be had is left out with a [`Warning`].

mod here;
mod measurements;
mod team;

use mmgp_base::error::{Result, Warning};
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::units::{Percent, Seconds};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::clock::Stopwatch;
use here::Here;
use measurements::{Measurement, Timed};

/// How long and how often is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Least repetitions of each measurement.
    pub repetitions: u32,
    /// Time after which no further repetition begins, but for the first of each.
    pub budget: Seconds,
    /// Seed from which the orders are drawn.
    pub seed: u64,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmarks {
    /// The rows; a table that could not be measured is empty.
    pub tables: MicroBenchmarks,
    /// What is missing or doubtful.
    pub warnings: Vec<Warning>,
    /// What the computer was like: processors, frequency, load, the cost of the clock.
    pub conditions: Vec<String>,
}

/// A mean that is known so well is not measured further: half its 95 % interval over it.
const NARROW: f64 = 0.02;
/// The largest share of a processor's time that others may have in a repetition.
const LOST: f64 = 0.02;
/// What is shorter is no slice of another process: interrupts, and leaving the barrier \[s\].
const BRIEF_S: f64 = 20e-6;
/// Nobody asks for less: a few cycles of a call \[s\].
const FEW_CYCLES_S: f64 = 1e-9;
/// Repetitions after which it does not get better.
const MOST: usize = 200;

/// Runs all micro-benchmarks.
///
/// # Errors
/// Where threads cannot be started.
pub fn measure(settings: Settings) -> Result<Benchmarks> {
    let clock = Stopwatch::start();
    let here = Here::new();
    let (measurements, mut warnings) = measurements::all(&here)?;
    let mut all = measurements.into_iter().map(Series::new).collect::<Result<Vec<_>>>()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    while let Some(next) = next(&mut all, settings, &mut random) {
        if clock.elapsed() > settings.budget && next.spent_s > 0.0 {
            break;
        }
        next.repeat()?;
    }
    warnings.extend(here.doubts());
    warnings.extend(doubts(&all, settings));
    let mut tables = MicroBenchmarks::default();
    for series in &all {
        for (&timed, repetition) in series.rows().iter().zip(1..) {
            (series.of.add)(&mut tables, repetition, timed);
        }
    }
    Ok(Benchmarks { tables, warnings, conditions: here.conditions() })
}

/// The series that is repeated next, if one is worth it: one that had none yet, or by a lot between nothing and
/// the time that each has had, of which the least wins.
fn next<'a, 'b>(
    all: &'a mut [Series<'b>],
    settings: Settings,
    random: &mut Xoshiro256PlusPlus,
) -> Option<&'a mut Series<'b>> {
    let open = all.iter_mut().filter(|it| !it.is_settled(settings.repetitions));
    let lots = open.map(|it| {
        let lot = (random.next_u64() >> 11) as f64;
        // In a lot of those that had none, chance alone decides.
        (it.spent_s > 0.0, if it.spent_s > 0.0 { it.spent_s * lot } else { lot }, it)
    });
    let (_, _, next) = lots.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    Some(next)
}

/// A measurement with its repetitions.
struct Series<'a> {
    of: Measurement<'a>,
    calls: u64,
    /// Those in which others had little of the processors.
    kept: Vec<Timed>,
    disturbed: Vec<Timed>,
    /// Time of all repetitions \[s\].
    spent_s: f64,
}

impl<'a> Series<'a> {
    /// Makes it once and again, with as many more calls as it needs to last.
    fn new(of: Measurement<'a>) -> Result<Self> {
        let mut calls = 1;
        loop {
            let time_s = (of.once)(calls)?.time_s;
            if time_s >= of.shortest_s {
                let (kept, disturbed) = (Vec::new(), Vec::new());
                return Ok(Self { of, calls, kept, disturbed, spent_s: 0.0 });
            }
            let more = (1.2 * of.shortest_s / time_s.max(1e-9)).clamp(2.0, 100.0);
            calls = (calls as f64 * more) as u64;
        }
    }

    fn repeat(&mut self) -> Result<()> {
        let clock = Stopwatch::start();
        let timed = (self.of.once)(self.calls)?;
        self.spent_s += clock.elapsed().0;
        let is_disturbed = timed.lost_s > (LOST * timed.time_s).max(BRIEF_S);
        if is_disturbed { &mut self.disturbed } else { &mut self.kept }.push(timed);
        Ok(())
    }

    /// Repetitions that count: all, where too few were undisturbed.
    fn rows(&self) -> Vec<Timed> {
        if self.is_disturbed() {
            [&self.kept[..], &self.disturbed].concat()
        } else {
            self.kept.clone()
        }
    }

    /// Whether there are too few without disturbance to know how they scatter.
    fn is_disturbed(&self) -> bool {
        self.kept.len() < 2 && !self.disturbed.is_empty()
    }

    fn is_settled(&self, repetitions: u32) -> bool {
        let enough = self.kept.len() >= (repetitions as usize).max(2);
        enough && (is_narrow(&self.kept) || self.kept.len() >= MOST)
    }
}

/// Whether the mean is known well enough.
fn is_narrow(all: &[Timed]) -> bool {
    half_width(all) <= NARROW.max(FEW_CYCLES_S / mean(all))
}

/// The mean time of a call \[s\].
fn mean(all: &[Timed]) -> f64 {
    all.iter().map(|it| it.of_one()).sum::<f64>() / all.len() as f64
}

/// Half the 95 % interval of the mean over the mean.
fn half_width(all: &[Timed]) -> f64 {
    let (count, mean) = (all.len() as f64, mean(all));
    if count < 2.0 {
        return f64::INFINITY;
    }
    let squares: f64 = all.iter().map(|it| (it.of_one() - mean).powi(2)).sum();
    let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("invariant: it is 1 or more");
    student.inverse_cdf(0.975) * (squares / (count - 1.0) / count).sqrt() / mean
}

/// What is to be said of the measurements of each file.
fn doubts(all: &[Series<'_>], settings: Settings) -> Vec<Warning> {
    let of_file = |series: &[Series<'_>]| {
        let (file, count) = (series[0].of.file, series.len());
        let disturbed = series.iter().filter(|it| it.is_disturbed()).count();
        let disturbed = (disturbed > 0).then(|| {
            format!(
                "{file}: in {disturbed} of {count} measurements others had a processor for more than {} \
                 of nearly every repetition; these times are too long",
                Percent(LOST)
            )
        });
        let wide = series.iter().map(Series::rows).filter(|rows| !is_narrow(rows));
        let wide: Vec<f64> = wide.map(|rows| half_width(&rows)).collect();
        let most = wide.iter().copied().fold(0.0, f64::max);
        let wide = (!wide.is_empty()).then(|| {
            format!(
                "{file}: the means of {} of {count} measurements are known to no better than {} in {}; \
                 a larger budget repeats them more often",
                wide.len(),
                if most.is_finite() { format!("+-{}", Percent(most)) } else { "one repetition".into() },
                settings.budget
            )
        });
        [disturbed, wide].into_iter().flatten().map(Warning::Note)
    };
    all.chunk_by(|one, next| one.of.file == next.of.file).flat_map(of_file).collect()
}
