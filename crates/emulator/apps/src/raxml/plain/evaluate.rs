//! `evaluate`: ln likelihood of the tree, seen from a branch.
//!
//! ```text
//! d_cl = e^(rho_c lambda_l ln z)
//! CAT:    term_i = ln |sum over l of x^p_il x^q_il d_c(i)l| + e_i ln 2^-256
//! GAMMA:  term_i = ln (1/4 |sum over c, l of x^p_icl x^q_icl d_cl|) + e_i ln 2^-256
//! lnL = sum over i of w_i term_i
//! ```

use super::{Eigen, End, Four, WeightedPatterns};
use crate::likelihood::SCALING_LOG;
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
    ends: [End<'_>; 2],
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
    ends: [End<'_>; 2],
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
            if let End::Inner(vectors) = end {
                let count = ppe.load_word(&vectors.counts[pattern]);
                let count = ppe.to_float(count);
                let scaling = ppe.constant(SCALING_LOG);
                term = ppe.multiply_add(count, scaling, term);
            }
        }
        each(term);
        let weight = ppe.load(weight);
        total = ppe.multiply_add(weight, term, total);
        ppe.turn(1 + ends.iter().filter(|end| matches!(end, End::Inner(_))).count() as u32);
    }
    total
}

/// The entries of an end in a pattern's category.
#[inline(always)]
pub(super) fn end_vector<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    end: End<'_>,
    place: usize,
    category: usize,
) -> [A::Float; 4] {
    match end {
        End::Tip(_) => ppe.load_four(&eigen.tips[place]),
        End::Inner(vectors) => ppe.load_four(&vectors.entries[place + category]),
    }
}
