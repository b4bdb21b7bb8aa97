use super::*;
use crate::model::parameters::Decomposition;
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
        configurations.push(Observed { mapping, time, repetitions: repetitions as f64 });
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

/// As an independent implementation in numpy has it, which was written before this one.
#[test]
fn the_posterior_of_runs_is_that_of_another_implementation() {
    let posterior = posterior();
    let marginals = posterior.marginals(&asked());
    let expected = [
        (385.507_100, 0.020_058_999, 370.149_057, 401.413_646),
        (49.408_041, 0.014_599_572, 48.020_778, 50.941_538),
        (62.499_641, 0.074_408_340, 54.427_540, 72.828_186),
        (76.068_917, 0.095_009_833, 63.850_255, 93.587_365),
        (89.029_561, 0.196_258_508, 55.281_410, 124.903_962),
        (50.813_986, 0.081_848_633, 43.819_294, 60.347_963),
    ];
    for (index, (time, deviation, low, high)) in expected.into_iter().enumerate() {
        approx::assert_relative_eq!(marginals.time(index).0, time, max_relative = 1e-5);
        approx::assert_relative_eq!(marginals.deviation(index), deviation, max_relative = 1e-4);
        approx::assert_relative_eq!(marginals.quantile(index, 0.025).0, low, max_relative = 1e-5);
        approx::assert_relative_eq!(marginals.quantile(index, 0.975).0, high, max_relative = 1e-5);
    }
    approx::assert_relative_eq!(posterior.noise_variance(), 3.012_517e-4, max_relative = 1e-4);
    let covariance = posterior.joint(&asked()).covariance();
    approx::assert_relative_eq!(covariance[(1, 2)], 9.019_123e-5, max_relative = 1e-3);
    approx::assert_relative_eq!(covariance[(0, 4)], 4.765_432e-5, max_relative = 1e-3);
    approx::assert_relative_eq!(covariance[(2, 2)], 5.536_601e-3, max_relative = 1e-3);
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
