//! Programs whose truth is known, from the files that a user would have of them to the page: fit,
//! ranking, exports, report.
//!
//! A case holds its truth as a file of parameters, beside the measurements as tables. Whatever is
//! written is read back as the same and is finite, and intervals hold the truth as often as they
//! say.

mod coverage;
mod extremes;
mod fitted;
mod measured;
mod ranked;
mod truth;
pub mod written;

use mmgp::belief::{Posterior, Prior};
use mmgp::decide::{Constraints, Sampling, allowed, rank};
use mmgp::fit::Fitted;
use mmgp::models::Parameters;

use crate::random::Random;
use crate::target::{Input, Outcome, Seen, Target};

/// The targets.
pub fn targets() -> Vec<Box<dyn Target>> {
    vec![
        Box::new(True { name: "true-programs", is_refined: false, about: "equation 11" }),
        Box::new(True { name: "refined-programs", is_refined: true, about: "the refined model" }),
        Box::new(extremes::Extremes),
    ]
}

/// Programs as a model says, timed with noise.
struct True {
    name: &'static str,
    is_refined: bool,
    about: &'static str,
}

impl Target for True {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        match self.about {
            "equation 11" => {
                "files of programs as equation 11 says: sound, and as true as they say"
            }
            _ => "files of programs as the refined model says: sound, and as true as they say",
        }
    }

    fn cost(&self) -> u64 {
        50
    }

    fn most_seconds(&self) -> f64 {
        20.0
    }

    fn least_taken(&self) -> f64 {
        0.9
    }

    fn input(&self, random: &mut Random) -> Input {
        let truth = truth::program(random, self.is_refined);
        measured::files(random, &truth)
    }

    fn check(&self, input: &Input) -> Result<Outcome, String> {
        checked(input, true)
    }
}

/// Follows a program's files to the page; of one that `is_true`, counts what held.
fn checked(input: &Input, is_true: bool) -> Result<Outcome, String> {
    let truth = input.part("truth.toml").map(|source| Parameters::read(&source));
    let Some(Ok(truth)) = truth else { return Ok(Seen::Refused.into()) };
    let fitted = match fitted::fitted(input, &truth)? {
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
    ranked::check(&ranking, &mappings)?;
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
fn said(fitted: &Fitted) -> Result<(), String> {
    let words = fitted.warnings.iter().map(ToString::to_string);
    let text = format!("{}\n{}", fitted.report, words.collect::<Vec<_>>().join("\n"));
    written::no_odd_numbers(&text, "the report of a fit")
}
