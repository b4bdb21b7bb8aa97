use super::*;
use crate::models::observations::LowerBound;
use crate::models::parameters::{Decomposition, Estimate};
use crate::models::time_model::Value;
use mmgp_base::units::Seconds;

/// The truth of the reference: a step in m and one in p.
fn truth(mapping: Mapping) -> f64 {
    let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
    let steps = if m > 4.0 { 1.5 } else { 0.0 } + if m > 8.0 { 2.5 } else { 0.0 };
    let shared = 360.0 / (m * p) * if p > 4.0 { 1.3 } else { 1.0 };
    (1.0 + 0.1 * (m - 1.0) + steps) * 6.0 + shared + 11.1 + 2.0 * p
}

fn observations() -> Observations {
    let timed = [(1, 1), (1, 4), (2, 2), (4, 1), (4, 4), (16, 1), (2, 8)];
    let (mut configurations, mut scatter, mut degrees) = (Vec::new(), 0.0, 0.0);
    for (index, (m, p)) in timed.into_iter().enumerate() {
        let mapping = Mapping::of(m, p);
        let repetitions = 1 + index % 3;
        let time = |repetition: usize| {
            let noise = 0.02 * (3.0 * index as f64 + 5.0 * repetition as f64 + 1.0).sin();
            truth(mapping) * (1.0 + noise)
        };
        let mut logs: Vec<f64> = (0..repetitions).map(|it| time(it).ln()).collect();
        let mean = logs.iter().sum::<f64>() / repetitions as f64;
        scatter += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        degrees += repetitions as f64 - 1.0;
        logs.sort_by(f64::total_cmp);
        let median = f64::midpoint(logs[(repetitions - 1) / 2], logs[repetitions / 2]);
        let time = Seconds(median.exp());
        configurations.push(Observation {
            mapping,
            level: 0,
            time,
            repetitions: repetitions as f64,
        });
    }
    Observations::new("runs.csv", configurations, scatter, degrees)
}

const ASKED: [(u32, u32); 6] = [(1, 1), (4, 4), (3, 3), (8, 1), (1, 16), (5, 3)];

fn asked() -> Vec<Mapping> {
    ASKED.map(|(m, p)| Mapping::of(m, p)).to_vec()
}

fn posterior() -> Posterior {
    let prior = Prior::of_runs(Decomposition::Data);
    Posterior::new(&prior, Some(observations())).unwrap()
}

/// Holds times against an independent implementation in numpy, which was written before this one; where
/// many sizes are free, the point about which times are taken as linear differs by a little, and what grows
/// with m is m there.
fn check_against(
    posterior: &Posterior,
    expected: [(f64, f64, f64, f64); 6],
    noise: f64,
    within: f64,
) {
    let marginals = posterior.marginals(&asked());
    for (index, (time, deviation, low, high)) in expected.into_iter().enumerate() {
        approx::assert_relative_eq!(marginals.time(index).0, time, max_relative = 0.2 * within);
        approx::assert_relative_eq!(marginals.deviation(index), deviation, max_relative = within);
        approx::assert_relative_eq!(
            marginals.quantile(index, 0.025).0,
            low,
            max_relative = 0.2 * within
        );
        approx::assert_relative_eq!(
            marginals.quantile(index, 0.975).0,
            high,
            max_relative = 0.2 * within
        );
    }
    approx::assert_relative_eq!(posterior.noise_variance(), noise, max_relative = within);
}

#[test]
fn the_posterior_of_runs_is_that_of_another_implementation() {
    let expected = [
        (385.132_642, 0.021_777_04, 368.349_401, 402.117_095),
        (49.591_580, 0.018_090_48, 47.991_111, 51.617_231),
        (62.935_979, 0.096_159_33, 51.915_048, 77.422_122),
        (76.018_300, 0.112_449_66, 60.553_154, 96.753_180),
        (89.146_921, 0.202_699_73, 55.294_866, 130.062_148),
        (51.402_463, 0.102_008_07, 41.767_927, 63.911_775),
    ];
    let mut prior = Prior::of_runs(Decomposition::Data);
    prior.growth = Some(&[Regressor::FurtherThreads]);
    let posterior = Posterior::new(&prior, Some(observations())).unwrap();
    check_against(&posterior, expected, 3.724_37e-4, 0.12);
    let covariance = posterior.joint(&asked()).covariance();
    // They are hardly correlated, of which no relative error says anything.
    let deviations = (covariance[(1, 1)] * covariance[(2, 2)]).sqrt();
    let correlation = covariance[(1, 2)] / deviations;
    approx::assert_abs_diff_eq!(correlation, 8.471_03e-5 / deviations, epsilon = 0.02);
    let means: Vec<(String, f64)> =
        posterior.shares().into_iter().map(|it| (it.mean, it.weight)).collect();
    let expected = [
        ("all-terms", 0.6264),
        ("mmgp+1/m+1/p", 0.2031),
        ("mmgp", 0.1385),
        ("usl", 0.0114),
        ("amdahl-2", 0.0106),
        ("amdahl", 0.0096),
    ];
    for ((found, weight), (name, expected)) in means.into_iter().zip(expected) {
        assert_eq!(found, name);
        // Equation 11 has m - 1 here and m there, so that it explains these runs better.
        approx::assert_abs_diff_eq!(weight, expected, epsilon = 0.07);
    }
}

/// The host's 6 s +- 5 %, 360 s +- 2 % to share and 11 s +- 3 %, as files have them.
struct FileModel;

impl TimeModel for FileModel {
    fn name(&self) -> &str {
        "filed"
    }

    fn apus(&self) -> u32 {
        16
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        Seconds(17.0 + 360.0 / mapping.apus() as f64)
    }

    fn values(&self) -> Vec<Value> {
        let of = |(name, value, deviation): (&str, f64, f64)| {
            let std_error = value * (deviation * deviation).exp_m1().sqrt();
            let estimate = Estimate { std_error: Some(std_error), ..Estimate::exact(value) };
            Value::new(name, &estimate)
        };
        [("a", 6.0, 0.05), ("b", 360.0, 0.02), ("c", 11.0, 0.03)].map(of).to_vec()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        vec![(0, 1.0), (1, 1.0 / mapping.apus() as f64), (2, 1.0)]
    }
}

#[test]
fn what_files_say_with_runs_is_that_of_another_implementation() {
    let expected = [
        (385.426_890, 0.018_354_15, 371.397_713, 399.946_192),
        (49.287_353, 0.013_120_03, 48.020_607, 50.633_151),
        (66.248_611, 0.168_469_04, 48.087_812, 94.056_954),
        (79.671_615, 0.196_798_87, 54.577_597, 119.587_893),
        (54.638_614, 0.259_362_51, 32.352_639, 86.604_799),
        (53.968_225, 0.188_618_23, 36.824_050, 79.251_718),
    ];
    let prior = Prior::of_model(Arc::new(FileModel));
    let posterior = Posterior::new(&prior, Some(observations())).unwrap();
    check_against(&posterior, expected, 3.421_40e-4, 1e-4);
    let weights: Vec<f64> = posterior.shares().iter().map(|it| it.weight).collect();
    for (found, expected) in weights.into_iter().zip([0.5061, 0.3263, 0.1676]) {
        approx::assert_abs_diff_eq!(found, expected, epsilon = 1e-3);
    }
}

#[test]
fn a_sum_of_values_stays_above_nothing_however_far_it_is_moved() {
    use form::{FileForm, TermSizes};
    let work = Work::of(Decomposition::Data);
    let form = FileForm::new(Arc::new(FileModel), TermSizes::new(work, Vec::new()), 0);
    let features = form.features(Mapping::of(2, 2));
    let at = |coefficients: [f64; 6]| form.at(&coefficients, &features);
    approx::assert_relative_eq!(at([0.0; 6]).0.exp(), 107.0, max_relative = 1e-12);
    // Halving the second value and doubling the others.
    let found = at([0.0, 0.0, 0.0, 2.0_f64.ln(), -2.0_f64.ln(), 2.0_f64.ln()]);
    approx::assert_relative_eq!(found.0.exp(), 79.0, max_relative = 1e-12);
    // Derivatives are central differences.
    let middle = [0.5, -1.0, 0.3, 0.1, -0.2, 0.4];
    for index in 0..6 {
        let moved = |by: f64| {
            let mut moved = middle;
            moved[index] += by;
            at(moved).0
        };
        let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        approx::assert_relative_eq!(at(middle).1[index], slope, max_relative = 1e-6);
    }
    assert!(at([0.0, 0.0, 0.0, -60.0, -60.0, -60.0]).0.is_finite());
}

/// A truth of equation 11's form, timed once at 25 of 50 configurations, one of them wrongly.
#[test]
fn a_run_that_nothing_explains_is_named_and_counts_for_hardly_anything() {
    let time = |mapping: Mapping| {
        let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
        12.0 + 3.0 * m + 400.0 / (m * p) + 1.5 * p
    };
    let timed: Vec<Mapping> = crate::decide::feasible(16).step_by(2).collect();
    let observed = |(index, &mapping): (usize, &Mapping)| {
        let wild = if index == 9 { 3.0 } else { 1.0 };
        let noise = 1.0 + 0.02 * (7.0 * index as f64).sin();
        Observation {
            mapping,
            level: 0,
            time: Seconds(time(mapping) * noise * wild),
            repetitions: 1.0,
        }
    };
    let all = timed.iter().enumerate().map(observed).collect();
    let observations = Observations::new("runs.csv", all, 0.0, 0.0);
    let prior = Prior::of_runs(Decomposition::Data);
    let posterior = Posterior::new(&prior, Some(observations)).unwrap();
    assert_eq!(posterior.wild(), [timed[9]]);
    let found = posterior.marginals(&[timed[9]]).time(0).0;
    assert!((found / time(timed[9]) - 1.0).abs() < 0.1, "{found}");
    let warnings = posterior.warnings(&timed);
    assert!(warnings[0].to_string().starts_with("runs.csv: nothing explains the time of"));
}

#[test]
fn marginals_are_the_diagonal_of_the_joint() {
    let posterior = posterior();
    let (marginals, joint) = (posterior.marginals(&asked()), posterior.joint(&asked()));
    let (log_times, covariance) = (joint.log_times(), joint.covariance());
    for index in 0..ASKED.len() {
        approx::assert_relative_eq!(log_times[index], marginals.log_time(index), epsilon = 1e-12);
        let deviation = covariance[(index, index)].sqrt();
        approx::assert_relative_eq!(deviation, marginals.deviation(index), max_relative = 1e-9);
    }
}

/// A program on four hardware threads: what is beyond them is shared by no more.
#[test]
fn a_known_number_of_threads_bends_the_times_beyond_it() {
    let time = |it: Mapping| 2.0 + 40.0 / (it.apus().min(4)) as f64 + 0.2 * f64::from(it.m());
    let ran = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 2), (8, 1)].map(|(m, p)| Mapping::of(m, p));
    let observed = |&mapping: &Mapping| Observation {
        mapping,
        level: 0,
        time: Seconds(time(mapping)),
        repetitions: 3.0,
    };
    let observations =
        Observations::new("runs.csv", ran.iter().map(observed).collect(), 12.0 * 1e-4, 12.0);
    let prior = Prior::of_runs(Decomposition::Data);
    let error = |prior: &Prior| {
        let posterior = Posterior::new(prior, Some(observations.clone())).unwrap();
        let asked = [(8, 2), (2, 8), (4, 4)].map(|(m, p)| Mapping::of(m, p));
        let marginals = posterior.marginals(&asked);
        (0..3).map(|it| (marginals.time(it).0 / time(asked[it])).ln().abs()).sum::<f64>()
    };
    let [without, with] = [prior.clone(), prior.clone().with_cores(4)].map(|it| error(&it));
    assert!(with < 0.6 * without, "{with} {without}");
    // Where no run asked for more, there is nothing to bend.
    assert_eq!(error(&prior.with_cores(64)), without);
}

fn bounded(observations: Observations, bounds: &[(u32, u32, f64)]) -> Posterior {
    let bound = |&(m, p, time_s): &(u32, u32, f64)| LowerBound {
        mapping: Mapping::of(m, p),
        level: 0,
        longer_than: Seconds(time_s),
    };
    let observations = observations.with_bounds(bounds.iter().map(bound));
    Posterior::new(&Prior::of_runs(Decomposition::Data), Some(observations)).unwrap()
}

#[test]
fn a_bound_that_is_met_anyway_changes_nothing() {
    let (without, with) = (posterior(), bounded(observations(), &[(3, 3, 1.0), (1, 16, 0.5)]));
    let (without, with) = (without.marginals(&asked()), with.marginals(&asked()));
    for index in 0..ASKED.len() {
        let (one, other) = (without.time(index).0, with.time(index).0);
        approx::assert_relative_eq!(one, other, max_relative = 1e-9);
        let (one, other) = (without.deviation(index), with.deviation(index));
        approx::assert_relative_eq!(one, other, max_relative = 1e-7);
    }
}

#[test]
fn a_bound_above_what_is_expected_raises_it_and_what_is_near_and_is_no_time() {
    let expected = posterior().marginals(&asked());
    let with = bounded(observations(), &[(1, 16, 130.0)]);
    let found = with.marginals(&asked());
    // (1, 16) was expected to take 89 s +- 14 %.
    assert!(expected.time(4).0 < 100.0 && found.time(4).0 > 125.0, "{}", found.time(4));
    assert!(found.quantile(4, 0.3).0 > 115.0);
    // What was timed stays.
    approx::assert_relative_eq!(expected.time(1).0, found.time(1).0, max_relative = 0.02);
    let neighbour = [Mapping::of(1, 15)];
    let [before, after] = [posterior(), with].map(|it| it.marginals(&neighbour).time(0).0);
    assert!(after > 1.1 * before, "{before} {after}");
    // A time there would have said more.
    let mut timed = observations();
    let time = Observation {
        mapping: Mapping::of(1, 16),
        level: 0,
        time: Seconds(130.0),
        repetitions: 1.0,
    };
    timed.configurations.push(time);
    let timed = Observations::new("", timed.configurations, timed.scatter, 6.0);
    let timed = bounded(timed, &[(1, 16, 125.0)]).marginals(&asked());
    assert!(timed.deviation(4) < 0.5 * found.deviation(4));
    assert!(timed.time(4).0 < 1.02 * 130.0);
}

#[test]
fn what_is_believed_can_be_shared_by_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Posterior::of(&crate::models::published("pbpi-qs20").unwrap()).unwrap());
}
