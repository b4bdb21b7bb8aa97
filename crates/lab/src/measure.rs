//! Measurements on a [target], written as the CSV files that a user would bring from one: the
//! micro-benchmarks of the MMGP paper, the sequential profile, and runs.
//!
//! On the emulated machine every measurement is a program that reads the machine's timebase before and
//! after, so its times have the timebase's resolution. The repetitions of a measurement differ in
//! how far the timebase is into a tick at the start, drawn from the seed: nothing else on the
//! emulated machine is random, so the spread is that of reading a clock, not of a busy system. As the
//! course of no program depends on the clock by which it is timed, each is run once and read by as
//! many clocks.

pub mod caches;
pub mod emulated;
pub mod figure;
pub mod list_ranking;
pub mod memory;
pub mod messages;
pub mod micro;
mod product;
pub mod schedulers;
mod shard;
pub mod target;
pub mod task_profile;
pub mod threads;
pub mod wavefront;

use std::path::Path;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::observer::{Observer, progress};
pub use emulated::{Emulated, Schedulers, Watch};
use mmgp_apps::Application;
use mmgp_base::table::records::Profile;
use mmgp_base::table::{MicroBenchmarks, csv};
use mmgp_base::units::SimTime;
use mmgp_base::{Result, table};
use mmgp_cell::Progress;
use mmgp_cell::event::Timebase;
use mmgp_machine::Machine;
pub use shard::Shard;
pub use target::{ApplicationTarget, Measured, Target};

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

/// Writes the tables of micro-benchmarks into a folder that exists.
///
/// # Errors
/// [`Write`](mmgp_base::Error::Write).
pub fn write(folder: &Path, tables: &MicroBenchmarks) -> Result<()> {
    table::write(&folder.join("alpha.csv"), csv::write(&tables.alpha))?;
    table::write(&folder.join("offload.csv"), csv::write(&tables.offload))?;
    table::write(&folder.join("context_switch.csv"), csv::write(&tables.context_switch))?;
    table::write(&folder.join("collective.csv"), csv::write(&tables.collective))?;
    table::write(&folder.join("memory.csv"), csv::write(&tables.memory))
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
