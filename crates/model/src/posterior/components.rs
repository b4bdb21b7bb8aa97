//! The mixture itself: every mean with every size of the misfit, weighted by the evidence of the runs.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::censored::as_measured;
use super::form::{Form, Mean};
use super::kernel::kernel;
use super::mode::{About, Tangent};
use super::scatter::{self, Grid, Node};
use crate::model::observations::{Bound, Observations, Observed};
use mmgp_base::Mapping;

/// A mean, fitted.
pub(super) struct Family {
    pub mean: Mean,
    /// Its coefficients where the logarithm of its time is taken as linear in them.
    pub coefficients: Vec<f64>,
    /// That line at the runs.
    tangent: Tangent,
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

    /// How many were stopped.
    pub fn stopped(&self) -> usize {
        self.stopped
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

impl Grid {
    /// The covariances of the runs about the mean, for each size of the misfit at the middle noise.
    fn bases(&self, data: &Data) -> Vec<DMatrix<f64>> {
        let noise = self.middle_noise();
        let of =
            |&((size, own), _): &((f64, f64), f64)| data.covariance(&Node { size, own, noise });
        self.pairs.iter().map(of).collect()
    }

    /// The covariance of the runs about the mean that makes them likeliest: of the size of the misfit
    /// that does so at the middle noise, and of the noise that does so then.
    fn likeliest_about(
        &self,
        tangent: &Tangent,
        bases: &[DMatrix<f64>],
        data: &Data,
    ) -> DMatrix<f64> {
        let middle = self.middle_noise();
        let log_evidence = |base: &DMatrix<f64>| {
            let found = evidence(base + &tangent.spread, &tangent.missed, data.stopped);
            found.map_or(f64::NEG_INFINITY, |it| it.2)
        };
        let of_pairs =
            bases.iter().zip(&self.pairs).map(|(base, (_, prior))| log_evidence(base) + prior);
        let pair = scatter::likeliest(of_pairs);
        let (size, own) = self.pairs[pair].0;
        let base = |&noise: &f64| match noise == middle {
            true => bases[pair].clone(),
            false => data.covariance(&Node { size, own, noise }),
        };
        let at_noises: Vec<DMatrix<f64>> = self.noises.iter().map(base).collect();
        let noise = scatter::likeliest(at_noises.iter().map(log_evidence));
        at_noises.into_iter().nth(noise).expect("invariant: there is a noise")
    }
}

/// Steps towards the most likely coefficients; before all but the first the likeliest size of the misfit
/// is sought anew.
const STEPS: [u64; 3] = [2, 3, 5];

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
        let about = About { mean: &mean, form, features, data };
        let start = DVector::from_iterator(mean.prior.len(), mean.prior.iter().map(|it| it.0));
        let mut coefficients = start;
        let mut tangent = about.tangent(coefficients.as_slice());
        if !data.mappings.is_empty() {
            let bases = grid.bases(data);
            let mut likeliest = bases[grid.likeliest()].clone();
            for (phase, &steps) in STEPS.iter().enumerate() {
                if phase > 0 {
                    likeliest = grid.likeliest_about(&tangent, &bases, data);
                }
                coefficients = about.climbed(&coefficients, &likeliest, (steps, SETTLED));
                tangent = about.tangent(coefficients.as_slice());
            }
        }
        let coefficients = coefficients.as_slice().to_vec();
        Self { mean, coefficients, tangent, grid, weight: 0.0 }
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
        let Tangent { missed, spread, .. } = &self.tangent;
        let (factor, pull, evidence) = evidence(data.covariance(&node) + spread, missed, data.stopped)?;
        let weight = temper * evidence + log_prior;
        Some(Component { family, node, weight, factor: Some(factor), pull })
    }

    /// The line at each of some mappings, by their features: the logarithms with the prior's
    /// coefficients, as if they were linear in them, and the derivatives, a row for each.
    pub fn lines(&self, form: &dyn Form, features: &[Vec<f64>]) -> (DVector<f64>, DMatrix<f64>) {
        self.mean.lines(form, &self.coefficients, features)
    }

    /// The means of its coefficients in one of its components, no farther from what times are taken as
    /// linear about than that holds.
    pub fn given_runs(&self, component: &Component) -> Vec<f64> {
        let given = self.mean.pulled(&self.tangent.slopes, &component.pull);
        let near = |(given, at): (&f64, &f64)| at + (given - at).clamp(-LINEAR, LINEAR);
        given.iter().zip(&self.coefficients).map(near).collect()
    }

    /// The likeliest coefficients in one of its components.
    pub fn likeliest(
        &self,
        component: &Component,
        (form, features): (&dyn Form, &[Vec<f64>]),
        data: &Data,
    ) -> Vec<f64> {
        let about = About { mean: &self.mean, form, features, data };
        let from = DVector::from_column_slice(&self.coefficients);
        let covariance = data.covariance(&component.node);
        about.climbed(&from, &covariance, MOST_STEPS).as_slice().to_vec()
    }

    /// The derivatives at the runs by one coefficient.
    pub fn slope(&self, coefficient: usize) -> DVector<f64> {
        self.tangent.slopes.column(coefficient).into_owned()
    }

    /// The covariance that the coefficients' priors make, among mappings with these derivatives.
    pub fn spread_of(&self, slopes: &DMatrix<f64>) -> DMatrix<f64> {
        self.mean.spread_between(slopes, slopes)
    }

    /// The same between mappings with derivatives of their own.
    pub fn spread_between(&self, rows: &DMatrix<f64>, columns: &DMatrix<f64>) -> DMatrix<f64> {
        self.mean.spread_between(rows, columns)
    }

    /// The same between the runs (rows) and mappings with these derivatives (columns).
    pub fn spread_with_runs(&self, slopes: &DMatrix<f64>) -> DMatrix<f64> {
        self.mean.spread_between(&self.tangent.slopes, slopes)
    }
}

/// A line of logarithms holds for so much of a coefficient.
const LINEAR: f64 = 1.0;

/// Steps to where coefficients that are read are likeliest, and the least of them.
const MOST_STEPS: (u64, f64) = (40, 1e-9);

impl Mean {
    /// The line about some coefficients at each of some mappings, by their features: the logarithms with
    /// the prior's coefficients, as if they were linear in them, and the derivatives, a row for each.
    pub fn lines(
        &self,
        form: &dyn Form,
        coefficients: &[f64],
        features: &[Vec<f64>],
    ) -> (DVector<f64>, DMatrix<f64>) {
        let mut log_times = DVector::zeros(features.len());
        let mut slopes = DMatrix::zeros(features.len(), coefficients.len());
        for (row, features) in features.iter().enumerate() {
            let (log_time, of_mapping) = form.at(coefficients, features);
            let mut back = 0.0;
            for (column, slope) in of_mapping.into_iter().enumerate() {
                slopes[(row, column)] = slope;
                back += slope * (coefficients[column] - self.prior[column].0);
            }
            log_times[row] = log_time - back;
        }
        (log_times, slopes)
    }

    /// The covariance that the coefficients' prior makes between mappings with these derivatives (rows)
    /// and others (columns).
    pub fn spread_between(&self, rows: &DMatrix<f64>, columns: &DMatrix<f64>) -> DMatrix<f64> {
        let mut scaled = rows.clone();
        for (mut column, (_, variance)) in scaled.column_iter_mut().zip(&self.prior) {
            column *= *variance;
        }
        scaled * columns.transpose()
    }

    /// The coefficients that runs with these derivatives pull to.
    pub fn pulled(&self, slopes: &DMatrix<f64>, pull: &DVector<f64>) -> DVector<f64> {
        let mut to = slopes.tr_mul(pull);
        for (to, (mean, variance)) in to.iter_mut().zip(&self.prior) {
            *to = mean + variance * *to;
        }
        to
    }
}

/// The factor of a covariance, its inverse times what was missed, and the logarithm of the density;
/// of what was missed the last are bounds.
pub(super) fn evidence(
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
