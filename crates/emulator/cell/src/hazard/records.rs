//! Who did what when, for reports: kept without a count of those who refer to it, for counting would fetch
//! the old record of every piece of memory that is touched anew.

use super::report::Who;
use mmgp_base::units::SimTime;

/// Who did something, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub who: Who,
    pub at: SimTime,
}

impl Record {
    pub fn text(&self) -> String {
        self.who.text(self.at)
    }
}

/// Which of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(u32);

/// Records in the order in which they came. What nobody refers to any more goes when there are as many
/// again as there were after it went last.
pub(super) struct Records {
    all: Vec<Record>,
    most: usize,
}

impl Default for Records {
    fn default() -> Self {
        Self { all: Vec::new(), most: FIRST_MOST }
    }
}

/// Below so many, nothing goes.
const FIRST_MOST: usize = if cfg!(test) { 16 } else { 1 << 16 };

impl Records {
    pub fn add(&mut self, who: Who, at: SimTime) -> Number {
        self.all.push(Record { who, at });
        Number(self.all.len() as u32 - 1)
    }

    pub fn get(&self, number: Number) -> &Record {
        &self.all[number.0 as usize]
    }

    /// Whether it is time to keep only what is referred to.
    pub fn are_many(&self) -> bool {
        self.all.len() >= self.most
    }

    /// Keeps what these refer to, and numbers it anew.
    pub fn keep<'a>(&mut self, references: impl Iterator<Item = &'a mut Number>) {
        let mut kept = Vec::new();
        let mut new = vec![None; self.all.len()];
        for number in references {
            let old = number.0 as usize;
            *number = *new[old].get_or_insert_with(|| {
                kept.push(self.all[old]);
                Number(kept.len() as u32 - 1)
            });
        }
        self.most = FIRST_MOST.max(2 * kept.len());
        self.all = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::{Seconds, SimSpan};

    #[test]
    fn what_is_referred_to_stays_and_the_rest_goes() {
        let mut records = Records::default();
        let instant = |number: u64| SimTime::ZERO + SimSpan::from_seconds(Seconds(number as f64));
        let mut all: Vec<Number> = Vec::new();
        while !records.are_many() {
            all.push(records.add(Who::Host, instant(all.len() as u64)));
        }
        assert_eq!(all.len(), FIRST_MOST);
        // Twice the third, and the last.
        let mut kept = [all[3], all[FIRST_MOST - 1], all[3]];
        records.keep(kept.iter_mut());
        assert_eq!(kept.map(|number| records.get(number).at), [3, 15, 3].map(instant));
        assert_eq!((kept[0], records.all.len()), (kept[2], 2));
        assert!(!records.are_many());
    }

    #[test]
    fn they_are_many_again_when_there_are_twice_as_many() {
        let mut records = Records::default();
        let mut all: Vec<Number> = Vec::new();
        for _ in 0..FIRST_MOST {
            all.push(records.add(Who::Host, SimTime::ZERO));
        }
        records.keep(all.iter_mut());
        for _ in 0..FIRST_MOST {
            assert!(!records.are_many());
            records.add(Who::Host, SimTime::ZERO);
        }
        assert!(records.are_many());
    }
}
