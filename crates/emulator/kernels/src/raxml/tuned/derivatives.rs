//! makenewz: the products of the ends, and the derivatives.

use super::{EndWalk, MAGNITUDES, SPLAT, both};
use crate::exponential::Reciprocal;
use crate::exponential::{Exponential, HIGH_WORDS_TWICE};
use crate::logarithm::{self, FIRST_DOUBLES, SECOND_DOUBLES};
use crate::raxml::{Derivatives, NewtonStep, Progress, Rates, SumTable, Z_MAX, Z_MIN};
use mmgp_spu::{LocalAddress, Quadword, Spu};

/// A multiplication for each entry.
#[inline(always)]
pub(in crate::raxml) fn sum_table<S: Spu>(spu: &mut S, kernel: &SumTable) {
    let rates = kernel.rates;
    let quadwords = rates.entries() as usize / 2;
    let mut remaining = spu.ila(kernel.groups);
    if spu.brz(remaining) {
        return;
    }
    let mut ends = [
        EndWalk::begin(spu, kernel.ends[0], kernel.model, rates),
        EndWalk::begin(spu, kernel.ends[1], kernel.model, rates),
    ];
    let mut out = spu.ila(kernel.out.0);
    let bytes_per_group = spu.il(rates.vector_bytes_per_group().0 as i16);
    loop {
        spu.label();
        spu.hbrr();
        let p = ends[0].vectors(spu, rates);
        let q = ends[1].vectors(spu, rates);
        for pattern in 0..4 {
            for index in 0..quadwords {
                let x_p = p[pattern].quadword(spu, index);
                let x_q = q[pattern].quadword(spu, index);
                let product = spu.dfm(x_p, x_q);
                spu.stqd(product, 16 * (quadwords * pattern + index) as i32, out);
            }
        }
        ends = [ends[0].next(spu), ends[1].next(spu)];
        out = spu.a(out, bytes_per_group);
        remaining = spu.ai(remaining, -1);
        if !spu.brnz(remaining) {
            break;
        }
    }
}

/// The factors e, (rho lambda) e, (rho lambda)^2 e: those of GAMMA in registers, those of CAT where
/// they stand, each kind at its base, and by category.
#[derive(Debug, Clone, Copy)]
enum Factors<R> {
    Gamma([[R; 8]; 3]),
    Cat { bases: [R; 3], categories: R },
}

/// Registers of the loop.
#[derive(Debug, Clone, Copy)]
struct SumPlace<R> {
    factors: Factors<R>,
    sums: R,
    bytes_per_group: R,
    weights: R,
}

/// Registers of the loop that do not change.
#[derive(Debug, Clone, Copy)]
struct DerivativeConstants<R> {
    reciprocal: Reciprocal<R>,
    first_doubles: R,
    second_doubles: R,
    high_words_twice: R,
}

/// Order of the operations: each S is summed over even l in lane 0 and odd l in lane 1, from the
/// first category on, each + with its product rounded once; then even l + odd l. S1 and S2 are
/// multiplied by the reciprocal of S0. The patterns 0, 2, 4, ... are summed in lane 0 and 1, 3, 5,
/// ... in lane 1, each from the first on; lane 0 + lane 1 is added to what stands at the result.
#[inline(always)]
pub(in crate::raxml) fn derivatives<S: Spu>(spu: &mut S, kernel: &Derivatives) -> [f64; 2] {
    let mut remaining = spu.ila(kernel.groups);
    let mut totals = [spu.il(0), spu.il(0)];
    let first_doubles = spu.lqr(FIRST_DOUBLES);
    let second_doubles = spu.lqr(SECOND_DOUBLES);
    if !spu.brz(remaining) {
        let constants = DerivativeConstants {
            reciprocal: Reciprocal::load(spu),
            first_doubles,
            second_doubles,
            high_words_twice: spu.lqr(HIGH_WORDS_TWICE),
        };
        let mut place = begin(spu, kernel);
        loop {
            spu.label();
            spu.hbrr();
            totals = add_group(spu, &constants, place, kernel.rates, totals);
            place = next(spu, place);
            remaining = spu.ai(remaining, -1);
            if !spu.brnz(remaining) {
                break;
            }
        }
    }
    let even_patterns = spu.shufb(totals[0], totals[1], first_doubles);
    let odd_patterns = spu.shufb(totals[0], totals[1], second_doubles);
    let block = spu.dfa(even_patterns, odd_patterns);
    let before = spu.lqa(kernel.result);
    let total = spu.dfa(before, block);
    spu.stqa(total, kernel.result);
    spu.value(total).doubles()
}

#[inline(always)]
fn begin<S: Spu>(spu: &mut S, kernel: &Derivatives) -> SumPlace<S::Register> {
    let factors = match kernel.rates {
        Rates::Gamma => {
            let none = spu.il(0);
            let mut factors = [[none; 8]; 3];
            for kind in 0..3 {
                for index in 0..8 {
                    let offset = 16 * (8 * kind + index) as u32;
                    factors[kind][index] = spu.lqa(LocalAddress(kernel.factors.0 + offset));
                }
            }
            Factors::Gamma(factors)
        }
        Rates::Cat => {
            let size = 32 * kernel.category_count;
            Factors::Cat {
                bases: [
                    spu.ila(kernel.factors.0),
                    spu.ila(kernel.factors.0 + size),
                    spu.ila(kernel.factors.0 + 2 * size),
                ],
                categories: spu.ila(kernel.categories.0),
            }
        }
    };
    SumPlace {
        factors,
        sums: spu.ila(kernel.sums.0),
        bytes_per_group: spu.il(kernel.rates.vector_bytes_per_group().0 as i16),
        weights: spu.ila(kernel.weights.0),
    }
}

/// The place at the next group.
#[inline(always)]
fn next<S: Spu>(spu: &mut S, place: SumPlace<S::Register>) -> SumPlace<S::Register> {
    let factors = match place.factors {
        Factors::Gamma(_) => place.factors,
        Factors::Cat { bases, categories } => {
            Factors::Cat { bases, categories: spu.ai(categories, 16) }
        }
    };
    let sums = spu.a(place.sums, place.bytes_per_group);
    let weights = spu.ai(place.weights, 32);
    SumPlace { factors, sums, weights, ..place }
}

/// g and h with the four patterns of a group added.
#[inline(always)]
fn add_group<S: Spu>(
    spu: &mut S,
    constants: &DerivativeConstants<S::Register>,
    place: SumPlace<S::Register>,
    rates: Rates,
    [mut g, mut h]: [S::Register; 2],
) -> [S::Register; 2] {
    let patterns = three_sums(spu, place, rates);
    for pair in 0..2 {
        let [first, second] = [patterns[2 * pair], patterns[2 * pair + 1]];
        let s_0 = add_lanes(spu, constants, [first[0], second[0]]);
        let s_1 = add_lanes(spu, constants, [first[1], second[1]]);
        let s_2 = add_lanes(spu, constants, [first[2], second[2]]);
        let inverse = constants.reciprocal.of(spu, s_0);
        let slope = spu.dfm(s_1, inverse);
        let curvature = spu.dfm(s_2, inverse);
        let curvature = spu.subtract_product(slope, slope, curvature);

        // What is no number must not come through where the weight is 0.
        let weights = spu.lqd(16 * pair as i32, place.weights);
        let absent = spu.ceqi(weights, 0);
        let absent = spu.shufb(absent, absent, constants.high_words_twice);
        let slope = spu.andc(slope, absent);
        let curvature = spu.andc(curvature, absent);
        g = spu.multiply_add(weights, slope, g);
        h = spu.multiply_add(weights, curvature, h);
    }
    [g, h]
}

/// Even l + odd l of two patterns.
#[inline(always)]
fn add_lanes<S: Spu>(
    spu: &mut S,
    constants: &DerivativeConstants<S::Register>,
    [first, second]: [S::Register; 2],
) -> S::Register {
    let even_l = spu.shufb(first, second, constants.first_doubles);
    let odd_l = spu.shufb(first, second, constants.second_doubles);
    spu.dfa(even_l, odd_l)
}

/// S0, S1 and S2 of the four patterns, over even l in lane 0 and odd l in lane 1.
#[inline(always)]
fn three_sums<S: Spu>(
    spu: &mut S,
    place: SumPlace<S::Register>,
    rates: Rates,
) -> [[S::Register; 3]; 4] {
    let size = 8 * rates.entries() as i32;
    match place.factors {
        Factors::Gamma(factors) => [
            dot_products(spu, place.sums, 0, factors),
            dot_products(spu, place.sums, size, factors),
            dot_products(spu, place.sums, 2 * size, factors),
            dot_products(spu, place.sums, 3 * size, factors),
        ],
        Factors::Cat { bases, categories } => {
            let categories = spu.lqd(0, categories);
            let offsets = spu.shli(categories, 5);
            let factors = [
                factors_of(spu, bases, offsets, 0),
                factors_of(spu, bases, offsets, 4),
                factors_of(spu, bases, offsets, 8),
                factors_of(spu, bases, offsets, 12),
            ];
            [
                dot_products(spu, place.sums, 0, factors[0]),
                dot_products(spu, place.sums, size, factors[1]),
                dot_products(spu, place.sums, 2 * size, factors[2]),
                dot_products(spu, place.sums, 3 * size, factors[3]),
            ]
        }
    }
}

/// The factors of a category, whose offset stands in a word of `offsets`, so many bytes from its
/// beginning.
#[inline(always)]
fn factors_of<S: Spu>(
    spu: &mut S,
    bases: [S::Register; 3],
    offsets: S::Register,
    bytes: i16,
) -> [[S::Register; 2]; 3] {
    let offset = spu.rotqbyi(offsets, bytes);
    let mut factors = [[offset; 2]; 3];
    for kind in 0..3 {
        let address = spu.a(bases[kind], offset);
        factors[kind] = [spu.lqd(0, address), spu.lqd(16, address)];
    }
    factors
}

/// The products with each kind of factor, summed up.
#[inline(always)]
fn dot_products<S: Spu, const QUADWORDS: usize>(
    spu: &mut S,
    sums: S::Register,
    displacement: i32,
    factors: [[S::Register; QUADWORDS]; 3],
) -> [S::Register; 3] {
    let s = spu.lqd(displacement, sums);
    let mut dots =
        [spu.dfm(s, factors[0][0]), spu.dfm(s, factors[1][0]), spu.dfm(s, factors[2][0])];
    for index in 1..QUADWORDS {
        let s = spu.lqd(displacement + 16 * index as i32, sums);
        for kind in 0..3 {
            dots[kind] = spu.multiply_add(s, factors[kind][index], dots[kind]);
        }
    }
    dots
}

/// The greatest high word of a double below 100.
const BELOW_100: u32 = 0x4058_FFFF;

/// StepConstants in registers.
#[derive(Debug, Clone, Copy)]
struct StepConstants<R> {
    exponential: Exponential<R>,
    reciprocal: Reciprocal<R>,
    high_words_twice: R,
    splat: [R; 2],
    magnitudes: R,
    z_min: R,
    z_max: R,
}

impl<R: Copy> StepConstants<R> {
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S, kernel: &NewtonStep) -> Self {
        Self {
            exponential: Exponential::new(spu, kernel.tables.offset(logarithm::TABLE_BYTES)),
            reciprocal: Reciprocal::load(spu),
            high_words_twice: spu.lqr(HIGH_WORDS_TWICE),
            splat: [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])],
            magnitudes: spu.lqr(MAGNITUDES),
            z_min: spu.lqr(both(Z_MIN)),
            z_max: spu.lqr(both(Z_MAX)),
        }
    }

    /// All ones in the lanes where a < b, by the sign of a - b.
    #[inline(always)]
    fn less<S: Spu<Register = R>>(&self, spu: &mut S, a: R, b: R) -> R {
        let difference = spu.dfs(a, b);
        let signs = spu.rotmai(difference, -31);
        spu.shufb(signs, signs, self.high_words_twice)
    }

    /// The lesser of two.
    #[inline(always)]
    fn minimum<S: Spu<Register = R>>(&self, spu: &mut S, a: R, b: R) -> R {
        let less = self.less(spu, a, b);
        spu.selb(b, a, less)
    }

    /// coefficient z + constant.
    #[inline(always)]
    fn line<S: Spu<Register = R>>(spu: &mut S, z: R, coefficient: f64, constant: f64) -> R {
        let coefficient = spu.lqr(both(coefficient));
        let constant = spu.lqr(both(constant));
        spu.multiply_add(z, coefficient, constant)
    }

    /// z' where the curvature is negative: `min(max(z e^t, zmin), 0.25 z + 0.75)` with t = -g/h, and
    /// the latter where t >= 100.
    #[inline(always)]
    fn newton<S: Spu<Register = R>>(&self, spu: &mut S, z: R, [g, h]: [R; 2]) -> R {
        let cap = Self::line(spu, z, 0.25, 0.75);
        let negative_h = spu.and_(h, self.magnitudes);
        let inverse = self.reciprocal.of(spu, negative_h);
        let t = spu.dfm(g, inverse);
        let power = self.exponential.of(spu, t);
        let moved = spu.dfm(z, power);
        let too_small = self.less(spu, moved, self.z_min);
        let moved = spu.selb(moved, self.z_min, too_small);
        let moved = self.minimum(spu, moved, cap);
        let limit = spu.lqr(Quadword::splat(BELOW_100));
        let far = spu.cgt(t, limit);
        let far = spu.shufb(far, far, self.high_words_twice);
        spu.selb(moved, cap, far)
    }
}

#[inline(always)]
pub(in crate::raxml) fn newton_step<S: Spu>(spu: &mut S, kernel: &NewtonStep) -> Progress {
    let constants = StepConstants::load(spu, kernel);
    let derivatives = spu.lqa(kernel.derivatives);
    let g = spu.shufb(derivatives, derivatives, constants.splat[0]);
    let h = spu.shufb(derivatives, derivatives, constants.splat[1]);
    let branch = spu.lqa(kernel.branch);
    let z = spu.shufb(branch, branch, constants.splat[0]);

    // h < 0, and not -0: as integers without sign, greater than the sign alone.
    let sign = spu.ilhu(0x8000);
    let bent = spu.clgt(h, sign);
    let bent = spu.shufb(bent, bent, constants.high_words_twice);
    let newton = constants.newton(spu, z, [g, h]);
    let shorter = StepConstants::<S::Register>::line(spu, z, 0.37, 0.63);
    let room = constants.less(spu, z, constants.z_max);
    let shortened = spu.andc(room, bent);

    let next = spu.selb(z, newton, bent);
    let next = spu.selb(next, shorter, shortened);
    let next = constants.minimum(spu, next, constants.z_max);

    let change = spu.dfs(next, z);
    let change = spu.and_(change, constants.magnitudes);
    let tolerance = StepConstants::<S::Register>::line(spu, z, 1.0 - Z_MAX, Z_MIN);
    let moved = constants.less(spu, tolerance, change);
    let lane_0 = spu.fsmbi(0xFF00);
    let result = spu.and_(next, lane_0);
    spu.stqa(result, kernel.branch);
    let is_set = |mask| spu.value(mask).preferred() != 0;
    match (is_set(shortened), is_set(moved)) {
        (true, _) => Progress::Shortened,
        (false, true) => Progress::Moved,
        (false, false) => Progress::Converged,
    }
}
