//! A step of Newton's method towards the best length of a branch.

use super::{TABLES_BYTES, Version, naive, named, tuned};
use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu, Unfused};

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

impl Kernel for NewtonStep {
    type Output = Progress;

    fn shape(&self) -> Shape {
        self.version.shape(named!(self.version, "Newton step"), 0)
    }

    fn blocks(&self) -> Vec<Block> {
        vec![
            Block::input("derivatives", self.derivatives, 1, Bytes(16)),
            Block::input("tables", self.tables, 1, TABLES_BYTES),
            Block::output("branch", self.branch, 1, Bytes(16)),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> Progress {
        match self.version {
            Version::Naive => naive::newton_step(spu, self),
            Version::Unfused => tuned::newton_step(&mut Unfused::new(spu), self),
            Version::Tuned => tuned::newton_step(spu, self),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = Progress> {
        self
    }
}
