//! The vectors of an inner node from those of its two children.

use super::{
    CATEGORY_BYTES_PER_GROUP, CODE_BYTES_PER_GROUP, COUNT_BYTES_PER_GROUP, MATRIX_BYTES,
    MODEL_BYTES, Rates, TIP_PRODUCT_BYTES, Version, input, naive, output, times, tuned,
};
use crate::layout::{self, Block};
use mmgp_base::error::Result;
use mmgp_spu::{Branches, Compiler, Kernel, LocalAddress, Spu};

/// A child of [`NewView`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// A tip.
    Tip {
        /// Its codes.
        codes: LocalAddress,
        /// With GAMMA the table of [`TipProducts`](super::TipProducts), with CAT the matrices of
        /// its branch from [`Transition`](super::Transition).
        products: LocalAddress,
    },
    /// An inner node.
    Inner {
        /// Its vectors.
        vectors: LocalAddress,
        /// Its scaling counts.
        counts: LocalAddress,
        /// The matrices of its branch, from [`Transition`](super::Transition).
        matrices: LocalAddress,
    },
}

/// For each pattern and category, with the matrices of the category:
///
/// ```text
/// a_j   = sum over l of left_jl xleft_l
/// b_j   = sum over l of right_jl xright_l
/// y_j   = a_j b_j
/// out_l = sum over j of V_jl y_j
/// ```
///
/// and then the scaling; layout and scaling are described in the [module](super). If one child is a
/// tip, it is the left one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewView {
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
    /// The left child.
    pub left: Child,
    /// The right child; a tip only if the left one is.
    pub right: Child,
    /// Indices of the categories of the patterns; not read with GAMMA.
    pub categories: LocalAddress,
    /// Vectors of the node, written.
    pub out: LocalAddress,
    /// Scaling counts of the node, written: those of both children (0 of a tip) and 1 where it was
    /// scaled.
    pub out_counts: LocalAddress,
}

impl NewView {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        let groups = self.groups;
        let mut blocks = vec![input("model", self.model, MODEL_BYTES)];
        for child in [self.left, self.right] {
            blocks.extend(self.blocks_of(child));
        }
        if self.rates == Rates::Cat {
            blocks.push(input(
                "categories",
                self.categories,
                times(groups, CATEGORY_BYTES_PER_GROUP),
            ));
        }
        let vectors = times(groups, self.rates.vector_bytes_per_group());
        blocks.push(output("out", self.out, vectors));
        blocks.push(output("out_counts", self.out_counts, times(groups, COUNT_BYTES_PER_GROUP)));
        layout::check(self.name(), &blocks)
    }

    fn blocks_of(&self, child: Child) -> Vec<Block> {
        let matrix_bytes = times(self.category_count, MATRIX_BYTES);
        match child {
            Child::Tip { codes, products } => {
                let product_bytes = match self.rates {
                    Rates::Gamma => TIP_PRODUCT_BYTES,
                    Rates::Cat => matrix_bytes,
                };
                vec![
                    input("codes", codes, times(self.groups, CODE_BYTES_PER_GROUP)),
                    input("products", products, product_bytes),
                ]
            }
            Child::Inner { vectors, counts, matrices } => vec![
                input("vectors", vectors, times(self.groups, self.rates.vector_bytes_per_group())),
                input("counts", counts, times(self.groups, COUNT_BYTES_PER_GROUP)),
                input("matrices", matrices, matrix_bytes),
            ],
        }
    }
}

impl Kernel for NewView {
    type Output = ();

    fn name(&self) -> &'static str {
        use Child::{Inner, Tip};
        use Rates::{Cat, Gamma};
        use Version::{Naive, Tuned};
        match (self.version, self.rates, self.left, self.right) {
            (Naive, Gamma, Tip { .. }, Tip { .. }) => "newview, GAMMA, tip/tip, naive",
            (Naive, Gamma, Tip { .. }, _) => "newview, GAMMA, tip/inner, naive",
            (Naive, Gamma, Inner { .. }, _) => "newview, GAMMA, inner/inner, naive",
            (Naive, Cat, Tip { .. }, Tip { .. }) => "newview, CAT, tip/tip, naive",
            (Naive, Cat, Tip { .. }, _) => "newview, CAT, tip/inner, naive",
            (Naive, Cat, Inner { .. }, _) => "newview, CAT, inner/inner, naive",
            (Tuned, Gamma, Tip { .. }, Tip { .. }) => "newview, GAMMA, tip/tip, tuned",
            (Tuned, Gamma, Tip { .. }, _) => "newview, GAMMA, tip/inner, tuned",
            (Tuned, Gamma, Inner { .. }, _) => "newview, GAMMA, inner/inner, tuned",
            (Tuned, Cat, Tip { .. }, Tip { .. }) => "newview, CAT, tip/tip, tuned",
            (Tuned, Cat, Tip { .. }, _) => "newview, CAT, tip/inner, tuned",
            (Tuned, Cat, Inner { .. }, _) => "newview, CAT, inner/inner, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    fn branches(&self) -> Branches {
        match self.right {
            // Nothing is scaled.
            Child::Tip { .. } => Branches::OnShape,
            Child::Inner { .. } => self.version.branches(),
        }
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::new_view(spu, self),
            Version::Tuned => tuned::new_view(spu, self),
        }
    }
}
