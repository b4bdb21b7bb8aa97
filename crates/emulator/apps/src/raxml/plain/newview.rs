//! `newview`: the vector of an inner node from those of two neighbours.
//!
//! ```text
//! left_jl = EI_jl e^(rho_c lambda_l ln z)        for each category c; right likewise
//! a_j = sum over l of left_jl x^q_l              from the one child
//! b_j = sum over l of right_jl x^r_l             from the other
//! x^p_l = sum over j of V_jl a_j b_j
//! ```
//! A pattern all of whose entries are below 2^-256 in magnitude is multiplied by 2^256 and counts
//! one scaling more than its children together. Between two tips that cannot happen.
//!
//! What the left and right factors are multiplied with stands in loops over j, whose four sums do
//! not wait for each other. Factors are loaded where they are used: there are 48 of them for each
//! category and 32 registers.

use super::{Eigen, Four, VectorEnd, Vectors, WeightedPatterns};
use crate::likelihood::{Checks, scale_and_count};
use mmgp_cell::ppe::{Arithmetic, exponential};

/// Codes of tips: 1 to 15.
const CODES: usize = 16;

/// The factors of a branch, `[category][l][j]`.
pub fn transitions<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    branch_log: A::Float,
) -> Vec<[Four; 4]> {
    let mut matrices = vec![[[0.0; 4]; 4]; eigen.rates.len()];
    for (matrix, rate) in matrices.iter_mut().zip(&eigen.rates) {
        let rate = ppe.load(rate);
        let rate_log = ppe.multiply(rate, branch_log);
        for (l, (place, row)) in matrix.iter_mut().zip(&eigen.ei).enumerate() {
            let mut row = ppe.load_four(row);
            // The first eigenvalue is 0.
            if l > 0 {
                let lambda = ppe.load(&eigen.values[l]);
                let exponent = ppe.multiply(lambda, rate_log);
                let factor = exponential(ppe, exponent);
                row = ppe.multiply_four(row, [factor; 4]);
            }
            ppe.store_four(place, row);
            ppe.turn(2);
        }
    }
    matrices
}

/// Computes the vector `out` of a node from its children, each with the factors of its branch. If
/// one of them is a tip, it is the left one.
pub fn newview<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    patterns: &WeightedPatterns,
    children: [VectorEnd<'_>; 2],
    matrices: [&[[Four; 4]]; 2],
    out: &mut Vectors,
) -> Checks {
    let [left, right] = matrices;
    match (patterns.categories.as_deref(), children) {
        (None, [VectorEnd::Tip(q), VectorEnd::Tip(r)]) => {
            let tables = [products(ppe, eigen, left), products(ppe, eigen, right)];
            let children = (Tabulated::new(q, &tables[0]), Tabulated::new(r, &tables[1]));
            combine::<A, _, _, 4>(ppe, eigen, None, children, out)
        }
        (None, [VectorEnd::Tip(q), VectorEnd::Inner(r)]) => {
            let table = products(ppe, eigen, left);
            let children = (Tabulated::new(q, &table), Inner::<4>::new(r, right));
            combine::<A, _, _, 4>(ppe, eigen, None, children, out)
        }
        (None, [VectorEnd::Inner(q), VectorEnd::Inner(r)]) => {
            let children = (Inner::<4>::new(q, left), Inner::<4>::new(r, right));
            combine::<A, _, _, 4>(ppe, eigen, None, children, out)
        }
        (categories, [VectorEnd::Tip(q), VectorEnd::Tip(r)]) => {
            let children = (Tip::new(q, eigen, left), Tip::new(r, eigen, right));
            combine::<A, _, _, 1>(ppe, eigen, categories, children, out)
        }
        (categories, [VectorEnd::Tip(q), VectorEnd::Inner(r)]) => {
            let children = (Tip::new(q, eigen, left), Inner::<1>::new(r, right));
            combine::<A, _, _, 1>(ppe, eigen, categories, children, out)
        }
        (categories, [VectorEnd::Inner(q), VectorEnd::Inner(r)]) => {
            let children = (Inner::<1>::new(q, left), Inner::<1>::new(r, right));
            combine::<A, _, _, 1>(ppe, eigen, categories, children, out)
        }
        (_, [VectorEnd::Inner(_), VectorEnd::Tip(_)]) => {
            unreachable!("a single tip is the left child")
        }
    }
}

/// A child in the loop over patterns.
trait Child {
    /// Whether it has vectors, and so may need scaling.
    const INNER: bool;

    /// The place of the pattern's data.
    fn place<A: Arithmetic>(&self, ppe: &mut A, pattern: usize) -> usize;

    /// a_j of a pattern's category with the factors of `matrix`.
    fn product<A: Arithmetic>(
        &self,
        ppe: &mut A,
        place: usize,
        category: usize,
        matrix: usize,
    ) -> [A::Float; 4];

    /// How often the pattern has been scaled below; a tip never is.
    #[inline(always)]
    fn count<A: Arithmetic>(&self, _: &mut A, _: usize) -> Option<A::Word> {
        None
    }
}

/// A tip whose products stand in a table by code.
struct Tabulated<'a> {
    codes: &'a [u32],
    table: &'a [[Four; 4]; CODES],
}

impl<'a> Tabulated<'a> {
    fn new(codes: &'a [u32], table: &'a [[Four; 4]; CODES]) -> Self {
        Self { codes, table }
    }
}

impl Child for Tabulated<'_> {
    const INNER: bool = false;

    #[inline(always)]
    fn place<A: Arithmetic>(&self, ppe: &mut A, pattern: usize) -> usize {
        // Codes have four bits.
        ppe.load_index(&self.codes[pattern]) % CODES
    }

    #[inline(always)]
    fn product<A: Arithmetic>(
        &self,
        ppe: &mut A,
        place: usize,
        category: usize,
        _: usize,
    ) -> [A::Float; 4] {
        ppe.load_four(&self.table[place][category])
    }
}

/// A tip whose products are computed from the vector of its code.
struct Tip<'a> {
    codes: &'a [u32],
    vectors: &'a [Four; CODES],
    matrices: &'a [[Four; 4]],
}

impl<'a> Tip<'a> {
    fn new(codes: &'a [u32], eigen: &'a Eigen, matrices: &'a [[Four; 4]]) -> Self {
        Self { codes, vectors: &eigen.tips, matrices }
    }
}

impl Child for Tip<'_> {
    const INNER: bool = false;

    #[inline(always)]
    fn place<A: Arithmetic>(&self, ppe: &mut A, pattern: usize) -> usize {
        ppe.load_index(&self.codes[pattern]) % CODES
    }

    #[inline(always)]
    fn product<A: Arithmetic>(
        &self,
        ppe: &mut A,
        place: usize,
        _: usize,
        matrix: usize,
    ) -> [A::Float; 4] {
        let vector = ppe.load_four(&self.vectors[place]);
        matrix_times_vector(ppe, &self.matrices[matrix], vector)
    }
}

/// An inner node with so many categories in its vectors.
struct Inner<'a, const CATEGORIES: usize> {
    vectors: &'a [[Four; CATEGORIES]],
    counts: &'a [i32],
    matrices: &'a [[Four; 4]],
}

impl<'a, const CATEGORIES: usize> Inner<'a, CATEGORIES> {
    fn new(vectors: &'a Vectors, matrices: &'a [[Four; 4]]) -> Self {
        Self { vectors: vectors.entries.as_chunks().0, counts: &vectors.counts, matrices }
    }
}

impl<const CATEGORIES: usize> Child for Inner<'_, CATEGORIES> {
    const INNER: bool = true;

    #[inline(always)]
    fn place<A: Arithmetic>(&self, _: &mut A, pattern: usize) -> usize {
        pattern
    }

    #[inline(always)]
    fn product<A: Arithmetic>(
        &self,
        ppe: &mut A,
        place: usize,
        category: usize,
        matrix: usize,
    ) -> [A::Float; 4] {
        let vector = ppe.load_four(&self.vectors[place][category]);
        matrix_times_vector(ppe, &self.matrices[matrix], vector)
    }

    #[inline(always)]
    fn count<A: Arithmetic>(&self, ppe: &mut A, pattern: usize) -> Option<A::Word> {
        Some(ppe.load_word(&self.counts[pattern]))
    }
}

/// The products of a tip with each code, `[code][category][j]`.
fn products<A: Arithmetic>(
    ppe: &mut A,
    eigen: &Eigen,
    matrices: &[[Four; 4]],
) -> [[Four; 4]; CODES] {
    let mut table = [[[0.0; 4]; 4]; CODES];
    for (row, tip) in table.iter_mut().zip(&eigen.tips).skip(1) {
        for (entry, matrix) in row.iter_mut().zip(matrices) {
            let vector = ppe.load_four(tip);
            let product = matrix_times_vector(ppe, matrix, vector);
            ppe.store_four(entry, product);
        }
        ppe.turn(2);
    }
    table
}

/// sum over l of row l times entry l.
#[inline(always)]
fn matrix_times_vector<A: Arithmetic>(
    ppe: &mut A,
    rows: &[Four; 4],
    vector: [A::Float; 4],
) -> [A::Float; 4] {
    let row = ppe.load_four(&rows[0]);
    let mut sum = ppe.multiply_four(row, [vector[0]; 4]);
    for l in 1..4 {
        let row = ppe.load_four(&rows[l]);
        sum = ppe.multiply_add_four(row, [vector[l]; 4], sum);
    }
    sum
}

/// The loop over the patterns.
#[inline(always)]
fn combine<A: Arithmetic, Q: Child, R: Child, const CATEGORIES: usize>(
    ppe: &mut A,
    eigen: &Eigen,
    categories: Option<&[u32]>,
    (q, r): (Q, R),
    out: &mut Vectors,
) -> Checks {
    let mut checks = Checks::default();
    let entries = out.entries.as_chunks_mut::<CATEGORIES>().0;
    for (pattern, (entries, count)) in entries.iter_mut().zip(&mut out.counts).enumerate() {
        let chosen = categories.map_or(0, |categories| ppe.load_index(&categories[pattern]));
        let places = (q.place(ppe, pattern), r.place(ppe, pattern));
        for (category, entry) in entries.iter_mut().enumerate() {
            let matrix = chosen + category;
            let a = q.product(ppe, places.0, category, matrix);
            let b = r.product(ppe, places.1, category, matrix);
            let y = ppe.multiply_four(a, b);
            let x = matrix_times_vector(ppe, &eigen.v, y);
            ppe.store_four(entry, x);
            if CATEGORIES > 1 {
                ppe.turn(1);
            }
        }
        let below = match (q.count(ppe, pattern), r.count(ppe, pattern)) {
            (Some(one), Some(other)) => Some(ppe.add_words(one, other)),
            (one, other) => one.or(other),
        };
        match below {
            Some(below) => {
                let check = scale_and_count(ppe, entries, below, count);
                checks.small += check.small;
                checks.scaled += check.scaled;
            }
            None => *count = 0,
        }
        ppe.turn(1 + u32::from(Q::INNER) + u32::from(R::INNER));
    }
    checks
}
