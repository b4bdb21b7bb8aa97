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
//! the model, and a misfit of the sizes that such models had elsewhere, or that the caller states.
//!
//! All work is on configurations, never on single runs. The runs meet the equations here alone:
//! what [`fit`](crate::fit) says of terms is read out of it.

mod asked;
mod censored;
mod components;
mod form;
mod levels;
mod means;
mod mixture;
mod mode;
mod numbers;
mod prior;
mod scatter;
mod work;

use std::sync::Arc;

use crate::models::Parameters;
use crate::models::observations::{Observation, Observations, Range};
use crate::models::terms::Term;
use crate::models::time_model::TimeModel;
use crate::objective::Objective;
use crate::statistics::quantile_97_5;
pub(crate) use asked::sites_of;
use asked::{quantity, together};
use components::{Component, Data, FEWEST_FOR_ONE, Family, WILD_VARIANCE, wildest};
use form::PriorMean;
pub(crate) use form::{Form, Size};
pub use levels::Levels;
use means::Means;
pub(crate) use means::regressor_of;
pub(crate) use mixture::as_printed;
pub use mixture::{Joint, Marginals, Tie};
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::{Mapping, Site};
use mode::Bases;
pub use numbers::Basis;
pub(crate) use numbers::{Line, Number, Numbers, View};
pub use prior::Prior;
use scatter::Node;
pub(crate) use work::{AlphaGrowth, FASTER, Regressor, SLOWER, Work, grows};

/// The standard deviation of the logarithm of a time about a model with values from files that no run
/// was held against: that of the normal distribution whose 95 % interval is as wide as the misfit that
/// such models had.
pub fn untold_deviation() -> f64 {
    equivalent(&scatter::without_runs())
}

/// The standard deviation of the normal distribution whose 95 % interval is as wide as that of a mixture
/// of such with these variances and weights.
fn equivalent(parts: &[(f64, f64)]) -> f64 {
    let weights = parts.iter().map(|(_, weight)| *weight).collect();
    let mut marginals = Marginals::new(weights, 0.0);
    for (place, &(variance, _)) in parts.iter().enumerate() {
        marginals.extend(place, [0.0].into_iter(), [variance].into_iter());
    }
    marginals.quantile(0, 0.975).0.ln() / quantile_97_5(None)
}

/// The mean that is a constant: what is left is the discrepancy.
pub const FLAT: &str = "flat";

/// Components whose weight is below this part of the largest are left out.
const FAINT: f64 = 1e-3;

/// Part of the largest weight below which components are left out at the middle noise; another noise may
/// raise them.
const FAINT_AT_FIRST: f64 = 1e-5;

/// Evidence counts by this power where runs alone speak: without, intervals cover 1 % less.
const TEMPER_OF_RUNS: f64 = 0.7;

/// The same where files give terms.
const TEMPER_OF_FILES: f64 = 0.5;

/// Choices are made so many standard deviations above the expected logarithm where runs alone speak.
const CAUTION_OF_RUNS: f64 = 1.0;

/// The same where files give terms.
const CAUTION_OF_FILES: f64 = 0.25;

/// What is believed of the time of every mapping.
pub struct Posterior {
    forms: Vec<Box<dyn Form>>,
    families: Vec<Family>,
    components: Vec<Component>,
    /// Further ones of means that are looked at alone, which count for nothing beside the others.
    apart: Vec<Component>,
    data: Data,
    observations: Observations,
    /// Timed configurations beyond those that enter together.
    rest: Vec<Observation>,
    /// Whether files say anything of the program's time.
    has_files: bool,
    /// The terms that no file knows, each with the place of its regressor.
    unknown: Vec<(Term, usize)>,
    models: Vec<Arc<dyn TimeModel>>,
    /// Mappings whose single run nothing explains.
    wild: Vec<Mapping>,
    /// What if the second model held where the first does: every time changes by their ratio.
    what_if: Option<(Arc<dyn TimeModel>, Arc<dyn TimeModel>)>,
    /// What its times are multiplied into.
    objective: Objective,
}

/// A mean and its share.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MeanShare {
    /// The mean's name.
    pub mean: String,
    /// Weight of the mean; all weights add up to 1.
    pub weight: f64,
}

impl Posterior {
    /// Posterior of parameters and the runs that they were fitted with.
    ///
    /// # Errors
    /// Errors of [`Self::new`].
    pub fn of(parameters: &Parameters) -> Result<Self> {
        Self::new(&Prior::of(parameters), None)
    }

    /// Posterior of a model as it stands, without runs.
    pub fn of_model(model: impl TimeModel + 'static) -> Self {
        let posterior = Self::new(&Prior::of_model(Arc::new(model)), None);
        posterior.expect("invariant: there is a model")
    }

    /// Conditions a prior on the runs that it comes with and on further ones.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] for neither a model nor runs; [`Error::OutOfRange`] for times and rates
    /// together.
    pub fn new(prior: &Prior, further: Option<Observations>) -> Result<Self> {
        let quantity = quantity(prior, further.as_ref())?;
        let observations = match (prior.evidence.clone(), further) {
            (Some(known), Some(further)) => known.merged(further),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Observations::new("", Vec::new(), 0.0, 0.0),
        };
        let prior = &prior.about(&observations);
        let (together, rest) = together(&observations);
        let mut data = Data::of(&together, prior.levels.clone());
        let Means { forms, means } = prior.means(&together);
        if means.is_empty() {
            return Err(Error::too_little(
                observations.source,
                "neither a model with values nor timed runs",
                "give one of them",
            ));
        }
        let fitted = |data: &Data| fitted(prior, (&forms, &means), &together, data);
        let (mut families, mut components) = fitted(&data);
        let mut wild = Vec::new();
        while wild.len() < data.timed() / FEWEST_FOR_ONE
            && let Some(place) = wildest(&data, &components, prior.temper())
        {
            data.wildness[place] = WILD_VARIANCE;
            wild.push(data.sites[place].mapping);
            (families, components) = fitted(&data);
        }
        let mut apart = normalise(&mut components);
        apart.retain(|it| prior.views.contains(&families[it.family].mean.name.as_str()));
        for component in &components {
            families[component.family].weight += component.weight;
        }
        let models = prior.models().cloned().collect();
        let (has_files, unknown) = (prior.has_files(), prior.untold());
        let what_if = None;
        Ok(Self {
            forms,
            families,
            components,
            apart,
            data,
            observations,
            rest,
            has_files,
            unknown,
            models,
            what_if,
            wild,
            objective: Objective::of(quantity),
        })
    }

    /// What whoever reads predictions for these mappings should know of the models of files.
    pub fn warnings(&self, mappings: &[Mapping]) -> Vec<Warning> {
        let ms = mappings.iter().map(|mapping| mapping.m());
        let Some((first, last)) = ms.clone().min().zip(ms.max()) else { return Vec::new() };
        let used = |model: &&Arc<dyn TimeModel>| {
            self.shares().iter().any(|it| it.mean.starts_with(model.name()) && it.weight > 0.5)
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

    /// A model of files whose best are found by its structure; `None` where there is none.
    pub(crate) fn structured(&self) -> Option<&dyn TimeModel> {
        self.models.first().map(|model| &**model).filter(|model| model.row(1).is_some())
    }

    /// What was measured of a site, as things are.
    pub fn measured(&self, site: impl Into<Site>) -> Option<Observation> {
        self.what_if.is_none().then(|| self.observations.of(site)).flatten()
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
    pub fn shares(&self) -> Vec<MeanShare> {
        let mut shares: Vec<MeanShare> = Vec::new();
        for family in self.families.iter().filter(|family| family.weight > 0.0) {
            match shares.iter_mut().find(|share| share.mean == family.mean.name) {
                Some(share) => share.weight += family.weight,
                None => {
                    let (mean, weight) = (family.mean.name.clone(), family.weight);
                    shares.push(MeanShare { mean, weight });
                }
            }
        }
        shares.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        shares
    }

    /// The relative standard deviation of the misfit, as the runs tell; without any that of a normal
    /// distribution whose 95 % interval is as wide.
    pub fn misfit(&self) -> f64 {
        if self.observations.configurations.is_empty() {
            let of = |it: &Component| {
                let Node { size, own, apart, .. } = it.node;
                (size.powi(2) + own.powi(2) + apart.variance(Mapping::SEQUENTIAL), it.weight)
            };
            return equivalent(&self.components.iter().map(of).collect::<Vec<_>>());
        }
        self.mean_of(|component| component.node.size.powi(2)).sqrt()
    }

    /// The variance of the logarithm of a single run's time about its configuration's.
    pub fn noise_variance(&self) -> f64 {
        self.mean_of(|component| component.node.noise.powi(2))
    }

    /// Whether files say anything of the program's time.
    pub fn has_files(&self) -> bool {
        self.has_files
    }

    /// Number of standard deviations above the expected logarithm at which choices are made.
    fn kappa(&self) -> f64 {
        if self.has_files { CAUTION_OF_FILES } else { CAUTION_OF_RUNS }
    }

    fn mean_of(&self, of: impl Fn(&Component) -> f64) -> f64 {
        self.components.iter().map(|component| component.weight * of(component)).sum()
    }

    /// Factor by which variances of the components are widened: with few configurations the sizes and the
    /// means are less known than their weights say. Found from coverage. What files say is not less known
    /// for that.
    fn widening(&self) -> f64 {
        match self.observations.configurations.len() {
            _ if self.has_files => 1.0,
            0 => 1.0,
            count => 1.0 + 3.0 / count as f64,
        }
    }

    /// Configurations whose single run nothing explains, and which count for hardly anything.
    pub fn wild(&self) -> &[Mapping] {
        &self.wild
    }
}

/// Every mean about the runs, and all components with the logarithms of their weights: sizes of the
/// misfit are judged at the middle noise, and those that are not faint there at all noises.
fn fitted(
    prior: &Prior,
    (forms, means): (&[Box<dyn Form>], &[PriorMean]),
    observations: &Observations,
    data: &Data,
) -> (Vec<Family>, Vec<Component>) {
    let temper = prior.temper();
    let at_runs = |form: &dyn Form| -> Vec<Vec<f64>> {
        data.sites.iter().map(|it| form.features(it.mapping)).collect()
    };
    let features: Vec<_> = forms.iter().map(|form| at_runs(&**form)).collect();
    let bases = |name: &str| Arc::new(Bases::new(prior.grid(name, observations), data));
    let usual = bases("");
    let fit = |mean: &PriorMean| {
        let form = (&*forms[mean.form], &features[mean.form][..]);
        let bases = if mean.name == FLAT { bases(FLAT) } else { Arc::clone(&usual) };
        Family::fitted(mean.clone(), form, data, bases)
    };
    let families: Vec<Family> = means.iter().map(fit).collect();
    let judged: Vec<Vec<f64>> = families.iter().map(|family| family.judged(data, temper)).collect();
    let largest = |name: Option<&str>| {
        let of = families
            .iter()
            .zip(&judged)
            .filter(|it| name.is_none_or(|name| it.0.mean.name == name));
        of.flat_map(|(_, judged)| judged).copied().fold(f64::NEG_INFINITY, f64::max)
    };
    let of_all = largest(None);
    let mut components = Vec::new();
    for (place, (family, judged)) in families.iter().zip(&judged).enumerate() {
        let name = family.mean.name.as_str();
        let of_name = prior.views.contains(&name).then(|| largest(Some(name)));
        for (pair, &weight) in judged.iter().enumerate() {
            if weight > of_all + FAINT_AT_FIRST.ln()
                || of_name.is_some_and(|largest| weight > largest + FAINT.ln())
            {
                components.extend(family.components((place, pair), data, temper));
            }
        }
    }
    (families, components)
}

/// Logarithms of weights become weights that add up to 1; components that are faint are left out, and
/// returned.
fn normalise(components: &mut Vec<Component>) -> Vec<Component> {
    let largest = components.iter().map(|it| it.log_weight).fold(f64::NEG_INFINITY, f64::max);
    components.iter_mut().for_each(|it| it.weight = (it.log_weight - largest).exp());
    let faint = components.extract_if(.., |it| it.weight <= FAINT).collect();
    let total: f64 = components.iter().map(|it| it.weight).sum();
    components.iter_mut().for_each(|it| it.weight /= total);
    faint
}

#[cfg(test)]
mod tests;
