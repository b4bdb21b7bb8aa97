//! The mixture itself: every mean with every size of the misfit, weighted by the evidence of the runs.
//!
//! A configuration that ran once is wild or is not, a priori with [`PROBABILITY`]. Whether it is
//! is judged by the evidence of all components with and without a variance of 1 more for that run,
//! by an update of rank one; the most likely is marked, everything is fitted again, and so on while
//! one is likely enough. A run at the edge of what was timed, as (1, 1) often is, may be what no
//! other tells, and is never marked.

use std::sync::Arc;
use std::sync::OnceLock;

use nalgebra::{DMatrix, DVector};

use super::censored::as_measured;
use super::form::{Form, PriorMean};
use super::levels::{Kernels, Levels};
use super::mode::{About, Base, Bases, Tangent};
use super::scatter::Node;
use crate::models::observations::{LowerBound, Observation, Observations};
use crate::statistics::{GaussianUpdate, log_sum};
use mmgp_base::{Mapping, Site};

/// A mean, fitted.
pub(super) struct Family {
    pub mean: PriorMean,
    /// Coefficients where the logarithm of the time is taken as linear in them.
    pub coefficients: Vec<f64>,
    /// Line of the logarithm at the runs.
    tangent: Tangent,
    /// The covariance of the runs that its coefficients make, where it was asked for.
    spread: OnceLock<DMatrix<f64>>,
    /// The sizes of the misfit that it may have.
    bases: Arc<Bases>,
    /// Share of the weights.
    pub weight: f64,
}

/// A mean with one size of the misfit, given the runs.
pub(super) struct Component {
    /// The mean's place.
    pub family: usize,
    pub node: Node,
    /// The logarithm of its weight, but for a constant.
    pub log_weight: f64,
    /// Weight; the weights of all components add up to 1.
    pub weight: f64,
    /// What the runs say about the mean.
    pub given: GaussianUpdate,
}

/// The runs, as numbers, and after them those that were stopped.
pub(super) struct Data {
    pub sites: Vec<Site>,
    /// Logarithms of the times; of those that were stopped, of their bounds.
    pub log_times: DVector<f64>,
    pub repetitions: Vec<f64>,
    /// Variance that a run has beyond the noise, where it is taken to be wild.
    pub wildness: Vec<f64>,
    /// How many were stopped.
    stopped: usize,
    /// What their levels have in common.
    pub levels: Levels,
    /// The kernels between all of them.
    kernels: Kernels,
}

impl Data {
    pub fn of(observations: &Observations, levels: Levels) -> Self {
        let once = |bound: &LowerBound| Observation {
            mapping: bound.mapping,
            level: bound.level,
            time: bound.longer_than,
            repetitions: 1.0,
        };
        let stopped = observations.bounds.iter().map(once);
        let all: Vec<Observation> =
            observations.configurations.iter().copied().chain(stopped).collect();
        let sites: Vec<Site> = all.iter().map(Observation::site).collect();
        Self {
            log_times: DVector::from_iterator(all.len(), all.iter().map(|it| it.time.0.ln())),
            repetitions: all.iter().map(|it| it.repetitions).collect(),
            wildness: vec![0.0; all.len()],
            stopped: observations.bounds.len(),
            kernels: Kernels::between(&levels, &sites, &sites),
            levels,
            sites,
        }
    }

    /// How many ran to their end.
    pub fn timed(&self) -> usize {
        self.sites.len() - self.stopped
    }

    /// How many were stopped.
    pub fn stopped(&self) -> usize {
        self.stopped
    }

    /// The covariance of the runs about their mean.
    pub fn covariance(&self, node: &Node) -> DMatrix<f64> {
        let mut covariance = self.kernels.of(node);
        for (index, repetitions) in self.repetitions.iter().enumerate() {
            covariance[(index, index)] +=
                node.own.powi(2) + node.noise.powi(2) / repetitions + self.wildness[index];
        }
        covariance
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
        mean: PriorMean,
        (form, features): (&dyn Form, &[Vec<f64>]),
        data: &Data,
        bases: Arc<Bases>,
    ) -> Self {
        let about = About { mean: &mean, form, features, data };
        let mut coefficients =
            DVector::from_iterator(mean.prior.len(), mean.prior.iter().map(|it| it.0));
        let mut tangent = about.tangent(coefficients.as_slice());
        if !data.sites.is_empty() {
            for (phase, &steps) in STEPS.iter().enumerate() {
                let anew = (phase > 0).then(|| bases.likeliest(&mean, &tangent, data));
                let base = anew.as_ref().unwrap_or_else(|| bases.first());
                coefficients = about.climbed(&coefficients, base, (steps, SETTLED));
                tangent = about.tangent(coefficients.as_slice());
            }
        }
        let coefficients = coefficients.as_slice().to_vec();
        Self { mean, coefficients, tangent, spread: OnceLock::new(), bases, weight: 0.0 }
    }

    /// The logarithms of the weights of the sizes of the misfit at the middle noise.
    pub fn judged(&self, data: &Data, temper: f64) -> Vec<f64> {
        let grid = &self.bases.grid;
        let log_prior = |pair: usize| grid.log_prior(pair) + self.mean.log_prior;
        if data.sites.is_empty() {
            return (0..grid.nodes.len()).map(log_prior).collect();
        }
        let evidences = self.bases.log_evidences(&self.mean, &self.tangent).enumerate();
        evidences.map(|(pair, evidence)| temper * evidence + log_prior(pair)).collect()
    }

    /// The components of a size of the misfit at all noises.
    pub fn components(
        &self,
        (place, pair): (usize, usize),
        data: &Data,
        temper: f64,
    ) -> impl Iterator<Item = Component> {
        let noises = self.bases.grid.noises.iter();
        noises.filter_map(move |&noise| self.component(place, (pair, noise), data, temper))
    }

    fn component(
        &self,
        family: usize,
        (pair, noise): (usize, f64),
        data: &Data,
        temper: f64,
    ) -> Option<Component> {
        let grid = &self.bases.grid;
        let node = Node { noise, ..grid.nodes[pair].0 };
        let log_prior = grid.log_prior(pair) + self.mean.log_prior;
        if data.sites.is_empty() {
            let (log_weight, given) = (log_prior, GaussianUpdate::nothing());
            return Some(Component { family, node, log_weight, weight: 0.0, given });
        }
        let spread = self.spread.get_or_init(|| self.tangent.spread(&self.mean));
        let covariance = data.covariance(&node) + spread;
        let given = given(covariance, &self.tangent.missed, data.stopped)?;
        let log_weight = temper * given.log_density + log_prior;
        Some(Component { family, node, log_weight, weight: 0.0, given })
    }

    /// The line at each of some mappings, by their features: the logarithms with the prior's
    /// coefficients, as if they were linear in them, and the derivatives, a row for each.
    pub fn lines(&self, form: &dyn Form, features: &[Vec<f64>]) -> (DVector<f64>, DMatrix<f64>) {
        self.mean.lines(form, &self.coefficients, features)
    }

    /// The means of its coefficients in one of its components, no farther from what times are taken as
    /// linear about than that holds.
    pub fn given_runs(&self, component: &Component) -> Vec<f64> {
        let given = self.mean.pulled(&self.tangent.slopes, component.given.pull());
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
        let base = Base::of(data, &component.node);
        about.climbed(&from, &base, MOST_STEPS).as_slice().to_vec()
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

impl PriorMean {
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

/// What runs with this covariance about a mean say; of what was missed the last are bounds.
pub(super) fn given(
    mut covariance: DMatrix<f64>,
    missed: &DVector<f64>,
    stopped: usize,
) -> Option<GaussianUpdate> {
    let mut missed = missed.clone();
    let of_bounds = as_measured(&mut covariance, &mut missed, stopped)?;
    let mut given = GaussianUpdate::observed(covariance, &missed)?;
    given.log_density += of_bounds;
    Some(given)
}

/// How likely a single run is wild beforehand.
const PROBABILITY: f64 = 0.01;

/// How likely it must be for a run to be marked.
const ENOUGH: f64 = 0.9;

/// Components below this part of the heaviest say nothing of it.
const HEAVY: f64 = 1e-2;

/// The further variance of the logarithm of a wild run: a factor of e either way.
pub(super) const WILD_VARIANCE: f64 = 1.0;

/// Number of runs among which at most one is marked as wild.
pub(super) const FEWEST_FOR_ONE: usize = 5;

/// The place of the run that is wild, where one is likely enough to be.
pub(super) fn wildest(data: &Data, components: &[Component], temper: f64) -> Option<usize> {
    let may_be = |place: usize| {
        data.repetitions[place] < 2.0 && data.wildness[place] == 0.0 && is_surrounded(data, place)
    };
    let places: Vec<usize> = (0..data.timed()).filter(|&place| may_be(place)).collect();
    if places.is_empty() {
        return None;
    }
    let weights = components.iter().map(|component| component.log_weight);
    let largest = weights.fold(f64::NEG_INFINITY, f64::max);
    let is_heavy = |component: &&Component| component.log_weight > largest + HEAVY.ln();
    let components: Vec<&Component> = components.iter().filter(is_heavy).collect();
    // Logarithms of the evidence of each component, and with each run wild.
    let usual: Vec<f64> =
        components.iter().map(|component| component.log_weight / temper).collect();
    let mut with_wild = vec![Vec::with_capacity(components.len()); places.len()];
    for (component, usual) in components.iter().zip(&usual) {
        let by_the_others: Vec<(f64, f64)> = component.given.each_by_the_others().collect();
        for (with_wild, &place) in with_wild.iter_mut().zip(&places) {
            let (error, variance) = by_the_others[place];
            let wide = variance + WILD_VARIANCE;
            let gain =
                0.5 * error * error * (1.0 / variance - 1.0 / wide) - 0.5 * (wide / variance).ln();
            with_wild.push(usual + gain);
        }
    }
    let without = log_sum(&usual);
    let factors = with_wild.iter().map(|with_wild| log_sum(with_wild) - without);
    let (best, factor) = factors.enumerate().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let odds = (1.0 - PROBABILITY) / PROBABILITY * ENOUGH / (1.0 - ENOUGH);
    (factor >= odds.ln()).then_some(places[best])
}

/// Whether others say what a run should take without going beyond what they are: in m, p and m p.
fn is_surrounded(data: &Data, place: usize) -> bool {
    let measures: [fn(Mapping) -> u64; 3] =
        [|it| u64::from(it.m()), |it| u64::from(it.p()), Mapping::apus];
    measures.into_iter().all(|of| {
        let own = of(data.sites[place].mapping);
        let others = || {
            let others = data.sites.iter().enumerate().filter(|(other, _)| *other != place);
            others.map(|(_, it)| of(it.mapping))
        };
        others().any(|other| other <= own) && others().any(|other| other >= own)
    })
}
