//! The sentence that a prediction is for: run (m, p), it takes about so long, and that choice costs
//! at most so much.

use serde::Serialize;

use crate::posterior::{Posterior, Share};
use crate::solve::{Choice, Confirmation, Ranking};

/// The sentence, what to run before relying on it, and what it all rests on.
pub fn text(ranking: &Ranking, posterior: &Posterior) -> String {
    let fastest = posterior.observations().fastest();
    let measured = fastest.map_or_else(String::new, |it| {
        format!("The fastest that was timed is {} with {}.\n", it.mapping, it.time)
    });
    format!("{}\n{}{measured}{}", sentence(&ranking.choice), before(&ranking.choice), basis(posterior))
}

/// The choice and what it may cost.
pub fn sentence(choice: &Choice) -> String {
    let Choice { mapping, time, low, high, .. } = choice;
    let cost = match choice.costs_at_most {
        Some(cost) if cost < 5e-4 => "nothing else comes near it (95 %)".into(),
        Some(cost) => format!("it costs at most {} more than the fastest (95 %)", percent(cost)),
        None => "what it may cost is not known".into(),
    };
    format!("Run {mapping}: it takes about {time} ({low} .. {high}), and {cost}.")
}

/// What to run before relying on the choice; nothing where it is settled.
fn before(choice: &Choice) -> String {
    let runs: Vec<String> = choice.confirm.iter().map(|it| it.mapping.to_string()).collect();
    let Some(last) = choice.confirm.last() else { return String::new() };
    format!(
        "Before relying on it, time {}: what the choice is expected to cost falls from {} to {}.\n",
        runs.join(" and "),
        percent(choice.expected_cost),
        percent(last.expected_cost)
    )
}

/// What predictions rest on: the runs and the means, or a misfit that is stated.
pub fn basis(posterior: &Posterior) -> String {
    let misfit = percent(posterior.misfit());
    let shares = posterior.shares();
    let Basis { timed, runs, .. } = Basis::new(posterior);
    if timed == 0 {
        let mean = shares.first().map_or("", |share| share.mean.as_str());
        return format!(
            "No run tells how far {mean} is off: +- {misfit}, as such models have been elsewhere \
             (--model-error).\n"
        );
    }
    let named: Vec<String> = shares
        .iter()
        .filter(|share| share.weight >= NOTABLE)
        .map(|share| format!("{} {:.0} %", share.mean, 100.0 * share.weight))
        .collect();
    let configurations = if timed == 1 { "configuration" } else { "configurations" };
    format!(
        "From {timed} timed {configurations} ({runs}), weighing {}; these are off by some {misfit}.\n",
        named.join(", ")
    )
}

/// Means with less weight are not named.
const NOTABLE: f64 = 0.05;

/// As `3.1 %` or `0.04 %`.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// The choice for programs.
#[derive(Serialize)]
pub struct Json {
    m: u32,
    p: u32,
    time_s: f64,
    low_s: f64,
    high_s: f64,
    is_measured: bool,
    expected_cost: f64,
    /// 95 % of the draws cost no more; relative to the fastest.
    costs_at_most: Option<f64>,
    /// What to run before relying on it.
    confirm: Vec<Run>,
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
            m: choice.mapping.m(),
            p: choice.mapping.p(),
            time_s: choice.time.0,
            low_s: choice.low.0,
            high_s: choice.high.0,
            is_measured: choice.is_measured,
            expected_cost: choice.expected_cost,
            costs_at_most: choice.costs_at_most,
            confirm: choice.confirm.iter().map(run).collect(),
            sentence: sentence(choice),
        }
    }
}

/// What it all rests on, for programs.
#[derive(Serialize)]
pub struct Basis {
    /// Configurations that were timed.
    timed: usize,
    /// The file that they come from.
    runs: String,
    /// Relative standard deviation of what the means are off.
    misfit: f64,
    /// Relative standard deviation of a single run.
    noise: f64,
    means: Vec<Share>,
}

impl Basis {
    pub fn new(posterior: &Posterior) -> Self {
        let observations = posterior.observations();
        Self {
            timed: observations.configurations.len(),
            runs: observations.source.clone(),
            misfit: posterior.misfit(),
            noise: posterior.noise_variance().sqrt(),
            means: posterior.shares(),
        }
    }
}
