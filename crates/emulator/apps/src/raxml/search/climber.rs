//! A tree, an engine that computes its likelihood, and what a search does with both.
//!
//! What the host's code costs between two calls of the engine is a [`HostTally`]: operations counted, by
//! what such code does. What an engine does to make its calls (filling in arguments for an SPE, waiting)
//! it counts itself.

use super::tree::SearchTree;
use crate::phylogeny::substitution::Model;
use crate::raxml::engine::{Columns, Engine, NewView};
use mmgp_cell::ppe::Work;

/// Smoothing ends where no z changed by more.
const SMOOTH: f64 = 1e-5;

/// Passes of smoothing at most, which is enough to converge.
pub const PASSES: u32 = 32;

/// The excess of a log likelihood over another that counts as better. Engines that add in other
/// orders differ in the last bits, some 1e-10 for these sums; what a search decides must not.
const BETTER: f64 = 1e-6;

/// Whether a log likelihood is better than another, beyond what the order of additions explains.
pub fn is_better(candidate: f64, than: f64) -> bool {
    candidate > than + BETTER
}

/// Calls of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Calls of `newview` for a node both of whose children are tips.
    pub tip_tip: u64,
    /// Calls of `newview` for a node with one tip below it.
    pub tip_inner: u64,
    /// Calls of `newview` for a node without tips below it.
    pub inner_inner: u64,
    /// Calls of `makenewz`.
    pub makenewz: u64,
    /// Calls of `evaluate`.
    pub evaluate: u64,
    /// Calls of `evaluate_patterns`.
    pub evaluate_patterns: u64,
    /// Calls of `set_model`.
    pub set_model: u64,
}

/// A tree under a model, whose likelihood an engine computes.
pub struct Climber<'e, E> {
    engine: &'e mut E,
    /// The tree that is searched from.
    pub tree: SearchTree,
    /// The model, which the engine has.
    pub model: Model,
    /// Weights of the patterns, which the engine has.
    pub weights: Vec<u32>,
    /// What the engine was called for so far.
    pub counts: Counts,
    /// What the host did since.
    pub host: HostTally,
}

impl<'e, E: Engine> Climber<'e, E> {
    /// Gives the engine weights and model.
    pub async fn new(
        engine: &'e mut E,
        tree: SearchTree,
        model: Model,
        (weights, columns): (Vec<u32>, Columns),
        host: HostTally,
    ) -> Self {
        engine.set_weights(&weights, columns).await;
        let counts = Counts::default();
        let mut climber = Self { engine, tree, model: model.clone(), weights, counts, host };
        climber.set_model(model).await;
        climber
    }

    /// Changes the model.
    pub async fn set_model(&mut self, model: Model) {
        self.host.count(Step::Look, self.tree.nodes() as u64);
        self.report().await;
        self.engine.set_model(&model).await;
        self.counts.set_model += 1;
        self.model = model;
        self.tree.forget_all();
    }

    /// Changes the tree, all of whose vectors are invalid.
    pub fn set_tree(&mut self, tree: &SearchTree) {
        self.host.count(Step::CopyNode, tree.nodes() as u64);
        self.tree = tree.clone();
        self.tree.forget_all();
    }

    /// ln likelihood of the tree.
    pub async fn log_likelihood(&mut self) -> f64 {
        let [one, other] = self.tree.first_branch();
        self.look_at_each_other(one, other).await;
        self.evaluate([one, other], self.tree.z(one, other)).await
    }

    /// ln likelihood of each pattern.
    pub async fn log_likelihoods(&mut self) -> Vec<f64> {
        let [one, other] = self.tree.first_branch();
        self.look_at_each_other(one, other).await;
        self.host.count(Step::BranchCall, 1);
        self.report().await;
        self.counts.evaluate_patterns += 1;
        self.engine.evaluate_patterns([one, other], self.tree.z(one, other)).await
    }

    /// Improves each branch of the tree by a step of Newton's method, in passes, so many at most,
    /// until none changes any more.
    pub async fn smooth(&mut self, passes: u32) {
        let branches = self.tree.branches();
        for _ in 0..passes {
            let mut largest = 0.0_f64;
            for &(one, other) in &branches {
                self.host.count(Step::Visit, 1);
                largest = largest.max(self.improve_branch(one, other, 1).await);
            }
            if largest <= SMOOTH {
                break;
            }
        }
    }

    /// Takes so many steps of Newton's method on a branch; gives |dz|.
    pub async fn improve_branch(&mut self, one: usize, other: usize, steps: u32) -> f64 {
        self.look_at_each_other(one, other).await;
        let before = self.tree.z(one, other);
        let z = self.makenewz([one, other], before, steps).await;
        self.host.count(Step::SetBranch, 1);
        if z != before {
            self.tree.set_z(one, other, z);
        }
        (z - before).abs()
    }

    /// Makes the vectors on both sides of a branch look at each other.
    pub async fn look_at_each_other(&mut self, one: usize, other: usize) {
        self.look(one, other).await;
        self.look(other, one).await;
    }

    /// Makes the vector of a node look at a neighbour.
    pub async fn look(&mut self, node: usize, to: usize) {
        let calls = self.tree.orient(node, to);
        // Each node of the traversal asks both its children.
        self.host.count(Step::Look, 1 + 2 * calls.len() as u64);
        self.host.count(Step::Visit, calls.len() as u64);
        for call in calls {
            self.newview(call).await;
        }
    }

    /// Computes a vector.
    pub async fn newview(&mut self, call: NewView) {
        self.host.count(Step::TraversalEntry, 1);
        self.report().await;
        match call.children.map(|child| self.tree.is_tip(child)) {
            [true, true] => self.counts.tip_tip += 1,
            [false, false] => self.counts.inner_inner += 1,
            _ => self.counts.tip_inner += 1,
        }
        self.engine.newview(call).await;
    }

    /// ln likelihood, seen from a branch whose vectors look at each other.
    pub async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64 {
        self.host.count(Step::BranchCall, 1);
        self.report().await;
        self.counts.evaluate += 1;
        self.engine.evaluate(ends, z).await
    }

    /// A better z for a branch between vectors that look at each other.
    pub async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64 {
        self.host.count(Step::BranchCall, 1);
        self.report().await;
        self.counts.makenewz += 1;
        self.engine.makenewz(ends, z, steps).await
    }

    /// Tells the engine what the host did.
    pub async fn report(&mut self) {
        let work = self.host.take();
        self.engine.work(work).await;
    }
}

/// Some things by their log likelihoods, the best first; of equal ones only the first seen.
#[derive(Debug, Clone, PartialEq)]
pub struct BestTrees<T> {
    most: usize,
    entries: Vec<(f64, T)>,
}

impl<T> BestTrees<T> {
    /// A list of so many things at most.
    pub fn new(most: usize) -> Self {
        Self { most, entries: Vec::new() }
    }

    /// Keeps what `make` makes, if its log likelihood is among the best and differs from those
    /// that are there. Whether it was kept.
    pub fn offer(&mut self, log_likelihood: f64, make: impl FnOnce() -> T) -> bool {
        let place = self.entries.partition_point(|(kept, _)| is_better(*kept, log_likelihood));
        // Whoever stands here is not better: it is the same, or worse.
        let same =
            self.entries.get(place).is_some_and(|(kept, _)| !is_better(log_likelihood, *kept));
        if same || place >= self.most {
            return false;
        }
        self.entries.insert(place, (log_likelihood, make()));
        self.entries.truncate(self.most);
        true
    }

    /// All that are kept, the best first.
    pub fn into_iter(self) -> impl Iterator<Item = T> {
        self.entries.into_iter().map(|(_, thing)| thing)
    }
}

/// What the host does, and how often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostTally([u64; COSTS.len()]);

/// A piece of the host's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Visiting a node: which neighbour it was reached from, the two others, whether it is a tip.
    Visit,
    /// Looking where the vector of a node looks: load it, compare it, choose.
    Look,
    /// An entry of a traversal: a node, its two neighbours and the z towards them are read and
    /// copied, and where the vector looks from now on is noted.
    TraversalEntry,
    /// Reading the ends and the z of a branch for a call on it, and taking the result.
    BranchCall,
    /// Storing z at both ends of a branch, and whether it moved enough to go on.
    SetBranch,
    /// Linking a node into a branch or taking it out: six links, each a node and a z.
    Relink,
    /// Comparing a likelihood with the best one and the cut-off, and keeping sums.
    Compare,
    /// A square root by Newton's method from an estimate, four steps of four operations: the
    /// instruction set leaves it to the library.
    SquareRoot,
    /// Copying one node of a tree: three links of a node and a z each.
    CopyNode,
    /// A random number: some ten integer operations on four words of state, and a conversion.
    Draw,
    /// 64 columns of Fitch's rule: 7 operations for the intersection, 13 for the sets, 12 to count
    /// bits.
    FitchWord,
    /// One trial of Brent's method: a parabola through three points, tests, new bounds.
    Brent,
    /// The eigenvalues and vectors of a symmetric 4 x 4 matrix and what is made of them: some six
    /// sweeps of six rotations, each of a dozen multiplications and additions on four rows.
    EigenSystem,
    /// The four mean rates of a Gamma distribution: three quantiles, each by some six steps of
    /// Newton's method, and three shares of the mean; each takes an incomplete Gamma function, a
    /// series of some 25 terms (a division, a product, a sum, a test), two logarithms of the Gamma
    /// function, a logarithm and an exponential.
    GammaRates,
    /// A logarithm or exponential.
    Transcendental,
    /// One pattern in a loop over patterns: load, compare, keep.
    Pattern,
}

const fn cost(integers: u64, memory: [u64; 2], floats: u64, divides: u64, branches: u64) -> Work {
    let [loads, stores] = memory;
    Work { integers, loads, stores, floats, divides, branches, code: 0 }.in_line()
}

/// The cost of each [`Step`], in their order.
const COSTS: [Work; 16] = [
    cost(4, [4, 0], 0, 0, 3),
    cost(2, [1, 0], 0, 0, 1),
    cost(6, [6, 7], 0, 0, 2),
    cost(4, [4, 3], 0, 0, 1),
    cost(4, [4, 2], 2, 0, 3),
    cost(18, [18, 12], 1, 0, 6),
    cost(2, [4, 3], 4, 0, 4),
    cost(4, [4, 0], 16, 0, 2),
    cost(6, [6, 6], 0, 0, 1),
    cost(12, [4, 4], 2, 0, 0),
    cost(32, [8, 4], 0, 0, 1),
    cost(4, [12, 10], 24, 2, 14),
    // Loops: the code of one rotation and of what is around it.
    Work { code: 2048, ..cost(600, [1500, 1200], 2200, 110, 300) },
    Work { code: 1024, ..cost(21 * 40, [21 * 80, 21 * 10], 21 * 150, 21 * 30, 21 * 45) },
    Work::TRANSCENDENTAL.in_line(),
    cost(3, [2, 1], 2, 0, 2),
];

impl HostTally {
    /// Counts a step so many times.
    pub fn count(&mut self, step: Step, times: u64) {
        self.0[step as usize] += times;
    }

    /// Counts what another tally counted.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, other)| *count += other);
    }

    /// The work of all that was counted, which starts again from nothing. Each step needs its code once.
    pub fn take(&mut self) -> Work {
        let counts = std::mem::take(&mut self.0);
        let used = COSTS.iter().zip(counts).filter(|(_, count)| *count > 0);
        used.map(|(&cost, count)| cost * count).fold(Work::default(), |sum, work| sum + work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_in_order_and_equal_ones_once() {
        let mut best = BestTrees::new(3);
        assert!(best.offer(-5.0, || "e"));
        assert!(best.offer(-3.0, || "c"));
        assert!(!best.offer(-3.0 + 1e-8, || "c again"));
        assert!(!best.offer(-5.0 - 1e-8, || "e again"));
        assert!(best.offer(-1.0, || "a"));
        assert!(best.offer(-4.0, || "d"), "pushes the last out");
        assert!(!best.offer(-6.0, || "f"));
        assert_eq!(best.into_iter().collect::<Vec<_>>(), ["a", "c", "d"]);
    }
}

#[cfg(test)]
mod host_tests {
    use super::*;

    #[test]
    fn steps_add_up_and_need_their_code_once() {
        let mut tally = HostTally::default();
        tally.count(Step::Look, 2);
        tally.count(Step::Look, 1);
        tally.count(Step::Pattern, 1);
        let work = tally.take();
        assert_eq!((work.integers, work.loads, work.stores), (3 * 2 + 3, 3 + 2, 1));
        assert_eq!(work.code, 4 * (4 + 10));
        assert_eq!(tally.take(), Work::default());
    }

    #[test]
    fn every_step_has_its_cost() {
        assert_eq!(Step::Pattern as usize, COSTS.len() - 1);
        assert_eq!(COSTS[Step::EigenSystem as usize].divides, 110);
        assert_eq!(COSTS[Step::SquareRoot as usize].floats, 16);
    }
}
