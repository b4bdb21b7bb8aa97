//! A ranking for people, in the words of its objective.

use crate::answer::{Style, Table};
use crate::decide::Configuration;
use crate::objective::Objective;

/// The ranking, with what was measured where any ran.
pub fn table<'a>(
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
