//! `mmgp predict --scale TERM=FACTOR`: what if the machine or the problem were another?

use clap::Args;
use serde::{Serialize, Serializer};

use super::Asked;
use crate::Mapping;
use crate::cli::objective::Fields;
use crate::decide::{Ranking, Scale, scaled};
use crate::error::{Result, shortened};
use crate::models::Parameters;
use crate::objective::Objective;
use crate::units::Seconds;

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
    pub fn scaled(&self, parameters: &Parameters) -> Result<Parameters> {
        scaled(parameters, &self.scale)
    }
}

/// The best as things are beside the best as they would be.
#[derive(Serialize)]
pub struct WhatIf {
    as_given: Place,
    changed: Place,
    /// The configuration that is best as given, after the change; none where it is not feasible.
    as_given_after_change: Option<Place>,
}

/// A configuration and what is predicted of it.
struct Place {
    mapping: Mapping,
    time: Seconds,
    objective: Objective,
}

impl Place {
    /// The objective with its unit.
    fn amount(&self) -> String {
        self.objective.shown(self.objective.amount(self.mapping, self.time))
    }

    /// How much worse it is than another, relative to that.
    fn above(&self, other: &Self) -> f64 {
        let product = |it: &Self| it.time.0 * it.objective.factor(it.mapping);
        product(self) / product(other) - 1.0
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self { mapping, time, objective } = self;
        Fields::default()
            .with("m", mapping.m())
            .with("p", mapping.p())
            .with_amount(objective, *mapping, *time)
            .serialize(serializer)
    }
}

impl WhatIf {
    /// The comparison, where anything is changed and the constraints leave something as given.
    pub fn of(asked: &Asked<'_>, changed: &Ranking) -> Result<Option<Self>> {
        let Asked { given, parameters, posterior, .. } = asked;
        if parameters == *given {
            return Ok(None);
        }
        let Some(before) = asked.as_given()? else { return Ok(None) };
        let was = before.choice;
        let place = |mapping: Mapping, time: Seconds| {
            let objective = posterior.objective().clone();
            Place { mapping, time, objective }
        };
        let kept = changed.configurations.iter().find(|it| it.mapping == was.mapping);
        Ok(Some(Self {
            as_given: place(was.mapping, was.time),
            changed: place(changed.choice.mapping, changed.choice.time),
            as_given_after_change: kept.map(|it| place(it.mapping, it.time)),
        }))
    }

    /// The comparison in words.
    pub fn sentence(&self) -> String {
        let Self { as_given, changed, as_given_after_change } = self;
        let is_measured = changed.objective.is_measured();
        let mut sentence = format!(
            "As given, the best is {} with {}; changed, {} with {}, {:.2} times as {}.",
            as_given.mapping,
            as_given.amount(),
            changed.mapping,
            changed.amount(),
            1.0 + as_given.above(changed),
            if is_measured { "fast" } else { "good" },
        );
        if as_given.mapping != changed.mapping {
            sentence += &match as_given_after_change {
                Some(kept) => {
                    let (amount, percent) = (kept.amount(), 100.0 * kept.above(changed));
                    let (takes, more) = match changed.objective.is_time() {
                        true => ("take", "more"),
                        false => ("mean", "worse"),
                    };
                    format!(
                        " Staying with {} would {takes} {amount}, {percent:.1} % {more}.",
                        kept.mapping
                    )
                }
                None => format!(" {} is not feasible then.", as_given.mapping),
            };
        }
        sentence
    }
}
