//! The kernels as first ported: scalar double precision.
//!
//! They are what a compiler of the time makes of loops over patterns, children and states, for which
//! [`scalar`](crate::scalar) has the pieces. The loops over the four states and over the
//! children are unrolled, those over patterns and over the entries of a scaling test are not; data
//! are reached through pointers, so that a matrix is loaded again for every pattern; the logarithm
//! is a call. A test that decides at the first entry goes no further.
//!
//! *Deviations* from the tuned kernels, beside rounding: a denormal is scaled like any other number;
//! a pattern of weight 0 is left out by a branch.

use super::product::{Neighbour, Product};
use super::{LikelihoodSum, PATTERNS_PER_GROUP, TipVectors};
use crate::scalar::{
    all_below_threshold, constant, entrywise_product, load, load_byte, load_vector, load_word,
    logarithm, matrix_times_vector, scale_up, store_vector, store_word, word_to_double,
};
use mmgp_spu::Spu;

/// ln 2^-256.
const LN_OF_SCALING: f64 = -256.0 * std::f64::consts::LN_2;

/// The place of the kernel in a child's data.
#[derive(Clone, Copy)]
struct NeighbourWalk<R> {
    matrix: R,
    vectors: R,
    counts: R,
}

impl<R: Copy> NeighbourWalk<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(spu: &mut S, child: Neighbour) -> Self {
        Self {
            matrix: spu.ila(child.matrix.0),
            vectors: spu.ila(child.vectors.0),
            counts: spu.ila(child.counts.0),
        }
    }

    /// `sum over k of P_jk l_k` for the pattern.
    #[inline(always)]
    fn sums<S: Spu<Register = R>>(self, spu: &mut S) -> [R; 4] {
        let vector = load_vector(spu, self.vectors);
        matrix_times_vector(spu, self.matrix, vector)
    }

    /// The same at the next pattern.
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        Self { vectors: spu.ai(self.vectors, 32), counts: spu.ai(self.counts, 4), ..self }
    }
}

/// Combines the children, of which there are two or three.
#[inline(always)]
pub(super) fn product_of_children<S: Spu, const CHILDREN: usize>(
    spu: &mut S,
    product: Product<CHILDREN>,
) {
    let Product { groups, children, out, out_counts } = product;
    const { assert!(CHILDREN == 2 || CHILDREN == 3) };
    let mut left = spu.ila(PATTERNS_PER_GROUP * groups);
    if spu.brz(left) {
        return;
    }
    let mut walks = [NeighbourWalk::begin(spu, children[0]); CHILDREN];
    for child in 1..CHILDREN {
        walks[child] = NeighbourWalk::begin(spu, children[child]);
    }
    let mut out = spu.ila(out.0);
    let mut out_counts = spu.ila(out_counts.0);
    loop {
        spu.label();
        let mut product = walks[0].sums(spu);
        let mut count = load_word(spu, walks[0].counts, 0);
        for walk in &walks[1..] {
            let sums = walk.sums(spu);
            product = entrywise_product(spu, product, sums);
            let other = load_word(spu, walk.counts, 0);
            count = spu.a(count, other);
        }
        store_vector(spu, product, out);
        if all_below_threshold(spu, out, 4) {
            scale_up(spu, out, 4);
            count = spu.ai(count, 1);
        }
        store_word(spu, count, out_counts, 0);
        for walk in &mut walks {
            *walk = walk.next(spu);
        }
        out = spu.ai(out, 32);
        out_counts = spu.ai(out_counts, 4);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return;
        }
    }
}

/// [`LikelihoodSum`].
#[inline(always)]
pub(super) fn likelihood_sum<S: Spu>(spu: &mut S, kernel: &LikelihoodSum) -> f64 {
    let mut left = spu.ila(PATTERNS_PER_GROUP * kernel.groups);
    let mut sum = spu.il(0);
    if !spu.brz(left) {
        let frequencies = spu.ila(kernel.frequencies.0);
        let mut root = spu.ila(kernel.root.0);
        let mut counts = spu.ila(kernel.counts.0);
        let mut weights = spu.ila(kernel.weights.0);
        loop {
            spu.label();
            let weight = load(spu, weights, 0);
            if !spu.brz(weight) {
                let term = term(spu, [root, counts, frequencies]);
                sum = spu.dfma(weight, term, sum);
            }
            root = spu.ai(root, 32);
            counts = spu.ai(counts, 4);
            weights = spu.ai(weights, 8);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
    let lane_0 = spu.fsmbi(0xFF00);
    let sum = spu.and_(sum, lane_0);
    spu.stqa(sum, kernel.result);
    spu.value(sum).doubles()[0]
}

/// `ln(sum over j of f_j root_j) - 256 count ln 2` of one pattern.
#[inline(always)]
fn term<S: Spu>(spu: &mut S, [root, counts, frequencies]: [S::Register; 3]) -> S::Register {
    let (root, f) = (load_vector(spu, root), load_vector(spu, frequencies));
    let likelihood = spu.dfm(f[0], root[0]);
    let likelihood = spu.dfma(f[1], root[1], likelihood);
    let likelihood = spu.dfma(f[2], root[2], likelihood);
    let likelihood = spu.dfma(f[3], root[3], likelihood);
    let term = logarithm(spu, likelihood);
    let count = load_word(spu, counts, 0);
    let count = word_to_double(spu, count);
    let scaling = constant(spu, LN_OF_SCALING);
    spu.dfma(count, scaling, term)
}

/// [`TipVectors`].
#[inline(always)]
pub(super) fn tip_vectors<S: Spu>(spu: &mut S, kernel: &TipVectors) {
    let mut left = spu.ila(PATTERNS_PER_GROUP * kernel.groups);
    if spu.brz(left) {
        return;
    }
    let table = spu.ila(kernel.tip_table.0);
    let mut codes = spu.ila(kernel.codes.0);
    let mut out = spu.ila(kernel.out.0);
    loop {
        spu.label();
        let code = load_byte(spu, codes);
        let offset = spu.shli(code, 5);
        let vector = spu.a(table, offset);
        let vector = load_vector(spu, vector);
        store_vector(spu, vector, out);
        codes = spu.ai(codes, 1);
        out = spu.ai(out, 32);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return;
        }
    }
}
