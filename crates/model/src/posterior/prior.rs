//! What a posterior is made from: the means, and how far off they are expected to be.

use std::rc::Rc;

use super::mean::{Flat, Known, Mean, Shape, Sum};
use super::{FLAT, USUAL_MISFIT};
use crate::model::observations::{Evidence, Observations};
use crate::model::parameters::{Decomposition, Parameters};
use crate::model::refined::Refined;
use crate::model::terms::Term;
use crate::model::time_model::TimeModel;
use mmgp_base::error::{Error, Result};

/// What a posterior is made from.
#[derive(Clone)]
pub struct Prior {
    decomposition: Decomposition,
    /// Models with values from files, each with the terms that no file knows.
    known: Vec<(Rc<dyn TimeModel>, Vec<Shape>)>,
    /// The only mean to use, by name; `None` for all of them.
    only: Option<String>,
    misfit: f64,
    /// Runs that the parameters were fitted with.
    pub(super) evidence: Option<Observations>,
}

/// Equation 11 where no value of it comes from a file.
const FREE: &str = "mmgp";

/// The same beside values from files.
const FREE_BESIDE_FILES: &str = "mmgp-of-runs";

/// The means that runs alone determine, with the shapes of their terms.
const SUMS: [(&str, &[Shape]); 6] = [
    ("amdahl", &[Shape::One, Shape::Shared]),
    ("amdahl-2", &[Shape::One, Shape::PerThread, Shape::Shared]),
    ("usl", &[Shape::One, Shape::Shared, Shape::All]),
    (FREE, &[Shape::One, Shape::Threads, Shape::Shared, Shape::Apus]),
    (
        "mmgp+1/m+1/p",
        &[Shape::One, Shape::Threads, Shape::Shared, Shape::Apus, Shape::PerThread, Shape::PerApu],
    ),
    (
        "all-terms",
        &[
            Shape::One,
            Shape::Threads,
            Shape::Apus,
            Shape::PerThread,
            Shape::PerApu,
            Shape::Shared,
            Shape::All,
            Shape::SecondProcess,
        ],
    ),
];

impl Prior {
    /// Of nothing but runs of a program whose work is divided so.
    pub fn of_runs(decomposition: Decomposition) -> Self {
        Self { decomposition, known: Vec::new(), only: None, misfit: USUAL_MISFIT, evidence: None }
    }

    /// Of a model as it stands.
    pub fn of_model(model: Rc<dyn TimeModel>) -> Self {
        let mut prior = Self::of_runs(Decomposition::Data);
        prior.known.push((model, Vec::new()));
        prior
    }

    /// Of parameters: what files say of them, and the runs that they were fitted with. Where there are
    /// refined terms, the refined model stands beside equation 11; without runs to choose between
    /// them, in its place.
    pub fn of(parameters: &Parameters) -> Self {
        let mut prior = Self::of_runs(parameters.decomposition);
        let (base, unknown) = match &parameters.evidence {
            Some(Evidence { observations, before }) => {
                prior.evidence = Some(observations.clone());
                let Some(before) = before else { return prior };
                let mut base = parameters.clone();
                base.terms = before.terms.clone();
                base.correlation.clone_from(&before.correlation);
                base.evidence = None;
                (base, shapes(&before.unknown))
            }
            None => (parameters.clone(), Vec::new()),
        };
        if let Some(refined) = Refined::of(&base) {
            prior.known.push((Rc::new(refined), unknown.clone()));
        }
        prior.known.push((Rc::new(base), unknown));
        prior
    }

    /// With one mean alone, by its name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] where there is none of that name.
    pub fn only(self, name: &str) -> Result<Self> {
        let known = self.names();
        if !known.iter().any(|known| known == name) {
            return Err(Error::UnknownName { kind: "model", name: name.into(), known });
        }
        Ok(Self { only: Some(name.into()), ..self })
    }

    /// The names of all means, whether or not there are runs for them.
    fn names(&self) -> Vec<String> {
        let of_files = self.known.iter().map(|(model, _)| model.name().to_string());
        let mut names: Vec<String> = of_files.collect();
        for name in SUMS.iter().map(|(name, _)| *name).chain([FLAT]) {
            if !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
        names
    }

    /// With another size of the misfit, relative, above 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a size that is not above 0, or above 3.
    pub fn with_misfit(self, misfit: f64) -> Result<Self> {
        if misfit > 0.0 && misfit <= 3.0 {
            return Ok(Self { misfit, ..self });
        }
        let expected = "a relative error above 0 and at most 3, as 0.1".into();
        Err(Error::OutOfRange { name: "misfit", found: misfit.to_string(), expected })
    }

    /// Relative standard deviation of the misfit that is expected.
    pub(super) fn misfit(&self) -> f64 {
        self.misfit
    }

    /// The models of files.
    pub(super) fn models(&self) -> impl Iterator<Item = &Rc<dyn TimeModel>> {
        self.known.iter().map(|(model, _)| model)
    }

    /// All means about these runs.
    pub(super) fn means(&self, observations: &Observations) -> Vec<Box<dyn Mean>> {
        let is_wanted = |name: &str| self.only.as_ref().is_none_or(|only| only == name);
        let mut means: Vec<Box<dyn Mean>> = Vec::new();
        for (model, unknown) in self.known.iter().filter(|(model, _)| is_wanted(model.name())) {
            let model = Rc::clone(model);
            means.push(Box::new(Known::new(model, unknown, self.decomposition, observations)));
        }
        if observations.configurations.is_empty() {
            // Nothing tells them apart: the first is the most detailed.
            means.truncate(1);
            return means;
        }
        if !(means.is_empty() || self.only.is_none()) {
            return means;
        }
        for (name, shapes) in SUMS.into_iter().filter(|(name, _)| is_wanted(name)) {
            let is_equation_11 = name.starts_with(FREE);
            let decomposition =
                if is_equation_11 { self.decomposition } else { Decomposition::Data };
            let name =
                if name == FREE && !self.known.is_empty() { FREE_BESIDE_FILES } else { name };
            let sum = Sum::new((name, shapes), decomposition, observations);
            means.push(Box::new(if name == FREE { sum.preferred() } else { sum }));
        }
        if is_wanted(FLAT) {
            means.push(Box::new(Flat::new(observations)));
        }
        means
    }
}

/// What terms that no file knows may look like, each shape once.
fn shapes(unknown: &[Term]) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for term in unknown {
        let of_term: &[Shape] = match term {
            Term::ApuTime => &[Shape::Shared],
            Term::Gap => &[Shape::Apus],
            Term::Alpha | Term::CollectiveCost => &[Shape::FurtherThreads],
            // With alpha, whatever that is.
            Term::HpuTime => &[Shape::One, Shape::FurtherThreads],
            _ => &[Shape::One],
        };
        let new: Vec<Shape> = of_term.iter().copied().filter(|it| !shapes.contains(it)).collect();
        shapes.extend(new);
    }
    shapes
}
