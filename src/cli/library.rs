//! `fit` and `predict` for callers that are programs: asked in the words of the command line, answered with
//! values, and nothing is printed.
//!
//! Words are flags with their values, as typed after the name of the command: `["--where", "m*p <= 8"]`. So
//! one dictionary of words, one set of defaults and one text of each refusal serve both. What a command would
//! print for programs is answered as that JSON.

use clap::Args;

use super::{fit, input, output, predict, without_length};
use crate::Mapping;
use crate::belief::Posterior;
use crate::error::{Error, Result, Warning};
use crate::models::Parameters;
use crate::table;
pub use fit::Tables;

/// What `mmgp fit` made of some tables.
#[derive(Debug)]
pub struct Estimate {
    /// Value that its rows have in the column of `--by`; none where all rows are one estimate.
    pub of: Option<String>,
    /// The parameters.
    pub parameters: Parameters,
    /// What `--report` writes, as JSON.
    pub report: String,
    /// What was found, in the few lines that the command prints.
    pub text: String,
    /// Equation 11 with its numbers; empty where the runs do not tell its terms.
    pub formula: String,
    /// All warnings.
    pub warnings: Vec<Warning>,
}

/// Estimates parameters as `mmgp fit` does, from files and from tables in memory: these take the place of the
/// file that a flag of theirs names.
///
/// # Errors
/// Those of the command. What `--require` wants and the data do not determine is an error, too.
pub fn estimates(words: &[String], tables: &Tables) -> Result<Vec<Estimate>> {
    let (outcome, heard) = quietly(|| {
        let arguments: fit::Arguments = parsed("fit", words)?;
        let mut estimates = Vec::new();
        fit::each(&arguments, tables, &mut |runs, value| {
            let fitted = fit::estimate(&arguments, tables, runs)?;
            if let Some(missing) = fit::missing(&arguments, &fitted)?.first() {
                let of = format!("{} is not determined: {}", missing.term, fit::why(missing));
                return Err(Error::too_little(
                    "--require",
                    of,
                    format!("give {}", missing.measure),
                ));
            }
            estimates.push(Estimate {
                of: value.map(String::from),
                report: fit::json(&fitted.report, &fitted.warnings),
                text: fit::told(&fitted, usize::MAX),
                formula: fitted.summary().formula,
                parameters: fitted.parameters,
                warnings: fitted.warnings,
            });
            Ok(())
        })?;
        Ok(estimates)
    });
    let mut estimates: Vec<Estimate> = outcome?;
    estimates.iter_mut().for_each(|it| it.warnings.extend_from_slice(&heard));
    Ok(estimates)
}

/// What `mmgp predict` answers of some parameters, as the JSON that it prints, with its warnings.
///
/// # Errors
/// Those of the command.
pub fn prediction(words: &[String], parameters: &Parameters) -> Result<(String, Vec<Warning>)> {
    let (answer, warnings) = quietly(|| predict::json(&asked(words)?, parameters));
    Ok((answer?, warnings))
}

/// What is believed of the times by parameters, in the words of `mmgp predict`.
///
/// # Errors
/// Those of the command.
pub fn believed(words: &[String], parameters: &Parameters) -> Result<Believed> {
    let (found, _) = quietly(|| predict::posterior(&asked(words)?, parameters));
    let (posterior, mappings) = found?;
    let mut known =
        Believed { parameters: parameters.clone(), posterior, mappings, known: Vec::new() };
    known.known = known.asked_beside(&[]);
    Ok(known)
}

/// What is believed of the times of a program.
pub struct Believed {
    parameters: Parameters,
    posterior: Posterior,
    /// The configurations in question.
    mappings: Vec<Mapping>,
    /// Each of them, in their order, with its time and both ends of the interval.
    known: Vec<(Mapping, [f64; 3])>,
}

/// Times with the ends of their 95 % intervals \[s, or the unit of what was measured\].
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// The predictions.
    pub time: Vec<f64>,
    /// The lower ends.
    pub low: Vec<f64>,
    /// The upper ends.
    pub high: Vec<f64>,
}

impl Believed {
    /// The times of many configurations, in their order.
    ///
    /// # Errors
    /// [`Error::Infeasible`] for one with more APUs than there are.
    pub fn times(&self, mappings: &[Mapping]) -> Result<Times> {
        mappings.iter().try_for_each(|&mapping| self.parameters.check(mapping))?;
        // Each of them once: tables repeat few configurations many times.
        let mut others = mappings.to_vec();
        others.sort_unstable();
        others.dedup();
        others.retain(|mapping| place(&self.known, *mapping).is_err());
        let others = if others.is_empty() { Vec::new() } else { self.asked_beside(&others) };
        let numbers = |mapping: &Mapping| match place(&self.known, *mapping) {
            Ok(place) => self.known[place].1,
            Err(_) => others[place(&others, *mapping).expect("invariant: it is asked for")].1,
        };
        let of = |which: usize| mappings.iter().map(|it| numbers(it)[which]).collect();
        Ok(Times { time: of(0), low: of(1), high: of(2) })
    }

    /// The times of all that is in question and of others, in their order. What is asked for at once is what
    /// `mmgp predict` asks for, as the last bits of a product of matrices depend on its size.
    fn asked_beside(&self, others: &[Mapping]) -> Vec<(Mapping, [f64; 3])> {
        let asked = [&self.mappings, others, &[Mapping::SEQUENTIAL]].concat();
        let quantity = self.posterior.objective().quantity();
        let marginals = self.posterior.marginals(&asked);
        let numbers = |(index, &mapping): (usize, &Mapping)| {
            let [low, high] = marginals.interval(index);
            let (low, high) = quantity.ends(low, high);
            (mapping, [marginals.time(index), low, high].map(|time| quantity.number(time)))
        };
        let mut known: Vec<_> = asked[..asked.len() - 1].iter().enumerate().map(numbers).collect();
        known.sort_unstable_by_key(|(mapping, _)| *mapping);
        known
    }
}

/// The place of a configuration among some in their order.
fn place(known: &[(Mapping, [f64; 3])], mapping: Mapping) -> std::result::Result<usize, usize> {
    known.binary_search_by_key(&mapping, |(known, _)| *known)
}

fn asked(words: &[String]) -> Result<predict::Arguments> {
    // The parameters are given.
    let words = [["--params", "-"].map(String::from).as_slice(), words].concat();
    parsed("predict", &words)
}

/// Does what reads no file twice and prints nothing; with the warnings.
fn quietly<T>(work: impl FnOnce() -> T) -> (T, Vec<Warning>) {
    input::forget();
    let (result, mut warnings) = output::heard(work);
    warnings.extend(table::notes());
    (result, warnings)
}

/// The flags of a command that these words say.
fn parsed<A: Args>(name: &'static str, words: &[String]) -> Result<A> {
    let command = clap::Command::new(name).no_binary_name(true).disable_help_flag(true);
    let mut command = A::augment_args(command);
    let matches = command.try_get_matches_from_mut(words);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let text = without_length(error).to_string();
        Error::other(std::io::Error::other(in_short(&text)))
    })
}

/// A refusal of flags without the advice on how to call a command.
fn in_short(text: &str) -> String {
    let text = text.trim_start_matches("error: ");
    let advice = ["\n\nUsage:", "\n\nFor more information"];
    let end = advice.iter().filter_map(|it| text.find(it)).min().unwrap_or(text.len());
    text[..end].trim_end().to_string()
}
