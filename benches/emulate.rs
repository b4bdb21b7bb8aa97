//! How fast the whole machine is emulated: PBPI on 107 taxa x 10,000 sites, with the eight SPEs of
//! one Cell of a QS20.
//!
//! A run is emulated once to learn its virtual time. The first benchmark has that time, in
//! nanoseconds of the emulated machine, as its elements: a throughput of 1 Gelem/s is one emulated
//! second for each second of one core of the host. The elements of the second are DMA commands.
//! Both time the same call, from building the machine to collecting the result; simulating and
//! compressing the alignment is not in it. Then come runs whose values are known from another, as
//! those of a study are. Then the first one with hazards looked for. Then DMA alone: transfers
//! through the bus, as their elements. The elements of the last one are events of a trace, written as JSON to nowhere.

use std::hint::black_box;
use std::rc::Rc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::Mapping;
use mmgp::apps::Application;
use mmgp::apps::pbpi::Pbpi;
use mmgp::apps::phylogeny::Patterns;
use mmgp::apps::phylogeny::simulate;
use mmgp::cell::eib::{Eib, Transfer};
use mmgp::cell::memory::Memory;
use mmgp::cell::mfc::Hazards;
use mmgp::cell::trace::chrome::ChromeTrace;
use mmgp::cell::trace::{Category, Event, Sink, Track};
use mmgp::cell::{Blade, EffectiveAddress, KernelTiming};
use mmgp::machine::Machine;
use mmgp::runtime::{Edtlp, Runtime};
use mmgp::sim::Sim;
use mmgp::spu::local_store::LocalAddress;
use mmgp::units::{Bytes, SimSpan, SimTime};

const TAXA: usize = 107;
const SITES: usize = 10_000;
const SEED: u64 = 107;
const MEAN_BRANCH_LENGTH: f64 = 0.1;
const GENERATIONS: u32 = 50;

fn program() -> Pbpi {
    let tree = simulate::tree(TAXA, MEAN_BRANCH_LENGTH, SEED).expect("invariant: enough taxa");
    let alignment = simulate::alignment(&tree, &simulate::names(TAXA), SITES, SEED)
        .expect("invariant: a name for each tip");
    Pbpi::new(Patterns::compress(&alignment), None, 1, GENERATIONS)
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

fn benchmarks(criterion: &mut Criterion) {
    let machine = Machine::named("qs20").expect("invariant: it is built in");
    let program = program();
    let emulate = || {
        let run =
            program.emulate(black_box(&machine), Mapping::of(1, 8), KernelTiming::Cached, 0.0);
        run.expect("invariant: a QS20 has 8 SPEs").0
    };
    let run = emulate();
    let computes = program.clone();
    let run_with = |hazards: Hazards, app: &dyn Application, mapping: Mapping| {
        let blade = Blade::new(black_box(&machine), KernelTiming::Cached, 0.0);
        blade.set_hazards(hazards);
        let run = app.run(&Runtime::new(blade, Box::new(Edtlp::default())), mapping);
        run.expect("invariant: a QS20 has 16 SPEs")
    };
    let at = |app: &dyn Application, mapping| run_with(Hazards::Ignored, app, mapping);
    let known = computes.knowing(&at(&computes, Mapping::SEQUENTIAL));
    let known = known.expect("invariant: its kernels do not branch on what they compute");
    let mut group = criterion.benchmark_group("emulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements((1e9 * run.time.0) as u64));
    group.bench_function("PBPI at (1, 8), emulated nanoseconds", |bencher| bencher.iter(emulate));
    for mapping in [Mapping::of(1, 8), Mapping::of(2, 8), Mapping::of(4, 2), Mapping::of(8, 1)] {
        let run = at(&*known, mapping);
        group.throughput(Throughput::Elements((1e9 * run.run.time.0) as u64));
        let name = format!("the same known, at {mapping}, emulated nanoseconds");
        group.bench_function(name, |bencher| bencher.iter(|| at(&*known, mapping)));
    }
    let checked = || run_with(Hazards::Checked, &program, Mapping::of(1, 8));
    group.throughput(Throughput::Elements((1e9 * run.time.0) as u64));
    let name = "PBPI at (1, 8), hazards looked for, emulated nanoseconds";
    group.bench_function(name, |bencher| bencher.iter(checked));
    group.throughput(Throughput::Elements(run.dma_commands));
    group.bench_function("PBPI at (1, 8), DMA commands", |bencher| bencher.iter(emulate));
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

criterion_group!(benches, benchmarks);
criterion_main!(benches);
