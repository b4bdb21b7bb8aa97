//! What is believed of the time of every mapping (m, p): a mean, and over it how far the mean is off.
//!
//! The logarithm of the time is
//!
//! `ln T(m, p) = ln mu(m, p; z) + f(m, p) + e(m, p)`,
//!
//! *mu* being a mean with a few coefficients z, as equation 11; *f* a discrepancy that configurations
//! near each other have in common, a Gaussian process over (log m, log p) (Kennedy and O'Hagan,
//! Bayesian calibration of computer models, JRSS B 63, 2001); and *e* what each configuration has of
//! its own, however often it is run. A timed run adds noise. Several means and several sizes of f, e
//! and noise stand side by side, weighted by how likely they make what was timed, so that no choice
//! among them is taken for certain: see `components`.
//!
//! Conditioned on runs, a configuration that ran keeps its time within its noise, one near it
//! follows it, and one far off is as uncertain as the means are there. Without runs it is a prior:
//! the model, and a misfit of the size that [`USUAL_MISFIT`] states or the caller does.
//!
//! All work is on configurations, never on single runs. The runs meet the equations here and in
//! [`fit`](crate::fit) alone.

mod asked;
mod basis;
mod censored;
mod components;
mod kernel;
mod mean;
mod mixture;
mod prior;
mod scatter;
mod together;
mod values;
mod wild;

use std::rc::Rc;

use crate::model::Parameters;
use crate::model::observations::{Observations, Observed, Range};
use crate::model::time_model::TimeModel;
pub use basis::Basis;
use components::{Component, Data, Family};
pub(crate) use mixture::Noisy;
pub use mixture::{Joint, Marginals};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
pub use prior::Prior;
use scatter::{Grid, noise_variance};
use together::together;
use wild::{FEWEST_FOR_ONE, WILD_VARIANCE};

/// How far a model is taken to be off where no run tells: a relative standard deviation.
///
/// Mean errors that were published for models of m x p: MMGP on a Cell 2.8 and 3.2 % (Blagojevic et
/// al. 2008), hybrid GTC below 7.8 % (Wu and Taylor), training of language models 5.0 and 9.4 %
/// (arXiv 2509.22832), Lee et al. 2007 2.2 to 10.5 % (medians). A mean of 8 % is a standard
/// deviation of 10 %.
pub const USUAL_MISFIT: f64 = 0.1;

/// The standard deviation of the logarithm of a time about a model that no run was held against.
pub fn untold_deviation() -> f64 {
    scatter::untold(USUAL_MISFIT)
}

/// The mean that is a constant: what is left is the discrepancy.
pub const FLAT: &str = "flat";

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
        while wild.len() < data.timed() / FEWEST_FOR_ONE
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
        let wild: Vec<String> = self.wild().iter().map(ToString::to_string).collect();
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

    /// Configurations whose single run nothing explains, and which count for hardly anything.
    pub fn wild(&self) -> &[Mapping] {
        &self.wild
    }
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

/// Logarithms of weights become weights that add up to 1; components that are faint in both weights
/// are left out.
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
