//! Work stealing at user level (Computing Frontiers 2009).

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::policy::{Completion, Continuation, Moves, Pending, Policy, Steps};
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
/// # Partial migration
/// An item may depend on data of its process alone ([`Task::continued_by_its_process`]). Whoever finds
/// its entry cannot serve it, but the process must run: the hardware thread to which it is pinned gives
/// the lock back and yields to it in the kernel, and it comes in, looks for its item and takes it under
/// the lock in turn. That is a switch as `_yield_to` of the same paper, by which the kernel runs that
/// process next, and the translations of its data, which others did not have; nothing where the process
/// ran on that hardware thread already. Hardware threads to which it is not pinned leave the entry to that
/// one. So a program says what the paper says of it:
///
/// * RAxML: a call of newview is followed by what its traversal, computed ahead, has next, and anybody
///   does that; makenewz and evaluate by decisions of the search, on the tree of its process.
/// * PBPI: nodes are computed in an order that is known ahead. The paper names it with no need to
///   migrate: what its chains decide on, likelihoods and the end of the run, is in shared variables.
/// * Synthetic workloads: nothing is computed, so nothing depends on anything.
///
/// Left out: that hardware threads wait for each other at the lock; the distance of a Cell's data from
/// the other Cell's host; that a process which has come in has not translated what others had begun
/// there; and the slices of the kernel.
///
/// [`Task::continued_by_its_process`]: crate::Task::continued_by_its_process
#[derive(Default)]
pub struct WorkStealing {
    list: ReadyToRun,
    /// The process that the kernel runs on each hardware thread: the first to wait there, until another one
    /// has to come in.
    runs: RefCell<BTreeMap<usize, u32>>,
}

impl WorkStealing {
    async fn wait_for_service(&self, process: &HostProcess, pending: &Pending) {
        self.runs.borrow_mut().entry(process.thread()).or_insert(process.rank);
        process.release();
        pending.completion().await;
        match pending.continuation() {
            Continuation::Anybody => {
                process.resume().await;
                self.is_served(process).await;
            }
            Continuation::ItsProcess => {
                process.resume_at_home().await;
                self.is_served(process).await;
                let runs = self.runs.borrow_mut().insert(process.thread(), process.rank);
                if runs.is_some_and(|runs| runs != process.rank) {
                    process.come_in_by_choice().await;
                    self.list.look_at_own(process).await;
                    process.work(TAKE).await;
                }
            }
        }
    }

    /// A hardware thread finds the process in the list and goes on with it.
    async fn is_served(&self, process: &HostProcess) {
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
    fn moves(&self) -> Moves {
        Moves::Tellings
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(self.wait_for_service(process, pending))
    }

    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        Box::pin(async {
            process.release();
            process.resume().await;
            self.is_served(process).await;
        })
    }

    fn tell<'a>(&'a self, done: Completion, spe: &'a Spe, on: &'a Machine) -> Option<Steps<'a>> {
        Some(self.list.put(done, spe, on))
    }

    fn told(&self, done: Completion, spe: &Spe) {
        self.list.told(done, spe);
    }
}
