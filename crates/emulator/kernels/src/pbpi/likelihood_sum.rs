//! The log-likelihood of a block of patterns.

use super::named;
use super::{
    COUNT_BYTES_PER_GROUP, FREQUENCY_BYTES, SCALING_EXPONENT, VECTOR_BYTES_PER_GROUP, Version,
    WEIGHT_BYTES_PER_GROUP, naive,
};
use crate::logarithm::{FIRST_DOUBLES, Logarithm, SECOND_DOUBLES, TABLE_BYTES};
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Quadword, Spu};

/// `sum_i w_i (ln(sum_j f_j root_ij) - 256 count_i ln 2)`; the layout is described in the
/// [module](super), the logarithm in [`logarithm`](crate::logarithm).
///
/// Order of the operations: of a pattern `(f_0 root_0 + f_2 root_2) + (f_1 root_1 + f_3 root_3)`,
/// the products with root_2 and root_3 fused; the patterns 0, 2, 4, ... are summed in lane 0 and
/// 1, 3, 5, ... in lane 1, each from the first pattern on, and at the end lane 0 + lane 1. The
/// weight is multiplied and added in one rounding.
///
/// A pattern of weight 0 contributes exactly 0, whatever bits its vector and count hold. Those of
/// other patterns must be positive and normal.
///
/// 32 double-precision instructions a group, which take at least 224 cycles on the Cell BE (7
/// each). A group takes 273 cycles with list scheduling, 68 a pattern, and 488 in program order,
/// where the chain of each logarithm waits for itself.
///
/// The naive version takes 540 cycles a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LikelihoodSum {
    /// How it is written; what stands above is the tuned version.
    pub version: Version,
    /// Groups of four patterns.
    pub groups: u32,
    /// Vectors of the root.
    pub root: LocalAddress,
    /// Scaling counts of the root.
    pub counts: LocalAddress,
    /// Weights of the patterns.
    pub weights: LocalAddress,
    /// Frequencies of the states A, C, G, T: 4 doubles.
    pub frequencies: LocalAddress,
    /// The table of logarithms, from [`write_table`](crate::logarithm::write_table); the
    /// naive version does not read it.
    pub table: LocalAddress,
    /// The sum, written: lane 0 of a quadword whose lane 1 becomes 0.
    pub result: LocalAddress,
}

/// The word of each pattern of a pair in the high word of its lane.
const COUNTS_OF_PAIR: [Quadword; 2] = [
    Quadword::from_words([0x0001_0203, 0x8080_8080, 0x0405_0607, 0x8080_8080]),
    Quadword::from_words([0x0809_0A0B, 0x8080_8080, 0x0C0D_0E0F, 0x8080_8080]),
];

/// The registers of the loop that do not change.
#[derive(Clone, Copy)]
struct SumConstants<R> {
    frequencies: [R; 2],
    logarithm: Logarithm<R>,
    first_doubles: R,
    second_doubles: R,
    counts_of_pair: [R; 2],
}

kernel! {
    LikelihoodSum -> f64, |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "likelihood sum"), kernel.groups);
    blocks: {
        input root[VECTOR_BYTES_PER_GROUP; kernel.groups];
        input counts[COUNT_BYTES_PER_GROUP; kernel.groups];
        input weights[WEIGHT_BYTES_PER_GROUP; kernel.groups];
        input frequencies[FREQUENCY_BYTES; 1];
        input table[TABLE_BYTES; 1];
        output result[Bytes(16); 1];
    }
    versions: naive::likelihood_sum, tuned;
}

/// The tuned version.
#[inline(always)]
fn tuned<S: Spu>(spu: &mut S, kernel: &LikelihoodSum) -> f64 {
    let mut left = spu.ila(kernel.groups);
    let mut sum = spu.il(0);
    if !spu.brz(left) {
        let constants = SumConstants {
            frequencies: [
                spu.lqa(kernel.frequencies),
                spu.lqa(kernel.frequencies.offset(Bytes(16))),
            ],
            logarithm: Logarithm::new(spu, kernel.table),
            first_doubles: spu.lqr(FIRST_DOUBLES),
            second_doubles: spu.lqr(SECOND_DOUBLES),
            counts_of_pair: [spu.lqr(COUNTS_OF_PAIR[0]), spu.lqr(COUNTS_OF_PAIR[1])],
        };
        let mut root = spu.ila(kernel.root.0);
        let mut counts = spu.ila(kernel.counts.0);
        let mut weights = spu.ila(kernel.weights.0);
        loop {
            spu.label();
            spu.hbrr();
            sum = add_group(spu, &constants, [root, counts, weights], sum);
            root = spu.ai(root, 128);
            counts = spu.ai(counts, 16);
            weights = spu.ai(weights, 32);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
    let odd_patterns = spu.shlqbyi(sum, 8);
    let total = spu.dfa(sum, odd_patterns);
    let lane_0 = spu.fsmbi(0xFF00);
    let total = spu.and_(total, lane_0);
    spu.stqa(total, kernel.result);
    spu.value(total).doubles()[0]
}

/// `sum` with the four patterns of a group added, which stand at `[root, counts, weights]`.
#[inline(always)]
fn add_group<S: Spu>(
    spu: &mut S,
    constants: &SumConstants<S::Register>,
    [root, counts, weights]: [S::Register; 3],
    sum: S::Register,
) -> S::Register {
    // ln(2^(-256 count) x) = ln x + n ln 2 with n = -256 count.
    let counts = spu.lqd(0, counts);
    let scalings = spu.shli(counts, SCALING_EXPONENT.trailing_zeros() as i16);
    let n = spu.sfi(scalings, 0);
    let sum = add_pair(spu, constants, [root, n, weights], 0, sum);
    add_pair(spu, constants, [root, n, weights], 1, sum)
}

/// `sum` with a pair of patterns of a group added; `n` holds those of the group in its words.
#[inline(always)]
fn add_pair<S: Spu>(
    spu: &mut S,
    constants: &SumConstants<S::Register>,
    [root, n, weights]: [S::Register; 3],
    pair: usize,
    sum: S::Register,
) -> S::Register {
    let first = dot_product(spu, constants, root, 64 * pair as i32);
    let second = dot_product(spu, constants, root, 64 * pair as i32 + 32);
    let even_states = spu.shufb(first, second, constants.first_doubles);
    let odd_states = spu.shufb(first, second, constants.second_doubles);
    let likelihoods = spu.dfa(even_states, odd_states);
    let n = spu.shufb(n, n, constants.counts_of_pair[pair]);
    let logarithms = constants.logarithm.of(spu, likelihoods, n);
    let weights = spu.lqd(16 * pair as i32, weights);
    spu.multiply_add(weights, logarithms, sum)
}

/// `f_0 root_0 + f_2 root_2` and `f_1 root_1 + f_3 root_3` of the pattern at `displacement`.
#[inline(always)]
fn dot_product<S: Spu>(
    spu: &mut S,
    constants: &SumConstants<S::Register>,
    root: S::Register,
    displacement: i32,
) -> S::Register {
    let lower = spu.lqd(displacement, root);
    let upper = spu.lqd(displacement + 16, root);
    let products = spu.dfm(constants.frequencies[0], lower);
    spu.multiply_add(constants.frequencies[1], upper, products)
}
