//! The p that go with one m.

/// The p that go with one m, increasing.
#[derive(Debug, Clone, Copy)]
pub struct Choices<'a> {
    pub(super) first: u32,
    /// All of them and more, where they are not one after the other.
    pub(super) listed: Option<&'a [u32]>,
    /// How many there are.
    pub count: u32,
}

impl<'a> Choices<'a> {
    /// All from 1 to `last`.
    pub(in crate::decide) fn up_to_last(last: u32) -> Self {
        Self { first: 1, listed: None, count: last }
    }

    /// The p with that index, below [`Self::count`].
    pub fn at(&self, index: u32) -> u32 {
        match self.listed {
            Some(listed) => listed[index as usize],
            None => self.first + index,
        }
    }

    /// All of them.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + 'a {
        (0..self.count).map(move |index| self.at(index))
    }

    /// How many are at most `p`.
    pub fn up_to(&self, p: u32) -> u32 {
        match self.listed {
            Some(listed) => (listed.partition_point(|&choice| choice <= p) as u32).min(self.count),
            None => (p.saturating_add(1)).saturating_sub(self.first).min(self.count),
        }
    }
}
