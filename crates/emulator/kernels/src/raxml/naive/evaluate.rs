//! The log-likelihood.

use super::{PatternWalk, element, patterns, pointer};
use crate::raxml::{End, Evaluate, GAMMA_CATEGORIES, Rates};
use crate::scalar::{
    constant, copy, load, load_vector, load_word, logarithm, magnitude, store, word_to_double,
};
use mmgp_spu::Spu;

/// ln 2^-256.
const LN_OF_SCALING: f64 = -256.0 * std::f64::consts::LN_2;

/// The place of the kernel: at one pattern.
#[derive(Clone, Copy)]
struct EvaluatePlace<R> {
    ends: [PatternWalk<R>; 2],
    categories: R,
    weights: R,
    terms: R,
}

/// [`Evaluate`].
#[inline(always)]
pub(in super::super) fn evaluate<S: Spu>(spu: &mut S, kernel: &Evaluate) -> f64 {
    let result = pointer(spu, kernel.result);
    let mut sum = load(spu, result, 0);
    let mut left = patterns(spu, kernel.groups);
    if !spu.brz(left) {
        let ends = kernel.ends;
        let mut place = EvaluatePlace {
            ends: [PatternWalk::begin(spu, ends[0]), PatternWalk::begin(spu, ends[1])],
            categories: pointer(spu, kernel.categories),
            weights: pointer(spu, kernel.weights),
            terms: pointer(spu, kernel.terms.unwrap_or_default()),
        };
        loop {
            spu.label();
            let weight = load(spu, place.weights, 0);
            if !spu.brz(weight) {
                let term = term(spu, kernel, place);
                sum = spu.dfma(weight, term, sum);
            } else if kernel.terms.is_some() {
                // Out of the loop's line, and back.
                let zero = spu.il(0);
                store(spu, zero, place.terms, 0);
                spu.br();
            }
            place = place.next(spu, kernel);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
    let lane_0 = spu.fsmbi(0xFF00);
    let sum = spu.and_(sum, lane_0);
    spu.stqd(sum, 0, result);
    spu.value(sum).doubles()[0]
}

impl<R: Copy> EvaluatePlace<R> {
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S, kernel: &Evaluate) -> Self {
        Self {
            ends: [
                self.ends[0].next(spu, kernel.ends[0], kernel.rates),
                self.ends[1].next(spu, kernel.ends[1], kernel.rates),
            ],
            categories: spu.ai(self.categories, 4),
            weights: spu.ai(self.weights, 8),
            terms: spu.ai(self.terms, 8),
        }
    }
}

/// The term of one pattern, stored where it is wanted.
#[inline(always)]
fn term<S: Spu>(spu: &mut S, kernel: &Evaluate, place: EvaluatePlace<S::Register>) -> S::Register {
    let likelihood = match kernel.rates {
        Rates::Gamma => mixture(spu, kernel, place),
        Rates::Cat => one_category(spu, kernel, place),
    };
    let mut term = logarithm(spu, likelihood);
    let mut count = match kernel.ends[1] {
        End::Tip { .. } => spu.il(0),
        End::Inner { .. } => load_word(spu, place.ends[1].counts, 0),
    };
    if let End::Inner { .. } = kernel.ends[0] {
        let other = load_word(spu, place.ends[0].counts, 0);
        count = spu.a(count, other);
    }
    let count = word_to_double(spu, count);
    let scaling = constant(spu, LN_OF_SCALING);
    term = spu.dfma(count, scaling, term);
    if kernel.terms.is_some() {
        store(spu, term, place.terms, 0);
    }
    term
}

/// `1/4 |sum over c, l of x^p_cl x^q_cl d_cl|`.
#[inline(always)]
fn mixture<S: Spu>(
    spu: &mut S,
    kernel: &Evaluate,
    place: EvaluatePlace<S::Register>,
) -> S::Register {
    let [p, q] = kernel.ends;
    let p_vector = place.ends[0].vector(spu, p, kernel.model);
    let q_vector = place.ends[1].vector(spu, q, kernel.model);
    let mut at = [copy(spu, p_vector), copy(spu, q_vector), pointer(spu, kernel.diagonal)];
    let mut sum = spu.il(0);
    let mut categories = spu.ila(GAMMA_CATEGORIES);
    loop {
        spu.label();
        sum = add_products(spu, at, sum);
        if let End::Inner { .. } = p {
            at[0] = spu.ai(at[0], 32);
        }
        if let End::Inner { .. } = q {
            at[1] = spu.ai(at[1], 32);
        }
        at[2] = spu.ai(at[2], 32);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            break;
        }
    }
    let sum = magnitude(spu, sum);
    let quarter = constant(spu, 0.25);
    spu.dfm(quarter, sum)
}

/// `|sum over l of x^p_l x^q_l d_l|` in the pattern's category.
#[inline(always)]
fn one_category<S: Spu>(
    spu: &mut S,
    kernel: &Evaluate,
    place: EvaluatePlace<S::Register>,
) -> S::Register {
    let category = load_word(spu, place.categories, 0);
    let diagonal = element(spu, kernel.diagonal, category, 5);
    let p = place.ends[0].vector(spu, kernel.ends[0], kernel.model);
    let q = place.ends[1].vector(spu, kernel.ends[1], kernel.model);
    let zero = spu.il(0);
    let sum = add_products(spu, [p, q, diagonal], zero);
    magnitude(spu, sum)
}

/// `sum` with the products of three vectors' entries added, one after the other.
#[inline(always)]
fn add_products<S: Spu>(spu: &mut S, [p, q, d]: [S::Register; 3], sum: S::Register) -> S::Register {
    let (p, q, d) = (load_vector(spu, p), load_vector(spu, q), load_vector(spu, d));
    let product = spu.dfm(p[0], q[0]);
    let sum = spu.dfma(product, d[0], sum);
    let product = spu.dfm(p[1], q[1]);
    let sum = spu.dfma(product, d[1], sum);
    let product = spu.dfm(p[2], q[2]);
    let sum = spu.dfma(product, d[2], sum);
    let product = spu.dfm(p[3], q[3]);
    spu.dfma(product, d[3], sum)
}
