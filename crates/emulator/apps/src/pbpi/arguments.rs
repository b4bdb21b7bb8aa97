//! The arguments of an off-load as they lie in main memory.

use super::segment::{Segment, Vector};
use mmgp_cell::EffectiveAddress;
use mmgp_spu::Quadword;

/// Their size.
pub const ARGUMENTS_BYTES: u64 = 128;

/// A child of a node, and where its data are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// A tip, whose codes lie there: a byte for each pattern.
    Tip(EffectiveAddress),
    /// An inner node with its vector.
    Inner(Vector),
}

/// The arguments of an off-load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments {
    /// Groups of patterns of the process.
    pub groups: u32,
    /// The children, of which an inner node has two; for the likelihood the root alone.
    pub children: [Child; 3],
    /// Where the vectors of the node go.
    pub out: Vector,
    /// Transition matrices towards the children, one behind the other.
    pub matrices: EffectiveAddress,
    /// Weights of the patterns.
    pub weights: EffectiveAddress,
    /// Where each SPE puts its sum, a quadword each.
    pub results: EffectiveAddress,
}

impl Arguments {
    /// As the host stores them. Which children are tips stands beside the number of groups, a bit
    /// each.
    pub fn to_quadwords(self) -> [Quadword; 8] {
        let pair =
            |first: EffectiveAddress, second: EffectiveAddress| Quadword([first.0, second.0]);
        let of = |vector: Vector| pair(vector.entries, vector.counts);
        let [first, second, third] = self.children.map(|child| match child {
            Child::Tip(codes) => pair(codes, EffectiveAddress(0)),
            Child::Inner(vector) => of(vector),
        });
        let tip = |(place, child): (usize, &Child)| match child {
            Child::Tip(_) => 1 << place,
            Child::Inner(_) => 0,
        };
        let tips = self.children.iter().enumerate().map(tip).sum();
        let groups = Quadword([u64::from(self.groups), tips]);
        let (matrices, results) =
            (pair(self.matrices, self.weights), Quadword([self.results.0, 0]));
        [groups, first, second, third, of(self.out), matrices, results, Quadword::ZERO]
    }

    /// As an SPE finds them.
    pub fn from_quadwords(quadwords: &[Quadword]) -> Self {
        let pair = |index: usize| quadwords[index].0.map(EffectiveAddress);
        let vector = |index| {
            let [entries, counts] = pair(index);
            Vector { entries, counts }
        };
        let [groups, tips] = quadwords[0].0;
        let child = |place: usize| match tips >> place & 1 {
            0 => Child::Inner(vector(1 + place)),
            _ => Child::Tip(pair(1 + place)[0]),
        };
        let [matrices, weights] = pair(5);
        Self {
            groups: groups as u32,
            children: [child(0), child(1), child(2)],
            out: vector(4),
            matrices,
            weights,
            results: pair(6)[0],
        }
    }

    /// All that bears on what a call does, apart from what it computes, given how the arguments lie
    /// in memory; `place` is what does of an address.
    pub fn shape(
        quadwords: impl IntoIterator<Item = Quadword>,
        place: impl Fn(EffectiveAddress) -> u64,
    ) -> impl Iterator<Item = u64> {
        let words = move |(index, Quadword(halves))| match index {
            0 => halves,
            _ => halves.map(|at| place(EffectiveAddress(at))),
        };
        quadwords.into_iter().enumerate().flat_map(words)
    }
}

impl Segment {
    /// The arguments that every off-load of this process has in common.
    pub fn common_arguments(&self) -> Arguments {
        Arguments {
            groups: self.groups,
            children: [Child::Inner(Vector::default()); 3],
            out: Vector::default(),
            matrices: self.matrices,
            weights: self.weights,
            results: self.results,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_spe_finds_the_arguments_of_any_mix_of_tips_and_inner_nodes() {
        let at = |number: u64| EffectiveAddress(128 * number);
        let vector = |number| Vector { entries: at(number), counts: at(number + 1) };
        for tips in 0..8 {
            let child = |place: u64| match tips >> place & 1 {
                0 => Child::Inner(vector(10 * place)),
                _ => Child::Tip(at(10 * place)),
            };
            let arguments = Arguments {
                groups: 25_000,
                children: [child(0), child(1), child(2)],
                out: vector(40),
                matrices: at(50),
                weights: at(51),
                results: at(52),
            };
            let quadwords = arguments.to_quadwords();
            assert_eq!(quadwords.len() as u64 * 16, ARGUMENTS_BYTES);
            assert_eq!(Arguments::from_quadwords(&quadwords), arguments);
        }
    }
}
