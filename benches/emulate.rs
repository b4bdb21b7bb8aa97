//! How fast the whole machine is emulated: PBPI on 107 taxa x 10,000 sites, with the eight SPEs of
//! one Cell of a QS20.
//!
//! A run is emulated once to learn its virtual time. The first benchmark has that time, in
//! nanoseconds of the emulated machine, as its elements: a throughput of 1 Gelem/s is one emulated
//! second for each second of one core of the host. The elements of the second are DMA commands.
//! Both time the same call, from building the machine to collecting the result; simulating and
//! compressing the alignment is not in it.
//!
//! The elements of the third are events of a trace, written as JSON to nowhere.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::apps::pbpi::Pbpi;
use mmgp::apps::phylogeny::patterns::Patterns;
use mmgp::apps::phylogeny::simulate;
use mmgp::cell::KernelTiming;
use mmgp::cell::trace::chrome::ChromeTrace;
use mmgp::cell::trace::{Category, Event, Sink, Track};
use mmgp::machine::Machine;
use mmgp::units::{SimSpan, SimTime};

const TAXA: usize = 107;
const SITES: usize = 10_000;
const SEED: u64 = 107;
const MEAN_BRANCH_LENGTH: f64 = 0.1;
const GENERATIONS: u32 = 10;

fn program() -> Pbpi {
    let tree = simulate::tree(TAXA, MEAN_BRANCH_LENGTH, SEED).expect("invariant: enough taxa");
    let alignment = simulate::alignment(&tree, &simulate::names(TAXA), SITES, SEED)
        .expect("invariant: a name for each tip");
    Pbpi::new(Patterns::compress(&alignment), None, 1, GENERATIONS)
        .expect("invariant: an alignment with patterns")
}

fn benchmarks(criterion: &mut Criterion) {
    let machine = Machine::named("qs20").expect("invariant: it is built in");
    let program = program();
    let emulate = || {
        let run = program.emulate(black_box(&machine), (1, 8), KernelTiming::Cached, 0.0);
        run.expect("invariant: a QS20 has 8 SPEs").0
    };
    let run = emulate();
    let mut group = criterion.benchmark_group("emulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements((1e9 * run.time.0) as u64));
    group.bench_function("PBPI at (1, 8), emulated nanoseconds", |bencher| bencher.iter(emulate));
    group.throughput(Throughput::Elements(run.dma_commands));
    group.bench_function("PBPI at (1, 8), DMA commands", |bencher| bencher.iter(emulate));
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
