//! Programs whose truth is known, from the files that a user would have of them to the page: fit,
//! ranking, exports, report.
//!
//! A case holds its truth as a file of parameters, beside the measurements as tables. Whatever is
//! written is read back as the same and is finite, and intervals hold the truth as often as they
//! say.

mod input;

use std::collections::{BTreeMap, BTreeSet};

use mmgp::Mapping;
use mmgp::belief::{Posterior, Prior};
use mmgp::decide::{Constraints, Ranking, Sampling, allowed, rank};
use mmgp::fit::{FileRows, FitResult, Inputs, Runs, Settings, fit};
use mmgp::models::Parameters;
use mmgp::models::parameters::{Estimate, OverM, Table, Terms};
use mmgp::table::records::Prediction;
use mmgp::table::{Source, csv};

use crate::pages;
use crate::target::{
    Input, Outcome, PromiseCount, Random, Seen, Target, Verdict, read_otherwise, refused,
};

/// Programs as equation 11 and as the refined model says, timed with noise, whose answers are sound and
/// as true as they say; and files that are refused, or all that follows is finite.
pub fn targets() -> Vec<Target> {
    let of = |name, is_refined| {
        let input = move |random: &mut Random| {
            let truth = input::program(random, is_refined);
            input::files(random, &truth)
        };
        let target = Target::new(name, input, |input| checked(input, true));
        Target { cost: 50, least_taken: 0.9, ..target }
    };
    let extreme = Target::new("extreme-programs", input::extreme, |input| checked(input, false));
    vec![of("true-programs", false), of("refined-programs", true), Target { cost: 50, ..extreme }]
}

/// Follows a program's files to the page; of one that `is_true`, counts what held.
fn checked(input: &Input, is_true: bool) -> Verdict {
    let truth = input.part("truth.toml").map(Parameters::read);
    let Some(Ok(truth)) = truth else { return Ok(Seen::Refused.into()) };
    let fitted = match fitted(input, &truth)? {
        Some(fitted) => fitted,
        None => return Ok(Seen::Refused.into()),
    };
    let mut held = Vec::new();
    for parameters in [&fitted.parameters].into_iter().chain(&fitted.refined) {
        pages::check(parameters)?;
    }
    said(&fitted)?;
    let parameters = &fitted.parameters;
    let posterior = Posterior::new(&Prior::of(parameters), None);
    let posterior =
        posterior.map_err(|error| format!("no posterior of what was fitted: {error}"))?;
    let mappings = match allowed(&posterior, &Constraints::NONE, parameters.apus) {
        Ok(found) if found.feasible <= MOST_CONFIGURATIONS => found.mappings,
        _ => return Ok(Seen::Taken.into()),
    };
    let ranking = rank(&posterior, &mappings, Sampling::new(DRAWS, 1));
    let ranking = ranking.map_err(|error| format!("no ranking of what was fitted: {error}"))?;
    check_ranking(&ranking, &mappings)?;
    pages::check_page(parameters)?;
    if is_true {
        held.extend(of_terms(input, &truth, parameters));
        held.extend(of_times(input, &truth, &ranking));
    }
    Ok(Outcome { seen: Seen::Taken, held })
}

/// Beyond so many, a ranking takes long and says no more.
const MOST_CONFIGURATIONS: usize = 300;

/// Draws behind probabilities and regrets.
const DRAWS: u32 = 1000;

/// Everything that a fit says can be said: its numbers are numbers.
fn said(fitted: &FitResult) -> Result<(), String> {
    let words = fitted.warnings.iter().map(ToString::to_string);
    let text = format!("{}\n{}", fitted.report, words.collect::<Vec<_>>().join("\n"));
    pages::no_odd_numbers(&text, "the report of a fit")
}

/// Fits what there is of a program; `None` where a file or the fit is refused.
fn fitted(input: &Input, truth: &Parameters) -> Result<Option<FitResult>, String> {
    let inputs = match inputs(input) {
        Ok(inputs) => inputs,
        Err(refused) => return refused.map(|_| None),
    };
    let settings = Settings::new("case", truth.decomposition, truth.apus);
    match fit(&inputs, &settings) {
        Ok(fitted) => Ok(Some(fitted)),
        Err(error) => refused(&error, &Source::new("case", "")).map(|_| None),
    }
}

/// All files, or the verdict on one that is refused.
fn inputs(input: &Input) -> Result<Inputs, Verdict> {
    Ok(Inputs {
        alpha: read(input, "alpha.csv", |source| FileRows::read(source))?,
        offload: read(input, "offload.csv", |source| FileRows::read(source))?,
        context_switch: read(input, "context_switch.csv", |source| FileRows::read(source))?,
        collective: read(input, "collective.csv", |source| FileRows::read(source))?,
        profile: read(input, "profile.csv", |source| FileRows::read(source))?,
        runs: read(input, "runs.csv", Runs::read)?,
        ..Inputs::default()
    })
}

fn read<T, W>(
    input: &Input,
    name: &str,
    reader: fn(&Source) -> mmgp::Result<(T, W)>,
) -> Result<Option<T>, Verdict> {
    let Some(source) = input.part(name) else { return Ok(None) };
    match reader(source) {
        Ok((table, _)) => Ok(Some(table)),
        Err(error) => Err(refused(&error, source)),
    }
}

/// Every configuration once, each time within its interval, probabilities that are some, regrets
/// that are not negative; and a table of it that is read back as the same.
fn check_ranking(ranking: &Ranking, mappings: &[Mapping]) -> Result<(), String> {
    let ranked: BTreeSet<Mapping> = ranking.configurations.iter().map(|it| it.mapping).collect();
    if ranked.len() != mappings.len() || ranking.configurations.len() != mappings.len() {
        return Err(format!("configurations ranked: {} of {}", ranked.len(), mappings.len()));
    }
    let mut certain = 0.0;
    for (it, rank) in ranking.configurations.iter().zip(1..) {
        let times = [it.low.0, it.time.0, it.high.0, it.expected_regret.0, it.regret_95.0];
        let others = [it.speedup, it.efficiency];
        let is_sound = times.iter().chain(&others).all(|it| it.is_finite() && *it >= 0.0)
            && it.low <= it.time
            && it.time <= it.high
            && it.probability_best.is_none_or(|it| (0.0..=1.0).contains(&it))
            && it.rank == rank;
        if !is_sound {
            return Err(format!("a configuration that cannot be: {it:?}"));
        }
        certain += it.probability_best.unwrap_or(0.0);
    }
    let has_probabilities = ranking.configurations.iter().all(|it| it.probability_best.is_some());
    // Several may be as fast in a draw.
    if has_probabilities && certain < 1.0 - 1e-9 {
        return Err(format!("probabilities that add up to less than all: {certain}"));
    }
    let rows: Vec<Prediction> = ranking.configurations.iter().map(Prediction::from).collect();
    let text = csv::write(&rows);
    let again = csv::read(&Source::new("predictions.csv", &text)).map(|(again, _)| again);
    if let Some(wrong) = read_otherwise(again, &rows, "predictions.csv", &text) {
        return Err(wrong);
    }
    let said = format!("{}\n{}", ranking.choice, ranking.choice.advice().unwrap_or_default());
    pages::no_odd_numbers(&said, "the choice")
}

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
        let known = input::time(truth, it.mapping);
        let of = match (it.measured.is_some(), it.beyond) {
            (true, _) => "intervals of times that were measured",
            (false, false) => "intervals of other times",
            (false, true) => "intervals of times beyond what was measured",
        };
        count(of, it.low.0 <= known && known <= it.high.0);
    }
    let times = ranking.configurations.iter().map(|it| input::time(truth, it.mapping));
    let fastest = times.fold(f64::INFINITY, f64::min);
    let choice = &ranking.choice;
    if let Some(most) = choice.costs_at_most {
        // A cost of nothing may be rounding.
        let cost = input::time(truth, choice.mapping) / fastest - 1.0;
        count("bounds of what the choice costs", cost <= most + 1e-9);
    }
    let held = held.into_iter().map(|(of, (kept, all))| {
        let is_beyond_a_cliff = truth.refinements.is_some() && of.contains("beyond");
        let least = if is_beyond_a_cliff { BEYOND_A_CLIFF } else { SHARE };
        PromiseCount { promise: format!("95 % {of}, by {by}"), least, kept, of: all }
    });
    held.collect()
}
