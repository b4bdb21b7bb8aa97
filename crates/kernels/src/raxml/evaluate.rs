//! The log-likelihood of a tree, seen from a branch.

use super::{
    CATEGORY_BYTES_PER_GROUP, DIAGONAL_BYTES, End, MODEL_BYTES, Rates, TABLES_BYTES,
    TERM_BYTES_PER_GROUP, Version, WEIGHT_BYTES_PER_GROUP, blocks_of_ends, input, naive, output,
    times, tuned,
};
use crate::layout;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_spu::{Branches, Compiler, Kernel, LocalAddress, Spu};

/// `d_cl = exp(rho_c lambda_l ln z)` for each category c of rate rho_c, as `[category][l]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagonal {
    /// How it is written.
    pub version: Version,
    /// Categories, 1 to 25.
    pub category_count: u32,
    /// The [model block](super::ModelBlock).
    pub model: LocalAddress,
    /// A quadword whose lane 0 is z.
    pub branch: LocalAddress,
    /// The diagonals, written: [`DIAGONAL_BYTES`] for each category.
    pub out: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

impl Diagonal {
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
                output("out", self.out, times(self.category_count, DIAGONAL_BYTES)),
            ],
        )
    }
}

impl Kernel for Diagonal {
    type Output = ();

    fn name(&self) -> &'static str {
        match self.version {
            Version::Naive => "diagonal, naive",
            Version::Tuned => "diagonal, tuned",
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
            Version::Naive => naive::diagonal(spu, self),
            Version::Tuned => tuned::diagonal(spu, self),
        }
    }
}

/// Adds `sum over i of w_i term_i` to lane 0 of `result`, with x^p and x^q the vectors of the ends
/// and e_i the sum of their scaling counts:
///
/// ```text
/// CAT:   term_i = ln |sum over l of x^p_il x^q_il d_c(i)l| + e_i ln 2^-256
/// GAMMA: term_i = ln(1/4 |sum over c, l of x^p_icl x^q_icl d_cl|) + e_i ln 2^-256
/// ```
///
/// A pattern of weight 0 contributes exactly 0, whatever its vectors hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluate {
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
    /// The ends of the branch; if one is a tip, the first.
    pub ends: [End; 2],
    /// The diagonals, from [`Diagonal`].
    pub diagonal: LocalAddress,
    /// Indices of the categories of the patterns; not read with GAMMA.
    pub categories: LocalAddress,
    /// Weights of the patterns.
    pub weights: LocalAddress,
    /// Where the term of each pattern goes, if anywhere.
    pub terms: Option<LocalAddress>,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
    /// The sum so far, to which the block is added: lane 0 of a quadword whose lane 1 becomes 0.
    pub result: LocalAddress,
}

impl Evaluate {
    /// Checks that the data lie in local store as the kernel needs them.
    ///
    /// # Errors
    /// [`Error::LocalStore`](crate::Error::LocalStore), see [`layout::check`].
    pub fn validate(&self) -> Result<()> {
        let groups = self.groups;
        let mut blocks = blocks_of_ends(self.ends, self.rates, groups);
        blocks.extend([
            input("model", self.model, MODEL_BYTES),
            input("diagonal", self.diagonal, times(self.category_count, DIAGONAL_BYTES)),
            input("weights", self.weights, times(groups, WEIGHT_BYTES_PER_GROUP)),
            input("tables", self.tables, TABLES_BYTES),
            output("result", self.result, Bytes(16)),
        ]);
        if self.rates == Rates::Cat {
            let size = times(groups, CATEGORY_BYTES_PER_GROUP);
            blocks.push(input("categories", self.categories, size));
        }
        if let Some(terms) = self.terms {
            blocks.push(output("terms", terms, times(groups, TERM_BYTES_PER_GROUP)));
        }
        layout::check(self.name(), &blocks)
    }
}

impl Kernel for Evaluate {
    /// The sum, as it stands in `result`.
    type Output = f64;

    fn name(&self) -> &'static str {
        use Rates::{Cat, Gamma};
        use Version::{Naive, Tuned};
        let tip = matches!(self.ends[0], End::Tip { .. });
        match (self.version, self.rates, tip, self.terms) {
            (Naive, Gamma, true, None) => "evaluate, GAMMA, tip/inner, naive",
            (Naive, Gamma, true, Some(_)) => "evaluate with terms, GAMMA, tip/inner, naive",
            (Naive, Gamma, false, None) => "evaluate, GAMMA, inner/inner, naive",
            (Naive, Gamma, false, Some(_)) => "evaluate with terms, GAMMA, inner/inner, naive",
            (Naive, Cat, true, None) => "evaluate, CAT, tip/inner, naive",
            (Naive, Cat, true, Some(_)) => "evaluate with terms, CAT, tip/inner, naive",
            (Naive, Cat, false, None) => "evaluate, CAT, inner/inner, naive",
            (Naive, Cat, false, Some(_)) => "evaluate with terms, CAT, inner/inner, naive",
            (Tuned, Gamma, true, None) => "evaluate, GAMMA, tip/inner, tuned",
            (Tuned, Gamma, true, Some(_)) => "evaluate with terms, GAMMA, tip/inner, tuned",
            (Tuned, Gamma, false, None) => "evaluate, GAMMA, inner/inner, tuned",
            (Tuned, Gamma, false, Some(_)) => "evaluate with terms, GAMMA, inner/inner, tuned",
            (Tuned, Cat, true, None) => "evaluate, CAT, tip/inner, tuned",
            (Tuned, Cat, true, Some(_)) => "evaluate with terms, CAT, tip/inner, tuned",
            (Tuned, Cat, false, None) => "evaluate, CAT, inner/inner, tuned",
            (Tuned, Cat, false, Some(_)) => "evaluate with terms, CAT, inner/inner, tuned",
        }
    }

    fn compiler(&self) -> Compiler {
        self.version.compiler()
    }

    fn branches(&self) -> Branches {
        self.version.branches()
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> f64 {
        match self.version {
            Version::Naive => naive::evaluate(spu, self),
            Version::Tuned => tuned::evaluate(spu, self),
        }
    }
}
