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

use std::cell::Cell;
use std::future::Future;

use crate::Shared;
use crate::course::{Course, Writing};
use crate::leases::Lease;
use crate::policy::{Continuation, Pending};
use crate::process::Process;
use crate::unbalancing::Kind;
use mmgp_base::error::Result;
use mmgp_cell::element::Values;
use mmgp_cell::record::Loop;
use mmgp_cell::script::{Fingerprint, Writer};
use mmgp_cell::trace::{Arrow, Category};
use mmgp_cell::{Blade, EffectiveAddress, Spe};
use mmgp_sim::{Sim, Watch};

pub(crate) use server::load;

/// What the host tells an SPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which function of the SPE's program.
    pub function: u32,
    /// Where its arguments lie.
    pub arguments: EffectiveAddress,
    /// Which of the SPEs that share the task this one is, from 0.
    pub share: u32,
    /// How many share it.
    pub shares: u32,
    /// How many iterations of its loops the first of them takes beyond its equal part; below 0, fewer.
    pub lead: i32,
}

/// How host and SPE tell each other that a call begins and that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalling {
    /// Flags in local store.
    Memory,
    /// Words through the SPE's inbound and outbound mailbox.
    Mailbox,
}

/// Who tells the SPEs that share a task that it begins, and hears that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Teams {
    /// The host, one SPE after the other.
    #[default]
    ByHost,
    /// The host tells the first, the *master*, which tells the others, the *workers*, from local
    /// store to local store, and hears from them (LLP of PPoPP 2007). The others spin until it does;
    /// that is their program's business.
    ByMaster,
}

/// The program that is loaded on every SPE.
pub trait SpeProgram: 'static {
    /// What its functions are called in a trace, in the order of their numbers.
    const FUNCTIONS: &'static [&'static str] = &[];

    /// Who starts the SPEs of a task.
    fn teams(&self) -> Teams {
        Teams::ByHost
    }

    /// Runs one function and says when its shared loops began and ended, in their order; the
    /// results are committed when it returns.
    fn call(&self, spe: &Spe, call: Call) -> impl Future<Output = Result<Vec<Loop>>>;

    /// The same with the clock stopped, where its course does not depend on when things happen:
    /// see [`Element`](mmgp_cell::element::Element).
    fn write<'a>(&'a self, _: &'a Writer, _: Call) -> Option<Writing<'a>> {
        None
    }

    /// Where nothing is computed: all that the scripts of a task's calls depend on. Tasks of the same
    /// fingerprint have the same scripts, and which of them were written leaves no trace. Nothing
    /// where the calls must be written to know.
    fn alike(&self, _: &[(&Spe, Call)]) -> Option<Fingerprint> {
        None
    }

    /// Whether calls that are written down compute anything.
    fn values(&self) -> Values {
        Values::Computed
    }
}

/// The structures in the local stores through which host and SPEs talk.
pub(crate) struct Slots {
    /// By number of the SPE.
    slots: Vec<Slot>,
    signalling: Cell<Signalling>,
    teams: Cell<Teams>,
}

/// What an SPE is told of a call.
#[derive(Clone)]
struct Told {
    /// Whose call it is.
    process: u32,
    call: Call,
    course: Course,
}

struct Slot {
    spe: Spe,
    /// How many calls there were, and the last of them.
    start: Watch<(u64, Option<Told>)>,
    /// How many have been served.
    stopped: Watch<u64>,
}

impl Slots {
    pub fn new(blade: &Blade) -> Self {
        let slots =
            (0..blade.machine.layout.spes()).map(|spe| Slot::new(&blade.sim, blade.spe(spe)));
        Self {
            slots: slots.collect(),
            signalling: Cell::new(Signalling::Memory),
            teams: Cell::default(),
        }
    }

    /// The SPE with that number.
    pub fn spe(&self, spe: u32) -> &Spe {
        &self.slots[spe as usize].spe
    }

    /// How many of so many SPEs the host talks with.
    fn told_by_host(&self, shares: usize) -> usize {
        match self.teams.get() {
            Teams::ByHost => shares,
            Teams::ByMaster => 1,
        }
    }

    /// Those of the SPEs of a lease, each with what stands beside it.
    fn of<'a, T>(
        &'a self,
        lease: &Lease,
        beside: impl IntoIterator<Item = T>,
    ) -> impl Iterator<Item = (&'a Slot, T)> {
        lease.spes().iter().map(|&spe| &self.slots[spe as usize]).zip(beside)
    }
}

impl Slot {
    fn new(sim: &Sim, spe: &Spe) -> Self {
        let number = spe.index;
        Self {
            spe: spe.clone(),
            start: Watch::new(sim, &format!("the start flag of SPE {number}"), (0, None)),
            stopped: Watch::new(sim, &format!("the stop flag of SPE {number}"), 0),
        }
    }

    /// Tells the SPE of a call; the number of its calls so far.
    fn tell(&self, told: Told) -> u64 {
        self.start.update(|(count, start)| {
            *count += 1;
            *start = Some(told);
            *count
        })
    }
}

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
