//! The estimate of the unknowns: noise, agreement of the sources, minimum, errors.

use nalgebra::{DMatrix, DVector};

use super::conflict::{
    Alone, Conflict, contradictions, stretched, widened_by_degrees_of_freedom, with_common_error,
};
use super::likelihood::{Likelihood, Minimum, Point};
use super::noise::{Noise, Origin, Repetitions};
use super::unknowns::Unknowns;
use crate::model::sensitivity::Entry;
use mmgp_base::error::Result;

/// The runs as the estimate needs them.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub points: Vec<Point>,
    pub repetitions: Repetitions,
}

/// What all sources say together.
#[derive(Debug, Clone)]
pub(crate) struct Estimated {
    /// With the errors of the priors that were used in the end.
    pub unknowns: Unknowns,
    pub minimum: Minimum,
    pub noise: Noise,
    pub conflict: Option<Conflict>,
}

/// The errors of the entries of the parameters.
pub(crate) struct Spread {
    pub entries: Vec<Entry>,
    pub covariance: DMatrix<f64>,
    /// Degrees of freedom of each variance; infinite where everything behind it is known.
    pub degrees_of_freedom: Vec<f64>,
}

/// The relative error of priors that leaves the runs to speak for themselves.
const SILENT: f64 = 10.0;

/// A leverage this near 1 leaves nothing of a point to be judged by.
pub(crate) const INDISPENSABLE: f64 = 1e-6;

/// The logarithm of a thousand: by what nobody's prediction is off who knows anything.
const SENSELESS: f64 = 6.9;

/// How often noise and estimate are made to fit each other.
const ROUNDS: usize = 5;

/// The unknowns that all sources make most likely.
///
/// The size of the noise comes from repetitions and from what the model misses when the runs
/// alone are fitted, so that a contradiction between runs and files is not taken for noise. Then
/// both are joined, tested against each other, and, where they disagree, the files are trusted
/// less.
pub(crate) fn estimate(
    unknowns: &Unknowns,
    data: &Data,
    start: &DVector<f64>,
) -> Result<Estimated> {
    let silent = with_common_error(unknowns, SILENT);
    let (alone, mut noise) = settle(&silent, data, start)?;
    if noise.origin != Origin::Repetitions && noise.degrees_of_freedom <= 1.0 {
        // The runs alone leave nothing over; with the files they may.
        noise = settle(unknowns, data, &alone.solution.x)?.1;
    }
    let variances = variances(data, &noise);
    let squares = alone.residuals.iter().zip(&variances).map(|(each, v)| each.powi(2) / v).sum();
    let alone = Alone { squares, rank: alone.leverages.iter().sum() };
    let joined = |unknowns: &Unknowns| -> Result<Minimum> {
        Likelihood { unknowns, points: &data.points, variances: &variances }
            .minimum(std::slice::from_ref(start))
    };
    let minimum = joined(unknowns)?;
    let test = |unknowns: &Unknowns, minimum: &Minimum| {
        Conflict::test(unknowns, minimum, &alone, noise.degrees_of_freedom)
    };
    let mut conflict = test(unknowns, &minimum);
    let mut unknowns = unknowns.clone();
    let mut last = minimum;
    if conflict.as_ref().is_some_and(Conflict::is_significant) {
        // Few repetitions make standard errors that chance made too small.
        let wide = widened_by_degrees_of_freedom(&unknowns);
        conflict = test(&wide, &joined(&wide)?);
    }
    if let Some(conflict) = conflict.as_mut().filter(|conflict| conflict.is_significant()) {
        conflict.values = contradictions(&unknowns, &last);
        conflict.stretch = conflict.ratio.sqrt();
        unknowns = stretched(&unknowns, conflict.stretch);
    }
    let starts = [1.0, 0.5, 2.0].map(|factor| &last.solution.x * factor);
    last = Likelihood { unknowns: &unknowns, points: &data.points, variances: &variances }
        .minimum(&starts)?;
    Ok(Estimated { unknowns, minimum: last, noise, conflict })
}

/// The minimum of the runs alone: what files say only keeps it finite.
pub(crate) fn silent_minimum(
    unknowns: &Unknowns,
    points: &[Point],
    variances: &[f64],
    start: &DVector<f64>,
) -> Result<Minimum> {
    let silent = with_common_error(unknowns, SILENT);
    Likelihood { unknowns: &silent, points, variances }.minimum(std::slice::from_ref(start))
}

fn variances(data: &Data, noise: &Noise) -> Vec<f64> {
    data.points.iter().map(|point| noise.variance(point.count)).collect()
}

/// A minimum and the noise that it leaves, each made with the other.
fn settle(unknowns: &Unknowns, data: &Data, start: &DVector<f64>) -> Result<(Minimum, Noise)> {
    let mut noise = Noise::before(data.repetitions);
    let mut start = start.clone();
    let mut round = 0;
    loop {
        round += 1;
        let variances = variances(data, &noise);
        let likelihood = Likelihood { unknowns, points: &data.points, variances: &variances };
        let minimum = likelihood.minimum(&[start])?;
        let degrees_of_freedom = data.points.len() as f64 - minimum.leverages.iter().sum::<f64>();
        let found =
            Noise::new(data.repetitions, &data.points, &minimum.residuals, degrees_of_freedom);
        // With one variance for all, and nothing else to weigh them against, it moves nothing.
        let settled = (found.model - noise.model).abs() <= 1e-4 * found.model
            && (found.run - noise.run).abs() <= 0.02 * found.run;
        noise = found;
        if settled || round == ROUNDS {
            return Ok((minimum, noise));
        }
        start = minimum.solution.x;
    }
}

impl Estimated {
    /// The errors of the entries, with the degrees of freedom of each by Welch and Satterthwaite:
    /// a variance that adds up from `v_k`, each known with `f_k` degrees of freedom, has
    /// `(sum of v_k)^2 / (sum of v_k^2/f_k)` of them.
    pub fn spread(&self) -> Spread {
        let (entries, derivatives) = self.unknowns.entries(self.minimum.solution.x.as_slice());
        let of_unknowns = &derivatives * &self.minimum.covariance;
        let covariance = &of_unknowns * derivatives.transpose();
        let of_runs = &derivatives * &self.minimum.of_runs * derivatives.transpose();
        // A stretched error is no better known than the factor that it was stretched by.
        let of_stretch = self.conflict.as_ref().filter(|conflict| conflict.stretch > 1.0);
        let of_stretch =
            of_stretch.map_or(0.0, |conflict| 1.0 / conflict.degrees_of_freedom.0.max(1.0));
        let degrees_of_freedom = |row: usize| {
            let runs = of_runs[(row, row)];
            let mut scarcity = runs.powi(2) / self.noise.degrees_of_freedom;
            for (column, unknown) in self.unknowns.list.iter().enumerate() {
                let Some(prior) = unknown.prior else { continue };
                let weight = (of_unknowns[(row, column)] / prior.std_error).powi(2);
                let own = prior.degrees_of_freedom.map_or(0.0, f64::recip);
                scarcity += weight.powi(2) * (own + of_stretch);
            }
            covariance[(row, row)].powi(2) / scarcity
        };
        let degrees_of_freedom = (0..entries.len()).map(degrees_of_freedom).collect();
        Spread { entries, covariance, degrees_of_freedom }
    }

    /// As [`Self::left_out`]; `None` where the others say nothing of one of them.
    pub fn spared(&self) -> Option<Vec<f64>> {
        let indispensable = |leverage: &f64| *leverage > 1.0 - INDISPENSABLE;
        if self.minimum.leverages.iter().any(indispensable) {
            return None;
        }
        Some(self.left_out()).filter(|errors| errors.iter().all(|error| error.abs() < SENSELESS))
    }

    /// `ln(T/t)` of each point, predicted by a fit without it: by the leverages of this one, which
    /// is exact where the logarithm is as good as linear.
    pub fn left_out(&self) -> Vec<f64> {
        let minimum = &self.minimum;
        let part = |(residual, leverage): (&f64, &f64)| residual / (1.0 - leverage).max(1e-9);
        minimum.residuals.iter().zip(&minimum.leverages).map(part).collect()
    }
}
