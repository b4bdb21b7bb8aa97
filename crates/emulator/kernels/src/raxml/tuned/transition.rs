//! What depends on branches and categories alone.

use super::SPLAT;
use crate::exponential::Exponential;
use crate::logarithm::{self, Logarithm};
use crate::raxml::{
    Diagonal, EI_OFFSET, EIGENVALUES_OFFSET, GAMMA_CATEGORIES, NewtonFactors, RATES_OFFSET,
    TIP_VECTORS_OFFSET, TipProducts, Transition,
};
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Spu};

/// The rates of the categories, one after the other, and the exponential.
#[derive(Debug, Clone, Copy)]
struct Categories<R> {
    rate: R,
    remaining: R,
    splat: [R; 2],
    exponential: Exponential<R>,
}

impl<R: Copy> Categories<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(
        spu: &mut S,
        count: u32,
        model: LocalAddress,
        tables: LocalAddress,
    ) -> Self {
        Self {
            rate: spu.ila(model.offset(RATES_OFFSET).0),
            remaining: spu.ila(count),
            splat: [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])],
            exponential: Exponential::new(spu, tables.offset(logarithm::TABLE_BYTES)),
        }
    }

    /// The rate of the category, in both lanes.
    #[inline(always)]
    fn rate<S: Spu<Register = R>>(&self, spu: &mut S) -> R {
        let pair = spu.lqd(0, self.rate);
        let rate = spu.rotqby(pair, self.rate);
        spu.shufb(rate, rate, self.splat[0])
    }

    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        Self { rate: spu.ai(self.rate, 8), remaining: spu.ai(self.remaining, -1), ..self }
    }
}

/// ln of both lanes of the quadword at `branches`.
#[inline(always)]
fn logarithms<S: Spu>(spu: &mut S, branches: LocalAddress, tables: LocalAddress) -> S::Register {
    let logarithm = Logarithm::new(spu, tables);
    let z = spu.lqa(branches);
    let zero = spu.il(0);
    logarithm.of(spu, z, zero)
}

/// Two quadwords at `address`.
#[inline(always)]
fn two_quadwords<S: Spu>(spu: &mut S, address: LocalAddress) -> [S::Register; 2] {
    [spu.lqa(address), spu.lqa(address.offset(Bytes(16)))]
}

/// Both doubles of a register, each in both lanes.
#[inline(always)]
fn splats<S: Spu>(spu: &mut S, doubles: S::Register, splat: [S::Register; 2]) -> [S::Register; 2] {
    [spu.shufb(doubles, doubles, splat[0]), spu.shufb(doubles, doubles, splat[1])]
}

/// The two branches are the two lanes until the exponentials are known: 27 + 6 + 12
/// double-precision instructions a category. As lambda_0 = 0, the first column is that of EI.
#[inline(always)]
pub(in crate::raxml) fn transition<S: Spu>(spu: &mut S, kernel: &Transition) {
    let logarithms = logarithms(spu, kernel.branches, kernel.tables);
    let mut categories = Categories::begin(spu, kernel.category_count, kernel.model, kernel.tables);
    let ei = kernel.model.offset(EI_OFFSET);
    let columns = [
        two_quadwords(spu, ei),
        two_quadwords(spu, ei.offset(Bytes(32))),
        two_quadwords(spu, ei.offset(Bytes(64))),
        two_quadwords(spu, ei.offset(Bytes(96))),
    ];
    let [first, last] = two_quadwords(spu, kernel.model.offset(EIGENVALUES_OFFSET));
    let [_, lambda_1] = splats(spu, first, categories.splat);
    let [lambda_2, lambda_3] = splats(spu, last, categories.splat);
    let mut out = [spu.ila(kernel.left.0), spu.ila(kernel.right.0)];
    loop {
        spu.label();
        spu.hbrr();
        let rate = categories.rate(spu);
        for side in out {
            spu.stqd(columns[0][0], 0, side);
            spu.stqd(columns[0][1], 16, side);
        }
        transition_column(spu, &categories, [rate, lambda_1, logarithms], columns[1], (32, out));
        transition_column(spu, &categories, [rate, lambda_2, logarithms], columns[2], (64, out));
        transition_column(spu, &categories, [rate, lambda_3, logarithms], columns[3], (96, out));
        out = [spu.ai(out[0], 128), spu.ai(out[1], 128)];
        categories = categories.next(spu);
        if !spu.brnz(categories.remaining) {
            break;
        }
    }
}

/// Stores a column of both branches: that of EI times `exp((rate lambda) ln z)`.
#[inline(always)]
fn transition_column<S: Spu>(
    spu: &mut S,
    categories: &Categories<S::Register>,
    [rate, lambda, logarithms]: [S::Register; 3],
    column: [S::Register; 2],
    (displacement, out): (i32, [S::Register; 2]),
) {
    let speed = spu.dfm(rate, lambda);
    let exponent = spu.dfm(speed, logarithms);
    let powers = categories.exponential.of(spu, exponent);
    let powers = splats(spu, powers, categories.splat);
    let left = [spu.dfm(column[0], powers[0]), spu.dfm(column[1], powers[0])];
    spu.stqd(left[0], displacement, out[0]);
    spu.stqd(left[1], displacement + 16, out[0]);
    let right = [spu.dfm(column[0], powers[1]), spu.dfm(column[1], powers[1])];
    spu.stqd(right[0], displacement, out[1]);
    spu.stqd(right[1], displacement + 16, out[1]);
}

/// (rate lambda) and exp((rate lambda) ln z) for two eigenvalues of a category.
#[inline(always)]
fn speed_and_power<S: Spu>(
    spu: &mut S,
    categories: &Categories<S::Register>,
    [rate, lambda, logarithm]: [S::Register; 3],
) -> [S::Register; 2] {
    let speed = spu.dfm(rate, lambda);
    let exponent = spu.dfm(speed, logarithm);
    [speed, categories.exponential.of(spu, exponent)]
}

/// 22 double-precision instructions a category.
#[inline(always)]
pub(in crate::raxml) fn diagonal<S: Spu>(spu: &mut S, kernel: &Diagonal) {
    let logarithms = logarithms(spu, kernel.branch, kernel.tables);
    let mut categories = Categories::begin(spu, kernel.category_count, kernel.model, kernel.tables);
    let logarithm = spu.shufb(logarithms, logarithms, categories.splat[0]);
    let lambda = two_quadwords(spu, kernel.model.offset(EIGENVALUES_OFFSET));
    let mut out = spu.ila(kernel.out.0);
    loop {
        spu.label();
        spu.hbrr();
        let rate = categories.rate(spu);
        let [_, lower] = speed_and_power(spu, &categories, [rate, lambda[0], logarithm]);
        let [_, upper] = speed_and_power(spu, &categories, [rate, lambda[1], logarithm]);
        spu.stqd(lower, 0, out);
        spu.stqd(upper, 16, out);
        out = spu.ai(out, 32);
        categories = categories.next(spu);
        if !spu.brnz(categories.remaining) {
            break;
        }
    }
}

/// 26 double-precision instructions a category.
#[inline(always)]
pub(in crate::raxml) fn newton_factors<S: Spu>(spu: &mut S, kernel: &NewtonFactors) {
    let logarithms = logarithms(spu, kernel.branch, kernel.tables);
    let mut categories = Categories::begin(spu, kernel.category_count, kernel.model, kernel.tables);
    let logarithm = spu.shufb(logarithms, logarithms, categories.splat[0]);
    let lambda = two_quadwords(spu, kernel.model.offset(EIGENVALUES_OFFSET));
    let mut out = [
        spu.ila(kernel.out.0),
        spu.ila(kernel.out.0 + 32 * kernel.category_count),
        spu.ila(kernel.out.0 + 64 * kernel.category_count),
    ];
    loop {
        spu.label();
        spu.hbrr();
        let rate = categories.rate(spu);
        for half in 0..2 {
            let displacement = 16 * half as i32;
            let [speed, power] = speed_and_power(spu, &categories, [rate, lambda[half], logarithm]);
            spu.stqd(power, displacement, out[0]);
            let first = spu.dfm(speed, power);
            spu.stqd(first, displacement, out[1]);
            let second = spu.dfm(speed, first);
            spu.stqd(second, displacement, out[2]);
        }
        out = [spu.ai(out[0], 32), spu.ai(out[1], 32), spu.ai(out[2], 32)];
        categories = categories.next(spu);
        if !spu.brnz(categories.remaining) {
            break;
        }
    }
}

/// The codes of a single state are products of matrix and vector, `((M_j0 x_0 + M_j1 x_1) + M_j2
/// x_2) + M_j3 x_3` with fused +; each other is the sum of its lowest state's and the rest's: 54
/// double-precision instructions a category, where 15 products would be 120.
#[inline(always)]
pub(in crate::raxml) fn tip_products<S: Spu>(spu: &mut S, kernel: &TipProducts) {
    let splat = [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])];
    let states = [
        state_vector(spu, kernel.model, 1, splat),
        state_vector(spu, kernel.model, 2, splat),
        state_vector(spu, kernel.model, 4, splat),
        state_vector(spu, kernel.model, 8, splat),
    ];
    let zero = spu.il(0);
    let mut matrix = spu.ila(kernel.matrices.0);
    let mut out = spu.ila(kernel.out.0);
    let mut remaining = spu.ila(GAMMA_CATEGORIES);
    loop {
        spu.label();
        spu.hbrr();
        let mut products = [[zero; 2]; 16];
        for state in 0..4 {
            products[1 << state] = state_product(spu, matrix, states[state]);
        }
        for code in 1..16usize {
            let lowest = code & code.wrapping_neg();
            let rest = code - lowest;
            if rest != 0 {
                products[code] = [
                    spu.dfa(products[rest][0], products[lowest][0]),
                    spu.dfa(products[rest][1], products[lowest][1]),
                ];
            }
        }
        for code in 0..16 {
            let displacement = 128 * code as i32;
            spu.stqd(products[code][0], displacement, out);
            spu.stqd(products[code][1], displacement + 16, out);
        }
        matrix = spu.ai(matrix, 128);
        out = spu.ai(out, 32);
        remaining = spu.ai(remaining, -1);
        if !spu.brnz(remaining) {
            break;
        }
    }
}

/// The vector of a code, each entry in both lanes.
#[inline(always)]
fn state_vector<S: Spu>(
    spu: &mut S,
    model: LocalAddress,
    code: u64,
    splat: [S::Register; 2],
) -> [S::Register; 4] {
    let address = model.offset(TIP_VECTORS_OFFSET).offset(Bytes(32 * code));
    let [first, last] = two_quadwords(spu, address);
    let [x_0, x_1] = splats(spu, first, splat);
    let [x_2, x_3] = splats(spu, last, splat);
    [x_0, x_1, x_2, x_3]
}

/// The product of the matrix at `matrix` with a vector.
#[inline(always)]
fn state_product<S: Spu>(
    spu: &mut S,
    matrix: S::Register,
    x: [S::Register; 4],
) -> [S::Register; 2] {
    let column = [spu.lqd(0, matrix), spu.lqd(16, matrix)];
    let mut sum = [spu.dfm(column[0], x[0]), spu.dfm(column[1], x[0])];
    for l in 1..4 {
        let displacement = 32 * l as i32;
        let column = [spu.lqd(displacement, matrix), spu.lqd(displacement + 16, matrix)];
        sum =
            [spu.multiply_add(column[0], x[l], sum[0]), spu.multiply_add(column[1], x[l], sum[1])];
    }
    sum
}
