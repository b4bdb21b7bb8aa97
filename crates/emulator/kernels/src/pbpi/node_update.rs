//! The vectors of an inner node from those of its two children.

use super::product::{Child, product_of_children};
use super::{COUNT_BYTES_PER_GROUP, MATRIX_BYTES, VECTOR_BYTES_PER_GROUP, Version, naive};
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu, Unfused};

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

impl Kernel for NodeUpdate {
    type Output = ();

    fn shape(&self) -> Shape {
        let name = match self.version {
            Version::Naive => "node update, naive",
            Version::Unfused => "node update, 2006",
            Version::Tuned => "node update",
        };
        self.version.shape(name, self.groups)
    }

    fn blocks(&self) -> Vec<Block> {
        let groups = self.groups;
        let vectors = |name, at| Block::input(name, at, groups, VECTOR_BYTES_PER_GROUP);
        let counts = |name, at| Block::input(name, at, groups, COUNT_BYTES_PER_GROUP);
        vec![
            Block::input("left_matrix", self.left_matrix, 1, MATRIX_BYTES),
            Block::input("right_matrix", self.right_matrix, 1, MATRIX_BYTES),
            vectors("left", self.left),
            vectors("right", self.right),
            Block::output("out", self.out, groups, VECTOR_BYTES_PER_GROUP),
            counts("left_counts", self.left_counts),
            counts("right_counts", self.right_counts),
            Block::output("out_counts", self.out_counts, groups, COUNT_BYTES_PER_GROUP),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let left = Child { matrix: self.left_matrix, vectors: self.left, counts: self.left_counts };
        let right =
            Child { matrix: self.right_matrix, vectors: self.right, counts: self.right_counts };
        let children = [left, right];
        match self.version {
            Version::Naive => {
                naive::product_of_children(spu, self.groups, children, self.out, self.out_counts)
            }
            Version::Unfused => {
                let spu = &mut Unfused::new(spu);
                product_of_children(spu, self.groups, children, self.out, self.out_counts);
            }
            Version::Tuned => {
                product_of_children(spu, self.groups, children, self.out, self.out_counts);
            }
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}
