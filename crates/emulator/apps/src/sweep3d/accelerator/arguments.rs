//! What the host tells SPEs of a diagonal, and what they tell it.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_spu::Quadword;
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

/// A diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagonal {
    pub lines: u32,
    /// The number of the octant and the block of angles.
    pub fan: u32,
    /// Which way lines are swept.
    pub sign: Sign,
    pub fix_up: FixUp,
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

    pub fn quadword(self) -> Quadword {
        let Self { lines, fan, sign, fix_up } = self;
        let flags = [sign == Sign::Plus, fix_up == FixUp::On].map(u32::from);
        Quadword::from_words([lines, fan, flags[0], flags[1]])
    }

    pub fn from_quadword(quadword: Quadword) -> Self {
        let [lines, fan, is_plus, is_on] = quadword.words();
        let sign = if is_plus == 1 { Sign::Plus } else { Sign::Minus };
        let fix_up = if is_on == 1 { FixUp::On } else { FixUp::Off };
        Self { lines, fan, sign, fix_up }
    }
}

/// A line whose block begins with plane `first` of the grid.
pub fn line_quadword(line: LineOfPair, first: u32) -> Quadword {
    let LineOfPair { pair, plane, j } = line;
    Quadword::from_words([pair, plane, j, first + plane])
}

/// A line, and its plane of the grid.
pub fn line_of(quadword: Quadword) -> (LineOfPair, u32) {
    let [pair, plane, j, k] = quadword.words();
    (LineOfPair { pair, plane, j }, k)
}
