//! How fast programs are emulated, under each scheduler too, events happen, and SPU instructions run.
//! Emulated seconds in a second of one core: `cargo bench -p benches --bench emulator seconds`.

use std::hint::black_box;
use std::rc::Rc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::Mapping;
use mmgp::apps::pbpi::Pbpi;
use mmgp::apps::phylogeny::{Patterns, simulate};
use mmgp::apps::raxml::search::{Effort, Rates, Settings};
use mmgp::apps::raxml::{Raxml, Tasks};
use mmgp::apps::run::Run;
use mmgp::apps::synthetic::{Burst, Durations, Synthetic};
use mmgp::apps::{Application, Port};
use mmgp::cell::eib::{Eib, Transfer};
use mmgp::cell::memory::Memory;
use mmgp::cell::mfc::Hazards;
use mmgp::cell::trace::chrome::ChromeTrace;
use mmgp::cell::trace::{Category, Event, Sink, Track};
use mmgp::cell::{Blade, EffectiveAddress, KernelTiming, pipeline};
use mmgp::kernels::Version;
use mmgp::kernels::logarithm::write_table;
use mmgp::kernels::pbpi::{LikelihoodSum, NodeUpdate, RootProduct};
use mmgp::machine::Machine;
use mmgp::measure::{Emulated, Target};
use mmgp::runtime::{Edtlp, Runtime};
use mmgp::schedulers::{policies, policy_named};
use mmgp::sim::{Flows, Pool, Sim, Watch};
use mmgp::spu::{Compiler, Kernel, LocalAddress, LocalStore, Quadword, Stopwatch, execute};
use mmgp::units::{Bytes, Seconds, SimSpan, SimTime};

/// An alignment of so many taxa and sites, along a tree of branches of that mean length.
fn patterns(taxa: usize, sites: usize, mean_branch_length: f64, seed: u64) -> Patterns {
    let tree = simulate::tree(taxa, mean_branch_length, seed).expect("invariant: enough taxa");
    let alignment = simulate::alignment(&tree, &simulate::names(taxa), sites, seed)
        .expect("invariant: a name for each tip");
    Patterns::compress(&alignment)
}

fn pbpi() -> Pbpi {
    const GENERATIONS: u32 = 50;
    Pbpi::new(patterns(107, 10_000, 0.034, 107), None, 1, GENERATIONS)
        .expect("invariant: an alignment with patterns")
}

fn raxml() -> Raxml {
    let settings = Settings::new(1, Rates::Gamma).with_effort(Effort::SHORT);
    let tasks = Tasks { inferences: 0, bootstraps: 4 };
    Raxml::new(patterns(42, 1167, 0.003_065, 42), settings, tasks, Port::Unfused)
        .expect("invariant: an alignment with patterns")
}

/// Six SPEs that read from memory, each with two transfers of `bytes` under way: latency, way and
/// contents of each.
fn transfers(machine: &Machine, bytes: u64, each: u64) {
    let sim = Sim::new();
    let memory = Rc::new(Memory::new(machine));
    let eib = Rc::new(Eib::new(&sim, machine, &memory));
    for (spe, half) in (0..6).flat_map(|spe| [(spe, 0), (spe, 1)]) {
        let from = memory.allocate(0, Bytes(bytes));
        let to = EffectiveAddress::local_store(spe, LocalAddress(half * 16384));
        let (own, eib, memory) = (sim.clone(), Rc::clone(&eib), Rc::clone(&memory));
        sim.spawn("reader", async move {
            for _ in 0..each {
                own.sleep(eib.latency(from, to)).await;
                eib.carry(&Transfer { spe, from, to, bytes: Bytes(bytes) }).await;
                memory.copy(from, to, Bytes(bytes));
            }
        });
    }
    sim.run().expect("invariant: every transfer ends");
}

/// A run with the SPEs of a QS20, from building the machine to collecting the result.
fn run(app: &dyn Application, machine: &Machine, mapping: Mapping, hazards: Hazards) -> Run {
    let blade = Blade::new(black_box(machine), KernelTiming::Cached, 0.0);
    blade.set_hazards(hazards);
    let ran = app.run(&Runtime::new(blade, Box::new(Edtlp::default())), mapping);
    ran.expect("invariant: a QS20 has 16 SPEs").run
}

/// How many seconds of the machine are emulated in a second of one core of the host: PBPI on 107 taxa x
/// 10,000 sites, and four bootstraps of RAxML on 42 taxa x 1,167 sites.
///
/// A run is emulated once to learn its virtual time. Each benchmark has that time, in nanoseconds of the
/// emulated machine, as its elements: a throughput of 1 Gelem/s is one emulated second a second. At
/// (1, 8) the process has its Cells for itself, elsewhere processes share them. Values are computed, or
/// known from another run, as those of all runs of a study but its first. Simulating and compressing the
/// alignment is not in it.
fn bench_seconds(criterion: &mut Criterion) {
    let machine = Machine::named("qs20").expect("invariant: it is built in");
    let mut group = criterion.benchmark_group("seconds");
    group.sample_size(10);
    let programs: [Box<dyn Application>; 2] = [Box::new(pbpi()), Box::new(raxml())];
    for program in programs {
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        let first =
            program.run(&Runtime::new(blade, Box::new(Edtlp::default())), Mapping::of(1, 8));
        let known = program.knowing(&first.expect("invariant: a QS20 has 8 SPEs"));
        let known = known.expect("invariant: its kernels do not branch on what they compute");
        for mapping in [Mapping::of(1, 8), Mapping::of(4, 4), Mapping::of(8, 1)] {
            for (what, app) in [("computed", &program), ("known", &known)] {
                let emulate = || run(&**app, &machine, mapping, Hazards::Ignored);
                group.throughput(Throughput::Elements((1e9 * emulate().time.0) as u64));
                let name = format!("{} at {mapping}, {what}", program.name());
                group.bench_function(name, |bencher| bencher.iter(emulate));
            }
        }
    }
    group.finish();
}

/// What else is emulated: PBPI at (1, 8) with hazards looked for, in emulated nanoseconds; its DMA
/// commands; DMA alone, transfers through the bus; events of a trace, written as JSON to nowhere.
fn bench_emulate(criterion: &mut Criterion) {
    let machine = Machine::named("qs20").expect("invariant: it is built in");
    let program = pbpi();
    let emulate = |hazards| run(&program, &machine, Mapping::of(1, 8), hazards);
    let known = emulate(Hazards::Ignored);
    let mut group = criterion.benchmark_group("emulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements((1e9 * known.time.0) as u64));
    let name = "PBPI at (1, 8), hazards looked for, emulated nanoseconds";
    group.bench_function(name, |bencher| bencher.iter(|| emulate(Hazards::Checked)));
    group.throughput(Throughput::Elements(known.dma_commands));
    let name = "PBPI at (1, 8), DMA commands";
    group.bench_function(name, |bencher| bencher.iter(|| emulate(Hazards::Ignored)));
    const EACH: u64 = 2000;
    group.throughput(Throughput::Elements(12 * EACH));
    for bytes in [256, 16384] {
        group.bench_function(format!("transfers of {bytes} bytes by six SPEs"), |bencher| {
            bencher.iter(|| transfers(&machine, bytes, EACH));
        });
    }
    group.throughput(Throughput::Elements(EVENTS));
    group.bench_function("events of a trace", |bencher| bencher.iter(|| write_trace(&machine)));
    group.finish();
}

const EVENTS: u64 = 100_000;

/// Writes so many DMA commands.
fn write_trace(machine: &Machine) -> u64 {
    let mut trace = ChromeTrace::new(std::io::sink(), machine.layout);
    for number in 0..EVENTS {
        let start = SimTime::ZERO + SimSpan::from_ticks(1_234_567_890 * number);
        trace.record(&Event::Span {
            track: Track::Dma { spe: number as u32 % 16, lane: 0 },
            category: Category::Dma,
            label: "get".into(),
            start,
            end: start + SimSpan::from_ticks(1_171_312_500),
            arguments: [Some(("bytes", 16384)), Some(("tag", 3)), Some(("local", 4096)), None],
        });
    }
    trace.finish().expect("invariant: nowhere takes everything")
}

const TASKS: u32 = 16;
const OFFLOADS: u32 = 500;
const TASK_SEED: u64 = 1;

fn tasks(shared: f64) -> Synthetic {
    let mean = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
    let durations = Durations::exponential(mean).expect("invariant: positive times");
    let program = Synthetic::new(TASKS, OFFLOADS, durations, TASK_SEED);
    let program = program.expect("invariant: tasks and off-loads");
    program.sharing(shared).expect("invariant: a part")
}

/// How fast a program is emulated under each scheduler: synthetic tasks of 96 us after 11 us on the
/// host on average, 16 streams on the 8 SPEs of a Cell, in emulated nanoseconds; 1 Gelem/s is one
/// emulated second for each second of one core of the host. Tasks of one SPE, then tasks of which
/// 80 % can be shared.
///
/// A run is emulated once to learn its virtual time. What is timed is all of a run, from building the
/// machine to collecting the result.
fn bench_schedulers(criterion: &mut Criterion) {
    let machine = Machine::named("qs20-cell").expect("invariant: it is built in");
    let mapping = Mapping::of(8, 1);
    let mut group = criterion.benchmark_group("schedulers");
    group.sample_size(10);
    for shared in [0.0, 0.8] {
        let program = tasks(shared);
        for policy in policies() {
            let target = Emulated::new(machine.clone()).choosing_from(policy_named);
            let target = target.under(policy.name()).expect("invariant: a scheduler of the list");
            let run = || {
                let run = target.run(black_box(&program as &dyn Application), mapping);
                run.expect("invariant: a Cell has 8 SPEs").run.time
            };
            group.throughput(Throughput::Elements((1e9 * run().0) as u64));
            let name = format!("{}, {:.0} % shared", policy.name(), 100.0 * shared);
            group.bench_function(name, |bencher| bencher.iter(run));
        }
    }
    group.finish();
}

/// Processes that only sleep, each for its own span.
fn timers(processes: u64, rounds: u64) {
    let sim = Sim::new();
    for number in 0..processes {
        let own = sim.clone();
        let span = SimSpan::from_ticks(1000 + 7919 * number % 1009);
        sim.spawn("sleeper", async move {
            for _ in 0..rounds {
                own.sleep(span).await;
            }
        });
    }
    sim.run().expect("invariant: sleepers wake");
}

/// Two processes that wait for each other in turn.
fn ping_pong(rounds: u64) {
    let sim = Sim::new();
    let ball = Watch::new(&sim, "the ball", 0);
    for side in 0..2 {
        let ball = ball.clone();
        sim.spawn("player", async move {
            for _ in 0..rounds {
                ball.wait_until(|strokes| strokes % 2 == side).await;
                ball.update(|strokes| *strokes += 1);
            }
        });
    }
    sim.run().expect("invariant: the ball comes back");
}

/// Customers who queue for one of four clerks, again and again.
fn pool(customers: u64, rounds: u64) {
    let sim = Sim::new();
    let clerks = Pool::new(&sim, "clerks", 4);
    for customer in 0..customers {
        let (own, clerks) = (sim.clone(), clerks.clone());
        sim.spawn("customer", async move {
            for _ in 0..rounds {
                let _served = clerks.acquire().await;
                own.sleep(SimSpan::from_ticks(100 + customer)).await;
            }
        });
    }
    sim.run().expect("invariant: everybody is served");
}

/// Flows of different sizes, each followed by another, over a port of their own and a capacity that
/// all pass: wide enough for all their caps, or for half of them.
fn flows(senders: u32, rounds: u64, wide: f64) {
    let sim = Sim::new();
    let network = Flows::new(&sim, "the network");
    let common = network.add(wide * f64::from(senders));
    for sender in 0..senders {
        let (network, path) = (network.clone(), [network.add(1.0), common]);
        sim.spawn("sender", async move {
            for _ in 0..rounds {
                network.send(&path, 1.0, 1e-9 * f64::from(10 + sender)).await;
            }
        });
    }
    sim.run().expect("invariant: every flow ends");
}

/// How many events of a simulation happen in a second: Criterion's "elements" are what the name of
/// the benchmark counts.
fn bench_sim(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sim");
    group.sample_size(20);
    group.throughput(Throughput::Elements(1000 * 1000));
    group.bench_function("timer events of 1000 processes", |bencher| {
        bencher.iter(|| timers(1000, 1000));
    });
    group.throughput(Throughput::Elements(2 * 200_000));
    group.bench_function("strokes between two processes", |bencher| {
        bencher.iter(|| ping_pong(200_000));
    });
    group.throughput(Throughput::Elements(16 * 20_000));
    group.bench_function("services of 16 customers by 4 clerks", |bencher| {
        bencher.iter(|| pool(16, 20_000));
    });
    group.bench_function("flows, 16 at once, with room for all", |bencher| {
        bencher.iter(|| flows(16, 20_000, 1.0));
    });
    group.bench_function("flows, 16 at once, with room for half", |bencher| {
        bencher.iter(|| flows(16, 20_000, 0.5));
    });
    group.finish();
}

const fn at(kibibytes: u32) -> LocalAddress {
    LocalAddress(kibibytes * 1024)
}

/// Groups in a block of 1,008 patterns.
const GROUPS: u32 = 252;

fn measure<K: Kernel>(criterion: &mut Criterion, kernel: &K) {
    let mut store = LocalStore::new();
    store.slice_mut(at(0), Bytes(200 * 1024)).fill(Quadword::from_doubles([0.5; 2]));
    write_table(&mut store, at(252));
    let qs20 = pipeline(&Machine::named("qs20").expect("it is built in"));
    let new_stopwatch = || Stopwatch::new(qs20.clone(), Compiler::LIST_SCHEDULING);
    let mut stopwatch = new_stopwatch();
    let instructions = stopwatch.time(kernel, &mut store).1.instructions();
    let mut group = criterion.benchmark_group(kernel.name());
    group.throughput(Throughput::Elements(instructions));
    group.bench_function("execute", |bencher| {
        bencher.iter(|| execute(kernel, black_box(&mut store)));
    });
    group.bench_function("execute and time", |bencher| {
        bencher.iter(|| stopwatch.time(kernel, black_box(&mut store)).1);
    });
    let mut unordered = Stopwatch::new(qs20.clone(), Compiler::PROGRAM_ORDER);
    group.bench_function("execute and time in program order", |bencher| {
        bencher.iter(|| unordered.time(kernel, black_box(&mut store)).1);
    });
    group.bench_function("execute and time for the first time", |bencher| {
        bencher.iter(|| {
            let mut stopwatch = new_stopwatch();
            stopwatch.time(kernel, black_box(&mut store)).1
        });
    });
    group.finish();
}

/// How many SPU instructions the emulator runs in a second, on the kernels of PBPI: executing
/// only, and executing and timing, as an optimising compiler orders them and in program order.
/// Criterion's "elements" are instructions.
fn bench_spu(criterion: &mut Criterion) {
    let node_update = NodeUpdate {
        version: Version::Tuned,
        groups: GROUPS,
        left_matrix: at(0),
        right_matrix: LocalAddress(128),
        left: at(1),
        right: at(33),
        out: at(65),
        left_counts: at(97),
        right_counts: at(101),
        out_counts: at(105),
    };
    let root_product = RootProduct {
        version: Version::Tuned,
        groups: GROUPS,
        matrices: [at(0), LocalAddress(128), LocalAddress(256)],
        vectors: [at(1), at(33), at(109)],
        out: at(65),
        counts: [at(97), at(101), at(141)],
        out_counts: at(105),
    };
    let likelihood_sum = LikelihoodSum {
        version: Version::Tuned,
        groups: GROUPS,
        root: at(1),
        counts: at(97),
        weights: at(33),
        frequencies: at(0),
        table: at(252),
        result: LocalAddress(512),
    };
    measure(criterion, &node_update);
    measure(criterion, &root_product);
    measure(criterion, &likelihood_sum);
}

criterion_group!(benches, bench_seconds, bench_emulate, bench_schedulers, bench_sim, bench_spu);
criterion_main!(benches);
