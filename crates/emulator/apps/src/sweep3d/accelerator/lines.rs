//! The lines of a block, of which those of a diagonal do not depend on one another: what flows between
//! them, and what the host tells SPEs of them.

use crate::layout::{InMemory, Words};
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_kernels::sweep3d::face_bytes;
use mmgp_sweep::{FixUp, I, J, K, Problem, Sign, Step};

arguments! {
    /// A line of cells along i for a pair of angles.
    #[derive(Eq)]
    pub struct LineOfPair {
        /// Which pair of the block's angles.
        pub pair: u32,
        /// The plane of the line, counted within the block.
        pub plane: u32,
        /// The j of the line.
        pub j: u32,
    }
}

/// The diagonals of a block of so many lines a plane and pairs of angles, in their order: on each all lines
/// whose j, plane and pair, counted in the order of the sweep, add up to its number.
pub fn diagonals(
    step: &Step,
    [jt, pairs]: [usize; 2],
) -> impl Iterator<Item = Vec<LineOfPair>> + use<> {
    let (signs, planes) = (step.octant.signs, step.planes.len());
    (0..jt + planes + pairs - 2).map(move |number| {
        let of_pair = |pair: usize| {
            let of_plane = move |visited: usize| {
                let before = number.checked_sub(pair + visited)?;
                (before < jt).then(|| LineOfPair {
                    pair: pair as u32,
                    plane: signs[K].nth(visited, planes) as u32,
                    j: signs[J].nth(before, jt) as u32,
                })
            };
            (0..planes).filter_map(of_plane)
        };
        (0..pairs).flat_map(of_pair).collect()
    })
}

/// An element for each pair of angles.
pub const ELEMENT: u64 = face_bytes(2).0;

/// The faces in main memory.
///
/// Pairs of angles come one after the other, so that what flows into a line is contiguous. Of a pair the face
/// of i has an element for each plane and j, that of j a row along i for each plane, that of k a row for each
/// j. There is room for all planes of a block, also where a block has fewer.
#[derive(Debug, Clone, Copy)]
pub struct Faces {
    starts: [EffectiveAddress; 3],
    it: u64,
    jt: u64,
    /// mk.
    planes: u64,
    /// Pairs of angles of a block.
    pub pairs: u32,
}

impl Faces {
    /// Room for those of a block.
    pub fn allocate(problem: &Problem, allocate: impl Fn(Bytes) -> EffectiveAddress) -> Self {
        let [it, jt, _] = problem.cells().map(|it| it as u64);
        let mut faces = Self {
            starts: [EffectiveAddress::default(); 3],
            it,
            jt,
            planes: problem.planes_of_block() as u64,
            pairs: pairs(problem),
        };
        faces.starts = faces.bytes().map(|bytes| allocate(Bytes(bytes.into())));
        faces
    }

    /// How many elements of a pair there are, where a block has so many planes.
    pub fn elements(&self, axis: usize, planes: u64) -> u64 {
        match axis {
            I => self.jt * planes,
            J => self.it * planes,
            _ => self.it * self.jt,
        }
    }

    /// Bytes of each.
    pub fn bytes(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| (ELEMENT * self.elements(axis, self.planes)) as u32 * self.pairs)
    }

    /// The beginning of a face.
    pub fn start(&self, axis: usize) -> EffectiveAddress {
        self.starts[axis]
    }

    /// The beginning of the part of a pair.
    pub fn of_pair(&self, axis: usize, pair: u32) -> EffectiveAddress {
        let before = self.elements(axis, self.planes) * u64::from(pair);
        self.starts[axis].offset(ELEMENT * before)
    }

    /// The address of what flows into a line along an axis, and of what leaves it.
    pub fn of_line(&self, axis: usize, line: LineOfPair) -> EffectiveAddress {
        let LineOfPair { pair, plane, j } = line;
        let (plane, j) = (u64::from(plane), u64::from(j));
        let before = match axis {
            I => plane * self.jt + j,
            J => plane * self.it,
            _ => j * self.it,
        };
        self.of_pair(axis, pair).offset(ELEMENT * before)
    }
}

/// Pairs of angles of a block.
pub fn pairs(problem: &Problem) -> u32 {
    mmgp_kernels::sweep3d::pairs(problem.angles_of_block() as u32)
}

/// The arguments of calls in main memory, and the fix-ups of each SPE.
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
        /// Lines of the diagonal.
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
        /// The plane of the grid.
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

    /// The address where an SPE puts how many fix-ups there were on it since it began.
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

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::table::Source;
    use mmgp_sweep::{Input, Problem};

    /// Rounds of eight lines on the diagonals of a block of input.50, by pairs of angles that follow one
    /// another, and the lines of the longest.
    fn rounds(pairs: usize) -> (usize, usize, usize) {
        let text = "1 1 10 3 1\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
        let problem = Problem::new(&Input::read(&Source::new("input.50", text)).unwrap());
        let step = problem.steps().nth(7).unwrap();
        let lengths: Vec<usize> = diagonals(&step, [50, pairs]).map(|it| it.len()).collect();
        let rounds = lengths.iter().map(|lines| lines.div_ceil(8)).sum();
        assert_eq!(lengths.iter().sum::<usize>(), 50 * 10 * pairs);
        (lengths.len(), *lengths.iter().max().unwrap(), rounds)
    }

    #[test]
    fn lines_of_a_pair_share_better_than_lines_of_all_angles() {
        assert_eq!(rounds(1), (59, 10, 102));
        assert_eq!(rounds(2), (60, 20, 156));
    }

    #[test]
    fn a_line_comes_after_those_that_flow_into_it_and_never_beside_another_pair_of_its_own() {
        let text = "1 1 3 3 1\n4 5 7 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
        let problem = Problem::new(&Input::read(&Source::new("small", text)).unwrap());
        for step in problem.steps() {
            let all: Vec<Vec<LineOfPair>> = diagonals(&step, [5, 2]).collect();
            let when = |line: LineOfPair| all.iter().position(|it| it.contains(&line)).unwrap();
            let planes = step.planes.len();
            for (pair, visited_k, visited_j) in (0..2)
                .flat_map(|pair| (0..planes).map(move |k| (pair, k)))
                .flat_map(|(pair, k)| (0..5).map(move |j| (pair, k, j)))
            {
                let line = |pair: usize, k: usize, j: usize| LineOfPair {
                    pair: pair as u32,
                    plane: step.octant.signs[K].nth(k, planes) as u32,
                    j: step.octant.signs[J].nth(j, 5) as u32,
                };
                let own = when(line(pair, visited_k, visited_j));
                if visited_k > 0 {
                    assert!(own > when(line(pair, visited_k - 1, visited_j)));
                }
                if visited_j > 0 {
                    assert!(own > when(line(pair, visited_k, visited_j - 1)));
                }
                assert_ne!(own, when(line(1 - pair, visited_k, visited_j)));
            }
        }
    }
}
