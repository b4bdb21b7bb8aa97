//! What a user says of a table beyond what it says itself: its columns (`m=ranks,p=cores/ranks`), conditions on
//! its rows, what is measured.

use std::str::FromStr;

use mmgp_base::error::{Error, Result};
use mmgp_base::expression::{Expression, Kind, Names};

use crate::sheet::{Field, Sheet};

/// What a user says of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// Which columns hold what.
    pub columns: Columns,
    /// A column of rates, of which more is better, instead of a time. A unit of work takes the inverse.
    pub rate: Option<String>,
    /// What is measured instead of the time: a column, or an expression over columns, `time`, `m` and `p`
    /// ([`Measurand`](crate::Measurand)).
    pub objective: Option<String>,
    /// A condition on columns that a row must meet: `N == 10000 and mode == "hybrid"`.
    pub filter: Option<String>,
    /// A column and the text that a row must have in it.
    pub only: Option<(String, String)>,
    /// Columns that may vary among the repetitions of a run.
    pub ignored: Vec<String>,
}

/// A condition on the columns of a table, ready to be asked.
pub(crate) struct Filter {
    expression: Expression,
    /// The columns of its variables.
    places: Vec<usize>,
    /// The texts that it compares with.
    texts: Vec<String>,
}

/// The first of the numbers that stand for texts; no column has such numbers.
const TEXT: f64 = -9.007e15;

impl Filter {
    /// Reads a condition whose names are columns of the sheet; texts stand in quotes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the place of what cannot be read.
    pub fn parse(text: &str, sheet: &Sheet<'_>) -> Result<Self> {
        let (plain, texts) = without_texts(text);
        let Variables { text: plain, names, places } = Variables::of(&plain, sheet, &[]);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let constant = |index: usize| (format!("text_{index}_"), TEXT - index as f64);
        let constants: Vec<(String, f64)> = (0..texts.len()).map(constant).collect();
        let names_of = Names { variables: &names, constants: &constants };
        let expression = Expression::parse(&plain, Kind::Truth, names_of).map_err(|mistake| {
            let known: Vec<&str> = sheet.columns.iter().map(|it| it.name.as_str()).collect();
            let known = known.join(", ");
            Error::out_of_range(
                "filter",
                format!("{} in {text:?}", mistake.found),
                format!("a condition on columns, texts in quotes; columns are {known}"),
            )
        })?;
        Ok(Self { expression, places, texts })
    }

    /// Whether a row meets it.
    pub fn holds(&self, row: &[Field<'_>]) -> bool {
        let value = |&place: &usize| {
            let text = row[place].text.as_ref();
            if let Some(index) = self.texts.iter().position(|known| known == text) {
                return TEXT - index as f64;
            }
            text.parse().unwrap_or(f64::NAN)
        };
        let values: Vec<f64> = self.places.iter().map(value).collect();
        self.expression.value(&values) != 0.0
    }
}

/// The condition with a name for each text in quotes, and the texts.
fn without_texts(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut texts) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start] as char;
        let Some(length) = rest[start + 1..].find(quote) else { break };
        plain += &rest[..start];
        plain += &format!("text_{}_", texts.len());
        texts.push(rest[start + 1..start + 1 + length].to_string());
        rest = &rest[start + 2 + length..];
    }
    (plain + rest, texts)
}

/// Columns of m, p, the time and the repetition, as a user has them; what is not said is found by names.
///
/// Each is the name of a column, or an expression over such: `p=cores/ranks`. A unit in brackets behind
/// the name of a time is its unit: `time=wall [ms]`. `m,p=config` splits texts such as `8x4`, `p,m=config` those with p
/// first. `p=t*` takes the number behind `t` in the names of columns `t1`, `t2`, `t4`, which then hold the times.
///
/// ```
/// use mmgp_intake::Columns;
///
/// let columns: Columns = "m=nodes*ranks_per_node,p=threads,time=elapsed_ms".parse()?;
/// assert_eq!(columns.of("m"), Some("nodes*ranks_per_node"));
/// assert_eq!(columns.of("repetition"), None);
/// # Ok::<(), mmgp_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The keys, in the order of [`KEYS`], and what was said of each.
    said: [Option<String>; KEYS.len()],
    /// The column of texts that hold both m and p, and whether p comes first.
    split: Option<(String, bool)>,
}

/// What a column may be chosen for.
const KEYS: [&str; 4] = ["m", "p", "time", "repetition"];

impl FromStr for Columns {
    type Err = Error;

    /// Reads pairs such as `m=ranks,p=threads,time=elapsed_ms,repetition=run`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another key, which names the known ones; [`Error::OutOfRange`]
    /// for what is no pair, or a key that comes twice.
    fn from_str(text: &str) -> Result<Self> {
        let refused =
            |found: String, expected: &str| Error::out_of_range("columns", found, expected);
        let mut columns = Self::default();
        let mut parts = pairs(text).into_iter().peekable();
        while let Some(part) = parts.next() {
            let other = match part.trim() {
                "m" => "p",
                "p" => "m",
                _ => "",
            };
            if parts.peek().is_some_and(|next| is_pair_of(next, other)) {
                let both = parts.next().and_then(|next| next.split_once('=')).map(|it| it.1.trim());
                columns.split = both.map(|both| (both.into(), other == "m"));
                continue;
            }
            let (key, name) = part
                .split_once('=')
                .map(|(key, name)| (key.trim(), name.trim()))
                .filter(|(_, name)| !name.is_empty())
                .ok_or_else(|| refused(format!("{part:?}"), "pairs such as m=ranks,p=threads"))?;
            let Some(place) = KEYS.iter().position(|known| *known == key) else {
                return Err(Error::unknown_name("key of columns", key, KEYS));
            };
            if columns.said.iter().flatten().any(|known| known == name) {
                return Err(refused(format!("{name:?} twice"), "a column of its own for each"));
            }
            if columns.said[place].replace(name.into()).is_some() {
                return Err(refused(format!("{key} twice"), "one column for each"));
            }
        }
        Ok(columns)
    }
}

/// The parts between commas that stand in no parentheses or brackets.
fn pairs(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn is_pair_of(text: &str, key: &str) -> bool {
    text.split_once('=').is_some_and(|(left, right)| left.trim() == key && !right.trim().is_empty())
}

impl Columns {
    /// What was said of a key: m, p, time or repetition.
    pub fn of(&self, key: &str) -> Option<&str> {
        let place = KEYS.iter().position(|known| *known == key)?;
        self.said[place].as_deref()
    }

    /// The column of texts such as `8x4`, where m and p stand in one, and whether p comes first.
    pub fn split(&self) -> Option<(&str, bool)> {
        self.split.as_ref().map(|(name, is_p_first)| (name.as_str(), *is_p_first))
    }

    /// What was said with more, which takes the place of what was said of the same key.
    pub(crate) fn with(&self, more: &str) -> String {
        let key_of_more = more.split('=').next().unwrap_or_default();
        let said = KEYS.iter().zip(&self.said).filter(|(key, _)| **key != key_of_more);
        let mut all: Vec<String> =
            said.filter_map(|(key, said)| Some(format!("{key}={}", said.as_ref()?))).collect();
        let split = self.split.as_ref().filter(|_| !["m,p", "p,m"].contains(&key_of_more));
        all.extend(split.map(|(name, is_p_first)| {
            format!("{}={name}", if *is_p_first { "p,m" } else { "m,p" })
        }));
        all.push(more.into());
        all.join(",")
    }

    /// All that was said.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let split = self.split.as_ref().map(|(name, _)| name);
        self.said.iter().flatten().chain(split).map(String::as_str)
    }
}

/// An expression over the columns of a table, each called by a name that an expression can have.
pub(crate) struct Variables {
    /// The expression.
    pub text: String,
    /// What it calls the columns that it uses.
    pub names: Vec<String>,
    /// Places of these columns.
    pub places: Vec<usize>,
}

impl Variables {
    /// The columns are found by their names as they stand, the longest first: `cores/MPI ranks`; but for
    /// names that mean something else.
    pub fn of(text: &str, sheet: &Sheet<'_>, other: &[&str]) -> Self {
        let is_meant = |&place: &usize| !other.contains(&sheet.columns[place].name.as_str());
        let mut columns: Vec<usize> = (0..sheet.columns.len()).filter(is_meant).collect();
        columns.sort_by_key(|&place| std::cmp::Reverse(sheet.columns[place].name.len()));
        let (mut plain, mut rest, mut before) = (String::new(), text, None);
        let (mut names, mut places) = (Vec::new(), Vec::new());
        while let Some(letter) = rest.chars().next() {
            let begins = |place: &&usize| {
                let name = sheet.columns[**place].name.as_str();
                let next = rest.strip_prefix(name).map(|behind| behind.chars().next());
                let joins = |one: Option<char>, other: Option<char>| {
                    one.is_some_and(is_of_name) && other.is_some_and(is_of_name)
                };
                let is_whole =
                    |next| !joins(before, Some(letter)) && !joins(name.chars().next_back(), next);
                next.is_some_and(is_whole)
            };
            let Some(&place) = columns.iter().find(begins) else {
                plain.push(letter);
                (before, rest) = (Some(letter), &rest[letter.len_utf8()..]);
                continue;
            };
            let name = format!("column_{place}_");
            plain += &name;
            if !places.contains(&place) {
                names.push(name);
                places.push(place);
            }
            (before, rest) = (Some('_'), &rest[sheet.columns[place].name.len()..]);
        }
        Self { text: plain, names, places }
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, message: &str) {
        assert_eq!(text.parse::<Columns>().expect_err("must be refused").to_string(), message);
    }

    #[test]
    fn each_key_chooses_its_column() {
        let columns: Columns =
            "p=threads, m = ranks,time=wall (a,b),repetition=no".parse().unwrap();
        let found = KEYS.map(|key| columns.of(key).unwrap());
        assert_eq!(found, ["ranks", "threads", "wall (a,b)", "no"]);
        assert_ne!(Columns::default(), columns);
        let split: Columns = "m,p=config,time=t".parse().unwrap();
        assert_eq!(split.split(), Some(("config", false)));
        assert_eq!((split.of("m"), split.of("time")), (None, Some("t")));
        let other: Columns = "p,m=config".parse().unwrap();
        assert_eq!(other.split(), Some(("config", true)));
    }

    #[test]
    fn what_chooses_no_column_is_refused_with_what_would() {
        refused("m=a,t=b", "there is no key of columns \"t\"; known: m, p, time, repetition");
        refused(
            "tiem=b",
            "there is no key of columns \"tiem\"; did you mean \"time\"? known: m, p, time, \
             repetition",
        );
        refused("m=a,m=b", "columns: found m twice, expected one column for each");
        refused("m=a,p=a", "columns: found \"a\" twice, expected a column of its own for each");
        for text in ["", "m", "m=", "m=a,"] {
            let message = text.parse::<Columns>().unwrap_err().to_string();
            assert!(message.ends_with("expected pairs such as m=ranks,p=threads"), "{message}");
        }
    }
}
