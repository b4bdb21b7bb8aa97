//! How far runs scatter, and how far the model is from their mean.
//!
//! Two things part a configuration's mean time from its prediction: its few runs scatter, which
//! repetitions show and more of them would mend; and the model has no term for something, which
//! they would not. The first is a variance per run, the second one per configuration.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::likelihood::{NEGLIGIBLE, Point};
use super::runs::Cell;

/// Variances of the logarithm of a time, and how well they are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Relative standard deviation of one run around the mean of its configuration.
    pub run: f64,
    /// Relative standard deviation of that mean around the model; 0 where scatter explains it.
    pub model: f64,
    /// Degrees of freedom behind what counts of the two.
    pub degrees_of_freedom: f64,
    /// Where it comes from.
    pub origin: Origin,
    /// The test of the model against the runs' scatter, where there is one.
    pub lack_of_fit: Option<LackOfFit>,
}

/// What the size of the noise was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Repetitions of configurations, and residuals where the model does not miss them.
    Repetitions,
    /// What the model leaves unexplained: no configuration was repeated, or it misses them.
    Residuals,
    /// Nothing: neither repetitions nor enough configurations; see [`ASSUMED`].
    Assumed,
}

/// Mean square of the configurations' residuals over that of the repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LackOfFit {
    /// The ratio, near 1 for a model that misses nothing.
    pub ratio: f64,
    /// Degrees of freedom of the residuals, and of the repetitions.
    pub degrees_of_freedom: (f64, f64),
    /// Probability of a ratio this large if the model misses nothing.
    pub probability: f64,
}

/// The relative noise of a run where nothing tells of it: what timings on a quiet machine have.
pub const ASSUMED: f64 = 0.02;

/// A model that misses runs by what has so small a probability is taken to miss them.
pub(crate) const SIGNIFICANT: f64 = 0.01;

/// Repetitions of all configurations, pooled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repetitions {
    /// Sum of squared relative deviations from the means.
    pub squares: f64,
    pub degrees_of_freedom: f64,
}

impl Repetitions {
    pub fn of(cells: &[Cell]) -> Self {
        Self {
            squares: cells.iter().map(Cell::squared_relative_deviations).sum(),
            degrees_of_freedom: cells.iter().map(|cell| cell.count as f64 - 1.0).sum(),
        }
    }
}

impl Noise {
    /// What repetitions alone tell, before any fit.
    pub(crate) fn before(repetitions: Repetitions) -> Self {
        let run = if repetitions.degrees_of_freedom > 0.0 {
            (repetitions.squares / repetitions.degrees_of_freedom).sqrt()
        } else {
            ASSUMED
        };
        let origin = if repetitions.degrees_of_freedom > 0.0 {
            Origin::Repetitions
        } else {
            Origin::Assumed
        };
        Self {
            run,
            model: 0.0,
            degrees_of_freedom: repetitions.degrees_of_freedom.max(1.0),
            origin,
            lack_of_fit: None,
        }
    }

    /// What repetitions and the residuals of a fit tell, which has so many degrees of freedom left.
    pub(crate) fn new(
        repetitions: Repetitions,
        points: &[Point],
        residuals: &[f64],
        degrees_of_freedom: f64,
    ) -> Self {
        let before = Self::before(repetitions);
        // Less than one is an accident of rounding or of priors, from which nothing follows.
        if degrees_of_freedom < 0.9 {
            return before;
        }
        let squares: f64 =
            points.iter().zip(residuals).map(|(point, each)| point.count * each.powi(2)).sum();
        if repetitions.degrees_of_freedom < 0.5 {
            let variance = squares / degrees_of_freedom;
            return Self {
                run: variance.sqrt(),
                degrees_of_freedom,
                origin: Origin::Residuals,
                ..before
            };
        }
        let lack = LackOfFit::new(squares / degrees_of_freedom, repetitions, degrees_of_freedom);
        let lack_of_fit = Some(lack);
        let misses =
            lack.probability < SIGNIFICANT && squares / degrees_of_freedom > NEGLIGIBLE.powi(2);
        if !misses {
            let all = repetitions.degrees_of_freedom + degrees_of_freedom;
            let run = ((repetitions.squares + squares) / all).sqrt();
            return Self { run, degrees_of_freedom: all, lack_of_fit, ..before };
        }
        let model = between(before.run.powi(2), points, residuals, degrees_of_freedom).sqrt();
        Self { model, degrees_of_freedom, origin: Origin::Residuals, lack_of_fit, ..before }
    }

    /// The variance of the logarithm of a mean over so many runs.
    pub fn variance(&self, count: f64) -> f64 {
        (self.run.powi(2) / count + self.model.powi(2)).max(NEGLIGIBLE.powi(2))
    }

    /// Whether the model misses the means by more than the runs' scatter explains.
    pub fn misses(&self) -> bool {
        self.model > 0.0
    }
}

impl LackOfFit {
    fn new(mean_square: f64, repetitions: Repetitions, degrees_of_freedom: f64) -> Self {
        let by_chance = repetitions.squares / repetitions.degrees_of_freedom;
        let degrees_of_freedom = (degrees_of_freedom, repetitions.degrees_of_freedom);
        // A clock that shows every repetition alike cannot explain any residual.
        if by_chance <= f64::MIN_POSITIVE {
            return Self { ratio: f64::INFINITY, degrees_of_freedom, probability: 0.0 };
        }
        let ratio = mean_square / by_chance;
        let fisher = FisherSnedecor::new(degrees_of_freedom.0, degrees_of_freedom.1);
        let probability = fisher.expect("invariant: both have degrees of freedom").sf(ratio);
        Self { ratio, degrees_of_freedom, probability }
    }
}

/// The variance between configurations that makes the weighted squares of the residuals as large
/// as they should be on average, after Paule and Mandel (Consensus values and weighting factors,
/// Journal of Research of the NBS 87, 1982): `sum of r^2/(run/n + between)` is what there are of
/// degrees of freedom.
fn between(run: f64, points: &[Point], residuals: &[f64], degrees_of_freedom: f64) -> f64 {
    let excess = |between: f64| {
        let part =
            |(point, residual): (&Point, &f64)| residual.powi(2) / (run / point.count + between);
        points.iter().zip(residuals).map(part).sum::<f64>() - degrees_of_freedom
    };
    // The squares of all residuals over the degrees of freedom leave less than they should.
    let mut high = residuals.iter().map(|each| each.powi(2)).sum::<f64>() / degrees_of_freedom;
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(counts: &[f64]) -> Vec<Point> {
        counts.iter().map(|&count| Point { m: 1, p: 1, log_time: 0.0, count }).collect()
    }

    fn repetitions(squares: f64, degrees_of_freedom: f64) -> Repetitions {
        Repetitions { squares, degrees_of_freedom }
    }

    #[test]
    fn without_repetitions_the_residuals_tell() {
        let noise =
            Noise::new(repetitions(0.0, 0.0), &points(&[1.0; 4]), &[0.1, -0.1, 0.1, -0.1], 2.0);
        approx::assert_relative_eq!(noise.run, 0.02f64.sqrt(), max_relative = 1e-12);
        assert_eq!(
            (noise.model, noise.degrees_of_freedom, noise.origin),
            (0.0, 2.0, Origin::Residuals)
        );
    }

    #[test]
    fn residuals_that_scatter_explains_are_pooled_with_it() {
        // Four runs in each of three configurations: squares 4*(0.005^2)*3 beside 9e-4 of 9.
        let noise =
            Noise::new(repetitions(9e-4, 9.0), &points(&[4.0; 3]), &[0.005, -0.005, 0.005], 1.0);
        approx::assert_relative_eq!(noise.run, (12e-4_f64 / 10.0).sqrt(), max_relative = 1e-12);
        assert!(!noise.misses() && noise.degrees_of_freedom == 10.0);
    }

    #[test]
    fn what_repetitions_cannot_explain_is_the_models() {
        // 1 % of scatter; means 10 % off: with equal counts the excess is 0.01*n/f - run/n.
        let residuals = [0.1, -0.1, 0.1, -0.1, 0.1, -0.1];
        let noise = Noise::new(repetitions(1e-4 * 24.0, 24.0), &points(&[5.0; 6]), &residuals, 4.0);
        assert!(noise.misses());
        approx::assert_relative_eq!(
            noise.model.powi(2),
            0.06 / 4.0 - 1e-4 / 5.0,
            max_relative = 1e-9
        );
        approx::assert_relative_eq!(noise.variance(5.0), 0.06 / 4.0, max_relative = 1e-9);
        // A ratio of 5*0.06/4 to 1e-4.
        approx::assert_relative_eq!(noise.lack_of_fit.unwrap().ratio, 750.0, max_relative = 1e-9);
    }

    #[test]
    fn the_probability_is_that_of_fishers_table() {
        // The 5 % point of F with 4 and 20 degrees of freedom is 2.866.
        let lack = LackOfFit::new(2.8661, repetitions(20.0, 20.0), 4.0);
        approx::assert_relative_eq!(lack.probability, 0.05, max_relative = 1e-3);
    }

    #[test]
    fn with_nothing_to_go_by_the_noise_is_assumed() {
        let noise = Noise::new(repetitions(0.0, 0.0), &points(&[1.0]), &[0.0], 0.0);
        assert_eq!((noise.run, noise.origin), (ASSUMED, Origin::Assumed));
    }

    #[test]
    fn configurations_run_more_often_owe_less_of_their_residual_to_scatter() {
        // Of 4/n + 2: 6 where it was run once, 3 where it was run four times; each square is that.
        let found = between(4.0, &points(&[1.0, 4.0]), &[6.0_f64.sqrt(), 3.0_f64.sqrt()], 2.0);
        approx::assert_relative_eq!(found, 2.0, max_relative = 1e-12);
    }
}
