//! How fast equation 11 is evaluated and searched.
//!
//! The grid has the numbers of a plain numpy or numba program for the same problem: 10^4 values
//! of m, 10^4 of p, a quarter as many APUs as configurations, alpha from a table over all m.
//! Throughput is per feasible configuration, 6 of every 10 of the 10^8 in the square.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::Mapping;
use mmgp::belief::Posterior;
use mmgp::decide::best::{Grid, brute_force, by_structure};
use mmgp::decide::{Constraints, Sampling, candidates, next_measurement, rank};
use mmgp::models::parameters::{Decomposition, Estimate, OverM, Parameters, Table, Terms};
use mmgp::models::published;

const GRID: Grid = Grid { m_max: 10_000, p_max: 10_000, apus: 25_000_000 };

fn parameters() -> Parameters {
    let m: Vec<u32> = (1..=GRID.m_max).collect();
    let alpha = |&m: &u32| Estimate::exact(1.0 + 0.0008 * (f64::from(m) - 1.0));
    let values = m.iter().map(alpha).collect();
    let terms = Terms {
        t_hpu_s: Estimate::exact(1.3),
        t_apu_s: Estimate::exact(360.0),
        c_apu_s: Estimate::exact(0.6),
        offloads: Estimate::exact(1500.0),
        o_offload_s: Estimate::exact(70e-6),
        g_s: Estimate::exact(28e-9),
        alpha: OverM::Table(Table::new(m, values)),
        ..Terms::nothing()
    };
    Parameters::new("grid", Decomposition::Data, GRID.apus, terms)
}

/// PBPI with a standard error of a hundredth on every value.
fn uncertain_pbpi() -> Parameters {
    let mut parameters = published("pbpi-qs20").expect("invariant: it is built in");
    for entry in parameters.terms.entries() {
        if let Some(estimate) = parameters.terms.estimate_mut(entry) {
            estimate.std_error = Some(0.01 * estimate.value);
        }
    }
    parameters
}

fn predict(criterion: &mut Criterion) {
    let parameters = parameters();
    let mut group = criterion.benchmark_group("predict");
    group.sample_size(20);
    group.bench_function("one configuration", |bencher| {
        bencher.iter(|| black_box(&parameters).time(black_box(Mapping::of(24, 598))));
    });
    group.bench_function("ten best of 10^8 by structure", |bencher| {
        bencher.iter(|| by_structure(black_box(&parameters), GRID, 10));
    });
    let pbpi = uncertain_pbpi();
    let sampling = Sampling::new(Sampling::USUAL_DRAWS, 1);
    let posterior = Posterior::of(&pbpi).expect("a model");
    let mappings = candidates(&posterior, &Constraints::NONE, 16).expect("50 mappings").mappings;
    group.bench_function("rank 50 configurations", |bencher| {
        bencher.iter(|| rank(black_box(&posterior), &mappings, sampling));
    });
    group.bench_function("rank what to measure next", |bencher| {
        bencher.iter(|| next_measurement(black_box(&posterior), &mappings, Some(0.02)));
    });
    group.throughput(Throughput::Elements(GRID.configurations()));
    group.bench_function("ten best of 10^8 by brute force", |bencher| {
        bencher.iter(|| brute_force(black_box(&parameters), GRID, 10));
    });
    group.finish();
}

criterion_group!(benches, predict);
criterion_main!(benches);
