//! A share of many runs, for a computer of several that share them.

use std::fmt;
use std::str::FromStr;

use mmgp_base::error::{Error, Result};

/// The third of eight shares, written `3/8`, has the third run, the eleventh, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    count: u32,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Whether it is all runs.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// The items of the share.
    pub fn of<I>(self, items: &[I]) -> impl Iterator<Item = &I> {
        items.iter().skip(self.number as usize - 1).step_by(self.count as usize)
    }

    /// The folder of a share that is given none.
    pub fn folder(self, whole: &str) -> String {
        format!("{whole}-shard-{}-of-{}", self.number, self.count)
    }

    /// The shares that are not among some of one number.
    pub fn missing_among(some: &[Self]) -> Vec<Self> {
        let Some(first) = some.first() else { return Vec::new() };
        let all = (1..=first.count).map(|number| Self { number, ..*first });
        all.filter(|shard| !some.contains(shard)).collect()
    }

    /// Whether both are of the same number of shares.
    pub fn is_beside(self, other: Self) -> bool {
        self.count == other.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('/').and_then(|(number, count)| {
            Some(Self { number: number.parse().ok()?, count: count.parse().ok()? })
        });
        match parts {
            Some(shard) if (1..=shard.count).contains(&shard.number) => Ok(shard),
            _ => Err(Error::out_of_range("share", text, "which of how many, as 3/8")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_every_item_once() {
        let items: Vec<u32> = (0..10).collect();
        let mut all: Vec<u32> = Vec::new();
        for text in ["1/3", "2/3", "3/3"] {
            all.extend(text.parse::<Shard>().unwrap().of(&items));
        }
        assert_eq!(all, [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]);
        assert_eq!(Shard::missing_among(&["2/3".parse().unwrap()]).len(), 2);
        for text in ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
