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

use crate::cell::Progress;
use crate::error::Result;
use crate::machine::Machine;
pub use crate::table::MicroBenchmarks;

/// Runs all micro-benchmarks, each so often.
pub fn micro_benchmarks(machine: &Machine, repetitions: u32, seed: u64) -> Result<MicroBenchmarks> {
    micro_benchmarks_telling(machine, repetitions, seed, &Progress::default())
}

/// The same, telling each of its [runs](micro_benchmark_runs).
pub fn micro_benchmarks_telling(
    machine: &Machine,
    repetitions: u32,
    seed: u64,
    progress: &Progress,
) -> Result<MicroBenchmarks> {
    let mut phases = ClockPhases { progress: progress.clone(), ..ClockPhases::new(seed) };
    Ok(MicroBenchmarks {
        alpha: micro::alpha(machine, repetitions, &mut phases)?,
        offload: micro::offload(machine, repetitions, &mut phases)?,
        context_switch: micro::context_switch(machine, repetitions, &mut phases)?,
        collective: micro::collective(machine, repetitions, &mut phases)?,
        memory: memory::streams(machine, repetitions, &mut phases)?,
    })
}

/// How many runs the micro-benchmarks are.
pub fn micro_benchmark_runs(machine: &Machine, repetitions: u32) -> u64 {
    let of_memory = machine.layout.spes() as usize;
    u64::from(repetitions) * (micro::runs(machine) + of_memory) as u64
}

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
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::apps::App;
    use crate::apps::pbpi::Pbpi;
    use crate::apps::phylogeny::{Patterns, simulate};

    /// What counts its steps.
    fn counting() -> (Rc<Cell<u64>>, Progress) {
        let steps = Rc::new(Cell::new(0));
        let counted = Rc::clone(&steps);
        (steps, Progress::new(move || counted.set(counted.get() + 1)))
    }

    #[test]
    fn micro_benchmarks_tell_as_many_runs_as_they_promise() {
        let ps3 = Machine::named("ps3").unwrap();
        let (steps, progress) = counting();
        let told = micro_benchmarks_telling(&ps3, 2, 1, &progress).unwrap();
        // Six SPEs: five sizes of products, five of messages, three numbers of processes that
        // yield, collectives and memory.
        assert_eq!(micro_benchmark_runs(&ps3, 2), 2 * (5 * 6 + 5 + 3 + 6 + 6));
        assert_eq!(steps.get(), micro_benchmark_runs(&ps3, 2));
        assert_eq!(told, micro_benchmarks(&ps3, 2, 1).unwrap());
    }

    #[test]
    fn a_profile_tells_every_generation_of_every_repetition() {
        let tree = simulate::tree(6, 0.1, 1).unwrap();
        let alignment = simulate::alignment(&tree, &simulate::names(6), 40, 1).unwrap();
        let pbpi = Pbpi::new(Patterns::compress(&alignment), Some(tree), 1, 7).unwrap();
        let (app, ps3) = (App::Pbpi(pbpi), Machine::named("ps3").unwrap());
        let (steps, progress) = counting();
        let told = profile::profile_telling(&app, &ps3, 3, 1, &progress).unwrap();
        assert_eq!((app.steps(), steps.get()), (7, 3 * 7));
        assert_eq!(told, profile::profile(&app, &ps3, 3, 1).unwrap());
    }
}
