//! The functions of RAxML on the host, and an engine that computes with them outside the emulated
//! machine.
//!
//! Each function is written once over [`Arithmetic`](mmgp_cell::ppe::Arithmetic): here with plain
//! doubles, in [`host`](super::host) also timed.
//!
//! # Layout
//! Vectors hold four doubles per pattern and category, `[pattern][category][l]`, in eigen
//! coordinates; GAMMA has four categories, CAT one, whose rate the pattern chooses. Patterns of
//! weight 0 are not there.

mod evaluate;
mod makenewz;
mod newview;
mod state;
#[cfg(test)]
mod tests;

pub use evaluate::{branch_log, diagonal, evaluate};
pub use makenewz::{NewtonFactors, Step, derivatives, newton_factors, newton_step, sum_table};
pub use newview::{newview, transitions};
pub use state::{Eigen, End, Likelihoods, Newton, Vectors, WeightedPatterns};

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::engine::{Engine, NewView};
use crate::phylogeny;
use crate::phylogeny::substitution::Model;
use mmgp_cell::ppe::{Plain, Work};

/// Four doubles: one for each eigenvalue or each state.
pub type Four = [f64; 4];

/// How often the functions were called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// `newview` with both children tips, with one, and with none.
    pub newview: [u64; 3],
    /// `evaluate`, for one sum.
    pub evaluate: u64,
    /// `evaluate`, for each pattern.
    pub evaluate_patterns: u64,
    /// `makenewz`.
    pub makenewz: u64,
    /// Sums of derivatives in `makenewz`, one for each z that it tried.
    pub newton_steps: u64,
}

/// Computes on whatever computer runs the program, in no virtual time.
#[derive(Debug, Clone)]
pub struct PlainEngine {
    likelihoods: Likelihoods,
    calls: Calls,
}

impl PlainEngine {
    /// An engine for an alignment whose patterns keep their weights at first. Vectors hold nothing.
    pub fn new(patterns: &phylogeny::Patterns, model: &Model) -> Self {
        Self { likelihoods: Likelihoods::new(patterns, model), calls: Calls::default() }
    }

    /// How often its functions were called.
    pub fn calls(&self) -> Calls {
        self.calls
    }
}

impl Engine for PlainEngine {
    async fn set_weights(&mut self, weights: &[u32]) {
        self.likelihoods.set_weights(weights);
    }

    async fn set_model(&mut self, model: &Model) {
        self.likelihoods.set_model(model);
    }

    async fn newview(&mut self, call: NewView) {
        self.calls.newview[self.likelihoods.inner_ends(call.children)] += 1;
        self.likelihoods.newview(&mut Plain, call);
    }

    async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64 {
        self.calls.evaluate += 1;
        self.likelihoods.evaluate(&mut Plain, ends, z)
    }

    async fn evaluate_patterns(&mut self, ends: [usize; 2], z: f64) -> Vec<f64> {
        self.calls.evaluate_patterns += 1;
        self.likelihoods.evaluate_patterns(ends, z)
    }

    async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64 {
        let newton = self.likelihoods.makenewz(ends, z, steps);
        self.calls.makenewz += 1;
        self.calls.newton_steps += newton.tried.len() as u64;
        newton.z
    }

    async fn work(&mut self, _: Work) {}
}

/// What a future comes to that never waits, such as a search that computes with a [`PlainEngine`].
///
/// # Panics
/// Where it waits.
pub fn immediately<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a future that was to be ready at once waits"),
    }
}
