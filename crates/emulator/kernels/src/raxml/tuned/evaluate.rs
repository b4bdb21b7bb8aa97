//! evaluate.

use super::{EndWalk, MAGNITUDES, Vector};
use crate::logarithm::{FIRST_DOUBLES, Logarithm, SECOND_DOUBLES};
use crate::raxml::{End, Evaluate, Rates, SCALING_EXPONENT};
use mmgp_spu::{LocalAddress, Quadword, Spu};

/// The word of each pattern of a pair in the high word of its lane.
const COUNTS_OF_PAIR: [Quadword; 2] = [
    Quadword::from_words([0x0001_0203, 0x8080_8080, 0x0405_0607, 0x8080_8080]),
    Quadword::from_words([0x0809_0A0B, 0x8080_8080, 0x0C0D_0E0F, 0x8080_8080]),
];

/// Registers of the loop that do not change.
#[derive(Debug, Clone, Copy)]
struct EvaluateConstants<R> {
    logarithm: Logarithm<R>,
    magnitudes: R,
    first_doubles: R,
    second_doubles: R,
    counts_of_pair: [R; 2],
}

/// The diagonals: those of GAMMA in registers, those of CAT where they stand and by category.
#[derive(Debug, Clone, Copy)]
enum Diagonals<R> {
    Gamma([R; 8]),
    Cat { base: R, categories: R },
}

/// The registers that walk through the patterns.
#[derive(Debug, Clone, Copy)]
struct BranchPlace<R> {
    ends: [EndWalk<R>; 2],
    diagonals: Diagonals<R>,
    weights: R,
    terms: Option<R>,
}

/// Order of the operations, each + with its product rounded once. Of two inner ends, for each lane
/// (even and odd l) `x^p (x^q d)` is summed from the first category on; with a tip, which has one
/// vector for all categories, first `x^q d` over the categories for each l, then the products with
/// x^p. Then even l + odd l. The patterns 0, 2, 4, ... are summed in lane 0 and 1, 3, 5, ... in lane
/// 1, each from the first on; lane 0 + lane 1 is added to what stands at the result. The 1/4 of
/// GAMMA is one more power of two for the logarithm and costs nothing.
#[inline(always)]
pub(in crate::raxml) fn evaluate<S: Spu>(spu: &mut S, kernel: &Evaluate) -> f64 {
    let mut remaining = spu.ila(kernel.groups);
    let mut sum = spu.il(0);
    if !spu.brz(remaining) {
        let constants = EvaluateConstants {
            logarithm: Logarithm::new(spu, kernel.tables),
            magnitudes: spu.lqr(MAGNITUDES),
            first_doubles: spu.lqr(FIRST_DOUBLES),
            second_doubles: spu.lqr(SECOND_DOUBLES),
            counts_of_pair: [spu.lqr(COUNTS_OF_PAIR[0]), spu.lqr(COUNTS_OF_PAIR[1])],
        };
        let mut place = begin(spu, kernel);
        loop {
            spu.label();
            spu.hbrr();
            sum = add_group(spu, &constants, place, kernel, sum);
            place = next(spu, place);
            remaining = spu.ai(remaining, -1);
            if !spu.brnz(remaining) {
                break;
            }
        }
    }
    let odd_patterns = spu.shlqbyi(sum, 8);
    let block = spu.dfa(sum, odd_patterns);
    let before = spu.lqa(kernel.result);
    let total = spu.dfa(before, block);
    let lane_0 = spu.fsmbi(0xFF00);
    let total = spu.and_(total, lane_0);
    spu.stqa(total, kernel.result);
    spu.value(total).doubles()[0]
}

#[inline(always)]
fn begin<S: Spu>(spu: &mut S, kernel: &Evaluate) -> BranchPlace<S::Register> {
    let ends = [
        EndWalk::begin(spu, kernel.ends[0], kernel.model, kernel.rates),
        EndWalk::begin(spu, kernel.ends[1], kernel.model, kernel.rates),
    ];
    let diagonals = match kernel.rates {
        Rates::Gamma => {
            let mut quadword = |index: u32| spu.lqa(LocalAddress(kernel.diagonal.0 + 16 * index));
            let mut two = |category: u32| [quadword(2 * category), quadword(2 * category + 1)];
            let [[a, b], [c, d], [e, f], [g, h]] = [two(0), two(1), two(2), two(3)];
            Diagonals::Gamma([a, b, c, d, e, f, g, h])
        }
        Rates::Cat => Diagonals::Cat {
            base: spu.ila(kernel.diagonal.0),
            categories: spu.ila(kernel.categories.0),
        },
    };
    let weights = spu.ila(kernel.weights.0);
    let terms = kernel.terms.map(|terms| spu.ila(terms.0));
    BranchPlace { ends, diagonals, weights, terms }
}

/// The place at the next group.
#[inline(always)]
fn next<S: Spu>(spu: &mut S, place: BranchPlace<S::Register>) -> BranchPlace<S::Register> {
    let ends = [place.ends[0].next(spu), place.ends[1].next(spu)];
    let diagonals = match place.diagonals {
        Diagonals::Gamma(_) => place.diagonals,
        Diagonals::Cat { base, categories } => {
            Diagonals::Cat { base, categories: spu.ai(categories, 16) }
        }
    };
    let weights = spu.ai(place.weights, 32);
    let terms = place.terms.map(|terms| spu.ai(terms, 32));
    BranchPlace { ends, diagonals, weights, terms }
}

/// `sum` with the four patterns of a group added.
#[inline(always)]
fn add_group<S: Spu>(
    spu: &mut S,
    constants: &EvaluateConstants<S::Register>,
    place: BranchPlace<S::Register>,
    kernel: &Evaluate,
    mut sum: S::Register,
) -> S::Register {
    let likelihoods = likelihoods(spu, place, kernel);
    // ln(2^(-256 count - 2) x) = ln x + n ln 2, the 2 with GAMMA alone.
    let counts = match (place.ends[0].counts(spu), place.ends[1].counts(spu)) {
        (Some(first), Some(second)) => spu.a(first, second),
        (Some(counts), None) | (None, Some(counts)) => counts,
        (None, None) => spu.il(0),
    };
    let scalings = spu.shli(counts, SCALING_EXPONENT.trailing_zeros() as i16);
    let n = match kernel.rates {
        Rates::Gamma => spu.sfi(scalings, -2),
        Rates::Cat => spu.sfi(scalings, 0),
    };
    for pair in 0..2 {
        let [first, second] = [likelihoods[2 * pair], likelihoods[2 * pair + 1]];
        let even_l = spu.shufb(first, second, constants.first_doubles);
        let odd_l = spu.shufb(first, second, constants.second_doubles);
        let likelihood = spu.dfa(even_l, odd_l);
        let magnitude = spu.and_(likelihood, constants.magnitudes);
        let n = spu.shufb(n, n, constants.counts_of_pair[pair]);
        let terms = constants.logarithm.of(spu, magnitude, n);
        let displacement = 16 * pair as i32;
        if let Some(address) = place.terms {
            spu.stqd(terms, displacement, address);
        }
        let weights = spu.lqd(displacement, place.weights);
        sum = spu.multiply_add(weights, terms, sum);
    }
    sum
}

/// The sums of the four patterns, over even l in lane 0 and odd l in lane 1.
#[inline(always)]
fn likelihoods<S: Spu>(
    spu: &mut S,
    place: BranchPlace<S::Register>,
    kernel: &Evaluate,
) -> [S::Register; 4] {
    let p = place.ends[0].vectors(spu, kernel.rates);
    let q = place.ends[1].vectors(spu, kernel.rates);
    // No closures: one that the host's compiler does not in-line has no fused multiply-add.
    match place.diagonals {
        Diagonals::Gamma(d) if matches!(kernel.ends[0], End::Tip { .. }) => [
            with_tip(spu, p[0], q[0], d),
            with_tip(spu, p[1], q[1], d),
            with_tip(spu, p[2], q[2], d),
            with_tip(spu, p[3], q[3], d),
        ],
        Diagonals::Gamma(d) => [
            between(spu, p[0], q[0], d),
            between(spu, p[1], q[1], d),
            between(spu, p[2], q[2], d),
            between(spu, p[3], q[3], d),
        ],
        Diagonals::Cat { base, categories } => {
            let categories = spu.lqd(0, categories);
            let offsets = spu.shli(categories, 5);
            let addresses = spu.a(offsets, base);
            let d = [
                diagonal_of(spu, addresses, 0),
                diagonal_of(spu, addresses, 4),
                diagonal_of(spu, addresses, 8),
                diagonal_of(spu, addresses, 12),
            ];
            [
                between(spu, p[0], q[0], d[0]),
                between(spu, p[1], q[1], d[1]),
                between(spu, p[2], q[2], d[2]),
                between(spu, p[3], q[3], d[3]),
            ]
        }
    }
}

/// The diagonal whose address stands in a word of `addresses`, so many bytes from its beginning.
#[inline(always)]
fn diagonal_of<S: Spu>(spu: &mut S, addresses: S::Register, bytes: i16) -> [S::Register; 2] {
    let address = spu.rotqbyi(addresses, bytes);
    [spu.lqd(0, address), spu.lqd(16, address)]
}

/// A pattern between two ends.
#[inline(always)]
fn between<S: Spu, const QUADWORDS: usize>(
    spu: &mut S,
    p: Vector<S::Register>,
    q: Vector<S::Register>,
    d: [S::Register; QUADWORDS],
) -> S::Register {
    let mut sum = None;
    for index in 0..QUADWORDS {
        let x_q = q.quadword(spu, index);
        let product = spu.dfm(x_q, d[index]);
        let x_p = p.quadword(spu, index);
        sum = Some(match sum {
            None => spu.dfm(x_p, product),
            Some(sum) => spu.multiply_add(x_p, product, sum),
        });
    }
    sum.expect("invariant: a vector has quadwords")
}

/// A pattern between a tip, p, and another end, with GAMMA.
#[inline(always)]
fn with_tip<S: Spu>(
    spu: &mut S,
    p: Vector<S::Register>,
    q: Vector<S::Register>,
    d: [S::Register; 8],
) -> S::Register {
    let x_q = [q.quadword(spu, 0), q.quadword(spu, 1)];
    let mut sums = [spu.dfm(x_q[0], d[0]), spu.dfm(x_q[1], d[1])];
    for category in 1..4 {
        for half in 0..2 {
            let index = 2 * category + half;
            let x_q = q.quadword(spu, index);
            sums[half] = spu.multiply_add(x_q, d[index], sums[half]);
        }
    }
    let x_p = [p.quadword(spu, 0), p.quadword(spu, 1)];
    let sum = spu.dfm(x_p[0], sums[0]);
    spu.multiply_add(x_p[1], sums[1], sum)
}
