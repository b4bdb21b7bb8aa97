//! How long kernels take: the pipeline's answer, asked once for each shape or at every call.
//!
//! A kernel that branches on data is asked about once for each shape and *path*, the outcomes of
//! its branches. The fast execution finds out the path; where its time is not known, what the
//! kernel stored is taken back and the kernel runs once more, timed. So the time is that of timing
//! every call, and a call costs twice only where it goes a new way. Paths need not come again, so
//! that no more than [`MOST_PATHS`] are kept.

use std::collections::BTreeMap;

use mmgp_base::units::Cycles;
use mmgp_machine::Machine;
use mmgp_spu::local_store::LocalStore;
use mmgp_spu::{
    Branches, ClassTiming, Compiler, Executed, Journal, Kernel, Path, PortUse, Shape, Stopwatch,
    Timing, Watch, execute, execute_on_path, execute_watched,
};

/// Whether the pipeline is asked at every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelTiming {
    /// Once for each shape ([`Kernel::shape`]), and where the kernel branches on data, path; later
    /// calls only execute.
    Cached,
    /// Times kernels at every call.
    Exact,
}

/// What the pipeline says of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelTime {
    /// How long it takes when DMA leaves its local store alone.
    pub cycles: Cycles,
    /// How often it uses the port of the local store meanwhile.
    pub port_use: PortUse,
    /// The number of what it executes ([`KernelTimings::executed`]), where somebody counts.
    pub(crate) executed: Option<u32>,
}

impl KernelTime {
    /// What it takes longer because DMA accesses the local store `lines` times meanwhile.
    pub fn dma_conflicts(self, lines: u64) -> Cycles {
        self.port_use.conflicts(lines, self.cycles)
    }
}

/// The most paths whose times are kept, of all kernels together: a hundred bytes each. When there
/// are so many, all are forgotten, so that those that come now find room.
pub const MOST_PATHS: usize = 1 << 16;

/// The pipeline of a machine, and what it has said so far.
pub struct KernelTimings {
    timing: Timing,
    /// One for each compiler that a kernel has asked for.
    stopwatches: BTreeMap<Compiler, Stopwatch>,
    mode: KernelTiming,
    known: BTreeMap<Shape, KernelTime>,
    /// The same of kernels that branch on data.
    known_paths: BTreeMap<(Shape, Path), KernelTime>,
    journal: Journal,
    /// What kernels execute, where somebody counts.
    executed: Option<Executions>,
}

/// What the runs of kernels executed, each once.
#[derive(Default)]
struct Executions {
    all: Vec<Executed>,
    numbers: BTreeMap<Executed, u32>,
}

impl Executions {
    fn number(&mut self, executed: Executed) -> u32 {
        *self.numbers.entry(executed).or_insert_with(|| {
            self.all.push(executed);
            self.all.len() as u32 - 1
        })
    }
}

impl KernelTimings {
    /// A pipeline that has not been asked yet.
    pub fn new(machine: &Machine, mode: KernelTiming) -> Self {
        let timing = pipeline(machine);
        Self {
            timing,
            stopwatches: BTreeMap::new(),
            mode,
            known: BTreeMap::new(),
            known_paths: BTreeMap::new(),
            journal: Journal::default(),
            executed: None,
        }
    }

    /// Says from now on what kernels execute; before any has run.
    pub fn count(&mut self) {
        self.executed = Some(Executions::default());
    }

    /// What the runs of that number have executed, each of them.
    pub fn executed(&self, number: u32) -> Executed {
        self.executed.as_ref().map_or_else(Executed::default, |it| it.all[number as usize])
    }

    /// Executes the kernel on `store` and says how long it takes.
    pub fn run<K: Kernel>(
        &mut self,
        kernel: &K,
        store: &mut LocalStore,
    ) -> (K::Output, KernelTime) {
        let shape = checked_shape(kernel);
        match (self.mode, shape.branches) {
            (KernelTiming::Exact, _) => self.ask(kernel, store),
            (KernelTiming::Cached, Branches::OnShape) => match self.known.get(&shape) {
                Some(&time) => (execute(kernel, store), time),
                None => {
                    let (output, time) = self.ask(kernel, store);
                    self.known.insert(shape, time);
                    (output, time)
                }
            },
            (KernelTiming::Cached, Branches::OnData) => {
                self.run_on_path(kernel, shape, store, None)
            }
        }
    }

    /// Runs a kernel as [`KernelTimings::run`] does, and notes what it touches.
    pub fn run_watched<K: Kernel>(
        &mut self,
        kernel: &K,
        store: &mut LocalStore,
        watch: Watch<'_>,
    ) -> (K::Output, KernelTime) {
        let shape = checked_shape(kernel);
        let time = match (self.mode, shape.branches, self.known.get(&shape)) {
            (KernelTiming::Cached, Branches::OnData, _) => {
                return self.run_on_path(kernel, shape, store, Some(watch));
            }
            (KernelTiming::Cached, Branches::OnShape, Some(&time)) => time,
            // The pipeline does not tell what is touched, so the kernel runs twice.
            _ => self.run(kernel, &mut store.clone()).1,
        };
        (execute_watched(kernel, store, watch), time)
    }

    /// The time of a kernel whose branches depend on its shape alone, without executing it where
    /// that is known.
    ///
    /// # Panics
    /// Where its branches depend on data.
    pub fn time<K: Kernel>(&mut self, kernel: &K, store: &LocalStore) -> KernelTime {
        let shape = checked_shape(kernel);
        assert_eq!(shape.branches, Branches::OnShape, "invariant: {} is executed", shape.name);
        if let Some(&time) = self.known.get(&shape) {
            return time;
        }
        let (_, time) = self.ask(kernel, &mut store.clone());
        self.known.insert(shape, time);
        time
    }

    fn run_on_path<K: Kernel>(
        &mut self,
        kernel: &K,
        shape: Shape,
        store: &mut LocalStore,
        watch: Option<Watch<'_>>,
    ) -> (K::Output, KernelTime) {
        let (output, path) = execute_on_path(kernel, store, &mut self.journal, watch);
        if let Some(&time) = self.known_paths.get(&(shape, path)) {
            return (output, time);
        }
        self.journal.undo(store);
        let (output, time) = self.ask(kernel, store);
        if self.known_paths.len() == MOST_PATHS {
            self.known_paths.clear();
        }
        self.known_paths.insert((shape, path), time);
        (output, time)
    }

    fn ask<K: Kernel>(&mut self, kernel: &K, store: &mut LocalStore) -> (K::Output, KernelTime) {
        let (timing, compiler) = (&self.timing, kernel.shape().compiler);
        let new = || Stopwatch::new(timing.clone(), compiler);
        let stopwatch = self.stopwatches.entry(compiler).or_insert_with(new);
        let (output, timed) = stopwatch.time(kernel, store);
        let executed = self.executed.as_mut().map(|it| it.number(timed.executed()));
        (output, KernelTime { cycles: timed.cycles, port_use: timed.port_use(), executed })
    }
}

/// The shape of a kernel. Builds with debug assertions check where its blocks lie, too: a kernel whose
/// blocks overlap might take another time than others of its shape.
fn checked_shape<K: Kernel>(kernel: &K) -> Shape {
    debug_assert!(kernel.validate().is_ok(), "{:?}", kernel.validate());
    kernel.shape()
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

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_spu::{Accesses, LocalAddress, Quadword, Spu};
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const DATA: LocalAddress = LocalAddress(0x1000);

    /// Halves each word that is a multiple of 512, in place: a branch that is rarely taken, and on
    /// what the kernel itself has stored, so that running it twice would show.
    struct Rare {
        words: u32,
    }

    impl Kernel for Rare {
        type Output = u32;

        fn shape(&self) -> Shape {
            Shape { branches: Branches::OnData, ..Shape::new("rare", self.words) }
        }

        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> u32 {
            let (mut at, mut left) = (spu.ila(DATA.0), spu.ila(self.words));
            let mut halved = spu.il(0);
            loop {
                spu.label();
                let word = spu.lqd(0, at);
                let rest = spu.andi(word, 0x1FF);
                if !spu.brnz(rest) {
                    let half = spu.rotmi(word, -1);
                    spu.stqd(half, 0, at);
                    halved = spu.ai(halved, 1);
                }
                at = spu.ai(at, 16);
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
            spu.value(halved).preferred()
        }
    }

    fn timings(mode: KernelTiming) -> KernelTimings {
        KernelTimings::new(&Machine::named("qs20").unwrap(), mode)
    }

    fn random_store(random: &mut Xoshiro256PlusPlus) -> LocalStore {
        let mut store = LocalStore::new();
        for index in 0..40 {
            let word = Quadword::splat(random.random_range(1..2048));
            store.store(DATA.offset(mmgp_base::units::Bytes(16 * index)), word);
        }
        store
    }

    #[test]
    fn kept_times_of_a_kernel_that_branches_on_data_are_those_of_timing_every_call() {
        let (mut cached, mut exact) = (timings(KernelTiming::Cached), timings(KernelTiming::Exact));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut times = std::collections::BTreeSet::new();
        let mut accesses = Accesses::default();
        for call in 0..2000 {
            let mut one = random_store(&mut random);
            let (mut other, mut watched) = (one.clone(), one.clone());
            let kernel = Rare { words: 10 * (1 + call % 4) };
            let expected = exact.run(&kernel, &mut one);
            assert_eq!(cached.run(&kernel, &mut other), expected, "call {call}");
            assert!(one == other, "call {call}: local stores differ");
            let watch = accesses.watch(call + 1);
            let (output, time) = cached.run_watched(&kernel, &mut watched, watch);
            assert_eq!((output, time), expected, "call {call}, watched");
            assert!(one == watched, "call {call}: local stores differ, watched");
            times.insert(expected.1.cycles);
        }
        assert!(times.len() > 4, "more times than shapes: {times:?}");
        let kept = cached.known_paths.len();
        assert!(4 < kept && kept < 1000, "ways come again: {kept}");
    }

    #[test]
    fn times_of_too_many_paths_are_forgotten() {
        let mut timings = timings(KernelTiming::Cached);
        let kernel = Rare { words: 20 };
        let mut store = LocalStore::new();
        for call in 0..MOST_PATHS as u32 + 2 {
            for index in 0..20 {
                let word = Quadword::splat(512 | (call >> index & 1));
                store.store(DATA.offset(mmgp_base::units::Bytes(16 * index)), word);
            }
            timings.run(&kernel, &mut store);
        }
        assert_eq!(timings.known_paths.len(), 2);
    }
}
