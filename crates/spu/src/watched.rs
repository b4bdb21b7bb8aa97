//! Which parts of local store a kernel touches: for those who look for mistakes.

use std::ops::Range;

use super::local_store::{LOCAL_STORE_BYTES, LocalAddress, quadword_index};

/// The quadwords of local store that a kernel read and wrote.
#[derive(Debug)]
pub struct Accesses {
    read: QuadwordSet,
    written: QuadwordSet,
    exposed: QuadwordSet,
}

impl Accesses {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        let [read, written, exposed] = [(); 3].map(|()| QuadwordSet::new());
        Self { read, written, exposed }
    }

    /// What it loaded before it had stored anything there.
    pub fn exposed(&self) -> &QuadwordSet {
        &self.exposed
    }

    /// What it loaded.
    pub fn read(&self) -> &QuadwordSet {
        &self.read
    }

    /// What it stored.
    pub fn written(&self) -> &QuadwordSet {
        &self.written
    }

    #[inline]
    pub(super) fn note_read(&mut self, address: LocalAddress) {
        self.read.insert(address);
        if !self.written.contains(quadword_index(address) as u64) {
            self.exposed.insert(address);
        }
    }

    #[inline]
    pub(super) fn note_written(&mut self, address: LocalAddress) {
        self.written.insert(address);
    }
}

/// A set of quadwords of a local store, a bit each.
#[derive(Debug)]
pub struct QuadwordSet {
    words: Vec<u64>,
}

impl QuadwordSet {
    fn new() -> Self {
        Self { words: vec![0; (LOCAL_STORE_BYTES / 16 / u64::BITS) as usize] }
    }

    #[inline]
    fn insert(&mut self, address: LocalAddress) {
        let index = quadword_index(address);
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// The bits, 64 quadwords to a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    fn contains(&self, quadword: u64) -> bool {
        let word = self.words.get((quadword / 64) as usize);
        word.is_some_and(|word| word >> (quadword % 64) & 1 != 0)
    }

    /// The first bytes in a row that are in the set and in `range`.
    pub fn first_run_within(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let quadwords = range.start / 16..range.end.div_ceil(16);
        let first = quadwords.clone().find(|&quadword| self.contains(quadword))?;
        let end = (first..quadwords.end).find(|&quadword| !self.contains(quadword));
        let end = end.unwrap_or(quadwords.end);
        Some((16 * first).max(range.start)..(16 * end).min(range.end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, LocalStore, Quadword, Shape, Spu, execute_watched};
    use super::*;

    /// Copies two quadwords from 0x100 to 0x3FFF0, which wraps.
    struct Copy;

    impl Kernel for Copy {
        type Output = ();
        fn shape(&self) -> Shape {
            Shape::new("copy", 0)
        }
        fn run<S: Spu>(&self, spu: &mut S) {
            for offset in [0, 16] {
                let value = spu.lqa(LocalAddress(0x100 + offset));
                spu.stqa(value, LocalAddress(0x3FFF0 + offset));
            }
        }
    }

    #[test]
    fn what_a_kernel_loads_and_stores_is_noted_by_the_quadword() {
        let mut store = LocalStore::new();
        store.store(LocalAddress(0x110), Quadword::splat(7));
        let ((), accesses) = execute_watched(&Copy, &mut store);
        assert_eq!(store.load(LocalAddress(0)), Quadword::splat(7));
        let check = |set: &QuadwordSet, within: Range<u64>, found: Option<Range<u64>>| {
            assert_eq!(set.first_run_within(&within), found, "{within:?}");
        };
        check(accesses.read(), 0..0x40000, Some(0x100..0x120));
        check(accesses.read(), 0x104..0x40000, Some(0x104..0x120));
        check(accesses.read(), 0x11F..0x120, Some(0x11F..0x120));
        check(accesses.read(), 0..0x100, None);
        check(accesses.written(), 0..0x40000, Some(0..0x10));
        check(accesses.written(), 0x10..0x40000, Some(0x3FFF0..0x40000));
    }
}
