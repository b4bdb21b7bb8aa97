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

/// Lines broken between words so that none is wider, as far as words allow; what continues a line is
/// set in by two columns more.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut rest = line;
        let mut first = true;
        loop {
            let set_in = if first { 0 } else { indent + 2 };
            let room = width.saturating_sub(set_in).max(1);
            let cut = place_to_cut(rest, room);
            let (head, tail) = rest.split_at(cut);
            lines.push(format!("{}{}", " ".repeat(set_in), head.trim_end()));
            rest = tail.trim_start();
            first = false;
            if rest.is_empty() {
                break;
            }
        }
    }
    lines.join("\n")
}

/// After the last word that has room; after the first where none has.
fn place_to_cut(text: &str, room: usize) -> usize {
    if text.chars().count() <= room {
        return text.len();
    }
    let begins = text.len() - text.trim_start().len();
    // A per cent sign stays with its number.
    let is_space = |at: usize| at > begins && !text[at + 1..].starts_with('%');
    let spaces = text.char_indices().enumerate();
    let spaces = spaces.filter(|(_, (at, c))| *c == ' ' && is_space(*at));
    let mut cut = None;
    for (column, (at, _)) in spaces {
        if column > room && cut.is_some() {
            break;
        }
        cut = Some(at);
        if column > room {
            break;
        }
    }
    cut.unwrap_or(text.len())
}

/// Prints the warnings that matter most, and says how many others there are.
pub(super) fn warn(warnings: &[Warning]) {
    let mut all: Vec<&Warning> = warnings.iter().collect();
    all.sort_by_key(|warning| rank(warning));
    let shown = &all[..all.len().min(SHOWN)];
    for warning in shown {
        let text = wrapped(&format!("warning: {warning}"), width());
        let text = text.strip_prefix("warning: ").unwrap_or(&text).to_string();
        output::warn(&[Warning::Note(text)]);
    }
    if all.len() > shown.len() {
        eprintln!("further warnings with --verbose: {}", all.len() - shown.len());
    }
}

/// The smaller, the more a reader must know it: first what makes the answer wrong, then what makes it
/// less sure, last what it does without.
fn rank(warning: &Warning) -> u32 {
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    match warning {
        Warning::Note(text) if has(text, &["contradict", "cannot be faster"]) => 0,
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
    fn lines_are_broken_between_words_and_set_in() {
        let check = |text: &str, width: usize, expected: &str| {
            assert_eq!(wrapped(text, width), expected);
        };
        check("one two three", 13, "one two three");
        check("one two three", 9, "one two\n  three");
        check("  one two three\nfour", 10, "  one two\n    three\nfour");
        check("off by 44 % of", 10, "off by\n  44 % of");
        check("unbreakable word", 4, "unbreakable\n  word");
    }

    #[test]
    fn contradictions_come_before_what_was_not_measured() {
        let not_measured = Warning::NotMeasured { term: "g_s", taken: 0.0, measure: "x" };
        let contradiction = Warning::Note("runs and files contradict each other".into());
        assert!(rank(&contradiction) < rank(&Warning::AtBound { term: "g_s", bound: 0.0 }));
        assert!(rank(&contradiction) < rank(&not_measured));
    }
}
