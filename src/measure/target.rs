//! Where it is measured: the seam where a machine plugs in.
//!
//! Whatever measures (`bench`, `profile`), sweeps (`validate`) or does both (`study`) asks a
//! [`Target`]. There are two: the [emulated machine](super::emulated::Emulated), and a
//! [script](super::scripted::Scripted) that answers at once, for tests of those drivers. The user's
//! own machine has its place here; it alone will ask a clock.

use crate::Mapping;
use crate::apps::{Application, Ran};
use crate::cell::Progress;
use crate::error::Result;
use crate::table::MicroBenchmarks;
use crate::table::records::Profile;

/// What can be measured.
pub trait Target: Sync {
    /// What runs on it: an application, a command.
    type Workload: ?Sized + Sync;

    /// Its name, as in `qs20`.
    fn name(&self) -> &str;

    /// What it is, for people.
    fn description(&self) -> &str;

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

    /// Runs the workload once.
    ///
    /// # Errors
    /// [`Infeasible`](crate::Error::Infeasible) where there are fewer than m * p APUs, and what the
    /// run runs into.
    fn run(&self, workload: &Self::Workload, mapping: Mapping) -> Result<Ran>;
}

/// A target for [applications](Application).
pub type ApplicationTarget = dyn Target<Workload = dyn Application>;

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
    /// So many accelerators beside a host of one hardware thread and one memory.
    pub const fn of_apus(apus: u32) -> Self {
        Self { apus, hardware_contexts: 1, memories: 1 }
    }
}
