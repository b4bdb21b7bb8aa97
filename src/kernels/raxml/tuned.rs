//! The kernels for the SPU.

use super::{
    Derivatives, Diagonal, Evaluate, NewView, NewtonFactors, NewtonStep, Progress, SumTable,
    TipProducts, Transition,
};
use crate::spu::Spu;

/// [`Transition`].
#[inline(always)]
pub(super) fn transition<S: Spu>(spu: &mut S, kernel: &Transition) {
    let _ = (spu, kernel);
}

/// [`TipProducts`].
#[inline(always)]
pub(super) fn tip_products<S: Spu>(spu: &mut S, kernel: &TipProducts) {
    let _ = (spu, kernel);
}

/// [`NewView`].
#[inline(always)]
pub(super) fn new_view<S: Spu>(spu: &mut S, kernel: &NewView) {
    let _ = (spu, kernel);
}

/// [`Diagonal`].
#[inline(always)]
pub(super) fn diagonal<S: Spu>(spu: &mut S, kernel: &Diagonal) {
    let _ = (spu, kernel);
}

/// [`Evaluate`].
#[inline(always)]
pub(super) fn evaluate<S: Spu>(spu: &mut S, kernel: &Evaluate) -> f64 {
    let _ = (spu, kernel);
    0.0
}

/// [`SumTable`].
#[inline(always)]
pub(super) fn sum_table<S: Spu>(spu: &mut S, kernel: &SumTable) {
    let _ = (spu, kernel);
}

/// [`NewtonFactors`].
#[inline(always)]
pub(super) fn newton_factors<S: Spu>(spu: &mut S, kernel: &NewtonFactors) {
    let _ = (spu, kernel);
}

/// [`Derivatives`].
#[inline(always)]
pub(super) fn derivatives<S: Spu>(spu: &mut S, kernel: &Derivatives) -> [f64; 2] {
    let _ = (spu, kernel);
    [0.0; 2]
}

/// [`NewtonStep`].
#[inline(always)]
pub(super) fn newton_step<S: Spu>(spu: &mut S, kernel: &NewtonStep) -> Progress {
    let _ = (spu, kernel);
    Progress::Converged
}
