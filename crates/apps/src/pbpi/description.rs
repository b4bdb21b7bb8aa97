//! The counts of PBPI that follow from its alignment.

use super::Pbpi;
use super::segment::{CODES_BYTES, COUNTS_BYTES, VECTOR_BYTES, WEIGHTS_BYTES};
use super::spe_program::{BLOCK_GROUPS, FUNCTIONS};
use crate::description::{Description, Traffic};
use crate::port::transfers;
use crate::streaming::Transfers;
use mmgp_kernels::pbpi::PATTERNS_PER_GROUP;

impl Pbpi {
    /// What is known of a run. Of the children of a node as many are tips as on average in the first
    /// tree; a chain visits nodes near its root more often, and changes the tree.
    pub(super) fn describe(&self) -> Option<Description> {
        if self.coupling.rows() > 1 {
            return None;
        }
        let groups = self.patterns.len().div_ceil(PATTERNS_PER_GROUP as usize) as u32;
        let exposed = match transfers(self.port.version()) {
            Transfers::DoubleBuffered => groups.min(BLOCK_GROUPS),
            Transfers::OneByOne => groups,
        };
        let [all, exposed] = [groups, exposed].map(|groups| self.moved(u64::from(groups)));
        let traffic = FUNCTIONS.into_iter().zip(all.into_iter().zip(exposed));
        let traffic = traffic.map(|(function, (bytes, exposed_bytes))| Traffic {
            function,
            bytes,
            exposed_bytes,
        });
        Some(Description::new(groups, self.placement).moving(traffic.collect()))
    }

    /// Bytes that each function fetches and stores for so many groups of patterns, in the order of
    /// [`FUNCTIONS`].
    fn moved(&self, groups: u64) -> [u64; 3] {
        let vector = groups * (VECTOR_BYTES + COUNTS_BYTES);
        // DMA moves whole quadwords.
        let codes = (groups * CODES_BYTES).next_multiple_of(16);
        let children = |node: usize| {
            self.tree
                .children(node)
                .map(|child| if child < self.tree.taxa() { codes } else { vector })
        };
        let nodes: Vec<usize> = (self.tree.taxa()..self.tree.nodes())
            .filter(|&node| node != self.tree.root())
            .collect();
        let of_nodes: u64 = nodes.iter().flat_map(|&node| children(node)).sum();
        let root: u64 = children(self.tree.root()).sum();
        [
            of_nodes / nodes.len().max(1) as u64 + vector,
            root + vector,
            vector + groups * WEIGHTS_BYTES,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phylogeny::tests::random_patterns;
    use crate::phylogeny::{newick, simulate};
    use mmgp_base::table::Source;

    /// Bytes of the functions for so many patterns of the taxa of `tree`, which are more than a block,
    /// and those exposed.
    fn check(tree: &str, taxa: usize, patterns: usize, expected: [[u64; 3]; 2]) {
        let tree = newick::read(&Source::new("tree", tree), &simulate::names(taxa)).unwrap();
        let pbpi = Pbpi::new(random_patterns(taxa, patterns), Some(tree), 1, 1).unwrap();
        let description = pbpi.describe().unwrap();
        assert_eq!(description.iterations as usize, patterns.div_ceil(4));
        let found = description.traffic.iter().map(|it| [it.bytes, it.exposed_bytes]);
        let expected: Vec<_> = (0..3).map(|function| expected.map(|it| it[function])).collect();
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn bytes_are_those_of_codes_vectors_counts_and_weights() {
        // Of a pattern a tip has a byte, a vector four doubles and a word, a weight is a double; 64
        // patterns are a block. Both nodes join two tips, the root two nodes and a tip:
        // 2 + 36, 1 + 2 * 36 + 36 and 36 + 8 a pattern.
        let tree = "((t01:1,t02:1):1,(t03:1,t04:1):1,t05:1);";
        check(tree, 5, 160, [[160 * 38, 160 * 109, 160 * 44], [64 * 38, 64 * 109, 64 * 44]]);
        // One node joins two tips, one a node and a tip, so on average half of (3 + 36) is fetched;
        // the root joins a node and two tips: 38 + 36. 162 patterns are padded to 164, and their
        // codes to 176 bytes: (3 * 176 + 164 * 36) / 2 = 3216 and 2 * 176 + 164 * 36 = 6256.
        let tree = "(((t01:1,t02:1):1,t03:1):1,t04:1,t05:1);";
        let out = 164 * 36;
        let all = [3216 + out, 6256 + out, 164 * 44];
        check(tree, 5, 162, [all, [64 * 39 / 2 + 64 * 36, 64 * 74, 64 * 44]]);
    }

    #[test]
    fn three_taxa_have_no_node_but_the_root() {
        let nothing_below = [160 * 36, 160 * (3 + 36), 160 * 44];
        let exposed = [64 * 36, 64 * (3 + 36), 64 * 44];
        check("(t01:1,t02:1,t03:1);", 3, 160, [nothing_below, exposed]);
    }
}
