//! The counts of PBPI that follow from its alignment.

use super::Pbpi;
use super::segment::{COUNTS_BYTES, VECTOR_BYTES, WEIGHTS_BYTES};
use super::spe_program::{BLOCK_GROUPS, FUNCTIONS};
use crate::description::{Description, Traffic};
use crate::port::transfers;
use crate::streaming::Transfers;
use mmgp_kernels::pbpi::PATTERNS_PER_GROUP;

/// Bytes of each function for a group of patterns, in the order of [`FUNCTIONS`]: those it fetches,
/// and those it stores.
const BYTES: [(u64, u64); 3] = [
    (2 * (VECTOR_BYTES + COUNTS_BYTES), VECTOR_BYTES + COUNTS_BYTES),
    (3 * (VECTOR_BYTES + COUNTS_BYTES), VECTOR_BYTES + COUNTS_BYTES),
    (VECTOR_BYTES + COUNTS_BYTES + WEIGHTS_BYTES, 0),
];

impl Pbpi {
    /// What is known of a run.
    pub(super) fn describe(&self) -> Option<Description> {
        if self.coupling.rows() > 1 {
            return None;
        }
        let groups = self.patterns.len().div_ceil(PATTERNS_PER_GROUP as usize) as u32;
        let traffic = FUNCTIONS.into_iter().zip(BYTES).map(|(function, (fetched, stored))| {
            let (all, block) = (u64::from(groups), u64::from(groups.min(BLOCK_GROUPS)));
            let bytes = fetched + stored;
            let exposed = match transfers(self.port.version()) {
                Transfers::DoubleBuffered => block,
                Transfers::OneByOne => all,
            };
            Traffic { function, bytes: bytes * all, exposed_bytes: bytes * exposed }
        });
        Some(Description::new(groups, self.placement).moving(traffic.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phylogeny::Patterns;
    use crate::phylogeny::simulate;

    #[test]
    fn bytes_are_those_of_vectors_counts_and_weights() {
        let tree = simulate::tree(6, 0.1, 1).unwrap();
        let alignment = simulate::alignment(&tree, &simulate::names(6), 300, 1).unwrap();
        let patterns = Patterns::compress(&alignment);
        let groups = patterns.len().div_ceil(4) as u64;
        let description = Pbpi::new(patterns, None, 1, 1).unwrap().describe().unwrap();
        assert_eq!(u64::from(description.iterations), groups);
        // Of each pattern a vector has four doubles and a word, and a weight is a double; the last
        // group is padded.
        for (traffic, bytes) in description.traffic.iter().zip([3 * 36, 4 * 36, 36 + 8]) {
            assert_eq!(traffic.bytes, bytes * 4 * groups, "{}", traffic.function);
            assert_eq!(traffic.exposed_bytes, bytes * 4 * groups.min(16), "{}", traffic.function);
        }
    }
}
