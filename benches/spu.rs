//! How many SPU instructions the emulator runs in a second, on the kernels of PBPI: executing
//! only, and executing and timing, as an optimising compiler orders them and in program order.
//! Criterion's "elements" are instructions.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::cell::pipeline;
use mmgp::kernels::logarithm::write_table;
use mmgp::kernels::pbpi::{LikelihoodSum, NodeUpdate, RootProduct};
use mmgp::kernels::version::Version;
use mmgp::machine::Machine;
use mmgp::spu::{Compiler, Kernel, LocalAddress, LocalStore, Quadword, Stopwatch, execute};
use mmgp::units::Bytes;
use std::hint::black_box;

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

fn benchmarks(criterion: &mut Criterion) {
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

criterion_group!(spu, benchmarks);
criterion_main!(spu);
