//! A step of Newton's method towards the best length of a branch.

use super::{TABLES_BYTES, Version, naive, named, tuned};
use mmgp_base::units::Bytes;
use mmgp_spu::LocalAddress;

/// What a [`NewtonStep`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Progress {
    /// The curvature was wrong and the branch was shortened: derivatives are needed again. It does
    /// not count among the steps that a caller allows.
    Shortened,
    /// A step was made, and z is not yet where it stays.
    #[default]
    Moved,
    /// A step was made that changed z by no more than the tolerance: done.
    Converged,
}

/// From z = exp(-t) and the derivatives g and h of the log-likelihood by ln z a better z, held
/// between [`Z_MIN`](super::Z_MIN) and [`Z_MAX`](super::Z_MAX):
///
/// ```text
/// h >= 0, z < zmax: z' = 0.37 z + 0.63                                        shortened
/// h >= 0, z = zmax: z' = z
/// h < 0, t = -g/h < 100: z' = max(z e^t, zmin), at most 0.25 z + 0.75
/// h < 0, otherwise: z' = 0.25 z + 0.75
/// converged: |z' - z| <= (1 - zmax) z + zmin
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewtonStep {
    /// How it is written.
    pub version: Version,
    /// A quadword {g, h}, from [`Derivatives`](super::Derivatives).
    pub derivatives: LocalAddress,
    /// A quadword whose lane 0 is z; it becomes z', and lane 1 becomes 0.
    pub branch: LocalAddress,
    /// The [tables](super::write_tables).
    pub tables: LocalAddress,
}

kernel! {
    NewtonStep -> Progress, |kernel, spu|
    shape: kernel.version.shape(named!(kernel, "Newton step", ", tuned"), 0);
    blocks: {
        input derivatives[Bytes(16); 1];
        input tables[TABLES_BYTES; 1];
        output branch[Bytes(16); 1];
    }
    versions: naive::newton_step, tuned::newton_step;
}
