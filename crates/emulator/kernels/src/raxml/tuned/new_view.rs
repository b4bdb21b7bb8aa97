//! newview.

use super::operand::{CatInner, CatTip, GammaInner, GammaTip, Operand, Place, word_of_pattern};
use super::{Matrix, Scaling};
use crate::raxml::{
    Child, NewView, PATTERNS_PER_GROUP, Rates, TIP_VECTORS_OFFSET, V_OFFSET, Version,
};
use mmgp_spu::Spu;

/// Chooses the loop once, outside of it.
#[inline(always)]
pub(in crate::raxml) fn new_view<S: Spu>(spu: &mut S, kernel: &NewView) {
    use Child::{Inner, Tip};
    match (kernel.rates, kernel.left, kernel.right) {
        (Rates::Gamma, Tip { codes, products }, right) => {
            let left = GammaTip::new(spu, codes, products);
            match right {
                Tip { codes, products } => {
                    let right = GammaTip::new(spu, codes, products);
                    pipelined::<S, _, _, 4, 2>(spu, kernel, left, right);
                }
                Inner { vectors, counts, matrices } => {
                    let right = GammaInner::new(spu, vectors, counts, matrices);
                    pipelined::<S, _, _, 4, 1>(spu, kernel, left, right);
                }
            }
        }
        (Rates::Gamma, Inner { vectors, counts, matrices }, right) => {
            let left = GammaInner::new(spu, vectors, counts, matrices);
            let Inner { vectors, counts, matrices } = right else {
                unreachable!("invariant: a tip is the left child")
            };
            let right = GammaInner::new(spu, vectors, counts, matrices);
            // A product that is not fused with its sum needs a register of its own.
            if kernel.version == Version::Unfused {
                one_by_one::<S, _, _, 1>(spu, kernel, left, right);
            } else {
                one_by_one::<S, _, _, 3>(spu, kernel, left, right);
            }
        }
        (Rates::Cat, Tip { codes, products }, right) => {
            let tip_vectors = kernel.model.offset(TIP_VECTORS_OFFSET);
            let left = CatTip::new(spu, codes, tip_vectors, products);
            match right {
                Tip { codes, products } => {
                    let right = CatTip::new(spu, codes, tip_vectors, products);
                    pipelined::<S, _, _, 1, 2>(spu, kernel, left, right);
                }
                Inner { vectors, counts, matrices } => {
                    let right = CatInner::new(spu, vectors, counts, matrices);
                    pipelined::<S, _, _, 1, 2>(spu, kernel, left, right);
                }
            }
        }
        (Rates::Cat, Inner { vectors, counts, matrices }, right) => {
            let left = CatInner::new(spu, vectors, counts, matrices);
            let Inner { vectors, counts, matrices } = right else {
                unreachable!("invariant: a tip is the left child")
            };
            let right = CatInner::new(spu, vectors, counts, matrices);
            pipelined::<S, _, _, 1, 2>(spu, kernel, left, right);
        }
    }
}

/// The registers that walk through what is written.
#[derive(Debug, Clone, Copy)]
struct Output<R> {
    vectors: R,
    counts: R,
    /// Four times the index of the first pattern of the turn.
    word: R,
    /// Whether each of the last four patterns was scaled.
    decisions: R,
}

impl<R: Copy> Output<R> {
    #[inline(always)]
    fn begin<S: Spu<Register = R>>(spu: &mut S, kernel: &NewView) -> Self {
        Self {
            vectors: spu.ila(kernel.out.0),
            counts: spu.ila(kernel.out_counts.0),
            word: spu.il(0),
            decisions: spu.il(0),
        }
    }
}

/// All patterns, one in each turn of the loop; for two inner nodes with GAMMA, whose matrices alone
/// take 64 registers of 128: what [`pipelined`] holds in addition finds no room. That the loads of a
/// category wait until the one `DELAYED` before it is multiplied saves the registers that they would
/// take.
#[inline(always)]
fn one_by_one<S, Left, Right, const DELAYED: usize>(
    spu: &mut S,
    kernel: &NewView,
    mut left: Left,
    mut right: Right,
) where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    let mut remaining = spu.ila(kernel.groups * PATTERNS_PER_GROUP);
    if spu.brz(remaining) {
        return;
    }
    let factors = Multipliers::load(spu, kernel);
    let scaling = Scaling::load(spu);
    let mut output = Output::begin(spu, kernel);
    loop {
        spu.label();
        spu.hbrr();
        let computed = turn::<S, _, _, 4, 1, DELAYED>(spu, &factors, output.word, &left, &right);
        finish(spu, &scaling, &mut output, &computed, (&left, &right));
        output.word = spu.ai(output.word, 4);
        left.advance(spu, 1);
        right.advance(spu, 1);
        remaining = spu.ai(remaining, -1);
        if !spu.brnz(remaining) {
            break;
        }
    }
}

/// All patterns, `PER_TURN` in each turn of the loop, which computes its patterns, and scales and
/// stores those of the turn before. So the even pipe has the integers of the scaling to do while the
/// odd one loads, and nothing waits for the last sum of a turn.
#[inline(always)]
fn pipelined<S, Left, Right, const CATEGORIES: usize, const PER_TURN: usize>(
    spu: &mut S,
    kernel: &NewView,
    mut left: Left,
    mut right: Right,
) where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    const { assert!((PATTERNS_PER_GROUP as usize).is_multiple_of(PER_TURN)) };
    let per_turn = PER_TURN as i16;
    let turns = spu.ila(kernel.groups * PATTERNS_PER_GROUP / PER_TURN as u32);
    if spu.brz(turns) {
        return;
    }
    let factors = Multipliers::load(spu, kernel);
    let scaling = Scaling::load(spu);
    let mut output = Output::begin(spu, kernel);
    let mut computed = turn::<S, _, _, CATEGORIES, PER_TURN, CATEGORIES>(
        spu,
        &factors,
        output.word,
        &left,
        &right,
    );
    let mut remaining = spu.ai(turns, -1);
    if spu.brnz(remaining) {
        loop {
            spu.label();
            spu.hbrr();
            left.advance(spu, per_turn);
            right.advance(spu, per_turn);
            let word = spu.ai(output.word, 4 * per_turn);
            let next = turn::<S, _, _, CATEGORIES, PER_TURN, CATEGORIES>(
                spu, &factors, word, &left, &right,
            );
            finish(spu, &scaling, &mut output, &computed, (&left, &right));
            output.word = word;
            computed = next;
            remaining = spu.ai(remaining, -1);
            if !spu.brnz(remaining) {
                break;
            }
        }
    }
    finish(spu, &scaling, &mut output, &computed, (&left, &right));
}

/// What all patterns share: V, and where the indices of the categories stand.
#[derive(Debug, Clone, Copy)]
struct Multipliers<R> {
    v: Matrix<R>,
    categories: R,
}

impl<R: Copy> Multipliers<R> {
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S, kernel: &NewView) -> Self {
        let v = Matrix::load(spu, kernel.model.offset(V_OFFSET));
        Self { v, categories: spu.ila(kernel.categories.0) }
    }
}

/// The vectors of a turn before scaling. The loads of a category wait until the one `DELAYED` before
/// it is multiplied.
#[inline(always)]
fn turn<S, Left, Right, const CATEGORIES: usize, const PER_TURN: usize, const DELAYED: usize>(
    spu: &mut S,
    factors: &Multipliers<S::Register>,
    word: S::Register,
    left: &Left,
    right: &Right,
) -> [[[S::Register; 2]; CATEGORIES]; PER_TURN]
where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    let mut vectors = [[[word; 2]; CATEGORIES]; PER_TURN];
    for pattern in 0..PER_TURN {
        let matrix = if CATEGORIES == 1 {
            let category = word_of_pattern(spu, factors.categories, word, pattern);
            spu.shli(category, 7)
        } else {
            word
        };
        let place = Place { word, pattern, matrix };
        vectors[pattern] =
            entries::<S, _, _, CATEGORIES, DELAYED>(spu, &factors.v, place, left, right);
    }
    vectors
}

/// The vector of one pattern, before scaling.
#[inline(always)]
fn entries<S, Left, Right, const CATEGORIES: usize, const DELAYED: usize>(
    spu: &mut S,
    v: &Matrix<S::Register>,
    place: Place<S::Register>,
    left: &Left,
    right: &Right,
) -> [[S::Register; 2]; CATEGORIES]
where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    let of_left = left.pattern(spu, place);
    let of_right = right.pattern(spu, place);
    let mut entries = [[place.word; 2]; CATEGORIES];
    let mut late = [(of_left, of_right); CATEGORIES];
    for category in 0..CATEGORIES {
        let (of_left, of_right) = late[category];
        let a = left.product(spu, of_left, category);
        // Where registers are fewest, one child comes after the other, too.
        let of_right = if DELAYED == 1 && CATEGORIES > 1 {
            let nothing = spu.andi(a[0], 0);
            Right::delayed(spu, of_right, nothing)
        } else {
            of_right
        };
        let b = right.product(spu, of_right, category);
        let y = [spu.dfm(a[0], b[0]), spu.dfm(a[1], b[1])];
        if category + DELAYED < CATEGORIES {
            let nothing = spu.andi(y[0], 0);
            let late_left = Left::delayed(spu, of_left, nothing);
            let late_right = Right::delayed(spu, of_right, nothing);
            late[category + DELAYED] = (late_left, late_right);
        }
        entries[category] = v.times(spu, y);
    }
    entries
}

/// Scales and stores the vectors of a turn, and the counts.
#[inline(always)]
fn finish<S, Left, Right, const CATEGORIES: usize, const PER_TURN: usize>(
    spu: &mut S,
    scaling: &Scaling<S::Register>,
    output: &mut Output<S::Register>,
    computed: &[[[S::Register; 2]; CATEGORIES]; PER_TURN],
    (left, right): (&Left, &Right),
) where
    S: Spu,
    Left: Operand<S>,
    Right: Operand<S>,
{
    let counts = match (left.counts(spu, output.word), right.counts(spu, output.word)) {
        (Some(left), Some(right)) => Some(spu.a(left, right)),
        (counts, None) | (None, counts) => counts,
    };
    for pattern in 0..PER_TURN {
        let displacement = (32 * CATEGORIES * pattern) as i32;
        if counts.is_some() {
            let (entries, decision) = scale(spu, scaling, &computed[pattern]);
            output.decisions = scaling.append(spu, output.decisions, decision);
            store(spu, &entries, displacement, output.vectors);
        } else {
            store(spu, &computed[pattern], displacement, output.vectors);
        }
    }
    // Decisions of patterns that are still to come are wrong, but the last turn of the group stores
    // the right ones over them.
    let counts = match counts {
        Some(counts) => spu.sf(output.decisions, counts),
        None => spu.il(0),
    };
    spu.stqx(counts, output.counts, output.word);
    output.vectors = spu.ai(output.vectors, (32 * CATEGORIES * PER_TURN) as i16);
}

/// The entries of a pattern after scaling, and the decision.
#[inline(always)]
fn scale<S: Spu, const CATEGORIES: usize>(
    spu: &mut S,
    scaling: &Scaling<S::Register>,
    entries: &[[S::Register; 2]; CATEGORIES],
) -> ([[S::Register; 2]; CATEGORIES], S::Register) {
    let mut examined = [scaling.examine(spu, entries[0]); CATEGORIES];
    let mut below = examined[0].below;
    for category in 1..CATEGORIES {
        examined[category] = scaling.examine(spu, entries[category]);
        below = spu.and_(below, examined[category].below);
    }
    let decision = scaling.decide(spu, below);
    let mut entries = *entries;
    for category in 0..CATEGORIES {
        entries[category] = scaling.apply(spu, examined[category], decision);
    }
    (entries, decision)
}

/// Stores the vector of a pattern.
#[inline(always)]
fn store<S: Spu, const CATEGORIES: usize>(
    spu: &mut S,
    entries: &[[S::Register; 2]; CATEGORIES],
    displacement: i32,
    out: S::Register,
) {
    for category in 0..CATEGORIES {
        let displacement = displacement + 32 * category as i32;
        spu.stqd(entries[category][0], displacement, out);
        spu.stqd(entries[category][1], displacement + 16, out);
    }
}
