//! What people have: tables, printed numbers and units, understood or refused.
//!
//! A file becomes a [`sheet::Sheet`], whatever its format: columns with names, and rows of texts
//! ([`formats`]). A [`Plan`] says what each column is for and why, by a dictionary of names, one table of
//! units and what the user says ([`Claims`]), and reads the rows by it. What is not understood is refused,
//! with what could be said so that it is: nothing is assumed of a unit, a failure or a further factor.

mod claims;
mod columns;
mod failures;
pub mod formats;
mod labels;
mod measurand;
mod names;
mod plan;
pub mod sheet;
mod survey;
mod units;
mod values;
mod variables;
mod watch;

pub use claims::Claims;
pub use columns::Columns;
pub use measurand::{Captured, Measurand, OF_ALL_RUNS};
pub use plan::{Entry, Outcome, Part, Plan, Reading, Told, configurations};
pub use units::{Comma, Duration, Measure, Unit, duration, measure_of, number};
pub use values::values;

use std::collections::BTreeSet;

use mmgp_base::error::{Result, Warning};
use mmgp_base::table::Source;
use mmgp_base::table::csv::Record as _;
use mmgp_base::table::records::Run;

/// All runs of a file, in their order; of a row that is the mean of several runs, the mean.
///
/// # Errors
/// As [`Plan::of`] and [`Plan::read`].
pub fn runs(source: &Source, claims: &Claims) -> Result<(Vec<Run>, Vec<Warning>)> {
    let sheet = formats::sheet(source, &claims.columns)?;
    let plan = Plan::of(&sheet, claims)?;
    let (mut runs, mut keys) = (Vec::new(), BTreeSet::new());
    let reading = plan.read(&sheet, &mut |entry: Entry| {
        let is_new = keys.insert(entry.run.key());
        runs.push(entry.run);
        is_new
    })?;
    let line = plan.line(&sheet).map(Warning::Understood);
    Ok((runs, line.into_iter().chain(reading.warnings).collect()))
}

/// What a table says of each run that somebody asked for, in the order of its rows.
///
/// # Errors
/// As [`Plan::of`] and [`Plan::read`]; runs that all failed are none.
pub fn told(source: &Source, claims: &Claims) -> Result<Vec<Told>> {
    let sheet = formats::sheet(source, &claims.columns)?;
    let plan = Plan::of(&sheet, claims)?;
    let mut all = Vec::new();
    plan.read_told(&sheet, &mut |told| all.push(told))?;
    Ok(all)
}
