//! The log-likelihood of a tree, seen from a branch.

use super::{
    DIAGONAL_BYTES, End, Ends, MODEL_BYTES, Rates, TABLES_BYTES, TERM_BYTES_PER_GROUP, Version,
    WEIGHT_BYTES_PER_GROUP, blocks_of_ends, naive, named, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu, Unfused};

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

impl Kernel for Diagonal {
    type Output = ();

    fn shape(&self) -> Shape {
        let name = named!(self.version, "diagonal");
        self.version.shape(name, self.category_count)
    }

    fn blocks(&self) -> Vec<Block> {
        vec![
            Block::input("model", self.model, 1, MODEL_BYTES),
            Block::input("branch", self.branch, 1, Bytes(16)),
            Block::input("tables", self.tables, 1, TABLES_BYTES),
            Block::output("out", self.out, self.category_count, DIAGONAL_BYTES),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::diagonal(spu, self),
            Version::Unfused | Version::Tuned => tuned::diagonal(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
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

impl Kernel for Evaluate {
    /// The sum, as it stands in `result`.
    type Output = f64;

    fn shape(&self) -> Shape {
        use Ends::{InnerInner, TipInner, TipTip};
        use Rates::{Cat, Gamma};
        let name = match (self.rates, Ends::of(self.ends), self.terms) {
            (Gamma, TipTip, None) => named!(self.version, "evaluate, GAMMA, tip/tip"),
            (Gamma, TipTip, Some(_)) => named!(self.version, "evaluate with terms, GAMMA, tip/tip"),
            (Gamma, TipInner, None) => named!(self.version, "evaluate, GAMMA, tip/inner"),
            (Gamma, TipInner, Some(_)) => {
                named!(self.version, "evaluate with terms, GAMMA, tip/inner")
            }
            (Gamma, InnerInner, None) => named!(self.version, "evaluate, GAMMA, inner/inner"),
            (Gamma, InnerInner, Some(_)) => {
                named!(self.version, "evaluate with terms, GAMMA, inner/inner")
            }
            (Cat, TipTip, None) => named!(self.version, "evaluate, CAT, tip/tip"),
            (Cat, TipTip, Some(_)) => named!(self.version, "evaluate with terms, CAT, tip/tip"),
            (Cat, TipInner, None) => named!(self.version, "evaluate, CAT, tip/inner"),
            (Cat, TipInner, Some(_)) => named!(self.version, "evaluate with terms, CAT, tip/inner"),
            (Cat, InnerInner, None) => named!(self.version, "evaluate, CAT, inner/inner"),
            (Cat, InnerInner, Some(_)) => {
                named!(self.version, "evaluate with terms, CAT, inner/inner")
            }
        };
        self.version.shape(name, self.groups)
    }

    fn blocks(&self) -> Vec<Block> {
        let groups = self.groups;
        let mut blocks = blocks_of_ends(self.ends, self.rates, groups);
        blocks.extend([
            Block::input("model", self.model, 1, MODEL_BYTES),
            Block::input("diagonal", self.diagonal, self.category_count, DIAGONAL_BYTES),
            Block::input("weights", self.weights, groups, WEIGHT_BYTES_PER_GROUP),
            Block::input("tables", self.tables, 1, TABLES_BYTES),
            Block::output("result", self.result, 1, Bytes(16)),
        ]);
        blocks.extend(self.rates.categories(self.categories, groups));
        let terms = |terms| Block::output("terms", terms, groups, TERM_BYTES_PER_GROUP);
        blocks.extend(self.terms.map(terms));
        blocks
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> f64 {
        match self.version {
            Version::Naive => naive::evaluate(spu, self),
            Version::Unfused => tuned::evaluate(&mut Unfused::new(spu), self),
            Version::Tuned => tuned::evaluate(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = f64> {
        self
    }
}
