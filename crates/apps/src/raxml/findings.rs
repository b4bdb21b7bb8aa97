//! What came of a run.

use super::Tasks;
use super::farm::Finished;
use super::search::Task;
use crate::fingerprint::{Fingerprint, ORDER_OF_ADDITIONS};
use crate::phylogeny::Tree;
use crate::phylogeny::splits::SplitCounts;

/// What one task found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Which task.
    pub task: Task,
    /// ln likelihood of its tree, of the columns that the task had.
    pub log_likelihood: f64,
    /// Its tree.
    pub tree: Tree,
}

/// What all tasks found, in their order, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Inferences before bootstraps.
    pub found: Vec<Found>,
    /// Of the best tree's nodes, how often the branch above them is in the trees of the bootstraps;
    /// none at the root and at tips, and none at all without bootstraps.
    pub supports: Vec<Option<f64>>,
}

impl Findings {
    pub(super) fn new(finished: Vec<Finished>, tasks: Tasks) -> Self {
        let found = |Finished { task, log_likelihood, tree }| Found {
            task: tasks.get(task as u32),
            log_likelihood,
            tree,
        };
        let found = finished.into_iter().map(found).collect();
        let mut findings = Self { found, supports: Vec::new() };
        let tree = &findings.best().tree;
        let mut splits = SplitCounts::new(tree.taxa());
        findings.bootstraps().for_each(|found| splits.add(&found.tree, 1.0));
        let supports = match findings.bootstraps().next() {
            Some(_) => splits.supports(tree),
            None => vec![None; tree.nodes()],
        };
        findings.supports = supports;
        findings
    }

    /// The best of the inferences; without any, the best of all, whose columns differ.
    pub fn best(&self) -> &Found {
        let inferences = self.found.iter().filter(|found| matches!(found.task, Task::Inference(_)));
        let better =
            |one: &&Found, other: &&Found| one.log_likelihood.total_cmp(&other.log_likelihood);
        // Of equal ones the first.
        let best = inferences.rev().max_by(better);
        let best = best.or_else(|| self.found.iter().rev().max_by(better));
        best.expect("invariant: a run has a task")
    }

    /// The ln likelihood of each task's tree, which differ by the order of additions alone.
    pub fn fingerprint(&self) -> Fingerprint {
        self.found.iter().fold(Fingerprint::default(), |sum, found| {
            sum.within(ORDER_OF_ADDITIONS, "ln likelihood", found.log_likelihood)
        })
    }

    /// What the bootstraps found.
    pub fn bootstraps(&self) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(|found| matches!(found.task, Task::Bootstrap(_)))
    }
}
