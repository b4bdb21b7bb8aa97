//! Warnings: what a reader of a result should know.

use super::{Place, Position, shortened, suggest};

/// Something that the reader of a result should know; the result is given all the same.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// How a table was understood, where its columns are not called as mmgp calls them.
    #[error("{0}")]
    Understood(String),
    /// What a probe of a program could not see, or what disturbed it.
    #[error("{0}")]
    Probed(String),
    /// A column that the format does not know was skipped.
    #[error(
        "{at}: column {:?} is not known and was ignored{}",
        shortened(name),
        suggest(name, missing)
    )]
    UnknownColumn {
        /// Place of its header.
        at: Position,
        /// The column's name.
        name: String,
        /// Columns that may be missing and are, one of which could have been meant.
        missing: Vec<String>,
    },
    /// Runs that failed were left out.
    #[error(
        "{file}: {}, {}in {place}, of ({m}, {p}): {}",
        left_out(*count),
        if *count == 1 { "" } else { "the first " },
        shortened(why)
    )]
    FailedRuns {
        /// The file.
        file: String,
        /// How many.
        count: u64,
        /// The line or the row of the first.
        place: Place,
        /// Host threads.
        m: u32,
        /// APUs for each of them.
        p: u32,
        /// What says that it failed.
        why: String,
    },
    /// A table over m was asked beyond its last m; its last value was used.
    #[error("{term} is known up to m = {last}; its last value was used for m = {m} and above")]
    BeyondTable {
        /// The term, by its name in files.
        term: &'static str,
        /// The largest m in the table.
        last: u32,
        /// The smallest m asked for beyond it.
        m: u32,
    },
    /// The data cannot tell some terms apart; their sum was put on one of them.
    #[error("{on} stands for a sum that these data cannot split: {}", sum.join(" + "))]
    Combined {
        /// The term that carries the sum.
        on: &'static str,
        /// All terms in the sum.
        sum: Vec<String>,
    },
    /// A term that no file determines was set to a neutral value.
    #[error("{term} was not measured and is taken as {taken}; give {measure} to measure it")]
    NotMeasured {
        /// The term, by its name in files.
        term: &'static str,
        /// The value used instead.
        taken: f64,
        /// The flag that would provide it.
        measure: &'static str,
    },
    /// A term ended at a bound of its range, which its standard error does not know.
    #[error("{term} ended at its bound {bound}; its standard error is not to be trusted")]
    AtBound {
        /// The term, by its name in files.
        term: &'static str,
        /// The bound.
        bound: f64,
    },
    /// A prediction that rests on a table held constant beyond its last m.
    #[error(
        "the interval of ({m}, {p}) rests to {:.0} % on what {term} may be beyond m = {last}; \
         measure it at m = {m}",
        100.0 * share
    )]
    Extrapolated {
        /// Host threads of the configuration.
        m: u32,
        /// APUs for each of them.
        p: u32,
        /// The term that widens the interval most, by its name in files.
        term: &'static str,
        /// The largest m in its table.
        last: u32,
        /// Part of that term in the variance of the predicted time.
        share: f64,
    },
    /// The first repetitions differ from the others.
    #[error(
        "{file}: the first repetition takes {percent:+.1} % against the others, more than chance \
         explains: what is measured warms up; {}",
        match left_out {
            0 => "run it once before the clock starts".into(),
            1 => "1 run, the first of its configuration, was left out".into(),
            count => format!("{count} runs, the first of their configurations, were left out"),
        }
    )]
    WarmUp {
        /// The file of the runs.
        file: String,
        /// How much longer the first repetition takes, in per cent.
        percent: f64,
        /// The same in standard errors.
        deviations: f64,
        /// How many runs were left out for it.
        left_out: u64,
    },
    /// Times change from repetition to repetition.
    #[error(
        "{file}: times change by {percent:+.1} % from the second repetition to the last \
         ({deviations:.1} standard errors): the machine was not in a steady state; mix the order \
         of the configurations, or let it settle"
    )]
    Drift {
        /// The file of the runs.
        file: String,
        /// The change over all repetitions, in per cent.
        percent: f64,
        /// The same in standard errors.
        deviations: f64,
    },
    /// A term was measured without repetition.
    #[error(
        "{term}: nothing in {file} was repeated, so that its standard error is unknown; give three \
         repetitions or more"
    )]
    MeasuredOnce {
        /// The term, by its name in files.
        term: &'static str,
        /// The file.
        file: String,
    },
    /// Terms of the refined model that a result of equation 11 alone does not use.
    #[error("[refined] is left out, for this is equation 11 alone: {}", terms.join(", "))]
    RefinedLeftOut {
        /// The refined terms that are on, by their names in files.
        terms: Vec<&'static str>,
    },
    /// Something else that the reader of a result should know.
    #[error("{0}")]
    Note(String),
    /// Values of which nobody knows how uncertain they are.
    #[error(
        "intervals and probabilities know nothing of the uncertainty of {}: no standard error is given",
        terms.join(", ")
    )]
    NoStandardError {
        /// The terms, by their names in files.
        terms: Vec<&'static str>,
    },
}

/// Runs that failed in words: `1 run failed and was left out`.
fn left_out(count: u64) -> String {
    match count {
        1 => "1 run failed and was left out".into(),
        _ => format!("{count} runs failed and were left out"),
    }
}
