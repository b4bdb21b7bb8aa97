//! Measurements on a [target], written as the CSV files that a user would bring from one: the
//! micro-benchmarks of the MMGP paper, the sequential profile, and runs.
//!
//! On the emulated machine every measurement is a program that reads the machine's timebase before and
//! after, so its times have the timebase's resolution. The repetitions of a measurement differ in
//! how far the timebase is into a tick at the start, drawn from the seed: nothing else on the
//! emulated machine is random, so the spread is that of reading a clock, not of a busy system. A
//! micro-benchmark, whose course does not depend on the clock, is run once and read by as many clocks.

pub mod caches;
pub mod emulated;
pub mod figure;
pub mod memory;
pub mod micro;
mod product;
mod profile;
pub mod schedulers;
pub mod scripted;
pub mod target;
pub mod task_profile;
pub(crate) mod threads;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::cell::Progress;
use crate::cell::decrementer::Timebase;
use crate::machine::Machine;
use crate::units::SimTime;
pub use emulated::{Emulated, Watch};
pub use target::{ApplicationTarget, Measured, Target};

/// How far the timebase is into a tick at the start of each run: uniform in [0, 1).
pub struct ClockPhases {
    generator: Xoshiro256PlusPlus,
    /// Told of every run.
    progress: Progress,
}

impl ClockPhases {
    /// The phases that belong to a seed.
    pub fn new(seed: u64) -> Self {
        let generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { generator, progress: Progress::default() }
    }

    /// The phase for the next run.
    pub fn next_phase(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// How long a run took that ended then, as the timebase shows it in each of so many
    /// repetitions \[s\].
    fn readings(&mut self, machine: &Machine, end: SimTime, repetitions: u32) -> Vec<f64> {
        let mut reading = || {
            let timebase = Timebase::new(machine.timebase, self.next_phase());
            self.progress.step();
            timebase.ticks(timebase.at(end) - timebase.at(SimTime::ZERO)).0
        };
        (0..repetitions).map(|_| reading()).collect()
    }
}
