//! How fast a program is emulated under each scheduler: synthetic tasks of 96 us after 11 us on the
//! host on average, 16 streams on the 8 SPEs of a Cell, in emulated nanoseconds; 1 Gelem/s is one
//! emulated second for each second of one core of the host. Tasks of one SPE, then tasks of which
//! 80 % can be shared.
//!
//! A run is emulated once to learn its virtual time. What is timed is all of a run, from building the
//! machine to collecting the result.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::Mapping;
use mmgp::apps::Application;
use mmgp::apps::synthetic::{Burst, Durations, Synthetic};
use mmgp::machine::Machine;
use mmgp::measure::{Emulated, Target};
use mmgp::schedulers::{policies, policy_named};
use mmgp::units::Seconds;

const TASKS: u32 = 16;
const OFFLOADS: u32 = 500;
const SEED: u64 = 1;

fn program(shared: f64) -> Synthetic {
    let mean = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
    let durations = Durations::exponential(mean).expect("invariant: positive times");
    let program = Synthetic::new(TASKS, OFFLOADS, durations, SEED);
    let program = program.expect("invariant: tasks and off-loads");
    program.sharing(shared).expect("invariant: a part")
}

fn benchmarks(criterion: &mut Criterion) {
    let machine = Machine::named("qs20-cell").expect("invariant: it is built in");
    let mapping = Mapping::of(8, 1);
    let mut group = criterion.benchmark_group("schedulers");
    group.sample_size(10);
    for shared in [0.0, 0.8] {
        let program = program(shared);
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

criterion_group!(benches, benchmarks);
criterion_main!(benches);
