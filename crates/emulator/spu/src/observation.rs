//! What is observed of a run: its path, and which parts of local store it touches, for those who look for
//! mistakes. The path is the outcomes of its branches: for kernels whose branches depend on data, it is the
//! rest of what their time depends on beside their shape.

use std::ops::Range;

use crate::local_store::{
    LOCAL_STORE_BYTES, LocalAddress, LocalStore, QUADWORDS, QuadwordMemory, quadword_index,
};
use crate::plain::BranchObserver;
use crate::register::Quadword;
use crate::schedule::Compiler;

/// What the branches of a kernel depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Branches {
    /// Shape alone, such as the counter of a loop: so does its time.
    OnShape,
    /// Data, too: its time depends on the [`Path`] that it takes.
    OnData,
}

/// The outcomes of all conditional branches and halts of a run and the targets of its indirect
/// branches, in order, as a fingerprint: their number and 64 bits of hash. Two different paths of
/// the same length share a fingerprint with a probability of 2^-64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    decisions: u64,
    hash: u64,
}

/// What a kernel has overwritten, in the order of its stores.
#[derive(Debug, Default)]
pub struct Journal {
    overwritten: Vec<(LocalAddress, Quadword)>,
}

impl Journal {
    /// Takes back what the last run with this journal stored; nothing else may have been stored
    /// since.
    pub fn undo(&mut self, store: &mut LocalStore) {
        while let Some((address, value)) = self.overwritten.pop() {
            store.store(address, value);
        }
    }

    /// Forgets what earlier runs stored.
    pub(super) fn begin(&mut self) {
        self.overwritten.clear();
    }

    /// Keeps what is overwritten next.
    #[inline(always)]
    pub(super) fn note(&mut self, address: LocalAddress, value: Quadword) {
        self.overwritten.push((address, value));
    }
}

/// Records the path of a run: outcomes are gathered in a word, which is hashed when it is full.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathRecorder {
    decisions: u64,
    hash: u64,
    outcomes: u64,
}

impl PathRecorder {
    pub(super) const fn new() -> Self {
        Self { decisions: 0, hash: 0, outcomes: 0 }
    }

    /// The path until now.
    pub(super) const fn path(mut self) -> Path {
        self.mix(self.outcomes);
        Path { decisions: self.decisions, hash: self.hash }
    }

    /// Adds a word to the hash: one round of SplitMix64, whose output function is a bijection that
    /// changes every bit of the result with a probability near a half.
    #[inline(always)]
    const fn mix(&mut self, word: u64) {
        let mut z = (self.hash ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.hash = z ^ (z >> 31);
    }
}

impl BranchObserver for PathRecorder {
    #[inline(always)]
    fn decided(&mut self, taken: bool) {
        self.outcomes = self.outcomes << 1 | u64::from(taken);
        self.decisions += 1;
        if self.decisions.is_multiple_of(64) {
            self.mix(self.outcomes);
        }
    }

    #[inline(always)]
    fn jumped(&mut self, target: u32) {
        // The position tells this jump from one between other decisions.
        self.mix(self.outcomes);
        self.mix(self.decisions);
        self.mix(u64::from(target));
        self.decisions += 1;
    }
}

/// All that the time of a kernel depends on, beside the machine and, where it branches on data, the
/// [`Path`](crate::Path): two kernels of the same shape take the same time on the same machine.
/// Addresses and data are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The name of the kernel in reports: kernels with different code have different names.
    pub name: &'static str,
    /// How often its loop turns; 0 where that is always the same.
    pub turns: u32,
    /// Which compiler orders it on an emulated machine; a [`Stopwatch`](crate::Stopwatch) has one
    /// of its own.
    pub compiler: Compiler,
    /// What its branches depend on.
    pub branches: Branches,
}

impl Shape {
    /// The shape of a kernel that an optimising compiler orders and that branches on its loop
    /// counter alone.
    pub const fn new(name: &'static str, turns: u32) -> Self {
        Self { name, turns, compiler: Compiler::LIST_SCHEDULING, branches: Branches::OnShape }
    }
}

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
    use super::*;
    use crate::{
        Kernel, LocalStore, Quadword, Shape, Spu, execute, execute_on_path, execute_watched,
    };

    /// Branches on the word of each of 200 quadwords, and calls what the last one says.
    struct Decide;

    /// The same, compiled to be followed.
    struct Followed;

    impl Kernel for Followed {
        type Output = u32;
        const BRANCHES: Branches = Branches::OnData;
        fn shape(&self) -> Shape {
            Decide.shape()
        }
        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> u32 {
            Decide.run(spu)
        }
    }

    const DATA: LocalAddress = LocalAddress(0x1000);

    impl Kernel for Decide {
        type Output = u32;
        fn shape(&self) -> Shape {
            Shape { branches: Branches::OnData, ..Shape::new("decide", 0) }
        }
        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> u32 {
            let mut taken = 0;
            for at in 0..200 {
                let word = spu.lqa(LocalAddress(DATA.0 + 16 * at));
                if spu.brnz(word) {
                    taken += 1;
                    spu.stqa(word, LocalAddress(0x100));
                }
            }
            let target = spu.lqa(LocalAddress(0x200));
            spu.bi(target);
            taken
        }
    }

    fn path(change: impl FnOnce(&mut LocalStore)) -> Path {
        let mut store = LocalStore::new();
        change(&mut store);
        let before = store.clone();
        let mut expected = store.clone();
        let mut journal = Journal::default();
        let (output, path) = execute_on_path(&Decide, &mut store, &mut journal, None);
        assert_eq!(output, execute(&Decide, &mut expected));
        assert!(store == expected, "it stores what it stores without a journal");
        let mut other = before.clone();
        let followed = execute_on_path(&Followed, &mut other, &mut Journal::default(), None);
        assert_eq!(followed, (output, path));
        assert!(store == other, "it stores the same where it is followed");
        journal.undo(&mut store);
        assert!(store == before, "it can be undone");
        path
    }

    fn set(store: &mut LocalStore, index: u32, word: u32) {
        store.store(LocalAddress(DATA.0 + 16 * index), Quadword::splat(word));
    }

    #[test]
    fn every_single_outcome_makes_another_path_and_a_value_alone_does_not() {
        let mut paths = std::collections::BTreeSet::from([path(|_| {})]);
        for index in 0..200 {
            assert!(paths.insert(path(|store| set(store, index, 1))), "{index}");
        }
        assert!(paths.contains(&path(|store| set(store, 77, 5))));
        let both = path(|store| [3, 77].into_iter().for_each(|index| set(store, index, 9)));
        assert!(paths.insert(both));
    }

    #[test]
    fn the_target_of_an_indirect_branch_is_part_of_the_path() {
        let to = |target| path(|store| store.store(LocalAddress(0x200), Quadword::splat(target)));
        assert_ne!(to(0x40), to(0x80));
        assert_eq!(to(0x40), to(0x40));
    }

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
