//! What is tried: a target makes the input of a case, and says what is wrong with what comes of it.

use mmgp::error::Error;
use mmgp::table::Source;

use crate::random::Random;

/// A property of a part of mmgp, and input that it may fail on.
pub trait Target {
    /// By which it is chosen, as in `machine-toml`.
    fn name(&self) -> &'static str;

    /// What holds, in half a line.
    fn about(&self) -> &'static str;

    /// How many cases of a cheap target one case of this takes the time of.
    fn cost(&self) -> u64 {
        1
    }

    /// Beyond so many seconds a case hangs.
    fn most_seconds(&self) -> f64 {
        1.0
    }

    /// The least share of the cases that must have been [taken](Seen::Taken): where nearly all
    /// are refused, nothing behind the refusal is tried.
    fn least_taken(&self) -> f64 {
        0.01
    }

    /// The input of a case.
    fn input(&self, random: &mut Random) -> Input;

    /// Tries it.
    ///
    /// # Errors
    /// What is wrong, in a line; a panic is wrong as well.
    fn check(&self, input: &Input) -> Result<Outcome, String>;
}

/// The input of a case: texts with the names of the files that they would be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input(pub Vec<Part>);

/// One of the texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// As of a file.
    pub name: String,
    /// What would be in it.
    pub text: String,
}

impl Input {
    /// Of one text.
    pub fn of(name: &str, text: String) -> Self {
        Self(vec![Part::new(name, text)])
    }

    /// The text of that name, where there is one.
    pub fn part(&self, name: &str) -> Option<Source> {
        let part = self.0.iter().find(|part| part.name == name)?;
        Some(Source::new(&part.name, &part.text))
    }

    /// The first text.
    pub fn first(&self) -> Source {
        Source::new(&self.0[0].name, &self.0[0].text)
    }
}

impl Part {
    /// A text that would be in a file of that name.
    pub fn new(name: &str, text: String) -> Self {
        Self { name: name.to_string(), text }
    }
}

/// What was seen of a case in which nothing was wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the input was taken.
    pub seen: Seen,
    /// Promises that hold of a share of all cases, such as intervals: which, and of how many parts
    /// of this case they held.
    pub held: Vec<Held>,
}

/// Whether an input was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It was, and what came of it is right.
    Taken,
    /// It was refused with an error.
    Refused,
}

/// How often a promise was kept in a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// What is promised.
    pub promise: String,
    /// In which share of all.
    pub share: f64,
    /// In which share it is known to hold, below which it is a finding: the same, but for known
    /// weaknesses.
    pub least: f64,
    /// How often it was kept.
    pub kept: u32,
    /// Of so many.
    pub of: u32,
}

impl From<Seen> for Outcome {
    fn from(seen: Seen) -> Self {
        Self { seen, held: Vec::new() }
    }
}

/// A refusal is right where its place lies in the text.
pub fn refused(error: &Error, source: &Source) -> Result<Outcome, String> {
    // A message is made of the text, and making it must not fail either.
    let message = error.to_string();
    if message.chars().count() > MOST_OF_A_MESSAGE {
        return Err(format!("a message of {} bytes", message.len()));
    }
    let Error::Input { at, .. } = error else { return Ok(Seen::Refused.into()) };
    if at.file != source.name {
        return Err(format!("{at} is in no file that was read"));
    }
    // A text may end without, or with, an end of line.
    let line = source.text.split('\n').nth((at.line as usize).wrapping_sub(1));
    let Some(line) = line else { return Err(format!("{at} is beyond the text: {message}")) };
    let column = at.column as usize;
    if column == 0 || column > line.chars().count() + 1 {
        return Err(format!("{at} is beyond its line: {message}"));
    }
    Ok(Seen::Refused.into())
}

/// Characters of a message: what is quoted in one is shortened.
const MOST_OF_A_MESSAGE: usize = 3000;
