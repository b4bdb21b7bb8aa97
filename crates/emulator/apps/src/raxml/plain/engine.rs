//! An engine outside the emulated machine, which the kernels are held against.

use super::Likelihoods;
use crate::phylogeny;
use crate::phylogeny::substitution::Model;
use crate::raxml::engine::{Columns, Engine, NewView};
use mmgp_cell::ppe::{Plain, Work};

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
    pub(super) likelihoods: Likelihoods,
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
    async fn set_weights(&mut self, weights: &[u32], columns: Columns) {
        self.likelihoods.set_weights(weights, columns);
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
