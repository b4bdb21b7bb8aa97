//! Quantities that are taken from what a program prints, beside its time.

use std::collections::BTreeMap;

use mmgp_base::error::{Error, Result};
use mmgp_base::expression::is_name;
use mmgp_intake::{Comma, OF_ALL_RUNS, number};

use crate::around::Around;
use crate::supervisor::Match;
use crate::time_source::{Missing, check_pattern, has_group};

/// A quantity by its name, and the regular expression whose first group is its number; the last match
/// counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// What expressions call it.
    pub name: String,
    pub(crate) pattern: String,
}

/// Names that mean something else in an objective.
const TAKEN: [&str; 4] = ["nodes", "rate", "cost", "time_s"];

impl Capture {
    /// Of a name and a regular expression.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what is no name of a quantity, no regular expression, or has no group.
    pub fn new(name: &str, pattern: &str) -> Result<Self> {
        let refused =
            |found: String, expected: &str| Error::out_of_range("capture", found, expected);
        if !is_name(name) || TAKEN.contains(&name) || OF_ALL_RUNS.contains(&name) {
            let expected = "a name of letters, digits and _ that means nothing else, as joules";
            return Err(refused(format!("{name:?}"), expected));
        }
        check_pattern(pattern)?;
        if !has_group(pattern) {
            let expected = "a group in parentheses that holds the number: 'Energy: ([0-9.]+) J'";
            return Err(refused(format!("{pattern:?} without a group"), expected));
        }
        Ok(Self { name: name.into(), pattern: pattern.into() })
    }

    /// The number that the last match has, and the word behind it, which may be its unit.
    pub(crate) fn read(
        &self,
        found: Option<&Match>,
    ) -> std::result::Result<(f64, String), Missing> {
        let nothing = || {
            let Self { name, pattern } = self;
            Missing::NotThere(format!("its output has no {name} (looked for with {pattern:?})"))
        };
        let found = found.ok_or_else(nothing)?;
        let around = Around::of(found).ok_or_else(nothing)?;
        if around.is_cut() {
            return Err(Missing::NotUnderstood(Error::Ambiguous {
                file: "the output of the program".into(),
                found: format!(
                    "{:?} is a part of the number in {:?}; the group of {} must take all of it",
                    around.text,
                    around.phrase(),
                    self.name
                ),
                answers: Vec::new(),
            }));
        }
        let value = number(around.text, Comma::Thousands).ok_or_else(|| {
            Missing::NotThere(format!("its output has {:?} as {}", around.text, self.name))
        })?;
        Ok((value, around.word_behind().into()))
    }
}

/// The words behind the captured numbers, which have to stay the same: 1.2 kJ are no 1.2 J.
#[derive(Debug, Default)]
pub(crate) struct Units(BTreeMap<String, String>);

impl Units {
    /// Refuses another word than the first had.
    pub fn check(&mut self, name: &str, word: &str) -> Result<()> {
        let first = self.0.entry(name.into()).or_insert_with(|| word.into());
        if first == word {
            return Ok(());
        }
        Err(Error::Ambiguous {
            file: "the output of the program".into(),
            found: format!(
                "{word:?} stands behind {name}, and before {first:?}: print it in one unit"
            ),
            answers: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_something_else_is_refused() {
        for name in ["time", "m", "nodes", "rate", "a b", "1x", ""] {
            assert!(Capture::new(name, "([0-9]+)").is_err(), "{name}");
        }
        assert!(Capture::new("joules", "[0-9]+").is_err());
        assert!(Capture::new("joules", "([0-9]+").is_err());
        assert!(Capture::new("joules", "([0-9]+)").is_ok());
    }

    #[test]
    fn the_unit_behind_stays_the_same() {
        let mut units = Units::default();
        assert!(units.check("joules", "J").is_ok() && units.check("joules", "J").is_ok());
        assert!(units.check("joules", "kJ").is_err());
    }
}
