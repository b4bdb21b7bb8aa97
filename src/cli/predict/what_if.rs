//! `mmgp predict --scale TERM=FACTOR`: what if the machine or the problem were another?

use clap::Args;
use serde::Serialize;

use super::Asked;
use crate::Mapping;
use crate::decide::{Ranking, Scale, scaled};
use crate::error::{Result, shortened};
use crate::models::Parameters;
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

impl WhatIf {
    /// The comparison, where anything is changed and the constraints leave something as given.
    pub fn of(asked: &Asked<'_>, changed: &Ranking) -> Result<Option<Self>> {
        let Asked { given, parameters, .. } = asked;
        if parameters == *given {
            return Ok(None);
        }
        let Some(before) = asked.as_given()? else { return Ok(None) };
        let was = before.choice;
        let place = |mapping: Mapping, time: Seconds| Place {
            m: mapping.m(),
            p: mapping.p(),
            time_s: time.0,
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
