//! The kernels of Sweep3D: a line of cells along i for a block of angles, and what goes before and
//! after a sweep.
//!
//! Angles stand side by side in a register, two and two; of an odd number the last has a lane beside
//! it that is zero everywhere and stays so. What lies in local store, in quadwords:
//!
//! | of | quadwords | |
//! |---|---|---|
//! | cell: source | `(q0, q1)` `(q2, q3)` | [`MOMENTS_BYTES`] |
//! | cell: flux | `(phi0, phi1)` `(phi2, phi3)` | [`MOMENTS_BYTES`] |
//! | cell: matter | `(sigma_t / 2, sigma_t / 2)` | [`TOTAL_BYTES`] |
//! | cell: external | `(s, phi0 of the iteration before)` | [`EXTERNAL_BYTES`] |
//! | element of a face | `(angle 0, angle 1)`, ... | [`face_bytes`] |
//!
//! That is 96 bytes a cell. sigma_t takes a quadword and not half of one: the half would have to be
//! chosen by where the cell stands, with a control of its own, in a line that may run either way;
//! and half of it, as the estimate of 1/x then comes out as 2 / (sigma_t + ci + cj + ck), by which
//! the sum of inflow and outflow is computed at once.
//!
//! [`pack_total`] and its like turn the arrays of a [tile](mmgp_sweep::Tile) into quadwords.

mod iteration;
mod line;

pub use iteration::{ClearFace, Error, Leakage, Source};
pub use line::Line;

use mmgp_base::units::Bytes;
use mmgp_spu::{Quadword, Spu};
use mmgp_sweep::{Direction, MOMENTS, Moments};

/// The moments of a cell's source, or of its flux.
pub const MOMENTS_BYTES: Bytes = Bytes(32);

/// Half of a cell's total cross-section, twice.
pub const TOTAL_BYTES: Bytes = Bytes(16);

/// A cell's external source, and its flux in the iteration before.
pub const EXTERNAL_BYTES: Bytes = Bytes(16);

/// Registers that hold the angles of a block, one of each quantity.
pub const fn pairs(angles: u32) -> u32 {
    angles.div_ceil(2)
}

/// The name of a kernel by its number of angles: kernels with different code have different names.
macro_rules! named_by_angles {
    ($angles:expr, $kernel:literal) => {
        named_by_angles!($angles, $kernel, "")
    };
    ($angles:expr, $kernel:literal, $more:literal) => {
        match $crate::sweep3d::pairs($angles) {
            1 => concat!($kernel, ", one pair of angles", $more),
            2 => concat!($kernel, ", two pairs of angles", $more),
            _ => concat!($kernel, ", three pairs of angles", $more),
        }
    };
}

use named_by_angles;

/// One element of a face: what flows between two cells along all angles of a block.
pub const fn face_bytes(angles: u32) -> Bytes {
    Bytes(16 * pairs(angles) as u64)
}

/// What [`coefficients`] makes for a block of angles.
pub const fn coefficients_bytes(angles: u32) -> Bytes {
    Bytes(16 * pairs(angles) as u64 * COEFFICIENTS as u64)
}

/// Quadwords of coefficients for each pair of angles: ci, cj, ck, half of their sum, mu, eta, xi,
/// and pn w / 2 for each moment.
const COEFFICIENTS: usize = 11;

/// The moments of cells from two quadwords each.
pub fn unpack_moments(quadwords: &[Quadword]) -> Vec<Moments> {
    let (records, _) = quadwords.as_chunks::<{ MOMENTS / 2 }>();
    let record = |[one, other]: &[Quadword; 2]| {
        let ([a, b], [c, d]) = (one.doubles(), other.doubles());
        [a, b, c, d]
    };
    records.iter().map(record).collect()
}

/// Total cross-sections, each as its half twice.
pub fn pack_total(cells: &[f64]) -> Vec<Quadword> {
    cells.iter().map(|total| Quadword::from_doubles([total / 2.0; 2])).collect()
}

/// External sources and the fluxes phi_0 of the iteration before.
pub fn pack_external(external: &[f64], old: &[f64]) -> Vec<Quadword> {
    external.iter().zip(old).map(|(&s, &old)| Quadword::from_doubles([s, old])).collect()
}

/// What [`Line`] needs of the directions of a block.
pub fn coefficients(directions: &[Direction]) -> Vec<Quadword> {
    let of_pair = |pair: &[Direction]| {
        let both = |of: &dyn Fn(&Direction) -> f64, padding: f64| {
            let other = pair.get(1).map_or(padding, of);
            Quadword::from_doubles([of(&pair[0]), other])
        };
        let mut block = [Quadword::ZERO; COEFFICIENTS];
        for axis in 0..3 {
            block[axis] = both(&|it| it.coefficients[axis], 0.0);
            block[4 + axis] = both(&|it| it.moments[1 + axis], 0.0);
        }
        // Beside an odd angle stands a denominator of which there is a reciprocal.
        block[3] = both(&|it| it.coefficients.iter().sum::<f64>() / 2.0, 1.0);
        for moment in 0..MOMENTS {
            block[7 + moment] = both(&|it| it.moments[moment] * it.weight / 2.0, 0.0);
        }
        block
    };
    directions.chunks(2).flat_map(of_pair).collect()
}

/// What [`Leakage`] needs: for each angle its cosine to an axis times its weight.
pub fn leakage_weights(weights: &[f64]) -> Vec<Quadword> {
    let pair =
        |pair: &[f64]| Quadword::from_doubles([pair[0], pair.get(1).copied().unwrap_or(0.0)]);
    weights.chunks(2).map(pair).collect()
}

/// Doubleword 0, or 1, of the one operand before the same of the other.
const FIRSTS: Quadword = Quadword([0x0001_0203_0405_0607, 0x1011_1213_1415_1617]);
const SECONDS: Quadword = Quadword([0x0809_0A0B_0C0D_0E0F, 0x1819_1A1B_1C1D_1E1F]);

/// Doubleword 0, or 1, twice.
const FIRST_TWICE: Quadword = Quadword([FIRSTS.0[0]; 2]);
const SECOND_TWICE: Quadword = Quadword([SECONDS.0[0]; 2]);

/// Doubleword 0, or 1, and a zero behind it.
const FIRST_ALONE: Quadword = Quadword([FIRSTS.0[0], ZEROS]);
const SECOND_ALONE: Quadword = Quadword([SECONDS.0[0], ZEROS]);

const ZEROS: u64 = 0x8080_8080_8080_8080;

/// The signs of two doubles.
const SIGNS: Quadword = Quadword([1 << 63; 2]);

/// The two words of each double exchanged.
const EXCHANGED: Quadword = Quadword([0x0405_0607_0001_0203, 0x0C0D_0E0F_0809_0A0B]);

/// The high word of each double twice.
const HIGH_TWICE: Quadword = Quadword([0x0001_0203_0001_0203, 0x0809_0A0B_0809_0A0B]);

/// The high word of each double, and zero for the low one.
const HIGH_ALONE: Quadword = Quadword([0x0001_0203_8080_8080, 0x0809_0A0B_8080_8080]);

/// The same double in both lanes.
const fn both(x: f64) -> Quadword {
    Quadword::from_doubles([x, x])
}

/// A copy for an instruction that overwrites its operand: a rotation by nothing, as the odd pipe has
/// the time for it.
#[inline(always)]
fn copy<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    spu.rotqbyi(x, 0)
}

/// Masks of the doubles that are zero, of either sign.
#[inline(always)]
fn is_zero<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let signs = spu.lqr(SIGNS);
    let exchanged = spu.lqr(EXCHANGED);
    let magnitude = spu.andc(x, signs);
    let words = spu.ceqi(magnitude, 0);
    let others = spu.shufb(words, words, exchanged);
    spu.and_(words, others)
}

/// Masks of the doubles whose sign is set.
#[inline(always)]
fn has_sign<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let signs = spu.rotmai(x, -31);
    let twice = spu.lqr(HIGH_TWICE);
    spu.shufb(signs, signs, twice)
}
