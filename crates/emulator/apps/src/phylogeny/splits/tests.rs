use approx::assert_relative_eq;

use super::*;
use crate::phylogeny::{Stream, newick};
use mmgp_base::table::Source;

impl Split {
    /// The split of some of `taxa` taxa from the others, whichever side is given.
    fn new(taxa: usize, side: impl IntoIterator<Item = usize>) -> Self {
        let mut split = Self::none(taxa);
        side.into_iter().for_each(|taxon| split.words[taxon / WORD] |= 1 << (taxon % WORD));
        split.without_first(taxa)
    }
}

fn names(taxa: usize) -> Vec<String> {
    (0..taxa).map(|taxon| format!("t{taxon}")).collect()
}

fn tree(text: &str, taxa: usize) -> Tree {
    newick::read(&Source::new("x.nwk", text), &names(taxa)).unwrap()
}

#[test]
fn a_split_is_the_same_from_either_side() {
    for taxa in [5, 64, 65, 130] {
        let split = Split::new(taxa, [1, taxa - 1]);
        let others = (0..taxa).filter(|taxon| ![1, taxa - 1].contains(taxon));
        assert_eq!(split, Split::new(taxa, others), "{taxa}");
        assert_eq!(split.taxa().collect::<Vec<_>>(), [1, taxa - 1]);
        assert_eq!(split.size(), 2);
    }
}

#[test]
fn the_splits_of_random_trees_are_those_of_their_topologies_wherever_they_hang() {
    let mut stream = Stream::new(1, 0);
    for taxa in [3, 4, 17, 64, 65, 70] {
        let mut tree = Tree::random(taxa, 0.1, &mut stream).unwrap();
        let expected = tree.splits();
        tree.rehang(taxa + stream.index(taxa - 2));
        let branches = inner_branches(&tree);
        let mut found: Vec<Vec<usize>> =
            branches.iter().map(|(_, split)| split.taxa().collect()).collect();
        found.sort();
        assert_eq!(found, expected);
    }
}

/// Four trees of five taxa; {3, 4} stands in three, {1, 2} in two, {2, 3, 4} and {2, 4} in one.
fn four() -> SplitCounts {
    let mut counts = SplitCounts::new(5);
    for text in [
        "(t0:1,(t1:1,t2:1):2,(t3:1,t4:1):3);",
        "(t0:1,(t1:1,t2:1):4,(t3:1,t4:1):4);",
        "(t0:1,t1:1,(t2:1,(t3:1,t4:1):8):1);",
        "(t0:5,t3:1,(t1:1,(t2:1,t4:1):1):1);",
    ] {
        counts.add(&tree(text, 5), 1.0);
    }
    counts
}

#[test]
fn shares_are_counted_by_weight() {
    let mut counts = four();
    let [one, other] = [Split::new(5, [1, 2]), Split::new(5, [3, 4])];
    assert_eq!((counts.share(&one), counts.share(&other)), (0.5, 0.75));
    assert_eq!(counts.share(&Split::new(5, [1, 3])), 0.0);
    counts.add(&tree("(t0:1,(t1:1,t2:1):2,(t3:1,t4:1):3);", 5), 4.0);
    assert_eq!(counts.weight(), 8.0);
    assert_eq!((counts.share(&one), counts.share(&other)), (0.75, 0.875));
    assert_eq!(counts.iter().count(), 5);
}

#[test]
fn a_tree_is_supported_branch_by_branch() {
    let tree = tree("(t0:1,(t1:1,t2:1):2,(t3:1,t4:1):3);", 5);
    let supports = four().supports(&tree);
    for (node, split) in inner_branches(&tree) {
        let expected = if split.contains(1) { 0.5 } else { 0.75 };
        assert_eq!(supports[node], Some(expected));
    }
    assert_eq!(supports.iter().flatten().count(), 2);
}

#[test]
fn a_split_in_half_of_the_trees_is_not_in_the_consensus() {
    let consensus = four().majority_rule();
    assert_eq!(consensus.branches().len(), 1);
    // {3, 4} in three trees, with the lengths 3, 4 and 8; tip 0 with 1, 1, 1 and 5.
    assert_eq!(consensus.write(&names(5)), "(t0:2,t1:1,t2:1,(t3:1,t4:1)0.75:5);\n");
}

#[test]
fn sides_nest_in_the_consensus() {
    let mut counts = four();
    counts.add(&tree("(t0:1,t1:1,(t2:1,(t3:1,t4:1):8):1);", 5), 3.0);
    let consensus = counts.majority_rule();
    assert_eq!(consensus.branches().len(), 2);
    let text = consensus.write(&names(5));
    let read = tree(&text, 5);
    assert_eq!(read.splits(), [vec![2, 3, 4], vec![3, 4]]);
    assert!(text.ends_with(&format!("){}:1);\n", 4.0 / 7.0)), "{text}");
}

#[test]
fn the_consensus_of_equal_trees_is_their_tree_and_reads_back() {
    let mut stream = Stream::new(2, 0);
    for taxa in [3, 4, 5, 40, 100] {
        let tree = Tree::random(taxa, 0.1, &mut stream).unwrap();
        let mut counts = SplitCounts::new(taxa);
        counts.add(&tree, 2.0);
        counts.add(&tree, 1.0);
        let consensus = counts.majority_rule();
        assert_eq!(consensus.branches().len(), taxa - 3);
        assert!(consensus.branches().iter().all(|(_, branch)| branch.share == 1.0));
        let text = consensus.write(&names(taxa));
        let read = newick::read(&Source::new("x.nwk", &text), &names(taxa)).unwrap();
        assert_eq!(read.splits(), tree.splits());
        let total = |tree: &Tree| tree.branches().map(|n| tree.branch_length(n)).sum::<f64>();
        assert_relative_eq!(total(&read), total(&tree), max_relative = 1e-12);
    }
}

#[test]
fn majority_splits_of_random_trees_are_those_in_more_than_half_and_all_compatible() {
    let mut stream = Stream::new(3, 0);
    let first = Tree::random(12, 0.1, &mut stream).unwrap();
    for _ in 0..20 {
        // Trees near one another: the first with some tips carried elsewhere.
        let mut counts = SplitCounts::new(12);
        let mut trees = Vec::new();
        for _ in 0..7 {
            let mut tree = first.clone();
            let hanging = |tree: &Tree, tip: usize| tree.parent(tip) != Some(tree.root());
            let tip = (0..12).find(|&tip| hanging(&tree, tip)).unwrap();
            let away = |node: &usize| *node != tip && Some(*node) != tree.parent(tip);
            let onto: Vec<usize> = tree.branches().filter(away).collect();
            tree.move_subtree(tip, onto[stream.index(onto.len())], 0.5);
            counts.add(&tree, 1.0);
            trees.push(tree.splits());
        }
        let consensus = counts.majority_rule();
        let mut expected: Vec<Vec<usize>> = trees.concat();
        expected.sort();
        expected.dedup();
        expected.retain(|split| trees.iter().filter(|tree| tree.contains(split)).count() > 3);
        let mut found: Vec<Vec<usize>> =
            consensus.branches().iter().map(|(split, _)| split.taxa().collect()).collect();
        found.sort();
        assert_eq!(found, expected);
        let text = consensus.write(&names(12));
        for (_, branch) in consensus.branches() {
            assert!(text.contains(&format!("){}:{}", branch.share, branch.length)), "{text}");
        }
    }
}
