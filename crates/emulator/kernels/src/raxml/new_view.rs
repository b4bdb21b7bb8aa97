//! The vectors of an inner node from those of its two children.

mod host;

use super::{
    CODE_BYTES_PER_GROUP, COUNT_BYTES_PER_GROUP, End, Ends, MATRIX_BYTES, MODEL_BYTES, Rates,
    TIP_PRODUCT_BYTES, Version, naive, named, named_by_ends, tuned,
};
use mmgp_spu::layout::Block;
use mmgp_spu::{Branches, LocalAddress, Shape};

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

impl Child {
    /// The child without its tables.
    #[inline(always)]
    pub(super) const fn end(self) -> End {
        match self {
            Self::Tip { codes, .. } => End::Tip { codes },
            Self::Inner { vectors, counts, .. } => End::Inner { vectors, counts },
        }
    }
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
    fn blocks_of(&self, child: Child) -> Vec<Block> {
        let (groups, categories) = (self.groups, self.category_count);
        match child {
            Child::Tip { codes, products } => {
                let (count, each) = match self.rates {
                    Rates::Gamma => (1, TIP_PRODUCT_BYTES),
                    Rates::Cat => (categories, MATRIX_BYTES),
                };
                vec![
                    Block::input("codes", codes, groups, CODE_BYTES_PER_GROUP),
                    Block::input("products", products, count, each),
                ]
            }
            Child::Inner { vectors, counts, matrices } => vec![
                Block::input("vectors", vectors, groups, self.rates.vector_bytes_per_group()),
                Block::input("counts", counts, groups, COUNT_BYTES_PER_GROUP),
                Block::input("matrices", matrices, categories, MATRIX_BYTES),
            ],
        }
    }
}

kernel! {
    NewView -> (), |kernel, spu|
    shape: Shape {
        branches: match kernel.right {
            // Nothing is scaled.
            Child::Tip { .. } => Branches::OnShape,
            Child::Inner { .. } => kernel.version.branches(),
        },
        ..kernel.version.shape(
            named_by_ends!(kernel, Ends::of([kernel.left, kernel.right].map(Child::end)), "newview"),
            kernel.groups,
        )
    };
    on host: host::run;
    blocks: {
        input model[MODEL_BYTES; 1];
        each = kernel.blocks_of(kernel.left);
        each = kernel.blocks_of(kernel.right);
        each = kernel.rates.categories(kernel.categories, kernel.groups);
        output out[kernel.rates.vector_bytes_per_group(); kernel.groups];
        output out_counts[COUNT_BYTES_PER_GROUP; kernel.groups];
    }
    versions: naive::new_view, tuned::new_view;
}
