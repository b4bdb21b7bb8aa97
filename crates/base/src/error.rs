//! One error for the whole library, and [`Warning`]s that travel beside a result.

mod warning;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

pub use warning::Warning;

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in an input: of a file as editors and compilers write it, `runs.csv:3:7`, of a data frame
/// `the frame, row 2 (from 0)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The file's name as the user gave it, or what a data frame is called.
    pub file: String,
    /// Place in it.
    pub place: Place,
}

/// Place in an input at which something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line and column of a text.
    Text {
        /// Line, counted from 1; comment lines count.
        line: u64,
        /// Column in characters, counted from 1.
        column: u64,
    },
    /// Row of a data frame, counted from 0 as frames do.
    Row(u64),
    /// Names of a data frame's columns.
    Names,
}

impl Place {
    /// The place behind a character of a text that stands here; of what is no text, the same.
    pub(crate) fn behind(self, letter: char) -> Self {
        match (self, letter) {
            (Self::Text { line, .. }, '\n') => Self::Text { line: line + 1, column: 1 },
            _ => self.further(1),
        }
    }

    /// The place so many characters on in the same line of a text; of what is no text, the same.
    pub fn further(self, characters: u64) -> Self {
        match self {
            Self::Text { line, column } => Self::Text { line, column: column + characters },
            Self::Row(_) | Self::Names => self,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place } = self;
        match place {
            Place::Text { line, column } => write!(f, "{file}:{line}:{column}"),
            Place::Row(_) | Place::Names => write!(f, "{file}, {place}"),
        }
    }
}

/// The line or the row: `line 3`, `row 2 (from 0)`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, .. } => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row} (from 0)"),
            Self::Names => f.write_str("names of the columns"),
        }
    }
}

/// Something that a user can say so that a table is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What is said: `columns`, `filter`, `by`, `ignore`.
    pub key: &'static str,
    /// What of it.
    pub value: String,
    /// What is meant by it; empty where that is plain.
    pub meaning: String,
}

/// Answers as a sentence.
fn answered(answers: &[Answer]) -> String {
    let one = |Answer { key, value, meaning }: &Answer| match meaning.is_empty() {
        true => format!("{key} {value}"),
        false => format!("{key} {value} ({meaning})"),
    };
    match answers {
        [] => String::new(),
        _ => format!("; say {}", answers.iter().map(one).collect::<Vec<_>>().join(", or ")),
    }
}

/// Why something could not be done, and what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file's text is not what its format asks for. Correct the file at that place.
    #[error("{at}: found {}, expected {expected}", shortened(found))]
    Input {
        /// Place at which it stands.
        at: Position,
        /// What stands there.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// A table that can be understood in several ways, or in none. Say how it is meant.
    #[error("{file}: {found}{}", answered(answers))]
    Ambiguous {
        /// The file.
        file: String,
        /// What is not clear.
        found: String,
        /// What would make it clear, the likeliest first.
        answers: Vec<Answer>,
    },
    /// A file could not be read. Check the path and its permissions.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file or folder could not be written. Check the path, its permissions and the disk.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Another process goes on with a file. Wait for its end, or use another folder.
    #[error("{} is in use: another mmgp is running in that folder", file.display())]
    InUse {
        /// The file.
        file: PathBuf,
    },
    /// A program could not be run. The message says why.
    #[error("{program}: {why}")]
    Program {
        /// Name of the program.
        program: String,
        /// What was in the way.
        why: String,
    },
    /// A name that is neither built in nor a file. Use one of the known ones or give a path.
    #[error("there is no {kind} {:?}{}", shortened(name), alternatives(name, known))]
    UnknownName {
        /// What sort of thing was looked for: `machine`, `parameter set`...
        kind: &'static str,
        /// The name as given.
        name: String,
        /// All names that would have been right.
        known: Vec<String>,
    },
    /// A configuration that the machine cannot hold. Choose a smaller `m` or `p`.
    #[error("m = {m}, p = {p} needs {} APUs, but there are {apus}", u64::from(*m) * u64::from(*p))]
    Infeasible {
        /// Host threads.
        m: u32,
        /// APUs for each of them.
        p: u32,
        /// APUs available.
        apus: u32,
    },
    /// Constraints that no configuration meets together. Relax one of those named.
    #[error(
        "no (m, p) of {apus} APUs meets {}{}; relax {}",
        named(constraints),
        if constraints.len() > 1 { " together" } else { "" },
        if constraints.len() > 1 { "one of them" } else { "it" }
    )]
    NothingFeasible {
        /// APUs available.
        apus: u32,
        /// Names and values, of which none can be left out without something being feasible.
        constraints: Vec<(&'static str, String)>,
    },
    /// A value outside its range. The message says what is allowed.
    #[error("{name}: found {}, expected {expected}", shortened(found))]
    OutOfRange {
        /// The field or quantity.
        name: &'static str,
        /// What was given.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// The data cannot answer the question. Measure what the message asks for.
    #[error("{file}: {found}; {advice}")]
    TooLittleData {
        /// The file or files the data came from.
        file: String,
        /// What the data hold.
        found: String,
        /// What to measure so that the question has an answer.
        advice: String,
    },
    /// A picture could not be drawn.
    #[error("cannot draw the plot: {0}")]
    Plot(String),
    /// A numerical method did not end well.
    #[error("the fit did not converge: {0}")]
    Fit(String),
    /// An error of another crate's own type. The message says what can be done.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A value outside its range: the field or quantity, what was given, and what is allowed.
    pub fn out_of_range(
        name: &'static str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::OutOfRange { name, found: found.into(), expected: expected.into() }
    }

    /// A name that is none of the known ones.
    pub fn unknown_name(
        kind: &'static str,
        name: impl Into<String>,
        known: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let known = known.into_iter().map(Into::into).collect();
        Self::UnknownName { kind, name: name.into(), known }
    }

    /// Data that cannot answer the question: where they are from, what they hold, and what to measure.
    pub fn too_little(
        file: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::TooLittleData { file: file.into(), found: found.into(), advice: advice.into() }
    }

    /// What can be understood in several ways or in none, with what would make it clear.
    pub fn ambiguous(
        file: impl Into<String>,
        found: impl Into<String>,
        answers: Vec<Answer>,
    ) -> Self {
        Self::Ambiguous { file: file.into(), found: found.into(), answers }
    }

    /// An error of another crate's own type, which [`Error::downcast`] finds again.
    pub fn other(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Other(Box::new(error))
    }

    /// The error of another crate that this is, where it is of type `E`.
    pub fn downcast<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// The same error, where it is of a value outside its range under another name: a flag instead of a field.
    pub fn renamed(self, rename: impl FnOnce(&'static str) -> &'static str) -> Self {
        match self {
            Self::OutOfRange { name, found, expected } => {
                Self::OutOfRange { name: rename(name), found, expected }
            }
            other => other,
        }
    }
}

/// The one of `all` whose name is `text`.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are.
pub fn of_name<T: Copy>(
    kind: &'static str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    text: &str,
) -> Result<T> {
    let found = all.iter().copied().find(|&each| name(each) == text);
    found.ok_or_else(|| Error::unknown_name(kind, text, all.iter().map(|&each| name(each))))
}

/// Constraints in words: `min_m 3 and max_p 4`.
fn named(constraints: &[(&str, String)]) -> String {
    let named = constraints.iter().map(|(name, value)| format!("{name} {}", shortened(value)));
    named.collect::<Vec<_>>().join(" and ")
}

/// Messages quote no more of a file than this [characters], which is more than any name or number
/// that belongs into one.
const MOST_SHOWN: usize = 300;

/// The characters that are left at either end of a text that is cut.
const ENDS_SHOWN: usize = 60;

/// A text as messages show it: what is too long, a field of megabytes for instance, by its two ends
/// and the number of characters between them.
pub fn shortened(text: &str) -> Cow<'_, str> {
    // So many bytes are as many characters at most.
    if text.len() <= MOST_SHOWN {
        return text.into();
    }
    let head = text.char_indices().nth(ENDS_SHOWN).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().nth_back(ENDS_SHOWN - 1).map_or(0, |(at, _)| at);
    let left_out = text.get(head..tail).map_or(0, |between| between.chars().count());
    if left_out + 2 * ENDS_SHOWN <= MOST_SHOWN {
        return text.into();
    }
    format!("{}[... {left_out} characters ...]{}", &text[..head], &text[tail..]).into()
}

/// What could have been meant, and all that is known.
fn alternatives(name: &str, known: &[String]) -> String {
    let nearest = suggest(name, known);
    let end = if nearest.is_empty() { ";" } else { "" };
    let known: Vec<Cow<'_, str>> = known.iter().map(|name| shortened(name)).collect();
    format!("{nearest}{end} known: {}", known.join(", "))
}

/// `; did you mean "x"?` where a known name is near.
pub fn suggest(name: &str, known: &[impl AsRef<str>]) -> String {
    nearest(name, known)
        .map_or_else(String::new, |near| format!("; did you mean {:?}?", shortened(near)))
}

/// The known name that `name` was likely meant to be: the only one that it begins, or the one that
/// differs in the fewest letters, in no more than a third of them. Capitals do not count, and two
/// neighbours that changed places count as one. A name in another unit was not mistyped.
pub fn nearest<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let mut begun = known.iter().filter(|it| it.as_ref().to_lowercase().starts_with(&name));
    if let (2.., Some(only), None) = (name.chars().count(), begun.next(), begun.next()) {
        return Some(only.as_ref());
    }
    if known.iter().any(|candidate| is_in_another_unit(&name, candidate.as_ref())) {
        return None;
    }
    let letters_of_name = name.chars().count();
    let near = |candidate: &'a str| {
        let lower = candidate.to_lowercase();
        let letters = candidate.chars().count();
        // Each letter too many is a change, and to compare texts of megabytes would take minutes.
        if letters_of_name.abs_diff(lower.chars().count()) * 3 > letters.max(3) {
            return None;
        }
        let changes = strsim::osa_distance(&name, &lower);
        (changes * 3 <= letters.max(3) && changes < letters).then_some((changes, candidate))
    };
    let (_, name) = known.iter().filter_map(|candidate| near(candidate.as_ref())).min()?;
    Some(name)
}

/// Units of time that stand at the end of a column's name.
const UNITS: [&str; 6] = ["s", "ms", "us", "ns", "min", "h"];

/// Whether two names are of the same quantity, each in a unit of its own: to rename one would
/// change every value.
pub fn is_in_another_unit(name: &str, wanted: &str) -> bool {
    fn split(name: &str) -> Option<(&str, &str)> {
        let (quantity, unit) = name.rsplit_once('_')?;
        UNITS.contains(&unit).then_some((quantity, unit))
    }
    let (one, other) = (split(name), split(wanted));
    one.zip(other).is_some_and(|(one, other)| one.0 == other.0 && one.1 != other.1)
}

/// Whether a column's name is a misspelling of `known` beyond reasonable doubt: the same up to
/// capitals, or, of names of four letters and more, one letter away.
pub fn is_near_spelling(name: &str, known: &str) -> bool {
    let (name, known) = (name.to_lowercase(), known.to_lowercase());
    let (letters, others) = (known.chars().count(), name.chars().count());
    // To compare texts of megabytes would take minutes.
    let is_close = letters >= 4 && letters.abs_diff(others) <= 1;
    name == known
        || is_close
            && !is_in_another_unit(&name, &known)
            && strsim::osa_distance(&name, &known) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_suggests_the_nearest() {
        let error = Error::UnknownName {
            kind: "machine",
            name: "qs2O".into(),
            known: vec!["ps3".into(), "qs20".into()],
        };
        assert_eq!(
            error.to_string(),
            "there is no machine \"qs2O\"; did you mean \"qs20\"? known: ps3, qs20"
        );
    }

    #[test]
    fn what_is_too_long_for_a_message_is_shown_by_its_ends() {
        let check = |text: &str, shown: &str| assert_eq!(shortened(text), shown);
        check("a\tµ", "a\tµ");
        let whole = "µ".repeat(300);
        check(&whole, &whole);
        let ends = "µ".repeat(60);
        check(&"µ".repeat(301), &format!("{ends}[... 181 characters ...]{ends}"));
        check(&"µ".repeat(1_000_000), &format!("{ends}[... 999880 characters ...]{ends}"));
        let between = "x".repeat(20_000_000);
        check(
            &format!("{ends}{between}{ends}"),
            &format!("{ends}[... 20000000 characters ...]{ends}"),
        );
    }

    #[test]
    fn no_message_repeats_megabytes() {
        let long = "é\n".repeat(5_000_000);
        let at = Position { file: "x".into(), place: Place::Text { line: 1, column: 1 } };
        let (found, expected) = (format!("{long:?} in column \"m\""), "a number".to_string());
        let errors = [
            Error::Input { at: at.clone(), found: found.clone(), expected: expected.clone() },
            Error::out_of_range("m", found, expected),
            Error::UnknownName { kind: "machine", name: long.clone(), known: vec!["ps3".into()] },
        ];
        let warning =
            Warning::UnknownColumn { at, name: long, missing: vec!["mode".into()] }.to_string();
        for message in errors.iter().map(ToString::to_string).chain([warning]) {
            assert!(message.chars().count() < 300, "{}", message.len());
            assert!(!message.contains('\n') && message.contains(" characters ...]"), "{message}");
        }
        assert!(errors[0].to_string().contains("é\\né\\n\" in column \"m\", expected"));
    }

    /// Which of the names that a user of the command line may choose among is suggested.
    fn check(name: &str, suggested: Option<&str>) {
        let known = ["ps3", "qs20", "qs22", "pbpi", "raxml", "t_hpu_s", "alpha", "p", "python"];
        assert_eq!(nearest(name, &known), suggested, "{name:?}");
    }

    #[test]
    fn a_name_with_few_letters_changed_is_recognised() {
        check("qs21", Some("qs20"));
        check("pbbi", Some("pbpi"));
        check("alhpa", Some("alpha"));
        check("thpu_s", Some("t_hpu_s"));
        check("RAXML", Some("raxml"));
    }

    #[test]
    fn the_beginning_of_one_name_is_recognised_and_that_of_several_is_not() {
        check("ra", Some("raxml"));
        check("py", Some("python"));
        check("qs", None);
        check("r", None);
    }

    #[test]
    fn what_resembles_nothing_is_taken_for_nothing() {
        check("cell", None);
        check("", None);
        check("m", None);
        check("t_apu", None);
        check("t_hpu_ms", None);
        assert_eq!(nearest("c_apu_ms", &["t_apu_s", "c_apu_s"]), None);
    }
}
