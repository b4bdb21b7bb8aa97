//! The vectors of the root, which has three neighbours because the tree is unrooted.

use super::product::{Child, Product, product_of_children};
use super::{COUNT_BYTES_PER_GROUP, MATRIX_BYTES, VECTOR_BYTES_PER_GROUP, Version, naive, named};
use mmgp_base::units::Bytes;
use mmgp_spu::LocalAddress;
use mmgp_spu::layout::Block;

/// `out_j = (sum_k Pa_jk a_k) (sum_k Pb_jk b_k) (sum_k Pc_jk c_k)` for each pattern, scaled; layout
/// and scaling are described in the [module](super).
///
/// Order of the operations: each sum as in [`NodeUpdate`](super::NodeUpdate), then (a b) c.
///
/// 112 double-precision instructions a group, which take at least 784 cycles on the Cell BE (7
/// each). A group takes 906 cycles with list scheduling, 227 a pattern, and 1,027 in program order.
///
/// The naive version takes 752 cycles a pattern, every third pattern scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootProduct {
    /// How it is written; what stands above is the tuned version.
    pub version: Version,
    /// Groups of four patterns.
    pub groups: u32,
    /// Transition matrices towards the three neighbours.
    pub matrices: [LocalAddress; 3],
    /// Vectors of the three neighbours a, b, c.
    pub vectors: [LocalAddress; 3],
    /// Vectors of the root, written.
    pub out: LocalAddress,
    /// Scaling counts of the three neighbours.
    pub counts: [LocalAddress; 3],
    /// Scaling counts of the root, written: those of the neighbours and 1 where it was scaled.
    pub out_counts: LocalAddress,
}

kernel! {
    RootProduct -> (), |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "root product"), kernel.groups);
    blocks: {
        each = kernel.matrices.map(|at| Block::input("matrices", at, 1, MATRIX_BYTES));
        each = kernel.of_groups("vectors", kernel.vectors, VECTOR_BYTES_PER_GROUP);
        output out[VECTOR_BYTES_PER_GROUP; kernel.groups];
        each = kernel.of_groups("counts", kernel.counts, COUNT_BYTES_PER_GROUP);
        output out_counts[COUNT_BYTES_PER_GROUP; kernel.groups];
    }
    versions: naive::product_of_children, product_of_children, of kernel.product();
}

impl RootProduct {
    /// Blocks of the neighbours, of so many bytes a group.
    fn of_groups(&self, name: &'static str, at: [LocalAddress; 3], each: Bytes) -> [Block; 3] {
        at.map(|at| Block::input(name, at, self.groups, each))
    }

    fn product(&self) -> Product<3> {
        let children = [0, 1, 2].map(|child| Child {
            matrix: self.matrices[child],
            vectors: self.vectors[child],
            counts: self.counts[child],
        });
        Product { groups: self.groups, children, out: self.out, out_counts: self.out_counts }
    }
}
