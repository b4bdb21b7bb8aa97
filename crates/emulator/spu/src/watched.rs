//! Which parts of local store kernels touch: for those who look for mistakes.

use std::ops::Range;

use super::local_store::{
    LOCAL_STORE_BYTES, LocalAddress, LocalStore, QUADWORDS, QuadwordMemory, quadword_index,
};
use super::register::Quadword;

/// What the runs of a program have touched of a local store. Runs have numbers, which grow from 1 on.
#[derive(Debug)]
pub struct Accesses {
    read: LastRuns,
    written: LastRuns,
    /// Filled by quadword, whether anybody has written it, or a read before that has been noted.
    filled: Box<[bool; QUADWORDS]>,
    unwritten: Vec<usize>,
}

impl Default for Accesses {
    fn default() -> Self {
        let (read, written) = (LastRuns::default(), LastRuns::default());
        Self { read, written, filled: by_quadword(false), unwritten: Vec::new() }
    }
}

impl Accesses {
    /// What runs loaded.
    pub fn read(&self) -> &LastRuns {
        &self.read
    }

    /// What runs stored.
    pub fn written(&self) -> &LastRuns {
        &self.written
    }

    /// The quadwords that runs have read since this was asked last and that nobody had written before,
    /// each of them once.
    pub fn take_unwritten(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.unwritten)
    }

    /// The quadwords with some of these bytes that nobody has written; none that a run has read before.
    pub fn unwritten(&self, bytes: &Range<u64>) -> impl Iterator<Item = usize> {
        let all = quadwords(bytes);
        let filled = &self.filled[all.clone()];
        // Mostly there are none, which is found out many at a time.
        let none = filled.iter().fold(true, |all, &it| all & it);
        let all = if none { 0..0 } else { all };
        all.zip(filled).filter(|&(_, &filled)| !filled).map(|(index, _)| index)
    }

    /// Notes that a run reads these bytes.
    pub fn note_read(&mut self, bytes: &Range<u64>, run: u32) {
        self.read.note(bytes, run);
        for index in quadwords(bytes) {
            note_if_unwritten(index, &mut self.filled, &mut self.unwritten);
        }
    }

    /// Notes that a run writes these bytes.
    pub fn note_written(&mut self, bytes: &Range<u64>, run: u32) {
        self.written.note(bytes, run);
        self.fill(bytes);
    }

    /// Notes that somebody else writes these bytes.
    pub fn fill(&mut self, bytes: &Range<u64>) {
        self.filled[quadwords(bytes)].fill(true);
    }

    /// Watches a run whose loads and stores are to be noted.
    pub fn watch(&mut self, run: u32) -> Watch<'_> {
        let Self { read, written, filled, unwritten } = self;
        Watch { read: &mut read.0, written: &mut written.0, filled, unwritten, run }
    }
}

/// A quadword is read.
#[inline(always)]
fn note_if_unwritten(index: usize, filled: &mut [bool; QUADWORDS], unwritten: &mut Vec<usize>) {
    #[cold]
    #[inline(never)]
    fn note(index: usize, filled: &mut bool, unwritten: &mut Vec<usize>) {
        *filled = true;
        unwritten.push(index);
    }
    if !filled[index] {
        note(index, &mut filled[index], unwritten);
    }
}

/// The same of every quadword of a local store.
fn by_quadword<T: Clone + std::fmt::Debug>(value: T) -> Box<[T; QUADWORDS]> {
    let all = vec![value; QUADWORDS].into_boxed_slice();
    all.try_into().expect("invariant: the slice has that length")
}

/// The last run that touched each quadword of a local store in some way; 0 for none.
#[derive(Debug)]
pub struct LastRuns(Box<[u32; QUADWORDS]>);

impl Default for LastRuns {
    fn default() -> Self {
        Self(by_quadword(0))
    }
}

impl LastRuns {
    /// Runs by quadword, from the beginning of the local store on.
    pub fn by_quadword(&self) -> &[u32] {
        &*self.0
    }

    /// The first bytes in a row within `range` that this run was the last to touch.
    pub fn first_bytes(&self, run: u32, range: &Range<u64>) -> Option<Range<u64>> {
        let quadwords = quadwords(range);
        let within = &self.0[quadwords.clone()];
        // Mostly there are none, which is found out eight at a time.
        if !within.iter().fold(false, |found, &last| found | (last == run)) {
            return None;
        }
        let first = within.iter().position(|&last| last == run)?;
        let count = within[first..].iter().take_while(|&&last| last == run).count();
        let (start, end) = (quadwords.start + first, quadwords.start + first + count);
        Some((16 * start as u64).max(range.start)..(16 * end as u64).min(range.end))
    }

    fn note(&mut self, bytes: &Range<u64>, run: u32) {
        self.0[quadwords(bytes)].fill(run);
    }
}

/// The quadwords that hold these bytes, as far as there is local store.
pub fn quadwords(bytes: &Range<u64>) -> Range<usize> {
    let end = bytes.end.min(u64::from(LOCAL_STORE_BYTES)).div_ceil(16) as usize;
    ((bytes.start / 16) as usize).min(end)..end
}

/// Notes what one run touches.
#[derive(Debug)]
pub struct Watch<'a> {
    read: &'a mut [u32; QUADWORDS],
    written: &'a mut [u32; QUADWORDS],
    filled: &'a mut [bool; QUADWORDS],
    unwritten: &'a mut Vec<usize>,
    run: u32,
}

impl Watch<'_> {
    #[inline(always)]
    pub(super) fn note_read(&mut self, address: LocalAddress) {
        let index = quadword_index(address);
        self.read[index] = self.run;
        note_if_unwritten(index, self.filled, self.unwritten);
    }

    #[inline(always)]
    pub(super) fn note_written(&mut self, address: LocalAddress) {
        let index = quadword_index(address);
        self.written[index] = self.run;
        self.filled[index] = true;
    }
}

/// A local store that is watched.
pub(super) struct WatchedStore<'s, 'a> {
    pub store: &'s mut LocalStore,
    pub watch: Watch<'a>,
}

impl QuadwordMemory for WatchedStore<'_, '_> {
    #[inline(always)]
    fn load(&mut self, address: LocalAddress) -> Quadword {
        self.watch.note_read(address);
        self.store.load(address)
    }

    #[inline(always)]
    fn store(&mut self, address: LocalAddress, value: Quadword) {
        self.watch.note_written(address);
        self.store.store(address, value);
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
        let mut accesses = Accesses::default();
        execute_watched(&Copy, &mut store, accesses.watch(1));
        assert_eq!(store.load(LocalAddress(0)), Quadword::splat(7));
        let check = |set: &LastRuns, within: Range<u64>, found: Option<Range<u64>>| {
            assert_eq!(set.first_bytes(1, &within), found, "{within:?}");
        };
        check(accesses.read(), 0..0x40000, Some(0x100..0x120));
        check(accesses.read(), 0x104..0x40000, Some(0x104..0x120));
        check(accesses.read(), 0x11F..0x120, Some(0x11F..0x120));
        check(accesses.read(), 0..0x100, None);
        check(accesses.written(), 0..0x40000, Some(0..0x10));
        check(accesses.written(), 0x10..0x40000, Some(0x3FFF0..0x40000));
    }
    #[test]
    fn what_is_read_before_it_was_written_is_noted_once() {
        let mut accesses = Accesses::default();
        accesses.fill(&(0x104..0x108));
        let unwritten =
            |accesses: &Accesses| accesses.unwritten(&(0x100..0x130)).collect::<Vec<_>>();
        assert_eq!(unwritten(&accesses), [0x11, 0x12]);
        execute_watched(&Copy, &mut LocalStore::new(), accesses.watch(1));
        assert_eq!(accesses.take_unwritten(), [0x11]);
        execute_watched(&Copy, &mut LocalStore::new(), accesses.watch(2));
        accesses.note_read(&(0..0x10), 3);
        assert_eq!(accesses.take_unwritten(), [0; 0]);
        assert_eq!(unwritten(&accesses), [0x12]);
        accesses.note_read(&(0x110..0x121), 4);
        assert_eq!(accesses.take_unwritten(), [0x12]);
    }
}
