//! A ranking for people, in the words of its objective.

use crate::decide::Configuration;
use crate::models::observations::Observation;
use crate::objective::Objective;

/// The names of the columns and the rows, with what was measured where any ran.
pub fn columns<'a, 'b>(
    configurations: impl Iterator<Item = &'a Configuration> + Clone,
    objective: &'b Objective,
) -> (Vec<&'b str>, Vec<Vec<String>>) {
    let quantity = objective.quantity();
    let is_any_measured = configurations.clone().any(|c| c.measured.is_some());
    let row = |c: &Configuration| {
        let mut row =
            vec![c.rank.to_string(), c.mapping.m().to_string(), c.mapping.p().to_string()];
        row.extend(predicted(c, objective));
        if is_any_measured {
            let shown = |it: Observation| quantity.shown(it.time);
            row.push(c.measured.map_or_else(|| "-".into(), shown));
        }
        let best = c.probability_best.map(|probability| format!("{:.0} %", 100.0 * probability));
        let mark = match (c.beyond, c.indistinguishable) {
            (true, true) => "= >",
            (true, false) => ">",
            (false, true) => "=",
            (false, false) => "",
        };
        row.extend([
            best.unwrap_or_else(|| "-".into()),
            mark.into(),
            objective.shown(c.expected_regret),
            objective.shown(c.regret_95),
            format!("{:.2}", c.speedup),
            format!("{:.0} %", 100.0 * c.efficiency),
        ]);
        row
    };
    let rows: Vec<Vec<String>> = configurations.map(row).collect();
    let mut header = vec!["rank", "m", "p", objective.name(), "95 % interval"];
    if !objective.is_measured() {
        header.push(quantity.name());
    }
    if is_any_measured {
        header.push("measured");
    }
    header.extend(["best", "", "regret", "95 % regret", "speed-up", "efficiency"]);
    (header, rows)
}

/// What is predicted, for people: the objective with its interval, and what was measured where that is
/// another.
fn predicted(c: &Configuration, objective: &Objective) -> Vec<String> {
    let quantity = objective.quantity();
    let (low, high) = objective.ends(c.mapping, c.low, c.high);
    let shown = |amount| objective.shown(amount);
    let amount = shown(objective.amount(c.mapping, c.time));
    let mut cells = vec![amount, format!("{} .. {}", shown(low), shown(high))];
    if !objective.is_measured() {
        cells.push(quantity.shown(c.time));
    }
    cells
}
