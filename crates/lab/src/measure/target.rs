//! Targets of measurements: the seam where a machine plugs in.
//!
//! A [`Target`] runs workloads. What `bench`, `profile`, `validate` and `study` drive can also be
//! measured part by part, as the [emulated machine](super::emulated::Emulated); tests of those drivers
//! have a script that answers at once. The user's own programs are a target of orders, which `tune` and
//! `measure` drive.

use mmgp_apps::{Application, Ran};
use mmgp_base::error::Result;
use mmgp_base::table::MicroBenchmarks;
use mmgp_base::table::records::Profile;
pub use mmgp_base::target::Target;
use mmgp_cell::Progress;

/// A target that can be measured part by part, and not by whole runs alone.
pub trait Measured: Target + Sync {
    /// What it has.
    fn layout(&self) -> Layout;

    /// How many runs may be under way at once without changing each other's times.
    fn at_once(&self) -> usize;

    /// How many steps [`Self::micro_benchmarks`] tells.
    fn micro_benchmark_steps(&self, repetitions: u32) -> u64;

    /// Runs all micro-benchmarks, each so often; what is random is drawn from the seed.
    ///
    /// # Errors
    /// What a measurement runs into.
    fn micro_benchmarks(
        &self,
        repetitions: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<MicroBenchmarks>;

    /// How many steps [`Self::profile`] tells.
    fn profile_steps(&self, workload: &Self::Workload, repetitions: u32) -> u64;

    /// Profiles sequential runs (m = p = 1): one row for each off-loaded function and repetition.
    ///
    /// # Errors
    /// What a run runs into.
    fn profile(
        &self,
        workload: &Self::Workload,
        repetitions: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<Vec<Profile>>;
}

/// A target for [applications](Application).
pub type ApplicationTarget = dyn Measured<Workload = dyn Application, Ran = Ran>;

/// What a target has of each, as far as the model asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// Accelerators: `N_APU`.
    pub apus: u32,
    /// Hardware threads of the host.
    pub hardware_contexts: u32,
    /// Memories that the data may lie in.
    pub memories: u32,
}

impl Layout {
    /// A layout of so many accelerators beside a host of one hardware thread and one memory.
    pub const fn of_apus(apus: u32) -> Self {
        Self { apus, hardware_contexts: 1, memories: 1 }
    }
}
