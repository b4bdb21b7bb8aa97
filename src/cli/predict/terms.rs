//! Questions of `mmgp predict` that are about the terms of the model: `--explain`, `--break-even`,
//! `--per-phase` and `--nodes`.

use clap::Args;

use super::Question;
use crate::Mapping;
use crate::answer::{Object, Style, Table};
use crate::cli::objective::predicted;
use crate::cli::output::{Reply, interval, warn};
use crate::decide::{self, Changes, Explanation, explain, plan_phases, rank, rank_nodes};
use crate::error::{Error, Result};
use crate::models::levels::NodeLevel;
use crate::units::Seconds;

/// The time of a configuration, the best where none is named, taken apart; CSV holds the effects of the terms
/// alone.
pub fn explanation(question: &Question<'_>, configuration: Option<Mapping>) -> Result<String> {
    let Question { posterior, sampling, .. } = question;
    let model = &*question.model;
    let mapping = match configuration {
        Some(configuration) => configuration,
        None => rank(posterior, &question.mappings()?, *sampling)?.choice.mapping,
    };
    let explanation = explain(posterior, model, mapping);
    warn(&explanation.warnings);
    let Explanation { time, low, high, terms, .. } = &explanation;
    let objective = posterior.objective();
    let quantity = objective.quantity();
    let heading = match model.equation_11() {
        Some(_) => "of equation 11".into(),
        None => format!("of the {} model", model.name()),
    };
    let total: f64 = explanation.parts.iter().map(|part| part.time.0).sum();
    let share = |time: Seconds| if total > 0.0 { time.0 / total } else { 0.0 };
    let parts = Table::of(&explanation.parts).headed("name", heading, Style::Plain, |it| it.name);
    // The parts of a rate are no times.
    let parts = match quantity.is_time() {
        true => parts.headed("time_s", "time", Style::Time, |it| it.time),
        false => parts,
    };
    let parts = parts.column("share", Style::Percent(1), |it| share(it.time));
    let table = Table::of(terms)
        .column("term", Style::Plain, |it| &it.name)
        .column("value", Style::Small, |it| it.value)
        .headed("std_error", "standard error", Style::Small, |it| it.std_error)
        .programs("derivative", |it| it.derivative)
        .headed("elasticity", "% of T per %", Style::Digits(4), |it| it.elasticity)
        .headed("variance_share", "of the variance, known", Style::Percent(1), |it| {
            it.variance_share
        });
    let json = predicted(objective, mapping, [*time, *low, *high])
        .with("breakdown", &parts)
        .with("misfit_share", explanation.misfit_share)
        .with("terms", &table);
    let above = format!(
        "{mapping} {} {}, 95 % interval {}, {}\n\n{}\n",
        quantity.verb(),
        quantity.shown(*time),
        quantity.interval(*low, *high),
        due_to(&explanation),
        parts.text()
    );
    Ok(Reply { above, table, json }.text(question.format))
}

/// What the interval is due to, and what would narrow it most.
fn due_to(Explanation { terms, misfit_share, .. }: &Explanation) -> String {
    match terms.first().filter(|term| term.variance_share > *misfit_share) {
        Some(term) => format!(
            "of whose variance knowing {} would take away {:.0} %",
            term.name,
            100.0 * term.variance_share
        ),
        None => format!("which is to {:.0} % due to the misfit of the model", 100.0 * misfit_share),
    }
}

/// The flags of `--break-even`.
#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct BreakEvenArguments {
    /// From what size of a task off-loading pays, for each p, and up to how many APUs
    #[arg(long, group = "question", requires = "host_factor", conflicts_with = "m")]
    break_even: bool,
    /// Time of the off-loaded part on the host, relative to one APU
    #[arg(long, value_name = "F", requires = "break_even")]
    host_factor: Option<f64>,
}

impl BreakEvenArguments {
    /// The factor of the host, where the question is asked.
    pub fn asked(&self) -> Option<f64> {
        self.host_factor.filter(|_| self.break_even)
    }
}

/// The size of a task from which off-loading pays, by p, and the p up to which a further APU does.
pub fn break_even(question: &Question<'_>, host_factor: f64) -> Result<String> {
    let answer = decide::break_even(&*question.model, &question.constraints, host_factor)?;
    let optimum = answer.optimum;
    let up_to = match optimum.continuous {
        Some((best, low, high)) => format!(
            "APUs pay up to p = {}: sqrt(T_APU/(N*g)) = {best:.1}, 95 % interval {low:.1} .. \
             {high:.1}.",
            optimum.last_p
        ),
        None => "APUs cost nothing here, so every one of them pays.".into(),
    };
    let above = format!(
        "An off-load has {} of APU time, of which APUs share {:.1} %; the host takes {host_factor} \
         times as long.\n{up_to}\n\n",
        answer.granularity,
        100.0 * answer.shared_part,
    );
    let table = Table::of(&answer.rows)
        .column("p", Style::Plain, |row| row.p)
        .programs("least_granularity_s", |row| row.least_granularity.map(|it| it.0))
        .people("pays from", |row| {
            row.least_granularity.map_or("never".into(), |(least, _, _)| least.to_string())
        })
        .programs("low_s", |row| row.least_granularity.map(|it| it.1))
        .programs("high_s", |row| row.least_granularity.map(|it| it.2))
        .people("95 % interval", |row| {
            row.least_granularity.map_or("-".into(), |(_, low, high)| interval(low, high))
        })
        .headed("gain", "host/off-loaded", Style::Digits(2), |row| row.gain);
    let json = Object::new()
        .with("host_factor", host_factor)
        .with("granularity_s", answer.granularity)
        .with("shared_part", answer.shared_part)
        .with("optimal_p", optimum.continuous.map(|(best, _, _)| best))
        .with("optimal_p_low", optimum.continuous.map(|(_, low, _)| low))
        .with("optimal_p_high", optimum.continuous.map(|(_, _, high)| high))
        .with("last_paying_p", optimum.last_p)
        .with("break_even", &table);
    Ok(Reply { above, table, json }.text(question.format))
}

/// The flags of `--per-phase`.
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

/// The best p of each phase, by m.
pub fn phases(question: &Question<'_>, changes: Changes) -> Result<String> {
    let answer = plan_phases(&*question.model, &question.constraints, changes)?;
    warn(&answer.warnings);
    let phases = &question.parameters.phases;
    let phases: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    let table = Table::of(answer.plans.iter().take(question.shown))
        .column("m", Style::Plain, |plan| plan.m)
        .headed("p", "p by phase", Style::Plain, |plan| plan.ps.clone())
        .headed("time_s", "time", Style::Time, |plan| plan.time)
        .programs("low_s", |plan| plan.low)
        .programs("high_s", |plan| plan.high)
        .people("95 % interval", |plan| interval(plan.low, plan.high))
        .column("changes", Style::Plain, |plan| plan.changes)
        .headed("single_p", "one p", Style::Plain, |plan| plan.single.0)
        .headed("single_p_time_s", "time with one p", Style::Time, |plan| plan.single.1);
    let above = format!("p for the phases {}\n\n", phases.join(", "));
    let json = Object::new()
        .with("phases", phases)
        .with("change_cost_s", changes.cost)
        .with("rounds", changes.rounds)
        .with("plans", &table);
    Ok(Reply { above, table, json }.text(question.format))
}

/// The flags of `--nodes`.
#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct NodeArguments {
    /// Rank (n, m, p) with up to so many nodes, each with the APUs and constraints of one; an
    /// extension of the model that no publication has measured
    #[arg(long, value_name = "N", group = "question", conflicts_with = "m")]
    nodes: Option<u32>,
    /// What every collective (off-load, where collectives are not counted) costs more as soon as
    /// there are several nodes [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "nodes")]
    node_overhead: f64,
    /// What it costs for each step of a tree over the nodes, ceil(log2 n) of them [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "nodes")]
    node_collective: f64,
}

impl NodeArguments {
    /// Nodes and what they cost, where the question is asked.
    pub fn asked(&self) -> Option<(u32, NodeLevel)> {
        let per_message = Seconds(self.node_overhead);
        let per_step = Seconds(self.node_collective);
        self.nodes.map(|nodes| (nodes, NodeLevel { per_message, per_step }))
    }
}

/// The ranking of configurations of several nodes.
pub fn nodes(question: &Question<'_>, nodes: u32, level: NodeLevel) -> Result<String> {
    if question.model.equation_11().is_none() {
        return Err(Error::out_of_range(
            "model",
            question.model.name(),
            "mmgp: nodes are put around the terms of equation 11 alone",
        ));
    }
    let ranking = rank_nodes(&question.parameters, &question.constraints, nodes, level)?;
    warn(&ranking.warnings);
    let table = Table::of(ranking.configurations.iter().take(question.shown))
        .column("rank", Style::Plain, |it| it.rank)
        .column("n", Style::Plain, |it| it.n)
        .column("m", Style::Plain, |it| it.mapping.m())
        .column("p", Style::Plain, |it| it.mapping.p())
        .headed("time_s", "time", Style::Time, |it| it.time)
        .programs("low_s", |it| it.low)
        .programs("high_s", |it| it.high)
        .people("95 % interval", |it| interval(it.low, it.high))
        .headed("speedup", "speed-up", Style::Digits(2), |it| it.speedup)
        .column("efficiency", Style::Percent(0), |it| it.efficiency);
    let json =
        Object::new().with("feasible", ranking.configurations.len()).with("configurations", &table);
    Ok(Reply { above: String::new(), table, json }.text(question.format))
}
