//! The kernels of PBPI (parallel Bayesian phylogenetic inference): the three likelihood functions,
//! and what makes vectors of the tips for them.
//!
//! A *pattern* is a distinct column of an alignment, and its conditional likelihoods at a node are
//! four doubles, for the states A, C, G, T. Four patterns form a *group*, the unit in which the
//! kernels work, because four counts fill a quadword. Data of n groups in local store:
//!
//! | data | of a pattern | of a group, in bytes |
//! |---|---|---|
//! | conditional likelihood vector | 4 doubles, A C G T | 128 |
//! | scaling counts | 1 signed word | 16 |
//! | codes of a tip | 1 byte, 0 to 15: bits 0 to 3 for A C G T | 4 |
//! | weights | 1 double | 32 |
//!
//! At a tip the entry of a state is 1 where the code allows it, else 0, and the counts are zero:
//! [`TipVectors`] makes the vectors, so that the other kernels find tips and inner nodes alike.
//!
//! A transition matrix is 16 doubles, column by column (P_0k .. P_3k for k = 0..3), 128 bytes, so
//! that a product with a vector is four multiply-and-adds of whole columns.
//!
//! *Scaling*: where all four entries of a pattern fall below 2^-256, they are multiplied by 2^256
//! and the pattern's count goes up by one; a likelihood is then its entries times 2^(-256 count).
//! The entries must be non-negative and normal (or zero); the multiplication adds to the exponent.
//!
//! *Padding*: a number of patterns that is no multiple of 4 is filled up with patterns of weight
//! 0. Their vectors and counts may hold any bits, as [`LikelihoodSum`] adds exactly 0 for them;
//! ones and zeros are best, because denormal numbers slow the host down.
//!
//! *Order*: every entry and every sum is computed in one fixed order, which each kernel's
//! documentation states. A result depends on the data of its block alone.
//!
//! *Time*: no tuned kernel branches on data, and its buffers do not overlap (`validate` says so), so
//! its time depends on the kernel, the number of groups, the machine's timing and the compiler
//! model alone, neither on the data nor on the addresses. A caller may keep it under that key.
//!
//! Of the [naive](Version::Naive) versions of the likelihood functions this does not hold: they
//! branch on data.
//!
//! | kernel, tuned | double-precision instructions | of a pattern |
//! |---|---|---|
//! | [`NodeUpdate`] | 72 a group | 18 |
//! | [`RootProduct`] | 112 a group | 28 |
//! | [`LikelihoodSum`] | 32 a group | 8 |
//! | [`TipVectors`] | none | 0 |

mod likelihood_sum;
mod naive;
mod product;
mod tip_vectors;

pub use likelihood_sum::LikelihoodSum;
pub use tip_vectors::{TipVectors, tip_table};

use crate::version::{Version, named};
use mmgp_base::units::Bytes;
use mmgp_spu::LocalAddress;
use mmgp_spu::local_store::Block;
use product::{Neighbour, Product, product_of_children};

/// Patterns in a group.
pub const PATTERNS_PER_GROUP: u32 = 4;

/// Conditional likelihood vectors of a group.
pub const VECTOR_BYTES_PER_GROUP: Bytes = Bytes(128);

/// Scaling counts of a group.
pub const COUNT_BYTES_PER_GROUP: Bytes = Bytes(16);

/// Codes of a tip for a group.
pub const CODE_BYTES_PER_GROUP: Bytes = Bytes(4);

/// The vectors of all 16 codes, from [`tip_table`].
pub const TIP_TABLE_BYTES: Bytes = Bytes(16 * 32);

/// Weights of a group.
pub const WEIGHT_BYTES_PER_GROUP: Bytes = Bytes(32);

/// A transition matrix.
pub const MATRIX_BYTES: Bytes = Bytes(128);

/// Frequencies of the four states.
pub const FREQUENCY_BYTES: Bytes = Bytes(32);

/// Binary exponent of the scaling: below 2^-256 a pattern is multiplied by 2^256.
pub const SCALING_EXPONENT: i32 = 256;

// The vectors of inner nodes: those below the root have two children, and the root has three
// neighbours because the tree is unrooted.

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
        let left = Neighbour { matrix, vectors, counts };
        let (matrix, vectors, counts) = (self.right_matrix, self.right, self.right_counts);
        let children = [left, Neighbour { matrix, vectors, counts }];
        Product { groups: self.groups, children, out: self.out, out_counts: self.out_counts }
    }
}

/// `out_j = (sum_k Pa_jk a_k) (sum_k Pb_jk b_k) (sum_k Pc_jk c_k)` for each pattern, scaled; layout
/// and scaling are described in the [module](super).
///
/// Order of the operations: each sum as in [`NodeUpdate`], then (a b) c.
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
        let children = [0, 1, 2].map(|child| Neighbour {
            matrix: self.matrices[child],
            vectors: self.vectors[child],
            counts: self.counts[child],
        });
        Product { groups: self.groups, children, out: self.out, out_counts: self.out_counts }
    }
}
