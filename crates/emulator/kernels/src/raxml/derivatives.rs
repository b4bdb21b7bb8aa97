//! The derivatives of the log-likelihood by u = ln z of one branch.

use super::{
    End, Ends, FACTOR_BYTES, MODEL_BYTES, Rates, TABLES_BYTES, Version, WEIGHT_BYTES_PER_GROUP,
    blocks_of_ends, naive, named, named_by_ends, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::{Branches, LocalAddress, Shape};

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
