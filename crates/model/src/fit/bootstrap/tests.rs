use nalgebra::DMatrix;

use super::*;
use crate::fit::least_squares::inverse_normal;

/// `T = A*x` on the 50 configurations of 16 APUs, residuals `(ln T - mean)*sqrt(n)/s`.
struct Model {
    columns: Vec<[f64; 4]>,
    log_means: Vec<f64>,
    weight: f64,
}

const TRUTH: [f64; 4] = [10.0, 0.6, 120.0, 0.2];

fn columns() -> Vec<[f64; 4]> {
    let row = |(m, p): (u32, u32)| [1.0, f64::from(m - 1), 1.0 / f64::from(m * p), f64::from(p)];
    (1..=16).flat_map(|m| (1..=16 / m).map(move |p| (m, p))).map(row).collect()
}

fn time(row: &[f64; 4], x: &[f64]) -> f64 {
    row.iter().zip(x).map(|(a, x)| a * x).sum()
}

impl InPlace for Model {
    fn rows(&self) -> usize {
        self.columns.len()
    }

    fn residuals(&self, x: &[f64], out: &mut [f64]) {
        for ((row, mean), out) in self.columns.iter().zip(&self.log_means).zip(out) {
            *out = self.weight * (time(row, x).ln() - mean);
        }
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) {
        for (index, row) in self.columns.iter().enumerate() {
            let scale = self.weight / time(row, x);
            for (unknown, slope) in row.iter().enumerate() {
                out[unknown * self.columns.len() + index] = scale * slope;
            }
        }
    }
}

const NOISE: f64 = 0.03;

/// Runs of the truth: for each configuration the relative deviations of `repetitions` runs.
struct Data {
    model: Model,
    deviations: Vec<Vec<f64>>,
    estimate: Vec<f64>,
}

const LOWER: [f64; 4] = [0.0; 4];
const UPPER: [f64; 4] = [f64::INFINITY; 4];

impl Data {
    fn new(repetitions: usize, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut model = Model {
            columns: columns(),
            log_means: Vec::new(),
            weight: (repetitions as f64).sqrt() / NOISE,
        };
        let mut deviations = Vec::new();
        for row in &model.columns {
            let noise: Vec<f64> = (0..repetitions)
                .map(|_| NOISE * Distribution::<f64>::sample(&StandardNormal, &mut random))
                .collect();
            let mean = noise.iter().sum::<f64>() / repetitions as f64;
            model.log_means.push(time(row, &TRUTH).ln() + mean);
            deviations.push(noise.iter().map(|each| each - mean).collect());
        }
        let mut estimate = TRUTH.to_vec();
        let mut search = Search::new(50, 4);
        let around = Around { x: &TRUTH, lower: &LOWER, upper: &UPPER };
        for _ in 0..5 {
            assert!(search.solve(&model, &around, &mut estimate));
        }
        Self { model, deviations, estimate }
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let row = |deviations: &'_ Vec<f64>| {
            let squares: f64 = deviations.iter().map(|each| each * each).sum();
            (deviations.len() as u64, squares)
        };
        self.deviations
            .iter()
            .map(|deviations| {
                let (count, squares) = row(deviations);
                let variance = if count > 1 { squares / (count - 1) as f64 } else { NOISE.powi(2) };
                Row::Cell { weight: self.model.weight, count, variance, deviations }
            })
            .collect()
    }

    fn bootstrap(&self, settings: Settings) -> Bootstrap {
        let around = Around { x: &self.estimate, lower: &LOWER, upper: &UPPER };
        bootstrap(&self.model, &self.rows(), &around, &settings).unwrap()
    }

    /// Standard errors from `(J'*J)^-1`.
    fn standard_errors(&self) -> Vec<f64> {
        let mut jacobian = DMatrix::zeros(50, 4);
        self.model.jacobian(&self.estimate, jacobian.as_mut_slice());
        inverse_normal(&jacobian, &[false; 4]).diagonal().iter().map(|v| v.sqrt()).collect()
    }
}

fn settings(scheme: Scheme, resamples: usize) -> Settings {
    Settings { scheme, resamples, seed: 5 }
}

/// The standard deviations of the unknowns to first order, where configuration c has runs of
/// `variances[c]`.
fn expected(data: &Data, variances: &[f64]) -> Vec<f64> {
    let mut jacobian = DMatrix::zeros(50, 4);
    data.model.jacobian(&data.estimate, jacobian.as_mut_slice());
    let hat = inverse_normal(&jacobian, &[false; 4]) * jacobian.transpose();
    let of = |unknown: usize| -> f64 {
        // A residual is in units of NOISE/sqrt(n).
        let one = |(cell, variance): (usize, &f64)| hat[(unknown, cell)].powi(2) * variance;
        (variances.iter().enumerate().map(one).sum::<f64>() / NOISE.powi(2)).sqrt()
    };
    (0..4).map(of).collect()
}

/// 4,000 resamples know a deviation to 1/sqrt(2*4000) = 1.1 %.
fn check_scatter(repetitions: usize, scheme: Scheme, certain: f64) {
    let data = Data::new(repetitions, 2);
    let found = data.bootstrap(settings(scheme, 4000));
    assert_eq!((found.failed, found.samples.len()), (0, 16_000));
    let variance = |row: &Row<'_>| match row {
        Row::Cell { variance, .. } if scheme == Scheme::Resample => *variance,
        _ => NOISE.powi(2),
    };
    let variances: Vec<f64> = data.rows().iter().map(variance).collect();
    for (unknown, expected) in expected(&data, &variances).into_iter().enumerate() {
        let ratio = found.deviations[unknown] / expected;
        assert!((ratio - 1.0).abs() < certain, "{repetitions} {scheme:?} {unknown}: {ratio}");
        let (low, high) = found.percentile[unknown];
        let width = (high - low) / (2.0 * 1.96 * expected);
        assert!((width - 1.0).abs() < certain + 0.04, "{width}");
        let (low, high) = found.corrected[unknown];
        assert!(low < data.estimate[unknown] && data.estimate[unknown] < high);
    }
}

#[test]
fn resamples_scatter_by_the_runs_own_deviations() {
    for repetitions in [2, 3, 5, 100] {
        check_scatter(repetitions, Scheme::Resample, 0.04);
    }
    check_scatter(5, Scheme::Parametric(NOISE), 0.04);
}

#[test]
fn configurations_run_once_scatter_by_their_residuals() {
    // 46 degrees of freedom tell the noise to 1/sqrt(92) = 10 %.
    check_scatter(1, Scheme::Resample, 0.3);
}

#[test]
fn intervals_cover_the_truth() {
    let mut held = [0_u32; 2];
    for seed in 0..250 {
        let data = Data::new(5, 100 + seed);
        let found = data.bootstrap(settings(Scheme::Resample, 400));
        for (intervals, held) in [&found.percentile, &found.corrected].into_iter().zip(&mut held) {
            for ((low, high), truth) in intervals.iter().zip(TRUTH) {
                *held += u32::from((*low..*high).contains(&truth));
            }
        }
    }
    // 1,000 intervals: a standard error of 0.7 %.
    for held in held {
        assert!((930..970).contains(&held), "{held}");
    }
}

#[test]
fn an_unknown_at_its_bound_stays_within_it() {
    let mut data = Data::new(3, 4);
    // What grows with m is below zero by two standard errors.
    let shift = 0.6 + 2.0 * data.standard_errors()[1];
    for (row, mean) in data.model.columns.iter().zip(&mut data.model.log_means) {
        let before = time(row, &TRUTH);
        *mean += ((before - shift * row[1]) / before).ln();
    }
    let around = Around { x: &data.estimate.clone(), lower: &LOWER, upper: &UPPER };
    let mut search = Search::new(50, 4);
    assert!(search.solve(&data.model, &around, &mut data.estimate));
    assert_eq!(data.estimate[1], 0.0);
    let found = data.bootstrap(settings(Scheme::Parametric(NOISE), 2000));
    let slopes: Vec<f64> = found.samples.iter().skip(1).step_by(4).copied().collect();
    assert!(slopes.iter().all(|&slope| slope >= 0.0));
    // Above the bound where a normal number exceeds two or so: 2.3 % and what this data set adds.
    let above = slopes.iter().filter(|&&slope| slope > 0.0).count();
    assert!((1..400).contains(&above), "{above}");
    assert_eq!(found.percentile[1].0, 0.0);
}

#[test]
fn the_seed_alone_decides() {
    let data = Data::new(5, 6);
    // With 400 resamples one thread, with 800 two: the first 400 are the same.
    let few = data.bootstrap(settings(Scheme::Resample, 400));
    let many = data.bootstrap(settings(Scheme::Resample, 800));
    assert_eq!(few.samples, many.samples[..1600]);
    let other = data.bootstrap(Settings { seed: 6, ..settings(Scheme::Resample, 400) });
    assert_ne!(few.samples, other.samples);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let data = Data::new(2, 1);
    let around = Around { x: &data.estimate, lower: &LOWER, upper: &UPPER };
    let refused = |rows: &[Row<'_>], resamples| {
        let settings = settings(Scheme::Resample, resamples);
        bootstrap(&data.model, rows, &around, &settings).unwrap_err().to_string()
    };
    assert_eq!(refused(&data.rows(), 5), "resamples: found 5, expected at least 20");
    let all = u32::MAX as usize;
    let message = "resamples: found 4294967295, expected at most 100000";
    assert_eq!(refused(&data.rows(), all), message);
    assert_eq!(refused(&data.rows(), 100_001), message.replace("4294967295", "100001"));
    assert_eq!(refused(&[Row::Measured], 20), "rows: found 1, expected 50 of the problem");
}

#[test]
fn a_prior_is_drawn_by_its_own_error() {
    /// One unknown, measured twice: by a mean of runs, and as 7 +- 1.
    struct Both;
    impl InPlace for Both {
        fn rows(&self) -> usize {
            2
        }
        fn residuals(&self, x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&[2.0 * (x[0] - 7.0), x[0] - 7.0]);
        }
        fn jacobian(&self, _: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&[2.0, 1.0]);
        }
    }
    let cell = Row::Cell { weight: 2.0, count: 4, variance: 1.0, deviations: &[] };
    let around = Around { x: &[7.0], lower: &[0.0], upper: &[100.0] };
    let settings = settings(Scheme::Resample, 20_000);
    let found = bootstrap(&Both, &[cell, Row::Measured], &around, &settings).unwrap();
    // The weights are 4 and 1: 1/sqrt(5).
    approx::assert_relative_eq!(found.deviations[0], 0.2_f64.sqrt(), max_relative = 0.015);
}

#[test]
fn a_problem_that_allocates_gives_the_same() {
    struct Slow<'a>(&'a Model);
    impl Residuals for Slow<'_> {
        fn residuals(&self, x: &nalgebra::DVector<f64>) -> nalgebra::DVector<f64> {
            let mut out = nalgebra::DVector::zeros(50);
            self.0.residuals(x.as_slice(), out.as_mut_slice());
            out
        }
        fn jacobian(&self, x: &nalgebra::DVector<f64>) -> DMatrix<f64> {
            let mut out = DMatrix::zeros(50, 4);
            self.0.jacobian(x.as_slice(), out.as_mut_slice());
            out
        }
        fn lower(&self) -> nalgebra::DVector<f64> {
            nalgebra::DVector::zeros(4)
        }
        fn upper(&self) -> nalgebra::DVector<f64> {
            nalgebra::DVector::from_element(4, f64::INFINITY)
        }
    }
    let data = Data::new(3, 8);
    let around = Around { x: &data.estimate, lower: &LOWER, upper: &UPPER };
    let settings = settings(Scheme::Resample, 50);
    let slow = Allocating { problem: &Slow(&data.model), rows: 50 };
    assert_eq!(
        bootstrap(&slow, &data.rows(), &around, &settings).unwrap(),
        data.bootstrap(settings)
    );
}
