//! The functions of RAxML on the host.
//!
//! Each is written once over [`Arithmetic`](mmgp_cell::ppe::Arithmetic): with plain doubles it
//! computes, in [`host`](super::host) it is also timed.
//!
//! # Layout
//! Vectors hold four doubles per pattern and category, `[pattern][category][l]`, in eigen
//! coordinates; GAMMA has four categories, CAT one, whose rate the pattern chooses. Patterns
//! that are not computed are not there.

mod branch;
mod newview;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use tests::PlainEngine;

use super::engine::{Columns, NewView, Z_MAX, Z_MIN};
use crate::likelihood::Checks;
use crate::phylogeny;
use crate::phylogeny::substitution::{Model, SiteRates};
use branch::{
    BranchStep, branch_log, derivatives, diagonal, evaluate, newton_factors, newton_step, sum_table,
};
use mmgp_cell::ppe::{Arithmetic, Plain};
use newview::{newview, transitions};

/// Four doubles: one for each eigenvalue or each state.
pub type Four = [f64; 4];

/// What the functions need of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// lambda_l.
    pub values: Four,
    /// V_jl, `[j][l]`.
    pub v: [Four; 4],
    /// EI_jl, `[l][j]`.
    pub ei: [Four; 4],
    /// rho_c.
    pub rates: Vec<f64>,
    /// The sum of the rows V_j of its states, for each code of a tip.
    pub tips: [Four; 16],
}

impl Eigen {
    /// The eigen system of a model.
    pub fn new(model: &Model) -> Self {
        let eigen = &model.substitution.eigen;
        let mut ei = [[0.0; 4]; 4];
        for (l, row) in ei.iter_mut().enumerate() {
            *row = eigen.ei.map(|of_state| of_state[l]);
        }
        let mut tips = [[0.0; 4]; 16];
        for (code, tip) in tips.iter_mut().enumerate() {
            for state in (0..4).filter(|state| code >> state & 1 == 1) {
                for (entry, v) in tip.iter_mut().zip(eigen.v[state]) {
                    *entry += v;
                }
            }
        }
        let rates = match &model.rates {
            SiteRates::Gamma { rates, .. } => rates.to_vec(),
            SiteRates::Categories { rates, .. } => rates.clone(),
        };
        Self { values: eigen.values, v: eigen.v, ei, rates, tips }
    }
}

/// The patterns that are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedPatterns {
    /// Their indices among all patterns.
    pub indices: Vec<usize>,
    /// The codes by taxon, 1 to 15.
    pub tips: Vec<Vec<u32>>,
    /// Weights.
    pub weights: Vec<f64>,
    /// CAT: the category of each; GAMMA: none, for it has all four.
    pub categories: Option<Vec<u32>>,
}

impl WeightedPatterns {
    fn select(
        all: &phylogeny::Patterns,
        (weights, columns): (&[u32], Columns),
        rates: &SiteRates,
    ) -> Self {
        let indices = columns.of(weights);
        let tips = all.tips.iter();
        let tips = tips.map(|codes| indices.iter().map(|&index| codes[index].into()).collect());
        let categories = match rates {
            SiteRates::Gamma { .. } => None,
            SiteRates::Categories { of_pattern, .. } => {
                Some(indices.iter().map(|&index| of_pattern[index]).collect())
            }
        };
        Self {
            tips: tips.collect(),
            weights: indices.iter().map(|&index| weights[index].into()).collect(),
            categories,
            indices,
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Categories of a pattern's vector: four with GAMMA, one with CAT.
    pub fn categories_each(&self) -> usize {
        if self.categories.is_none() { 4 } else { 1 }
    }
}

/// The vector of an inner node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vectors {
    /// `[pattern][category]`.
    pub entries: Vec<Four>,
    /// How often each pattern was scaled.
    pub counts: Vec<i32>,
}

/// An end of a branch, with its patterns.
#[derive(Debug, Clone, Copy)]
pub enum VectorEnd<'a> {
    /// A tip, by codes.
    Tip(&'a [u32]),
    /// An inner node.
    Inner(&'a Vectors),
}

impl VectorEnd<'_> {
    /// The index of a pattern's entries: the code of a tip, that of the first category.
    #[inline(always)]
    pub fn place<A: Arithmetic>(&self, ppe: &mut A, pattern: usize, categories: usize) -> usize {
        match self {
            VectorEnd::Tip(codes) => ppe.load_index(&codes[pattern]),
            VectorEnd::Inner(_) => pattern * categories,
        }
    }
}

/// What `makenewz` found.
#[derive(Debug, Clone, PartialEq)]
pub struct Newton {
    /// The branch.
    pub z: f64,
    /// The z at which it summed up derivatives.
    pub tried: Vec<f64>,
}

/// Patterns, model and vectors, and the functions on them.
#[derive(Debug, Clone)]
pub struct Likelihoods {
    all: phylogeny::Patterns,
    weights: Vec<u32>,
    columns: Columns,
    model: Model,
    eigen: Eigen,
    patterns: WeightedPatterns,
    /// The vectors of the inner nodes.
    vectors: Vec<Vectors>,
    sums: Vec<Four>,
}

impl Likelihoods {
    /// All patterns with their weights; vectors hold nothing.
    pub fn new(all: &phylogeny::Patterns, model: &Model) -> Self {
        let columns = Columns::default();
        let patterns = WeightedPatterns::select(all, (&all.weights, columns), &model.rates);
        let mut new = Self {
            vectors: vec![Vectors::default(); all.tips.len().saturating_sub(2)],
            weights: all.weights.clone(),
            columns,
            model: model.clone(),
            eigen: Eigen::new(model),
            all: all.clone(),
            patterns,
            sums: Vec::new(),
        };
        new.resize();
        new
    }

    /// Weights from now on, and which patterns are computed.
    pub fn set_weights(&mut self, weights: &[u32], columns: Columns) {
        (self.weights, self.columns) = (weights.to_vec(), columns);
        self.patterns = self.select();
        self.resize();
    }

    /// The model from now on.
    pub fn set_model(&mut self, model: &Model) {
        self.model = model.clone();
        self.eigen = Eigen::new(model);
        self.patterns = self.select();
        self.resize();
    }

    fn select(&self) -> WeightedPatterns {
        WeightedPatterns::select(&self.all, (&self.weights, self.columns), &self.model.rates)
    }

    fn resize(&mut self) {
        let (patterns, each) = (self.patterns.len(), self.patterns.categories_each());
        for vectors in &mut self.vectors {
            vectors.entries.resize(patterns * each, [0.0; 4]);
            vectors.counts.resize(patterns, 0);
        }
        self.sums.resize(patterns * each, [0.0; 4]);
    }

    /// The patterns that are computed.
    pub fn patterns(&self) -> &WeightedPatterns {
        &self.patterns
    }

    /// The number of taxa, whose nodes come first.
    pub fn taxa(&self) -> usize {
        self.all.tips.len()
    }

    /// The number of rates that the model has.
    pub fn rates(&self) -> usize {
        self.eigen.rates.len()
    }

    /// How many of two nodes are not tips.
    pub fn inner_ends(&self, ends: [usize; 2]) -> usize {
        ends.iter().filter(|&&end| end >= self.taxa()).count()
    }

    /// The vector of an inner node.
    pub fn vectors(&self, node: usize) -> &Vectors {
        &self.vectors[node - self.taxa()]
    }

    /// The same, to be written.
    pub fn vectors_mut(&mut self, node: usize) -> &mut Vectors {
        let inner = node - self.taxa();
        &mut self.vectors[inner]
    }

    /// Computes the vector of an inner node.
    pub fn newview<A: Arithmetic>(&mut self, ppe: &mut A, call: NewView) -> Checks {
        let mut branches = [(call.children[0], call.z[0]), (call.children[1], call.z[1])];
        if branches[1].0 < self.taxa() && branches[0].0 >= self.taxa() {
            branches.swap(0, 1);
        }
        let matrices = branches.map(|(_, z)| {
            let log = branch_log(ppe, &z);
            transitions(ppe, &self.eigen, log)
        });
        // The vector is taken out, for the others are read meanwhile.
        let index = call.node - self.taxa();
        let mut out = std::mem::take(&mut self.vectors[index]);
        let children = branches.map(|(node, _)| self.end(node));
        let matrices = [&matrices[0][..], &matrices[1][..]];
        let checks = newview(ppe, &self.eigen, &self.patterns, children, matrices, &mut out);
        self.vectors[index] = out;
        checks
    }

    /// ln likelihood, seen from the branch between `ends`.
    pub fn evaluate<A: Arithmetic>(&self, ppe: &mut A, ends: [usize; 2], z: f64) -> A::Float {
        self.evaluate_each(ppe, ends, z, |_| {})
    }

    /// ln likelihood of each of all patterns; 0 where the weight is.
    pub fn evaluate_patterns(&self, ends: [usize; 2], z: f64) -> Vec<f64> {
        let mut terms = vec![0.0; self.weights.len()];
        let mut indices = self.patterns.indices.iter();
        self.evaluate_each(&mut Plain, ends, z, |term| {
            let index = indices.next().expect("invariant: a term for each pattern");
            terms[*index] = term;
        });
        terms
    }

    fn evaluate_each<A: Arithmetic>(
        &self,
        ppe: &mut A,
        ends: [usize; 2],
        z: f64,
        each: impl FnMut(A::Float),
    ) -> A::Float {
        let log = branch_log(ppe, &z);
        let diagonal = diagonal(ppe, &self.eigen, log);
        let ends = ends.map(|node| self.end(node));
        evaluate(ppe, &self.eigen, &self.patterns, ends, &diagonal, each)
    }

    /// The branch between `ends` after at most `steps` steps of Newton's method.
    pub fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> Newton {
        self.fill_sum_table(&mut Plain, ends);
        let mut newton = Newton { z: z.clamp(Z_MIN, Z_MAX), tried: Vec::new() };
        let mut left = steps;
        while left > 0 {
            let [g, h] = self.derivatives(&mut Plain, newton.z);
            newton.tried.push(newton.z);
            match newton_step(newton.z, g, h) {
                BranchStep::Shorten(z) => newton.z = z,
                BranchStep::Go(z) => (newton.z, left) = (z, left - 1),
                BranchStep::Stay(z) => (newton.z, left) = (z, 0),
            }
        }
        newton
    }

    /// Writes the products of two ends, for [`Likelihoods::derivatives`].
    pub fn fill_sum_table<A: Arithmetic>(&mut self, ppe: &mut A, ends: [usize; 2]) {
        let mut sums = std::mem::take(&mut self.sums);
        let ends = ends.map(|node| self.end(node));
        sum_table(ppe, &self.eigen, &self.patterns, ends, &mut sums);
        self.sums = sums;
    }

    /// g and h at `z` of the branch whose ends the sum table is for.
    pub fn derivatives<A: Arithmetic>(&self, ppe: &mut A, z: f64) -> [A::Float; 2] {
        let log = branch_log(ppe, &z);
        let factors = newton_factors(ppe, &self.eigen, log);
        derivatives(ppe, &self.patterns, &self.sums, &factors)
    }

    fn end(&self, node: usize) -> VectorEnd<'_> {
        match node.checked_sub(self.taxa()) {
            None => VectorEnd::Tip(&self.patterns.tips[node]),
            Some(inner) => VectorEnd::Inner(&self.vectors[inner]),
        }
    }
}
