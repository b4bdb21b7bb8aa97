//! The mixture itself: every mean with every size of the misfit, weighted by the evidence of the runs.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::censored::as_measured;
use super::kernel::kernel;
use super::mean::Mean;
use super::scatter::{Grid, Node};
use crate::model::observations::{Bound, Observations, Observed};
use mmgp_base::Mapping;

/// A mean, fitted.
pub(super) struct Family {
    pub mean: Box<dyn Mean>,
    /// Its coefficients where the logarithm of its time is taken as linear in them.
    pub coefficients: Vec<f64>,
    /// Prior mean and variance of each.
    pub prior: Vec<(f64, f64)>,
    /// Derivatives at the runs, a row for each.
    slopes: DMatrix<f64>,
    /// Its share of the weights.
    pub weight: f64,
}

/// A mean with one size of the misfit, given the runs.
pub(super) struct Component {
    /// The mean's place.
    pub family: usize,
    pub node: Node,
    pub weight: f64,
    /// The weight where a further run is sought: nothing is taken to be right, no mean is preferred.
    pub search_weight: f64,
    /// Of the covariance of the runs; `None` without runs.
    pub factor: Option<Cholesky<f64, Dyn>>,
    /// That covariance's inverse times what the mean misses the runs by.
    pub pull: DVector<f64>,
}

/// The runs, as numbers, and after them those that were stopped.
pub(super) struct Data {
    pub mappings: Vec<Mapping>,
    /// Logarithms of the times; of those that were stopped, of their bounds.
    pub log_times: DVector<f64>,
    pub repetitions: Vec<f64>,
    /// Variance that a run has beyond the noise, where it is taken to be wild.
    pub wildness: Vec<f64>,
    /// How many were stopped.
    stopped: usize,
    /// The kernel between all of them.
    kernel: DMatrix<f64>,
}

impl Data {
    pub fn of(observations: &Observations) -> Self {
        let once = |bound: &Bound| Observed {
            mapping: bound.mapping,
            time: bound.longer_than,
            repetitions: 1.0,
        };
        let stopped = observations.bounds.iter().map(once);
        let all: Vec<Observed> =
            observations.configurations.iter().copied().chain(stopped).collect();
        let mappings: Vec<Mapping> = all.iter().map(|observed| observed.mapping).collect();
        Self {
            log_times: DVector::from_iterator(all.len(), all.iter().map(|it| it.time.0.ln())),
            repetitions: all.iter().map(|it| it.repetitions).collect(),
            wildness: vec![0.0; all.len()],
            stopped: observations.bounds.len(),
            kernel: DMatrix::from_fn(all.len(), all.len(), |row, column| {
                kernel(mappings[row], mappings[column])
            }),
            mappings,
        }
    }

    /// How many ran to their end.
    pub fn timed(&self) -> usize {
        self.mappings.len() - self.stopped
    }

    /// The covariance of the runs about their mean.
    fn covariance(&self, node: &Node) -> DMatrix<f64> {
        let mut covariance = &self.kernel * node.size.powi(2);
        for (index, repetitions) in self.repetitions.iter().enumerate() {
            covariance[(index, index)] +=
                node.own.powi(2) + node.noise.powi(2) / repetitions + self.wildness[index];
        }
        covariance
    }
}

/// Steps of Gauss and Newton towards the most likely coefficients.
const STEPS: usize = 6;

/// The farthest that a coefficient moves in one of them.
const FARTHEST: f64 = 2.0;

/// A step below this is the last.
const SETTLED: f64 = 1e-2;

/// Evidence is tempered by this: of runs that the models only come near to, it makes too much. Without,
/// intervals cover about 1 % less.
pub(super) const TEMPER: f64 = 0.7;

impl Family {
    /// The mean about the runs, and its components with the logarithms of their weights.
    pub fn fitted(
        mean: Box<dyn Mean>,
        place: usize,
        data: &Data,
        grid: &Grid,
    ) -> (Self, Vec<Component>) {
        let (prior, preference) = (mean.prior(), mean.preference());
        let coefficients = prior.iter().map(|(mean, _)| *mean).collect();
        let slopes = DMatrix::zeros(data.mappings.len(), prior.len());
        let mut family = Self { mean, coefficients, prior, slopes, weight: 0.0 };
        if data.mappings.is_empty() {
            let components = grid.nodes.iter().map(|&(node, log_prior)| Component {
                family: place,
                node,
                weight: log_prior,
                search_weight: log_prior,
                factor: None,
                pull: DVector::zeros(0),
            });
            let components = components.collect();
            return (family, components);
        }
        let bases: Vec<DMatrix<f64>> =
            grid.nodes.iter().map(|(node, _)| data.covariance(node)).collect();
        let mut likeliest = grid.likeliest();
        for step in 0..STEPS {
            let (missed, slopes) = family.linear(data);
            let spread = family.spread_of(&slopes);
            if step == 2 {
                let evidences = bases.iter().zip(&grid.nodes).map(|(base, (_, log_prior))| {
                    let found = evidence(base + &spread, &missed, data.stopped);
                    found.map_or(f64::NEG_INFINITY, |it| it.2) + log_prior
                });
                let evidences: Vec<f64> = evidences.collect();
                likeliest = (0..evidences.len())
                    .max_by(|&one, &other| evidences[one].total_cmp(&evidences[other]))
                    .unwrap_or(likeliest);
            }
            let Some((_, pull, _)) = evidence(&bases[likeliest] + &spread, &missed, data.stopped)
            else {
                break;
            };
            let pulled = slopes.transpose() * pull;
            let mut largest = 0.0_f64;
            for (index, coefficient) in family.coefficients.iter_mut().enumerate() {
                let (mean, variance) = family.prior[index];
                let moved =
                    (mean + variance * pulled[index] - *coefficient).clamp(-FARTHEST, FARTHEST);
                *coefficient += moved;
                largest = largest.max(moved.abs());
            }
            if step > 2 && largest < SETTLED {
                break;
            }
        }
        let (missed, slopes) = family.linear(data);
        let spread = family.spread_of(&slopes);
        let component = |(base, &(node, log_prior)): (DMatrix<f64>, &(Node, f64))| {
            let (factor, pull, evidence) = evidence(base + &spread, &missed, data.stopped)?;
            let weight = TEMPER * (evidence + log_prior + preference);
            let search_weight =
                if node.is_spike() { f64::NEG_INFINITY } else { weight - preference };
            let factor = Some(factor);
            Some(Component { family: place, node, weight, search_weight, factor, pull })
        };
        let components = bases.into_iter().zip(&grid.nodes).filter_map(component).collect();
        family.slopes = slopes;
        (family, components)
    }

    /// The line at each of some mappings: the logarithms, and the derivatives, a row for each.
    pub fn lines(&self, mappings: &[Mapping]) -> (DVector<f64>, DMatrix<f64>) {
        let mut log_times = DVector::zeros(mappings.len());
        let mut slopes = DMatrix::zeros(mappings.len(), self.prior.len());
        for (row, &mapping) in mappings.iter().enumerate() {
            let (log_time, of_mapping) = self.line(mapping);
            log_times[row] = log_time;
            for (column, slope) in of_mapping.into_iter().enumerate() {
                slopes[(row, column)] = slope;
            }
        }
        (log_times, slopes)
    }

    /// The logarithm of the time at a mapping with the prior's coefficients, as if it were linear in
    /// them, and its derivatives.
    pub fn line(&self, mapping: Mapping) -> (f64, Vec<f64>) {
        let (log_time, slopes) = self.mean.at(&self.coefficients, mapping);
        let back: f64 = slopes
            .iter()
            .zip(&self.coefficients)
            .zip(&self.prior)
            .map(|((slope, at), (mean, _))| slope * (at - mean))
            .sum();
        (log_time - back, slopes)
    }

    /// What that misses the runs by, and the derivatives, a row for each.
    fn linear(&self, data: &Data) -> (DVector<f64>, DMatrix<f64>) {
        let (log_times, slopes) = self.lines(&data.mappings);
        (&data.log_times - log_times, slopes)
    }

    /// The covariance that the coefficients' priors make, among mappings with these derivatives.
    pub fn spread_of(&self, slopes: &DMatrix<f64>) -> DMatrix<f64> {
        self.scaled(slopes) * slopes.transpose()
    }

    /// The same between mappings with derivatives of their own.
    pub fn spread_between(&self, rows: &DMatrix<f64>, columns: &DMatrix<f64>) -> DMatrix<f64> {
        self.scaled(rows) * columns.transpose()
    }

    /// The same between the runs (rows) and mappings with these derivatives (columns).
    pub fn spread_with_runs(&self, slopes: &DMatrix<f64>) -> DMatrix<f64> {
        &self.slopes * self.scaled(slopes).transpose()
    }

    fn scaled(&self, slopes: &DMatrix<f64>) -> DMatrix<f64> {
        let mut scaled = slopes.clone();
        for (mut column, (_, variance)) in scaled.column_iter_mut().zip(&self.prior) {
            column *= *variance;
        }
        scaled
    }
}

/// The factor of a covariance, its inverse times what was missed, and the logarithm of the density;
/// of what was missed the last are bounds.
fn evidence(
    mut covariance: DMatrix<f64>,
    missed: &DVector<f64>,
    stopped: usize,
) -> Option<(Cholesky<f64, Dyn>, DVector<f64>, f64)> {
    let mut missed = missed.clone();
    let of_bounds = as_measured(&mut covariance, &mut missed, stopped)?;
    let factor = covariance.cholesky()?;
    let pull = factor.solve(&missed);
    let log_root: f64 = factor.l_dirty().diagonal().iter().map(|pivot| pivot.ln()).sum();
    let constant = 0.5 * missed.len() as f64 * std::f64::consts::TAU.ln();
    let evidence = of_bounds - 0.5 * missed.dot(&pull) - log_root - constant;
    Some((factor, pull, evidence))
}
