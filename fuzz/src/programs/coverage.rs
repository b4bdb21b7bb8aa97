//! How often intervals hold the truth.

use std::collections::BTreeMap;

use mmgp::decide::Ranking;
use mmgp::models::Parameters;
use mmgp::models::parameters::{Estimate, OverM, Table, Terms};

use super::input::time;
use crate::target::{Input, PromiseCount};

/// All promises are of this share.
const SHARE: f64 = 0.95;

/// The slowdown itself where files measure it and runs take it for a line: 89 % were measured.
const OF_NO_FORM: f64 = 0.85;

/// Times of the refined model beyond what was timed, where a loop cannot be cut any further or the
/// host has no more contexts: nothing within says so. 88 % were measured.
const BEYOND_A_CLIFF: f64 = 0.80;

/// What a program was measured by, in words.
fn measured_by(input: &Input) -> &'static str {
    match (input.part("runs.csv").is_some(), input.part("profile.csv").is_some()) {
        (true, true) => "runs and files",
        (true, false) => "runs",
        (false, _) => "files",
    }
}

/// 95 % of the intervals of terms hold their truth. A sum that the data could not split is no
/// term, and one whose error is not known promises nothing.
pub fn of_terms(input: &Input, truth: &Parameters, fitted: &Parameters) -> Vec<PromiseCount> {
    if truth.refinements.is_some() {
        // The terms of another model are not those of equation 11.
        return Vec::new();
    }
    let (by, terms) = (measured_by(input), as_known(input, truth));
    let entries = fitted.terms.entries();
    let estimates = entries.iter().filter_map(|&entry| fitted.terms.estimate(entry));
    let carried = estimates.flat_map(|estimate| estimate.combined_with.iter());
    let carried: Vec<&str> = carried.map(String::as_str).collect();
    let mut by_term: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for entry in entries {
        let name = fitted.terms.name_of(entry);
        let known = terms.entry_named(&name).and_then(|it| terms.estimate(it));
        let (Some(estimate), Some(known)) = (fitted.terms.estimate(entry), known) else { continue };
        // By runs alone what is combined is known.
        let is_whole = estimate.combined_with.is_empty() || by == "runs";
        let is_sum = !is_whole || carried.iter().any(|it| *it == name || *it == entry.term.name());
        let Some((low, high)) = estimate.interval() else { continue };
        if is_sum || estimate.std_error == Some(0.0) {
            continue;
        }
        let (kept, of) = by_term.entry(entry.term.name()).or_default();
        *of += 1;
        *kept += u32::from(low <= known.value && known.value <= high);
    }
    let form = if is_linear(truth) { "" } else { ", slowdown of no form that is fitted" };
    let held = |(term, (kept, of))| {
        let promise = format!("95 % intervals of {term}, by {by}{form}");
        let is_known_weakness = !is_linear(truth) && by != "runs" && term == "alpha";
        let least = if is_known_weakness { OF_NO_FORM } else { SHARE };
        PromiseCount { promise, least, kept, of }
    };
    by_term.into_iter().map(held).collect()
}

/// Whether the slowdown of a program grows along a line.
fn is_linear(truth: &Parameters) -> bool {
    let excess = |m: u32| truth.terms.alpha_at(m) - 1.0;
    (excess(3) - 2.0 * excess(2)).abs() < 1e-9
}

/// The terms as they can be known. Runs alone do not tell the number of off-loads, which is then taken
/// as 1, nor the host's time from the other terms without p, so that `t_hpu_s` stands for their sum
/// and `alpha` is its slowdown.
fn as_known(input: &Input, truth: &Parameters) -> Terms {
    let mut terms = truth.terms.clone();
    if measured_by(input) != "runs" {
        return terms;
    }
    let offloads = terms.offloads.value;
    let others = terms.c_apu_s.value
        + offloads * (terms.o_offload_s.value + terms.t_csw_s.value + terms.o_col_at(2));
    let host = terms.t_hpu_s.value;
    let of_sum = |m: u32| (terms.alpha_at(m) * host + others) / (host + others);
    let alpha = (1..=truth.apus).map(|m| Estimate::exact(of_sum(m))).collect();
    terms.alpha = OverM::Table(Table::new((1..=truth.apus).collect(), alpha));
    terms.t_hpu_s.value = host + others;
    terms.g_s.value *= offloads;
    terms
}

/// 95 % of the intervals of times hold the true time, and with 95 % the choice costs no more than
/// it says.
pub fn of_times(input: &Input, truth: &Parameters, ranking: &Ranking) -> Vec<PromiseCount> {
    let by = measured_by(input);
    let mut held: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut count = |of: &'static str, is_kept: bool| {
        let (kept, all) = held.entry(of).or_default();
        *kept += u32::from(is_kept);
        *all += 1;
    };
    for it in &ranking.configurations {
        let known = time(truth, it.mapping);
        let of = match (it.measured.is_some(), it.beyond) {
            (true, _) => "intervals of times that were measured",
            (false, false) => "intervals of other times",
            (false, true) => "intervals of times beyond what was measured",
        };
        count(of, it.low.0 <= known && known <= it.high.0);
    }
    let times = ranking.configurations.iter().map(|it| time(truth, it.mapping));
    let fastest = times.fold(f64::INFINITY, f64::min);
    let choice = &ranking.choice;
    if let Some(most) = choice.costs_at_most {
        // A cost of nothing may be rounding.
        let cost = time(truth, choice.mapping) / fastest - 1.0;
        count("bounds of what the choice costs", cost <= most + 1e-9);
    }
    let held = held.into_iter().map(|(of, (kept, all))| {
        let is_beyond_a_cliff = truth.refinements.is_some() && of.contains("beyond");
        let least = if is_beyond_a_cliff { BEYOND_A_CLIFF } else { SHARE };
        PromiseCount { promise: format!("95 % {of}, by {by}"), least, kept, of: all }
    });
    held.collect()
}
