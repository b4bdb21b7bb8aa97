//! The product of a 4 x 4 matrix with a vector.

use super::FIRST_AND_SECOND;
use mmgp_spu::{LocalAddress, Spu};

/// A matrix in registers, by diagonals: with the vector's two registers {x_0, x_1} and {x_2, x_3},
/// and the same with their lanes exchanged, each register of the matrix has in lane 0 and 1 what
/// belongs to the rows of that lane. So two exchanges make a product, where columns would need four
/// copies of an entry into both lanes.
///
/// ```text
/// rows 0, 1:  {M00, M11} {M01, M10} {M02, M13} {M03, M12}
/// rows 2, 3:  {M20, M31} {M21, M30} {M22, M33} {M23, M32}
/// times       {x0, x1}   {x1, x0}   {x2, x3}   {x3, x2}
/// ```
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix<R> {
    rows: [[R; 4]; 2],
}

impl<R: Copy> Matrix<R> {
    /// Loads the matrix whose columns stand at `address` one after the other.
    #[inline(always)]
    pub(super) fn load<S: Spu<Register = R>>(spu: &mut S, address: LocalAddress) -> Self {
        let select = spu.lqr(FIRST_AND_SECOND);
        let rows = [rows(spu, address, select), rows(spu, LocalAddress(address.0 + 16), select)];
        Self { rows }
    }

    /// The product with a vector, each sum in the order `((M_j0 x_0 + M_j1 x_1) + M_j2 x_2) +
    /// M_j3 x_3` for even j and `((M_j1 x_1 + M_j0 x_0) + M_j3 x_3) + M_j2 x_2` for odd j, each +
    /// with its product rounded once; 8 double-precision instructions.
    #[inline(always)]
    pub(super) fn times<S: Spu<Register = R>>(&self, spu: &mut S, x: [R; 2]) -> [R; 2] {
        let exchanged = [spu.rotqbyi(x[0], 8), spu.rotqbyi(x[1], 8)];
        let [lower, upper] = self.rows;
        let sum = [spu.dfm(lower[0], x[0]), spu.dfm(upper[0], x[0])];
        let sum = [
            spu.multiply_add(lower[1], exchanged[0], sum[0]),
            spu.multiply_add(upper[1], exchanged[0], sum[1]),
        ];
        let sum =
            [spu.multiply_add(lower[2], x[1], sum[0]), spu.multiply_add(upper[2], x[1], sum[1])];
        [
            spu.multiply_add(lower[3], exchanged[1], sum[0]),
            spu.multiply_add(upper[3], exchanged[1], sum[1]),
        ]
    }
}

/// Two rows, by diagonals; `address` is that of their part of the first column.
#[inline(always)]
fn rows<S: Spu>(spu: &mut S, address: LocalAddress, select: S::Register) -> [S::Register; 4] {
    let column = [
        spu.lqa(address),
        spu.lqa(LocalAddress(address.0 + 32)),
        spu.lqa(LocalAddress(address.0 + 64)),
        spu.lqa(LocalAddress(address.0 + 96)),
    ];
    [
        spu.shufb(column[0], column[1], select),
        spu.shufb(column[1], column[0], select),
        spu.shufb(column[2], column[3], select),
        spu.shufb(column[3], column[2], select),
    ]
}
