//! Policies that leave it to the machine's Linux who goes on: what differs is how a process waits.

use crate::policy::{Completion, Moves, Pending, Policy, Steps};
use mmgp_base::units::SimSpan;
use mmgp_cell::host::Pause;
use mmgp_cell::linux::Sharing;
use mmgp_cell::{HostProcess, Spe};
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

work! {
    /// The handler: found by the number that the SPE stopped with, called; it notes that the task is done.
    HANDLER: 20 integers, 16 loads, 10 stores, 8 branches;
}

/// An SPE that has done its share stops with a signal, which interrupts the host, and stays blocked
/// until the handler of its process has returned.
///
/// Linux serves the event only when the process is scheduled, so the process yields meanwhile, as under
/// [`Ynr`](crate::Ynr), but that it looks into its own memory. Once it is scheduled and the interrupt
/// has come, it returns from the system call that runs the SPE, loads from the local store what the SPE
/// has left there, runs the handler, and enters the call again, which stores into the SPE's run control:
/// with that the SPE goes on. Its lease lasts until then.
///
/// Left out: that the library has a thread of its own for each SPE, which sleeps in that call and is
/// scheduled beside the process; here they are one. And the time that the interrupt takes from whoever
/// runs on the hardware thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Callback;

async fn wait_for_events(process: &HostProcess, pending: &Pending) {
    pending.yield_with(process, Pause::Memory).await;
    let half = process.machine().linux.services.spe_run * 0.5;
    for _ in 0..pending.count() {
        process.poll_for(half).await;
        process.load_from_spe().await;
        process.work(HANDLER).await;
        process.poll_for(half).await;
        process.store_to_spe().await;
    }
}

impl Policy for Callback {
    fn name(&self) -> &'static str {
        "callback"
    }

    fn summary(&self) -> &'static str {
        "An SPE that is done interrupts, and blocks until its process has run a handler"
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
        Box::pin(wait_for_events(process, pending))
    }

    fn tell<'a>(&'a self, _: Completion, spe: &'a Spe, machine: &'a Machine) -> Option<Steps<'a>> {
        let interrupt = SimSpan::from_seconds(machine.linux.services.interrupt);
        Some(Box::pin(spe.sim.sleep(interrupt)))
    }
}
