//! Policies that leave it to the machine's Linux who goes on: what differs is how a process waits.

use crate::policy::{Moves, Pending, Policy, Steps};
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;

/// A policy under which the kernel decides, each process has SPEs of its own by the mapping, and a
/// process waits in this way.
macro_rules! under_the_kernel {
    ($(#[$doc:meta])* $policy:ident, $name:literal, $summary:literal, $wait:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $policy;

        impl Policy for $policy {
            fn name(&self) -> &'static str {
                $name
            }

            fn summary(&self) -> &'static str {
                $summary
            }

            fn sharing(&self, machine: &Machine) -> Sharing {
                Sharing::kernel(machine)
            }

            fn leases_own_only(&self) -> bool {
                true
            }

            fn moves(&self) -> Moves {
                Moves::Nothing
            }

            fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
                Box::pin(pending.$wait(process))
            }
        }
    };
}

under_the_kernel! {
    /// A process that waits spins, and the kernel takes its hardware thread away when its time slice
    /// ends: the baseline of PPoPP 2007.
    Linux,
    "linux",
    "The machine's Linux: a process that waits spins until its time slice ends",
    spin
}

under_the_kernel! {
    /// Yield if not ready (Computing Frontiers 2009): `while (stop == 0) sched_yield()`. What a yield
    /// does is the kernel's: 2.6.17 puts the process behind all that can run, 2.6.23 at its place
    /// among them by the time that each has run, so that it may go on at once.
    Ynr,
    "ynr",
    "Yield if not ready: a process that waits calls sched_yield until it is done",
    yield_until_complete
}

under_the_kernel! {
    /// A blocking read of the SPE's interrupt mailbox (Computing Frontiers 2009): the process sleeps
    /// in the kernel, the interrupt wakes it, and it goes on when the kernel gives it a hardware
    /// thread.
    ///
    /// Left out: the word itself, in whose place the process loads the flag, and that reading is a
    /// system call beside the sleep.
    Mbox,
    "mbox",
    "A process that waits sleeps until the interrupt of an SPE's mailbox wakes it",
    sleep_until_interrupts
}
