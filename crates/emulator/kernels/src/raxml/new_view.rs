//! The vectors of an inner node from those of its two children.

mod host;

use super::{
    CODE_BYTES_PER_GROUP, COUNT_BYTES_PER_GROUP, MATRIX_BYTES, MODEL_BYTES, Rates,
    TIP_PRODUCT_BYTES, Version, naive, named, tuned,
};
use mmgp_spu::layout::Block;
use mmgp_spu::{Branches, Compiled, Kernel, LocalAddress, LocalStore, Shape, Spu, Unfused};

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

impl Kernel for NewView {
    type Output = ();

    fn shape(&self) -> Shape {
        use Child::{Inner, Tip};
        use Rates::{Cat, Gamma};
        let name = match (self.rates, self.left, self.right) {
            (Gamma, Tip { .. }, Tip { .. }) => named!(self.version, "newview, GAMMA, tip/tip"),
            (Gamma, Tip { .. }, _) => named!(self.version, "newview, GAMMA, tip/inner"),
            (Gamma, Inner { .. }, _) => named!(self.version, "newview, GAMMA, inner/inner"),
            (Cat, Tip { .. }, Tip { .. }) => named!(self.version, "newview, CAT, tip/tip"),
            (Cat, Tip { .. }, _) => named!(self.version, "newview, CAT, tip/inner"),
            (Cat, Inner { .. }, _) => named!(self.version, "newview, CAT, inner/inner"),
        };
        let branches = match self.right {
            // Nothing is scaled.
            Child::Tip { .. } => Branches::OnShape,
            Child::Inner { .. } => self.version.branches(),
        };
        Shape { branches, ..self.version.shape(name, self.groups) }
    }

    fn blocks(&self) -> Vec<Block> {
        let (groups, vector_bytes) = (self.groups, self.rates.vector_bytes_per_group());
        let mut blocks = vec![Block::input("model", self.model, 1, MODEL_BYTES)];
        blocks.extend([self.left, self.right].into_iter().flat_map(|child| self.blocks_of(child)));
        blocks.extend(self.rates.categories(self.categories, groups));
        blocks.push(Block::output("out", self.out, groups, vector_bytes));
        blocks.push(Block::output("out_counts", self.out_counts, groups, COUNT_BYTES_PER_GROUP));
        blocks
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::new_view(spu, self),
            Version::Unfused => tuned::new_view(&mut Unfused::new(spu), self),
            Version::Tuned => tuned::new_view(spu, self),
        }
    }

    #[inline(always)]
    fn run_on_host(&self, store: &mut LocalStore) -> Option<()> {
        host::run(self, store).then_some(())
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}
