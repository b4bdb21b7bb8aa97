//! What is believed of the time of every mapping (m, p): a mean, and over it how far the mean is off.
//!
//! The logarithm of the time is
//!
//! `ln T(m, p) = ln mu(m, p; z) + f(m, p) + e(m, p)`,
//!
//! *mu* being a mean with a few coefficients z, as equation 11; *f* a discrepancy that configurations near each other
//! have in common, a Gaussian process over (log m, log p) (Kennedy and O'Hagan, Bayesian calibration of
//! computer models, JRSS B 63, 2001); and *e* what each configuration has of its own, however often it is
//! run. A timed run adds noise. Several means and several sizes of f, e and noise stand side by side,
//! weighted by how likely they make what was timed, so that no choice among them is taken for
//! certain: see `components`.
//!
//! Conditioned on runs, a configuration that ran keeps its time within its noise, one near it
//! follows it, and one far off is as uncertain as the means are there. Without runs it is a prior:
//! the model, and a misfit of the size that [`USUAL_MISFIT`] states or the caller does.
//!
//! All work is on configurations, never on single runs. The runs meet the equations here and in
//! [`fit`](crate::fit) alone.

mod basis;
mod components;
mod kernel;
mod mean;
mod mixture;
mod prior;
mod scatter;
mod values;
mod wild;

use std::rc::Rc;

use nalgebra::{DMatrix, DVector};

use crate::model::Parameters;
use crate::model::observations::{Observations, Observed, Range};
use crate::model::time_model::TimeModel;
pub use basis::Basis;
use components::{Component, Data, Family};
use kernel::kernel;
pub use mixture::{Joint, Marginals};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
pub use prior::Prior;
use scatter::{Grid, noise_variance};
use wild::{FEWEST_FOR_ONE, WILD_VARIANCE};

/// How far a model is taken to be off where no run tells: a relative standard deviation.
///
/// Mean errors that were published for models of m x p: MMGP on a Cell 2.8 and 3.2 % (Blagojevic et
/// al. 2008), hybrid GTC below 7.8 % (Wu and Taylor), training of language models 5.0 and 9.4 %
/// (arXiv 2509.22832), Lee et al. 2007 2.2 to 10.5 % (medians). A mean of 8 % is a standard deviation of 10 %.
pub const USUAL_MISFIT: f64 = 0.1;

/// The standard deviation of the logarithm of a time about a model that no run was held against.
pub fn untold_deviation() -> f64 {
    scatter::untold(USUAL_MISFIT)
}

/// The mean that is a constant: what is left is the discrepancy.
pub const FLAT: &str = "flat";

/// Runs that enter the covariance together; of more configurations the rest enter where they are asked
/// for.
const MOST_TOGETHER: usize = 100;

/// Components whose weight is below this part of the largest are left out.
const FAINT: f64 = 1e-4;

/// What is believed of the time of every mapping.
pub struct Posterior {
    families: Vec<Family>,
    components: Vec<Component>,
    data: Data,
    observations: Observations,
    /// Timed configurations beyond those that enter together.
    rest: Vec<Observed>,
    misfit: f64,
    models: Vec<Rc<dyn TimeModel>>,
    /// Those whose single run nothing explains.
    wild: Vec<Mapping>,
    /// What if the second model held where the first does: every time changes by their ratio.
    what_if: Option<(Rc<dyn TimeModel>, Rc<dyn TimeModel>)>,
}

/// A mean and its share.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Share {
    /// The mean's name.
    pub mean: String,
    /// Its weight; all weights add up to 1.
    pub weight: f64,
}

impl Posterior {
    /// Of parameters, and the runs that they were fitted with.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of(parameters: &Parameters) -> Result<Self> {
        Self::new(&Prior::of(parameters), None)
    }

    /// Of a model as it stands, without runs.
    pub fn of_model(model: impl TimeModel + 'static) -> Self {
        let posterior = Self::new(&Prior::of_model(Rc::new(model)), None);
        posterior.expect("invariant: there is a model")
    }

    /// Conditions a prior on the runs that it comes with and on further ones.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] for neither a model nor runs.
    pub fn new(prior: &Prior, further: Option<Observations>) -> Result<Self> {
        let observations = match (prior.evidence.clone(), further) {
            (Some(known), Some(further)) => known.merged(further),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Observations::new("", Vec::new(), 0.0, 0.0),
        };
        let (together, rest) = together(&observations);
        let mut data = Data::of(&together);
        let (mut families, mut components) = fitted(prior, &together, &data);
        if families.is_empty() {
            return Err(Error::TooLittleData {
                file: observations.source,
                found: "neither a model with values nor timed runs".into(),
                advice: "give one of them".into(),
            });
        }
        let mut wild = Vec::new();
        while wild.len() < data.mappings.len() / FEWEST_FOR_ONE
            && let Some(place) = wild::wildest(&data, &components)
        {
            data.wildness[place] = WILD_VARIANCE;
            wild.push(data.mappings[place]);
            (families, components) = fitted(prior, &together, &data);
        }
        normalise(&mut components);
        for component in &components {
            families[component.family].weight += component.weight;
        }
        let models = prior.models().cloned().collect();
        let misfit = prior.misfit();
        let what_if = None;
        Ok(Self { families, components, data, observations, rest, misfit, models, what_if, wild })
    }

    /// What whoever reads predictions for these mappings should know of the models of files.
    pub fn warnings(&self, mappings: &[Mapping]) -> Vec<Warning> {
        let ms = mappings.iter().map(|mapping| mapping.m());
        let Some((first, last)) = ms.clone().min().zip(ms.max()) else { return Vec::new() };
        let used = |model: &&Rc<dyn TimeModel>| {
            self.families.iter().any(|it| it.mean.name() == model.name() && it.weight > 0.5)
        };
        let of_used = self.models.iter().find(used);
        let mut warnings = of_used.map_or_else(Vec::new, |model| model.warnings(first..=last));
        let wild: Vec<String> = self.wild.iter().map(ToString::to_string).collect();
        if !wild.is_empty() {
            let file = &self.observations.source;
            warnings.push(Warning::Note(format!(
                "{file}: nothing explains the time of {}, which counts for hardly anything; run it \
                 again",
                wild.join(", ")
            )));
        }
        warnings
    }

    /// What if a model held in the place of another: every time changes by the ratio of both, and the
    /// misfit stays. The runs are those of the program as it is.
    #[must_use]
    pub fn what_if(self, is: Rc<dyn TimeModel>, would_be: Rc<dyn TimeModel>) -> Self {
        Self { what_if: Some((is, would_be)), ..self }
    }

    /// By how much the logarithm of a time changes by that.
    fn change(&self, mapping: Mapping) -> f64 {
        let ratio = |(is, would_be): &(Rc<dyn TimeModel>, Rc<dyn TimeModel>)| {
            would_be.time(mapping).0 / is.time(mapping).0
        };
        // A time of nothing has no ratio to another.
        let ratio = self.what_if.as_ref().map(ratio);
        ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0).map_or(0.0, f64::ln)
    }

    /// What was measured of a mapping, as things are.
    pub fn measured(&self, mapping: Mapping) -> Option<Observed> {
        self.what_if.is_none().then(|| self.observations.of(mapping)).flatten()
    }

    /// What it is conditioned on.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The range of what was timed; `None` without runs.
    pub fn range(&self) -> Option<Range> {
        self.observations.range()
    }

    /// The means by their weights, the largest first; those without any are left out.
    pub fn shares(&self) -> Vec<Share> {
        let share =
            |family: &Family| Share { mean: family.mean.name().to_string(), weight: family.weight };
        let mut shares: Vec<Share> =
            self.families.iter().filter(|family| family.weight > 0.0).map(share).collect();
        shares.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        shares
    }

    /// The relative standard deviation of the discrepancy: as the runs tell, or as it was stated.
    pub fn misfit(&self) -> f64 {
        if self.observations.configurations.is_empty() {
            return self.misfit;
        }
        self.mean_of(|component| component.node.size.powi(2)).sqrt()
    }

    /// The variance of the logarithm of a single run's time about its configuration's.
    pub fn noise_variance(&self) -> f64 {
        if self.observations.configurations.is_empty() {
            return noise_variance(&self.observations);
        }
        self.mean_of(|component| component.node.noise.powi(2))
    }

    fn mean_of(&self, of: impl Fn(&Component) -> f64) -> f64 {
        self.components.iter().map(|component| component.weight * of(component)).sum()
    }

    /// By how much standard deviations of the components are widened: with few configurations the
    /// sizes and the means are less known than their weights say. Found from coverage.
    fn widening(&self) -> f64 {
        match self.observations.configurations.len() {
            0 => 1.0,
            count => (1.0 + 3.0 / count as f64).sqrt(),
        }
    }

    /// The times of some mappings, each by itself.
    pub fn marginals(&self, mappings: &[Mapping]) -> Marginals {
        let of = |component: &Component, asked: &Asked| {
            let (mean, cross, mut variances) = self.conditioned(component, asked);
            if let Some(factor) = &component.factor {
                let mut whitened = cross;
                factor.l_dirty().solve_lower_triangular_mut(&mut whitened);
                for (variance, column) in variances.iter_mut().zip(whitened.column_iter()) {
                    *variance -= column.norm_squared();
                }
            }
            (mean, variances)
        };
        let mut marginals = Marginals::new(self.weights(), self.widening());
        // A block at a time, so that memory does not grow with what is asked.
        for block in mappings.chunks(BLOCK) {
            let asked = Asked::new(self, block);
            for (place, component) in self.components.iter().enumerate() {
                let (mut means, mut variances) = of(component, &asked);
                for (index, observed) in asked.of_rest(self) {
                    let noise = component.node.noise.powi(2) / observed.repetitions;
                    let gain = variances[index] / (variances[index] + noise);
                    means[index] += gain * (observed.time.0.ln() - means[index]);
                    variances[index] *= 1.0 - gain;
                }
                for (mean, &mapping) in means.iter_mut().zip(block) {
                    *mean += self.change(mapping);
                }
                marginals.extend(place, means.iter().copied(), variances.iter().copied());
            }
        }
        marginals
    }

    /// The times of some mappings together.
    pub fn joint(&self, mappings: &[Mapping]) -> Joint {
        let asked = Asked::new(self, mappings);
        let kernels = DMatrix::from_fn(mappings.len(), mappings.len(), |row, column| {
            kernel(mappings[row], mappings[column])
        });
        let (mut means, mut covariances) = (Vec::new(), Vec::new());
        for component in &self.components {
            let (mut mean, cross, variances) = self.conditioned(component, &asked);
            let (_, slopes) = &asked.lines[component.family];
            let mut covariance = self.families[component.family].spread_of(slopes);
            covariance += &kernels * component.node.size.powi(2);
            covariance.set_diagonal(&variances);
            if let Some(factor) = &component.factor {
                let mut whitened = cross;
                factor.l_dirty().solve_lower_triangular_mut(&mut whitened);
                covariance -= whitened.transpose() * &whitened;
            }
            for (index, observed) in asked.of_rest(self) {
                let noise = component.node.noise.powi(2) / observed.repetitions;
                let gain = covariance.column(index) / (covariance[(index, index)] + noise);
                let missed = observed.time.0.ln() - mean[index];
                mean += &gain * missed;
                let row = covariance.row(index).clone_owned();
                covariance -= gain * row;
            }
            for (mean, &mapping) in mean.iter_mut().zip(mappings) {
                *mean += self.change(mapping);
            }
            means.push(mean);
            covariances.push(covariance);
        }
        let search = self.components.iter().map(|component| component.search_weight).collect();
        Joint::new((self.weights(), search), means, covariances, self.widening())
    }

    fn weights(&self) -> Vec<f64> {
        self.components.iter().map(|component| component.weight).collect()
    }

    /// Configurations whose single run nothing explains, and which count for hardly anything.
    pub fn wild(&self) -> &[Mapping] {
        &self.wild
    }

    /// The means of what is asked given the runs, its covariance with them (a column for each), and
    /// its variances before them.
    fn conditioned(
        &self,
        component: &Component,
        asked: &Asked,
    ) -> (DVector<f64>, DMatrix<f64>, DVector<f64>) {
        let family = &self.families[component.family];
        let (lines, slopes) = &asked.lines[component.family];
        let own = component.node.own.powi(2);
        let variances = DVector::from_iterator(
            lines.len(),
            slopes.row_iter().map(|row| {
                let of_mean: f64 =
                    row.iter().zip(&family.prior).map(|(slope, (_, v))| slope * slope * v).sum();
                component.node.size.powi(2) + of_mean + own
            }),
        );
        let mut cross = &asked.kernels * component.node.size.powi(2);
        cross += &asked.spreads[component.family];
        for &(row, column) in &asked.same {
            cross[(row, column)] += own;
        }
        let mean = lines + cross.tr_mul(&component.pull);
        (mean, cross, variances)
    }
}

/// Mappings that are asked for at once.
const BLOCK: usize = 512;

/// What all components have in common of some mappings that are asked for.
struct Asked<'m> {
    mappings: &'m [Mapping],
    /// Of each family: the logarithm of its time and its derivatives.
    lines: Vec<(DVector<f64>, DMatrix<f64>)>,
    /// The covariance with the runs that the coefficients of each family make, a column for each
    /// mapping.
    spreads: Vec<DMatrix<f64>>,
    /// The kernel with the runs, a column for each mapping.
    kernels: DMatrix<f64>,
    /// Runs (rows) that are of a mapping asked for (columns).
    same: Vec<(usize, usize)>,
}

impl<'m> Asked<'m> {
    fn new(posterior: &Posterior, mappings: &'m [Mapping]) -> Self {
        let runs = &posterior.data.mappings;
        let lines: Vec<_> = posterior.families.iter().map(|it| it.lines(mappings)).collect();
        let spread = |(family, (_, slopes)): (&Family, &(DVector<f64>, DMatrix<f64>))| {
            family.spread_with_runs(slopes)
        };
        let spreads = posterior.families.iter().zip(&lines).map(spread).collect();
        let same = mappings.iter().enumerate().filter_map(|(column, mapping)| {
            Some((runs.iter().position(|run| run == mapping)?, column))
        });
        Self {
            mappings,
            spreads,
            kernels: DMatrix::from_fn(runs.len(), mappings.len(), |row, column| {
                kernel(runs[row], mappings[column])
            }),
            same: same.collect(),
            lines,
        }
    }

    /// Those that were timed and do not stand among the runs of the covariance, by their places.
    fn of_rest(&self, posterior: &Posterior) -> Vec<(usize, Observed)> {
        let rest = &posterior.rest;
        let timed = |(index, mapping): (usize, &Mapping)| {
            let found = rest.binary_search_by_key(mapping, |observed| observed.mapping).ok()?;
            Some((index, rest[found]))
        };
        if rest.is_empty() {
            return Vec::new();
        }
        self.mappings.iter().enumerate().filter_map(timed).collect()
    }
}

/// The configurations that enter the covariance together, and the rest: the fastest, which decide,
/// and of the others those that lie farthest from all that are taken.
fn together(observations: &Observations) -> (Observations, Vec<Observed>) {
    let all = &observations.configurations;
    if all.len() <= MOST_TOGETHER {
        return (observations.clone(), Vec::new());
    }
    let mut by_time: Vec<usize> = (0..all.len()).collect();
    by_time.sort_by(|&one, &other| all[one].time.0.total_cmp(&all[other].time.0));
    let mut taken = vec![false; all.len()];
    let mut nearest = vec![0.0_f64; all.len()];
    let mut take = |index: usize, taken: &mut Vec<bool>| {
        taken[index] = true;
        for (nearest, other) in nearest.iter_mut().zip(all) {
            *nearest = nearest.max(kernel(all[index].mapping, other.mapping));
        }
        let left = (0..taken.len()).filter(|&other| !taken[other]);
        left.min_by(|&one, &other| nearest[one].total_cmp(&nearest[other]))
    };
    let mut farthest = None;
    for &index in &by_time[..MOST_TOGETHER / 2] {
        farthest = take(index, &mut taken);
    }
    for _ in MOST_TOGETHER / 2..MOST_TOGETHER {
        let Some(index) = farthest else { break };
        farthest = take(index, &mut taken);
    }
    let pick = |wanted: bool| {
        all.iter().zip(&taken).filter(move |(_, taken)| **taken == wanted).map(|(it, _)| *it)
    };
    let mut part = observations.clone();
    part.configurations = pick(true).collect();
    (part, pick(false).collect())
}

/// Every mean about the runs, and all components with the logarithms of their weights.
fn fitted(
    prior: &Prior,
    observations: &Observations,
    data: &Data,
) -> (Vec<Family>, Vec<Component>) {
    let grid = Grid::over_a_mean(prior.misfit(), observations);
    let (mut families, mut components) = (Vec::new(), Vec::new());
    for (place, mean) in prior.means(observations).into_iter().enumerate() {
        let of_flat = (mean.name() == FLAT).then(|| Grid::over_nothing(observations));
        let grid = of_flat.as_ref().unwrap_or(&grid);
        let (family, of_family) = Family::fitted(mean, place, data, grid);
        families.push(family);
        components.extend(of_family);
    }
    (families, components)
}

/// Logarithms of weights become weights that add up to 1; components that are faint in both weights are left
/// out.
fn normalise(components: &mut Vec<Component>) {
    fn each(components: &mut [Component], of: fn(&mut Component) -> &mut f64) {
        let logs = components.iter_mut().map(|it| *of(it));
        let largest = logs.fold(f64::NEG_INFINITY, f64::max);
        components.iter_mut().for_each(|it| *of(it) = (*of(it) - largest).exp());
    }
    each(components, |it| &mut it.weight);
    each(components, |it| &mut it.search_weight);
    components.retain(|it| it.weight.max(it.search_weight) > FAINT);
    let total: f64 = components.iter().map(|it| it.weight).sum();
    let of_search: f64 = components.iter().map(|it| it.search_weight).sum();
    for component in components {
        component.weight /= total;
        component.search_weight /= of_search;
    }
}

#[cfg(test)]
mod tests;
