//! How long kernels take: the pipeline's answer, asked once for each shape or at every call.

use std::collections::BTreeMap;

use crate::machine::Machine;
use crate::spu::local_store::LocalStore;
use crate::spu::{
    Accesses, ClassTiming, Compiler, Kernel, Stopwatch, Timing, execute, execute_watched,
};
use crate::units::Cycles;

/// Whether the pipeline is asked at every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelTiming {
    /// Once for each kernel and shape; later calls only execute. Right for kernels without
    /// branches on data, whose time depends on their shape alone.
    Cached,
    /// At every call.
    Exact,
}

/// The pipeline of a machine, and what it has said so far.
pub struct KernelTimings {
    stopwatch: Stopwatch,
    mode: KernelTiming,
    known: BTreeMap<(&'static str, u32), Cycles>,
}

impl KernelTimings {
    /// A pipeline that has not been asked yet.
    pub fn new(machine: &Machine, mode: KernelTiming) -> Self {
        let stopwatch = Stopwatch::new(pipeline(machine), Compiler::LIST_SCHEDULING);
        Self { stopwatch, mode, known: BTreeMap::new() }
    }

    /// Executes the kernel on `store` and says how long it takes; `shape` is all that this depends
    /// on, such as its number of iterations.
    pub fn run<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: u32,
        store: &mut LocalStore,
    ) -> (K::Output, Cycles) {
        match self.known(kernel, shape) {
            Some(cycles) => (execute(kernel, store), cycles),
            None => self.ask(kernel, shape, store),
        }
    }

    /// The same, noting what the kernel touches.
    pub fn run_watched<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: u32,
        store: &mut LocalStore,
    ) -> (K::Output, Cycles, Accesses) {
        let cycles = match self.known(kernel, shape) {
            Some(cycles) => cycles,
            // The pipeline does not tell what is touched, so the kernel runs twice.
            None => self.ask(kernel, shape, &mut store.clone()).1,
        };
        let (output, accesses) = execute_watched(kernel, store);
        (output, cycles, accesses)
    }

    fn known<K: Kernel>(&self, kernel: &K, shape: u32) -> Option<Cycles> {
        let known = || self.known.get(&(kernel.name(), shape)).copied();
        (self.mode == KernelTiming::Cached).then(known).flatten()
    }

    fn ask<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: u32,
        store: &mut LocalStore,
    ) -> (K::Output, Cycles) {
        let (output, timed) = self.stopwatch.time(kernel, store);
        self.known.insert((kernel.name(), shape), timed.cycles);
        (output, timed.cycles)
    }
}

/// The pipeline of the machine's SPUs.
pub fn pipeline(machine: &Machine) -> Timing {
    let spu = &machine.spu;
    let class = |latency: Cycles| ClassTiming { latency: latency.0 as u32, issue_block: 0 };
    Timing {
        simple_fixed: class(spu.simple_fixed),
        word_shift: class(spu.shift),
        byte: class(spu.byte),
        single_precision: class(spu.single),
        integer_multiply: class(spu.integer_multiply),
        double_precision: ClassTiming {
            issue_block: spu.double_block.0 as u32,
            ..class(spu.double)
        },
        shuffle: class(spu.shuffle),
        load_store: class(spu.load),
        branch_hint: class(spu.hint_distance),
        branch: class(spu.branch),
        channel: class(spu.channel),
        branch_penalty: spu.taken_branch.0 as u32,
        hint_distance: spu.hint_distance.0 as u32,
        fetch_line: spu.fetch_line,
        fetch: spu.fetch.0 as u32,
    }
}
