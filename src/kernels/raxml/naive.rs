//! The kernels as first ported; until then, the tuned ones.

use super::{
    Derivatives, Diagonal, Evaluate, NewView, NewtonFactors, NewtonStep, Progress, SumTable,
    TipProducts, Transition, tuned,
};
use crate::spu::Spu;

/// [`Transition`].
#[inline(always)]
pub(super) fn transition<S: Spu>(spu: &mut S, kernel: &Transition) {
    tuned::transition(spu, kernel)
}

/// [`TipProducts`].
#[inline(always)]
pub(super) fn tip_products<S: Spu>(spu: &mut S, kernel: &TipProducts) {
    tuned::tip_products(spu, kernel)
}

/// [`NewView`].
#[inline(always)]
pub(super) fn new_view<S: Spu>(spu: &mut S, kernel: &NewView) {
    tuned::new_view(spu, kernel)
}

/// [`Diagonal`].
#[inline(always)]
pub(super) fn diagonal<S: Spu>(spu: &mut S, kernel: &Diagonal) {
    tuned::diagonal(spu, kernel)
}

/// [`Evaluate`].
#[inline(always)]
pub(super) fn evaluate<S: Spu>(spu: &mut S, kernel: &Evaluate) -> f64 {
    tuned::evaluate(spu, kernel)
}

/// [`SumTable`].
#[inline(always)]
pub(super) fn sum_table<S: Spu>(spu: &mut S, kernel: &SumTable) {
    tuned::sum_table(spu, kernel)
}

/// [`NewtonFactors`].
#[inline(always)]
pub(super) fn newton_factors<S: Spu>(spu: &mut S, kernel: &NewtonFactors) {
    tuned::newton_factors(spu, kernel)
}

/// [`Derivatives`].
#[inline(always)]
pub(super) fn derivatives<S: Spu>(spu: &mut S, kernel: &Derivatives) -> [f64; 2] {
    tuned::derivatives(spu, kernel)
}

/// [`NewtonStep`].
#[inline(always)]
pub(super) fn newton_step<S: Spu>(spu: &mut S, kernel: &NewtonStep) -> Progress {
    tuned::newton_step(spu, kernel)
}
