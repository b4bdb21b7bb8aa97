//! The vectors of an inner node.

use super::{PatternWalk, element, patterns, pointer, vector_bytes};
use crate::raxml::{Child, GAMMA_CATEGORIES, NewView, Rates, TIP_VECTORS_OFFSET, V_OFFSET};
use crate::scalar::{
    all_below_threshold, entrywise_product, load_vector, load_word, matrix_times_vector, scale_up,
    store_vector, store_word,
};
use mmgp_spu::{LocalAddress, Spu};

/// The place of the kernel: at one pattern.
#[derive(Clone, Copy)]
struct NodePlace<R> {
    children: [PatternWalk<R>; 2],
    categories: R,
    out: R,
    out_counts: R,
}

/// [`NewView`].
#[inline(always)]
pub(in super::super) fn new_view<S: Spu>(spu: &mut S, kernel: &NewView) {
    let mut left = patterns(spu, kernel.groups);
    if spu.brz(left) {
        return;
    }
    let mut place = NodePlace {
        children: [
            PatternWalk::begin(spu, kernel.left.end()),
            PatternWalk::begin(spu, kernel.right.end()),
        ],
        categories: pointer(spu, kernel.categories),
        out: pointer(spu, kernel.out),
        out_counts: pointer(spu, kernel.out_counts),
    };
    let tips_alone = matches!(kernel.right, Child::Tip { .. });
    loop {
        spu.label();
        match kernel.rates {
            Rates::Gamma => mixture(spu, kernel, place),
            Rates::Cat => one_category(spu, kernel, place),
        }
        if tips_alone {
            let zero = spu.il(0);
            store_word(spu, zero, place.out_counts, 0);
        } else {
            scale(spu, kernel, place);
        }
        place = place.next(spu, kernel);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return;
        }
    }
}

impl<R: Copy> NodePlace<R> {
    #[inline(always)]
    fn next<S: Spu<Register = R>>(self, spu: &mut S, kernel: &NewView) -> Self {
        let rates = kernel.rates;
        Self {
            children: [
                self.children[0].next(spu, kernel.left.end(), rates),
                self.children[1].next(spu, kernel.right.end(), rates),
            ],
            categories: spu.ai(self.categories, 4),
            out: spu.ai(self.out, vector_bytes(rates)),
            out_counts: spu.ai(self.out_counts, 4),
        }
    }
}

/// One pattern of GAMMA: a loop over the categories.
#[inline(always)]
fn mixture<S: Spu>(spu: &mut S, kernel: &NewView, place: NodePlace<S::Register>) {
    let mut sources = [
        SumSource::of_mixture(spu, kernel.left, place.children[0]),
        SumSource::of_mixture(spu, kernel.right, place.children[1]),
    ];
    let mut out = spu.ori(place.out, 0);
    let mut categories = spu.ila(GAMMA_CATEGORIES);
    loop {
        spu.label();
        let a = sources[0].sums_of_mixture(spu, kernel.left);
        let b = sources[1].sums_of_mixture(spu, kernel.right);
        combine(spu, kernel.model, [a, b], out);
        sources = [sources[0].next_category(spu), sources[1].next_category(spu)];
        out = spu.ai(out, 32);
        categories = spu.ai(categories, -1);
        if !spu.brnz(categories) {
            return;
        }
    }
}

/// The source of the sums of a child in a category.
#[derive(Clone, Copy)]
struct SumSource<R> {
    /// The vector of an inner node in the category, or what is tabulated for a tip.
    vector: R,
    /// The matrix of the category.
    matrix: R,
}

impl<R: Copy> SumSource<R> {
    /// The source in the first category.
    #[inline(always)]
    fn of_mixture<S: Spu<Register = R>>(spu: &mut S, child: Child, walk: PatternWalk<R>) -> Self {
        match child {
            Child::Tip { products, .. } => {
                let code = load_word(spu, walk.data, 0);
                let vector = element(spu, products, code, 7);
                Self { vector, matrix: vector }
            }
            Child::Inner { matrices, .. } => {
                Self { vector: spu.ori(walk.data, 0), matrix: pointer(spu, matrices) }
            }
        }
    }

    #[inline(always)]
    fn sums_of_mixture<S: Spu<Register = R>>(self, spu: &mut S, child: Child) -> [R; 4] {
        let vector = load_vector(spu, self.vector);
        match child {
            Child::Tip { .. } => vector,
            Child::Inner { .. } => matrix_times_vector(spu, self.matrix, vector),
        }
    }

    #[inline(always)]
    fn next_category<S: Spu<Register = R>>(self, spu: &mut S) -> Self {
        Self { vector: spu.ai(self.vector, 32), matrix: spu.ai(self.matrix, 128) }
    }
}

/// One pattern of CAT.
#[inline(always)]
fn one_category<S: Spu>(spu: &mut S, kernel: &NewView, place: NodePlace<S::Register>) {
    let category = load_word(spu, place.categories, 0);
    let a = sums_of_category(spu, kernel, kernel.left, place.children[0], category);
    let b = sums_of_category(spu, kernel, kernel.right, place.children[1], category);
    combine(spu, kernel.model, [a, b], place.out);
}

#[inline(always)]
fn sums_of_category<S: Spu>(
    spu: &mut S,
    kernel: &NewView,
    child: Child,
    walk: PatternWalk<S::Register>,
    category: S::Register,
) -> [S::Register; 4] {
    let (vector, matrices) = match child {
        Child::Tip { products, .. } => {
            let code = load_word(spu, walk.data, 0);
            (element(spu, kernel.model.offset(TIP_VECTORS_OFFSET), code, 5), products)
        }
        Child::Inner { matrices, .. } => (walk.data, matrices),
    };
    let matrix = element(spu, matrices, category, 7);
    let vector = load_vector(spu, vector);
    matrix_times_vector(spu, matrix, vector)
}

/// `y_j = a_j b_j` and `out_l = sum over j of V_jl y_j`.
#[inline(always)]
fn combine<S: Spu>(
    spu: &mut S,
    model: LocalAddress,
    [a, b]: [[S::Register; 4]; 2],
    out: S::Register,
) {
    let y = entrywise_product(spu, a, b);
    let v = pointer(spu, model.offset(V_OFFSET));
    let x = matrix_times_vector(spu, v, y);
    store_vector(spu, x, out);
}

/// Scales the pattern if it must be, and writes its count.
#[inline(always)]
fn scale<S: Spu>(spu: &mut S, kernel: &NewView, place: NodePlace<S::Register>) {
    let mut count = load_word(spu, place.children[1].counts, 0);
    if let Child::Inner { .. } = kernel.left {
        let other = load_word(spu, place.children[0].counts, 0);
        count = spu.a(count, other);
    }
    let entries = kernel.rates.entries();
    if all_below_threshold(spu, place.out, entries) {
        scale_up(spu, place.out, entries);
        count = spu.ai(count, 1);
    }
    store_word(spu, count, place.out_counts, 0);
}
