//! Programs whose truth is known, from the files that a user would have of them to the page: fit,
//! ranking, exports, report.
//!
//! A case holds its truth as a file of parameters, beside the measurements as tables. Whatever is
//! written is read back as the same and is finite, and intervals hold the truth as often as they
//! say.

mod coverage;
mod input;
pub mod written;

use std::collections::BTreeSet;

use mmgp::Mapping;
use mmgp::belief::{Posterior, Prior};
use mmgp::decide::{Constraints, Ranking, Sampling, allowed, rank};
use mmgp::error::Error;
use mmgp::fit::{FileRows, FitResult, Inputs, Runs, Settings, fit};
use mmgp::models::Parameters;
use mmgp::table::Source;
use mmgp::table::csv;
use mmgp::table::records::Prediction;

use crate::random::Random;
use crate::target::{Input, Outcome, Seen, Target, read_otherwise, refused};

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
fn checked(input: &Input, is_true: bool) -> Result<Outcome, String> {
    let truth = input.part("truth.toml").map(|source| Parameters::read(&source));
    let Some(Ok(truth)) = truth else { return Ok(Seen::Refused.into()) };
    let fitted = match fitted(input, &truth)? {
        Some(fitted) => fitted,
        None => return Ok(Seen::Refused.into()),
    };
    let mut held = Vec::new();
    for parameters in [&fitted.parameters].into_iter().chain(&fitted.refined) {
        written::check(parameters)?;
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
    written::check_page(parameters)?;
    if is_true {
        held.extend(coverage::of_terms(input, &truth, parameters));
        held.extend(coverage::of_times(input, &truth, &ranking));
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
    written::no_odd_numbers(&text, "the report of a fit")
}

/// Fits what there is of a program; `None` where a file or the fit is refused.
fn fitted(input: &Input, truth: &Parameters) -> Result<Option<FitResult>, String> {
    let inputs = match inputs(input) {
        Ok(inputs) => inputs,
        Err(wrong) => return refused(&wrong.0, &wrong.1).map(|_| None),
    };
    let settings = Settings::new("case", truth.decomposition, truth.apus);
    match fit(&inputs, &settings) {
        Ok(fitted) => Ok(Some(fitted)),
        Err(error) => refused(&error, &Source::new("case", "")).map(|_| None),
    }
}

/// All files; what is wrong and in which.
fn inputs(input: &Input) -> Result<Inputs, Box<(Error, Source)>> {
    Ok(Inputs {
        alpha: read(input, "alpha.csv", FileRows::read)?,
        offload: read(input, "offload.csv", FileRows::read)?,
        context_switch: read(input, "context_switch.csv", FileRows::read)?,
        collective: read(input, "collective.csv", FileRows::read)?,
        profile: read(input, "profile.csv", FileRows::read)?,
        runs: read(input, "runs.csv", Runs::read)?,
        ..Inputs::default()
    })
}

fn read<T, W>(
    input: &Input,
    name: &str,
    reader: fn(&Source) -> mmgp::Result<(T, W)>,
) -> Result<Option<T>, Box<(Error, Source)>> {
    let Some(source) = input.part(name) else { return Ok(None) };
    match reader(&source) {
        Ok((table, _)) => Ok(Some(table)),
        Err(error) => Err(Box::new((error, source))),
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
    written::no_odd_numbers(&said, "the choice")
}
