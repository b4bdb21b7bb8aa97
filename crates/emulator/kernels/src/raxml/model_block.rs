//! The model as the SPE fetches it from main memory.

use super::MAX_CATEGORIES;
use mmgp_base::units::Bytes;
use mmgp_spu::Quadword;

/// The size of a model block.
pub const MODEL_BYTES: Bytes = Bytes(1152);

/// EI as `[l][j]`: 16 doubles.
pub(super) const EI_OFFSET: Bytes = Bytes(0);
/// V as `[j][l]`: 16 doubles.
pub(super) const V_OFFSET: Bytes = Bytes(128);
/// lambda_l: 4 doubles; zeros follow, 4 doubles.
pub(super) const EIGENVALUES_OFFSET: Bytes = Bytes(256);
/// Rates of the categories: 26 doubles, the unused ones 0.
pub(super) const RATES_OFFSET: Bytes = Bytes(320);
/// Tip vectors by code: 16 codes x 4 doubles, that of code 0 zero.
pub(super) const TIP_VECTORS_OFFSET: Bytes = Bytes(640);

const DOUBLES: usize = MODEL_BYTES.0 as usize / 8;

/// A model of substitution, by its eigen system, and the rates of its categories: what a host knows
/// before it writes the block.
///
/// | offset in bytes | data |
/// |---|---|
/// | 0 | EI_jl as `[l][j]`, 16 doubles |
/// | 128 | V_jl as `[j][l]`, 16 doubles |
/// | 256 | lambda_l, 4 doubles |
/// | 288 | zeros, 4 doubles |
/// | 320 | rates of the categories, 26 doubles: 4 with GAMMA, up to 25 with CAT, then zeros |
/// | 528 | zeros |
/// | 640 | tip vectors: for each of 16 codes the sum of V_jl over its states j, 4 doubles |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelBlock<'m> {
    /// `ei[j][l]` = EI_jl = V_jl / V_j0.
    pub ei: [[f64; 4]; 4],
    /// `v[j][l]` = V_jl.
    pub v: [[f64; 4]; 4],
    /// lambda_l >= 0, the zero first.
    pub eigenvalues: [f64; 4],
    /// The rates of the categories, 1 to 25.
    pub rates: &'m [f64],
}

impl ModelBlock<'_> {
    /// The block, quadword by quadword.
    ///
    /// # Panics
    /// Where there are more rates than [`MAX_CATEGORIES`], which is a bug of the caller.
    pub fn quadwords(&self) -> [Quadword; DOUBLES / 2] {
        assert!(self.rates.len() <= MAX_CATEGORIES as usize, "invariant: at most 25 categories");
        let mut doubles = [0.0; DOUBLES];
        let mut put = |offset: Bytes, values: &[f64]| {
            let first = offset.0 as usize / 8;
            doubles[first..first + values.len()].copy_from_slice(values);
        };
        let transposed: [[f64; 4]; 4] =
            std::array::from_fn(|l| std::array::from_fn(|j| self.ei[j][l]));
        put(EI_OFFSET, transposed.as_flattened());
        put(V_OFFSET, self.v.as_flattened());
        put(EIGENVALUES_OFFSET, &self.eigenvalues);
        put(RATES_OFFSET, self.rates);
        let tips: [[f64; 4]; 16] = std::array::from_fn(|code| self.tip_vector(code));
        put(TIP_VECTORS_OFFSET, tips.as_flattened());
        std::array::from_fn(|i| Quadword::from_doubles([doubles[2 * i], doubles[2 * i + 1]]))
    }

    /// The sum of the rows of V of the states that `code` allows.
    fn tip_vector(&self, code: usize) -> [f64; 4] {
        let states = (0..4).filter(|state| code >> state & 1 == 1);
        states.fold([0.0; 4], |sum, j| std::array::from_fn(|l| sum[l] + self.v[j][l]))
    }
}
