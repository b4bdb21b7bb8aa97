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
mod nodes;
mod product;
mod tip_vectors;

pub use likelihood_sum::LikelihoodSum;
pub use nodes::{NodeUpdate, RootProduct};
pub use tip_vectors::{TipVectors, tip_table};

use crate::version::{Version, named};
use mmgp_base::units::Bytes;

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
