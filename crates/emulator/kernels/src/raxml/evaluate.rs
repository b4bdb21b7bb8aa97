//! The log-likelihood of a tree, seen from a branch.

use super::{
    DIAGONAL_BYTES, End, Ends, MODEL_BYTES, Rates, TABLES_BYTES, TERM_BYTES_PER_GROUP, Version,
    WEIGHT_BYTES_PER_GROUP, blocks_of_ends, naive, named, named_by_ends, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::LocalAddress;

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
    /// Where the term of each pattern goes, if anywhere.
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
