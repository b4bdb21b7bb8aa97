//! Intervals by resampling: how the estimate scatters when the runs are drawn again.
//!
//! The runs of each configuration are drawn again among themselves (stratified), so that every
//! resample has the configurations of the data; their deviations are first stretched by
//! `sqrt(n/(n - 1))`, because they were taken from their own mean (Davison and Hinkley, Bootstrap
//! Methods and their Application, 1997, section 2.3). A configuration that was run once draws from
//! the residuals of all such; one of many runs draws its mean from the normal distribution that it
//! then has. What was measured otherwise, as a prior, is drawn with its own standard error.
//!
//! Each resample is solved by steps of Gauss and Newton within the bounds, from the estimate, to a
//! thousandth of a standard error. Nothing is allocated for a resample, and each has a stream of
//! random numbers of its own, so the result depends on the seed alone.

mod intervals;
mod normal;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::least_squares::Residuals;
pub(crate) use intervals::Bootstrap;
use mmgp_base::error::{Error, Result};
use normal::Normal;

/// A problem of least squares that is evaluated without allocation.
pub(crate) trait InPlace: Sync {
    /// Number of residuals.
    fn rows(&self) -> usize;

    /// The residuals at x.
    fn residuals(&self, x: &[f64], out: &mut [f64]);

    /// Their derivatives, column by column.
    fn jacobian(&self, x: &[f64], out: &mut [f64]);
}

/// Any problem, at the price of what it allocates.
pub(crate) struct Allocating<'a, P> {
    pub problem: &'a P,
    pub rows: usize,
}

impl<P: Residuals + Sync> InPlace for Allocating<'_, P> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn residuals(&self, x: &[f64], out: &mut [f64]) {
        let x = nalgebra::DVector::from_row_slice(x);
        out.copy_from_slice(self.problem.residuals(&x).as_slice());
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) {
        let x = nalgebra::DVector::from_row_slice(x);
        out.copy_from_slice(self.problem.jacobian(&x).as_slice());
    }
}

/// What a residual is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row<'a> {
    /// The mean of the runs of a configuration.
    Cell {
        /// By how much the residual falls as the mean of the relative deviations grows.
        weight: f64,
        /// Number of runs.
        count: u64,
        /// Variance of a single run's relative deviation, as its runs have it; for one run, that
        /// of the others.
        variance: f64,
        /// The relative deviations of the runs from their mean; empty where they were not kept.
        deviations: &'a [f64],
    },
    /// Something else, whose residual has variance 1.
    Measured,
}

/// From which distribution resamples are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scheme {
    /// From the data themselves.
    Resample,
    /// From normal noise of this relative deviation of a single run.
    #[cfg_attr(not(test), allow(dead_code))]
    Parametric(f64),
}

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    pub scheme: Scheme,
    /// Number of resamples.
    pub resamples: usize,
    pub seed: u64,
}

/// The estimate around which is drawn, and its bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    pub x: &'a [f64],
    pub lower: &'a [f64],
    pub upper: &'a [f64],
}

/// More runs than this are drawn as their mean.
const FEW_RUNS: u64 = 64;

/// Fewer configurations that were run once do not tell their noise.
const ENOUGH_SINGLES: usize = 5;

/// More steps than a resample takes.
const MAX_STEPS: u32 = 30;

/// The last step, in units in which residuals have variance 1.
const LAST_STEP: f64 = 1e-3;

/// More resamples only fill memory, where the estimates of all are held at once: of so many, the
/// share below the true 2.5th percentile is uncertain by 0.05 per cent, `sqrt(0.025*0.975/B)`.
pub const MOST_RESAMPLES: u32 = 100_000;

/// From so many resamples on, two threads share them.
const WORTH_A_THREAD: usize = 500;

/// Draws `settings.resamples` data sets like that of the rows and estimates the unknowns from each.
///
/// # Errors
/// [`Error::OutOfRange`] for fewer than 20 resamples, for more than [`MOST_RESAMPLES`], or rows that are not those of the problem;
/// [`Error::Fit`] where more than one resample in a hundred has no minimum.
pub(crate) fn bootstrap<P: InPlace>(
    problem: &P,
    rows: &[Row<'_>],
    around: &Around<'_>,
    settings: &Settings,
) -> Result<Bootstrap> {
    let refuse = |name, found: usize, expected: String| {
        Err(Error::OutOfRange { name, found: found.to_string(), expected })
    };
    if settings.resamples < 20 {
        return refuse("resamples", settings.resamples, "at least 20".into());
    }
    if settings.resamples > MOST_RESAMPLES as usize {
        return refuse("resamples", settings.resamples, format!("at most {MOST_RESAMPLES}"));
    }
    if rows.len() != problem.rows() {
        return refuse("rows", rows.len(), format!("{} of the problem", problem.rows()));
    }
    let drawing = Drawing::new(problem, rows, around, settings);
    let unknowns = around.x.len();
    let mut samples = vec![0.0; settings.resamples * unknowns];
    let run = |part: &mut [f64], from: usize| {
        let mut search = Search::new(rows.len(), unknowns);
        for (index, sample) in part.chunks_exact_mut(unknowns).enumerate() {
            drawing.shifts((from + index) as u64, &mut search.shifts);
            if !search.solve(problem, around, sample) {
                sample.fill(f64::NAN);
            }
        }
    };
    if settings.resamples < WORTH_A_THREAD {
        run(&mut samples, 0);
    } else {
        let half = settings.resamples / 2;
        let (first, second) = samples.split_at_mut(half * unknowns);
        std::thread::scope(|scope| {
            scope.spawn(|| run(first, 0));
            run(second, half);
        });
    }
    let failed = samples.chunks_exact(unknowns).filter(|sample| sample[0].is_nan()).count();
    if failed * 100 > settings.resamples {
        return Err(Error::Fit(format!("{failed} resamples have no minimum")));
    }
    samples.retain(|value| !value.is_nan());
    Ok(Bootstrap::new(samples, failed, &drawing.influences, around))
}

/// Shifts of the residuals, resample by resample.
struct Drawing<'a> {
    rows: &'a [Row<'a>],
    scheme: Scheme,
    seed: u64,
    /// Relative residuals of the configurations that were run once.
    single: Vec<f64>,
    /// The effect of each row on each unknown, row by row.
    influences: Vec<f64>,
}

impl<'a> Drawing<'a> {
    fn new<P: InPlace>(
        problem: &P,
        rows: &'a [Row<'a>],
        around: &Around<'_>,
        settings: &Settings,
    ) -> Self {
        let unknowns = around.x.len();
        let mut search = Search::new(rows.len(), unknowns);
        search.linearise(problem, around.x);
        search.set_limits(around, around.x);
        // This holds what a bound holds.
        search.normal.solve(&search.low, &search.high);
        // Fitted residuals are shorter than the noise by the unknowns that were fitted to them.
        let degrees_of_freedom = rows.len().saturating_sub(unknowns).max(1) as f64;
        let stretch = (rows.len() as f64 / degrees_of_freedom).sqrt();
        let of_single = |(row, residual): (&Row<'_>, &f64)| match row {
            Row::Cell { weight, count: 1, .. } => Some(-stretch * residual / weight),
            _ => None,
        };
        let single: Vec<f64> = rows.iter().zip(&search.residuals).filter_map(of_single).collect();
        let mean = single.iter().sum::<f64>() / single.len().max(1) as f64;
        Self {
            rows,
            scheme: settings.scheme,
            seed: settings.seed,
            single: single.into_iter().map(|each| each - mean).collect(),
            influences: search.influences(),
        }
    }

    /// What resample `index` adds to the residuals.
    fn shifts(&self, index: u64, shifts: &mut [f64]) {
        let stream = self.seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        match self.scheme {
            Scheme::Parametric(deviation) => {
                for (row, shift) in self.rows.iter().zip(shifts) {
                    *shift = normal();
                    if let Row::Cell { weight, count, .. } = row {
                        *shift *= weight * deviation / (*count as f64).sqrt();
                    }
                }
            }
            Scheme::Resample => {
                for (row, shift) in self.rows.iter().zip(shifts) {
                    *shift = match row {
                        Row::Measured => StandardNormal.sample(&mut random),
                        Row::Cell { weight, .. } => -weight * self.draw(row, &mut random),
                    };
                }
            }
        }
    }

    /// The mean of the runs of a configuration, drawn again.
    #[inline]
    fn draw(&self, row: &Row<'_>, random: &mut Xoshiro256PlusPlus) -> f64 {
        let Row::Cell { count, variance, deviations, .. } = row else { return 0.0 };
        let singles_tell = *count == 1 && self.single.len() >= ENOUGH_SINGLES;
        if singles_tell {
            return self.single[index(random, self.single.len())];
        }
        let runs = *count as f64;
        if deviations.len() < 2 || *count > FEW_RUNS {
            let deviate: f64 = StandardNormal.sample(random);
            return deviate * (variance / runs).sqrt();
        }
        let sum: f64 = (0..*count).map(|_| deviations[index(random, deviations.len())]).sum();
        sum / runs * (runs / (runs - 1.0)).sqrt()
    }
}

/// A whole number below `count`, each as likely but for one part in 2^32 of them.
#[inline]
fn index(random: &mut Xoshiro256PlusPlus, count: usize) -> usize {
    let word: u32 = random.random();
    ((u64::from(word) * count as u64) >> 32) as usize
}

/// Room for solving one resample after the other.
struct Search {
    shifts: Vec<f64>,
    residuals: Vec<f64>,
    jacobian: Vec<f64>,
    normal: Normal,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Search {
    fn new(rows: usize, unknowns: usize) -> Self {
        Self {
            shifts: vec![0.0; rows],
            residuals: vec![0.0; rows],
            jacobian: vec![0.0; rows * unknowns],
            normal: Normal::new(unknowns),
            low: vec![0.0; unknowns],
            high: vec![0.0; unknowns],
        }
    }

    fn linearise<P: InPlace>(&mut self, problem: &P, x: &[f64]) {
        problem.residuals(x, &mut self.residuals);
        problem.jacobian(x, &mut self.jacobian);
        self.residuals.iter_mut().zip(&self.shifts).for_each(|(each, shift)| *each += shift);
        self.normal.set(&self.jacobian, &self.residuals);
    }

    /// How far the unknowns may move.
    fn set_limits(&mut self, around: &Around<'_>, x: &[f64]) {
        for (index, x) in x.iter().enumerate() {
            self.low[index] = (around.lower[index] - x) * self.normal.norms[index];
            self.high[index] = (around.upper[index] - x) * self.normal.norms[index];
        }
    }

    /// Answers whether a minimum was found.
    fn solve<P: InPlace>(&mut self, problem: &P, around: &Around<'_>, x: &mut [f64]) -> bool {
        x.copy_from_slice(around.x);
        for _ in 0..MAX_STEPS {
            self.linearise(problem, x);
            self.set_limits(around, x);
            if !self.normal.solve(&self.low, &self.high) {
                return false;
            }
            let mut longest: f64 = 0.0;
            for (index, x) in x.iter_mut().enumerate() {
                let z = self.normal.z[index];
                longest = longest.max(z.abs());
                let moved = *x + z / self.normal.norms[index];
                *x = moved.max(around.lower[index]).min(around.upper[index]);
            }
            if longest <= LAST_STEP {
                return true;
            }
        }
        false
    }

    /// By how much each row moves each unknown, row by row: `-(J'*J)^-1*J_i*r_i`.
    fn influences(&mut self) -> Vec<f64> {
        let (rows, unknowns) = (self.residuals.len(), self.low.len());
        let mut influences = vec![0.0; rows * unknowns];
        let mut row = vec![0.0; unknowns];
        for (index, influence) in influences.chunks_exact_mut(unknowns).enumerate() {
            for (unknown, slope) in row.iter_mut().enumerate() {
                *slope = self.jacobian[unknown * rows + index] * self.residuals[index];
            }
            self.normal.respond(&row, influence);
        }
        influences
    }
}

#[cfg(test)]
mod tests;
