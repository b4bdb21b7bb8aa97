//! What is tried: a target makes the input of a case, and says what is wrong with what comes of it.

use mmgp::error::{Error, Place};
use mmgp::table::Source;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What came of a case, or what is wrong.
pub type Verdict = Result<Outcome, String>;

/// A property of a part of mmgp, and input that it may fail on.
pub struct Target {
    /// The name by which it is chosen, as in `machine-toml`.
    pub name: &'static str,
    /// How many cases of a cheap target one case of this takes the time of.
    pub cost: u64,
    /// The least share of the cases that must have been [taken](Seen::Taken): where nearly all
    /// are refused, nothing behind the refusal is tried.
    pub least_taken: f64,
    /// Good files, of which damaged ones are made.
    pub corpus: Vec<String>,
    /// Makes the input of a case.
    pub input: Box<dyn Fn(&mut Random) -> Input>,
    /// Tries it, and says in a line what is wrong; a panic is wrong as well.
    pub check: Box<dyn Fn(&Input) -> Verdict>,
}

impl Target {
    /// A target whose cases cost little, and of which a few at least are taken.
    pub fn new(
        name: &'static str,
        input: impl Fn(&mut Random) -> Input + 'static,
        check: impl Fn(&Input) -> Verdict + 'static,
    ) -> Self {
        let (input, check) = (Box::new(input), Box::new(check));
        Self { name, cost: 1, least_taken: 0.01, corpus: Vec::new(), input, check }
    }

    /// Seconds beyond which a case hangs.
    pub fn most_seconds(&self) -> f64 {
        20.0 * (self.cost as f64).min(30.0)
    }
}

/// The input of a case: texts with the names of the files that they would be in.
#[derive(Debug, Clone)]
pub struct Input(pub Vec<Source>);

impl Input {
    /// An input of one text.
    pub fn of(name: &str, text: String) -> Self {
        Self(vec![Source { name: name.into(), text, encoding: None }])
    }

    /// The text of that name, where there is one.
    pub fn part(&self, name: &str) -> Option<&Source> {
        self.0.iter().find(|part| part.name == name)
    }

    /// The first text.
    pub fn first(&self) -> &Source {
        &self.0[0]
    }
}

/// What was seen of a case in which nothing was wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the input was taken.
    pub seen: Seen,
    /// Promises that hold in a share of all cases, such as intervals: how often they held in this.
    pub held: Vec<PromiseCount>,
}

/// Whether an input was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Taken, and what came of it is right.
    Taken,
    /// Refused with an error.
    Refused,
}

/// How often a promise was kept in a case.
#[derive(Debug, Clone, PartialEq)]
pub struct PromiseCount {
    /// What is promised.
    pub promise: String,
    /// The share of all below which it is a finding: what is promised, or less where a weakness
    /// is known.
    pub least: f64,
    /// How often it was kept.
    pub kept: u32,
    /// How often it was made.
    pub of: u32,
}

impl From<Seen> for Outcome {
    fn from(seen: Seen) -> Self {
        Self { seen, held: Vec::new() }
    }
}

/// What a reader did, `wrong` saying what is wrong with what was read.
pub fn judged<T>(
    result: mmgp::Result<T>,
    source: &Source,
    wrong: impl FnOnce(T) -> Option<String>,
) -> Verdict {
    match result {
        Err(error) => refused(&error, source),
        Ok(value) => wrong(value).map_or(Ok(Seen::Taken.into()), Err),
    }
}

/// A refusal is right where its place lies in the text.
pub fn refused(error: &Error, source: &Source) -> Verdict {
    // A message is made of the text, and making it must not fail either.
    let message = error.to_string();
    if message.chars().count() > MOST_OF_A_MESSAGE {
        return Err(format!("a message of {} bytes", message.len()));
    }
    let Error::Input { at, .. } = error else { return Ok(Seen::Refused.into()) };
    if at.file != source.name {
        return Err(format!("{at} is in no file that was read"));
    }
    let Place::Text { line, column } = at.place else {
        return Err(format!("{at} is in no text: {message}"));
    };
    // A text may end without, or with, an end of line.
    let line = source.text.split('\n').nth((line as usize).wrapping_sub(1));
    let Some(line) = line else { return Err(format!("{at} is beyond the text: {message}")) };
    if column == 0 || column as usize > line.chars().count() + 1 {
        return Err(format!("{at} is beyond its line: {message}"));
    }
    Ok(Seen::Refused.into())
}

/// Characters of a message: what is quoted in one is shortened.
const MOST_OF_A_MESSAGE: usize = 3000;

/// What is wrong where what was written is not read back as the same.
pub fn read_otherwise<T: PartialEq>(
    again: mmgp::Result<T>,
    expected: &T,
    name: &str,
    text: &str,
) -> Option<String> {
    match again {
        Ok(again) if again == *expected => None,
        Ok(_) => Some(format!("{name} is read otherwise: {text:?}")),
        Err(error) => Some(format!("{name} is not read: {error}: {text:?}")),
    }
}

/// Random numbers that follow from a seed, a target and the number of the case alone.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Random numbers of a case.
    pub fn of_case(seed: u64, target: &str, case: u64) -> Self {
        // FNV-1a over all that the case is told apart by.
        let bytes = target.bytes().chain(seed.to_le_bytes()).chain(case.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// A whole number from `from` to `to`, both included.
    pub fn within(&mut self, from: u32, to: u32) -> u32 {
        self.0.random_range(from..=to)
    }

    /// A number from `from` to `to`.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        self.0.random_range(from..to)
    }

    /// A power of ten whose exponent is between these.
    pub fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.between(0.0, 1.0) < probability
    }

    /// One of the values, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A factor whose logarithm is normal with this standard deviation.
    pub fn noise(&mut self, deviation: f64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.0);
        (deviation * normal).exp()
    }

    /// One of the words of a dictionary, between which there is a [`BAR`].
    pub fn word<'a>(&mut self, dictionary: &'a str) -> &'a str {
        self.pick(&dictionary.split(BAR).collect::<Vec<_>>())
    }
}

/// What stands between the words of a dictionary.
const BAR: char = '¦';
