//! What a fit found: as JSON for programs; for people as few lines as matter, no wider than the terminal.

use crate::answer::{Object, Style, Table};
use crate::cli::Answer;
use crate::cli::objective::{basis, measured};
use crate::cli::output::{self, data, line};
use crate::error::{Error, Result, Warning};
use crate::fit::identifiability::UndeterminedTerm;
use crate::fit::report::{Report, RunsReport, TermReport};
use crate::fit::{FitResult, TracedRegion, TracedReport};

/// Says which required terms the data do not determine: the answer is no.
pub(super) fn undetermined(missing: &[UndeterminedTerm], required: &[String]) -> Result<Answer> {
    for each in missing {
        line(&format!("{} is not determined: {}; give {}", each.term, why(each), each.measure));
    }
    let undetermined = missing.iter().map(|it| {
        Object::new()
            .with("term", &it.term)
            .with("reason", it.reason)
            .with("sum", it.sum.clone())
            .with("measure", it.measure)
    });
    data(None, &output::json(&refusal(required, undetermined.collect())))?;
    Ok(Answer::No)
}

/// Why a term is not determined.
pub fn why(missing: &UndeterminedTerm) -> String {
    match missing.reason {
        "sum" => format!("the data know only the sum of {}", missing.sum.join(", ")),
        "traded" => format!("in these runs {} take each other's place", missing.sum.join(", ")),
        _ => "nothing tells of it".to_string(),
    }
}

/// The data determine nothing at all: the answer is no.
pub(super) fn refused(error: &Error, required: &[String]) -> Result<Answer> {
    line(&format!("{error}"));
    let refusal = refusal(required, Vec::new()).with("reason", error.to_string());
    data(None, &output::json(&refusal))?;
    Ok(Answer::No)
}

/// What traced runs say, for people.
pub fn traced(report: &TracedReport) -> String {
    let mut table = Table::of(&report.parts).column("of a rank", Style::Plain, |it| it.what).left();
    for (place, mapping) in report.mappings.iter().enumerate() {
        let name = mapping.to_string();
        table = table.headed(&name, name.clone(), Style::Time, move |it| it.times[place]);
    }
    let table = table.column("over (m, p) [s]", Style::Plain, |it| it.formula.clone()).left();
    let mut text = format!("What traced runs tell, in the place of equation 11.\n{}", table.text());
    let most = report.mappings.iter().max_by_key(|it| (it.p(), it.m()));
    for (TracedRegion { name, share, limit }, most) in
        report.regions.iter().zip(most.into_iter().cycle())
    {
        text += &format!("\nRegion {name} takes {:.0} % at {most}", 100.0 * share);
        if let Some(limit) = limit {
            text += &format!(
                "; beyond {limit} threads, what they cannot share of it takes longer than what they can"
            );
        }
        text += ".";
    }
    text
}

/// What a fit found in a few lines, no wider than so many columns.
pub fn told(fitted: &FitResult, width: usize) -> String {
    let mut text = match &fitted.traced {
        Some(of_traces) => traced(of_traces),
        None => output::wrapped(&fitted.summary().to_string(), width),
    };
    if let Some(runs) = &fitted.report.runs {
        let basis = runs.basis.to_string().replacen("From", "Predictions come from", 1);
        text += &format!("\n{}", output::wrapped(&format!("{basis}."), width));
    }
    text
}

/// A refusal for programs.
fn refusal(required: &[String], undetermined: Vec<Object>) -> Object {
    Object::new()
        .with("required", required)
        .with("determined", false)
        .with("undetermined", undetermined)
}

/// The report as one JSON object.
pub fn json(report: &Report, warnings: &[Warning]) -> String {
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let object = Object::new()
        .with("name", &report.name)
        .with_some("objective", measured(&report.quantity))
        .with("terms", report.terms.iter().flat_map(values).collect::<Vec<_>>())
        .with_some("runs", report.runs.as_ref().map(of_runs))
        .with("warnings", warnings);
    output::json(&object)
}

/// The values of a term, each with its m where it is a table over m.
fn values(term: &TermReport) -> impl Iterator<Item = Object> {
    term.values.iter().map(|(m, estimate)| {
        let combined = &estimate.combined_with[..];
        Object::new()
            .with("term", term.term)
            .with_some("m", *m)
            .with("value", estimate.value)
            .with("std_error", estimate.std_error)
            .with("low", estimate.interval().map(|(low, _)| low))
            .with("high", estimate.interval().map(|(_, high)| high))
            .with("degrees_of_freedom", estimate.degrees_of_freedom)
            .with("source", estimate.source.as_deref())
            .with_some("combined_with", (!combined.is_empty()).then_some(combined))
            .with("rows", term.observations)
    })
}

/// What is believed, beside the runs.
fn of_runs(runs: &RunsReport) -> Object {
    let told = &runs.identifiability;
    let identifiability = Object::new()
        .with("rank", told.rank)
        .with("singular_values", told.singular_values.clone())
        .with("sums", told.sums.clone())
        .with("traded", told.traded.clone())
        .with("time_next", told.time_next)
        .with("silent", told.silent.clone());
    let left_out = runs.left_out.iter().map(|each| {
        Object::new()
            .with("mean", &each.mean)
            .with("mean_error_percent", 100.0 * each.mean_error)
            .with("max_error_percent", 100.0 * each.max_error)
            .with("worst", each.worst)
    });
    let agreement = runs.agreement.as_ref().map(|agreement| {
        let contradictions = agreement.values.iter().map(ToString::to_string);
        Object::new()
            .with("contradicted", agreement.contradicted)
            .with("contradictions", contradictions.collect::<Vec<_>>())
    });
    let shapes = runs
        .growths
        .iter()
        .map(|(shape, weight)| Object::new().with("shape", shape.name()).with("weight", *weight));
    Object::new()
        .with("file", &runs.file)
        .with("runs", runs.runs)
        .with("configurations", runs.configurations)
        .with("estimated", runs.estimated)
        .with("identifiability", identifiability)
        .with("basis", basis(&runs.basis))
        .with("equation_11_is_exact", runs.exact)
        .with("mean_error_percent", 100.0 * runs.mean_error)
        .with("max_error_percent", 100.0 * runs.max_error)
        .with("worst", runs.worst)
        .with("left_out", left_out.collect::<Vec<_>>())
        .with("agreement_with_files", agreement)
        .with("alpha_shapes", shapes.collect::<Vec<_>>())
}

/// More warnings than these are not read.
const SHOWN: usize = 3;

/// The width of what is not a terminal.
const USUAL_WIDTH: usize = 80;

/// Columns of standard error.
pub(super) fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0).max(40))
}

/// Says how the table was understood, where something had to be found out.
pub(super) fn tell(warnings: &[Warning]) {
    for warning in warnings {
        if let Warning::Understood(text) = warning {
            let text = output::wrapped(&format!("read: {text}"), width());
            let text = text.strip_prefix("read: ").unwrap_or(&text).to_string();
            output::warn(&[Warning::Understood(text)]);
        }
    }
}

/// Prints the warnings that matter most, and says how many others there are.
pub(super) fn warn(warnings: &[Warning]) {
    let is_warning = |warning: &&Warning| !matches!(warning, Warning::Understood(_));
    let mut all: Vec<&Warning> = warnings.iter().filter(is_warning).collect();
    all.sort_by_key(|warning| rank(warning));
    let shown = &all[..all.len().min(SHOWN)];
    for warning in shown {
        let text = output::wrapped(&format!("warning: {warning}"), width());
        let text = text.strip_prefix("warning: ").unwrap_or(&text).to_string();
        output::warn(&[Warning::Note(text)]);
    }
    if all.len() > shown.len() {
        output::line(&format!("further warnings with --verbose: {}", all.len() - shown.len()));
    }
}

/// The smaller, the more a reader must know it: first what makes the answer wrong, then what makes it
/// less sure, last what it does without.
fn rank(warning: &Warning) -> u32 {
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    match warning {
        Warning::Note(text)
            if has(
                text,
                &[
                    "contradict",
                    "cannot be faster",
                    "change nothing at",
                    "did it fail?",
                    "are they repetitions?",
                ],
            ) =>
        {
            0
        }
        Warning::FailedRuns { .. } | Warning::WarmUp { left_out: 1.., .. } => 1,
        Warning::Note(text)
            if has(text, &["left out", "misses the means", "as many terms as runs"]) =>
        {
            1
        }
        Warning::UnknownColumn { .. } => 2,
        Warning::WarmUp { .. } | Warning::Drift { .. } => 3,
        Warning::Note(text) if has(text, &["next to nothing of"]) => 4,
        Warning::AtBound { .. } => 5,
        Warning::MeasuredOnce { .. } => 7,
        Warning::Combined { .. } => 8,
        Warning::NotMeasured { .. } => 9,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_come_before_what_was_not_measured() {
        let not_measured = Warning::NotMeasured { term: "g_s", taken: 0.0, measure: "x" };
        let contradiction = Warning::Note("runs and files contradict each other".into());
        assert!(rank(&contradiction) < rank(&Warning::AtBound { term: "g_s", bound: 0.0 }));
        assert!(rank(&contradiction) < rank(&not_measured));
    }
}
