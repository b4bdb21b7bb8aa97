//! The kernel's own scheduler, the baseline of PPoPP 2007.

use crate::leases::BusyMap;
use crate::policy::{Decision, Pending, Policy, Request, Steps};
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;

/// A process that waits spins, and the kernel of the machine takes its hardware thread away when its
/// time slice ends. Each process has SPEs of its own, by the mapping.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux;

impl Policy for Linux {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn summary(&self) -> &'static str {
        "The machine's Linux: a process that waits spins until its time slice ends"
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing::kernel(machine)
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        request.lease_own(spes)
    }

    fn leases_own_only(&self) -> bool {
        true
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(pending.spin(process))
    }
}
