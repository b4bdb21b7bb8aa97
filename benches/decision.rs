//! How fast equation 11 is evaluated and searched, runs are fitted, and decisions are made at run time.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mmgp::Mapping;
use mmgp::belief::Posterior;
use mmgp::decide::best::{Grid, brute_force, by_structure};
use mmgp::decide::{Constraints, Sampling, candidates, next_measurement, rank};
use mmgp::fit::{Inputs, Runs, Settings, fit};
use mmgp::guided::{Answer, Guide, Request};
use mmgp::models::parameters::{Decomposition, Estimate, OverM, Parameters, Table, Terms};
use mmgp::models::published;
use mmgp::table::Source;
use mmgp::units::Seconds;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

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

/// How fast equation 11 is evaluated and searched.
///
/// The grid has the numbers of a plain numpy or numba program for the same problem: 10^4 values
/// of m, 10^4 of p, a quarter as many APUs as configurations, alpha from a table over all m.
/// Throughput is per feasible configuration, 6 of every 10 of the 10^8 in the square.
fn bench_predict(criterion: &mut Criterion) {
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

/// How long a fit takes: reading a million timed runs from memory, and the estimate itself.
fn bench_fit(criterion: &mut Criterion) {
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

/// What a decision at run time costs: an arrival with its completion within a window, and the end of
/// a window, at which the model learns and chooses.
fn bench_guide(criterion: &mut Criterion) {
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

criterion_group!(benches, bench_predict, bench_fit, bench_guide);
criterion_main!(benches);
