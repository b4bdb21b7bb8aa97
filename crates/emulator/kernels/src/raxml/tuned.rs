//! The kernels for the SPU: two doubles in a register, no branch on data.
//!
//! A double-precision instruction keeps both pipes of the Cell BE for 7 cycles, so what counts is
//! how few of them there are, and after that how few other instructions stand between them.

// Blocks of registers are indexed as the formulas index them, several at once.
#![allow(clippy::needless_range_loop)]

mod derivatives;
mod ends;
mod evaluate;
mod matrix;
mod new_view;
mod newton_step;
mod operand;
mod scaling;
mod transition;

pub(super) use derivatives::{derivatives, sum_table};
pub(super) use evaluate::evaluate;
pub(super) use new_view::new_view;
pub(super) use newton_step::newton_step;
pub(super) use transition::{diagonal, newton_factors, tip_products, transition};

use crate::logarithm::{FIRST_DOUBLES, SECOND_DOUBLES};
use mmgp_spu::Quadword;

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
