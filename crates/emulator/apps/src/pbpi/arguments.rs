//! The arguments of an off-load as they lie in main memory.

use super::segment::Segment;
use crate::layout::InMemory as _;
use crate::likelihood::{End, Vector};
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;

/// Their size: a line.
pub const ARGUMENTS_BYTES: Bytes = Bytes(128);

arguments! {
    /// The arguments of an off-load.
    pub struct Arguments {
        /// The children, of which an inner node has two; for the likelihood the root alone.
        pub children: [End; 3],
        /// Where the vectors of the node go.
        pub out: Vector,
        /// Transition matrices towards the children, one behind the other.
        pub matrices: EffectiveAddress,
        /// Weights of the patterns.
        pub weights: EffectiveAddress,
        /// Where each SPE puts its sum, a quadword each.
        pub results: EffectiveAddress,
        /// Groups of patterns of the process.
        pub groups: u32,
    }
}

impl Segment {
    /// The arguments that every off-load of this process has in common.
    pub fn common_arguments(&self) -> Arguments {
        Arguments {
            groups: self.groups,
            matrices: self.matrices,
            weights: self.weights,
            results: self.results,
            ..Arguments::BLANK
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
                0 => End::Inner(vector(10 * place)),
                _ => End::Tip(at(10 * place)),
            };
            let arguments = Arguments {
                groups: 25_000,
                children: [child(0), child(1), child(2)],
                out: vector(40),
                matrices: at(50),
                weights: at(51),
                results: at(52),
            };
            let quadwords = arguments.quadwords(ARGUMENTS_BYTES);
            assert_eq!(quadwords.len() as u64 * 16, ARGUMENTS_BYTES.0);
            assert_eq!(Arguments::from_quadwords(&quadwords), arguments);
        }
    }
}
