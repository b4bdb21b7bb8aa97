//! Starting trees of maximum parsimony: few changes of state (Fitch 1971).
//!
//! Taxa are added in random order, each to the branch where it costs fewest changes; then every
//! subtree goes to the branch where it costs fewest, until none moves (rearrangement without a
//! bound on the distance). The first of equally good branches is taken.

use super::climber::{HostTally, Step};
use super::tree::{SearchTree, Z_START};
use crate::phylogeny::{Patterns, Stream};

/// What parsimony computes on: the residues of the taxa, and a count of what that takes.
#[derive(Debug, Clone)]
pub struct Parsimony {
    tips: Vec<Sets>,
    tally: HostTally,
}

/// A branch for a subtree, and the changes that it costs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Insertion {
    ends: [usize; 2],
    changes: u32,
}

/// State sets all over a tree, seen from one of its branches: of the subtree behind each node, and
/// of all the rest.
struct Everywhere {
    /// Branches away from the first, whose upper end comes first in each.
    branches: Vec<(usize, usize)>,
    below: Vec<Sets>,
    above: Vec<Sets>,
}

impl Parsimony {
    /// Scores for patterns with other weights than their own. A pattern that some state could explain
    /// alone never costs a change and is left out.
    pub fn new(patterns: &Patterns, weights: &[u32]) -> Self {
        let mut columns = Vec::new();
        for (pattern, &weight) in weights.iter().enumerate() {
            let common = patterns.tips.iter().fold(15, |common, codes| common & codes[pattern]);
            if common == 0 {
                columns.extend(std::iter::repeat_n(pattern, weight as usize));
            }
        }
        let tips = patterns.tips.iter().map(|codes| of_codes(codes, &columns)).collect();
        Self { tips, tally: HostTally::default() }
    }

    /// A tree by stepwise addition in random order, rearranged; z is 0.9 on every branch.
    /// Counts what the host did for it.
    pub fn tree(&mut self, stream: &mut Stream, host: &mut HostTally) -> SearchTree {
        let mut tree = self.by_stepwise_addition(stream);
        while self.rearrange(&mut tree) {}
        host.add(&std::mem::take(&mut self.tally));
        tree
    }

    /// A tree by stepwise addition in random order.
    pub fn by_stepwise_addition(&mut self, stream: &mut Stream) -> SearchTree {
        let taxa = self.tips.len();
        let mut order: Vec<usize> = (0..taxa).collect();
        self.tally.count(Step::Draw, taxa as u64);
        for place in (1..taxa).rev() {
            order.swap(place, stream.index(place + 1));
        }
        let mut tree = SearchTree::scattered(taxa);
        for &tip in &order[..3] {
            tree.link(taxa, tip, Z_START);
        }
        for (added, &tip) in order[3..].iter().enumerate() {
            let inner = taxa + 1 + added;
            let sets = self.tips[tip].clone();
            let places = self.places(&tree, tree.first_branch(), &sets);
            tree.link(inner, tip, Z_START);
            tree.graft(inner, best(&places).ends, [Z_START; 2]);
        }
        tree
    }

    /// Moves every subtree to its best branch; whether any moved.
    fn rearrange(&mut self, tree: &mut SearchTree) -> bool {
        let mut moved = false;
        for (one, other) in tree.branches() {
            for (node, root) in [(one, other), (other, one)] {
                // An earlier move may have parted them.
                if tree.is_tip(node) || !tree.are_neighbours(node, root) {
                    continue;
                }
                moved |= self.move_subtree(tree, node, root);
            }
        }
        moved
    }

    /// Moves the subtree of `root`, and `node` with it, where that saves changes.
    fn move_subtree(&mut self, tree: &mut SearchTree, node: usize, root: usize) -> bool {
        let sets = self.subtree(tree, node, root);
        let stump = tree.prune(node, root);
        let places = self.places(tree, stump.ends, &sets);
        let (here, best) = (places[0], best(&places));
        tree.graft(node, best.ends, [Z_START; 2]);
        let [one, other] = stump.ends;
        if tree.are_neighbours(one, other) {
            tree.set_z(one, other, Z_START);
        }
        best.changes < here.changes
    }

    /// What a subtree costs on every branch of a tree, that between `first` first.
    fn places(&mut self, tree: &SearchTree, first: [usize; 2], subtree: &Sets) -> Vec<Insertion> {
        let all = self.everywhere(tree, first);
        let mut places = Vec::with_capacity(all.branches.len());
        for (from, to) in all.branches {
            let branch = self.join(&all.below[to], &all.above[to]);
            // Comparing costs about what joining does.
            self.count_join();
            places.push(Insertion { ends: [from, to], changes: changes(&branch, subtree) });
        }
        places
    }

    fn everywhere(&mut self, tree: &SearchTree, first: [usize; 2]) -> Everywhere {
        let [one, other] = first;
        let mut branches = tree.branches_from(one, other);
        branches.extend_from_slice(&tree.branches_from(other, one)[1..]);
        let mut parent = vec![usize::MAX; tree.nodes()];
        (parent[one], parent[other]) = (other, one);
        for &(from, to) in &branches[1..] {
            parent[to] = from;
        }
        let mut below = vec![Sets::new(); tree.nodes()];
        for &(_, to) in branches[1..].iter().rev() {
            below[to] = self.join_children(tree, to, parent[to], &below);
        }
        for end in first {
            below[end] = self.join_children(tree, end, parent[end], &below);
        }
        let mut above = vec![Sets::new(); tree.nodes()];
        (above[one], above[other]) = (below[other].clone(), below[one].clone());
        for &(from, to) in &branches[1..] {
            let [left, right] = tree.beyond(from, to);
            let beside = if left == parent[from] { right } else { left };
            above[to] = self.join(&above[from], &below[beside]);
        }
        Everywhere { branches, below, above }
    }

    /// The sets of the subtree at `root`, seen from `away`.
    fn subtree(&mut self, tree: &SearchTree, away: usize, root: usize) -> Sets {
        let mut below = vec![Sets::new(); tree.nodes()];
        for (from, to) in tree.branches_from(away, root).into_iter().rev() {
            below[to] = self.join_children(tree, to, from, &below);
        }
        std::mem::take(&mut below[root])
    }

    fn join_children(
        &mut self,
        tree: &SearchTree,
        node: usize,
        away: usize,
        below: &[Sets],
    ) -> Sets {
        if tree.is_tip(node) {
            return self.tips[node].clone();
        }
        let [left, right] = tree.beyond(node, away);
        self.join(&below[left], &below[right])
    }

    fn join(&mut self, one: &[[u64; 4]], other: &[[u64; 4]]) -> Sets {
        self.count_join();
        join(one, other)
    }

    fn count_join(&mut self) {
        self.tally.count(Step::Visit, 1);
        self.tally.count(Step::FitchWord, self.tips[0].len() as u64);
    }
}

/// The first of the places where the subtree costs least.
fn best(places: &[Insertion]) -> Insertion {
    let best = places.iter().min_by_key(|place| place.changes);
    *best.expect("invariant: a tree has a branch")
}

/// Four words for each 64 columns, one for each state: a bit is set where the state belongs to the
/// column's set. Bits beyond the last column are set.
type Sets = Vec<[u64; 4]>;

/// The sets of a tip whose residues in `columns` are `codes[column]`, values 1 to 15.
fn of_codes(codes: &[u8], columns: &[usize]) -> Sets {
    let word = |columns: &[usize]| {
        let mut states = [u64::MAX; 4];
        for (bit, &column) in columns.iter().enumerate() {
            for (state, word) in states.iter_mut().enumerate() {
                if codes[column] >> state & 1 == 0 {
                    *word &= !(1 << bit);
                }
            }
        }
        states
    };
    columns.chunks(64).map(word).collect()
}

/// What both sets have in common or, where that is nothing, all that either has.
fn join(one: &[[u64; 4]], other: &[[u64; 4]]) -> Sets {
    let word = |(one, other): (&[u64; 4], &[u64; 4])| {
        let common = each(|state| one[state] & other[state]);
        let nothing = !any(common);
        each(|state| common[state] | nothing & (one[state] | other[state]))
    };
    one.iter().zip(other).map(word).collect()
}

/// The columns whose sets have nothing in common.
fn changes(one: &[[u64; 4]], other: &[[u64; 4]]) -> u32 {
    let word = |(one, other): (&[u64; 4], &[u64; 4])| {
        (!any(each(|state| one[state] & other[state]))).count_ones()
    };
    one.iter().zip(other).map(word).sum()
}

fn each(of_state: impl Fn(usize) -> u64) -> [u64; 4] {
    std::array::from_fn(of_state)
}

fn any([a, c, g, t]: [u64; 4]) -> u64 {
    a | c | g | t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phylogeny::newick;
    use crate::phylogeny::tests::{SIM24, patterns};
    use mmgp_base::table::Source;

    impl Parsimony {
        /// The changes that a tree needs, without those of the patterns left out, which are none.
        fn score(&mut self, tree: &SearchTree) -> u32 {
            let [one, other] = tree.first_branch();
            let mut total = 0;
            let mut sets = vec![Sets::new(); tree.nodes()];
            for (from, to) in tree.branches().into_iter().rev() {
                sets[to] = match tree.is_tip(to) {
                    true => self.tips[to].clone(),
                    false => {
                        let [left, right] = tree.beyond(to, from);
                        total += changes(&sets[left], &sets[right]);
                        self.join(&sets[left], &sets[right])
                    }
                };
            }
            total + changes(&self.tips[one], &sets[other])
        }
    }

    fn tree(text: &str, taxa: usize) -> SearchTree {
        let names: Vec<String> = ('a'..).take(taxa).map(String::from).collect();
        SearchTree::from_tree(&newick::read(&Source::new("x.nwk", text), &names).unwrap())
    }

    fn check_score(fasta: &str, newick: &str, score: u32) {
        let patterns = patterns(fasta);
        let mut parsimony = Parsimony::new(&patterns, &patterns.weights);
        assert_eq!(parsimony.score(&tree(newick, patterns.tips.len())), score, "{newick}");
    }

    #[test]
    fn scores_are_those_counted_by_hand() {
        // Columns: xxyy (1 change on ab|cd, 2 on others), xyxy (2 on ab|cd), xyzw (3 always),
        // constant (0), one R = {A, G} among A (0).
        let fasta = ">a\nAAAAR\n>b\nACCAA\n>c\nGAGAA\n>d\nGCTAA\n";
        check_score(fasta, "((a:1,b:1):1,c:1,d:1);", 1 + 2 + 3);
        check_score(fasta, "((a:1,c:1):1,b:1,d:1);", 2 + 1 + 3);
        check_score(fasta, "((a:1,d:1):1,b:1,c:1);", 2 + 2 + 3);
        // Weights count: the first column three times.
        let repeated = ">a\nAAA\n>b\nAAA\n>c\nGGG\n>d\nGGG\n>e\nTTT\n";
        check_score(repeated, "((a:1,c:1):1,(b:1,d:1):1,e:1);", 9);
        check_score(repeated, "((a:1,b:1):1,(c:1,d:1):1,e:1);", 6);
    }

    #[test]
    fn more_than_64_columns_count_too() {
        let row = |letters: &str| letters.repeat(50);
        let fasta =
            format!(">a\n{}\n>b\n{}\n>c\n{}\n>d\n{}\n", row("AC"), row("AC"), row("GT"), row("GT"));
        check_score(&fasta, "((a:1,b:1):1,c:1,d:1);", 100);
        check_score(&fasta, "((a:1,c:1):1,b:1,d:1);", 200);
    }

    #[test]
    fn what_a_subtree_costs_on_a_branch_is_the_difference_of_whole_trees() {
        let patterns = patterns(SIM24[0]);
        let mut parsimony = Parsimony::new(&patterns, &patterns.weights);
        let mut tree = parsimony.by_stepwise_addition(&mut Stream::new(1, 0));
        let (root, node) = tree.branches()[0];
        let sets = parsimony.subtree(&tree, node, root);
        let stump = tree.prune(node, root);
        let places = parsimony.places(&tree, stump.ends, &sets);
        assert_eq!(places.len(), 2 * 23 - 3);
        let totals: Vec<i64> = places
            .iter()
            .map(|place| {
                let mut whole = tree.clone();
                whole.graft(node, place.ends, [0.9; 2]);
                i64::from(parsimony.score(&whole))
            })
            .collect();
        for (place, total) in places.iter().zip(&totals) {
            assert_eq!(total - totals[0], i64::from(place.changes) - i64::from(places[0].changes));
        }
        assert!(totals.iter().any(|&total| total != totals[0]));
    }

    #[test]
    fn rearranging_saves_changes_and_orders_give_several_trees() {
        let patterns = patterns(SIM24[0]);
        let mut splits = Vec::new();
        for seed in 1..=3 {
            let mut parsimony = Parsimony::new(&patterns, &patterns.weights);
            let added = parsimony.by_stepwise_addition(&mut Stream::new(seed, 0));
            let mut host = HostTally::default();
            let rearranged = parsimony.tree(&mut Stream::new(seed, 0), &mut host);
            assert_ne!(host, HostTally::default());
            assert!(parsimony.score(&rearranged) <= parsimony.score(&added));
            assert!(
                rearranged.branches().iter().all(|&(one, other)| rearranged.z(one, other) == 0.9)
            );
            splits.push(added.to_tree().unwrap().splits());
        }
        assert!(splits[0] != splits[1] || splits[1] != splits[2]);
    }
}
