//! Kernels that look at a branch: what depends on its length and the categories alone (transition matrices
//! and what they make of tips for newview, a diagonal for evaluate, factors for makenewz), the
//! log-likelihood, its derivatives, and a step of Newton's method.

use super::{
    DIAGONAL_BYTES, End, Ends, FACTOR_BYTES, GAMMA_CATEGORIES, MATRIX_BYTES, MODEL_BYTES, Rates,
    TABLES_BYTES, TERM_BYTES_PER_GROUP, TIP_PRODUCT_BYTES, Version, WEIGHT_BYTES_PER_GROUP,
    blocks_of_ends, naive, named_by_ends, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::{Branches, LocalAddress, Shape};

/// `left_jl = EI_jl exp(rho_c lambda_l ln z_left)` for each category c of rate rho_c, and `right`
/// with z_right; stored as `[category][l][j]`, so that a product with a vector is four
/// multiply-and-adds of whole columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// How it is written.
    pub version: Version,
    /// Categories, 1 to 25.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// A quadword {z_left, z_right}.
    pub branches: LocalAddress,
    /// The matrices of the left branch, written: [`MATRIX_BYTES`] for each category.
    pub left: LocalAddress,
    /// The matrices of the right branch, written.
    pub right: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

kernel! {
    Transition -> (), |kernel, spu|
    shape: kernel.version.shape(
        named!(kernel, "transition matrices", ", tuned"),
        kernel.category_count,
    );
    blocks: {
        input model[MODEL_BYTES; 1];
        input branches[Bytes(16); 1];
        input tables[TABLES_BYTES; 1];
        output left[MATRIX_BYTES; kernel.category_count];
        output right[MATRIX_BYTES; kernel.category_count];
    }
    versions: naive::transition, unfused and tuned::transition;
}

/// Products for a child of newview that is a tip, with GAMMA: for each code its vector times the matrix of
/// each category, `sum over l of matrix_jl x_l`, as `[code][category][j]`; that of code 0 is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TipProducts {
    /// How it is written.
    pub version: Version,
    /// The matrices of four categories, from [`Transition`].
    pub matrices: LocalAddress,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// The products, written: [`TIP_PRODUCT_BYTES`].
    pub out: LocalAddress,
}

kernel! {
    TipProducts -> (), |kernel, spu|
    shape: Shape {
        branches: Branches::OnShape,
        ..kernel.version.shape(named!(kernel, "tip products", ", tuned"), 0)
    };
    blocks: {
        input matrices[MATRIX_BYTES; GAMMA_CATEGORIES];
        input model[MODEL_BYTES; 1];
        output out[TIP_PRODUCT_BYTES; 1];
    }
    versions: naive::tip_products, tuned::tip_products;
}

// The log-likelihood of a tree, seen from a branch, its derivatives by the length of the branch, and
// a step of Newton's method.

/// `d_cl = exp(rho_c lambda_l ln z)` for each category c of rate rho_c, as `[category][l]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagonal {
    /// How it is written.
    pub version: Version,
    /// Categories, 1 to 25.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// A quadword whose lane 0 is z.
    pub branch: LocalAddress,
    /// The diagonals, written: [`DIAGONAL_BYTES`] for each category.
    pub out: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

kernel! {
    Diagonal -> (), |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "diagonal", ", tuned"), kernel.category_count);
    blocks: {
        input model[MODEL_BYTES; 1];
        input branch[Bytes(16); 1];
        input tables[TABLES_BYTES; 1];
        output out[DIAGONAL_BYTES; kernel.category_count];
    }
    versions: naive::diagonal, unfused and tuned::diagonal;
}

/// Adds `sum over i of w_i term_i` to lane 0 of `result`, with x^p and x^q the vectors of the ends
/// and e_i the sum of their scaling counts:
///
/// ```text
/// CAT:   term_i = ln |sum over l of x^p_il x^q_il d_c(i)l| + e_i ln 2^-256
/// GAMMA: term_i = ln(1/4 |sum over c, l of x^p_icl x^q_icl d_cl|) + e_i ln 2^-256
/// ```
///
/// A pattern of weight 0 contributes exactly 0, whatever its vectors hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluate {
    /// How it is written.
    pub version: Version,
    /// How rates vary.
    pub rates: Rates,
    /// Groups of four patterns.
    pub groups: u32,
    /// Categories: 4 with GAMMA, 1 to 25 with CAT.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// The ends of the branch; if one is a tip, the first.
    pub ends: [End; 2],
    /// The diagonals, from [`Diagonal`].
    pub diagonal: LocalAddress,
    /// Indices of the categories of the patterns; not read with GAMMA.
    pub categories: LocalAddress,
    /// Weights of the patterns.
    pub weights: LocalAddress,
    /// The terms of the patterns, written if wanted.
    pub terms: Option<LocalAddress>,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
    /// The sum so far, to which the block is added: lane 0 of a quadword whose lane 1 becomes 0.
    pub result: LocalAddress,
}

// It returns the sum, as it stands in `result`.
kernel! {
    Evaluate -> f64, |kernel, spu|
    shape: kernel.version.shape(
        match kernel.terms {
            None => named_by_ends!(kernel, Ends::of(kernel.ends), "evaluate"),
            Some(_) => named_by_ends!(kernel, Ends::of(kernel.ends), "evaluate with terms"),
        },
        kernel.groups,
    );
    blocks: {
        each = blocks_of_ends(kernel.ends, kernel.rates, kernel.groups);
        input model[MODEL_BYTES; 1];
        input diagonal[DIAGONAL_BYTES; kernel.category_count];
        input weights[WEIGHT_BYTES_PER_GROUP; kernel.groups];
        input tables[TABLES_BYTES; 1];
        output result[Bytes(16); 1];
        each = kernel.rates.categories(kernel.categories, kernel.groups);
        each = kernel.terms.map(|at| Block::output("terms", at, kernel.groups, TERM_BYTES_PER_GROUP));
    }
    versions: naive::evaluate, tuned::evaluate;
}

/// `s = x^p x^q`, entry by entry, of the vectors of the ends of a branch (a tip has the same vector
/// in each category). Scaling counts do not matter, as they cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumTable {
    /// How it is written.
    pub version: Version,
    /// How rates vary.
    pub rates: Rates,
    /// Groups of four patterns.
    pub groups: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// The ends of the branch; if one is a tip, the first.
    pub ends: [End; 2],
    /// The products, written, with the layout of vectors.
    pub out: LocalAddress,
}

kernel! {
    SumTable -> (), |kernel, spu|
    shape: Shape {
        branches: Branches::OnShape,
        ..kernel.version.shape(
            named_by_ends!(kernel, Ends::of(kernel.ends), "sum table"),
            kernel.groups,
        )
    };
    blocks: {
        each = blocks_of_ends(kernel.ends, kernel.rates, kernel.groups);
        input model[MODEL_BYTES; 1];
        output out[kernel.rates.vector_bytes_per_group(); kernel.groups];
    }
    versions: naive::sum_table, unfused and tuned::sum_table;
}

/// `e = exp(rho_c lambda_l u)`, `(rho_c lambda_l) e` and `(rho_c lambda_l)^2 e` with u = ln z, as
/// `[3][category][l]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewtonFactors {
    /// How it is written.
    pub version: Version,
    /// Categories, 1 to 25.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// A quadword whose lane 0 is z.
    pub branch: LocalAddress,
    /// The factors, written: [`FACTOR_BYTES`] for each category.
    pub out: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

kernel! {
    NewtonFactors -> (), |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "Newton factors", ", tuned"), kernel.category_count);
    blocks: {
        input model[MODEL_BYTES; 1];
        input branch[Bytes(16); 1];
        input tables[TABLES_BYTES; 1];
        output out[FACTOR_BYTES; kernel.category_count];
    }
    versions: naive::newton_factors, unfused and tuned::newton_factors;
}

/// Adds the derivatives of `sum over i of w_i ln S0_i` by u = ln z to `result`, where with the
/// factors f of [`NewtonFactors`] (CAT: of the pattern's category; GAMMA: summed over all four)
///
/// ```text
/// S0_i = sum over l of s_il f_0l, S1_i with f_1l, S2_i with f_2l
/// g = sum over i of w_i S1_i / S0_i
/// h = sum over i of w_i (S2_i / S0_i - (S1_i / S0_i)^2)
/// ```
///
/// A pattern of weight 0 contributes exactly 0, whatever its sums hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Derivatives {
    /// How it is written.
    pub version: Version,
    /// How rates vary.
    pub rates: Rates,
    /// Groups of four patterns.
    pub groups: u32,
    /// Categories: 4 with GAMMA, 1 to 25 with CAT.
    pub category_count: u32,
    /// The products, from [`SumTable`].
    pub sums: LocalAddress,
    /// The factors, from [`NewtonFactors`].
    pub factors: LocalAddress,
    /// Indices of the categories of the patterns; not read with GAMMA.
    pub categories: LocalAddress,
    /// Weights of the patterns.
    pub weights: LocalAddress,
    /// The sums so far, to which the block is added: a quadword {g, h}.
    pub result: LocalAddress,
}

// It returns g and h, as they stand in `result`.
kernel! {
    Derivatives -> [f64; 2], |kernel, spu|
    shape: kernel.version.shape(
        match kernel.rates {
            Rates::Gamma => named!(kernel, "derivatives, GAMMA", ", tuned"),
            Rates::Cat => named!(kernel, "derivatives, CAT", ", tuned"),
        },
        kernel.groups,
    );
    blocks: {
        input sums[kernel.rates.vector_bytes_per_group(); kernel.groups];
        input factors[FACTOR_BYTES; kernel.category_count];
        input weights[WEIGHT_BYTES_PER_GROUP; kernel.groups];
        output result[Bytes(16); 1];
        each = kernel.rates.categories(kernel.categories, kernel.groups);
    }
    versions: naive::derivatives, tuned::derivatives;
}

/// What a [`NewtonStep`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Progress {
    /// The curvature was wrong and the branch was shortened: derivatives are needed again. It does
    /// not count among the steps that a caller allows.
    Shortened,
    /// A step was made, and z is not yet where it stays.
    #[default]
    Moved,
    /// A step was made that changed z by no more than the tolerance: done.
    Converged,
}

/// Computes from z = exp(-t) and the derivatives g and h of the log-likelihood by ln z a better z, held
/// between [`Z_MIN`](super::Z_MIN) and [`Z_MAX`](super::Z_MAX):
///
/// ```text
/// h >= 0, z < zmax: z' = 0.37 z + 0.63                                        shortened
/// h >= 0, z = zmax: z' = z
/// h < 0, t = -g/h < 100: z' = max(z e^t, zmin), at most 0.25 z + 0.75
/// h < 0, otherwise: z' = 0.25 z + 0.75
/// converged: |z' - z| <= (1 - zmax) z + zmin
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewtonStep {
    /// How it is written.
    pub version: Version,
    /// A quadword {g, h}, from [`Derivatives`](super::Derivatives).
    pub derivatives: LocalAddress,
    /// A quadword whose lane 0 is z; it becomes z', and lane 1 becomes 0.
    pub branch: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

kernel! {
    NewtonStep -> Progress, |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "Newton step", ", tuned"), 0);
    blocks: {
        input derivatives[Bytes(16); 1];
        input tables[TABLES_BYTES; 1];
        output branch[Bytes(16); 1];
    }
    versions: naive::newton_step, tuned::newton_step;
}
