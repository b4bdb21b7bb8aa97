//! What a decision at run time costs: an arrival with its completion within a window, and the end of
//! a window, at which the model learns and chooses.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mmgp::guided::{Answer, Guide, Request};
use mmgp::units::Seconds;

const PROCESSES: u32 = 8;
const APUS: u32 = 16;
/// Pairs of calls that are timed together; a window of so many processes is longer.
const PAIRS: u32 = 32;

/// Processes whose off-loads take 10 ms on one APU and are shared but for 1 ms, after 1 ms on the host.
#[derive(Clone)]
struct Machine {
    guide: Guide,
    now: f64,
    turn: u32,
}

impl Machine {
    /// One off-load, alone on the machine.
    fn offload(&mut self) {
        let process = self.turn % PROCESSES;
        self.turn += 1;
        self.now += 1e-3 / f64::from(PROCESSES);
        let request = Request { function: 0, most_shares: APUS, idle: APUS };
        let Answer::Go(shares) = self.guide.arrives(Seconds(self.now), process, request) else {
            return;
        };
        self.now += (1e-3 + 9e-3 / f64::from(shares)) / f64::from(PROCESSES);
        self.guide.completes(Seconds(self.now), process);
    }

    /// Off-loads after which a window ends.
    fn after(offloads: u32) -> Self {
        let mut guide = Guide::new(APUS, 2).expect("a machine");
        (0..PROCESSES).for_each(|process| guide.enters(process).expect("few processes"));
        let mut machine = Self { guide, now: 0.0, turn: 0 };
        (0..offloads).for_each(|_| machine.offload());
        machine
    }

    /// Times before an off-load that ends a window, and after it.
    fn about_a_windows_end() -> [Self; 2] {
        let mut machine = Self::after(600);
        // What was tried says more only where a window has ended.
        let told = |machine: &Self| {
            machine.guide.explain().tried.iter().map(|it| it.offloads).sum::<f64>()
        };
        let known = told(&machine);
        loop {
            let before = machine.clone();
            machine.offload();
            if told(&machine) != known {
                return [before, machine];
            }
        }
    }
}

fn benchmark(criterion: &mut Criterion) {
    let [before, after] = Machine::about_a_windows_end();
    let mut group = criterion.benchmark_group("guide");
    group.throughput(Throughput::Elements(u64::from(PAIRS)));
    group.bench_function("32 arrivals and completions within a window", |bencher| {
        let run = |machine: &mut Machine| (0..PAIRS).for_each(|_| machine.offload());
        bencher.iter_batched_ref(|| after.clone(), run, BatchSize::SmallInput);
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("an arrival, and a completion that ends a window", |bencher| {
        bencher.iter_batched_ref(|| before.clone(), Machine::offload, BatchSize::SmallInput);
    });
    let mut running = after;
    group.bench_function("an arrival and a completion, with its part of the ends", |bencher| {
        bencher.iter(|| running.offload());
    });
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
