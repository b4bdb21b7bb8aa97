//! Where the time of a traced run went, in the model's terms: from what the profilers of a site say of
//! ranks and threads.
//!
//! Each format is a [`Format`] in [`FORMATS`], recognised by its content. What a source does not tell
//! apart becomes no row, and a warning says so; what it should say and does not is refused.

mod caliper;
mod calls;
mod cube;
mod talp;

use crate::error::{Answer, Error, Result, Warning};
use crate::intake::formats::{Node, Object};
use crate::table::records::{Maybe, TERMS, TermRow};
use crate::table::{Archive, BYTE_ORDER_MARK, ProfilerFile, Source};

/// What a user says of a run beside its file: ranks, and threads of each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Division {
    /// Ranks.
    pub m: Option<u32>,
    /// Threads of each.
    pub p: Option<u32>,
}

/// A format of a profiler of ranks and threads.
struct Format {
    /// What people call it.
    name: &'static str,
    /// Whether a file is of that format.
    recognises: fn(&Document<'_>) -> bool,
    /// What the file says.
    read: fn(&Document<'_>, Division) -> Result<Terms>,
}

/// All formats.
const FORMATS: [Format; 4] = [cube::FORMAT, talp::FORMAT, talp::OLD_FORMAT, caliper::FORMAT];

/// The rows of `terms.csv` that a file gives, whose name becomes that of the run; `None` of what may be
/// a trace of events.
///
/// # Errors
/// [`Error::Input`] with the place of what is not as its format asks or contradicts what was said, and
/// for a file in no known format;
/// [`Error::Ambiguous`] where it does not say of how many ranks or threads it is, and nobody does.
pub fn terms(file: &ProfilerFile, said: Division) -> Result<Option<(Vec<TermRow>, Vec<Warning>)>> {
    match file {
        ProfilerFile::Database(_) => Ok(None),
        ProfilerFile::Archive(archive) => {
            let source = archive.text(cube::ANCHOR)?;
            of_document(&Document { source: &source, object: None, archive: Some(archive) }, said)
        }
        ProfilerFile::Text(source) => {
            let object = Node::of_file(source).and_then(|root| root.object()).ok();
            of_document(&Document { source, object, archive: None }, said)
        }
    }
}

fn of_document(
    document: &Document<'_>,
    said: Division,
) -> Result<Option<(Vec<TermRow>, Vec<Warning>)>> {
    let source = document.source;
    let Some(format) = FORMATS.iter().find(|format| (format.recognises)(document)) else {
        let is_list = source.text.trim_start_matches(BYTE_ORDER_MARK).trim_start().starts_with('[');
        if is_list || document.has("traceEvents") {
            return Ok(None);
        }
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let expected =
            format!("a trace of PyTorch's profiler or of mmgp emulate, {}", names.join(", "));
        return Err(source.error(0, "none of the formats", expected));
    };
    let Terms { rows, warnings, .. } = (format.read)(document, said)?;
    if rows.is_empty() {
        return Err(source.error(0, "no time of a run", format!("{} with one", format.name)));
    }
    Ok(Some((rows, warnings)))
}

/// A file that is asked for its format.
struct Document<'a> {
    /// The text; of an archive that of the file that says what the others are.
    source: &'a Source,
    /// The object that it is, where it is one of JSON.
    object: Option<Object<'a>>,
    archive: Option<&'a Archive>,
}

impl<'a> Document<'a> {
    /// Name of the file.
    fn name(&self) -> &str {
        self.archive.map_or(&self.source.name, |archive| &archive.name)
    }

    /// Whether it is an object of JSON with that key.
    fn has(&self, key: &str) -> bool {
        self.object.as_ref().is_some_and(|object| object.any(key).is_some())
    }

    /// The object of a format that asks for one.
    fn root(&self) -> &Object<'a> {
        self.object.as_ref().expect("invariant: the format is recognised by a key")
    }

    /// m or p: what the file says, which what was said must not contradict, or else what was said.
    fn count(&self, key: &'static str, found: Option<Node<'a>>, said: Option<u32>) -> Result<u32> {
        let what = what(key);
        let count = found.map(|node| count(node).map(|count| (node, count))).transpose()?;
        match (count, said) {
            (Some((node, count)), Some(said)) if said != count => {
                Err(node.error(format!("{count} {what}"), format!("{said}, as was said")))
            }
            (Some((_, count)), _) => Ok(count),
            (None, Some(said)) => Ok(said),
            (None, None) => {
                let found = format!("it does not say of how many {what} the run was");
                let meaning = format!("{what}, a number");
                let answer = Answer { key, value: key.to_uppercase(), meaning };
                Err(Error::ambiguous(self.name(), found, vec![answer]))
            }
        }
    }

    /// m or p as the file has it, which what was said must not contradict.
    fn agreed(&self, key: &'static str, found: u32, said: Option<u32>) -> Result<u32> {
        match said {
            Some(said) if said != found => {
                let found = format!("{found} {}", what(key));
                Err(self.source.error(0, found, format!("{said}, as was said")))
            }
            _ => Ok(found),
        }
    }
}

/// What m or p is.
fn what(key: &str) -> &'static str {
    if key == "m" { "ranks" } else { "threads of each rank" }
}

/// What was made of a file.
struct Terms {
    run: String,
    m: u32,
    p: u32,
    rows: Vec<TermRow>,
    warnings: Vec<Warning>,
}

impl Terms {
    fn new(document: &Document<'_>, m: u32, p: u32) -> Self {
        Self { run: document.name().to_string(), m, p, rows: Vec::new(), warnings: Vec::new() }
    }

    /// Adds a row; of the run as a whole without a rank, of all phases with an empty one.
    fn add(&mut self, rank: Option<u32>, phase: &str, term: &str, value: f64) {
        let known = TERMS.iter().find(|(name, _)| *name == term);
        let (_, unit) = known.expect("invariant: a term of the list");
        self.rows.push(TermRow {
            run: self.run.clone(),
            m: self.m,
            p: self.p,
            rank: Maybe(rank),
            phase: phase.to_string(),
            term: term.to_string(),
            value,
            std_error: Maybe(None),
            unit: (*unit).to_string(),
        });
    }

    /// Adds a warning, once.
    fn note(&mut self, text: &str) {
        let note = Warning::Note(format!("{}: {text}", self.run));
        if !self.warnings.contains(&note) {
            self.warnings.push(note);
        }
    }
}

/// A number of zero or more.
fn amount(node: Node<'_>) -> Result<f64> {
    let number = node.plain_text()?.parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.filter(|number| *number >= 0.0);
    number.ok_or_else(|| node.error(node.describe(), "a number of 0 or more"))
}

/// A whole number from 1, also as a text.
fn count(node: Node<'_>) -> Result<u32> {
    let number = node.plain_text()?.parse().ok().filter(|&number: &u32| number >= 1);
    number.ok_or_else(|| node.error(node.describe(), "a whole number from 1"))
}
