//! The ranking of `mmgp predict` with what stands above it, and the questions that are about the choice:
//! `--next` and `--pareto`.

use clap::Args;

use super::Question;
use crate::answer::{self, Object, Style, Table};
use crate::belief::Posterior;
use crate::cli::objective::{self as best, configuration, predicted};
use crate::cli::output::{Format, Reply, warn};
use crate::decide::{
    Choice, Configuration, Measurement, MeasurementKind, Point, Ranking, front, next_measurement,
    rank,
};
use crate::error::Result;
use crate::objective::{Amount, Objective};
use crate::quantity::Quantity;
use crate::table::csv;
use crate::table::records::Prediction;

/// The ranking as CSV; columns of times that hold nothing are left out.
pub fn csv(configurations: &[Configuration], objective: &Objective) -> String {
    if objective.is_time() {
        return csv::write(&configurations.iter().map(Prediction::from).collect::<Vec<_>>());
    }
    answer::csv(&configurations.iter().map(|it| row(it, objective)).collect::<Vec<_>>())
}

/// A configuration for programs, with regrets in the unit of the objective.
pub fn row(it: &Configuration, objective: &Objective) -> Object {
    let quantity = objective.quantity();
    let measured = match quantity {
        Quantity::Time => "measured_s",
        Quantity::Rate(_) => "measured_rate",
        Quantity::Amount(_) => "measured_amount",
    };
    let [regret, regret_95] = match objective.is_time() {
        true => ["expected_regret_s", "regret_95_s"],
        false => ["expected_regret", "regret_95"],
    };
    Object::new()
        .with("rank", it.rank)
        .followed_by(predicted(objective, it.mapping, [it.time, it.low, it.high]))
        .with("probability_best", it.probability_best)
        .with("speedup", it.speedup)
        .with("efficiency", it.efficiency)
        .with(regret, it.expected_regret.0)
        .with(regret_95, it.regret_95.0)
        .with("indistinguishable", u32::from(it.indistinguishable))
        .with(measured, it.measured.map(|measured| quantity.number(measured.time)))
        .with("beyond", u32::from(it.beyond))
}

/// What to run and the sentence, the first first where it is worth it, and what it all rests on.
pub fn headline(ranking: &Ranking, posterior: &Posterior) -> String {
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

/// The choice for programs: what it may cost, and what to run before relying on it.
pub fn choice(choice: &Choice) -> Object {
    let confirm = choice
        .confirm
        .iter()
        .map(|it| configuration(it.mapping).with("expected_cost_then", it.expected_cost));
    predicted(&choice.objective, choice.mapping, [choice.time, choice.low, choice.high])
        .with_some("probability_within", choice.within.map(|it| it.probability))
        .with("is_measured", choice.is_measured)
        .with("expected_cost", choice.expected_cost)
        .with("costs_at_most", choice.costs_at_most)
        .with("confirm", confirm.collect::<Vec<_>>())
        .with("rests_on", choice.rests_on.iter().map(|term| term.name()).collect::<Vec<_>>())
        .with("sentence", choice.to_string())
}

/// The flags of `--next`.
#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct NextArguments {
    /// Rank what could be measured next by how much it lowers the expected regret of the choice:
    /// one further timed run at each (m, p), or the micro-benchmark of a term until its standard
    /// error has halved
    #[arg(long, group = "question", conflicts_with = "m")]
    pub next: bool,
    /// Relative noise of a single timed run; without it, what repetitions tell, or 0.02
    #[arg(long, value_name = "FRACTION", requires = "next")]
    pub noise: Option<f64>,
}

/// The most measurements that people see who do not say how many.
const MEASUREMENTS: usize = 10;

/// What to measure next, by how much it lowers the expected regret.
pub fn next(question: &Question<'_>, noise: Option<f64>) -> Result<String> {
    let mappings = question.mappings()?;
    let ranking = rank(&question.posterior, &mappings, question.sampling)?;
    let next = next_measurement(&question.posterior, &mappings, noise)?;
    warn(&next.warnings);
    let (chosen, noise) = (ranking.choice.mapping, next.noise);
    let objective = question.posterior.objective();
    let expected_regret = ranking.chosen().map_or(Amount(0.0), |it| it.expected_regret);
    let is_certain = next.measurements.iter().all(|it| it.gain.0 == 0.0);
    let above = format!(
        "{}\nIts expected regret is {}.\n{}A run is taken \
         to have a noise of {:.1} % (--noise).\n\n",
        ranking.choice,
        objective.shown(expected_regret),
        if is_certain { "No measurement is expected to change the choice.\n" } else { "" },
        100.0 * noise
    );
    // People are told what is of use, programs everything.
    let is_for_people = question.format == Format::Table;
    let is_useful = |it: &&Measurement| {
        !is_for_people || it.gain.0 > 0.0 || (is_certain && question.shown != usize::MAX)
    };
    let shown = if is_for_people { question.shown_to_people(MEASUREMENTS) } else { question.shown };
    let key = |name: &str| format!("{name}{}", if objective.is_time() { "_s" } else { "" });
    let measured = |what: &MeasurementKind, of_run: &dyn Fn(crate::Mapping) -> String| match what {
        MeasurementKind::Run(mapping) => of_run(*mapping),
        MeasurementKind::Term { name } => name.clone(),
    };
    let mapping = |what: &MeasurementKind| match what {
        MeasurementKind::Run(mapping) => Some(*mapping),
        MeasurementKind::Term { .. } => None,
    };
    let table = Table::of((1_u32..).zip(next.measurements.iter().filter(is_useful)).take(shown))
        .column("rank", Style::Plain, |row| row.0)
        .programs("measure", |row| measured(&row.1.what, &|_| "run".into()))
        .people("measure", |row| measured(&row.1.what, &|it| format!("a run at {it}")))
        .programs("m", |row| mapping(&row.1.what).map(crate::Mapping::m))
        .programs("p", |row| mapping(&row.1.what).map(crate::Mapping::p))
        .programs(key("gain"), |row| row.1.gain.0)
        .people("lowers regret by", |row| objective.shown(row.1.gain))
        .programs(key("std_error_of_best"), |row| row.1.error_of_best.0)
        .people("error of the best then", |row| objective.shown(row.1.error_of_best));
    let unit = (!objective.is_time()).then(|| objective.unit());
    let json = Object::new()
        .with("best_m", chosen.m())
        .with("best_p", chosen.p())
        .with(key("expected_regret"), expected_regret.0)
        .with("noise", noise)
        .with_some("unit", unit)
        .with("measurements", &table);
    Ok(Reply { above, table, json }.text(question.format))
}

/// The flags of `--pareto`.
#[derive(Args)]
#[command(next_help_heading = "What is best")]
pub struct FrontArguments {
    /// Print what no other beats in every one of several objectives, each as --objective takes it:
    /// time,cost
    #[arg(long, value_name = "WHAT,WHAT", value_delimiter = ',', group = "question")]
    #[arg(conflicts_with_all = ["m", "objective", "within"])]
    pareto: Vec<String>,
}

impl FrontArguments {
    /// The objectives, where the question is asked.
    pub fn asked(&self) -> Option<&[String]> {
        (!self.pareto.is_empty()).then_some(&self.pareto)
    }
}

/// The configurations that no other beats in every objective.
pub fn pareto(question: &Question<'_>, names: &[String], per_node: Option<u32>) -> Result<String> {
    let quantity = question.posterior.objective().quantity();
    let objectives = best::several(names, (quantity, per_node))?;
    let mappings = question.mappings()?;
    let all = front(&question.posterior, &mappings, &objectives)?;
    let names: Vec<&str> = objectives.iter().map(Objective::name).collect();
    let above = format!(
        "{} of {} configurations: one of these is as good as any other, or better, in {} \
         alike.\n\n",
        all.len(),
        mappings.len(),
        names.join(" and ")
    );
    let mut table = Table::of(all.iter().take(question.shown))
        .column("m", Style::Plain, |it| it.mapping.m())
        .column("p", Style::Plain, |it| it.mapping.p());
    for objective in &objectives {
        let name = objective.name();
        let amount = |it: &&Point| objective.amount(it.mapping, it.time);
        let ends = |it: &&Point| objective.ends(it.mapping, it.low, it.high);
        table = table
            .programs(name, |it| amount(it).0)
            .people(name, |it| objective.shown(amount(it)))
            .programs(format!("{name}_low"), |it| ends(it).0.0)
            .programs(format!("{name}_high"), |it| ends(it).1.0)
            .people("95 % interval", |it| {
                let (low, high) = ends(it);
                format!("{} .. {}", objective.shown(low), objective.shown(high))
            })
            .programs(format!("{name}_unit"), |_| objective.unit());
    }
    let table = table.people("measured", |it| {
        let measured = question.posterior.measured(it.mapping);
        measured.map_or_else(|| "-".into(), |it| quantity.shown(it.time))
    });
    let json = Object::new()
        .with("configurations", mappings.len())
        .with("objectives", objectives.iter().map(best::described).collect::<Vec<_>>())
        .with("front", &table);
    Ok(Reply { above, table, json }.text(question.format))
}
