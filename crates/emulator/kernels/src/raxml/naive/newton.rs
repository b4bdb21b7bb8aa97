//! The steps towards the best length of a branch.

use super::{PatternWalk, element, patterns, pointer, vector_bytes};
use crate::raxml::{
    Derivatives, End, GAMMA_CATEGORIES, NewtonStep, Progress, Rates, SumTable, Z_MAX, Z_MIN,
};
use crate::scalar::{
    constant, copy, divide, entrywise_product, exponential, less, load, load_vector, load_word,
    magnitude, store, store_vector,
};
use mmgp_spu::{Quadword, Spu};

/// [`SumTable`].
#[inline(always)]
pub(in super::super) fn sum_table<S: Spu>(spu: &mut S, kernel: &SumTable) {
    let mut left = patterns(spu, kernel.groups);
    if spu.brz(left) {
        return;
    }
    let [p_end, q_end] = kernel.ends;
    let (mut p, mut q) = (PatternWalk::begin(spu, p_end), PatternWalk::begin(spu, q_end));
    let mut out = pointer(spu, kernel.out);
    loop {
        spu.label();
        let p_vector = p.vector(spu, p_end, kernel.model);
        let q_vector = q.vector(spu, q_end, kernel.model);
        products(spu, kernel, [p_vector, q_vector], out);
        p = p.next(spu, p_end, kernel.rates);
        q = q.next(spu, q_end, kernel.rates);
        out = spu.ai(out, vector_bytes(kernel.rates));
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return;
        }
    }
}

/// The products of one pattern.
#[inline(always)]
fn products<S: Spu>(spu: &mut S, kernel: &SumTable, [p, q]: [S::Register; 2], out: S::Register) {
    let [mut p, mut q, mut out] = [copy(spu, p), copy(spu, q), copy(spu, out)];
    let count = match kernel.rates {
        Rates::Gamma => GAMMA_CATEGORIES,
        Rates::Cat => 1,
    };
    let mut categories = spu.ila(count);
    loop {
        spu.label();
        let (x, y) = (load_vector(spu, p), load_vector(spu, q));
        let products = entrywise_product(spu, x, y);
        store_vector(spu, products, out);
        if kernel.rates == Rates::Cat {
            return;
        }
        if let End::Inner { .. } = kernel.ends[0] {
            p = spu.ai(p, 32);
        }
        if let End::Inner { .. } = kernel.ends[1] {
            q = spu.ai(q, 32);
        }
        out = spu.ai(out, 32);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            return;
        }
    }
}

/// [`Derivatives`].
#[inline(always)]
pub(in super::super) fn derivatives<S: Spu>(spu: &mut S, kernel: &Derivatives) -> [f64; 2] {
    let result = pointer(spu, kernel.result);
    let mut g = load(spu, result, 0);
    let mut h = load(spu, result, 8);
    let mut left = patterns(spu, kernel.groups);
    if !spu.brz(left) {
        let mut sums = pointer(spu, kernel.sums);
        let mut categories = pointer(spu, kernel.categories);
        let mut weights = pointer(spu, kernel.weights);
        loop {
            spu.label();
            let weight = load(spu, weights, 0);
            if !spu.brz(weight) {
                let s = match kernel.rates {
                    Rates::Gamma => sums_of_mixture(spu, kernel, sums),
                    Rates::Cat => sums_of_category(spu, kernel, sums, categories),
                };
                [g, h] = add_pattern(spu, weight, s, [g, h]);
            }
            sums = spu.ai(sums, vector_bytes(kernel.rates));
            categories = spu.ai(categories, 4);
            weights = spu.ai(weights, 8);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
    store(spu, g, result, 0);
    store(spu, h, result, 8);
    [g, h].map(|sum| spu.value(sum).doubles()[0])
}

/// `g + w S1/S0` and `h + w (S2/S0 - (S1/S0)^2)`.
#[inline(always)]
fn add_pattern<S: Spu>(
    spu: &mut S,
    weight: S::Register,
    [s0, s1, s2]: [S::Register; 3],
    [g, h]: [S::Register; 2],
) -> [S::Register; 2] {
    let mut ratios = [s0; 2];
    for (ratio, s) in ratios.iter_mut().zip([s1, s2]) {
        *ratio = divide(spu, s, s0);
    }
    let [first, second] = ratios;
    let g = spu.dfma(weight, first, g);
    let curvature = spu.dfnms(first, first, second);
    let h = spu.dfma(weight, curvature, h);
    [g, h]
}

/// S0, S1 and S2 of a pattern of GAMMA.
#[inline(always)]
fn sums_of_mixture<S: Spu>(
    spu: &mut S,
    kernel: &Derivatives,
    sums: S::Register,
) -> [S::Register; 3] {
    let mut at = copy(spu, sums);
    let mut factors = pointer(spu, kernel.factors);
    let mut s = [spu.il(0), spu.il(0), spu.il(0)];
    let mut categories = spu.ila(GAMMA_CATEGORIES);
    loop {
        spu.label();
        s = add_category(spu, kernel, [at, factors], s);
        at = spu.ai(at, 32);
        factors = spu.ai(factors, 32);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            return s;
        }
    }
}

/// S0, S1 and S2 of a pattern of CAT.
#[inline(always)]
fn sums_of_category<S: Spu>(
    spu: &mut S,
    kernel: &Derivatives,
    sums: S::Register,
    categories: S::Register,
) -> [S::Register; 3] {
    let category = load_word(spu, categories, 0);
    let factors = element(spu, kernel.factors, category, 5);
    let s = [spu.il(0), spu.il(0), spu.il(0)];
    add_category(spu, kernel, [sums, factors], s)
}

/// S0, S1 and S2 with one category's part added.
#[inline(always)]
fn add_category<S: Spu>(
    spu: &mut S,
    kernel: &Derivatives,
    [sums, factors]: [S::Register; 2],
    s: [S::Register; 3],
) -> [S::Register; 3] {
    let x = load_vector(spu, sums);
    let plane = spu.ila(32 * kernel.category_count);
    let s0 = add_dot_product(spu, x, factors, s[0]);
    let factors = spu.a(factors, plane);
    let s1 = add_dot_product(spu, x, factors, s[1]);
    let factors = spu.a(factors, plane);
    let s2 = add_dot_product(spu, x, factors, s[2]);
    [s0, s1, s2]
}

#[inline(always)]
fn add_dot_product<S: Spu>(
    spu: &mut S,
    x: [S::Register; 4],
    factors: S::Register,
    sum: S::Register,
) -> S::Register {
    let f = load_vector(spu, factors);
    let sum = spu.dfma(x[0], f[0], sum);
    let sum = spu.dfma(x[1], f[1], sum);
    let sum = spu.dfma(x[2], f[2], sum);
    spu.dfma(x[3], f[3], sum)
}

/// [`NewtonStep`].
#[inline(always)]
pub(in super::super) fn newton_step<S: Spu>(spu: &mut S, kernel: &NewtonStep) -> Progress {
    let derivatives = pointer(spu, kernel.derivatives);
    let branch = pointer(spu, kernel.branch);
    let g = load(spu, derivatives, 0);
    let h = load(spu, derivatives, 8);
    let z = load(spu, branch, 0);
    let zero = spu.il(0);
    let concave = less(spu, h, zero);
    let mut shortened = false;
    let next = if spu.brnz(concave) {
        newton(spu, [g, h], z)
    } else {
        let longest = constant(spu, Z_MAX);
        let below = less(spu, z, longest);
        if spu.brnz(below) {
            shortened = true;
            towards_one(spu, z, [0.37, 0.63])
        } else {
            z
        }
    };
    let next = held(spu, next);
    let lane_0 = spu.fsmbi(0xFF00);
    let alone = spu.and_(next, lane_0);
    spu.stqd(alone, 0, branch);
    if shortened {
        return Progress::Shortened;
    }
    // |z' - z| <= (1 - zmax) z + zmin
    let change = spu.dfs(next, z);
    let change = magnitude(spu, change);
    let relative = constant(spu, 1.0 - Z_MAX);
    let tolerance = constant(spu, Z_MIN);
    let tolerance = spu.dfma(relative, z, tolerance);
    let moved = less(spu, tolerance, change);
    if spu.brnz(moved) { Progress::Moved } else { Progress::Converged }
}

/// z' where h < 0.
#[inline(always)]
fn newton<S: Spu>(spu: &mut S, [g, h]: [S::Register; 2], z: S::Register) -> S::Register {
    let sign = spu.lqr(Quadword([1 << 63; 2]));
    let g = spu.xor(g, sign);
    let t = divide(spu, g, h);
    let hundred = constant(spu, 100.0);
    let usable = less(spu, t, hundred);
    let most = towards_one(spu, z, [0.25, 0.75]);
    if !spu.brnz(usable) {
        return most;
    }
    let power = exponential(spu, t);
    let next = spu.dfm(z, power);
    let shortest = constant(spu, Z_MIN);
    let too_small = less(spu, next, shortest);
    if spu.brnz(too_small) {
        return shortest;
    }
    let too_large = less(spu, most, next);
    if spu.brnz(too_large) { most } else { next }
}

/// a z + b.
#[inline(always)]
fn towards_one<S: Spu>(spu: &mut S, z: S::Register, [a, b]: [f64; 2]) -> S::Register {
    let (a, b) = (constant(spu, a), constant(spu, b));
    spu.dfma(a, z, b)
}

/// z, at most zmax.
#[inline(always)]
fn held<S: Spu>(spu: &mut S, z: S::Register) -> S::Register {
    let longest = constant(spu, Z_MAX);
    let beyond = less(spu, longest, z);
    if spu.brnz(beyond) { longest } else { z }
}
