//! The times of mappings given the runs, what values of a model have to do with them, and what is added to
//! their logarithms: what if, and the objective.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::components::{Component, Data, Family};
use super::form::OfFile;
use super::levels::Kernels;
use super::mixture::{Joint, Marginals};
use super::scatter::{LENGTH, Node};
use super::{Posterior, Prior};
use crate::models::observations::{Observation, Observations};
use crate::models::time_model::TimeModel;
use crate::objective::Objective;
use crate::statistics::kernel;
use mmgp_base::error::Result;
use mmgp_base::quantity::Quantity;
use mmgp_base::{Mapping, Site};

impl Posterior {
    /// The times of some sites, or mappings, each by itself.
    pub fn marginals<S: Copy + Into<Site>>(&self, sites: &[S]) -> Marginals {
        let all: Vec<usize> = (0..self.components.len()).collect();
        self.marginals_by(&all, &sites_of(sites))
    }

    /// The same by the components at these places.
    fn marginals_by(&self, places: &[usize], sites: &[Site]) -> Marginals {
        let weights: Vec<f64> = places.iter().map(|&it| self.components[it].weight).collect();
        let total: f64 = weights.iter().sum();
        let weights = weights.iter().map(|weight| weight / total).collect();
        let mut marginals = Marginals::new(weights, self.kappa());
        // A block at a time, so that memory does not grow with what is asked.
        for block in sites.chunks(BLOCK) {
            let asked = SiteBlock::new(self, block);
            for (place, &component) in places.iter().enumerate() {
                let (means, variances) = self.alone(&self.components[component], &asked);
                marginals.extend(place, means.iter().copied(), variances.iter().copied());
            }
        }
        marginals
    }

    /// The means of what is asked by one component, and its variances.
    fn alone(&self, component: &Component, asked: &SiteBlock) -> (DVector<f64>, DVector<f64>) {
        let (mut means, cross, mut variances) = self.conditioned(component, asked);
        let whitened = component.given.whitened(cross);
        for (variance, column) in variances.iter_mut().zip(whitened.column_iter()) {
            *variance -= column.norm_squared();
        }
        for (index, observed) in asked.of_rest(self) {
            let noise = component.node.noise.powi(2) / observed.repetitions;
            let gain = variances[index] / (variances[index] + noise);
            means[index] += gain * (observed.time.0.ln() - means[index]);
            variances[index] *= 1.0 - gain;
        }
        for (mean, site) in means.iter_mut().zip(asked.sites) {
            *mean += self.change(site.mapping);
        }
        (means, variances * self.widening())
    }

    /// The expected logarithms of some times, nearly, and what there is to hope for, by the components
    /// that weigh most.
    pub(crate) fn hopes(&self, mappings: &[Mapping]) -> Vec<(f64, f64)> {
        let mut places: Vec<usize> = (0..self.components.len()).collect();
        let weight = |place: usize| self.components[place].weight;
        places.sort_by(|&one, &other| weight(other).total_cmp(&weight(one)));
        places.truncate(HEAVIEST);
        let marginals = self.marginals_by(&places, &sites_of(mappings));
        let both = |index: usize| (marginals.log_time(index), marginals.hope(index));
        (0..mappings.len()).map(both).collect()
    }

    /// The times of some sites, or mappings, together.
    pub fn joint<S: Copy + Into<Site>>(&self, sites: &[S]) -> Joint {
        let sites = sites_of(sites);
        let asked = SiteBlock::new(self, &sites);
        let kernels = Kernels::between(&self.data.levels, &sites, &sites);
        // Those that differ in nothing but the noise count as one, as a normal distribution with their mean
        // and covariance: times to come are hardly others by it.
        let is_like = |one: &Component, other: &Component| {
            let of = |it: &Component| (it.family, it.node.size, it.node.own, it.node.apart);
            of(one) == of(other)
        };
        let (mut weights, mut parts) = (Vec::new(), (Vec::new(), Vec::new()));
        for group in self.components.chunk_by(is_like) {
            let weight: f64 = group.iter().map(|it| it.weight).sum();
            let shares = group.iter().map(|it| it.weight / weight).collect();
            let together = |component| self.together(component, &asked, &kernels);
            let pooled = Joint::new(shares, group.iter().map(together).unzip());
            weights.push(weight);
            parts.0.push(pooled.log_times());
            parts.1.push(pooled.covariance());
        }
        Joint::new(weights, parts)
    }

    /// The means of what is asked by one component, and its covariance.
    fn together(
        &self,
        component: &Component,
        asked: &SiteBlock,
        kernels: &Kernels,
    ) -> (DVector<f64>, DMatrix<f64>) {
        let (mut mean, cross, variances) = self.conditioned(component, asked);
        let (_, slopes) = &asked.lines[component.family];
        let mut covariance = self.families[component.family].spread_of(slopes);
        covariance += kernels.of(&component.node);
        covariance.set_diagonal(&variances);
        let whitened = component.given.whitened(cross);
        covariance -= whitened.transpose() * &whitened;
        for (index, observed) in asked.of_rest(self) {
            let noise = component.node.noise.powi(2) / observed.repetitions;
            let gain = covariance.column(index) / (covariance[(index, index)] + noise);
            let missed = observed.time.0.ln() - mean[index];
            mean += &gain * missed;
            let row = covariance.row(index).clone_owned();
            covariance -= gain * row;
        }
        for (mean, site) in mean.iter_mut().zip(asked.sites) {
            *mean += self.change(site.mapping);
        }
        (mean, covariance * self.widening())
    }

    /// The means of what is asked given the runs, its covariance with them (a column for each), and
    /// its variances before them.
    pub(super) fn conditioned(
        &self,
        component: &Component,
        asked: &SiteBlock,
    ) -> (DVector<f64>, DMatrix<f64>, DVector<f64>) {
        let family = &self.families[component.family];
        let (lines, slopes) = &asked.lines[component.family];
        let own = component.node.own.powi(2);
        let Node { size, apart, .. } = component.node;
        let variances = DVector::from_iterator(
            lines.len(),
            slopes.row_iter().zip(asked.sites).map(|(row, site)| {
                let of_mean: f64 = row
                    .iter()
                    .zip(&family.mean.prior)
                    .map(|(slope, (_, v))| slope * slope * v)
                    .sum();
                size.powi(2) + apart.variance(site.mapping) + of_mean + own
            }),
        );
        let mut cross = asked.kernels.of(&component.node);
        cross += &asked.spreads[component.family];
        for &(row, column) in &asked.same {
            cross[(row, column)] += own;
        }
        let mean = lines + cross.tr_mul(component.given.pull());
        (mean, cross, variances)
    }
}

/// Number of components, the heaviest, that tell what may be hoped for.
const HEAVIEST: usize = 12;

/// Mappings that are asked for at once.
const BLOCK: usize = 512;

/// Sites of what is asked for.
pub(crate) fn sites_of<S: Copy + Into<Site>>(sites: &[S]) -> Vec<Site> {
    sites.iter().map(|&it| it.into()).collect()
}

/// What all components have in common of some sites that are asked for.
pub(super) struct SiteBlock<'s> {
    sites: &'s [Site],
    /// Logarithm of the time of each family, and its derivatives.
    pub lines: Vec<(DVector<f64>, DMatrix<f64>)>,
    /// The covariance with the runs that the coefficients of each family make, a column for each
    /// site.
    spreads: Vec<DMatrix<f64>>,
    /// The kernels with the runs, a column for each site.
    kernels: Kernels,
    /// Runs (rows) that are of a site asked for (columns).
    same: Vec<(usize, usize)>,
}

impl<'s> SiteBlock<'s> {
    pub fn new(posterior: &Posterior, sites: &'s [Site]) -> Self {
        let Data { sites: runs, levels, .. } = &posterior.data;
        let features: Vec<Vec<Vec<f64>>> = posterior
            .forms
            .iter()
            .map(|form| sites.iter().map(|it| form.features(it.mapping)).collect())
            .collect();
        let line = |family: &Family| {
            let form = family.mean.form;
            family.lines(&*posterior.forms[form], &features[form])
        };
        let lines: Vec<_> = posterior.families.iter().map(line).collect();
        let spread = |(family, (_, slopes)): (&Family, &(DVector<f64>, DMatrix<f64>))| {
            family.spread_with_runs(slopes)
        };
        let spreads = posterior.families.iter().zip(&lines).map(spread).collect();
        let same = sites
            .iter()
            .enumerate()
            .filter_map(|(column, site)| Some((runs.iter().position(|run| run == site)?, column)));
        Self {
            sites,
            spreads,
            kernels: Kernels::between(levels, runs, sites),
            same: same.collect(),
            lines,
        }
    }

    /// Sites that were timed and do not stand among the runs of the covariance, by their places.
    fn of_rest(&self, posterior: &Posterior) -> Vec<(usize, Observation)> {
        let rest = &posterior.rest;
        let timed = |(index, site): (usize, &Site)| {
            let found = rest.binary_search_by_key(site, Observation::site).ok()?;
            Some((index, rest[found]))
        };
        if rest.is_empty() {
            return Vec::new();
        }
        self.sites.iter().enumerate().filter_map(timed).collect()
    }
}

/// A value that is not known exactly, and how its error goes together with times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueEffect {
    /// Name of the value: `g_s`, `alpha(8)`.
    pub name: String,
    /// Variance of the value given the runs, in standard errors of its file.
    pub variance: f64,
    /// The covariance with the logarithm of each time.
    pub covariances: Vec<f64>,
}

impl Posterior {
    /// Every value of the models that files give, with the times of some mappings.
    pub(crate) fn values(&self, mappings: &[Mapping]) -> Vec<ValueEffect> {
        let sites = sites_of(mappings);
        let asked = SiteBlock::new(self, &sites);
        let mut effects: Vec<ValueEffect> = Vec::new();
        for (form, values) in self.forms.iter().map(|form| form.values()).enumerate() {
            let mut found: Vec<(usize, Vec<f64>)> = Vec::new();
            for OfFile { name, error, .. } in values {
                let Some(weights) = error else { continue };
                let known = effects.iter().position(|it| it.name == name);
                let place = known.unwrap_or_else(|| {
                    let covariances = vec![0.0; mappings.len()];
                    effects.push(ValueEffect { name, variance: 0.0, covariances });
                    effects.len() - 1
                });
                found.push((place, weights));
            }
            let is_of_form = |it: &&Component| self.families[it.family].mean.form == form;
            for component in self.components.iter().filter(is_of_form) {
                let of_times = component.given.whitened(self.conditioned(component, &asked).1);
                for (place, weights) in &found {
                    self.add_value(component, (&asked, &of_times), weights, &mut effects[*place]);
                }
            }
        }
        effects.retain(|effect| effect.variance > 0.0);
        effects
    }

    /// What one component says of a value that is this sum of coefficients, beside times of which these
    /// are the whitened covariances with the runs.
    fn add_value(
        &self,
        component: &Component,
        (asked, of_times): (&SiteBlock<'_>, &DMatrix<f64>),
        weights: &[f64],
        effect: &mut ValueEffect,
    ) {
        let family = &self.families[component.family];
        let mut row = DMatrix::zeros(1, family.mean.prior.len());
        for (index, weight) in weights.iter().enumerate() {
            row[(0, index)] = *weight;
        }
        let (_, slopes) = &asked.lines[component.family];
        let mut variance = family.spread_of(&row)[(0, 0)];
        let mut covariances = family.spread_between(&row, slopes);
        let of_value = component.given.whitened(family.spread_with_runs(&row));
        variance -= of_value.norm_squared();
        covariances -= of_value.transpose() * of_times;
        effect.variance += component.weight * variance.max(0.0);
        for (sum, covariance) in effect.covariances.iter_mut().zip(covariances.iter()) {
            *sum += component.weight * covariance;
        }
    }
}

impl Posterior {
    /// The same where an objective is looked at: all times are multiplied by its factors, and choices are
    /// by the least product. What was measured stays as it is.
    #[must_use]
    pub fn towards(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// What is minimised.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// What if a model held in the place of another: every time changes by the ratio of both, and the
    /// misfit stays. The runs are those of the program as it is.
    #[must_use]
    pub fn what_if(self, is: Arc<dyn TimeModel>, would_be: Arc<dyn TimeModel>) -> Self {
        Self { what_if: Some((is, would_be)), ..self }
    }

    /// Change of the logarithm of a time by what is supposed, and by the objective.
    pub(super) fn change(&self, mapping: Mapping) -> f64 {
        let ratio = |(is, would_be): &(Arc<dyn TimeModel>, Arc<dyn TimeModel>)| {
            would_be.time(mapping).0 / is.time(mapping).0
        };
        // A time of nothing has no ratio to another.
        let ratio = self.what_if.as_ref().map(ratio);
        let what_if = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0).map_or(0.0, f64::ln);
        what_if + self.objective.offset(mapping)
    }
}

/// What was measured, by parameters and runs alike.
pub(super) fn quantity(prior: &Prior, further: Option<&Observations>) -> Result<Quantity> {
    let mut known = prior.quantity.clone();
    for observations in prior.evidence.as_ref().into_iter().chain(further) {
        match &known {
            Some(known) => known.check_same(&observations.quantity)?,
            None => known = Some(observations.quantity.clone()),
        }
    }
    Ok(known.unwrap_or_default())
}

/// Runs that enter the covariance together; of more configurations the rest enter where they are asked
/// for.
const MOST_TOGETHER: usize = 100;

/// The configurations that enter the covariance together, and the rest: the fastest, which decide,
/// and of the others those that lie farthest from all that are taken.
pub(super) fn together(observations: &Observations) -> (Observations, Vec<Observation>) {
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
            *nearest = nearest.max(kernel(all[index].mapping, other.mapping, LENGTH));
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
