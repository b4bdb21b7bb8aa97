//! The kernels for the SPU: two doubles in a register, no branch on data.
//!
//! A double-precision instruction keeps both pipes of the Cell BE for 7 cycles, so what counts is
//! how few of them there are, and after that how few other instructions stand between them.

// Blocks of registers are indexed as the formulas index them, several at once.
#![allow(clippy::needless_range_loop)]

mod derivatives;
mod evaluate;
mod new_view;
mod operand;
mod transition;

pub(super) use derivatives::{derivatives, newton_step, sum_table};
pub(super) use evaluate::evaluate;
pub(super) use new_view::new_view;
pub(super) use transition::{diagonal, newton_factors, tip_products, transition};

use super::{End, Rates, SCALING_EXPONENT, TIP_VECTORS_OFFSET};
use crate::logarithm::{FIRST_DOUBLES, SECOND_DOUBLES};
use mmgp_spu::{LocalAddress, Quadword, Spu};

/// Doubleword 0 of the first operand, then doubleword 1 of the second.
const FIRST_AND_SECOND: Quadword = Quadword([FIRST_DOUBLES.0[0], SECOND_DOUBLES.0[1]]);

/// Both doubles twice: the first of a register, the second of a register.
const SPLAT: [Quadword; 2] =
    [Quadword([FIRST_DOUBLES.0[0]; 2]), Quadword([SECOND_DOUBLES.0[0]; 2])];

/// The magnitudes of two doubles.
const MAGNITUDES: Quadword = Quadword([0x7FFF_FFFF_FFFF_FFFF; 2]);

/// The same double in both lanes.
const fn both(x: f64) -> Quadword {
    Quadword::from_doubles([x, x])
}

/// An end, at a group. Which kind it is is known before the loop begins.
#[derive(Debug, Clone, Copy)]
enum EndWalk<R> {
    Tip { codes: R, tip_vectors: R },
    Inner { vectors: R, counts: R, bytes_per_group: R },
}

/// An end's vector of one pattern: where it begins.
#[derive(Debug, Clone, Copy)]
struct Vector<R> {
    base: R,
    displacement: i32,
    /// Quadwords after which it begins again: a tip has the same in each category.
    period: usize,
}

impl<R: Copy> Vector<R> {
    /// Two entries of the vector.
    #[inline(always)]
    fn quadword<S: Spu<Register = R>>(&self, spu: &mut S, index: usize) -> R {
        spu.lqd(self.displacement + 16 * (index % self.period) as i32, self.base)
    }
}

impl<R: Copy> EndWalk<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(
        spu: &mut S,
        end: End,
        model: LocalAddress,
        rates: Rates,
    ) -> Self {
        match end {
            End::Tip { codes } => Self::Tip {
                codes: spu.ila(codes.0),
                tip_vectors: spu.ila(model.offset(TIP_VECTORS_OFFSET).0),
            },
            End::Inner { vectors, counts } => Self::Inner {
                vectors: spu.ila(vectors.0),
                counts: spu.ila(counts.0),
                bytes_per_group: spu.il(rates.vector_bytes_per_group().0 as i16),
            },
        }
    }

    /// The vectors of the four patterns of the group.
    #[inline(always)]
    fn vectors<S: Spu<Register = R>>(self, spu: &mut S, rates: Rates) -> [Vector<R>; 4] {
        match self {
            Self::Tip { codes, tip_vectors } => {
                let codes = spu.lqd(0, codes);
                let offsets = spu.shli(codes, 5);
                let addresses = spu.a(offsets, tip_vectors);
                let of = |base| Vector { base, displacement: 0, period: 2 };
                [
                    of(addresses),
                    of(spu.rotqbyi(addresses, 4)),
                    of(spu.rotqbyi(addresses, 8)),
                    of(spu.rotqbyi(addresses, 12)),
                ]
            }
            Self::Inner { vectors, .. } => {
                let size = 8 * rates.entries() as i32;
                let of = |pattern| Vector {
                    base: vectors,
                    displacement: size * pattern,
                    period: usize::MAX,
                };
                [of(0), of(1), of(2), of(3)]
            }
        }
    }

    /// The scaling counts of the group.
    #[inline(always)]
    fn counts<S: Spu<Register = R>>(self, spu: &mut S) -> Option<R> {
        match self {
            Self::Tip { .. } => None,
            Self::Inner { counts, .. } => Some(spu.lqd(0, counts)),
        }
    }

    /// The end at the next group.
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        match self {
            Self::Tip { codes, tip_vectors } => Self::Tip { codes: spu.ai(codes, 16), tip_vectors },
            Self::Inner { vectors, counts, bytes_per_group } => Self::Inner {
                vectors: spu.a(vectors, bytes_per_group),
                counts: spu.ai(counts, 16),
                bytes_per_group,
            },
        }
    }
}

/// A matrix in registers, by diagonals: with the vector's two registers {x_0, x_1} and {x_2, x_3},
/// and the same with their lanes exchanged, each register of the matrix has in lane 0 and 1 what
/// belongs to the rows of that lane. So two exchanges make a product, where columns would need four
/// copies of an entry into both lanes.
///
/// ```text
/// rows 0, 1:  {M00, M11} {M01, M10} {M02, M13} {M03, M12}
/// rows 2, 3:  {M20, M31} {M21, M30} {M22, M33} {M23, M32}
/// times       {x0, x1}   {x1, x0}   {x2, x3}   {x3, x2}
/// ```
#[derive(Debug, Clone, Copy)]
struct Matrix<R> {
    rows: [[R; 4]; 2],
}

impl<R: Copy> Matrix<R> {
    /// Loads the matrix whose columns stand at `address` one after the other.
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S, address: LocalAddress) -> Self {
        let select = spu.lqr(FIRST_AND_SECOND);
        let rows = [rows(spu, address, select), rows(spu, LocalAddress(address.0 + 16), select)];
        Self { rows }
    }

    /// The product with a vector, each sum in the order `((M_j0 x_0 + M_j1 x_1) + M_j2 x_2) +
    /// M_j3 x_3` for even j and `((M_j1 x_1 + M_j0 x_0) + M_j3 x_3) + M_j2 x_2` for odd j, each +
    /// with its product rounded once; 8 double-precision instructions.
    #[inline(always)]
    fn times<S: Spu<Register = R>>(&self, spu: &mut S, x: [R; 2]) -> [R; 2] {
        let exchanged = [spu.rotqbyi(x[0], 8), spu.rotqbyi(x[1], 8)];
        let [lower, upper] = self.rows;
        let sum = [spu.dfm(lower[0], x[0]), spu.dfm(upper[0], x[0])];
        let sum = [
            spu.multiply_add(lower[1], exchanged[0], sum[0]),
            spu.multiply_add(upper[1], exchanged[0], sum[1]),
        ];
        let sum =
            [spu.multiply_add(lower[2], x[1], sum[0]), spu.multiply_add(upper[2], x[1], sum[1])];
        [
            spu.multiply_add(lower[3], exchanged[1], sum[0]),
            spu.multiply_add(upper[3], exchanged[1], sum[1]),
        ]
    }
}

/// Two rows, by diagonals; `address` is that of their part of the first column.
#[inline(always)]
fn rows<S: Spu>(spu: &mut S, address: LocalAddress, select: S::Register) -> [S::Register; 4] {
    let column = [
        spu.lqa(address),
        spu.lqa(LocalAddress(address.0 + 32)),
        spu.lqa(LocalAddress(address.0 + 64)),
        spu.lqa(LocalAddress(address.0 + 96)),
    ];
    [
        spu.shufb(column[0], column[1], select),
        spu.shufb(column[1], column[0], select),
        spu.shufb(column[2], column[3], select),
        spu.shufb(column[3], column[2], select),
    ]
}

/// High word of 2^-256: a double is smaller in magnitude exactly where its high word is, without
/// the sign.
const THRESHOLD_HIGH_HALFWORD: u16 = 0x2FF0;

/// The greatest high word of a magnitude that is no normal number.
const GREATEST_DENORMAL: Quadword = Quadword::splat(0x000F_FFFF);

/// The magnitude of a high word.
const MAGNITUDE: Quadword = Quadword::splat(0x7FFF_FFFF);

/// 256 in the exponent field of both high words.
const FACTOR: Quadword = {
    let high = (SCALING_EXPONENT as u32) << 20;
    Quadword::from_words([high, 0, high, 0])
};

/// Words 1 to 3 of the first operand, then word 0 of the second.
const APPEND: Quadword = Quadword::from_words([0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F, 0x1011_1213]);

/// Constants in registers.
#[derive(Debug, Clone, Copy)]
struct Scaling<R> {
    magnitude: R,
    threshold: R,
    greatest_denormal: R,
    factor: R,
    append: R,
}

/// Entries of a pattern, in two registers, and what scaling must know of them.
#[derive(Debug, Clone, Copy)]
struct ExaminedEntries<R> {
    entries: [R; 2],
    /// All ones in the high words of normal numbers.
    normal: [R; 2],
    /// All ones in a high word where both entries of the lane are below the threshold.
    below: R,
}

impl<R: Copy> Scaling<R> {
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S) -> Self {
        Self {
            magnitude: spu.lqr(MAGNITUDE),
            threshold: spu.ilhu(THRESHOLD_HIGH_HALFWORD),
            greatest_denormal: spu.lqr(GREATEST_DENORMAL),
            factor: spu.lqr(FACTOR),
            append: spu.lqr(APPEND),
        }
    }

    #[inline(always)]
    fn examine<S: Spu<Register = R>>(&self, spu: &mut S, entries: [R; 2]) -> ExaminedEntries<R> {
        let lower = spu.and_(entries[0], self.magnitude);
        let upper = spu.and_(entries[1], self.magnitude);
        let normal =
            [spu.cgt(lower, self.greatest_denormal), spu.cgt(upper, self.greatest_denormal)];
        let lower = spu.cgt(self.threshold, lower);
        let upper = spu.cgt(self.threshold, upper);
        ExaminedEntries { entries, normal, below: spu.and_(lower, upper) }
    }

    /// Decides from `below` of all entries together: all ones in words 0 and 2 if the pattern is to be
    /// scaled, else zeros.
    #[inline(always)]
    fn decide<S: Spu<Register = R>>(&self, spu: &mut S, below: R) -> R {
        let exchanged = spu.rotqbyi(below, 8);
        spu.and_(below, exchanged)
    }

    /// The entries times 2^256 if the pattern is to be scaled. Adding to the exponents takes two
    /// instructions of 2 cycles where a `dfm` would keep both pipes for 7; zeros and denormals are
    /// spared, as they have no exponent to add to.
    #[inline(always)]
    fn apply<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        examined: ExaminedEntries<R>,
        decision: R,
    ) -> [R; 2] {
        let factor = spu.and_(decision, self.factor);
        let lower = spu.and_(factor, examined.normal[0]);
        let upper = spu.and_(factor, examined.normal[1]);
        [spu.a(examined.entries[0], lower), spu.a(examined.entries[1], upper)]
    }

    /// The decisions of the last four patterns, after that of one more.
    #[inline(always)]
    fn append<S: Spu<Register = R>>(&self, spu: &mut S, decisions: R, decision: R) -> R {
        spu.shufb(decisions, decision, self.append)
    }
}
