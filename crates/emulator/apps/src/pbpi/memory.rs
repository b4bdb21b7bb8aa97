//! What one process keeps in main memory: its segment of the patterns, and the arguments of off-loads.

use crate::layout::InMemory as _;
use crate::likelihood::{End, EndBytes, Vector, pairs};
use crate::phylogeny::alignment::{Patterns, UNDETERMINED};
use mmgp_base::units::Bytes;
use mmgp_cell::{Blade, EffectiveAddress, Homes};
use mmgp_kernels::pbpi::PATTERNS_PER_GROUP;
use mmgp_spu::Quadword;

/// Patterns in a group.
const GROUP_PATTERNS: usize = PATTERNS_PER_GROUP as usize;

/// Bytes of a conditional likelihood vector for each group of patterns: four doubles a pattern.
pub const VECTOR_BYTES: u64 = 32 * GROUP_PATTERNS as u64;
/// Bytes of the scaling counts for each group: a word a pattern.
pub const COUNTS_BYTES: u64 = 4 * GROUP_PATTERNS as u64;
/// Bytes of the codes of a tip for each group: a byte a pattern.
pub const CODES_BYTES: u64 = GROUP_PATTERNS as u64;
/// Bytes of the arrays of a child for each group.
pub const CHILD_BYTES: EndBytes =
    EndBytes { codes: CODES_BYTES, entries: VECTOR_BYTES, counts: COUNTS_BYTES };
/// Bytes of the weights for each group: a double a pattern.
pub const WEIGHTS_BYTES: u64 = 8 * GROUP_PATTERNS as u64;
/// Bytes of a transition matrix.
pub const MATRIX_BYTES: u64 = 128;

/// The data of one process. What its SPEs share lies where the process has its homes, the rest in
/// the memory of its own Cell.
pub struct Segment {
    /// Which patterns these are.
    own: std::ops::Range<usize>,
    /// Groups of patterns, the last one padded with patterns of weight zero.
    pub groups: u32,
    /// A double for each pattern.
    pub weights: EffectiveAddress,
    /// The codes of the residues of each tip, a byte for each pattern.
    pub tips: Vec<EffectiveAddress>,
    /// Two vectors for each chain and inner node: one belongs to the accepted tree, the other
    /// to a proposal.
    pub inner: Vec<Vec<[Vector; 2]>>,
    /// The arguments of an off-load.
    pub arguments: EffectiveAddress,
    /// Up to three transition matrices.
    pub matrices: EffectiveAddress,
    /// What each SPE that shares an off-load found, a quadword each.
    pub results: EffectiveAddress,
    /// The number of SPEs for whose results there is room.
    pub most_shares: u32,
}

impl Segment {
    /// Lays out the patterns of `rank` of `ranks`: contiguous blocks, of which the first
    /// `patterns mod ranks` hold one more. There are vectors of `inner` inner nodes, the root
    /// included, for one chain.
    pub fn new(
        blade: &Blade,
        homes: &Homes,
        (rank, ranks): (u32, u32),
        patterns: &Patterns,
        inner: usize,
    ) -> Self {
        let own = block(patterns.len(), rank as usize, ranks as usize);
        let groups = own.len().div_ceil(GROUP_PATTERNS);
        let allocate = |bytes: u64| homes.allocate(Bytes(bytes * groups as u64));
        let allocate_own = |bytes: u64| homes.allocate_own(Bytes(bytes));
        let most_shares = blade.machine.layout.spes();
        let weights = allocate(WEIGHTS_BYTES);
        let vector = || Vector { entries: allocate(VECTOR_BYTES), counts: allocate(COUNTS_BYTES) };
        Self {
            own,
            groups: groups as u32,
            weights,
            tips: patterns.tips.iter().map(|_| allocate(CODES_BYTES)).collect(),
            inner: vec![(0..inner).map(|_| [vector(), vector()]).collect()],
            arguments: allocate_own(128),
            matrices: allocate_own(3 * MATRIX_BYTES),
            results: allocate_own(16 * u64::from(most_shares)),
            most_shares,
        }
    }

    /// Puts the patterns there.
    pub fn fill(&self, blade: &Blade, patterns: &Patterns) {
        let padded = |index: usize| self.own.start + index..self.own.end;
        let places = 0..self.groups as usize * GROUP_PATTERNS;
        let weight = |index| padded(index).next().map_or(0.0, |i| f64::from(patterns.weights[i]));
        blade.memory.write(self.weights, pairs(places.clone().map(weight)));
        for (&tip, codes) in self.tips.iter().zip(&patterns.tips) {
            let code = |index| padded(index).next().map_or(UNDETERMINED, |i| codes[i]);
            let quadword =
                |first| Quadword::from_bytes(std::array::from_fn(|byte| code(first + byte)));
            blade.memory.write(tip, places.clone().step_by(16).map(quadword));
        }
    }

    /// The same with vectors for so many chains, which share all else.
    pub fn for_chains(mut self, homes: &Homes, chains: usize) -> Self {
        let allocate = |bytes: u64| homes.allocate(Bytes(bytes * u64::from(self.groups)));
        let vector = || Vector { entries: allocate(VECTOR_BYTES), counts: allocate(COUNTS_BYTES) };
        let inner = self.inner[0].len();
        while self.inner.len() < chains {
            self.inner.push((0..inner).map(|_| [vector(), vector()]).collect());
        }
        self
    }
}

/// Which of `count` things the `index`-th of `shares` gets: contiguous blocks, the first
/// `count mod shares` of which hold one more.
pub fn block(count: usize, index: usize, shares: usize) -> std::ops::Range<usize> {
    let (each, more) = (count / shares, count % shares);
    let start = index * each + index.min(more);
    start..start + each + usize::from(index < more)
}

/// Their size: a line.
pub const ARGUMENTS_BYTES: Bytes = Bytes(128);

arguments! {
    /// The arguments of an off-load.
    pub struct PbpiArguments {
        /// The children, of which an inner node has two; for the likelihood the root alone.
        pub children: [End; 3],
        /// The vectors of the node, written.
        pub out: Vector,
        /// Transition matrices towards the children, one behind the other.
        pub matrices: EffectiveAddress,
        /// Weights of the patterns.
        pub weights: EffectiveAddress,
        /// The sums of the SPEs, a quadword each, written.
        pub results: EffectiveAddress,
        /// Groups of patterns of the process.
        pub groups: u32,
    }
}

impl Segment {
    /// The arguments that every off-load of this process has in common.
    pub fn common_arguments(&self) -> PbpiArguments {
        PbpiArguments {
            groups: self.groups,
            matrices: self.matrices,
            weights: self.weights,
            results: self.results,
            ..PbpiArguments::BLANK
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_contiguous_cover_everything_and_differ_by_at_most_one() {
        for (count, shares) in [(10, 3), (2, 5), (16, 16), (0, 2)] {
            let blocks: Vec<_> = (0..shares).map(|index| block(count, index, shares)).collect();
            assert_eq!(blocks[0].start, 0);
            assert_eq!(blocks[shares - 1].end, count);
            assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
            let longest = blocks[0].len();
            assert!(blocks.iter().all(|block| longest - block.len() <= 1));
        }
    }
}

#[cfg(test)]
mod arguments_tests {
    use super::*;

    #[test]
    fn an_spe_finds_the_arguments_of_any_mix_of_tips_and_inner_nodes() {
        let at = |number: u64| EffectiveAddress(128 * number);
        let vector = |number| Vector { entries: at(number), counts: at(number + 1) };
        for tips in 0..8 {
            let child = |place: u64| match tips >> place & 1 {
                0 => End::Inner(vector(10 * place)),
                _ => End::Tip(at(10 * place)),
            };
            let arguments = PbpiArguments {
                groups: 25_000,
                children: [child(0), child(1), child(2)],
                out: vector(40),
                matrices: at(50),
                weights: at(51),
                results: at(52),
            };
            let quadwords = arguments.quadwords(ARGUMENTS_BYTES);
            assert_eq!(quadwords.len() as u64 * 16, ARGUMENTS_BYTES.0);
            assert_eq!(PbpiArguments::from_quadwords(&quadwords), arguments);
        }
    }
}
