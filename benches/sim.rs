//! How many events of a simulation happen in a second: Criterion's "elements" are what the name of
//! the benchmark counts.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::sim::{Flows, Pool, Sim, Watch};
use mmgp::units::SimSpan;

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

fn benchmarks(criterion: &mut Criterion) {
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

criterion_group!(benches, benchmarks);
criterion_main!(benches);
