//! The derivatives of the log-likelihood by u = ln z of one branch.

use super::{
    End, Ends, FACTOR_BYTES, MODEL_BYTES, Rates, TABLES_BYTES, Version, WEIGHT_BYTES_PER_GROUP,
    blocks_of_ends, naive, named, tuned,
};
use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{Branches, Compiled, Kernel, LocalAddress, Shape, Spu, Unfused};

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

impl Kernel for SumTable {
    type Output = ();

    fn shape(&self) -> Shape {
        use Ends::{InnerInner, TipInner, TipTip};
        use Rates::{Cat, Gamma};
        let name = match (self.rates, Ends::of(self.ends)) {
            (Gamma, TipTip) => named!(self.version, "sum table, GAMMA, tip/tip"),
            (Gamma, TipInner) => named!(self.version, "sum table, GAMMA, tip/inner"),
            (Gamma, InnerInner) => named!(self.version, "sum table, GAMMA, inner/inner"),
            (Cat, TipTip) => named!(self.version, "sum table, CAT, tip/tip"),
            (Cat, TipInner) => named!(self.version, "sum table, CAT, tip/inner"),
            (Cat, InnerInner) => named!(self.version, "sum table, CAT, inner/inner"),
        };
        Shape { branches: Branches::OnShape, ..self.version.shape(name, self.groups) }
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = blocks_of_ends(self.ends, self.rates, self.groups);
        blocks.push(Block::input("model", self.model, 1, MODEL_BYTES));
        blocks.push(Block::output(
            "out",
            self.out,
            self.groups,
            self.rates.vector_bytes_per_group(),
        ));
        blocks
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::sum_table(spu, self),
            Version::Unfused | Version::Tuned => tuned::sum_table(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
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

impl Kernel for NewtonFactors {
    type Output = ();

    fn shape(&self) -> Shape {
        let name = named!(self.version, "Newton factors");
        self.version.shape(name, self.category_count)
    }

    fn blocks(&self) -> Vec<Block> {
        vec![
            Block::input("model", self.model, 1, MODEL_BYTES),
            Block::input("branch", self.branch, 1, Bytes(16)),
            Block::input("tables", self.tables, 1, TABLES_BYTES),
            Block::output("out", self.out, self.category_count, FACTOR_BYTES),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        match self.version {
            Version::Naive => naive::newton_factors(spu, self),
            Version::Unfused | Version::Tuned => tuned::newton_factors(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
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

impl Kernel for Derivatives {
    /// g and h, as they stand in `result`.
    type Output = [f64; 2];

    fn shape(&self) -> Shape {
        let name = match self.rates {
            Rates::Gamma => named!(self.version, "derivatives, GAMMA"),
            Rates::Cat => named!(self.version, "derivatives, CAT"),
        };
        self.version.shape(name, self.groups)
    }

    fn blocks(&self) -> Vec<Block> {
        let (groups, vector_bytes) = (self.groups, self.rates.vector_bytes_per_group());
        let mut blocks = vec![
            Block::input("sums", self.sums, groups, vector_bytes),
            Block::input("factors", self.factors, self.category_count, FACTOR_BYTES),
            Block::input("weights", self.weights, groups, WEIGHT_BYTES_PER_GROUP),
            Block::output("result", self.result, 1, Bytes(16)),
        ];
        blocks.extend(self.rates.categories(self.categories, groups));
        blocks
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> [f64; 2] {
        match self.version {
            Version::Naive => naive::derivatives(spu, self),
            Version::Unfused => tuned::derivatives(&mut Unfused::new(spu), self),
            Version::Tuned => tuned::derivatives(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = [f64; 2]> {
        self
    }
}
