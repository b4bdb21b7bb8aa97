//! Event-driven task-level parallelism (EDTLP, PPoPP 2007).

use crate::leases::BusyMap;
use crate::policy::{Decision, Pending, Policy, Request, Steps};
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;

/// A user-level scheduler gives the hardware thread of a process that waits to the next one whose
/// off-load is done, in the order in which they became ready, and polls while there is none. Each
/// process has SPEs of its own, by the mapping.
///
/// Left out: the test whether a task is large enough to be off-loaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Edtlp;

impl Policy for Edtlp {
    fn name(&self) -> &'static str {
        "edtlp"
    }

    fn summary(&self) -> &'static str {
        "Event-driven task-level parallelism: a process that waits gives its hardware thread away"
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing::cooperative(machine)
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        request.lease_own(spes)
    }

    fn leases_own_only(&self) -> bool {
        true
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(async {
            process.release();
            pending.completion().await;
            process.resume().await;
        })
    }

    /// Without the kernel: as where it waits for what is there already.
    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        Box::pin(async {
            process.release();
            process.resume().await;
        })
    }
}
