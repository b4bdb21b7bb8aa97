//! Trying a subtree on a branch.

use super::climber::Climber;
use super::host::Step;
use super::tree::Stump;
use crate::raxml::engine::{Engine, NewView, Z_MAX, Z_MIN};

/// Steps of Newton's method at an insertion.
const STEPS: u32 = 10;
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
    /// Of the branches towards its ends.
    pub z: [f64; 2],
    /// Of the subtree's branch.
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
