//! The whole path, from timed runs to a choice, on programs whose truth is known and mostly not of
//! equation 11's form: what intervals, probabilities and the choice are worth.
//!
//! Every cell of the design (a truth, a number of timed configurations, a noise, repetitions, wild
//! runs or none) is drawn up to [`SEEDS`] times; bounds are on sums over many cells, with room for the
//! standard error of so many draws.
//!
//! More runs that agree with what files say never make the choice worse: on random programs whose terms
//! files know to a per cent, runs that follow equation 11 with 1 % of noise come one after the other.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{Constraints, Sampling, candidates, rank, *};
use crate::belief::{Posterior, Prior};
use crate::fit::{Inputs, Runs, Settings, fit};
use crate::models::observations::{Observation, Observations};
use crate::models::parameters::{Decomposition, Estimate, OverM, Table};
use crate::models::terms::Term;
use crate::models::{Parameters, published};
use mmgp_base::Mapping;
use mmgp_base::table::records::Run;
use mmgp_base::units::Seconds;

/// Draws of each cell, of which a test takes its share and one at least.
const SEEDS: u64 = 4;

/// A time of m and p \[s\].
type Truth = fn(f64, f64) -> f64;

/// What there is to find.
const TRUTHS: [(&str, Truth); 6] = [
    ("slope in m", |m, p| 12.0 + 3.0 * m + 400.0 / (m * p) + 1.5 * p),
    ("equation 11", |m, p| (1.0 + 0.35 * (m - 1.0)) * 6.0 + 360.0 / (m * p) + 11.1 + 4.2 * p),
    ("bandwidth", |m, p| {
        (1.0 + 0.35 * (m - 1.0)) * 6.0 + (360.0 / (m * p)).max(360.0 / 7.0) + 11.1 + 4.2 * p
    }),
    ("NUMA", |m, p| {
        let steps = f64::from(u8::from(m > 4.0)) * 1.5 + f64::from(u8::from(m > 8.0)) * 2.5;
        let shared = 360.0 / (m * p) * if p > 4.0 { 1.3 } else { 1.0 };
        (1.0 + 0.1 * (m - 1.0) + steps) * 6.0 + shared + 11.1 + 2.0 * p
    }),
    ("20 tasks", |m, p| {
        (1.0 + 0.15 * (m - 1.0)) * 6.0 + 18.0 * (20.0 / (m * p)).ceil() + 5.0 + 2.0 * p
    }),
    ("serial part in each process", |m, p| 20.0 + 40.0 / m + 300.0 / (m * p)),
];

/// Truths that are equation 11.
const OF_EQUATION_11: [&str; 2] = ["slope in m", "equation 11"];

/// How a program is timed.
#[derive(Clone, Copy)]
struct Timing {
    configurations: usize,
    noise: f64,
    repetitions: u32,
    /// The share of runs that take three times as long, or a third.
    wild: f64,
}

fn timings(wild: f64) -> impl Iterator<Item = Timing> {
    [10, 25].into_iter().flat_map(move |configurations| {
        [0.02, 0.05].into_iter().flat_map(move |noise| {
            let of = move |repetitions| Timing { configurations, noise, repetitions, wild };
            [1, 3].into_iter().map(of)
        })
    })
}

/// Timed runs of a truth, (1, 1) among them.
fn timed(truth: Truth, timing: Timing, seed: u64) -> Vec<Run> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut others: Vec<Mapping> = feasible(16).skip(1).collect();
    others.shuffle(&mut random);
    others.truncate(timing.configurations - 1);
    others.push(Mapping::SEQUENTIAL);
    others.sort_unstable();
    let share = Uniform::new(0.0, 1.0).expect("invariant: a range");
    let mut runs = Vec::new();
    for mapping in others {
        for repetition in 1..=timing.repetitions {
            let deviate: f64 = StandardNormal.sample(&mut random);
            let mut time_s = at(truth, mapping) * (1.0 + timing.noise * deviate).max(0.1);
            if share.sample(&mut random) < timing.wild {
                time_s *= if share.sample(&mut random) < 0.5 { 3.0 } else { 1.0 / 3.0 };
            }
            runs.push(Run { m: mapping.m(), p: mapping.p(), repetition, time_s });
        }
    }
    runs
}

fn at(truth: Truth, mapping: Mapping) -> f64 {
    truth(f64::from(mapping.m()), f64::from(mapping.p()))
}

/// What came of all draws.
#[derive(Default)]
struct Score {
    /// Intervals of configurations that were not timed.
    left_out: Coverage,
    /// Intervals of those that were.
    measured: Coverage,
    /// Counts by tenths of P(best).
    tenths: [Tenth; 10],
    /// Fits.
    count: u32,
    /// Sum of the relative regrets of the choice.
    choice: f64,
    /// The same of the next in the ranking.
    next: f64,
    /// Sum of the relative errors of all means together at what was not timed.
    error: f64,
    /// The same of equation 11 as it is fitted.
    error_of_equation_11: f64,
}

/// How many intervals hold the truth.
#[derive(Default)]
struct Coverage {
    count: u32,
    within: u32,
}

impl Coverage {
    fn share(&self) -> f64 {
        f64::from(self.within) / f64::from(self.count)
    }
}

/// Configurations whose P(best) is in the same tenth.
#[derive(Default)]
struct Tenth {
    count: u32,
    said: f64,
    best: u32,
}

impl Score {
    fn add(&mut self, truth: Truth, timing: Timing, seed: u64) {
        let rows = timed(truth, timing, seed);
        let (runs, _) = Runs::from_rows("runs.csv", &rows).unwrap();
        let inputs = Inputs { runs: Some(runs), ..Inputs::default() };
        let settings = Settings::new("truth", Decomposition::Data, 16);
        let parameters = fit(&inputs, &settings).unwrap().parameters;
        let posterior = Posterior::of(&parameters).unwrap();
        let all: Vec<Mapping> = feasible(16).collect();
        let ranking = rank(&posterior, &all, Sampling::new(1_000, 1)).unwrap();
        let best = all.iter().map(|&it| at(truth, it)).fold(f64::INFINITY, f64::min);
        for found in &ranking.configurations {
            let time = at(truth, found.mapping);
            let coverage = match found.measured {
                Some(_) => &mut self.measured,
                None => &mut self.left_out,
            };
            coverage.count += 1;
            coverage.within += u32::from(found.low.0 <= time && time <= found.high.0);
            if found.measured.is_none() {
                let error = |predicted: Seconds| (predicted.0 / time - 1.0).abs();
                self.error += error(found.time);
                self.error_of_equation_11 += error(parameters.time(found.mapping));
            }
            let said = found.probability_best.unwrap();
            let tenth = &mut self.tenths[((10.0 * said) as usize).min(9)];
            tenth.count += 1;
            tenth.said += said;
            tenth.best += u32::from(time == best);
        }
        let regret = |rank: usize| at(truth, ranking.configurations[rank].mapping) / best - 1.0;
        self.count += 1;
        self.choice += regret(0);
        self.next += regret(1);
    }

    fn over(truths: &[(&str, Truth)], wild: f64) -> Self {
        let mut score = Self::default();
        let cells = truths.iter().flat_map(|&(_, truth)| timings(wild).map(move |it| (truth, it)));
        for ((truth, timing), cell) in cells.zip(0..) {
            (0..testing::seeds(SEEDS))
                .for_each(|seed| score.add(truth, timing, 1_000 * cell + seed));
        }
        score
    }
}

fn check(wild: f64) {
    let score = Score::over(&TRUTHS, wild);
    // Intervals are rather too wide than too narrow.
    let (left_out, measured) = (score.left_out.share(), score.measured.share());
    assert!((0.93..=0.999).contains(&left_out), "{left_out}");
    assert!(measured >= 0.9, "{measured}");
    for tenth in score.tenths.iter().filter(|tenth| tenth.count >= 50) {
        let count = f64::from(tenth.count);
        let (said, found) = (tenth.said / count, f64::from(tenth.best) / count);
        // In the worst tenth it is off by 0.13 over many draws; and three standard errors.
        let room = 0.13 + 3.0 * (found * (1.0 - found) / count).sqrt();
        assert!((said - found).abs() < room, "said {said}, found {found} of {count}");
    }
    let [choice, next] = [score.choice, score.next].map(|sum| sum / f64::from(score.count));
    assert!(choice <= next, "{choice} {next}");
    assert!(choice < if wild > 0.0 { 0.08 } else { 0.04 }, "{choice}");
    println!("left out {left_out:.3}, measured {measured:.3}, choice {choice:.4}, next {next:.4}");
    for tenth in score.tenths.iter().filter(|tenth| tenth.count > 0) {
        let count = f64::from(tenth.count);
        println!("{:.2} {:.2} of {count}", tenth.said / count, f64::from(tenth.best) / count);
    }
}

#[test]
fn intervals_probabilities_and_choices_hold_on_truths_of_any_form() {
    check(0.0);
}

#[test]
fn they_hold_with_wild_runs() {
    check(0.05);
}

fn of_equation_11() -> Vec<(&'static str, Truth)> {
    TRUTHS.into_iter().filter(|(name, _)| OF_EQUATION_11.contains(name)).collect()
}

/// Programs of others hardly ever have the form of equation 11 and nothing else; that it is not taken
/// for granted costs where it is the truth.
#[test]
fn where_equation_11_is_right_averaging_costs_less_than_its_error_again() {
    let score = Score::over(&of_equation_11(), 0.0);
    let ratio = score.error / score.error_of_equation_11;
    println!("{ratio:.3} times the error of equation 11");
    // 1.42 over four draws of each cell; what one draw scatters by, and half of that for four.
    let room = 0.4 / (testing::seeds(SEEDS) as f64).sqrt();
    assert!(ratio <= 1.4 + room, "{ratio}");
}

#[test]
fn where_equation_11_is_right_three_runs_of_each_find_the_best_within_a_per_cent() {
    let timing = Timing { configurations: 50, noise: 0.02, repetitions: 3, wild: 0.0 };
    let (mut near, mut count) = (0, 0);
    for (_, truth) in of_equation_11() {
        for seed in 0..testing::seeds(20) {
            let mut score = Score::default();
            score.add(truth, timing, 7_000 + seed);
            count += 1;
            near += u32::from(score.choice <= 0.01);
        }
    }
    println!("{near} of {count}");
    assert!(count - near <= count.div_ceil(40), "{near} of {count}");
}

/// All 50 configurations of a bandwidth-limited program, measured three times at 0.3 %.
#[test]
fn what_was_measured_is_not_overruled_by_a_form_that_misses_it() {
    let (_, truth) = TRUTHS[2];
    let timing = Timing { configurations: 50, noise: 0.003, repetitions: 3, wild: 0.0 };
    let (runs, _) = Runs::from_rows("runs.csv", &timed(truth, timing, 7)).unwrap();
    let inputs = Inputs { runs: Some(runs.clone()), ..Inputs::default() };
    let settings = Settings::new("bandwidth", Decomposition::Data, 16);
    let parameters = fit(&inputs, &settings).unwrap().parameters;
    let posterior = Posterior::of(&parameters).unwrap();
    let all: Vec<Mapping> = feasible(16).collect();
    let ranking = rank(&posterior, &all, SAMPLING).unwrap();
    for found in &ranking.configurations {
        let measured = found.measured.unwrap().time.0;
        assert!((found.time.0 / measured - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.low.0..=found.high.0).contains(&measured), "{found:?}");
    }
    let best = all.iter().map(|&it| at(truth, it)).fold(f64::INFINITY, f64::min);
    assert!(at(truth, ranking.choice.mapping) < 1.005 * best);
}

const SAMPLING: Sampling = Sampling::new(1_000, 1);

/// Programs, of which a test takes its share.
const PROGRAMS: u64 = 1_000;

/// Random terms of PBPI's kind, each over two orders of magnitude.
fn program(random: &mut Xoshiro256PlusPlus) -> Parameters {
    let mut parameters = published("pbpi-qs20").unwrap();
    let power = Uniform::new(-1.0, 1.0).expect("invariant: a range");
    let mut sized = |value: f64| {
        let value = value * 10_f64.powf(power.sample(random));
        Estimate { std_error: Some(0.01 * value), ..Estimate::exact(value) }
    };
    let terms = &mut parameters.terms;
    for (term, value) in [
        (Term::HpuTime, 5.0),
        (Term::ApuTime, 200.0),
        (Term::ApuSerialTime, 1.0),
        (Term::Gap, 0.5),
        (Term::ContextSwitch, 0.1),
    ] {
        terms.value_mut(term).set(sized(value));
    }
    let slope = sized(0.05).value;
    let ms = vec![1, 2, 4, 8, 16];
    let alpha = |&m: &u32| {
        let value = 1.0 + slope * f64::from(m - 1);
        Estimate { std_error: Some(0.01 * (value - 1.0)), ..Estimate::exact(value) }
    };
    terms.alpha = OverM::Table(Table::new(ms.clone(), ms.iter().map(alpha).collect()));
    parameters
}

#[test]
fn more_runs_that_agree_with_the_files_never_make_the_choice_worse() {
    let (mut worst, mut sums) = (0.0_f64, [0.0; 5]);
    let programs = testing::seeds(PROGRAMS);
    for seed in 0..programs {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let parameters = program(&mut random);
        let prior = Prior::of(&parameters);
        let mut order: Vec<Mapping> = crate::decide::feasible(16).collect();
        let time = |it: Mapping| parameters.time(it).0;
        let least = order.iter().map(|&it| time(it)).fold(f64::INFINITY, f64::min);
        order.shuffle(&mut random);
        let mut observed = Vec::new();
        let mut before = f64::NAN;
        for (place, count) in [0, 1, 2, 4, 8].into_iter().enumerate() {
            while observed.len() < count {
                let mapping = order[observed.len()];
                let deviate: f64 = StandardNormal.sample(&mut random);
                let time = Seconds(time(mapping) * (0.01 * deviate).exp());
                observed.push(Observation { mapping, level: 0, time, repetitions: 1.0 });
            }
            let runs =
                (count > 0).then(|| Observations::new("runs.csv", observed.clone(), 0.0, 0.0));
            let posterior = Posterior::new(&prior, runs).unwrap();
            let all = candidates(&posterior, &Constraints::NONE, 16).unwrap().mappings;
            let choice = rank(&posterior, &all, Sampling::new(20, 1)).unwrap().choice.mapping;
            let regret = time(choice) / least - 1.0;
            if count > 0 {
                worst = worst.max(regret - before);
            }
            before = regret;
            sums[place] += regret;
        }
    }
    let means = sums.map(|sum| 100.0 * sum / programs as f64);
    println!("means {means:.3?} %, the worst step {:.2} points", 100.0 * worst);
    assert!(means.iter().all(|mean| *mean < 0.2), "{means:?}");
    assert!(worst < 0.02, "{worst}");
}
