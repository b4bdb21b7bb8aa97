//! What flows between lines: three faces of a block, in main memory.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_kernels::sweep3d::face_bytes;
use mmgp_sweep::{I, J, Problem};

use super::diagonals::LineOfPair;

/// An element for each pair of angles.
pub const ELEMENT: u64 = face_bytes(2).0;

/// Where they lie.
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

    /// Where a face begins.
    pub fn start(&self, axis: usize) -> EffectiveAddress {
        self.starts[axis]
    }

    /// Where the part of a pair begins.
    pub fn of_pair(&self, axis: usize, pair: u32) -> EffectiveAddress {
        let before = self.elements(axis, self.planes) * u64::from(pair);
        self.starts[axis].offset(ELEMENT * before)
    }

    /// Where what flows into a line lies along an axis, and leaves it.
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
