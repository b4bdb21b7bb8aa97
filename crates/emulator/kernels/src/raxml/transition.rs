//! What newview needs of its two branches.

use super::{
    GAMMA_CATEGORIES, MATRIX_BYTES, MODEL_BYTES, TABLES_BYTES, TIP_PRODUCT_BYTES, Version, naive,
    named, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{Branches, Compiled, Kernel, LocalAddress, Shape, Spu, Unfused};

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

impl Kernel for Transition {
    type Output = ();

    fn shape(&self) -> Shape {
        let name = named!(self.version, "transition matrices");
        self.version.shape(name, self.category_count)
    }

    fn blocks(&self) -> Vec<Block> {
        let categories = self.category_count;
        vec![
            Block::input("model", self.model, 1, MODEL_BYTES),
            Block::input("branches", self.branches, 1, Bytes(16)),
            Block::input("tables", self.tables, 1, TABLES_BYTES),
            Block::output("left", self.left, categories, MATRIX_BYTES),
            Block::output("right", self.right, categories, MATRIX_BYTES),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::transition(spu, self),
            Version::Unfused | Version::Tuned => tuned::transition(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}

/// For a child of newview that is a tip, with GAMMA: for each code its vector times the matrix of
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

impl Kernel for TipProducts {
    type Output = ();

    fn shape(&self) -> Shape {
        let name = named!(self.version, "tip products");
        Shape { branches: Branches::OnShape, ..self.version.shape(name, 0) }
    }

    fn blocks(&self) -> Vec<Block> {
        vec![
            Block::input("matrices", self.matrices, GAMMA_CATEGORIES, MATRIX_BYTES),
            Block::input("model", self.model, 1, MODEL_BYTES),
            Block::output("out", self.out, 1, TIP_PRODUCT_BYTES),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::tip_products(spu, self),
            Version::Unfused => tuned::tip_products(&mut Unfused::new(spu), self),
            Version::Tuned => tuned::tip_products(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}
