//! The path of a run: the outcomes of its branches. For kernels whose branches depend on data, it
//! is the rest of what their time depends on beside their shape.

use crate::local_store::{LocalAddress, LocalStore};
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

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Shape, Spu, execute, execute_on_path};
    use super::*;

    /// Branches on the word of each of 200 quadwords, and calls what the last one says.
    struct Decide;

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
}
