//! Where a program runs: the seam where a machine plugs in, be it emulated, scripted or real.

use crate::{Mapping, Result};

/// What runs workloads.
pub trait Target {
    /// What runs on it: an application, an [order](crate::attempt::Order) to a command.
    type Workload: ?Sized + Sync;
    /// What comes of a run.
    type Ran;

    /// The name of the machine, as in `qs20`.
    fn name(&self) -> &str;

    /// What it is, for people.
    fn description(&self) -> &str;

    /// Runs the workload once.
    ///
    /// # Errors
    /// [`Infeasible`](crate::Error::Infeasible) where there are fewer than m * p APUs, and what the
    /// run runs into.
    fn run(&self, workload: &Self::Workload, mapping: Mapping) -> Result<Self::Ran>;
}
