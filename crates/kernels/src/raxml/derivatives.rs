//! The derivatives of the log-likelihood by u = ln z of one branch.

use super::{
    CATEGORY_BYTES_PER_GROUP, End, FACTOR_BYTES, MODEL_BYTES, Rates, TABLES_BYTES, Version,
    WEIGHT_BYTES_PER_GROUP, blocks_of_ends, input, naive, output, times, tuned,
};
use crate::layout;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_spu::{Branches, Compiler, Kernel, LocalAddress, Spu};

/// `s = x^p x^q`, entry by entry, of the vectors of the ends of a branch (a tip has the same vector
/// in each category). Scaling counts do not matter, as they cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumTable {
    /// How it is written.
    pub version: Version,
    /// How rates vary.
    pub rates: Rates,
    /// Groups of four patterns.
    pub groups: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// The ends of the branch; if one is a tip, the first.
    pub ends: [End; 2],
    /// The products, written, with the layout of vectors.
    pub out: LocalAddress,
}

impl SumTable {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        let mut blocks = blocks_of_ends(self.ends, self.rates, self.groups);
        let vectors = times(self.groups, self.rates.vector_bytes_per_group());
        blocks.push(input("model", self.model, MODEL_BYTES));
        blocks.push(output("out", self.out, vectors));
        layout::check(self.name(), &blocks)
    }
}

impl Kernel for SumTable {
    type Output = ();

    fn name(&self) -> &'static str {
        use Rates::{Cat, Gamma};
        use Version::{Naive, Tuned};
        match (self.version, self.rates, matches!(self.ends[0], End::Tip { .. })) {
            (Naive, Gamma, true) => "sum table, GAMMA, tip/inner, naive",
            (Naive, Gamma, false) => "sum table, GAMMA, inner/inner, naive",
            (Naive, Cat, true) => "sum table, CAT, tip/inner, naive",
            (Naive, Cat, false) => "sum table, CAT, inner/inner, naive",
            (Tuned, Gamma, true) => "sum table, GAMMA, tip/inner, tuned",
            (Tuned, Gamma, false) => "sum table, GAMMA, inner/inner, tuned",
            (Tuned, Cat, true) => "sum table, CAT, tip/inner, tuned",
            (Tuned, Cat, false) => "sum table, CAT, inner/inner, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::sum_table(spu, self),
            Version::Tuned => tuned::sum_table(spu, self),
        }
    }
}

/// `e = exp(rho_c lambda_l u)`, `(rho_c lambda_l) e` and `(rho_c lambda_l)^2 e` with u = ln z, as
/// `[3][category][l]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewtonFactors {
    /// How it is written.
    pub version: Version,
    /// Categories, 1 to 25.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// A quadword whose lane 0 is z.
    pub branch: LocalAddress,
    /// The factors, written: [`FACTOR_BYTES`] for each category.
    pub out: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

impl NewtonFactors {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        layout::check(
            self.name(),
            &[
                input("model", self.model, MODEL_BYTES),
                input("branch", self.branch, Bytes(16)),
                input("tables", self.tables, TABLES_BYTES),
                output("out", self.out, times(self.category_count, FACTOR_BYTES)),
            ],
        )
    }
}

impl Kernel for NewtonFactors {
    type Output = ();

    fn name(&self) -> &'static str {
        match self.version {
            Version::Naive => "Newton factors, naive",
            Version::Tuned => "Newton factors, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    fn branches(&self) -> Branches {
        self.version.branches()
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::newton_factors(spu, self),
            Version::Tuned => tuned::newton_factors(spu, self),
        }
    }
}

/// Adds the derivatives of `sum over i of w_i ln S0_i` by u = ln z to `result`, where with the
/// factors f of [`NewtonFactors`] (CAT: of the pattern's category; GAMMA: summed over all four)
///
/// ```text
/// S0_i = sum over l of s_il f_0l, S1_i with f_1l, S2_i with f_2l
/// g = sum over i of w_i S1_i / S0_i
/// h = sum over i of w_i (S2_i / S0_i - (S1_i / S0_i)^2)
/// ```
///
/// A pattern of weight 0 contributes exactly 0, whatever its sums hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Derivatives {
    /// How it is written.
    pub version: Version,
    /// How rates vary.
    pub rates: Rates,
    /// Groups of four patterns.
    pub groups: u32,
    /// Categories: 4 with GAMMA, 1 to 25 with CAT.
    pub category_count: u32,
    /// The products, from [`SumTable`].
    pub sums: LocalAddress,
    /// The factors, from [`NewtonFactors`].
    pub factors: LocalAddress,
    /// Indices of the categories of the patterns; not read with GAMMA.
    pub categories: LocalAddress,
    /// Weights of the patterns.
    pub weights: LocalAddress,
    /// The sums so far, to which the block is added: a quadword {g, h}.
    pub result: LocalAddress,
}

impl Derivatives {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        let groups = self.groups;
        let mut blocks = vec![
            input("sums", self.sums, times(groups, self.rates.vector_bytes_per_group())),
            input("factors", self.factors, times(self.category_count, FACTOR_BYTES)),
            input("weights", self.weights, times(groups, WEIGHT_BYTES_PER_GROUP)),
            output("result", self.result, Bytes(16)),
        ];
        if self.rates == Rates::Cat {
            let size = times(groups, CATEGORY_BYTES_PER_GROUP);
            blocks.push(input("categories", self.categories, size));
        }
        layout::check(self.name(), &blocks)
    }
}

impl Kernel for Derivatives {
    /// g and h, as they stand in `result`.
    type Output = [f64; 2];

    fn name(&self) -> &'static str {
        match (self.version, self.rates) {
            (Version::Naive, Rates::Gamma) => "derivatives, GAMMA, naive",
            (Version::Naive, Rates::Cat) => "derivatives, CAT, naive",
            (Version::Tuned, Rates::Gamma) => "derivatives, GAMMA, tuned",
            (Version::Tuned, Rates::Cat) => "derivatives, CAT, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    fn branches(&self) -> Branches {
        self.version.branches()
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> [f64; 2] {
        match self.version {
            Version::Naive => naive::derivatives(spu, self),
            Version::Tuned => tuned::derivatives(spu, self),
        }
    }
}
