//! What stands above a ranking.

use serde::Serialize;

use crate::belief::Posterior;
use crate::cli::objective::Fields;
use crate::decide::{Choice, Confirmation, Ranking};

/// What to run and the sentence, the first first where it is worth it, and what it all rests on.
pub fn text(ranking: &Ranking, posterior: &Posterior) -> String {
    let choice = &ranking.choice;
    let mut lines = vec![choice.to_string()];
    let place = if choice.comes_after_runs() { 0 } else { 1 };
    if let Some(advice) = choice.advice() {
        lines.insert(place, advice);
    }
    let quantity = choice.objective.quantity();
    let fastest = posterior.observations().fastest().map(|it| {
        let shown = quantity.shown(it.time);
        let best = quantity.superlative();
        format!("The {best} that was timed is {} with {shown}.", it.mapping)
    });
    lines.extend(fastest);
    lines.join("\n") + "\n" + &basis(posterior)
}

/// What predictions rest on.
pub fn basis(posterior: &Posterior) -> String {
    let basis = posterior.basis();
    let flag = if basis.timed == 0 { " (--misfit)" } else { "" };
    format!("{basis}{flag}.\n")
}

/// The choice for programs.
#[derive(Serialize)]
pub struct Json {
    #[serde(flatten)]
    predicted: Fields,
    /// How likely it is within what may be given up for fewer cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability_within: Option<f64>,
    is_measured: bool,
    expected_cost: f64,
    /// 95 % of the draws cost no more; relative to the fastest.
    costs_at_most: Option<f64>,
    /// What to run before relying on it.
    confirm: Vec<Run>,
    /// Terms that nothing tells, where the choice rests on them.
    rests_on: Vec<&'static str>,
    sentence: String,
}

#[derive(Serialize)]
struct Run {
    m: u32,
    p: u32,
    expected_cost_then: f64,
}

impl Json {
    pub fn new(choice: &Choice) -> Self {
        let run = |&Confirmation { mapping, expected_cost, .. }: &Confirmation| Run {
            m: mapping.m(),
            p: mapping.p(),
            expected_cost_then: expected_cost,
        };
        Self {
            predicted: Fields::default()
                .with("m", choice.mapping.m())
                .with("p", choice.mapping.p())
                .with_amounts(
                    &choice.objective,
                    choice.mapping,
                    [choice.time, choice.low, choice.high],
                ),
            probability_within: choice.within.map(|it| it.probability),
            is_measured: choice.is_measured,
            expected_cost: choice.expected_cost,
            costs_at_most: choice.costs_at_most,
            confirm: choice.confirm.iter().map(run).collect(),
            rests_on: choice.rests_on.iter().map(|term| term.name()).collect(),
            sentence: choice.to_string(),
        }
    }
}
