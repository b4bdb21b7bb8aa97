//! What a posterior is made from: what files say, which runs there are, and what else is known.
//!
//! Where files give values, every mean has all that they give, and means differ in what they add to
//! it. Where runs alone speak, the means are sums of terms that they determine. Either has weights
//! that were learnt, by expectation maximisation over programs whose times are known.

use std::sync::Arc;

#[cfg(doc)]
use super::form::Form;
use super::levels::Levels;
use super::means::{SUMS, kinks, regressor_of, regressors, spanning};
use super::scatter::{ScatterGrid, Weights};
use super::work::{AlphaGrowth, Work};
use super::{FLAT, TEMPER_OF_FILES, TEMPER_OF_RUNS};
use crate::models::observations::{Evidence, Observations};
use crate::models::parameters::{Decomposition, NOT_MEASURED, Parameters, Terms};
use crate::models::refined::Refined;
use crate::models::terms::Term;
use crate::models::time_model::{self, TimeModel};
use crate::models::traced::Traced;
use mmgp_base::error::{Error, Result};
use mmgp_base::quantity::Quantity;

/// What a posterior is made from.
#[derive(Clone)]
pub struct Prior {
    pub(super) work: Work,
    /// Models with values from files, each with how likely it is beside the others.
    pub(super) known: Vec<(Arc<dyn TimeModel>, f64)>,
    /// Models with values from files that are used only where one of them is asked for by name.
    further: Vec<Arc<dyn TimeModel>>,
    /// The terms that no file knows.
    pub(super) unknown: Vec<Term>,
    /// How alpha grows where no file knows it, where that is stated.
    pub(super) growth: Option<AlphaGrowth>,
    /// The only mean to use, by name; `None` for all of them.
    pub(super) only: Option<String>,
    /// Means that are to be looked at alone, however little they count, by name.
    pub(super) views: &'static [&'static str],
    /// How far means are off, where that is stated.
    pub(super) misfit: Option<f64>,
    /// Hardware threads of the machine that runs it, where they are known.
    pub(super) cores: Option<u32>,
    /// Levels of further factors.
    pub(super) levels: Levels,
    /// What was measured of runs; `None` where nothing says so.
    pub(super) quantity: Option<Quantity>,
    /// Runs that the parameters were fitted with.
    pub(super) evidence: Option<Observations>,
}

/// How likely equation 11 is beside the refined model, where a file has the terms of both.
const BESIDE_REFINED: f64 = 0.5;

impl Prior {
    /// Prior of nothing but runs of a program whose work is divided so.
    pub fn of_runs(decomposition: Decomposition) -> Self {
        Self {
            work: Work::of(decomposition),
            known: Vec::new(),
            further: Vec::new(),
            unknown: Vec::new(),
            growth: None,
            only: None,
            views: &[],
            misfit: None,
            cores: None,
            levels: Levels::none(),
            quantity: None,
            evidence: None,
        }
    }

    /// Prior of a model as it stands.
    pub fn of_model(model: Arc<dyn TimeModel>) -> Self {
        let mut prior = Self::of_runs(Decomposition::Data);
        prior.known.push((model, 1.0));
        prior
    }

    /// Prior of parameters: what files say of them, and the runs that they were fitted with. Where there
    /// are refined terms, the refined model stands beside equation 11; without runs to choose between them,
    /// in its place.
    pub fn of(parameters: &Parameters) -> Self {
        let mut prior = Self::of_runs(parameters.decomposition);
        prior.quantity = Some(parameters.quantity.clone());
        let mut base = parameters.clone();
        match &parameters.evidence {
            Some(Evidence { observations, before }) => {
                prior.evidence = Some(observations.clone());
                let Some(before) = before else { return prior };
                base.terms = before.terms.clone();
                base.correlation.clone_from(&before.correlation);
                base.evidence = None;
                prior.unknown.clone_from(&before.unknown);
            }
            None => prior.unknown = not_measured(&base.terms),
        }
        prior.knowing(base)
    }

    /// The same with what files say in parameters, and not the runs that they were fitted with.
    #[must_use]
    pub fn with_files(self, parameters: &Parameters) -> Self {
        let (unknown, quantity) =
            (not_measured(&parameters.terms), Some(parameters.quantity.clone()));
        Self { unknown, quantity, ..self }
            .knowing(Parameters { evidence: None, ..parameters.clone() })
    }

    /// Adds what files say of the terms.
    fn knowing(mut self, base: Parameters) -> Self {
        let prior = &mut self;
        prior.work = Work::knowing(&base, &prior.unknown);
        if let Some(traced) = Traced::of(&base) {
            // It has all parts of the time, those that equation 11 leaves out among them.
            prior.unknown.clear();
            prior.known.push((Arc::new(traced), 1.0));
            prior.further.push(Arc::new(base));
            return self;
        }
        let refined = Refined::of(&base);
        let beside = if refined.is_some() { BESIDE_REFINED } else { 1.0 };
        prior.known.extend(refined.map(|refined| (Arc::new(refined) as Arc<dyn TimeModel>, 1.0)));
        prior.further = time_model::further(&base).into_iter().map(Arc::from).collect();
        prior.known.push((Arc::new(base), beside));
        self
    }

    /// Prior of equation 11 alone, given what files say of some of its terms, whether or not these make up
    /// any time; alpha grows as is stated where they do not know it.
    pub(crate) fn of_terms(
        base: &Parameters,
        unknown: &[Term],
        growth: Option<AlphaGrowth>,
    ) -> Self {
        let base = Parameters { refinements: None, traced: None, evidence: None, ..base.clone() };
        let mut prior = Self::of_runs(base.decomposition);
        prior.growth = growth;
        prior.only = Some(TimeModel::name(&base).into());
        if Term::all().all(|term| term.is_count() || unknown.contains(&term)) {
            return prior;
        }
        prior.unknown = unknown.to_vec();
        prior.knowing(base)
    }

    /// What files say the time is, where they say anything.
    pub fn of_files(&self) -> Option<&dyn TimeModel> {
        self.known.first().map(|(model, _)| &**model)
    }

    /// How the work is divided.
    pub fn decomposition(&self) -> Decomposition {
        self.work.decomposition
    }

    /// Keeps one mean alone, by its name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] where there is none of that name.
    pub fn only(self, name: &str) -> Result<Self> {
        if let Some(model) = self.further.iter().find(|model| model.name() == name) {
            return Ok(Self { known: vec![(Arc::clone(model), 1.0)], ..self });
        }
        let known = self.names();
        if !known.iter().any(|known| known == name) {
            return Err(Error::unknown_name("model", name, known));
        }
        Ok(Self { only: Some(name.into()), ..self })
    }

    /// Adds means that are to be looked at alone, by name.
    pub(crate) fn with_views(self, views: &'static [&'static str]) -> Self {
        Self { views, ..self }
    }

    /// The names of all means, whether or not there are runs for them.
    fn names(&self) -> Vec<String> {
        let of_files = self.known.iter().map(|(model, _)| model.name().to_string());
        let further = self.further.iter().map(|model| model.name().to_string());
        let mut names: Vec<String> = of_files.chain(further).collect();
        let kinks = kinks(1).map(|(name, _)| name);
        let kinks = kinks.into_iter().filter(|_| self.cores.is_some());
        for name in SUMS.iter().map(|sum| sum.name).chain(kinks).chain([FLAT]) {
            if !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
        names
    }

    /// States the size of the misfit, relative, in the place of what other programs had: 0 where a mean is
    /// exactly right.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a size below 0 or above 3.
    pub fn with_misfit(self, misfit: f64) -> Result<Self> {
        if (0.0..=3.0).contains(&misfit) {
            return Ok(Self { misfit: Some(misfit), ..self });
        }
        let expected = "a relative error of at least 0 and at most 3, as 0.1";
        Err(Error::out_of_range("misfit", misfit.to_string(), expected))
    }

    /// States the hardware threads of the machine: where runs asked for more, their work is divided by no
    /// more than there are. At least one.
    #[must_use]
    pub fn with_cores(self, cores: u32) -> Self {
        Self { cores: Some(cores.max(1)), ..self }
    }

    /// States the levels of further factors that runs have.
    #[must_use]
    pub fn with_levels(self, levels: Levels) -> Self {
        Self { levels, ..self }
    }

    /// The same without models by which nothing takes any time, as where files know a cost and nobody how
    /// often the program pays it: beside runs they say nothing.
    pub(super) fn about(&self, observations: &Observations) -> Self {
        let mut prior = self.clone();
        if !observations.configurations.is_empty() && self.only.is_none() {
            prior.known.retain(|(model, _)| {
                spanning(model.apus()).into_iter().any(|mapping| model.time(mapping).0 > 0.0)
            });
        }
        prior
    }

    /// Whether files say anything of the program's time.
    pub(super) fn has_files(&self) -> bool {
        !self.known.is_empty()
    }

    /// The terms that no file knows, where files know others, each with its place among all that
    /// [`Form::sizes`] has.
    pub(super) fn untold(&self) -> Vec<(Term, usize)> {
        let unknown = if self.has_files() { &self.unknown[..] } else { &[] };
        let regressors = regressors(unknown, &self.work);
        let place = |&term: &Term| {
            let place =
                regressors.iter().position(|known| *known == regressor_of(term, &self.work));
            (term, place.expect("invariant: every term has its regressor among them"))
        };
        unknown.iter().map(place).collect()
    }

    /// The models of files.
    pub(super) fn models(&self) -> impl Iterator<Item = &Arc<dyn TimeModel>> {
        self.known.iter().map(|(model, _)| model)
    }

    /// Power by which evidence is tempered: of runs that means only come near to, it makes too much.
    pub(super) fn temper(&self) -> f64 {
        if self.has_files() { TEMPER_OF_FILES } else { TEMPER_OF_RUNS }
    }

    /// How far the mean is off, about some runs.
    pub(super) fn grid(&self, mean: &str, observations: &Observations) -> ScatterGrid {
        let weights = if self.has_files() { &Weights::WITH_FILES } else { &Weights::OF_RUNS };
        let grid = match self.misfit {
            _ if mean == FLAT => ScatterGrid::over_nothing(weights, observations),
            Some(size) => ScatterGrid::stated(size, observations),
            None => ScatterGrid::over_a_mean(weights, observations),
        };
        if self.levels.is_one() { grid } else { grid.between_levels() }
    }

    pub(super) fn is_wanted(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }
}

/// The terms of files that no file determines.
fn not_measured(terms: &Terms) -> Vec<Term> {
    let is_unknown = |term: &Term| {
        let mut estimates = terms.value(*term).estimates.iter();
        estimates.any(|estimate| estimate.source.as_deref() == Some(NOT_MEASURED))
    };
    Term::all().filter(is_unknown).collect()
}
