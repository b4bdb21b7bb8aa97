//! The children of newview: for a pattern and a category the product of matrix and vector.

use super::{Matrix, SPLAT};
use crate::raxml::MATRIX_BYTES;
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Spu};

/// The place of a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<R> {
    /// Four times the index of the first pattern of the turn: the offset of its word.
    pub(super) word: R,
    /// Which pattern of the turn.
    pub(super) pattern: usize,
    /// The offset of the matrix of the pattern's category with CAT; anything with GAMMA.
    pub(super) matrix: R,
}

/// A child. One with GAMMA holds matrices of 512 bytes, which the host is never to copy for a
/// pattern: what changes on the way is in [`Operand::Pattern`], and what it moves on by is a word.
pub(super) trait Operand<S: Spu> {
    /// The place of a pattern, and what is loaded once for it.
    type Pattern: Copy;

    /// Loads it.
    fn pattern(&self, spu: &mut S, place: Place<S::Register>) -> Self::Pattern;

    /// The product in a category (CAT: in the pattern's).
    fn product(&self, spu: &mut S, pattern: Self::Pattern, category: usize) -> [S::Register; 2];

    /// The scaling counts of the turn's group; tips have none.
    #[inline(always)]
    fn counts(&self, _spu: &mut S, _word: S::Register) -> Option<S::Register> {
        None
    }

    /// The pattern, for loads that are not to come before `nothing` is known, which is 0; of a tip, the
    /// pattern alone.
    #[inline(always)]
    fn delayed(_spu: &mut S, pattern: Self::Pattern, _nothing: S::Register) -> Self::Pattern {
        pattern
    }

    /// Goes on to the pattern so many further on, where the operand moves; the counts stay where they are.
    #[inline(always)]
    fn advance(&mut self, _spu: &mut S, _patterns: i16) {}
}

/// A tip with GAMMA, whose products are in a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct GammaTip<R> {
    codes: R,
    products: R,
}

impl<R: Copy> GammaTip<R> {
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>>(
        spu: &mut S,
        codes: LocalAddress,
        products: LocalAddress,
    ) -> Self {
        Self { codes: spu.ila(codes.0), products: spu.ila(products.0) }
    }
}

impl<S: Spu> Operand<S> for GammaTip<S::Register> {
    /// The address of the code's products.
    type Pattern = S::Register;

    #[inline(always)]
    fn pattern(&self, spu: &mut S, place: Place<S::Register>) -> S::Register {
        let code = word_of_pattern(spu, self.codes, place.word, place.pattern);
        let offset = spu.shli(code, 7);
        spu.a(self.products, offset)
    }

    #[inline(always)]
    fn product(&self, spu: &mut S, products: S::Register, category: usize) -> [S::Register; 2] {
        let displacement = 32 * category as i32;
        [spu.lqd(displacement, products), spu.lqd(displacement + 16, products)]
    }
}

/// An inner node with GAMMA: its matrices stay in registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct GammaInner<R> {
    matrices: [Matrix<R>; 4],
    vectors: R,
    counts: R,
}

impl<R: Copy> GammaInner<R> {
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>>(
        spu: &mut S,
        vectors: LocalAddress,
        counts: LocalAddress,
        matrices: LocalAddress,
    ) -> Self {
        let of_category = |category| matrices.offset(Bytes(category * MATRIX_BYTES.0));
        let matrices = [
            Matrix::load(spu, of_category(0)),
            Matrix::load(spu, of_category(1)),
            Matrix::load(spu, of_category(2)),
            Matrix::load(spu, of_category(3)),
        ];
        Self { matrices, vectors: spu.ila(vectors.0), counts: spu.ila(counts.0) }
    }
}

impl<S: Spu> Operand<S> for GammaInner<S::Register> {
    /// The address of the turn's vectors and the displacement of the pattern's.
    type Pattern = (S::Register, i32);

    #[inline(always)]
    fn pattern(&self, _: &mut S, place: Place<S::Register>) -> Self::Pattern {
        (self.vectors, 128 * place.pattern as i32)
    }

    #[inline(always)]
    fn product(
        &self,
        spu: &mut S,
        (vectors, displacement): Self::Pattern,
        category: usize,
    ) -> [S::Register; 2] {
        let displacement = displacement + 32 * category as i32;
        let x = [spu.lqd(displacement, vectors), spu.lqd(displacement + 16, vectors)];
        self.matrices[category].times(spu, x)
    }

    #[inline(always)]
    fn counts(&self, spu: &mut S, word: S::Register) -> Option<S::Register> {
        Some(spu.lqx(self.counts, word))
    }

    #[inline(always)]
    fn delayed(
        spu: &mut S,
        (vectors, displacement): Self::Pattern,
        nothing: S::Register,
    ) -> Self::Pattern {
        (spu.a(vectors, nothing), displacement)
    }

    #[inline(always)]
    fn advance(&mut self, spu: &mut S, patterns: i16) {
        self.vectors = spu.ai(self.vectors, 128 * patterns);
    }
}

/// A tip with CAT: its vector comes from the model block.
#[derive(Debug, Clone, Copy)]
pub(super) struct CatTip<R> {
    codes: R,
    tip_vectors: R,
    matrices: R,
    splat: [R; 2],
}

impl<R: Copy> CatTip<R> {
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>>(
        spu: &mut S,
        codes: LocalAddress,
        tip_vectors: LocalAddress,
        matrices: LocalAddress,
    ) -> Self {
        Self {
            codes: spu.ila(codes.0),
            tip_vectors: spu.ila(tip_vectors.0),
            matrices: spu.ila(matrices.0),
            splat: [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])],
        }
    }
}

impl<S: Spu> Operand<S> for CatTip<S::Register> {
    /// The vector and the address of the matrix.
    type Pattern = ([S::Register; 2], S::Register);

    #[inline(always)]
    fn pattern(&self, spu: &mut S, place: Place<S::Register>) -> Self::Pattern {
        let code = word_of_pattern(spu, self.codes, place.word, place.pattern);
        let offset = spu.shli(code, 5);
        let address = spu.a(self.tip_vectors, offset);
        let x = [spu.lqd(0, address), spu.lqd(16, address)];
        (x, spu.a(self.matrices, place.matrix))
    }

    #[inline(always)]
    fn product(&self, spu: &mut S, (x, matrix): Self::Pattern, _: usize) -> [S::Register; 2] {
        columns_times_vector(spu, matrix, x, self.splat)
    }
}

/// An inner node with CAT.
#[derive(Debug, Clone, Copy)]
pub(super) struct CatInner<R> {
    vectors: R,
    counts: R,
    matrices: R,
    splat: [R; 2],
}

impl<R: Copy> CatInner<R> {
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>>(
        spu: &mut S,
        vectors: LocalAddress,
        counts: LocalAddress,
        matrices: LocalAddress,
    ) -> Self {
        Self {
            vectors: spu.ila(vectors.0),
            counts: spu.ila(counts.0),
            matrices: spu.ila(matrices.0),
            splat: [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])],
        }
    }
}

impl<S: Spu> Operand<S> for CatInner<S::Register> {
    /// The address of the turn's vectors, the displacement of the pattern's, and the address of
    /// the matrix.
    type Pattern = (S::Register, i32, S::Register);

    #[inline(always)]
    fn pattern(&self, spu: &mut S, place: Place<S::Register>) -> Self::Pattern {
        (self.vectors, 32 * place.pattern as i32, spu.a(self.matrices, place.matrix))
    }

    #[inline(always)]
    fn product(
        &self,
        spu: &mut S,
        (vectors, displacement, matrix): Self::Pattern,
        _: usize,
    ) -> [S::Register; 2] {
        let x = [spu.lqd(displacement, vectors), spu.lqd(displacement + 16, vectors)];
        columns_times_vector(spu, matrix, x, self.splat)
    }

    #[inline(always)]
    fn counts(&self, spu: &mut S, word: S::Register) -> Option<S::Register> {
        Some(spu.lqx(self.counts, word))
    }

    #[inline(always)]
    fn delayed(
        spu: &mut S,
        (vectors, displacement, matrix): Self::Pattern,
        nothing: S::Register,
    ) -> Self::Pattern {
        (spu.a(vectors, nothing), displacement, matrix)
    }

    #[inline(always)]
    fn advance(&mut self, spu: &mut S, patterns: i16) {
        self.vectors = spu.ai(self.vectors, 32 * patterns);
    }
}

/// The word of a pattern, in the preferred slot, from words at `base`: the first pattern of the turn
/// is at `word`, and the turn lies within a group.
#[inline(always)]
pub(super) fn word_of_pattern<S: Spu>(
    spu: &mut S,
    base: S::Register,
    word: S::Register,
    pattern: usize,
) -> S::Register {
    let group = spu.lqx(base, word);
    let first = spu.rotqby(group, word);
    if pattern == 0 { first } else { spu.rotqbyi(first, 4 * pattern as i16) }
}

/// The product of the matrix whose columns stand at `matrix` with a vector, each sum in the order
/// `((M_j0 x_0 + M_j1 x_1) + M_j2 x_2) + M_j3 x_3`, each + with its product rounded once. The matrix
/// is used once, so that bringing it into diagonals would not pay.
#[inline(always)]
fn columns_times_vector<S: Spu>(
    spu: &mut S,
    matrix: S::Register,
    x: [S::Register; 2],
    splat: [S::Register; 2],
) -> [S::Register; 2] {
    let x = [
        spu.shufb(x[0], x[0], splat[0]),
        spu.shufb(x[0], x[0], splat[1]),
        spu.shufb(x[1], x[1], splat[0]),
        spu.shufb(x[1], x[1], splat[1]),
    ];
    let column = [spu.lqd(0, matrix), spu.lqd(16, matrix)];
    let sum = [spu.dfm(column[0], x[0]), spu.dfm(column[1], x[0])];
    let column = [spu.lqd(32, matrix), spu.lqd(48, matrix)];
    let sum =
        [spu.multiply_add(column[0], x[1], sum[0]), spu.multiply_add(column[1], x[1], sum[1])];
    let column = [spu.lqd(64, matrix), spu.lqd(80, matrix)];
    let sum =
        [spu.multiply_add(column[0], x[2], sum[0]), spu.multiply_add(column[1], x[2], sum[1])];
    let column = [spu.lqd(96, matrix), spu.lqd(112, matrix)];
    [spu.multiply_add(column[0], x[3], sum[0]), spu.multiply_add(column[1], x[3], sum[1])]
}
