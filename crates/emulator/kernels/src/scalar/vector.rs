//! Vectors of four doubles, with loops over the four states that the compiler has unrolled.

use super::{constant, copy, less, load, magnitude, store};
use mmgp_spu::Spu;

/// 2^-256, below which likelihoods are scaled.
const THRESHOLD: f64 = f64::from_bits((1023 - 256) << 52);

/// 2^256, by which they are.
const FACTOR: f64 = f64::from_bits((1023 + 256) << 52);

/// Four doubles from `base` on.
#[inline(always)]
pub fn load_vector<S: Spu>(spu: &mut S, base: S::Register) -> [S::Register; 4] {
    [load(spu, base, 0), load(spu, base, 8), load(spu, base, 16), load(spu, base, 24)]
}

/// Stores four doubles from `base` on.
#[inline(always)]
pub fn store_vector<S: Spu>(spu: &mut S, vector: [S::Register; 4], base: S::Register) {
    store(spu, vector[0], base, 0);
    store(spu, vector[1], base, 8);
    store(spu, vector[2], base, 16);
    store(spu, vector[3], base, 24);
}

/// `sum over k of M_kj x_k` for j = 0..3 from a matrix of 16 doubles `[k][j]` at `matrix`, whose
/// entries are loaded as they are needed: ((M_0j x_0 + M_1j x_1) + M_2j x_2) + M_3j x_3, each +
/// rounded once with its product.
#[inline(always)]
pub fn matrix_times_vector<S: Spu>(
    spu: &mut S,
    matrix: S::Register,
    x: [S::Register; 4],
) -> [S::Register; 4] {
    [
        entry(spu, matrix, x, 0),
        entry(spu, matrix, x, 8),
        entry(spu, matrix, x, 16),
        entry(spu, matrix, x, 24),
    ]
}

#[inline(always)]
fn entry<S: Spu>(
    spu: &mut S,
    matrix: S::Register,
    x: [S::Register; 4],
    column: i32,
) -> S::Register {
    let m = load(spu, matrix, column);
    let sum = spu.dfm(m, x[0]);
    let m = load(spu, matrix, column + 32);
    let sum = spu.dfma(m, x[1], sum);
    let m = load(spu, matrix, column + 64);
    let sum = spu.dfma(m, x[2], sum);
    let m = load(spu, matrix, column + 96);
    spu.dfma(m, x[3], sum)
}

/// The products of two vectors, entry by entry.
#[inline(always)]
pub fn entrywise_product<S: Spu>(
    spu: &mut S,
    x: [S::Register; 4],
    y: [S::Register; 4],
) -> [S::Register; 4] {
    [spu.dfm(x[0], y[0]), spu.dfm(x[1], y[1]), spu.dfm(x[2], y[2]), spu.dfm(x[3], y[3])]
}

/// Whether all of `count` doubles from `vector` on are below 2^-256 in magnitude: a loop over them
/// that ends with the first that is not.
#[inline(always)]
pub fn all_below_threshold<S: Spu>(spu: &mut S, vector: S::Register, count: u32) -> bool {
    let mut left = spu.ila(count);
    let mut at = copy(spu, vector);
    loop {
        spu.label();
        let x = load(spu, at, 0);
        let x = magnitude(spu, x);
        let threshold = constant(spu, THRESHOLD);
        let below = less(spu, x, threshold);
        if spu.brz(below) {
            return false;
        }
        at = spu.ai(at, 8);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return true;
        }
    }
}

/// Multiplies `count` doubles from `vector` on by 2^256.
#[inline(always)]
pub fn scale_up<S: Spu>(spu: &mut S, vector: S::Register, count: u32) {
    let mut left = spu.ila(count);
    let mut at = copy(spu, vector);
    loop {
        spu.label();
        let x = load(spu, at, 0);
        let factor = constant(spu, FACTOR);
        let x = spu.dfm(x, factor);
        store(spu, x, at, 0);
        at = spu.ai(at, 8);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return;
        }
    }
}
