//! Measurements on a [target](mmgp_base::target::Target), written as the CSV files that a user would bring from one: the
//! micro-benchmarks of the MMGP paper, the sequential profile, and runs.
//!
//! On the emulated machine every measurement is a program that reads the machine's timebase before and
//! after, so its times have the timebase's resolution. The repetitions of a measurement differ in
//! how far the timebase is into a tick at the start, drawn from the seed: nothing else on the
//! emulated machine is random, so the spread is that of reading a clock, not of a busy system. As the
//! course of no program depends on the clock by which it is timed, each is run once and read by as
//! many clocks.

pub mod emulated;
pub mod figure;
pub mod hosts;
pub mod list_ranking;
pub mod memory;
pub mod messages;
pub mod micro;
mod product;
pub mod schedulers;
pub mod task_profile;
pub mod wavefront;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mmgp_apps::{Application, Ran};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::csv::{self, Record};
use mmgp_base::table::records::Profile;
use mmgp_base::table::{self, MicroBenchmarks};
use mmgp_base::units::SimTime;
use mmgp_cell::Progress;
use mmgp_cell::event::Timebase;
use mmgp_machine::Machine;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::observer::{Observer, progress};

pub use emulated::{Emulated, Schedulers, Watch};
pub use mmgp_base::target::Target;

/// Repetitions of each micro-benchmark where nothing is said of them.
pub const REPETITIONS: u32 = 5;

/// Repetitions of the profile where nothing is said of them.
pub const PROFILE_REPETITIONS: u32 = 3;

/// Runs all micro-benchmarks of a target, and tells how far they are.
///
/// # Errors
/// What a measurement runs into.
pub fn micro_benchmarks(
    target: &ApplicationTarget,
    repetitions: u32,
    seed: u64,
    observer: &dyn Observer,
) -> Result<MicroBenchmarks> {
    let step = observer.begin("micro-benchmarks", target.micro_benchmark_steps(repetitions));
    target.micro_benchmarks(repetitions, seed, &progress(step))
}

/// Profiles a sequential run of a program, and tells how far it is.
///
/// # Errors
/// What a run runs into.
pub fn profile(
    target: &ApplicationTarget,
    app: &(dyn Application + 'static),
    repetitions: u32,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<Profile>> {
    let step = observer.begin("profile", target.profile_steps(app, repetitions));
    target.profile(app, repetitions, seed, &progress(step))
}

/// Writes the tables of micro-benchmarks that have rows into a folder that exists, each below the remarks.
///
/// # Errors
/// [`Write`](mmgp_base::Error::Write).
pub fn write(folder: &Path, tables: &MicroBenchmarks, remarks: &[String]) -> Result<()> {
    fn one<R: Record>(path: PathBuf, rows: &[R], remarks: &str) -> Result<()> {
        if rows.is_empty() {
            Ok(())
        } else {
            table::write(&path, remarks.to_string() + &csv::write(rows))
        }
    }
    let remarks: String = remarks.iter().map(|remark| format!("# {remark}\n")).collect();
    one(folder.join("alpha.csv"), &tables.alpha, &remarks)?;
    one(folder.join("offload.csv"), &tables.offload, &remarks)?;
    one(folder.join("context_switch.csv"), &tables.context_switch, &remarks)?;
    one(folder.join("collective.csv"), &tables.collective, &remarks)?;
    one(folder.join("memory.csv"), &tables.memory, &remarks)
}

/// The clocks of repetitions: how far each is into a tick at the start is uniform in [0, 1).
pub struct ClockPhases {
    generator: Xoshiro256PlusPlus,
    /// Told of every reading.
    progress: Progress,
}

impl ClockPhases {
    /// The phases that belong to a seed.
    pub fn new(seed: u64) -> Self {
        let generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { generator, progress: Progress::default() }
    }

    /// The phase of the next clock.
    fn next_phase(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A clock for each of so many repetitions, which goes at the rate of the machine's timebase.
    fn clocks(&mut self, machine: &Machine, repetitions: u32) -> Vec<Timebase> {
        let mut clock = || Timebase::new(machine.timebase, self.next_phase());
        (0..repetitions).map(|_| clock()).collect()
    }

    /// How long a run took that ended then, as the clock of each of so many repetitions shows it
    /// \[s\].
    fn readings(&mut self, machine: &Machine, end: SimTime, repetitions: u32) -> Vec<f64> {
        let clocks = self.clocks(machine, repetitions).into_iter();
        let reading = |clock: Timebase| {
            self.progress.step();
            clock.ticks(clock.at(end) - clock.at(SimTime::ZERO)).0
        };
        clocks.map(reading).collect()
    }
}

/// A target that can be measured part by part, and not by whole runs alone.
pub trait Measured: Target + Sync {
    /// What it has.
    fn layout(&self) -> Layout;

    /// How many runs may be under way at once without changing each other's times.
    fn at_once(&self) -> usize;

    /// How many steps [`Self::micro_benchmarks`] tells.
    fn micro_benchmark_steps(&self, repetitions: u32) -> u64;

    /// Runs all micro-benchmarks, each so often; what is random is drawn from the seed.
    ///
    /// # Errors
    /// What a measurement runs into.
    fn micro_benchmarks(
        &self,
        repetitions: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<MicroBenchmarks>;

    /// How many steps [`Self::profile`] tells.
    fn profile_steps(&self, workload: &Self::Workload, repetitions: u32) -> u64;

    /// Profiles sequential runs (m = p = 1): one row for each off-loaded function and repetition.
    ///
    /// # Errors
    /// What a run runs into.
    fn profile(
        &self,
        workload: &Self::Workload,
        repetitions: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<Vec<Profile>>;
}

/// A target for [applications](Application).
pub type ApplicationTarget = dyn Measured<Workload = dyn Application, Ran = Ran>;

/// What a target has of each, as far as the model asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// Accelerators: `N_APU`.
    pub apus: u32,
    /// Hardware threads of the host.
    pub hardware_contexts: u32,
    /// Memories that the data may lie in.
    pub memories: u32,
}

impl Layout {
    /// A layout of so many accelerators beside a host of one hardware thread and one memory.
    pub const fn of_apus(apus: u32) -> Self {
        Self { apus, hardware_contexts: 1, memories: 1 }
    }
}

/// The third of eight shares, written `3/8`, has the third run, the eleventh, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    count: u32,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Whether it is all runs.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// The items of the share.
    pub fn of<I>(self, items: &[I]) -> impl Iterator<Item = &I> {
        items.iter().skip(self.number as usize - 1).step_by(self.count as usize)
    }

    /// The folder of a share that is given none.
    pub fn folder(self, whole: &str) -> String {
        format!("{whole}-shard-{}-of-{}", self.number, self.count)
    }

    /// The shares that are not among some of one number.
    pub fn missing_among(some: &[Self]) -> Vec<Self> {
        let Some(first) = some.first() else { return Vec::new() };
        let all = (1..=first.count).map(|number| Self { number, ..*first });
        all.filter(|shard| !some.contains(shard)).collect()
    }

    /// Whether both are of the same number of shares.
    pub fn is_beside(self, other: Self) -> bool {
        self.count == other.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('/').and_then(|(number, count)| {
            Some(Self { number: number.parse().ok()?, count: count.parse().ok()? })
        });
        match parts {
            Some(shard) if (1..=shard.count).contains(&shard.number) => Ok(shard),
            _ => Err(Error::out_of_range("share", text, "which of how many, as 3/8")),
        }
    }
}

/// Runs `job` for each item on so many threads of this computer; the results stand in the order of
/// the items, whatever the threads do. After an error no further item is begun.
///
/// # Errors
/// The first error, in the same order.
pub fn on_threads<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    job: &(dyn Fn(&I) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results: Vec<Mutex<Option<Result<T>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()).max(1) {
            scope.spawn(|| {
                while !has_failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = job(item);
                    has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    *lock(&results[index]) = Some(result);
                }
            });
        }
    });
    // Items are begun in their order: none before the first that failed was left out.
    let filled = "invariant: each job before the first error was run";
    results.iter().map(|result| lock(result).take().expect(filled)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use mmgp_base::error::Error;

    use super::*;

    #[test]
    fn shares_have_every_item_once() {
        let items: Vec<u32> = (0..10).collect();
        let mut all: Vec<u32> = Vec::new();
        for text in ["1/3", "2/3", "3/3"] {
            all.extend(text.parse::<Shard>().unwrap().of(&items));
        }
        assert_eq!(all, [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]);
        assert_eq!(Shard::missing_among(&["2/3".parse().unwrap()]).len(), 2);
        for text in ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn results_stand_in_the_order_of_the_items_whatever_the_threads_do() {
        let items: Vec<u32> = (0..40).collect();
        for threads in [1, 3, 100] {
            let now = AtomicUsize::new(0);
            let job = |&item: &u32| {
                assert!(now.fetch_add(1, Ordering::SeqCst) < threads);
                std::thread::sleep(std::time::Duration::from_micros(u64::from(400 - 10 * item)));
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(item)
            };
            assert_eq!(on_threads(&items, threads, &job).unwrap(), items);
        }
    }

    #[test]
    fn the_first_error_in_that_order_is_returned_and_nothing_is_begun_after_it() {
        let items: Vec<u32> = (0..1000).collect();
        for threads in [1, 4] {
            let begun = AtomicUsize::new(0);
            let job = |&item: &u32| {
                begun.fetch_add(1, Ordering::SeqCst);
                match item {
                    0..7 => Ok(()),
                    7 => Err(Error::Fit(item.to_string())),
                    _ => {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                        Err(Error::Fit(item.to_string()))
                    }
                }
            };
            let error = on_threads(&items, threads, &job).unwrap_err().to_string();
            assert_eq!(error, "the fit did not converge: 7");
            assert!(begun.into_inner() < items.len());
        }
    }
}
