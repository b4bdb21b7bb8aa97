//! The children of newview: for a pattern and a category the product of matrix and vector.

use super::SPLAT;
use super::matrix::Matrix;
use crate::raxml::MATRIX_BYTES;
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Spu};

/// Where a pattern is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<R> {
    /// Four times the index of the first pattern of the turn: the offset of its word.
    pub(super) word: R,
    /// Which pattern of the turn.
    pub(super) pattern: usize,
    /// With CAT, the offset of the matrix of the pattern's category; with GAMMA anything.
    pub(super) matrix: R,
}

/// A child.
pub(super) trait Operand<S: Spu>: Copy {
    /// What is loaded once for a pattern.
    type Pattern: Copy;

    /// Loads it.
    fn pattern(&self, spu: &mut S, place: Place<S::Register>) -> Self::Pattern;

    /// The product in a category (CAT: in the pattern's).
    fn product(&self, spu: &mut S, pattern: Self::Pattern, category: usize) -> [S::Register; 2];

    /// The scaling counts of the turn's group, if it has any.
    fn counts(&self, spu: &mut S, word: S::Register) -> Option<S::Register>;

    /// The child, for loads that are not to come before `nothing` is known, which is 0.
    fn delayed(self, spu: &mut S, nothing: S::Register) -> Self;

    /// The child at the pattern so many further on.
    fn next(self, spu: &mut S, patterns: i16) -> Self;
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

    #[inline(always)]
    fn counts(&self, _: &mut S, _: S::Register) -> Option<S::Register> {
        None
    }

    #[inline(always)]
    fn delayed(self, _: &mut S, _: S::Register) -> Self {
        self
    }

    #[inline(always)]
    fn next(self, _: &mut S, _: i16) -> Self {
        self
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
    /// The displacement of the pattern's vector.
    type Pattern = i32;

    #[inline(always)]
    fn pattern(&self, _: &mut S, place: Place<S::Register>) -> i32 {
        128 * place.pattern as i32
    }

    #[inline(always)]
    fn product(&self, spu: &mut S, vector: i32, category: usize) -> [S::Register; 2] {
        let displacement = vector + 32 * category as i32;
        let x = [spu.lqd(displacement, self.vectors), spu.lqd(displacement + 16, self.vectors)];
        self.matrices[category].times(spu, x)
    }

    #[inline(always)]
    fn counts(&self, spu: &mut S, word: S::Register) -> Option<S::Register> {
        Some(spu.lqx(self.counts, word))
    }

    #[inline(always)]
    fn delayed(self, spu: &mut S, nothing: S::Register) -> Self {
        Self { vectors: spu.a(self.vectors, nothing), ..self }
    }

    #[inline(always)]
    fn next(self, spu: &mut S, patterns: i16) -> Self {
        Self { vectors: spu.ai(self.vectors, 128 * patterns), ..self }
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

    #[inline(always)]
    fn counts(&self, _: &mut S, _: S::Register) -> Option<S::Register> {
        None
    }

    #[inline(always)]
    fn delayed(self, _: &mut S, _: S::Register) -> Self {
        self
    }

    #[inline(always)]
    fn next(self, _: &mut S, _: i16) -> Self {
        self
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
    /// The displacement of the vector and the address of the matrix.
    type Pattern = (i32, S::Register);

    #[inline(always)]
    fn pattern(&self, spu: &mut S, place: Place<S::Register>) -> Self::Pattern {
        (32 * place.pattern as i32, spu.a(self.matrices, place.matrix))
    }

    #[inline(always)]
    fn product(&self, spu: &mut S, (vector, matrix): Self::Pattern, _: usize) -> [S::Register; 2] {
        let x = [spu.lqd(vector, self.vectors), spu.lqd(vector + 16, self.vectors)];
        columns_times_vector(spu, matrix, x, self.splat)
    }

    #[inline(always)]
    fn counts(&self, spu: &mut S, word: S::Register) -> Option<S::Register> {
        Some(spu.lqx(self.counts, word))
    }

    #[inline(always)]
    fn delayed(self, spu: &mut S, nothing: S::Register) -> Self {
        Self { vectors: spu.a(self.vectors, nothing), ..self }
    }

    #[inline(always)]
    fn next(self, spu: &mut S, patterns: i16) -> Self {
        Self { vectors: spu.ai(self.vectors, 32 * patterns), ..self }
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
    let sum = [spu.dfma(column[0], x[1], sum[0]), spu.dfma(column[1], x[1], sum[1])];
    let column = [spu.lqd(64, matrix), spu.lqd(80, matrix)];
    let sum = [spu.dfma(column[0], x[2], sum[0]), spu.dfma(column[1], x[2], sum[1])];
    let column = [spu.lqd(96, matrix), spu.lqd(112, matrix)];
    [spu.dfma(column[0], x[3], sum[0]), spu.dfma(column[1], x[3], sum[1])]
}
