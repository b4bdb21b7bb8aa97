//! The kernels as first ported: scalar double precision, for which a compiler schedules each
//! basic block and no more ([`Compiler::NAIVE`](mmgp_spu::Compiler::NAIVE)).
//!
//! They are what a compiler of the time makes of loops over patterns, categories and states, for
//! which [`scalar`](crate::scalar) has the pieces. The loops over the four states are
//! unrolled, those over patterns, categories and the entries of a scaling test are not; data are
//! reached through pointers and loaded where a formula names them, so that a matrix is loaded again
//! for every pattern; logarithm, exponential and division are calls. A test that decides at the
//! first entry goes no further. Nothing is tabulated but what the formulas name: the exponentials of
//! a branch and, with GAMMA, the products of tips. That of lambda_0 = 0 is 1 without a call.
//!
//! On the Cell BE, in cycles a pattern, with random data of which in the two kinds with a test every
//! third pattern (inner/inner) or none (tip/inner) is scaled, beside the tuned kernels:
//!
//! | kernel | GAMMA | tuned | CAT | tuned |
//! |---|---|---|---|---|
//! | newview, inner/inner | 2739 | 827 | 719 | 225 |
//! | newview, tip/inner | 1608 | 567 | 604 | 227 |
//! | newview, tip/tip | 952 | 319 | 538 | 225 |
//! | evaluate with terms, inner/inner | 925 | 181 | 592 | 89 |
//! | sum table, inner/inner | 351 | 84 | 91 | 21 |
//! | derivatives | 1060 | 227 | 632 | 102 |
//!
//! *Deviations* from the tuned kernels, beside rounding: a denormal is scaled like any other number;
//! a pattern of weight 0 is left out by a branch, so that its term is 0.

mod evaluate;
mod exponentials;
mod new_view;
mod newton;

pub(super) use evaluate::evaluate;
pub(super) use exponentials::{diagonal, newton_factors, tip_products, transition};
pub(super) use new_view::new_view;
pub(super) use newton::{derivatives, newton_step, sum_table};

use super::model_block::TIP_VECTORS_OFFSET;
use super::{End, PATTERNS_PER_GROUP, Rates};
use crate::scalar::load_word;
use mmgp_spu::{LocalAddress, Spu};

/// A register with an address.
#[inline(always)]
fn pointer<S: Spu>(spu: &mut S, address: LocalAddress) -> S::Register {
    spu.ila(address.0)
}

/// The bytes of a pattern's vector.
const fn vector_bytes(rates: Rates) -> i16 {
    8 * rates.entries() as i16
}

/// The word at `index`, shifted left, added to a base: the address of an element of a table.
#[inline(always)]
fn element<S: Spu>(
    spu: &mut S,
    base: LocalAddress,
    index: S::Register,
    log_2_bytes: i16,
) -> S::Register {
    let base = pointer(spu, base);
    let offset = spu.shli(index, log_2_bytes);
    spu.a(base, offset)
}

/// Walks along the vectors or codes of an end of a branch.
#[derive(Clone, Copy)]
struct Walk<R> {
    data: R,
    counts: R,
}

impl<R: Copy> Walk<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(spu: &mut S, end: End) -> Self {
        match end {
            End::Tip { codes } => {
                let codes = pointer(spu, codes);
                Self { data: codes, counts: codes }
            }
            End::Inner { vectors, counts } => {
                Self { data: pointer(spu, vectors), counts: pointer(spu, counts) }
            }
        }
    }

    /// At the next pattern.
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S, end: End, rates: Rates) -> Self {
        match end {
            End::Tip { .. } => Self { data: spu.ai(self.data, 4), ..self },
            End::Inner { .. } => {
                let data = advance(spu, self.data, vector_bytes(rates));
                Self { data, counts: spu.ai(self.counts, 4) }
            }
        }
    }

    /// Where the vector of the pattern stands: a tip's is looked up in the model block.
    #[inline(always)]
    fn vector<S: Spu<Register = R>>(self, spu: &mut S, end: End, model: LocalAddress) -> R {
        match end {
            End::Tip { .. } => {
                let code = load_word(spu, self.data, 0);
                element(spu, model.offset(TIP_VECTORS_OFFSET), code, 5)
            }
            End::Inner { .. } => self.data,
        }
    }
}

#[inline(always)]
fn advance<S: Spu>(spu: &mut S, pointer: S::Register, bytes: i16) -> S::Register {
    spu.ai(pointer, bytes)
}

/// A register that counts the patterns of so many groups.
#[inline(always)]
fn patterns<S: Spu>(spu: &mut S, groups: u32) -> S::Register {
    spu.ila(PATTERNS_PER_GROUP * groups)
}
