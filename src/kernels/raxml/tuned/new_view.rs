//! newview.

use super::matrix::Matrix;
use super::operand::{CatInner, CatTip, GammaInner, GammaTip, Operand, Place, word_of_pattern};
use super::scaling::Scaling;
use crate::kernels::raxml::model_block::{TIP_VECTORS_OFFSET, V_OFFSET};
use crate::kernels::raxml::{Child, NewView, PATTERNS_PER_GROUP, Rates};
use crate::spu::Spu;

/// Chooses the loop once, outside of it.
#[inline(always)]
pub(in crate::kernels::raxml) fn new_view<S: Spu>(spu: &mut S, kernel: &NewView) {
    use Child::{Inner, Tip};
    match (kernel.rates, kernel.left, kernel.right) {
        (Rates::Gamma, Tip { codes, products }, right) => {
            let left = GammaTip::new(spu, codes, products);
            match right {
                Tip { codes, products } => {
                    let right = GammaTip::new(spu, codes, products);
                    patterns::<S, _, _, 4, 2>(spu, kernel, left, right);
                }
                Inner { vectors, counts, matrices } => {
                    let right = GammaInner::new(spu, vectors, counts, matrices);
                    patterns::<S, _, _, 4, 1>(spu, kernel, left, right);
                }
            }
        }
        (Rates::Gamma, Inner { vectors, counts, matrices }, right) => {
            let left = GammaInner::new(spu, vectors, counts, matrices);
            let Inner { vectors, counts, matrices } = right else {
                unreachable!("invariant: a tip is the left child")
            };
            let right = GammaInner::new(spu, vectors, counts, matrices);
            patterns::<S, _, _, 4, 1>(spu, kernel, left, right);
        }
        (Rates::Cat, Tip { codes, products }, right) => {
            let tip_vectors = kernel.model.offset(TIP_VECTORS_OFFSET);
            let left = CatTip::new(spu, codes, tip_vectors, products);
            match right {
                Tip { codes, products } => {
                    let right = CatTip::new(spu, codes, tip_vectors, products);
                    patterns::<S, _, _, 1, 2>(spu, kernel, left, right);
                }
                Inner { vectors, counts, matrices } => {
                    let right = CatInner::new(spu, vectors, counts, matrices);
                    patterns::<S, _, _, 1, 2>(spu, kernel, left, right);
                }
            }
        }
        (Rates::Cat, Inner { vectors, counts, matrices }, right) => {
            let left = CatInner::new(spu, vectors, counts, matrices);
            let Inner { vectors, counts, matrices } = right else {
                unreachable!("invariant: a tip is the left child")
            };
            let right = CatInner::new(spu, vectors, counts, matrices);
            patterns::<S, _, _, 1, 2>(spu, kernel, left, right);
        }
    }
}

/// All patterns, `PER_TURN` in each turn of the loop.
#[inline(always)]
fn patterns<S, Left, Right, const CATEGORIES: usize, const PER_TURN: usize>(
    spu: &mut S,
    kernel: &NewView,
    mut left: Left,
    mut right: Right,
) where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    const { assert!(PATTERNS_PER_GROUP as usize % PER_TURN == 0) };
    let per_turn = PER_TURN as i16;
    let mut remaining = spu.ila(kernel.groups * PATTERNS_PER_GROUP / PER_TURN as u32);
    if spu.brz(remaining) {
        return;
    }
    let v = Matrix::load(spu, kernel.model.offset(V_OFFSET));
    let scaling = Scaling::load(spu);
    let categories = spu.ila(kernel.categories.0);
    let mut out = spu.ila(kernel.out.0);
    let out_counts = spu.ila(kernel.out_counts.0);
    let mut word = spu.il(0);
    let mut decisions = spu.il(0);
    loop {
        spu.label();
        spu.hbrr();
        let counts = match (left.counts(spu, word), right.counts(spu, word)) {
            (Some(left), Some(right)) => Some(spu.a(left, right)),
            (counts, None) | (None, counts) => counts,
        };
        for pattern in 0..PER_TURN {
            let matrix = if CATEGORIES == 1 {
                let category = word_of_pattern(spu, categories, word, pattern);
                spu.shli(category, 7)
            } else {
                word
            };
            let place = Place { word, pattern, matrix };
            let entries = entries::<S, _, _, CATEGORIES>(spu, &v, place, left, right);
            let displacement = (32 * CATEGORIES * pattern) as i32;
            if counts.is_some() {
                let scaled = scale(spu, &scaling, entries);
                decisions = scaling.append(spu, decisions, scaled.1);
                store(spu, scaled.0, displacement, out);
            } else {
                store(spu, entries, displacement, out);
            }
        }
        // Decisions of patterns that are still to come are wrong, but the last turn of the group
        // stores the right ones over them.
        let counts = match counts {
            Some(counts) => spu.sf(decisions, counts),
            None => spu.il(0),
        };
        spu.stqx(counts, out_counts, word);
        left = left.next(spu, per_turn);
        right = right.next(spu, per_turn);
        out = spu.ai(out, 32 * CATEGORIES as i16 * per_turn);
        word = spu.ai(word, 4 * per_turn);
        remaining = spu.ai(remaining, -1);
        if !spu.brnz(remaining) {
            break;
        }
    }
}

/// The vector of one pattern, before scaling.
#[inline(always)]
fn entries<S, Left, Right, const CATEGORIES: usize>(
    spu: &mut S,
    v: &Matrix<S::Register>,
    place: Place<S::Register>,
    left: Left,
    right: Right,
) -> [[S::Register; 2]; CATEGORIES]
where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    let of_left = left.pattern(spu, place);
    let of_right = right.pattern(spu, place);
    let mut entries = [[place.word; 2]; CATEGORIES];
    for category in 0..CATEGORIES {
        let a = left.product(spu, of_left, category);
        let b = right.product(spu, of_right, category);
        let y = [spu.dfm(a[0], b[0]), spu.dfm(a[1], b[1])];
        entries[category] = v.times(spu, y);
    }
    entries
}

/// The entries of a pattern after scaling, and the decision.
#[inline(always)]
fn scale<S: Spu, const CATEGORIES: usize>(
    spu: &mut S,
    scaling: &Scaling<S::Register>,
    mut entries: [[S::Register; 2]; CATEGORIES],
) -> ([[S::Register; 2]; CATEGORIES], S::Register) {
    let mut examined = [scaling.examine(spu, entries[0]); CATEGORIES];
    let mut below = examined[0].below;
    for category in 1..CATEGORIES {
        examined[category] = scaling.examine(spu, entries[category]);
        below = spu.and_(below, examined[category].below);
    }
    let decision = scaling.decide(spu, below);
    for category in 0..CATEGORIES {
        entries[category] = scaling.apply(spu, examined[category], decision);
    }
    (entries, decision)
}

/// Stores the vector of a pattern.
#[inline(always)]
fn store<S: Spu, const CATEGORIES: usize>(
    spu: &mut S,
    entries: [[S::Register; 2]; CATEGORIES],
    displacement: i32,
    out: S::Register,
) {
    for category in 0..CATEGORIES {
        let displacement = displacement + 32 * category as i32;
        spu.stqd(entries[category][0], displacement, out);
        spu.stqd(entries[category][1], displacement + 16, out);
    }
}
