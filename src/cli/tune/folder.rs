//! What is left in the folder, and the answer.

use std::path::Path;

use super::answer::LevelAnswer;
use super::declare::Declaration;
use crate::answer::Object;
use crate::attempt::Attempt;
use crate::cli::output::json;
use crate::error::Result;
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::report::{Study, page};
use crate::table::records::Run;
use crate::table::{self, csv};
use crate::tune::derived;
use crate::tune::engine::{End, Level, verdicts};
use crate::units::Seconds;

/// What a report is made of.
pub struct SearchReport<'a> {
    /// What may be run.
    pub declared: &'a Declaration,
    /// The searches.
    pub levels: &'a [Level],
    /// The folder of the search.
    pub folder: &'a Path,
    /// The reason why there are no more runs.
    pub end: Option<End>,
}

/// Writes all that follows from the attempts, and returns the answer.
///
/// # Errors
/// The errors of writing.
pub fn write(report: &SearchReport<'_>, attempts: &[Attempt]) -> Result<String> {
    let folder = report.folder;
    let verdicts = verdicts(report.levels, attempts)?;
    let all = report.levels.iter().zip(&verdicts);
    let found: Vec<LevelAnswer<'_>> = all
        .map(|(level, verdict)| {
            Ok(LevelAnswer {
                level,
                objective: in_unit_of(attempts, &level.search.objective)?,
                verdict,
                attempts,
                words: &report.declared.words,
                decomposition: report.declared.decomposition,
            })
        })
        .collect::<Result<_>>()?;
    let name = program_name(attempts);
    let mut text = String::new();
    for found in &found {
        let suffix: String = found
            .level
            .factors
            .iter()
            .map(|(name, value)| format!("-{name}={}", plain(value)))
            .collect();
        let rows = derived::runs(&found.level.factors, attempts);
        if !rows.is_empty() {
            let text = runs_csv(&rows, found.objective.quantity());
            table::write(&folder.join(format!("runs{suffix}.csv")), text)?;
        }
        if let Some(parameters) = found.parameters(&name) {
            table::write(&folder.join(format!("params{suffix}.toml")), parameters.to_toml())?;
            let study = Study {
                title: format!("{name}{suffix}"),
                search: Some(found.course(&name)?),
                objective: Some(found.objective.clone()),
                ..Study::new(parameters)
            };
            // What is too large to be ranked whole has no page.
            if let Ok(page) = page(&study) {
                table::write(&folder.join(format!("report{suffix}.html")), page)?;
            }
        }
        text += &format!("{}\n{}", found.sentence(), found.details(&name));
    }
    // These formats are of times.
    if derived::quantity(attempts).is_time() {
        table::write(&folder.join("hyperfine.json"), json(&derived::hyperfine(attempts)))?;
        table::write(&folder.join("t4.json"), json(&derived::t4(attempts)))?;
    }
    let product = |it: &&LevelAnswer<'_>| it.product().unwrap_or(f64::INFINITY);
    let best = found.iter().min_by(|one, other| product(one).total_cmp(&product(other)));
    let Some(best) = best else { return Ok(text) };
    let mut summary = best.summary(report.end);
    if found.len() > 1 {
        let levels: Vec<Object> = found.iter().map(|it| it.summary(report.end)).collect();
        summary = summary.with("levels", levels);
    }
    table::write(&folder.join("summary.json"), json(&summary))?;
    if found.len() > 1 {
        let factors: Vec<String> =
            best.level.factors.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let are_fast = found.iter().all(|it| it.objective.is_speed());
        let best = if are_fast { "Fastest" } else { "Best" };
        text += &format!("{best} with {}.\n", factors.join(", "));
    }
    text += &format!("Everything is in {}.\n", folder.display());
    Ok(text)
}

/// The objective in the unit of what the attempts printed.
fn in_unit_of(attempts: &[Attempt], objective: &Objective) -> Result<Objective> {
    match derived::quantity(attempts) {
        Quantity::Time => Ok(objective.clone()),
        other => objective.of_quantity(&other),
    }
}

/// The runs as a table that all commands read; rates and amounts as such.
fn runs_csv(rows: &[Run], quantity: &Quantity) -> String {
    let Some(unit) = quantity.unit() else { return csv::write(rows) };
    let name = format!("{} [{unit}]", quantity.name());
    let fields = |run: &Run| {
        let counts = [run.m, run.p, run.repetition].map(|count| count.to_string());
        counts.into_iter().chain([quantity.number(Seconds(run.time_s)).to_string()]).collect()
    };
    csv::write_fields(&["m", "p", "repetition", &name], rows.iter().map(fields))
}

/// What the program is called.
fn program_name(attempts: &[Attempt]) -> String {
    let first = attempts.iter().find_map(|attempt| attempt.argv.first());
    first.cloned().unwrap_or_else(|| "program".into())
}

/// A value as a part of a file's name.
fn plain(value: &str) -> String {
    let kept = |it: char| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '_' };
    value.chars().map(kept).collect()
}
