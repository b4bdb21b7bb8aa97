//! What the questions of `mmgp predict` are asked of.

use std::rc::Rc;

use super::Arguments;
use crate::Mapping;
use crate::belief::{Posterior, Prior};
use crate::cli::input;
use crate::cli::output::{Format, warn};
use crate::decide::{self, Candidates, Constraints, Ranking, Sampling, rank};
use crate::error::Result;
use crate::models::Parameters;
use crate::models::observations::Observations;
use crate::models::refined::Refined;
use crate::models::time_model::{self, TimeModel};
use crate::quantity::Quantity;
use crate::table::Source;

/// What every question is asked of.
pub struct Asked<'a> {
    /// As the file has them.
    pub given: &'a Parameters,
    /// With another machine, and scaled.
    pub parameters: Parameters,
    /// The model whose terms and structure a question is about.
    pub model: Rc<dyn TimeModel>,
    /// What is believed of the times.
    pub posterior: Posterior,
    /// The same before terms were scaled, where any were.
    pub unchanged: Option<Posterior>,
    pub constraints: Constraints,
    /// Whether more than what was timed is asked for.
    pub is_machine_given: bool,
    /// Whether every integer between those that ran is.
    pub is_every: bool,
    pub sampling: Sampling,
    pub format: Format,
    /// How many answers to print.
    pub shown: usize,
}

impl Asked<'_> {
    /// What was measured.
    pub fn quantity(&self) -> &Quantity {
        self.posterior.objective().quantity()
    }

    /// How many answers to print for people, so many where they do not say.
    pub fn shown_to_people(&self, usual: usize) -> usize {
        if self.shown == usize::MAX { usual } else { self.shown }
    }

    /// The configurations in question.
    pub fn candidates(&self) -> Result<Candidates> {
        let apus = self.parameters.apus;
        if self.is_every {
            decide::every(&self.posterior, &self.constraints, apus)
        } else if self.is_machine_given {
            decide::allowed(&self.posterior, &self.constraints, apus)
        } else {
            decide::candidates(&self.posterior, &self.constraints, apus)
        }
    }

    /// Those of them that are weighed, with a word where others are not.
    pub fn mappings(&self) -> Result<Vec<Mapping>> {
        let candidates = self.candidates()?;
        warn(candidates.warning().as_slice());
        Ok(candidates.mappings)
    }

    /// The ranking before anything was changed; `None` where nothing is feasible then.
    pub fn as_given(&self) -> Result<Option<Ranking>> {
        let posterior = match &self.unchanged {
            Some(posterior) => posterior,
            None => &self.posterior,
        };
        match decide::candidates(posterior, &self.constraints, self.given.apus) {
            Ok(before) => rank(posterior, &before.mappings, self.sampling).map(Some),
            Err(_) => Ok(None),
        }
    }
}

impl Arguments {
    pub fn asked<'a>(&self, given: &'a Parameters) -> Result<Asked<'a>> {
        let mut parameters = self.what_if.scaled(given)?;
        if let Some(name) = &self.machine {
            parameters.apus = input::machine(name)?.layout.spes();
        }
        parameters.apus = self.apus.unwrap_or(parameters.apus);
        let mut warnings = Vec::new();
        let observations = match &self.runs.runs {
            Some(path) => {
                let source = Source::read_any(path)?;
                let runs = self.runs.measuring(self.best.objective.as_deref());
                let (observations, more) = input::observations_in(&source, &runs)?;
                warnings.extend(more);
                Some(observations)
            }
            None => None,
        };
        let rate = observations.as_ref().map(|it: &Observations| &it.quantity);
        let quantity = rate.unwrap_or(&given.quantity);
        let objective = self.best.objective(quantity, self.node_size.per_node)?;
        let columns = self.runs.said.columns.clone().unwrap_or_default();
        let bounds = self.constraints.bounds();
        let constraints = self.choice.added_to(bounds, &columns, &mut warnings)?;
        warn(&warnings);
        let is_conditioned = observations.is_some() || given.evidence.is_some();
        let is_scaled = parameters.terms != given.terms;
        let of = |parameters: &Parameters| -> Result<Posterior> {
            let mut prior = Prior::of(parameters);
            if let Some(misfit) = self.misfit {
                prior = prior.with_misfit(misfit)?;
            }
            if let Some(cores) = self.cores {
                prior = prior.with_cores(cores);
            }
            if let Some(name) = &self.model {
                prior = prior.only(name)?;
            }
            Ok(Posterior::new(&prior, observations.clone())?.towards(objective.clone()))
        };
        let unchanged = is_scaled.then(|| of(given)).transpose()?;
        let changed = of(&parameters)?;
        let model = self.question_model(&parameters)?;
        // The runs are of the program as it is: they cannot condition another.
        let posterior = if is_scaled && is_conditioned {
            of(given)?.what_if(self.question_model(given)?, Rc::clone(&model))
        } else {
            changed
        };
        Ok(Asked {
            given,
            parameters,
            model,
            posterior,
            unchanged,
            constraints,
            is_every: self.every,
            is_machine_given: self.apus.is_some() || self.machine.is_some(),
            sampling: Sampling::new(Sampling::USUAL_DRAWS, self.seed),
            format: self.format,
            shown: self.top.map_or(usize::MAX, |top| top as usize),
        })
    }

    /// The model of parameters that questions about terms are asked of.
    fn question_model(&self, parameters: &Parameters) -> Result<Rc<dyn TimeModel>> {
        let refined = Refined::of(parameters);
        let name = match self.model.as_deref() {
            Some(name) if time_model::NAMES.contains(&name) => name,
            None if refined.is_some() => time_model::NAMES[1],
            _ => time_model::NAMES[0],
        };
        time_model::named(name, parameters).map(Rc::from)
    }
}
