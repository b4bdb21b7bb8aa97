//! The counts of PBPI that follow from its alignment.

use super::Pbpi;
use super::segment::{CODES_BYTES, COUNTS_BYTES, VECTOR_BYTES, WEIGHTS_BYTES};
use super::spe_program::{BLOCK_GROUPS, FUNCTIONS};
use crate::description::{Description, Traffic};
use crate::port::transfers;
use crate::streaming::Transfers;
use mmgp_kernels::pbpi::PATTERNS_PER_GROUP;

impl Pbpi {
    /// What is known of a run.
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
    ///
    /// A change of the tree is followed up to its root. So each node of the first tree, which has
    /// tips and inner nodes below it, counts as often as there are branches below it that may
    /// change; how the chain changes the tree nobody knows before.
    fn moved(&self, groups: u64) -> [u64; 3] {
        let vector = groups * (VECTOR_BYTES + COUNTS_BYTES);
        // DMA moves whole quadwords.
        let codes = (groups * CODES_BYTES).next_multiple_of(16);
        let tree = &self.tree;
        let fetched = |node: usize| -> u64 {
            let of_child = |child| if child < tree.taxa() { codes } else { vector };
            tree.children(node).map(of_child).sum()
        };
        let mut below = vec![0; tree.nodes()];
        let (mut changes, mut of_nodes) = (0, 0);
        for node in tree.post_order().into_iter().filter(|&node| node >= tree.taxa()) {
            below[node] = tree.children(node).map(|child| 1 + below[child]).sum();
            if node != tree.root() {
                changes += below[node];
                of_nodes += below[node] * fetched(node);
            }
        }
        [
            of_nodes.checked_div(changes).unwrap_or(0) + vector,
            fetched(tree.root()) + vector,
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
        // One node joins two tips and has two branches below it, the other joins a node and a tip and
        // has four; the root joins a node and two tips. 162 patterns are padded to 164, and their
        // codes to 176 bytes: (2 * 2 * 176 + 4 * (176 + 164 * 36)) / 6 = 4170 and two thirds, and of
        // a block (2 * 2 * 64 + 4 * 64 * 37) / 6 = 1621 and a third.
        let tree = "(((t01:1,t02:1):1,t03:1):1,t04:1,t05:1);";
        let all = [4170 + 164 * 36, 2 * 176 + 2 * 164 * 36, 164 * 44];
        check(tree, 5, 162, [all, [1621 + 64 * 36, 64 * 74, 64 * 44]]);
    }

    #[test]
    fn three_taxa_have_no_node_but_the_root() {
        let nothing_below = [160 * 36, 160 * (3 + 36), 160 * 44];
        let exposed = [64 * 36, 64 * (3 + 36), 64 * 44];
        check("(t01:1,t02:1,t03:1);", 3, 160, [nothing_below, exposed]);
    }
}
