//! The mixture itself: every mean with every size of the misfit, weighted by the evidence of the runs.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::censored::as_measured;
use super::form::{Form, Mean};
use super::kernel::kernel;
use super::scatter::{self, Grid, Node};
use crate::model::observations::{Bound, Observations, Observed};
use mmgp_base::Mapping;

/// A mean, fitted.
pub(super) struct Family {
    pub mean: Mean,
    /// Its coefficients where the logarithm of its time is taken as linear in them.
    pub coefficients: Vec<f64>,
    /// Derivatives at the runs, a row for each.
    slopes: DMatrix<f64>,
    /// What the line misses the runs by.
    missed: DVector<f64>,
    /// The covariance of the runs that its coefficients make.
    spread: DMatrix<f64>,
    /// The sizes of the misfit that it may have.
    grid: Grid,
    /// Its share of the weights.
    pub weight: f64,
}

/// A mean with one size of the misfit, given the runs.
pub(super) struct Component {
    /// The mean's place.
    pub family: usize,
    pub node: Node,
    /// Its weight, at first the logarithm.
    pub weight: f64,
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
const STEPS: usize = 10;

/// Before these, the likeliest size of the misfit is sought anew.
const JUDGED_ANEW: [usize; 2] = [2, 5];

/// The farthest that a coefficient moves in one of them.
const FARTHEST: f64 = 2.0;

/// A step below this is the last.
const SETTLED: f64 = 1e-2;

impl Family {
    /// The mean about the runs, of which its form has these features, a row for each.
    pub fn fitted(
        mean: Mean,
        (form, features): (&dyn Form, &[Vec<f64>]),
        data: &Data,
        grid: Grid,
    ) -> Self {
        let coefficients: Vec<f64> = mean.prior.iter().map(|(mean, _)| *mean).collect();
        let (count, runs) = (coefficients.len(), data.mappings.len());
        let mut family = Self {
            mean,
            coefficients,
            slopes: DMatrix::zeros(runs, count),
            missed: DVector::zeros(runs),
            spread: DMatrix::zeros(runs, runs),
            grid,
            weight: 0.0,
        };
        if runs == 0 {
            return family;
        }
        let bases = family.bases(data);
        let (pair, noise) = (family.grid.likeliest(), family.grid.middle_noise());
        let mut likeliest = bases[pair].clone();
        family.linearise(form, features, data);
        for step in 0..STEPS {
            if JUDGED_ANEW.contains(&step) {
                likeliest = family.likeliest(&bases, noise, data);
            }
            let covariance = &likeliest + &family.spread;
            let Some((_, pull, _)) = evidence(covariance, &family.missed, data.stopped) else {
                break;
            };
            let pulled = family.slopes.tr_mul(&pull);
            let mut largest = 0.0_f64;
            for (index, coefficient) in family.coefficients.iter_mut().enumerate() {
                let (mean, variance) = family.mean.prior[index];
                let moved =
                    (mean + variance * pulled[index] - *coefficient).clamp(-FARTHEST, FARTHEST);
                *coefficient += moved;
                largest = largest.max(moved.abs());
            }
            family.linearise(form, features, data);
            if step > JUDGED_ANEW[1] && largest < SETTLED {
                break;
            }
        }
        family
    }

    /// The covariances of the runs about the mean, for each size of the misfit at the middle noise.
    fn bases(&self, data: &Data) -> Vec<DMatrix<f64>> {
        let noise = self.grid.middle_noise();
        let of =
            |&((size, own), _): &((f64, f64), f64)| data.covariance(&Node { size, own, noise });
        self.grid.pairs.iter().map(of).collect()
    }

    /// The covariance of the runs about the mean that makes them likeliest: of the size of the misfit
    /// that does so at the middle noise, and of the noise that does so then.
    fn likeliest(&self, bases: &[DMatrix<f64>], middle: f64, data: &Data) -> DMatrix<f64> {
        let log_evidence = |base: &DMatrix<f64>| {
            let found = evidence(base + &self.spread, &self.missed, data.stopped);
            found.map_or(f64::NEG_INFINITY, |it| it.2)
        };
        let of_pairs =
            bases.iter().zip(&self.grid.pairs).map(|(base, (_, prior))| log_evidence(base) + prior);
        let pair = scatter::likeliest(of_pairs);
        let (size, own) = self.grid.pairs[pair].0;
        let base = |&noise: &f64| match noise == middle {
            true => bases[pair].clone(),
            false => data.covariance(&Node { size, own, noise }),
        };
        let at_noises: Vec<DMatrix<f64>> = self.grid.noises.iter().map(base).collect();
        let noise = scatter::likeliest(at_noises.iter().map(log_evidence));
        at_noises.into_iter().nth(noise).expect("invariant: there is a noise")
    }

    /// Its components at the middle noise, with the logarithms of their weights and their places.
    pub fn judged(&self, place: usize, data: &Data, temper: f64) -> Vec<(usize, Component)> {
        let noise = self.grid.middle_noise();
        let of = |pair| Some((pair, self.component(place, (pair, noise), data, temper)?));
        (0..self.grid.pairs.len()).filter_map(of).collect()
    }

    /// The components of a size of the misfit at all other noises.
    pub fn at_other_noises(
        &self,
        (place, pair): (usize, usize),
        data: &Data,
        temper: f64,
    ) -> impl Iterator<Item = Component> {
        let middle = self.grid.middle_noise();
        let others = self.grid.noises.iter().filter(move |noise| **noise != middle);
        others.filter_map(move |&noise| self.component(place, (pair, noise), data, temper))
    }

    fn component(
        &self,
        family: usize,
        (pair, noise): (usize, f64),
        data: &Data,
        temper: f64,
    ) -> Option<Component> {
        let ((size, own), _) = self.grid.pairs[pair];
        let node = Node { size, own, noise };
        let log_prior = self.grid.log_prior(pair) + self.mean.log_prior;
        if data.mappings.is_empty() {
            let (factor, pull) = (None, DVector::zeros(0));
            return Some(Component { family, node, weight: log_prior, factor, pull });
        }
        let covariance = data.covariance(&node) + &self.spread;
        let (factor, pull, evidence) = evidence(covariance, &self.missed, data.stopped)?;
        let weight = temper * evidence + log_prior;
        Some(Component { family, node, weight, factor: Some(factor), pull })
    }

    /// Takes the logarithms of its times as a line about its coefficients.
    fn linearise(&mut self, form: &dyn Form, features: &[Vec<f64>], data: &Data) {
        let (log_times, slopes) = self.lines(form, features);
        self.missed = &data.log_times - log_times;
        self.slopes = slopes;
        self.spread = self.spread_of(&self.slopes);
    }

    /// The line at each of some mappings, by their features: the logarithms with the prior's
    /// coefficients, as if they were linear in them, and the derivatives, a row for each.
    pub fn lines(&self, form: &dyn Form, features: &[Vec<f64>]) -> (DVector<f64>, DMatrix<f64>) {
        let mut log_times = DVector::zeros(features.len());
        let mut slopes = DMatrix::zeros(features.len(), self.coefficients.len());
        for (row, features) in features.iter().enumerate() {
            let (log_time, of_mapping) = form.at(&self.coefficients, features);
            let mut back = 0.0;
            for (column, slope) in of_mapping.into_iter().enumerate() {
                slopes[(row, column)] = slope;
                back += slope * (self.coefficients[column] - self.mean.prior[column].0);
            }
            log_times[row] = log_time - back;
        }
        (log_times, slopes)
    }

    /// The derivatives at the runs by one coefficient.
    pub fn slope(&self, coefficient: usize) -> DVector<f64> {
        self.slopes.column(coefficient).into_owned()
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
        for (mut column, (_, variance)) in scaled.column_iter_mut().zip(&self.mean.prior) {
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
