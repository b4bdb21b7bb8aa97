//! What a fit found, for people: as few lines as matter, no wider than the terminal.

use super::super::output;
use crate::error::Warning;

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
