//! `mmgp predict --per-phase`

use clap::Args;
use serde::Serialize;

use super::Asked;
use super::rows::Rows;
use crate::cli::output::warn;
use crate::decide::{Changes, Plan, plan_phases};
use crate::error::Result;
use crate::units::Seconds;

#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct PhaseArguments {
    /// Choose an own p for each of the [[phases]] of the parameters, for every m
    #[arg(long, group = "question", conflicts_with = "m")]
    per_phase: bool,
    /// What every change of p from one phase to the next costs [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "per_phase")]
    change_cost: f64,
    /// How often the phases follow one another; their terms are totals over all rounds
    #[arg(long, value_name = "R", default_value_t = 1, requires = "per_phase")]
    phase_rounds: u32,
}

impl PhaseArguments {
    /// What changes cost, where the question is asked.
    pub fn asked(&self) -> Option<Changes> {
        let changes = Changes { cost: Seconds(self.change_cost), rounds: self.phase_rounds };
        self.per_phase.then_some(changes)
    }
}

#[derive(Serialize)]
struct Json<'a> {
    phases: Vec<&'a str>,
    change_cost_s: f64,
    rounds: u32,
    plans: Vec<JsonPlan<'a>>,
}

#[derive(Serialize)]
struct JsonPlan<'a> {
    m: u32,
    p: &'a [u32],
    time_s: f64,
    low_s: f64,
    high_s: f64,
    changes: u64,
    single_p: u32,
    single_p_time_s: f64,
}

pub fn text(asked: &Asked<'_>, changes: Changes) -> Result<String> {
    let answer = plan_phases(&*asked.model, &asked.constraints, changes)?;
    warn(&answer.warnings);
    let plans = &answer.plans;
    let shown = &plans[..plans.len().min(asked.shown)];
    let phases: Vec<&str> =
        asked.parameters.phases.iter().map(|phase| phase.name.as_str()).collect();
    let rows = Rows {
        rows: shown,
        people: (
            &["m", "p by phase", "time", "95 % interval", "changes", "one p", "time with one p"],
            for_people,
        ),
        programs: (
            &["m", "p", "time_s", "low_s", "high_s", "changes", "single_p", "single_p_time_s"],
            for_programs,
        ),
        preface: format!("p for the phases {}\n\n", phases.join(", ")),
        json: Json {
            change_cost_s: changes.cost.0,
            rounds: changes.rounds,
            plans: shown.iter().map(json).collect(),
            phases,
        },
    };
    Ok(rows.text(asked.format))
}

fn json(plan: &Plan) -> JsonPlan<'_> {
    JsonPlan {
        m: plan.m,
        p: &plan.ps,
        time_s: plan.time.0,
        low_s: plan.low.0,
        high_s: plan.high.0,
        changes: plan.changes,
        single_p: plan.single.0,
        single_p_time_s: plan.single.1.0,
    }
}

/// As `8 1 8`.
fn ps(plan: &Plan) -> String {
    plan.ps.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn for_people(plan: &Plan) -> Vec<String> {
    let interval = format!("{} .. {}", plan.low, plan.high);
    vec![
        plan.m.to_string(),
        ps(plan),
        plan.time.to_string(),
        if plan.low < plan.high { interval } else { "-".into() },
        plan.changes.to_string(),
        plan.single.0.to_string(),
        plan.single.1.to_string(),
    ]
}

fn for_programs(plan: &Plan) -> Vec<String> {
    vec![
        plan.m.to_string(),
        ps(plan),
        plan.time.0.to_string(),
        plan.low.0.to_string(),
        plan.high.0.to_string(),
        plan.changes.to_string(),
        plan.single.0.to_string(),
        plan.single.1.0.to_string(),
    ]
}
