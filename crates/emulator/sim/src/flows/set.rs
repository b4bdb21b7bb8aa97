//! Small sets of small numbers, which are gone through in order.

const BITS: usize = u64::BITS as usize;

/// A set of numbers as the bits of words: as long as the largest number needs.
#[derive(Default)]
pub(super) struct Set {
    words: Vec<u64>,
}

impl Set {
    pub fn insert(&mut self, number: usize) {
        if self.words.len() <= number / BITS {
            self.words.resize(number / BITS + 1, 0);
        }
        self.words[number / BITS] |= 1 << (number % BITS);
    }

    pub fn remove(&mut self, number: usize) {
        self.words[number / BITS] &= !(1 << (number % BITS));
    }

    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / BITS).is_some_and(|word| word >> (number % BITS) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The numbers, rising.
    pub fn iter(&self) -> Numbers<'_> {
        let (&word, further) = self.words.split_first().unwrap_or((&0, &[]));
        Numbers { word, further, base: 0 }
    }
}

/// The numbers of a set that are still to come.
pub(super) struct Numbers<'a> {
    word: u64,
    further: &'a [u64],
    /// The number of the lowest bit of `word`.
    base: usize,
}

impl Iterator for Numbers<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            let (&word, further) = self.further.split_first()?;
            (self.word, self.further) = (word, further);
            self.base += BITS;
        }
        let number = self.base + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_in_order_what_is_in_it() {
        let mut set = Set::default();
        for number in [130, 0, 63, 64, 5] {
            set.insert(number);
        }
        set.remove(5);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 130]);
        assert!(set.contains(64) && !set.contains(5) && !set.contains(1000));
        assert_eq!(set.len(), 4);
        for number in [0, 63, 64, 130] {
            set.remove(number);
        }
        assert!(set.is_empty());
    }
}
