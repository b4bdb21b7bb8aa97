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
//! [`pack_moments`] and its like turn the arrays of a [tile](mmgp_sweep::Tile) into quadwords.

mod clear;
mod double;
mod error;
mod leakage;
mod line;
mod pack;
mod source;

pub use clear::Clear;
pub use error::Error;
pub use leakage::Leakage;
pub use line::Line;
pub use pack::{
    coefficients, leakage_weights, pack_external, pack_face, pack_moments, pack_total,
    unpack_external, unpack_face, unpack_moments,
};
pub use source::Source;

use mmgp_base::units::Bytes;

/// The moments of a cell's source, or of its flux.
pub const MOMENTS_BYTES: Bytes = Bytes(32);

/// Half of a cell's total cross-section, twice.
pub const TOTAL_BYTES: Bytes = Bytes(16);

/// A cell's external source, and its flux in the iteration before.
pub const EXTERNAL_BYTES: Bytes = Bytes(16);

/// All that a cell has in memory.
pub const CELL_BYTES: Bytes = Bytes(2 * MOMENTS_BYTES.0 + TOTAL_BYTES.0 + EXTERNAL_BYTES.0);

/// The angles of a block at most.
pub const MOST_ANGLES: u32 = 6;

/// Registers that hold the angles of a block, one of each quantity.
pub const fn pairs(angles: u32) -> u32 {
    angles.div_ceil(2)
}

/// The name of a kernel by its number of angles: kernels with different code have different names.
macro_rules! named {
    ($angles:expr, $kernel:literal) => {
        named!($angles, $kernel, "")
    };
    ($angles:expr, $kernel:literal, $more:literal) => {
        match $crate::sweep3d::pairs($angles) {
            1 => concat!($kernel, ", one pair of angles", $more),
            2 => concat!($kernel, ", two pairs of angles", $more),
            _ => concat!($kernel, ", three pairs of angles", $more),
        }
    };
}

use named;

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
