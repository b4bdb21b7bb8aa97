//! The event-handler callback of the Cell's software development kit (Computing Frontiers 2009).

use crate::policy::{Completion, Moves, Pending, Policy, Steps};
use mmgp_base::units::SimSpan;
use mmgp_cell::host::Pause;
use mmgp_cell::linux::Sharing;
use mmgp_cell::ppe::Work;
use mmgp_cell::{HostProcess, Spe};
use mmgp_machine::Machine;

/// The handler: found by the number that the SPE stopped with, called; it notes that the task is done.
const HANDLER: Work =
    Work { integers: 20, loads: 16, stores: 10, floats: 0, divides: 0, branches: 8, code: 0 }
        .in_line();

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
    let system_call = process.machine().linux.system_call;
    for _ in 0..pending.count() {
        process.poll_for(system_call).await;
        process.load_from_spe().await;
        process.work(HANDLER).await;
        process.poll_for(system_call).await;
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
        let interrupt = SimSpan::from_seconds(machine.linux.interrupt);
        Some(Box::pin(spe.sim.sleep(interrupt)))
    }
}
