//! Off-loading by flags in local store, or by mailboxes.
//!
//! [`Signalling::Memory`] is the protocol of the papers' run-time system: the host stores `stop = 0`
//! into a structure mapped into the SPE's local store, then `start = function`; the SPE spins on
//! `start`, fetches the arguments by DMA, computes, commits its results, stores `stop = 1`; the host
//! sees it when it loads `stop`. A task whose loops are shared by several SPEs is started on one after
//! the other and complete when the last has stopped. What the host process does meanwhile is up to
//! the [`Policy`](crate::Policy).
//!
//! [`Signalling::Mailbox`] is that of a first port: the host loads the status of the SPE's inbound
//! mailbox and writes the function there; the SPE's program reads it from its channel, computes as
//! above, and writes the function into its outbound mailbox. The host process loads the status of that
//! mailbox until there is a word, and then the word. It polls itself, under any policy, so that it
//! keeps its hardware thread until the SPEs are done: a scheduler that gives a thread away knows flags
//! in memory alone.

mod server;

use crate::call::{Call, Signalling, Teams};
use crate::leases::Lease;
use crate::policy::{Continuation, Pending};
use crate::process::{Process, Shared};
use crate::slots::{Slot, Told};
use crate::unbalancing::Kind;
use mmgp_cell::trace::{Arrow, Category};
use mmgp_cell::{EffectiveAddress, Spe};

pub(crate) use server::load;

/// The host's side of an off-load.
impl Process {
    /// Tells the SPEs of a lease of a call, one after the other; the numbers of the calls of those
    /// that the host talks with.
    pub(crate) async fn start(
        &self,
        lease: &Lease,
        function: u32,
        arguments: EffectiveAddress,
    ) -> Vec<u64> {
        let shares = lease.spes().len() as u32;
        let Shared { slots, courses, unbalancing, .. } = &*self.shared;
        let lead = match (unbalancing, slots.teams.get()) {
            (Some(unbalancing), Teams::ByMaster) => unbalancing.lead(Kind { function, shares }),
            _ => 0,
        };
        let call = |(slot, share)| (slot, Call { function, arguments, share, shares, lead });
        let calls: Vec<(&Slot, Call)> = slots.of(lease, 0..).map(call).collect();
        let of_spes: Vec<(&Spe, Call)> =
            calls.iter().map(|&(slot, call)| (&slot.spe, call)).collect();
        let by_host = slots.told_by_host(of_spes.len());
        let planned = match courses.of_task(self.rank, &of_spes, by_host) {
            Ok(planned) => planned,
            Err(error) => {
                self.shared.fault.raise(error);
                std::future::pending().await
            }
        };
        let told = calls.iter().zip(planned);
        let told = told
            .map(|(&(slot, call), course)| (slot, Told { process: self.rank, call, course }))
            .collect::<Vec<_>>();
        // Those that the host does not tell have been waiting all along.
        for (slot, told) in &told[by_host..] {
            slot.tell(told.clone());
        }
        let mut numbers = Vec::with_capacity(by_host);
        for (slot, told) in &told[..by_host] {
            numbers.push(self.start_spe(slot, told.clone()).await);
        }
        numbers
    }

    async fn start_spe(&self, slot: &Slot, told: Told) -> u64 {
        let spe = &slot.spe;
        let span = match self.shared.slots.signalling.get() {
            Signalling::Memory => {
                let span = self.crossing("start SPE", spe);
                // stop = 0, then start = function.
                self.store_to_spe().await;
                self.store_to_spe().await;
                span
            }
            Signalling::Mailbox => {
                let span = self.crossing("write mailbox of SPE", spe);
                // Whether there is room: what is written into a full mailbox overwrites.
                self.load_from_spe().await;
                self.write_mailbox(spe, told.call.function).await;
                span
            }
        };
        self.tells(spe);
        let number = slot.tell(told);
        span.depart(Arrow::Start { spe: spe.index, call: number });
        number
    }

    /// Waits until each SPE of a lease that the host talks with has served the call with its number, for
    /// somebody who can go on then.
    pub(crate) async fn wait_for_stops(
        &self,
        lease: &Lease,
        numbers: &[u64],
        continuation: Continuation,
    ) {
        let _wait = self.trace.span(self.track(), Category::Wait, "SPEs");
        let Shared { policy, slots, .. } = &*self.shared;
        let calls = slots.of(lease, numbers);
        match slots.signalling.get() {
            Signalling::Memory => {
                let stops = calls.map(|(slot, &number)| (slot.stopped.clone(), number)).collect();
                policy.wait(self, &Pending::new(stops, continuation)).await;
            }
            Signalling::Mailbox => {
                for (slot, _) in calls {
                    self.poll_mailbox(&slot.spe).await;
                }
            }
        }
    }

    /// Reads that the calls with those numbers are done, which they are.
    pub(crate) async fn collect(&self, lease: &Lease, numbers: &[u64]) {
        for (slot, &number) in self.shared.slots.of(lease, numbers) {
            let spe = &slot.spe;
            let span = match self.shared.slots.signalling.get() {
                Signalling::Memory => {
                    let span = self.crossing("collect SPE", spe);
                    self.load_from_spe().await;
                    span
                }
                Signalling::Mailbox => {
                    let span = self.crossing("read mailbox of SPE", spe);
                    let word = self.read_mailbox(spe.outbound_mailbox()).await;
                    word.expect("invariant: the status of the mailbox has told of a word");
                    span
                }
            };
            self.hears(spe);
            span.arrive(Arrow::Stop { spe: spe.index, call: number });
        }
    }
}

#[cfg(test)]
mod tests;
