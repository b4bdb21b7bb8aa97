//! What the host tells SPEs of a diagonal, and what they tell it.

use crate::layout::{InMemory, Words};
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_sweep::{FixUp, I, Problem, Sign, Step};

use super::diagonals::LineOfPair;
use super::faces::pairs;

/// Where the arguments of calls lie in main memory, and the fix-ups of each SPE.
///
/// A quadword tells of the diagonal, and one of each line:
///
/// ```text
/// lines | octant and block of angles | sign along i | fix-ups
/// pair  | plane within the block     | j            | plane
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    /// The arguments.
    pub at: EffectiveAddress,
    /// Lines of a diagonal at most.
    most_lines: u32,
    fixed: EffectiveAddress,
}

/// Bytes from the fix-ups of one SPE to those of the next: a line, which nobody else writes.
const FIXED_BYTES: u64 = 128;

impl InMemory for Sign {
    const BLANK: Self = Self::Minus;

    fn pass(&mut self, words: &mut Words<'_>) {
        *self = words.either(*self, [Self::Minus, Self::Plus]);
    }
}

impl InMemory for FixUp {
    const BLANK: Self = Self::Off;

    fn pass(&mut self, words: &mut Words<'_>) {
        *self = words.either(*self, [Self::Off, Self::On]);
    }
}

arguments! {
    /// A diagonal.
    #[derive(Eq)]
    pub struct Diagonal {
        /// Its lines.
        pub lines: u32,
        /// The number of the octant and the block of angles.
        pub fan: u32,
        /// Which way lines are swept.
        pub sign: Sign,
        /// Whether outflows are fixed up.
        pub fix_up: FixUp,
    }
}

arguments! {
    /// A line, and where it lies in the grid.
    #[derive(Eq)]
    pub struct PlacedLine {
        /// The line.
        pub line: LineOfPair,
        /// Its plane of the grid.
        pub k: u32,
    }
}

impl Calls {
    /// Room for them, on a machine of so many SPEs.
    pub fn allocate(
        problem: &Problem,
        spes: u32,
        allocate: impl Fn(Bytes) -> EffectiveAddress,
    ) -> Self {
        let [_, jt, _] = problem.cells();
        let most_lines = jt.min(problem.planes_of_block()) as u32 * pairs(problem);
        let bytes = Bytes(16 * u64::from(most_lines + 1));
        let fixed = allocate(Bytes(FIXED_BYTES * u64::from(spes)));
        Self { at: allocate(bytes), most_lines, fixed }
    }

    /// Bytes of the arguments of a call at most, all of which an SPE gets.
    pub fn bytes(&self) -> Bytes {
        Bytes(16 * u64::from(self.most_lines + 1))
    }

    /// Where an SPE puts how many fix-ups there were on it since it began.
    pub fn fixed(&self, spe: u32) -> EffectiveAddress {
        self.fixed.offset(FIXED_BYTES * u64::from(spe))
    }
}

impl Diagonal {
    /// One with these lines, of a block.
    pub fn new(step: &Step, lines: &[LineOfPair], fix_up: FixUp) -> Self {
        let (fan, sign) = (step.fan as u32, step.octant.signs[I]);
        Self { lines: lines.len() as u32, fan, sign, fix_up }
    }
}
