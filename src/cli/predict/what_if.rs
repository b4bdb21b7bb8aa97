//! `mmgp predict --scale TERM=FACTOR`: what if the machine or the problem were another?

use clap::Args;
use serde::Serialize;

use super::Asked;
use crate::error::{Result, shortened};
use crate::model::{Parameters, time_model};
use crate::solve::best::{Candidate, within};
use crate::solve::{Scale, scaled};
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

#[derive(Serialize)]
struct Place {
    m: u32,
    p: u32,
    time_s: f64,
}

impl From<Candidate> for Place {
    fn from(Candidate { time, mapping }: Candidate) -> Self {
        Self { m: mapping.m(), p: mapping.p(), time_s: time.0 }
    }
}

impl WhatIf {
    /// The comparison, where anything is changed and the constraints leave something as given.
    pub fn of(asked: &Asked<'_>) -> Result<Option<Self>> {
        let Asked { given, parameters, model, constraints, .. } = asked;
        let Ok(given_space) = constraints.space(given.apus) else { return Ok(None) };
        if parameters == *given {
            return Ok(None);
        }
        let space = constraints.space(parameters.apus)?;
        let before = time_model::named(model.name(), given)?;
        let [was] = within(&*before, &given_space, 1)[..] else { return Ok(None) };
        let [is] = within(&**model, &space, 1)[..] else { return Ok(None) };
        let mapping = was.mapping;
        let kept = space.contains(mapping);
        let kept = kept.then(|| Place::from(Candidate { time: model.time(mapping), mapping }));
        Ok(Some(Self { as_given: was.into(), changed: is.into(), as_given_after_change: kept }))
    }

    /// The comparison in words.
    pub fn sentence(&self) -> String {
        let Self { as_given, changed, as_given_after_change } = self;
        let seconds = |place: &Place| Seconds(place.time_s);
        let mut sentence = format!(
            "As given, the best is ({}, {}) with {}; changed, ({}, {}) with {}, {:.2} times as \
             fast.",
            as_given.m,
            as_given.p,
            seconds(as_given),
            changed.m,
            changed.p,
            seconds(changed),
            as_given.time_s / changed.time_s,
        );
        if (as_given.m, as_given.p) != (changed.m, changed.p) {
            sentence += &match as_given_after_change {
                Some(kept) => format!(
                    " Staying with ({}, {}) would take {}, {:.1} % more.",
                    kept.m,
                    kept.p,
                    seconds(kept),
                    100.0 * (kept.time_s / changed.time_s - 1.0),
                ),
                None => format!(" ({}, {}) is not feasible then.", as_given.m, as_given.p),
            };
        }
        sentence
    }
}
