//! What newview needs of its two branches.

use super::{
    MATRIX_BYTES, MODEL_BYTES, TABLES_BYTES, TIP_PRODUCT_BYTES, Version, input, naive, output,
    times, tuned,
};
use crate::layout;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_spu::{Branches, Compiler, Kernel, LocalAddress, Spu};

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

impl Transition {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        let matrices = times(self.category_count, MATRIX_BYTES);
        layout::check(
            self.name(),
            &[
                input("model", self.model, MODEL_BYTES),
                input("branches", self.branches, Bytes(16)),
                input("tables", self.tables, TABLES_BYTES),
                output("left", self.left, matrices),
                output("right", self.right, matrices),
            ],
        )
    }
}

impl Kernel for Transition {
    type Output = ();

    fn name(&self) -> &'static str {
        match self.version {
            Version::Naive => "transition matrices, naive",
            Version::Tuned => "transition matrices, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    fn branches(&self) -> Branches {
        self.version.branches()
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::transition(spu, self),
            Version::Tuned => tuned::transition(spu, self),
        }
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

impl TipProducts {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        layout::check(
            self.name(),
            &[
                input("matrices", self.matrices, times(4, MATRIX_BYTES)),
                input("model", self.model, MODEL_BYTES),
                output("out", self.out, TIP_PRODUCT_BYTES),
            ],
        )
    }
}

impl Kernel for TipProducts {
    type Output = ();

    fn name(&self) -> &'static str {
        match self.version {
            Version::Naive => "tip products, naive",
            Version::Tuned => "tip products, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::tip_products(spu, self),
            Version::Tuned => tuned::tip_products(spu, self),
        }
    }
}
