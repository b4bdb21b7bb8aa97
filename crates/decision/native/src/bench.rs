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
//! MPI itself adds is not in these collectives, and the change of address spaces not in
//! `context_switch.csv`; it made 6 % of a switch on an EPYC. What other programs time, ranks of an MPI or a driver
//! of devices, becomes [`Repetitions`] by the same rules.
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
mod repetitions;
mod team;

use mmgp_base::error::{Result, Warning};
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::units::Seconds;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::clock::Stopwatch;
use here::Here;
use measurements::Measurement;
pub use repetitions::{Repetitions, Timed};

/// How long and how often is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Least repetitions of each measurement.
    pub repetitions: u32,
    /// Time after which no further repetition begins, but for the first of each.
    pub budget: Seconds,
    /// Seed from which the orders are drawn.
    pub seed: u64,
    /// File of collectives among threads.
    pub collective_file: &'static str,
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

/// Runs all micro-benchmarks.
///
/// # Errors
/// Where threads cannot be started.
pub fn measure(settings: Settings) -> Result<Benchmarks> {
    let clock = Stopwatch::start();
    let here = Here::new();
    let (measurements, mut warnings) = measurements::all(&here, settings.collective_file)?;
    let mut all = measurements.into_iter().map(Series::new).collect::<Result<Vec<_>>>()?;
    repeat(&mut all, settings, clock)?;
    warnings.extend(here.doubts());
    warnings.extend(doubts(&all));
    let mut tables = MicroBenchmarks::default();
    for series in &all {
        for (&timed, repetition) in series.repetitions.rows().iter().zip(1..) {
            (series.of.add)(&mut tables, repetition, timed);
        }
    }
    Ok(Benchmarks { tables, warnings, conditions: here.conditions() })
}

/// Numbers of ranks that have a processor each, as those of threads that are measured: 1, 2, 3, 4, 6, 8..
pub fn ranks() -> Vec<u32> {
    let here = Here::new();
    let processors = here.processors.len() as u32;
    here.threads().into_iter().filter(|&it| it <= processors).collect()
}

/// What is to be said of measurements that another program repeated for a file, at least one.
pub fn doubts_of(file: &str, all: &[Repetitions]) -> Vec<Warning> {
    let more = "ask for more repetitions";
    repetitions::doubts(file, &all.iter().collect::<Vec<_>>(), more)
}

/// Repeats one after the other, until all are settled or the time since the clock was started is over: by lots between
/// nothing and the time that each has had, of which the least is next. So all have had their first before any
/// has its second.
fn repeat(all: &mut [Series<'_>], settings: Settings, clock: Stopwatch) -> Result<()> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    loop {
        let open = all.iter_mut().filter(|it| !it.repetitions.is_settled(settings.repetitions));
        let lots = open.map(|it| (it.spent_s * (random.next_u64() >> 11) as f64, it));
        match lots.min_by(|(one, _), (other, _)| one.total_cmp(other)) {
            Some((_, next)) if next.spent_s == 0.0 || clock.elapsed() < settings.budget => {
                next.repeat()?
            }
            _ => return Ok(()),
        }
    }
}

/// A measurement with its repetitions.
struct Series<'a> {
    of: Measurement<'a>,
    calls: u64,
    repetitions: Repetitions,
    /// Time of all repetitions \[s\].
    spent_s: f64,
}

impl<'a> Series<'a> {
    /// Makes it once and again, with as many more calls as it needs to last.
    fn new(of: Measurement<'a>) -> Result<Self> {
        let mut calls = 1;
        loop {
            let timed = (of.once)(calls)?;
            // What others had of it says nothing of the calls.
            let time_s = timed.time_s - timed.lost_s;
            if time_s >= of.shortest_s {
                let repetitions = Repetitions::default();
                return Ok(Self { of, calls, repetitions, spent_s: 0.0 });
            }
            let more = (1.2 * of.shortest_s / time_s.max(1e-9)).clamp(2.0, 100.0);
            calls = (calls as f64 * more) as u64;
        }
    }

    fn repeat(&mut self) -> Result<()> {
        let clock = Stopwatch::start();
        let timed = (self.of.once)(self.calls)?;
        self.spent_s += clock.elapsed().0;
        self.repetitions.push(timed);
        Ok(())
    }
}

/// What is to be said of the measurements of each file.
fn doubts(all: &[Series<'_>]) -> Vec<Warning> {
    let of_file = |series: &[Series<'_>]| {
        let repetitions: Vec<&Repetitions> = series.iter().map(|it| &it.repetitions).collect();
        let more = "a larger budget repeats them more often";
        repetitions::doubts(series[0].of.file, &repetitions, more)
    };
    all.chunk_by(|one, next| one.of.file == next.of.file).flat_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A series of repetitions that take these times for each call, and that others had for so long, over and over.
    fn series(file: &'static str, times: &'static [(f64, f64)]) -> Series<'static> {
        let made = Cell::new(0);
        let once = move |count: u64| {
            let (of_one, lost_s) = times[made.replace(made.get() + 1) % times.len()];
            Ok(Timed { time_s: of_one * count as f64, count, lost_s })
        };
        let (once, add) = (Box::new(once), Box::new(|_: &mut MicroBenchmarks, _, _| ()));
        Series::new(Measurement { file, shortest_s: 1e-3, once, add }).expect("it is made")
    }

    const SETTINGS: Settings =
        Settings { repetitions: 5, budget: Seconds(60.0), seed: 1, collective_file: "x.csv" };

    /// Repeats a series alone; how many rows it has, and what is said of it.
    fn check(times: &'static [(f64, f64)], settings: Settings) -> (usize, Vec<String>) {
        let mut all = [series("x.csv", times)];
        repeat(&mut all, settings, Stopwatch::start()).expect("they are made");
        let said = doubts(&all).iter().map(Warning::to_string).collect();
        (all[0].repetitions.rows().len(), said)
    }

    #[test]
    fn what_is_known_to_two_per_cent_is_not_repeated_further() {
        assert_eq!(check(&[(1e-3, 0.0)], SETTINGS), (5, vec![]));
        // 1.96 * 0.1/sqrt(n) is 2 % at n = 97 or so.
        let (rows, said) = check(&[(0.9e-3, 0.0), (1.1e-3, 0.0)], SETTINGS);
        assert!((95..105).contains(&rows) && said.is_empty(), "{rows} {said:?}");
        // Half of the time the one and half the other: more of them say no more.
        let said = "x.csv: the means of 1 of 1 measurements are known less well than to 2.0 %, the worst to 7.0 %";
        let times = &[(1e-3, 0.0), (3e-3, 0.0)];
        assert_eq!(check(times, SETTINGS), (repetitions::MOST, vec![said.to_string()]));
        // Nobody asks for less than a nanosecond.
        assert_eq!(check(&[(1e-9, 0.0), (2e-9, 0.0)], SETTINGS).0, 5);
    }

    #[test]
    fn a_row_is_as_many_calls_as_a_clock_can_see() {
        let calls = series("x.csv", &[(1e-6, 0.0)]).calls;
        assert!((1000..3000).contains(&calls), "{calls}");
        // The first was preempted: it took long, and the calls did not.
        assert_eq!(series("x.csv", &[(1.0, 0.9999), (2e-3, 0.0)]).calls, 12);
    }

    #[test]
    fn repetitions_that_others_disturbed_are_rows_only_where_there_are_no_better_ones() {
        assert_eq!(check(&[(1e-3, 0.0), (5e-3, 4e-3)], SETTINGS), (5, vec![]));
        let few = Settings { budget: Seconds(0.0), ..SETTINGS };
        let said = [
            "x.csv: in 1 of 1 measurements others had a processor for more than 2.0 % of nearly every \
             repetition; these times are too long",
            "x.csv: the means of 1 of 1 measurements are known less well than to 2.0 %, the worst \
             by one repetition; a larger budget repeats them more often",
        ];
        assert_eq!(check(&[(5e-3, 4e-3)], few), (1, said.map(String::from).into()));
    }

    #[test]
    fn all_have_their_first_before_any_has_its_second_and_none_is_forgotten() {
        let times = &[(0.9e-3, 0.0), (1.1e-3, 0.0)];
        let mut all = [series("x.csv", times), series("x.csv", times), series("y.csv", times)];
        repeat(&mut all, Settings { budget: Seconds(0.0), ..SETTINGS }, Stopwatch::start())
            .unwrap();
        assert!(all.iter().all(|it| it.repetitions.rows().len() == 1));
        repeat(&mut all, SETTINGS, Stopwatch::start()).unwrap();
        assert!(all.iter().all(|it| it.repetitions.is_settled(5)));
    }
}
