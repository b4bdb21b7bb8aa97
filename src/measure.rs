//! Measurements on the emulated machine, written as the CSV files that a user would bring from a
//! real one: the micro-benchmarks of the MMGP paper and the sequential profile.
//!
//! Every measurement is a program on the machine that reads the machine's timebase before and
//! after, so its times have the timebase's resolution. The repetitions of a measurement differ in
//! how far the timebase is into a tick at the start, drawn from the seed: nothing else on the
//! emulated machine is random, so the spread is that of reading a clock, not of a busy system.

pub mod caches;
pub mod figure;
pub mod memory;
pub mod micro;
mod product;
pub mod profile;
pub mod task_profile;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::error::Result;
use crate::machine::Machine;
use crate::table::records::{Alpha, Collective, ContextSwitch, MemoryStream, Offload};

/// The tables of all micro-benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct MicroBenchmarks {
    /// Concurrent matrix products.
    pub alpha: Vec<Alpha>,
    /// Ping-pong between host and accelerator.
    pub offload: Vec<Offload>,
    /// Repeated yield.
    pub context_switch: Vec<ContextSwitch>,
    /// Collectives among the host processes.
    pub collective: Vec<Collective>,
    /// Accelerators that stream through one memory, which only the refined model asks for.
    pub memory: Vec<MemoryStream>,
}

/// Runs all micro-benchmarks, each so often.
pub fn micro_benchmarks(machine: &Machine, repetitions: u32, seed: u64) -> Result<MicroBenchmarks> {
    let mut phases = ClockPhases::new(seed);
    Ok(MicroBenchmarks {
        alpha: micro::alpha(machine, repetitions, &mut phases)?,
        offload: micro::offload(machine, repetitions, &mut phases)?,
        context_switch: micro::context_switch(machine, repetitions, &mut phases)?,
        collective: micro::collective(machine, repetitions, &mut phases)?,
        memory: memory::streams(machine, repetitions, &mut phases)?,
    })
}

/// How far the timebase is into a tick at the start of each run: uniform in [0, 1).
pub struct ClockPhases {
    generator: Xoshiro256PlusPlus,
}

impl ClockPhases {
    /// The phases that belong to a seed.
    pub fn new(seed: u64) -> Self {
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The phase for the next run.
    pub fn next_phase(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
