//! Lazy subtree pruning and regrafting: each subtree is tried on the branches around its place,
//! with few or none of the branches optimised.

use super::climber::Step;
use super::climber::{BestTrees, Climber, is_better};
use super::tree::{SearchTree, Stump};
use crate::raxml::engine::{Engine, NewView, Z_MAX, Z_MIN};

/// Steps of Newton's method on the branch that closes behind a subtree, and at an insertion.
const STEPS: u32 = 10;

/// Passes of smoothing at most of a tree that is compared with others.
const COMPARING: u32 = 8;

/// How far a cycle goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Branches between a subtree's place and the farthest that it is tried on.
    pub radius: usize,
    /// Subtrees that are moved at most.
    pub prunings: usize,
    /// Trees that are kept and smoothed in the end.
    pub kept_trees: usize,
    /// Passes of smoothing at most.
    pub passes: u32,
}

/// Which directions are followed: those whose last insertion lost no more than the mean loss in the
/// cycle before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutOff {
    most: f64,
    sum: f64,
    losses: u64,
}

impl CutOff {
    /// The cutoff of the first cycle, |lnL| / 1000.
    pub fn first(log_likelihood: f64) -> Self {
        Self { most: log_likelihood.abs() / 1000.0, sum: 0.0, losses: 0 }
    }

    /// The cutoff of the next cycle; the same where nothing was lost.
    fn next(self) -> Self {
        let most = if self.losses > 0 { self.sum / self.losses as f64 } else { self.most };
        Self { most, sum: 0.0, losses: 0 }
    }

    /// Whether to go on beyond an insertion that lost so much.
    fn follows(&mut self, loss: f64) -> bool {
        if loss > 0.0 {
            self.sum += loss;
            self.losses += 1;
        }
        loss <= self.most
    }
}

/// What a cycle has seen.
struct Cycle {
    bounds: Bounds,
    cut_off: CutOff,
    log_likelihood: f64,
    trees: BestTrees<SearchTree>,
    /// Subtrees, by node and root, that came near in fast trials.
    promising: BestTrees<(usize, usize)>,
}

impl<E: Engine> Climber<'_, E> {
    /// Tries every subtree everywhere within the bounds, and puts it where the tree becomes better.
    /// Tries again thoroughly, after fast trials, the subtrees that came nearest. The best trees
    /// seen are smoothed, and the best of them is the climber's. Gives its ln likelihood.
    pub async fn rearrange(
        &mut self,
        log_likelihood: f64,
        care: Care,
        bounds: Bounds,
        cut_off: &mut CutOff,
    ) -> f64 {
        let mut cycle = Cycle {
            bounds,
            cut_off: *cut_off,
            log_likelihood,
            trees: BestTrees::new(bounds.kept_trees),
            promising: BestTrees::new(bounds.kept_trees),
        };
        self.keep(&mut cycle, log_likelihood, None);
        let branches = self.tree.branches();
        let subtrees = branches.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
        let movable = subtrees.filter(|&(node, _)| !self.tree.is_tip(node)).collect::<Vec<_>>();
        for (node, root) in movable.into_iter().take(bounds.prunings) {
            self.move_subtree(&mut cycle, (node, root), care).await;
        }
        *cut_off = cycle.cut_off.next();
        if care == Care::Fast {
            // What thorough trials lose says nothing about the fast ones.
            let promising = std::mem::replace(&mut cycle.promising, BestTrees::new(0));
            for (node, root) in promising.into_iter() {
                self.move_subtree(&mut cycle, (node, root), Care::Thorough).await;
            }
        }
        let Cycle { bounds, trees, .. } = cycle;
        self.smooth_best(trees, bounds.passes).await
    }

    /// Moves the subtree of `root`, and `node` with it, to its best place, if that is better.
    async fn move_subtree(&mut self, cycle: &mut Cycle, (node, root): (usize, usize), care: Care) {
        self.host.count(Step::Visit, 1);
        // An earlier move may have parted them.
        if !self.tree.are_neighbours(node, root) {
            return;
        }
        let stump = self.tree.prune(node, root);
        self.host.count(Step::Relink, 2);
        let best = self.best_insertion(cycle, &stump, care).await;
        match best {
            Some(best) if is_better(best.log_likelihood, cycle.log_likelihood) => {
                self.insert(&stump, &best);
                cycle.log_likelihood = best.log_likelihood;
                self.keep(cycle, best.log_likelihood, None);
            }
            Some(best) => {
                match care {
                    Care::Thorough => self.keep(cycle, best.log_likelihood, Some((&stump, &best))),
                    Care::Fast => {
                        cycle.promising.offer(best.log_likelihood, || (node, root));
                    }
                }
                self.tree.graft(node, stump.ends, stump.z);
            }
            None => self.tree.graft(node, stump.ends, stump.z),
        }
    }

    /// The best of all places of a subtree within the bounds, its old one left out.
    async fn best_insertion(
        &mut self,
        cycle: &mut Cycle,
        stump: &Stump,
        care: Care,
    ) -> Option<Insertion> {
        let [one, other] = stump.ends;
        self.improve_branch(one, other, STEPS).await;
        self.look(stump.root, stump.node).await;
        let mut best: Option<Insertion> = None;
        let mut open = Vec::new();
        for (from, away) in [(other, one), (one, other)] {
            self.push_beyond(&mut open, from, away, 1);
        }
        while let Some((from, to, distance)) = open.pop() {
            let insertion = self.try_insertion(stump, [from, to], care).await;
            self.host.count(Step::Compare, 1);
            let log_likelihood = insertion.log_likelihood;
            if best.is_none_or(|best| is_better(log_likelihood, best.log_likelihood)) {
                best = Some(insertion);
            }
            let follows = cycle.cut_off.follows(cycle.log_likelihood - log_likelihood);
            if follows && distance < cycle.bounds.radius {
                self.push_beyond(&mut open, to, from, distance + 1);
            }
        }
        best
    }

    /// Adds the branches from `from` that do not lead to `away`, the first on top.
    fn push_beyond(
        &mut self,
        open: &mut Vec<(usize, usize, usize)>,
        from: usize,
        away: usize,
        distance: usize,
    ) {
        self.host.count(Step::Visit, 1);
        if !self.tree.is_tip(from) {
            let [first, second] = self.tree.beyond(from, away);
            open.extend([(from, second, distance), (from, first, distance)]);
        }
    }

    fn insert(&mut self, stump: &Stump, insertion: &Insertion) {
        self.host.count(Step::Relink, 1);
        self.host.count(Step::SetBranch, 1);
        self.tree.graft(stump.node, insertion.ends, insertion.z);
        self.tree.set_z(stump.node, stump.root, insertion.z_subtree);
    }

    /// Keeps the tree, with a subtree inserted where it is apart, if it is among the best.
    fn keep(
        &mut self,
        cycle: &mut Cycle,
        log_likelihood: f64,
        inserted: Option<(&Stump, &Insertion)>,
    ) {
        self.host.count(Step::Compare, 1);
        let copy = || {
            let mut tree = self.tree.clone();
            if let Some((stump, insertion)) = inserted {
                tree.graft(stump.node, insertion.ends, insertion.z);
                tree.set_z(stump.node, stump.root, insertion.z_subtree);
            }
            tree
        };
        if cycle.trees.offer(log_likelihood, copy) {
            self.host.count(Step::CopyNode, self.tree.nodes() as u64);
        }
    }

    /// Smooths the best trees and takes the best of them.
    async fn smooth_best(&mut self, trees: BestTrees<SearchTree>, passes: u32) -> f64 {
        let mut best: Option<(f64, SearchTree)> = None;
        for tree in trees.into_iter() {
            self.set_tree(&tree);
            self.smooth(passes.min(COMPARING)).await;
            let log_likelihood = self.log_likelihood().await;
            self.host.count(Step::Compare, 1);
            if best.as_ref().is_none_or(|(best, _)| is_better(log_likelihood, *best)) {
                self.host.count(Step::CopyNode, tree.nodes() as u64);
                best = Some((log_likelihood, self.tree.clone()));
            }
        }
        let (_, tree) = best.expect("invariant: the tree at the start is kept");
        self.set_tree(&tree);
        self.smooth(passes).await;
        self.log_likelihood().await
    }
}

/// Passes over the three branches around an insertion at most, and the change of z that ends them.
const PASSES: u32 = 32;
const SMOOTH: f64 = 1e-5;

/// How well an insertion is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// The subtree is put in the middle of the branch: each half has sqrt(z).
    Fast,
    /// The three branches around are optimised.
    Thorough,
}

/// A place for a subtree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Insertion {
    /// The branch.
    pub ends: [usize; 2],
    /// The z of the branches towards its ends.
    pub z: [f64; 2],
    /// The z of the subtree's branch.
    pub z_subtree: f64,
    /// ln likelihood of the tree with the subtree there.
    pub log_likelihood: f64,
}

impl<E: Engine> Climber<'_, E> {
    /// Tries the subtree that was taken off, whose vector looks at `stump.node`, on a branch.
    pub async fn try_insertion(
        &mut self,
        stump: &Stump,
        ends: [usize; 2],
        care: Care,
    ) -> Insertion {
        self.look_at_each_other(ends[0], ends[1]).await;
        match care {
            Care::Fast => self.insert_fast(stump, ends).await,
            Care::Thorough => self.insert_thoroughly(stump, ends).await,
        }
    }

    async fn insert_fast(&mut self, stump: &Stump, ends: [usize; 2]) -> Insertion {
        let z = [self.tree.z(ends[0], ends[1]).sqrt().clamp(Z_MIN, Z_MAX); 2];
        self.host.count(Step::SquareRoot, 1);
        let z_subtree = self.tree.z(stump.node, stump.root);
        self.newview(NewView { node: stump.node, children: ends, z }).await;
        let log_likelihood = self.evaluate([stump.node, stump.root], z_subtree).await;
        Insertion { ends, z, z_subtree, log_likelihood }
    }

    /// Each of the three branches in turn, first by up to ten steps of Newton's method, then by one
    /// at a time.
    async fn insert_thoroughly(&mut self, stump: &Stump, ends: [usize; 2]) -> Insertion {
        let (node, root) = (stump.node, stump.root);
        let half = self.tree.z(ends[0], ends[1]).sqrt().clamp(Z_MIN, Z_MAX);
        self.host.count(Step::SquareRoot, 1);
        let around = [root, ends[0], ends[1]];
        let mut z = [self.tree.z(node, root), half, half];
        for pass in 0..=PASSES {
            let steps = if pass == 0 { STEPS } else { 1 };
            let mut largest = 0.0_f64;
            for branch in 0..3 {
                let [left, right] = [(branch + 1) % 3, (branch + 2) % 3];
                let children = [around[left], around[right]];
                self.newview(NewView { node, children, z: [z[left], z[right]] }).await;
                let better = self.makenewz([node, around[branch]], z[branch], steps).await;
                self.host.count(Step::SetBranch, 1);
                largest = largest.max((better - z[branch]).abs());
                z[branch] = better;
            }
            if largest <= SMOOTH {
                break;
            }
        }
        // The vector looks at the last branch.
        let log_likelihood = self.evaluate([node, around[2]], z[2]).await;
        Insertion { ends, z: [z[1], z[2]], z_subtree: z[0], log_likelihood }
    }
}
