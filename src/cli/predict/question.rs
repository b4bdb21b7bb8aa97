//! The question that `mmgp predict` answers: of which parameters, runs and configurations; what if terms were
//! others; and errors of the library in the words of its flags.

use std::sync::Arc;

use clap::Args;

use super::Arguments;
use crate::Mapping;
use crate::answer::Object;
use crate::belief::{Posterior, Prior};
use crate::cli::input;
use crate::cli::objective::{self, configuration};
use crate::cli::output::{Format, warn};
use crate::decide::{self, Candidates, Constraints, Ranking, Sampling, Scale, rank, scaled};
use crate::error::{Error, Result, shortened};
use crate::models::Parameters;
use crate::models::observations::Observations;
use crate::models::refined::Refined;
use crate::models::time_model::{self, TimeModel};
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::table::Source;
use crate::units::Seconds;

/// What every question is asked of.
pub struct Question<'a> {
    /// The parameters as the file has them.
    pub given: &'a Parameters,
    /// The parameters with another machine, and scaled.
    pub parameters: Parameters,
    /// The model whose terms and structure a question is about.
    pub model: Arc<dyn TimeModel>,
    /// What is believed of the times.
    pub posterior: Posterior,
    /// The same before terms were scaled, where any were.
    pub unchanged: Option<Posterior>,
    /// What may be chosen.
    pub constraints: Constraints,
    /// Whether more than what was timed is asked for.
    pub is_machine_given: bool,
    /// Whether every integer between those that ran is asked for.
    pub is_every: bool,
    /// The draws behind probabilities and regrets.
    pub sampling: Sampling,
    /// How to print the answer.
    pub format: Format,
    /// How many answers to print.
    pub shown: usize,
}

impl Question<'_> {
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

    /// The configurations in question that are weighed, with a warning where others are not.
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
    /// The question that the flags ask.
    pub fn question<'a>(&self, given: &'a Parameters) -> Result<Question<'a>> {
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
            of(given)?.what_if(self.question_model(given)?, Arc::clone(&model))
        } else {
            changed
        };
        Ok(Question {
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
    fn question_model(&self, parameters: &Parameters) -> Result<Arc<dyn TimeModel>> {
        let refined = Refined::of(parameters);
        let name = match self.model.as_deref() {
            Some(name) if time_model::is_named(name) => name,
            None if refined.is_some() => time_model::REFINED,
            _ => time_model::EQUATION_11,
        };
        time_model::named(name, parameters).map(Arc::from)
    }
}

/// The flags of what if.
#[derive(Args)]
#[command(next_help_heading = "What if")]
pub struct WhatIfArguments {
    /// What if a term were so many times as large: o_offload_s=0.5; repeatable. Its standard error
    /// scales with it; of alpha, the excess over 1 does. `alpha(8)` is one entry of a table
    #[arg(long, value_name = "TERM=FACTOR", value_parser = scale)]
    scale: Vec<Scale>,
}

fn scale(text: &str) -> std::result::Result<Scale, String> {
    let (term, factor) =
        text.split_once('=').ok_or("expected a term and a factor, as t_apu_s=4")?;
    match factor.parse() {
        Ok(factor) => Ok(Scale { term: term.into(), factor }),
        Err(_) => Err(format!("{:?} is no number", shortened(factor))),
    }
}

impl WhatIfArguments {
    /// The parameters with their terms scaled.
    pub fn scaled(&self, parameters: &Parameters) -> Result<Parameters> {
        scaled(parameters, &self.scale)
    }
}

/// The best as things are beside the best as they would be.
pub struct WhatIf {
    as_given: PredictedTime,
    changed: PredictedTime,
    /// The configuration that is best as given, after the change; none where it is not feasible.
    as_given_after_change: Option<PredictedTime>,
    objective: Objective,
}

/// A configuration and its predicted time.
type PredictedTime = (Mapping, Seconds);

impl WhatIf {
    /// The comparison, where anything is changed and the constraints leave something as given.
    pub fn of(question: &Question<'_>, changed: &Ranking) -> Result<Option<Self>> {
        let Question { given, parameters, posterior, .. } = question;
        if parameters == *given {
            return Ok(None);
        }
        let Some(before) = question.as_given()? else { return Ok(None) };
        let was = before.choice;
        let kept = changed.configurations.iter().find(|it| it.mapping == was.mapping);
        Ok(Some(Self {
            as_given: (was.mapping, was.time),
            changed: (changed.choice.mapping, changed.choice.time),
            as_given_after_change: kept.map(|it| (it.mapping, it.time)),
            objective: posterior.objective().clone(),
        }))
    }

    /// The comparison for programs.
    pub fn object(&self) -> Object {
        let told = |it: PredictedTime| {
            configuration(it.0).followed_by(objective::amount(&self.objective, Some(it)))
        };
        Object::new()
            .with("as_given", told(self.as_given))
            .with("changed", told(self.changed))
            .with("as_given_after_change", self.as_given_after_change.map(told))
    }

    /// The comparison in words.
    pub fn sentence(&self) -> String {
        let Self { as_given, changed, as_given_after_change, objective } = self;
        let amount =
            |&(mapping, time): &PredictedTime| objective.shown(objective.amount(mapping, time));
        let product = |it: &PredictedTime| it.1.0 * objective.factor(it.0);
        // How much worse than the best after the change, relative to that.
        let above = |it: &PredictedTime| product(it) / product(changed) - 1.0;
        let mut sentence = format!(
            "As given, the best is {} with {}; changed, {} with {}, {:.2} times as {}.",
            as_given.0,
            amount(as_given),
            changed.0,
            amount(changed),
            1.0 + above(as_given),
            if objective.is_measured() { "fast" } else { "good" },
        );
        if as_given.0 != changed.0 {
            let (takes, more) = match objective.is_time() {
                true => ("take", "more"),
                false => ("mean", "worse"),
            };
            sentence += &match as_given_after_change {
                Some(kept) => format!(
                    " Staying with {} would {takes} {}, {:.1} % {more}.",
                    kept.0,
                    amount(kept),
                    100.0 * above(kept)
                ),
                None => format!(" {} is not feasible then.", as_given.0),
            };
        }
        sentence
    }
}

/// What the library calls something, and the flag that sets it.
const FLAGS: [(&str, &str); 15] = [
    ("min_m", "--min-m"),
    ("max_m", "--max-m"),
    ("min_p", "--min-p"),
    ("max_p", "--max-p"),
    ("m_divides", "--m-divides"),
    ("p_divides", "--p-divides"),
    ("apus_per_chip", "--apus-per-chip"),
    ("where", "--where"),
    ("configurations", "--configurations"),
    ("misfit", "--misfit"),
    ("host_factor", "--host-factor"),
    ("change_cost", "--change-cost"),
    ("rounds", "--phase-rounds"),
    ("per_message", "--node-overhead"),
    ("per_step", "--node-collective"),
];

/// The same error with flags for the names of what they set.
pub fn translated(error: Error) -> Error {
    let flag = |name: &'static str| {
        FLAGS.iter().find(|(known, _)| *known == name).map_or(name, |(_, flag)| *flag)
    };
    match error {
        Error::NothingFeasible { apus, constraints } => {
            let of_flags = constraints.into_iter().map(|(name, value)| (flag(name), value));
            Error::NothingFeasible { apus, constraints: of_flags.collect() }
        }
        Error::OutOfRange { name, found, expected } => {
            let name = flag(name).trim_start_matches('-');
            let words = FLAGS.iter().fold(expected, |text, (known, flag)| {
                if known.contains('_') { text.replace(known, flag) } else { text }
            });
            Error::out_of_range(name, found, words)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Changes, plan_phases};
    use crate::models::published;

    #[test]
    fn what_the_library_names_is_told_by_its_flag() {
        let told =
            |constraints: Constraints| translated(constraints.space(16).unwrap_err()).to_string();
        assert_eq!(
            told(Constraints::NONE.min_m(3).min_p(8).max_p(9)),
            "no (m, p) of 16 APUs meets --min-m 3 and --min-p 8 together; relax one of them"
        );
        assert_eq!(
            told(Constraints::NONE.apus_per_chip(0)),
            "apus-per-chip: found 0, expected a whole number of at least 1"
        );
    }

    #[test]
    fn what_would_help_is_told_by_its_flag() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.apus = 3_000_000;
        let terms = parameters.terms.clone();
        let phase = crate::models::parameters::Phase {
            name: "all".into(),
            t_hpu_s: terms.t_hpu_s,
            t_apu_s: terms.t_apu_s,
            c_apu_s: terms.c_apu_s,
            offloads: terms.offloads,
            g_s: terms.g_s,
            collectives: terms.collectives,
        };
        parameters.phases = vec![phase];
        let mut changes = Changes { cost: Seconds(0.0), rounds: 1 };
        let told = |changes: Changes| {
            let error = plan_phases(&parameters, &Constraints::NONE, changes).unwrap_err();
            translated(error).to_string()
        };
        assert_eq!(
            told(changes),
            "apus: found 3000000 numbers of APUs for each of 1 phases, expected fewer; see --max-p \
             and --p-divides"
        );
        changes.rounds = 0;
        assert_eq!(told(changes), "phase-rounds: found 0, expected at least 1");
    }
}
