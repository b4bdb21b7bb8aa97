//! What a user says of the columns of a table: `m=ranks,p=cores/ranks,time=elapsed_ms`.

use std::str::FromStr;

use mmgp_base::error::{Error, Result};

/// Where m, p, the time and the repetition stand, as a user has it; what is not said is found by names.
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
                let known = KEYS.map(String::from).to_vec();
                return Err(Error::UnknownName { kind: "key of columns", name: key.into(), known });
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
