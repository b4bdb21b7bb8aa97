//! How long a fit takes: reading a million timed runs from memory, and the estimate itself.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmgp::fit::{Inputs, Runs, Settings, fit};
use mmgp::models::parameters::Decomposition;
use mmgp::table::Source;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const ROWS: u32 = 1_000_000;

/// Runs of all configurations of 16 APUs, in turn, with 2 % of uniform noise.
fn runs_csv() -> Source {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let configurations: Vec<(u32, u32)> =
        (1..=16).flat_map(|m| (1..=16 / m).map(move |p| (m, p))).collect();
    let mut text = String::from("m,p,repetition,time_s\n");
    for row in 0..ROWS {
        let (m, p) = configurations[row as usize % configurations.len()];
        let repetition = row / configurations.len() as u32 + 1;
        let time = 3.0 + 370.0 / f64::from(m * p) + 0.8 * f64::from(p) + 0.1 * f64::from(m);
        let noise = random.random_range(0.98..1.02);
        writeln!(text, "{m},{p},{repetition},{:.6}", time * noise).expect("memory suffices");
    }
    Source::new("runs.csv", &text)
}

fn benchmark(criterion: &mut Criterion) {
    let source = runs_csv();
    let (runs, _) = Runs::read(&source).expect("the runs are well formed");
    let inputs = Inputs { runs: Some(runs), ..Inputs::default() };
    let settings = Settings::new("benchmark", Decomposition::Data, 16);

    let mut group = criterion.benchmark_group("fit");
    group.throughput(Throughput::Elements(u64::from(ROWS)));
    group.sample_size(20);
    group.bench_function("read a million runs", |bencher| {
        bencher.iter(|| Runs::read(black_box(&source)));
    });
    group.finish();
    criterion.bench_function("fit 50 configurations", |bencher| {
        bencher.iter(|| fit(black_box(&inputs), &settings));
    });
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
