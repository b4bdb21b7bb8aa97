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
    for allowed in [20, 100_000] {
        let message = "rows: found 1, expected 50 of the problem";
        assert_eq!(refused(&[Row::Measured], allowed), message);
    }
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

/// One unknown x of `weight*(ln x - ln 7)`; beyond `e^edge` from 7 it has no derivative.
struct Logarithm {
    weight: f64,
    edge: f64,
}

impl InPlace for Logarithm {
    fn rows(&self) -> usize {
        1
    }
    fn residuals(&self, x: &[f64], out: &mut [f64]) {
        out[0] = self.weight * (x[0] / 7.0).ln();
    }
    fn jacobian(&self, x: &[f64], out: &mut [f64]) {
        let lost = (x[0] / 7.0).ln().abs() > self.edge;
        out[0] = if lost { f64::NAN } else { self.weight / x[0] };
    }
}

fn resampled(problem: &Logarithm, row: Row<'_>, upper: f64, resamples: usize) -> Result<Bootstrap> {
    let around = Around { x: &[7.0], lower: &[0.0], upper: &[upper] };
    bootstrap(problem, &[row], &around, &settings(Scheme::Resample, resamples))
}

#[test]
fn a_resample_moves_the_estimate_by_the_mean_that_it_drew() {
    // Three of 0.2, -0.1 and -0.1 have a mean of -0.1, 0, 0.1 or 0.2, which scatters too little by
    // the root of 2/3.
    let deviations = [0.2, -0.1, -0.1];
    let row = || Row::Cell { weight: 200.0, count: 3, variance: 0.03, deviations: &deviations };
    let problem = Logarithm { weight: 200.0, edge: f64::INFINITY };
    let places = [-0.1, 0.0, 0.1, 0.2].map(|mean| 7.0 * (mean * 1.5_f64.sqrt()).exp());
    let mut found = [false; 4];
    for sample in resampled(&problem, row(), 100.0, 200).unwrap().samples {
        let place = places.iter().position(|place| (place / sample - 1.0).abs() < 1e-6);
        found[place.expect("each is one of the four")] = true;
    }
    assert_eq!(found, [true; 4]);
    let held = resampled(&problem, row(), 7.5, 200).unwrap().samples;
    assert!(held.contains(&7.5) && held.iter().all(|&sample| sample <= 7.5));
}

#[test]
fn no_two_resamples_are_the_same() {
    let problem = Logarithm { weight: 9.0, edge: f64::INFINITY };
    let mut samples = resampled(&problem, Row::Measured, 100.0, 600).unwrap().samples;
    samples.sort_by(f64::total_cmp);
    samples.dedup();
    assert_eq!(samples.len(), 600);
    let rows = [Row::Measured];
    let around = Around { x: &[7.0], lower: &[0.0], upper: &[9.0] };
    let settings = Settings { seed: u64::MAX, ..settings(Scheme::Resample, 20) };
    let drawing = Drawing::new(&problem, &rows, &around, &settings);
    let shift = |index: u64| {
        let mut shifts = [0.0];
        drawing.shifts(index, &mut shifts);
        shifts[0]
    };
    assert_ne!(shift(1), shift(2));
}

#[test]
fn few_resamples_may_have_no_minimum_and_many_must_have_one() {
    // 1 in 200 normal numbers lies beyond 2.8, and 1 in 7 beyond 1.5.
    let problem = |edge| Logarithm { weight: 10.0, edge: edge / 10.0 };
    let found = resampled(&problem(2.8), Row::Measured, 100.0, 400).unwrap();
    assert!((1..=4).contains(&found.failed), "{}", found.failed);
    assert_eq!(found.samples.len() + found.failed, 400);
    let refused = resampled(&problem(1.5), Row::Measured, 100.0, 400).unwrap_err().to_string();
    assert!(refused.ends_with("resamples have no minimum"), "{refused}");
}

#[test]
fn noise_of_a_given_size_is_that_of_the_mean_of_the_runs() {
    let problem = Logarithm { weight: 3.0, edge: f64::INFINITY };
    let around = Around { x: &[7.0], lower: &[0.0], upper: &[100.0] };
    let shift = |row: Row<'_>| {
        let rows = [row];
        let settings = settings(Scheme::Parametric(0.5), 20);
        let drawing = Drawing::new(&problem, &rows, &around, &settings);
        let mut shifts = [0.0];
        drawing.shifts(3, &mut shifts);
        shifts[0]
    };
    // Of nine runs, the mean of which weighs 3: 3*0.5/3 of a standard normal number.
    let cell = Row::Cell { weight: 3.0, count: 9, variance: 1.0, deviations: &[] };
    approx::assert_relative_eq!(shift(cell), 0.5 * shift(Row::Measured), max_relative = 1e-12);
}

/// Draws of the mean of `count` runs, where five configurations that were run once had residuals
/// of 1, 2, 3, 4 and 5.
fn draws(count: u64, deviations: &[f64]) -> Vec<f64> {
    let drawing = Drawing {
        rows: &[],
        scheme: Scheme::Resample,
        seed: 1,
        single: vec![1.0, 2.0, 3.0, 4.0, 5.0],
        influences: Vec::new(),
    };
    let row = Row::Cell { weight: 1.0, count, variance: 0.01, deviations };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..200).map(|_| drawing.draw(&row, &mut random)).collect()
}

#[test]
fn what_a_mean_is_drawn_from_depends_on_how_many_runs_it_has() {
    let whole = |draws: Vec<f64>, unit: f64| {
        draws.iter().all(|each| (each / unit - (each / unit).round()).abs() < 1e-9)
    };
    let single = draws(1, &[0.0]);
    assert!(single.iter().all(|each| (1.0..=5.0).contains(each)) && whole(single, 1.0));
    // Two of -0.1 and 0.1 have a mean of -0.1, 0 or 0.1, too near 0 by the root of 2.
    assert!(whole(draws(2, &[0.1, -0.1]), 0.1 * 2.0_f64.sqrt()));
    assert!(draws(2, &[0.1, -0.1]).iter().any(|each| *each > 0.1));
    // 64 are still drawn one by one; more, or runs that were not kept, as their mean.
    let unit = 0.2 / 64.0 * (64.0_f64 / 63.0).sqrt();
    assert!(whole(draws(64, &[0.1, -0.1]), unit));
    let normal = |draws: Vec<f64>, deviation: f64| {
        let squares: f64 = draws.iter().map(|each| each * each).sum();
        // 200 numbers tell their deviation to 5 %.
        approx::assert_relative_eq!((squares / 200.0).sqrt(), deviation, max_relative = 0.2);
        assert!(!whole(draws, unit));
    };
    normal(draws(65, &[0.1, -0.1]), 0.1 / 65.0_f64.sqrt());
    normal(draws(4, &[]), 0.05);
}

#[test]
fn what_a_row_moves_is_its_part_of_the_step() {
    /// x in the first two rows, 2*y in the third, from residuals of 0.5, -0.5 and 1.
    struct Three;
    impl InPlace for Three {
        fn rows(&self) -> usize {
            3
        }
        fn residuals(&self, _: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&[0.5, -0.5, 1.0]);
        }
        fn jacobian(&self, _: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&[1.0, 1.0, 0.0, 0.0, 0.0, 2.0]);
        }
    }
    let around = Around { x: &[1.0, 1.0], lower: &[-9.0; 2], upper: &[9.0; 2] };
    let rows = [Row::Measured, Row::Measured, Row::Measured];
    let found = Drawing::new(&Three, &rows, &around, &settings(Scheme::Resample, 20)).influences;
    // The columns' squares are 2 and 4: -0.5/2, 0.5/2, -2/4.
    for (found, expected) in found.iter().zip([-0.25, 0.0, 0.25, 0.0, 0.0, -0.5]) {
        approx::assert_abs_diff_eq!(*found, expected, epsilon = 1e-9);
    }
    assert_eq!(found.len(), 6);
}
