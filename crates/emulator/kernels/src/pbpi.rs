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

mod naive;
mod product;
mod tip_vectors;

pub use tip_vectors::{TipVectors, tip_table};

use crate::Version;
use crate::logarithm::{FIRST_DOUBLES, Logarithm, SECOND_DOUBLES, TABLE_BYTES};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::Block;
use mmgp_spu::{LocalAddress, Quadword, Spu};
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

/// `sum_i w_i (ln(sum_j f_j root_ij) - 256 count_i ln 2)`; the layout is described in the
/// [module](super), the logarithm in [`logarithm`](crate::logarithm).
///
/// Order of the operations: of a pattern `(f_0 root_0 + f_2 root_2) + (f_1 root_1 + f_3 root_3)`,
/// the products with root_2 and root_3 fused; the patterns 0, 2, 4, ... are summed in lane 0 and
/// 1, 3, 5, ... in lane 1, each from the first pattern on, and at the end lane 0 + lane 1. The
/// weight is multiplied and added in one rounding.
///
/// A pattern of weight 0 contributes exactly 0, whatever bits its vector and count hold. Those of
/// other patterns must be positive and normal.
///
/// 32 double-precision instructions a group, which take at least 224 cycles on the Cell BE (7
/// each). A group takes 273 cycles with list scheduling, 68 a pattern, and 488 in program order,
/// where the chain of each logarithm waits for itself.
///
/// The naive version takes 540 cycles a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LikelihoodSum {
    /// How it is written; what stands above is the tuned version.
    pub version: Version,
    /// Groups of four patterns.
    pub groups: u32,
    /// Vectors of the root.
    pub root: LocalAddress,
    /// Scaling counts of the root.
    pub counts: LocalAddress,
    /// Weights of the patterns.
    pub weights: LocalAddress,
    /// Frequencies of the states A, C, G, T: 4 doubles.
    pub frequencies: LocalAddress,
    /// The table of logarithms, from [`write_table`](crate::logarithm::write_table); the
    /// naive version does not read it.
    pub table: LocalAddress,
    /// The sum, written: lane 0 of a quadword whose lane 1 becomes 0.
    pub result: LocalAddress,
}

/// The word of each pattern of a pair in the high word of its lane.
const COUNTS_OF_PAIR: [Quadword; 2] = [
    Quadword::from_words([0x0001_0203, 0x8080_8080, 0x0405_0607, 0x8080_8080]),
    Quadword::from_words([0x0809_0A0B, 0x8080_8080, 0x0C0D_0E0F, 0x8080_8080]),
];

/// The registers of the loop that do not change.
#[derive(Clone, Copy)]
struct SumConstants<R> {
    frequencies: [R; 2],
    logarithm: Logarithm<R>,
    first_doubles: R,
    second_doubles: R,
    counts_of_pair: [R; 2],
}

kernel! {
    LikelihoodSum -> f64, |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "likelihood sum"), kernel.groups);
    blocks: {
        input root[VECTOR_BYTES_PER_GROUP; kernel.groups];
        input counts[COUNT_BYTES_PER_GROUP; kernel.groups];
        input weights[WEIGHT_BYTES_PER_GROUP; kernel.groups];
        input frequencies[FREQUENCY_BYTES; 1];
        input table[TABLE_BYTES; 1];
        output result[Bytes(16); 1];
    }
    versions: naive::likelihood_sum, tuned;
}

/// The tuned version.
#[inline(always)]
fn tuned<S: Spu>(spu: &mut S, kernel: &LikelihoodSum) -> f64 {
    let mut left = spu.ila(kernel.groups);
    let mut sum = spu.il(0);
    if !spu.brz(left) {
        let constants = SumConstants {
            frequencies: [
                spu.lqa(kernel.frequencies),
                spu.lqa(kernel.frequencies.offset(Bytes(16))),
            ],
            logarithm: Logarithm::new(spu, kernel.table),
            first_doubles: spu.lqr(FIRST_DOUBLES),
            second_doubles: spu.lqr(SECOND_DOUBLES),
            counts_of_pair: [spu.lqr(COUNTS_OF_PAIR[0]), spu.lqr(COUNTS_OF_PAIR[1])],
        };
        let mut root = spu.ila(kernel.root.0);
        let mut counts = spu.ila(kernel.counts.0);
        let mut weights = spu.ila(kernel.weights.0);
        loop {
            spu.label();
            spu.hbrr();
            sum = add_group(spu, &constants, [root, counts, weights], sum);
            root = spu.ai(root, 128);
            counts = spu.ai(counts, 16);
            weights = spu.ai(weights, 32);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
    let odd_patterns = spu.shlqbyi(sum, 8);
    let total = spu.dfa(sum, odd_patterns);
    let lane_0 = spu.fsmbi(0xFF00);
    let total = spu.and_(total, lane_0);
    spu.stqa(total, kernel.result);
    spu.value(total).doubles()[0]
}

/// `sum` with the four patterns of a group added, which stand at `[root, counts, weights]`.
#[inline(always)]
fn add_group<S: Spu>(
    spu: &mut S,
    constants: &SumConstants<S::Register>,
    [root, counts, weights]: [S::Register; 3],
    sum: S::Register,
) -> S::Register {
    // ln(2^(-256 count) x) = ln x + n ln 2 with n = -256 count.
    let counts = spu.lqd(0, counts);
    let scalings = spu.shli(counts, SCALING_EXPONENT.trailing_zeros() as i16);
    let n = spu.sfi(scalings, 0);
    let sum = add_pair(spu, constants, [root, n, weights], 0, sum);
    add_pair(spu, constants, [root, n, weights], 1, sum)
}

/// `sum` with a pair of patterns of a group added; `n` holds those of the group in its words.
#[inline(always)]
fn add_pair<S: Spu>(
    spu: &mut S,
    constants: &SumConstants<S::Register>,
    [root, n, weights]: [S::Register; 3],
    pair: usize,
    sum: S::Register,
) -> S::Register {
    let first = dot_product(spu, constants, root, 64 * pair as i32);
    let second = dot_product(spu, constants, root, 64 * pair as i32 + 32);
    let even_states = spu.shufb(first, second, constants.first_doubles);
    let odd_states = spu.shufb(first, second, constants.second_doubles);
    let likelihoods = spu.dfa(even_states, odd_states);
    let n = spu.shufb(n, n, constants.counts_of_pair[pair]);
    let logarithms = constants.logarithm.of(spu, likelihoods, n);
    let weights = spu.lqd(16 * pair as i32, weights);
    spu.multiply_add(weights, logarithms, sum)
}

/// `f_0 root_0 + f_2 root_2` and `f_1 root_1 + f_3 root_3` of the pattern at `displacement`.
#[inline(always)]
fn dot_product<S: Spu>(
    spu: &mut S,
    constants: &SumConstants<S::Register>,
    root: S::Register,
    displacement: i32,
) -> S::Register {
    let lower = spu.lqd(displacement, root);
    let upper = spu.lqd(displacement + 16, root);
    let products = spu.dfm(constants.frequencies[0], lower);
    spu.multiply_add(constants.frequencies[1], upper, products)
}
