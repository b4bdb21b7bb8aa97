//! The vectors of an inner node from those of its two children.

use super::product::{Child, Product, product_of_children};
use super::{COUNT_BYTES_PER_GROUP, MATRIX_BYTES, VECTOR_BYTES_PER_GROUP, Version, naive, named};
use mmgp_spu::LocalAddress;

/// `out_j = (sum_k Pl_jk l_k) (sum_k Pr_jk r_k)` for each pattern, scaled; layout and scaling are
/// described in the [module](super).
///
/// Order of the operations, with fused multiply-and-adds:
/// `((Pl_j0 l_0 + Pl_j1 l_1) + Pl_j2 l_2) + Pl_j3 l_3`, the same for the right child, and then the
/// product left times right.
///
/// 72 double-precision instructions a group, which take at least 504 cycles on the Cell BE (7
/// each). A group takes 603 cycles with list scheduling, 151 a pattern, and 698 in program order.
/// What list scheduling leaves over the bound are 116 other instructions, which go in pairs where
/// they can, and the latencies of the scaling, which waits for all four patterns.
///
/// The naive version takes 567 cycles a pattern, every third pattern scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeUpdate {
    /// How it is written; what stands above is the tuned version.
    pub version: Version,
    /// Groups of four patterns.
    pub groups: u32,
    /// Transition matrix towards the left child.
    pub left_matrix: LocalAddress,
    /// Transition matrix towards the right child.
    pub right_matrix: LocalAddress,
    /// Vectors of the left child.
    pub left: LocalAddress,
    /// Vectors of the right child.
    pub right: LocalAddress,
    /// Vectors of the node, written.
    pub out: LocalAddress,
    /// Scaling counts of the left child.
    pub left_counts: LocalAddress,
    /// Scaling counts of the right child.
    pub right_counts: LocalAddress,
    /// Scaling counts of the node, written: those of both children and 1 where it was scaled.
    pub out_counts: LocalAddress,
}

kernel! {
    NodeUpdate -> (), |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "node update"), kernel.groups);
    blocks: {
        input left_matrix[MATRIX_BYTES; 1];
        input right_matrix[MATRIX_BYTES; 1];
        input left[VECTOR_BYTES_PER_GROUP; kernel.groups];
        input right[VECTOR_BYTES_PER_GROUP; kernel.groups];
        output out[VECTOR_BYTES_PER_GROUP; kernel.groups];
        input left_counts[COUNT_BYTES_PER_GROUP; kernel.groups];
        input right_counts[COUNT_BYTES_PER_GROUP; kernel.groups];
        output out_counts[COUNT_BYTES_PER_GROUP; kernel.groups];
    }
    versions: naive::product_of_children, product_of_children, of kernel.product();
}

impl NodeUpdate {
    fn product(&self) -> Product<2> {
        let (matrix, vectors, counts) = (self.left_matrix, self.left, self.left_counts);
        let left = Child { matrix, vectors, counts };
        let (matrix, vectors, counts) = (self.right_matrix, self.right, self.right_counts);
        let children = [left, Child { matrix, vectors, counts }];
        Product { groups: self.groups, children, out: self.out, out_counts: self.out_counts }
    }
}
