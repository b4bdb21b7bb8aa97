//! The likelihood kernels of RAxML: the three functions newview, evaluate and makenewz, each in
//! every [`Version`].
//!
//! A *pattern* is a distinct column of an alignment; four form a *group*, the unit of all data. A
//! likelihood vector is held in the coordinates of the eigenvectors, l = 0..3, once for each of the
//! four rates of [GAMMA](Rates::Gamma), or once for the pattern's own rate ([CAT](Rates::Cat)). Data
//! of n groups in local store:
//!
//! | data | of a pattern | of a group, in bytes |
//! |---|---|---|
//! | vectors, GAMMA | 16 doubles, `[category][l]` | 512 |
//! | vectors, CAT | 4 doubles, `[l]` | 128 |
//! | scaling counts | 1 signed word | 16 |
//! | codes of a tip | 1 word, 1 to 15: A 1, C 2, G 4, T 8 | 16 |
//! | weights | 1 double | 32 |
//! | categories, CAT | 1 word, 0 to 24 | 16 |
//! | terms | 1 double | 32 |
//!
//! What all patterns share is in the [model block](ModelBlock), which a host writes, and in tables
//! by category: two [transition matrices](Transition) for newview, a [diagonal](Diagonal) for
//! evaluate, [factors](NewtonFactors) for makenewz.
//!
//! | function | kernels |
//! |---|---|
//! | newview | [`Transition`], with GAMMA a [`TipProducts`] for each child that is a tip, [`NewView`] |
//! | evaluate | [`Diagonal`], [`Evaluate`] |
//! | makenewz | [`SumTable`], and for each step [`NewtonFactors`], [`Derivatives`], [`NewtonStep`] |
//!
//! *Scaling*: where all entries of a pattern fall below 2^-256 in magnitude (they may be negative),
//! newview multiplies them by 2^256 and the pattern's count goes up by one, so that a likelihood is
//! what the entries say times 2^(-256 count). Between two tips nothing is scaled. Entries below
//! 2^-1022, which are zero or denormal, stay what they are.
//!
//! *Padding*: a number of patterns that is no multiple of 4 is filled up with patterns of weight 0,
//! code 15 and category 0. [`Evaluate`] and [`Derivatives`] add exactly 0 for them.
//!
//! *Accumulation*: [`Evaluate`] and [`Derivatives`] add their block to what stands at `result`, so
//! that a caller whose patterns do not fit the local store goes on block by block. It stores zeros
//! there before the first.
//!
//! *Time*: the tuned kernels branch on their loop counters alone, and their buffers do not overlap
//! (`validate` says so), so that their time depends on version, rates, kind, numbers of groups and
//! categories, the machine's timing and the compiler model alone. The naive ones branch on data, too
//! ([`Branches::OnData`](mmgp_spu::Branches::OnData)), all but [`TipProducts`], [`SumTable`] and
//! [`NewView`] between two tips.
//!
//! Cycles of the tuned kernels on the Cell BE, for a pattern or a category. A double-precision
//! instruction takes at least 7:
//!
//! | kernel | instructions | bound | list scheduling | program order |
//! |---|---|---|---|---|
//! | [`NewView`], GAMMA, inner/inner | 104 | 728 | 827 | 917 |
//! | [`NewView`], GAMMA, tip/inner | 72 | 504 | 567 | 677 |
//! | [`NewView`], GAMMA, tip/tip | 40 | 280 | 318.5 | 386.5 |
//! | [`NewView`], CAT, inner/inner | 26 | 182 | 225 | 308 |
//! | [`NewView`], CAT, tip/inner | 26 | 182 | 227 | 318 |
//! | [`NewView`], CAT, tip/tip | 26 | 182 | 225 | 304.5 |
//! | [`Evaluate`], GAMMA, inner/inner | 22 | 154 | 181 | 303 |
//! | [`Evaluate`], GAMMA, tip/inner | 16 | 112 | 134 | 222 |
//! | [`Evaluate`], CAT, inner/inner | 10 | 70 | 88.5 | 156 |
//! | [`Evaluate`], CAT, tip/inner | 10 | 70 | 90 | 159 |
//! | [`SumTable`], GAMMA, inner/inner | 8 | 56 | 83.5 | 170 |
//! | [`SumTable`], GAMMA, tip/inner | 8 | 56 | 84.5 | 174 |
//! | [`SumTable`], CAT, inner/inner | 2 | 14 | 20.5 | 44 |
//! | [`SumTable`], CAT, tip/inner | 2 | 14 | 22 | 48 |
//! | [`Derivatives`], GAMMA | 29.5 | 206.5 | 227 | 308 |
//! | [`Derivatives`], CAT | 11.5 | 80.5 | 102 | 165 |
//! | [`Transition`], a category | 45 | 315 | 384 | 676 |
//! | [`Diagonal`], a category | 22 | 154 | 205 | 364 |
//! | [`NewtonFactors`], a category | 26 | 182 | 237 | 424 |
//! | [`TipProducts`], once | 216 | 1512 | 1820 | 2112 |
//! | [`NewtonStep`], once | 23 | 161 | 373 | 503 |
//!
//! The same [multiplying and adding apart](Version::Unfused); what is not named takes no other time:
//!
//! | kernel | instructions | bound | list scheduling | program order |
//! |---|---|---|---|---|
//! | [`NewView`], GAMMA, inner/inner | 176 | 1232 | 1348 | 1869 |
//! | [`NewView`], GAMMA, tip/inner | 120 | 840 | 905 | 1301 |
//! | [`NewView`], GAMMA, tip/tip | 64 | 448 | 486.5 | 698.5 |
//! | [`NewView`], CAT, inner/inner | 44 | 308 | 352 | 542 |
//! | [`NewView`], CAT, tip/inner | 44 | 308 | 353.5 | 552 |
//! | [`NewView`], CAT, tip/tip | 44 | 308 | 350 | 538.5 |
//! | [`Evaluate`], GAMMA, inner/inner | 29.5 | 206.5 | 234 | 401 |
//! | [`Evaluate`], GAMMA, tip/inner | 23.5 | 164.5 | 187.5 | 313.5 |
//! | [`Evaluate`], CAT, inner/inner | 11.5 | 80.5 | 99 | 176 |
//! | [`Evaluate`], CAT, tip/inner | 11.5 | 80.5 | 100.5 | 178.5 |
//! | [`Derivatives`], GAMMA | 52 | 364 | 386 | 597.5 |
//! | [`Derivatives`], CAT | 16 | 112 | 133 | 220 |
//! | [`TipProducts`], once | 312 | 2184 | 2492 | |
//! | [`NewtonStep`], once | 26 | 182 | 380 | |
//!
//! The formulas are those of the likelihood of a tree by Felsenstein (1981), with the transition
//! probabilities P_jk(t) = sum over l of EI_jl exp(-lambda_l t) V_kl of a time-reversible model. A
//! branch of length t is given as z = exp(-t).

mod branch;
mod naive;
mod new_view;
mod tuned;

pub use crate::Version;
pub use branch::{
    Derivatives, Diagonal, Evaluate, NewtonFactors, NewtonStep, Progress, SumTable, TipProducts,
    Transition,
};
pub use new_view::{Child, NewView};

use crate::{exponential, logarithm};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::Block;
use mmgp_spu::{LocalAddress, LocalStore, Quadword};

/// How rates vary over patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rates {
    /// Every pattern is a mixture of four categories, equally likely.
    Gamma,
    /// Every pattern is of one of up to [`MAX_CATEGORIES`] categories.
    Cat,
}

impl Rates {
    /// Doubles in the vector of a pattern.
    pub const fn entries(self) -> u32 {
        match self {
            Self::Gamma => 16,
            Self::Cat => 4,
        }
    }

    /// Vectors of a group, or its part of a sum table.
    pub const fn vector_bytes_per_group(self) -> Bytes {
        Bytes((8 * PATTERNS_PER_GROUP * self.entries()) as u64)
    }

    /// The indices of the categories of the patterns, where they are read.
    fn categories(self, at: LocalAddress, groups: u32) -> Option<Block> {
        let block = || Block::input("categories", at, groups, CATEGORY_BYTES_PER_GROUP);
        (self == Self::Cat).then(block)
    }
}

/// One end of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A tip.
    Tip {
        /// The codes of the tip.
        codes: LocalAddress,
    },
    /// An inner node.
    Inner {
        /// The vectors of the node.
        vectors: LocalAddress,
        /// The scaling counts of the node.
        counts: LocalAddress,
    },
}

/// Which ends of a branch are tips; one alone is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    TipTip,
    TipInner,
    InnerInner,
}

impl Ends {
    const fn of(ends: [End; 2]) -> Self {
        match ends {
            [End::Tip { .. }, End::Tip { .. }] => Self::TipTip,
            [End::Tip { .. }, _] => Self::TipInner,
            [End::Inner { .. }, _] => Self::InnerInner,
        }
    }
}

/// The name of a kernel by version, rates and ends.
macro_rules! named_by_ends {
    ($kernel:expr, $ends:expr, $function:literal) => {
        match ($kernel.rates, $ends) {
            (Rates::Gamma, Ends::TipTip) => {
                named!($kernel, $function ", GAMMA, tip/tip", ", tuned")
            }
            (Rates::Gamma, Ends::TipInner) => {
                named!($kernel, $function ", GAMMA, tip/inner", ", tuned")
            }
            (Rates::Gamma, Ends::InnerInner) => {
                named!($kernel, $function ", GAMMA, inner/inner", ", tuned")
            }
            (Rates::Cat, Ends::TipTip) => {
                named!($kernel, $function ", CAT, tip/tip", ", tuned")
            }
            (Rates::Cat, Ends::TipInner) => {
                named!($kernel, $function ", CAT, tip/inner", ", tuned")
            }
            (Rates::Cat, Ends::InnerInner) => {
                named!($kernel, $function ", CAT, inner/inner", ", tuned")
            }
        }
    };
}

use named_by_ends;

/// Patterns in a group.
pub const PATTERNS_PER_GROUP: u32 = 4;

/// Categories of GAMMA.
pub const GAMMA_CATEGORIES: u32 = 4;

/// The most categories of CAT.
pub const MAX_CATEGORIES: u32 = 25;

/// Scaling counts of a group.
pub const COUNT_BYTES_PER_GROUP: Bytes = Bytes(16);

/// Codes of a tip of a group.
pub const CODE_BYTES_PER_GROUP: Bytes = Bytes(16);

/// Indices of the categories of a group (CAT).
pub const CATEGORY_BYTES_PER_GROUP: Bytes = Bytes(16);

/// Weights of a group.
pub const WEIGHT_BYTES_PER_GROUP: Bytes = Bytes(32);

/// Terms of the log-likelihood of a group.
pub const TERM_BYTES_PER_GROUP: Bytes = Bytes(32);

/// A transition matrix, for each category one.
pub const MATRIX_BYTES: Bytes = Bytes(128);

/// The products of a tip with GAMMA: 16 codes x 4 categories x 4 doubles.
pub const TIP_PRODUCT_BYTES: Bytes = Bytes(2048);

/// A diagonal, for each category one: 4 doubles.
pub const DIAGONAL_BYTES: Bytes = Bytes(32);

/// The factors of a Newton step, for each category: 3 x 4 doubles.
pub const FACTOR_BYTES: Bytes = Bytes(96);

/// Binary exponent of the scaling: below 2^-256 a pattern is multiplied by 2^256.
pub const SCALING_EXPONENT: i32 = 256;

/// The least z = exp(-t) of a branch.
pub const Z_MIN: f64 = 1e-15;

/// The greatest z of a branch.
pub const Z_MAX: f64 = 1.0 - 1e-6;

/// The tables of logarithm and exponential, in this order, which several kernels read.
pub const TABLES_BYTES: Bytes = Bytes(logarithm::TABLE_BYTES.0 + exponential::TABLE_BYTES.0);

/// Puts the tables at `address`, a multiple of 16 with [`TABLES_BYTES`] behind it.
pub fn write_tables(store: &mut LocalStore, address: LocalAddress) {
    logarithm::write_table(store, address);
    exponential::write_table(store, address.offset(logarithm::TABLE_BYTES));
}

/// What is read of the ends of a branch.
fn blocks_of_ends(ends: [End; 2], rates: Rates, groups: u32) -> Vec<Block> {
    ends.into_iter()
        .flat_map(|end| match end {
            End::Tip { codes } => {
                vec![Block::input("codes", codes, groups, CODE_BYTES_PER_GROUP)]
            }
            End::Inner { vectors, counts } => vec![
                Block::input("vectors", vectors, groups, rates.vector_bytes_per_group()),
                Block::input("counts", counts, groups, COUNT_BYTES_PER_GROUP),
            ],
        })
        .collect()
}

/// The size of a model block.
pub const MODEL_BYTES: Bytes = Bytes(1152);

/// EI as `[l][j]`: 16 doubles.
const EI_OFFSET: Bytes = Bytes(0);
/// V as `[j][l]`: 16 doubles.
const V_OFFSET: Bytes = Bytes(128);
/// lambda_l: 4 doubles; zeros follow, 4 doubles.
const EIGENVALUES_OFFSET: Bytes = Bytes(256);
/// Rates of the categories: 26 doubles, the unused ones 0.
const RATES_OFFSET: Bytes = Bytes(320);
/// Tip vectors by code: 16 codes x 4 doubles, that of code 0 zero.
const TIP_VECTORS_OFFSET: Bytes = Bytes(640);

const DOUBLES: usize = MODEL_BYTES.0 as usize / 8;

/// A model of substitution, by its eigen system, and the rates of its categories: what a host knows
/// before it writes the block.
///
/// | offset in bytes | data |
/// |---|---|
/// | 0 | EI_jl as `[l][j]`, 16 doubles |
/// | 128 | V_jl as `[j][l]`, 16 doubles |
/// | 256 | lambda_l, 4 doubles |
/// | 288 | zeros, 4 doubles |
/// | 320 | rates of the categories, 26 doubles: 4 with GAMMA, up to 25 with CAT, then zeros |
/// | 528 | zeros |
/// | 640 | tip vectors: for each of 16 codes the sum of V_jl over its states j, 4 doubles |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelBlock<'m> {
    /// `ei[j][l]` = EI_jl = V_jl / V_j0.
    pub ei: [[f64; 4]; 4],
    /// `v[j][l]` = V_jl.
    pub v: [[f64; 4]; 4],
    /// lambda_l >= 0, the zero first.
    pub eigenvalues: [f64; 4],
    /// The rates of the categories, 1 to 25.
    pub rates: &'m [f64],
}

impl ModelBlock<'_> {
    /// The block, quadword by quadword.
    ///
    /// # Panics
    /// Panics where there are more rates than [`MAX_CATEGORIES`], which is a bug of the caller.
    pub fn quadwords(&self) -> [Quadword; DOUBLES / 2] {
        assert!(self.rates.len() <= MAX_CATEGORIES as usize, "invariant: at most 25 categories");
        let mut doubles = [0.0; DOUBLES];
        let mut put = |offset: Bytes, values: &[f64]| {
            let first = offset.0 as usize / 8;
            doubles[first..first + values.len()].copy_from_slice(values);
        };
        let transposed: [[f64; 4]; 4] =
            std::array::from_fn(|l| std::array::from_fn(|j| self.ei[j][l]));
        put(EI_OFFSET, transposed.as_flattened());
        put(V_OFFSET, self.v.as_flattened());
        put(EIGENVALUES_OFFSET, &self.eigenvalues);
        put(RATES_OFFSET, self.rates);
        let tips: [[f64; 4]; 16] = std::array::from_fn(|code| self.tip_vector(code));
        put(TIP_VECTORS_OFFSET, tips.as_flattened());
        std::array::from_fn(|i| Quadword::from_doubles([doubles[2 * i], doubles[2 * i + 1]]))
    }

    /// The sum of the rows of V of the states that `code` allows.
    fn tip_vector(&self, code: usize) -> [f64; 4] {
        let states = (0..4).filter(|state| code >> state & 1 == 1);
        states.fold([0.0; 4], |sum, j| std::array::from_fn(|l| sum[l] + self.v[j][l]))
    }
}
