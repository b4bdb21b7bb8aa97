//! What [`NodeUpdate`](super::NodeUpdate) and [`RootProduct`](super::RootProduct) share: for each
//! pattern the product over the children of matrix times vector, and its scaling.
//!
//! ```text
//! out_j = prod over children c of (sum over k of P^c_jk l^c_k)
//! sum:     ((P_j0 l_0 + P_j1 l_1) + P_j2 l_2) + P_j3 l_3, each + with its product rounded once
//! product: (first * second) * third
//! ```
//!
//! The states j = 0, 1 share a register and so do 2, 3, so a child takes 2 `dfm` and 6 `dfma` for
//! a pattern, and each child after the first 2 `dfm` more.
//!
//! The work on a group is written out rather than left to `map` and other iterators: a closure is
//! compiled on its own wherever it is not inlined, and then for a host without fused multiply-add.
//! So are the loops over the children, of which there are two or three.

use crate::logarithm::{FIRST_DOUBLES, SECOND_DOUBLES};
use mmgp_spu::{LocalAddress, Quadword, Spu};

/// A child: where its transition matrix, its vectors and its counts lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) matrix: LocalAddress,
    pub(super) vectors: LocalAddress,
    pub(super) counts: LocalAddress,
}

/// What is combined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product<const CHILDREN: usize> {
    pub(super) groups: u32,
    pub(super) children: [Neighbour; CHILDREN],
    pub(super) out: LocalAddress,
    pub(super) out_counts: LocalAddress,
}

/// The patterns of one group.
const PATTERNS: usize = super::PATTERNS_PER_GROUP as usize;

/// High word of 2^-256: a non-negative double is smaller exactly where its high word is.
const THRESHOLD_HIGH_HALFWORD: u16 = 0x2FF0;

/// 256 in the exponent field of a high word.
const SCALING_HIGH_HALFWORD: u16 = 0x1000;

/// Words 0 of two registers, then their words 2.
const HIGH_WORDS: Quadword =
    Quadword::from_words([0x0001_0203, 0x1011_1213, 0x0809_0A0B, 0x1819_1A1B]);

/// Shuffles the word of each pattern into both high words, and zeros into the low ones.
const SPREAD: [Quadword; PATTERNS] =
    [spread(0x0001_0203), spread(0x0405_0607), spread(0x0809_0A0B), spread(0x0C0D_0E0F)];

const fn spread(word: u32) -> Quadword {
    Quadword::from_words([word, 0x8080_8080, word, 0x8080_8080])
}

/// Both doubles twice: the first of a register, the second of a register.
const SPLAT: [Quadword; 2] =
    [Quadword([FIRST_DOUBLES.0[0]; 2]), Quadword([SECOND_DOUBLES.0[0]; 2])];

/// Constants in registers.
#[derive(Clone, Copy)]
struct ProductConstants<R> {
    splat: [R; 2],
    high_words: R,
    first_doubles: R,
    second_doubles: R,
    spread: [R; PATTERNS],
    threshold: R,
    scaling: R,
}

impl<R: Copy> ProductConstants<R> {
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S) -> Self {
        Self {
            splat: [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])],
            high_words: spu.lqr(HIGH_WORDS),
            first_doubles: spu.lqr(FIRST_DOUBLES),
            second_doubles: spu.lqr(SECOND_DOUBLES),
            spread: [
                spu.lqr(SPREAD[0]),
                spu.lqr(SPREAD[1]),
                spu.lqr(SPREAD[2]),
                spu.lqr(SPREAD[3]),
            ],
            threshold: spu.ilhu(THRESHOLD_HIGH_HALFWORD),
            scaling: spu.ilhu(SCALING_HIGH_HALFWORD),
        }
    }
}

/// The registers that walk through a child's data.
#[derive(Clone, Copy)]
struct ChildWalk<R> {
    /// Two registers for each column.
    matrix: [R; 8],
    vectors: R,
    counts: R,
}

impl<R: Copy> ChildWalk<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(spu: &mut S, child: Neighbour) -> Self {
        let mut half = |index: u32| spu.lqa(LocalAddress(child.matrix.0 + 16 * index));
        let matrix = [half(0), half(1), half(2), half(3), half(4), half(5), half(6), half(7)];
        let (vectors, counts) = (spu.ila(child.vectors.0), spu.ila(child.counts.0));
        Self { matrix, vectors, counts }
    }

    /// The walk at the next group.
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        let (vectors, counts) = (spu.ai(self.vectors, 128), spu.ai(self.counts, 16));
        Self { vectors, counts, ..self }
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
    let mut left = spu.ila(groups);
    if spu.brz(left) {
        return;
    }
    let constants = ProductConstants::load(spu);
    let mut walks = [ChildWalk::begin(spu, children[0]); CHILDREN];
    for child in 1..CHILDREN {
        walks[child] = ChildWalk::begin(spu, children[child]);
    }
    let mut out = spu.ila(out.0);
    let mut out_counts = spu.ila(out_counts.0);
    loop {
        spu.label();
        spu.hbrr();
        let products = [
            pattern_product(spu, &constants, &walks, 0),
            pattern_product(spu, &constants, &walks, 1),
            pattern_product(spu, &constants, &walks, 2),
            pattern_product(spu, &constants, &walks, 3),
        ];
        let counts = sum_of_counts(spu, &walks);
        let counts = scale_and_store(spu, &constants, products, counts, out);
        spu.stqd(counts, 0, out_counts);
        walks[0] = walks[0].next(spu);
        walks[1] = walks[1].next(spu);
        if CHILDREN > 2 {
            walks[2] = walks[2].next(spu);
        }
        out = spu.ai(out, 128);
        out_counts = spu.ai(out_counts, 16);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            break;
        }
    }
}

/// The product over the children for one pattern, before scaling: states 0, 1 and states 2, 3.
#[inline(always)]
fn pattern_product<S: Spu, const CHILDREN: usize>(
    spu: &mut S,
    constants: &ProductConstants<S::Register>,
    children: &[ChildWalk<S::Register>; CHILDREN],
    pattern: usize,
) -> [S::Register; 2] {
    let first = matrix_times_vector(spu, constants, &children[0], pattern);
    let second = matrix_times_vector(spu, constants, &children[1], pattern);
    let product = [spu.dfm(first[0], second[0]), spu.dfm(first[1], second[1])];
    if CHILDREN == 2 {
        return product;
    }
    let third = matrix_times_vector(spu, constants, &children[2], pattern);
    [spu.dfm(product[0], third[0]), spu.dfm(product[1], third[1])]
}

/// sum over k of P_jk l_k for one pattern of a child.
#[inline(always)]
fn matrix_times_vector<S: Spu>(
    spu: &mut S,
    constants: &ProductConstants<S::Register>,
    child: &ChildWalk<S::Register>,
    pattern: usize,
) -> [S::Register; 2] {
    let displacement = 32 * pattern as i32;
    let lower = spu.lqd(displacement, child.vectors);
    let upper = spu.lqd(displacement + 16, child.vectors);
    let l = [
        spu.shufb(lower, lower, constants.splat[0]),
        spu.shufb(lower, lower, constants.splat[1]),
        spu.shufb(upper, upper, constants.splat[0]),
        spu.shufb(upper, upper, constants.splat[1]),
    ];
    let p = child.matrix;
    let sum = [spu.dfm(p[0], l[0]), spu.dfm(p[1], l[0])];
    let sum = [spu.multiply_add(p[2], l[1], sum[0]), spu.multiply_add(p[3], l[1], sum[1])];
    let sum = [spu.multiply_add(p[4], l[2], sum[0]), spu.multiply_add(p[5], l[2], sum[1])];
    [spu.multiply_add(p[6], l[3], sum[0]), spu.multiply_add(p[7], l[3], sum[1])]
}

/// The counts of the children added up, for the four patterns of a group.
#[inline(always)]
fn sum_of_counts<S: Spu, const CHILDREN: usize>(
    spu: &mut S,
    children: &[ChildWalk<S::Register>; CHILDREN],
) -> S::Register {
    let first = spu.lqd(0, children[0].counts);
    let second = spu.lqd(0, children[1].counts);
    let sum = spu.a(first, second);
    if CHILDREN == 2 {
        return sum;
    }
    let third = spu.lqd(0, children[2].counts);
    spu.a(sum, third)
}

/// Scales the patterns of a group whose entries are all below 2^-256, stores all of them at `out`
/// and returns the counts with the new scalings added.
///
/// Multiplying by 2^256 is adding 256 to the exponent, which two instructions of 2 cycles do
/// where a `dfm` would keep both pipes for 7. Zero must stay zero, so it is spared.
#[inline(always)]
fn scale_and_store<S: Spu>(
    spu: &mut S,
    constants: &ProductConstants<S::Register>,
    products: [[S::Register; 2]; PATTERNS],
    counts: S::Register,
    out: S::Register,
) -> S::Register {
    let below = [
        all_below(spu, constants, products[0]),
        all_below(spu, constants, products[1]),
        all_below(spu, constants, products[2]),
        all_below(spu, constants, products[3]),
    ];
    let first_two = spu.shufb(below[0], below[1], constants.high_words);
    let last_two = spu.shufb(below[2], below[3], constants.high_words);
    let even_states = spu.shufb(first_two, last_two, constants.first_doubles);
    let odd_states = spu.shufb(first_two, last_two, constants.second_doubles);
    // Word p: all ones, which is -1, where pattern p is to be scaled.
    let scaled = spu.and_(even_states, odd_states);
    let counts = spu.sf(scaled, counts);
    let exponent = spu.and_(scaled, constants.scaling);
    store_pattern(spu, constants, 0, products[0], exponent, out);
    store_pattern(spu, constants, 1, products[1], exponent, out);
    store_pattern(spu, constants, 2, products[2], exponent, out);
    store_pattern(spu, constants, 3, products[3], exponent, out);
    counts
}

/// Words 0 and 2: whether states 0 and 2, and states 1 and 3, are both below the threshold.
#[inline(always)]
fn all_below<S: Spu>(
    spu: &mut S,
    constants: &ProductConstants<S::Register>,
    [lower, upper]: [S::Register; 2],
) -> S::Register {
    let lower = spu.clgt(constants.threshold, lower);
    let upper = spu.clgt(constants.threshold, upper);
    spu.and_(lower, upper)
}

/// Adds its word of `exponent` to the exponents of a pattern's entries and stores them.
#[inline(always)]
fn store_pattern<S: Spu>(
    spu: &mut S,
    constants: &ProductConstants<S::Register>,
    pattern: usize,
    [lower, upper]: [S::Register; 2],
    exponent: S::Register,
    out: S::Register,
) {
    let exponent = spu.shufb(exponent, exponent, constants.spread[pattern]);
    let displacement = 32 * pattern as i32;
    let lower = add_to_exponents(spu, lower, exponent);
    spu.stqd(lower, displacement, out);
    let upper = add_to_exponents(spu, upper, exponent);
    spu.stqd(upper, displacement + 16, out);
}

/// Multiplies two doubles by the power of two whose exponent stands in the high words; zeros stay.
#[inline(always)]
fn add_to_exponents<S: Spu>(
    spu: &mut S,
    entries: S::Register,
    exponent: S::Register,
) -> S::Register {
    let zero = spu.ceqi(entries, 0);
    let added = spu.andc(exponent, zero);
    spu.a(entries, added)
}
