//! The functions that look at a branch: the log-likelihood, and the length by Newton's method.
//!
//! `evaluate`: ln likelihood of the tree, seen from a branch.
//!
//! ```text
//! d_cl = e^(rho_c lambda_l ln z)
//! CAT:    term_i = ln |sum over l of x^p_il x^q_il d_c(i)l| + e_i ln 2^-256
//! GAMMA:  term_i = ln (1/4 |sum over c, l of x^p_icl x^q_icl d_cl|) + e_i ln 2^-256
//! lnL = sum over i of w_i term_i
//! ```
//!
//! `makenewz`: the length of a branch by Newton's method on ln likelihood.
//!
//! ```text
//! s_il = x^p_il x^q_il                                          once, for each category
//! S0 = sum s e^(rho lambda u), S1 with rho lambda, S2 with its square      u = ln z
//! g = sum over i of w_i S1/S0                                   d lnL / du
//! h = sum over i of w_i (S2/S0 - (S1/S0)^2)                     its derivative
//! ```

use super::{Eigen, Four, VectorEnd, WeightedPatterns};
use crate::likelihood::SCALING_LOG;
use crate::raxml::engine::{Z_MAX, Z_MIN};
use mmgp_cell::ppe::{Arithmetic, exponential, logarithm};

/// ln z of a branch.
pub fn branch_log<A: Arithmetic>(ppe: &mut A, z: &f64) -> A::Float {
    let z = ppe.load(z);
    logarithm(ppe, z)
}

/// The d of a branch, `[category][l]`.
pub fn diagonal<A: Arithmetic>(ppe: &mut A, eigen: &Eigen, branch_log: A::Float) -> Vec<Four> {
    let mut diagonal = vec![[1.0; 4]; eigen.rates.len()];
    for (factors, rate) in diagonal.iter_mut().zip(&eigen.rates) {
        let rate = ppe.load(rate);
        let rate_log = ppe.multiply(rate, branch_log);
        for (place, lambda) in factors.iter_mut().zip(&eigen.values).skip(1) {
            let lambda = ppe.load(lambda);
            let exponent = ppe.multiply(lambda, rate_log);
            let factor = exponential(ppe, exponent);
            ppe.store(place, factor);
        }
        ppe.turn(2);
    }
    diagonal
}

/// The sum of the terms times their weights; `each` gets the terms.
pub fn evaluate<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    patterns: &WeightedPatterns,
    ends: [VectorEnd<'_>; 2],
    diagonal: &[Four],
    each: impl FnMut(A::Float),
) -> A::Float {
    match patterns.categories.as_deref() {
        None => sum::<A, 4>(ppe, eigen, patterns, ends, diagonal, each),
        Some(_) => sum::<A, 1>(ppe, eigen, patterns, ends, diagonal, each),
    }
}

fn sum<A: Arithmetic, const CATEGORIES: usize>(
    ppe: &mut A,
    eigen: &Eigen,
    patterns: &WeightedPatterns,
    ends: [VectorEnd<'_>; 2],
    diagonal: &[Four],
    mut each: impl FnMut(A::Float),
) -> A::Float {
    let mut total = ppe.constant(0.0);
    for (pattern, weight) in patterns.weights.iter().enumerate() {
        let chosen = match &patterns.categories {
            Some(categories) => ppe.load_index(&categories[pattern]),
            None => 0,
        };
        let places = ends.map(|end| end.place(ppe, pattern, CATEGORIES));
        let mut sums = [ppe.constant(0.0); 4];
        for category in 0..CATEGORIES {
            let p = end_vector(ppe, eigen, ends[0], places[0], category);
            let q = end_vector(ppe, eigen, ends[1], places[1], category);
            let product = ppe.multiply_four(p, q);
            let factors = ppe.load_four(&diagonal[chosen + category]);
            sums = match category {
                0 => ppe.multiply_four(product, factors),
                _ => ppe.multiply_add_four(product, factors, sums),
            };
            if CATEGORIES > 1 {
                ppe.turn(1);
            }
        }
        let sum = ppe.sum_of_four(sums);
        let sum = ppe.absolute(sum);
        let share = ppe.constant(1.0 / CATEGORIES as f64);
        let likelihood = ppe.multiply(sum, share);
        let mut term = logarithm(ppe, likelihood);
        for end in ends {
            if let VectorEnd::Inner(vectors) = end {
                let count = ppe.load_word(&vectors.counts[pattern]);
                let count = ppe.to_float(count);
                let scaling = ppe.constant(SCALING_LOG);
                term = ppe.multiply_add(count, scaling, term);
            }
        }
        each(term);
        let weight = ppe.load(weight);
        total = ppe.multiply_add(weight, term, total);
        ppe.turn(1 + ends.iter().filter(|end| matches!(end, VectorEnd::Inner(_))).count() as u32);
    }
    total
}

/// The entries of an end in a pattern's category.
#[inline(always)]
pub(super) fn end_vector<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    end: VectorEnd<'_>,
    place: usize,
    category: usize,
) -> [A::Float; 4] {
    match end {
        VectorEnd::Tip(_) => ppe.load_four(&eigen.tips[place]),
        VectorEnd::Inner(vectors) => ppe.load_four(&vectors.entries[place + category]),
    }
}

/// Writes the products of two ends, `[pattern][category][l]`.
pub fn sum_table<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    patterns: &WeightedPatterns,
    ends: [VectorEnd<'_>; 2],
    out: &mut [Four],
) {
    let categories = patterns.categories_each();
    for (pattern, entries) in out.chunks_exact_mut(categories).enumerate() {
        let places = ends.map(|end| end.place(ppe, pattern, categories));
        for (category, entry) in entries.iter_mut().enumerate() {
            let p = end_vector(ppe, eigen, ends[0], places[0], category);
            let q = end_vector(ppe, eigen, ends[1], places[1], category);
            let product = ppe.multiply_four(p, q);
            ppe.store_four(entry, product);
            if categories > 1 {
                ppe.turn(1);
            }
        }
        ppe.turn(3);
    }
}

/// Computes for each category e^(rho lambda u), (rho lambda) times it, and (rho lambda)^2 times it.
pub type NewtonFactors = Vec<[Four; 3]>;

/// The factors of a branch.
pub fn newton_factors<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    branch_log: A::Float,
) -> NewtonFactors {
    let mut factors = vec![[[1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]]; eigen.rates.len()];
    for (factors, rate) in factors.iter_mut().zip(&eigen.rates) {
        let rate = ppe.load(rate);
        for (l, lambda) in eigen.values.iter().enumerate().skip(1) {
            let lambda = ppe.load(lambda);
            let speed = ppe.multiply(lambda, rate);
            let exponent = ppe.multiply(speed, branch_log);
            let factor = exponential(ppe, exponent);
            ppe.store(&mut factors[0][l], factor);
            let first = ppe.multiply(speed, factor);
            ppe.store(&mut factors[1][l], first);
            let second = ppe.multiply(speed, first);
            ppe.store(&mut factors[2][l], second);
        }
        ppe.turn(2);
    }
    factors
}

/// g and h of a branch.
pub fn derivatives<A: Arithmetic>(
    ppe: &mut A,
    patterns: &WeightedPatterns,
    sums: &[Four],
    factors: &[[Four; 3]],
) -> [A::Float; 2] {
    match patterns.categories {
        None => derivatives_of::<A, 4>(ppe, patterns, sums, factors),
        Some(_) => derivatives_of::<A, 1>(ppe, patterns, sums, factors),
    }
}

fn derivatives_of<A: Arithmetic, const CATEGORIES: usize>(
    ppe: &mut A,
    patterns: &WeightedPatterns,
    sums: &[Four],
    factors: &[[Four; 3]],
) -> [A::Float; 2] {
    let mut totals = [ppe.constant(0.0); 2];
    let entries = sums.as_chunks::<CATEGORIES>().0;
    for (pattern, (weight, entries)) in patterns.weights.iter().zip(entries).enumerate() {
        let chosen = match &patterns.categories {
            Some(categories) => ppe.load_index(&categories[pattern]),
            None => 0,
        };
        let mut lanes = [[ppe.constant(0.0); 4]; 3];
        for (category, entry) in entries.iter().enumerate() {
            let s = ppe.load_four(entry);
            for (lane, factors) in lanes.iter_mut().zip(&factors[chosen + category]) {
                let factors = ppe.load_four(factors);
                *lane = match category {
                    0 => ppe.multiply_four(s, factors),
                    _ => ppe.multiply_add_four(s, factors, *lane),
                };
            }
            if CATEGORIES > 1 {
                ppe.turn(1);
            }
        }
        let [s0, s1, s2] = lanes.map(|lane| ppe.sum_of_four(lane));
        let one = ppe.constant(1.0);
        let inverse = ppe.divide(one, s0);
        let first = ppe.multiply(s1, inverse);
        let second = ppe.multiply(s2, inverse);
        let curvature = ppe.subtract_product(second, first, first);
        let weight = ppe.load(weight);
        totals[0] = ppe.multiply_add(weight, first, totals[0]);
        totals[1] = ppe.multiply_add(weight, curvature, totals[1]);
        ppe.turn(2);
    }
    totals
}

/// What Newton's method does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BranchStep {
    /// ln likelihood is convex here: go on from a shorter branch, which is no step of the method.
    Shorten(f64),
    /// A step to this z, from which another may follow.
    Go(f64),
    /// A step to this z, nearly where it was; the last one.
    Stay(f64),
}

/// The step from `z` where the derivatives are `g` and `h`.
pub fn newton_step(z: f64, g: f64, h: f64) -> BranchStep {
    if h >= 0.0 && z < Z_MAX {
        return BranchStep::Shorten((0.37 * z + 0.63).min(Z_MAX));
    }
    let farthest = 0.25 * z + 0.75;
    let mut next = z;
    if h < 0.0 {
        let step = -g / h;
        next = if step < 100.0 {
            let stretched = z * exponential(&mut mmgp_cell::ppe::Plain, step);
            stretched.max(Z_MIN).min(farthest)
        } else {
            farthest
        };
    }
    let next = next.min(Z_MAX);
    if (next - z).abs() <= (1.0 - Z_MAX) * z + Z_MIN {
        BranchStep::Stay(next)
    } else {
        BranchStep::Go(next)
    }
}
