//! What depends on the length of a branch and the categories alone: transition matrices and what they
//! make of tips for newview, a diagonal for evaluate, factors for makenewz.

use super::{
    GAMMA_CATEGORIES, MATRIX_BYTES, MODEL_BYTES, TABLES_BYTES, TIP_PRODUCT_BYTES, Version, naive,
    named, tuned,
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
