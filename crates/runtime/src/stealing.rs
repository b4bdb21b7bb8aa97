//! Work stealing at user level (Computing Frontiers 2009).

use crate::policy::{Completion, Pending, Policy, Steps};
use crate::ready::{Ready, ReadyToRun, time_of_looks};
use mmgp_cell::linux::Sharing;
use mmgp_cell::ppe::Work;
use mmgp_cell::{HostProcess, Spe};
use mmgp_machine::Machine;

/// What a process does that has found an SPE which can go on: a call, the lock of the queue of work
/// items, the next item of the process that is named there, the lock given back.
const TAKE: Work =
    Work { integers: 16, loads: 12, stores: 6, floats: 0, divides: 0, branches: 8, code: 0 }
        .in_line();

/// Whichever process has a hardware thread polls `ready_to_run` and serves any SPE that has done its
/// share, with the next work item of the process that is named there. No system call is made, nobody
/// is switched to: to go on costs a pass over the whole list, the line of it that the SPE has written,
/// and the item, taken under the lock of its queue.
///
/// Here what a process does between two off-loads is a work item, and the hardware threads of the
/// machine go on with items in the order in which they become ready. An idle one polls.
///
/// Left out: that hardware threads wait for each other at the lock; the distance of a Cell's data from
/// the other Cell's host; and *partial migration*, by which a program whose next item depends on data of
/// its process alone gives each process its own back at fixed points, at the cost of a
/// synchronisation. The data of all processes count as shared, as if every item were known when it is
/// taken. For such a program, as RAxML is, times are therefore lower bounds.
#[derive(Default)]
pub struct WorkStealing {
    list: ReadyToRun,
}

impl WorkStealing {
    async fn wait_for_service(&self, process: &HostProcess, pending: &Pending) {
        process.release();
        pending.completion().await;
        self.is_served(process).await;
    }

    /// A hardware thread finds the process in the list and goes on with it.
    async fn is_served(&self, process: &HostProcess) {
        process.resume().await;
        let machine = process.machine();
        process.poll_for(time_of_looks(machine, u64::from(machine.layout.spes()))).await;
        self.list.look_at_own(process).await;
        process.work(TAKE).await;
    }
}

impl Policy for WorkStealing {
    fn name(&self) -> &'static str {
        "work-stealing"
    }

    fn summary(&self) -> &'static str {
        "Whichever process has a hardware thread serves any SPE, from data that all share"
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing::shared(machine)
    }

    fn leases_own_only(&self) -> bool {
        true
    }

    /// SPEs put their entries of the list into main memory.
    fn moves_nothing(&self) -> bool {
        false
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(self.wait_for_service(process, pending))
    }

    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        Box::pin(async {
            process.release();
            self.is_served(process).await;
        })
    }

    fn tell<'a>(&'a self, done: Completion, spe: &'a Spe, on: &'a Machine) -> Option<Steps<'a>> {
        Some(self.list.put(done, spe, on))
    }
}
