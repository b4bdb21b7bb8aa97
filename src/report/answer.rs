//! The answer in words and the ranking behind it, as HTML that needs no script.

use super::{Evaluation, Study};
use crate::Mapping;
use crate::answer::{Style, Table, escaped};
use crate::decide::Configuration;
use crate::models::observations::Observation;
use crate::objective::Objective;
use crate::units::Percent;
use crate::validate::ModelSummary;

/// The most configurations that are named where they cannot be told from the best; of more, their number is.
const MOST_NAMED: usize = 8;

pub(super) fn html(study: &Study, known: &Evaluation) -> String {
    let best = known.best();
    let mut facts = vec![
        (predicted_name(known), predicted(known)),
        ("How sure".into(), sureness(known)),
        ("What it costs to be wrong".into(), cost(known)),
    ];
    facts.extend(known.models.iter().map(|model| (name(model).into(), error(model))));
    if let Some((_, fastest)) = known.timed {
        facts.push(("What was timed".into(), timed(known, fastest)));
    }
    if !known.models.is_empty() {
        facts.push(("In the runs".into(), outcome(known)));
    }
    let choice = &known.ranking.choice;
    if choice.within.is_some() {
        facts.insert(0, ("In a sentence".into(), choice.to_string()));
    }
    let facts: String = facts
        .iter()
        .map(|(term, text)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(term), escaped(text))
        })
        .collect();
    format!(
        "<section id=\"answer\" aria-labelledby=\"answer-title\">\n\
         <p class=\"of\"><bdi>{}</bdi>, {} APUs, {} {}</p>\n\
         <h1 id=\"answer-title\">Run {} host {} with {} {}{}: <span class=\"choice\">(m, p) = \
         ({}, {})</span></h1>\n<dl>\n{facts}</dl>\n</section>",
        escaped(&study.title),
        study.parameters.apus,
        known.ranking.configurations.len(),
        if known.timed.is_some() {
            "configurations within what was timed"
        } else {
            "feasible configurations"
        },
        best.mapping.m(),
        plural(best.mapping.m(), "thread", "threads"),
        best.mapping.p(),
        plural(best.mapping.p(), "APU", "APUs"),
        plural(best.mapping.m(), "", " each"),
        best.mapping.m(),
        best.mapping.p(),
    )
}

fn plural(count: u32, one: &'static str, more: &'static str) -> &'static str {
    if count == 1 { one } else { more }
}

/// What the objective is called beside its prediction.
fn predicted_name(known: &Evaluation) -> String {
    format!("Predicted {}", known.ranking.choice.objective.name())
}

fn predicted(known: &Evaluation) -> String {
    let best = known.best();
    let objective = &known.ranking.choice.objective;
    let interval = if best.low == best.high {
        String::new()
    } else {
        let (low, high) = objective.ends(best.mapping, best.low, best.high);
        format!(" (95 % interval {} to {})", objective.shown(low), objective.shown(high))
    };
    // Far from all that was timed (1, 1) is nothing to go by.
    let speedup = match known.timed {
        Some((range, _)) if !range.holds(Mapping::SEQUENTIAL) => String::new(),
        _ => format!(", {:.2} times as {} as (1, 1)", best.speedup, objective.positive()),
    };
    let amount = objective.shown(objective.amount(best.mapping, best.time));
    let measured = match objective.is_measured() {
        true => String::new(),
        false => format!(", with {}", objective.quantity().shown(best.time)),
    };
    format!("{amount}{interval}{measured}{speedup}")
}

fn sureness(known: &Evaluation) -> String {
    let best = known.best();
    let Some(probability) = best.probability_best else {
        return "not known: it asks for what was never varied".into();
    };
    let objective = &known.ranking.choice.objective;
    let fastest = objective.superlative();
    let probability = format!("the {fastest} with probability {:.0} %", 100.0 * probability);
    let others: Vec<String> = known
        .ranking
        .configurations
        .iter()
        .filter(|other| other.indistinguishable && other.mapping != best.mapping)
        .map(|other| other.mapping.to_string())
        .collect();
    let others = match others.len() {
        0 => "no other configuration comes near".into(),
        count if count <= MOST_NAMED => format!("cannot be told from {}", others.join(", ")),
        count => format!("cannot be told from {count} others"),
    };
    format!("{probability}; {others}. {}", known.basis)
}

fn cost(known: &Evaluation) -> String {
    let choice = &known.ranking.choice;
    let advice = choice.advice().map_or_else(String::new, |advice| format!(" {advice}"));
    let expected = Percent(choice.expected_cost);
    let more = match choice.objective.is_measured() {
        true => format!("more than the {}", choice.objective.superlative()),
        false => "worse than the best".to_string(),
    };
    match choice.costs_at_most {
        Some(cost) => {
            format!("expected {expected}, with 95 % at most {} {more}.{advice}", Percent(cost))
        }
        None => format!("not known: it asks for what was never varied.{advice}"),
    }
}

fn name(model: &ModelSummary) -> &'static str {
    if model.model == "mmgp" { "Error of equation 11" } else { "Error of the refined model" }
}

fn error(model: &ModelSummary) -> String {
    let choice = &model.predicted_best;
    let without = model.without_inputs.map_or_else(String::new, |without| {
        format!(
            " (of the time without collectives and alpha, which may be inputs of the machine: mean \
             {:.1} %, maximum {:.1} %)",
            without.mean_error_percent, without.max_error_percent
        )
    });
    format!(
        "mean {:.1} %, maximum {:.1} %{without}; it chooses {choice}, {}",
        model.mean_error_percent,
        model.max_error_percent,
        regret(model)
    )
}

fn regret(model: &ModelSummary) -> String {
    if model.predicted_best == model.measured_best {
        "the fastest of all that ran".into()
    } else {
        format!("{:.1} % slower than the fastest that ran", model.regret_percent)
    }
}

/// What the user's own runs say.
fn timed(known: &Evaluation, fastest: Observation) -> String {
    let quantity = known.ranking.choice.objective.quantity();
    let count = known.basis.timed;
    let configurations = plural(count as u32, "configuration", "configurations");
    let text = format!(
        "the {} that was timed is {} with {}, of {count} {configurations}",
        quantity.superlative(),
        fastest.mapping,
        quantity.shown(fastest.time)
    );
    match known.best().measured {
        Some(_) if known.best().mapping == fastest.mapping => text,
        Some(own) => {
            format!("{text}; the choice {} {}", quantity.past_verb(), quantity.shown(own.time))
        }
        None => format!("{text}; the choice itself was not timed"),
    }
}

/// What ran.
fn outcome(known: &Evaluation) -> String {
    let Some(model) = known.models.first() else { return String::new() };
    let fastest = &model.measured_best;
    let near = known.ranking.configurations[1..]
        .iter()
        .filter(|other| {
            other.time.0 < known.best().time.0 * (1.0 + model.mean_error_percent / 100.0)
        })
        .count();
    let near = match near {
        0 => "no other configuration is".to_string(),
        1 => "one other configuration is".to_string(),
        more => format!("{more} other configurations are"),
    };
    format!(
        "{fastest} was the fastest; {near} predicted within the mean error of the best. The \
         predictions know nothing of these runs"
    )
}

/// The ranking, with what was measured where any ran.
pub fn ranking_table<'a>(
    configurations: impl Iterator<Item = &'a Configuration> + Clone,
    objective: &Objective,
) -> Table<&'a Configuration> {
    let quantity = objective.quantity();
    let is_any_measured = configurations.clone().any(|it| it.measured.is_some());
    let mut table = Table::of(configurations)
        .column("rank", Style::Plain, |it| it.rank)
        .column("m", Style::Plain, |it| it.mapping.m())
        .column("p", Style::Plain, |it| it.mapping.p())
        .people(objective.name(), |it| objective.shown(objective.amount(it.mapping, it.time)))
        .people("95 % interval", |it| {
            let (low, high) = objective.ends(it.mapping, it.low, it.high);
            format!("{} .. {}", objective.shown(low), objective.shown(high))
        });
    if !objective.is_measured() {
        table = table.people(quantity.name(), |it| quantity.shown(it.time));
    }
    if is_any_measured {
        table = table.people("measured", |it| {
            it.measured.map_or_else(|| "-".into(), |measured| quantity.shown(measured.time))
        });
    }
    table
        .headed("probability_best", "best", Style::Percent(0), |it| it.probability_best)
        .people("", |it| {
            let mark = match (it.beyond, it.indistinguishable) {
                (true, true) => "= >",
                (true, false) => ">",
                (false, true) => "=",
                (false, false) => "",
            };
            mark.into()
        })
        .people("regret", |it| objective.shown(it.expected_regret))
        .people("95 % regret", |it| objective.shown(it.regret_95))
        .headed("speedup", "speed-up", Style::Digits(2), |it| it.speedup)
        .column("efficiency", Style::Percent(0), |it| it.efficiency)
}
