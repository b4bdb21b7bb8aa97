//! How long kernels take: the pipeline's answer, asked once for each shape or at every call.

use std::collections::BTreeMap;

use crate::machine::Machine;
use crate::spu::local_store::LocalStore;
use crate::spu::{
    Accesses, ClassTiming, Compiler, Kernel, PortUse, Stopwatch, Timing, execute, execute_watched,
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

/// What the pipeline says of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelTime {
    /// How long it takes when DMA leaves its local store alone.
    pub cycles: Cycles,
    /// How often it uses the port of the local store meanwhile.
    pub port_use: PortUse,
}

impl KernelTime {
    /// What it takes longer because DMA accesses the local store `lines` times meanwhile.
    pub fn dma_conflicts(self, lines: u64) -> Cycles {
        self.port_use.conflicts(lines, self.cycles)
    }
}

/// The pipeline of a machine, and what it has said so far.
pub struct KernelTimings {
    timing: Timing,
    /// One for each compiler that a kernel has asked for.
    stopwatches: BTreeMap<Compiler, Stopwatch>,
    mode: KernelTiming,
    known: BTreeMap<(&'static str, u32, Compiler), KernelTime>,
}

impl KernelTimings {
    /// A pipeline that has not been asked yet.
    pub fn new(machine: &Machine, mode: KernelTiming) -> Self {
        let timing = pipeline(machine);
        Self { timing, stopwatches: BTreeMap::new(), mode, known: BTreeMap::new() }
    }

    /// Executes the kernel on `store` and says how long it takes; `shape` is all that this depends
    /// on beside [`Kernel::compiler`], such as its number of iterations.
    pub fn run<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: u32,
        store: &mut LocalStore,
    ) -> (K::Output, KernelTime) {
        match self.known(kernel, shape) {
            Some(time) => (execute(kernel, store), time),
            None => self.ask(kernel, shape, store),
        }
    }

    /// The same, noting what the kernel touches.
    pub fn run_watched<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: u32,
        store: &mut LocalStore,
    ) -> (K::Output, KernelTime, Accesses) {
        let time = match self.known(kernel, shape) {
            Some(time) => time,
            // The pipeline does not tell what is touched, so the kernel runs twice.
            None => self.ask(kernel, shape, &mut store.clone()).1,
        };
        let (output, accesses) = execute_watched(kernel, store);
        (output, time, accesses)
    }

    fn known<K: Kernel>(&self, kernel: &K, shape: u32) -> Option<KernelTime> {
        let known = || self.known.get(&(kernel.name(), shape, kernel.compiler())).copied();
        (self.mode == KernelTiming::Cached).then(known).flatten()
    }

    fn ask<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: u32,
        store: &mut LocalStore,
    ) -> (K::Output, KernelTime) {
        let (timing, compiler) = (&self.timing, kernel.compiler());
        let new = || Stopwatch::new(timing.clone(), compiler);
        let stopwatch = self.stopwatches.entry(compiler).or_insert_with(new);
        let (output, timed) = stopwatch.time(kernel, store);
        let time = KernelTime { cycles: timed.cycles, port_use: timed.port_use() };
        self.known.insert((kernel.name(), shape, compiler), time);
        (output, time)
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
