//! The seam at which a scheduler plugs in, and the policies by their names.

#[cfg(test)]
mod tests;

use std::pin::Pin;

use crate::leases::{BusyMap, Lease};
use crate::policies;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::SimTime;
use mmgp_cell::host::Pause;
use mmgp_cell::linux::Sharing;
use mmgp_cell::{HostProcess, Spe};
use mmgp_machine::Machine;
use mmgp_sim::Watch;

/// A scheduler: who gets which SPEs, how a process waits, and who goes on.
///
/// One of them serves all processes of a machine. It may keep what it has seen in a
/// [`RefCell`](std::cell::RefCell): all processes run on one thread of this computer, and none of
/// these functions but [`Policy::wait`] lets virtual time go by.
pub trait Policy {
    /// What it is called, in lower case.
    fn name(&self) -> &'static str;

    /// What it does, in one sentence without a full stop.
    fn summary(&self) -> &'static str;

    /// What its variants are called.
    fn variants(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Variant of that name, which is one of [`Policy::variants`].
    fn variant(&self, _: &str) -> Option<Box<dyn Policy>> {
        None
    }

    /// How the processes of the host share its hardware threads: of those that are ready, the run
    /// queue that it makes decides who goes on.
    fn sharing(&self, machine: &Machine) -> Sharing;

    /// Whether it leases a process none but its own SPEs.
    fn leases_own_only(&self) -> bool;

    /// A task arrives: leases the SPEs on which it runs, or says that it has to wait or runs on the
    /// host. Who has to wait asks again whenever a lease or a process has come to its end. Without it,
    /// a process has its own SPEs.
    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        request.lease_own(spes)
    }

    /// What moves on the machine for its sake. Where that is less than [`Moves::Whatever`], and it leases a
    /// process none but its own SPEs, what a process that shares its Cells with no other off-loads, and what
    /// its SPEs [tell](Policy::tell), takes the same time whenever it is the same: that time is kept, and not
    /// emulated again.
    fn moves(&self) -> Moves {
        Moves::Whatever
    }

    /// The programs that an SPE may be asked to hold.
    fn images(&self) -> Images {
        Images::One
    }

    /// Whether a team's master takes more of a loop than its workers, or less, so that least of their
    /// time is idle.
    fn unbalances(&self) -> bool {
        false
    }

    /// Waits until `pending` is complete. The process has its hardware thread and is to have it in
    /// the end. It waits so for its SPEs where they signal through [memory](crate::Signalling).
    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a>;

    /// The same where the process has no SPEs and waits for others' leases to end.
    fn wait_for_lease<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        self.wait(process, pending)
    }

    /// The process lets go of its hardware thread and goes on as soon as it is its turn again: how a
    /// program under this scheduler gives way to others that are ready.
    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        Box::pin(process.sched_yield())
    }

    /// There is a process that will ask for tasks.
    fn enters(&self, _process: u32) {}

    /// What an SPE that the host has started does when it has done its share, before it takes another
    /// call: how it tells the host by more than the flag in its local store. Nothing where the flag is
    /// all. It is not asked for where they tell each other through
    /// [mailboxes](crate::Signalling::Mailbox).
    fn tell<'a>(&'a self, _: Completion, _: &'a Spe, _: &'a Machine) -> Option<Steps<'a>> {
        None
    }

    /// What an SPE tells by [`Policy::tell`] is there, at this instant. The steps of that are not taken
    /// where it is known how long they take.
    fn told(&self, _: Completion, _: &Spe) {}

    /// An SPE has done its share of a task, at this instant; its process learns of it later.
    fn completed(&self, _: Completion) {}

    /// A process has what its task came to, at this instant; its lease has ended.
    fn departs(&self, _: &Departure) {}

    /// A process will ask for no more tasks.
    fn leaves(&self, _process: u32) {}

    /// What it has learnt of the program, in lines for people; nothing where it learns nothing.
    fn account(&self) -> Option<String> {
        None
    }
}

/// What moves on the machine for the sake of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// No byte.
    Nothing,
    /// What SPEs tell, between their local stores and the memory of the first Cell; always the same of the
    /// same SPE, so that it takes the same time where nobody else is there.
    Tellings,
    /// What goes on at different times, or differs.
    Whatever,
}

/// The programs that an SPE may be asked to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Images {
    /// One for all tasks.
    One,
    /// One for tasks that it does alone, and one for tasks that several share: an SPE that is asked
    /// for the other one than it holds fetches that first.
    SerialAndParallel,
}

/// What goes on in virtual time.
pub type Steps<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A task that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// When its process asks: now.
    pub at: SimTime,
    /// The process that asks.
    pub process: u32,
    /// The Cell on which the process runs.
    pub cell: u32,
    /// Which function of the program.
    pub function: u32,
    /// The most SPEs that can share it.
    pub most_shares: u32,
    /// The SPEs that are the process's own by the mapping.
    pub own: &'a [u32],
    /// Whether the host can do it instead.
    pub host_can: bool,
}

impl Request<'_> {
    /// Leases the process its own SPEs, as many as can share the task, or has it wait for them.
    pub fn lease_own(&self, spes: &BusyMap) -> Decision {
        let shares = self.own.len().min(self.most_shares as usize);
        spes.lease(&self.own[..shares]).map_or(Decision::Wait, Decision::Spes)
    }
}

/// Place at which a task runs.
pub enum Decision {
    /// These SPEs, at most as many as can share it.
    Spes(Lease),
    /// The host, which must be able to.
    Host,
    /// Nowhere before some lease has come to its end.
    Wait,
}

/// An SPE that has done its share of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The SPE.
    pub spe: u32,
    /// The process for which it worked.
    pub process: u32,
    /// Which function of the program it ran.
    pub function: u32,
    /// When it was done: now.
    pub at: SimTime,
}

/// A task whose process goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Whose it was.
    pub process: u32,
    /// Which function of the program.
    pub function: u32,
    /// How many SPEs shared it; none where the host did it.
    pub shares: u32,
    /// When it was placed.
    pub placed: SimTime,
    /// When its process had what it came to: now.
    pub departed: SimTime,
}

/// Who can do what follows a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// Whoever sees the data that all processes share.
    Anybody,
    /// Process alone, on whose own data it depends.
    ItsProcess,
}

/// What a process waits for: flags that only ever grow, and what each must have come to.
pub struct Pending {
    flags: Vec<(Watch<u64>, u64)>,
    continuation: Continuation,
}

impl Pending {
    pub(crate) fn new(flags: Vec<(Watch<u64>, u64)>, continuation: Continuation) -> Self {
        Self { flags, continuation }
    }

    /// Who can do what follows.
    pub fn continuation(&self) -> Continuation {
        self.continuation
    }

    /// Whether there is nothing left to wait for. Looking takes no time.
    pub fn is_complete(&self) -> bool {
        self.flags.iter().all(|(flag, wanted)| flag.read(|flag| flag >= wanted))
    }

    /// Ends at the instant at which it is complete. What the process does meanwhile, on its hardware
    /// thread or without it, is the caller's.
    pub async fn completion(&self) {
        for (flag, wanted) in &self.flags {
            flag.wait_until(|flag| flag >= wanted).await;
        }
    }

    /// The process lets go of its hardware thread until it is complete, and goes on when it is its
    /// turn.
    pub async fn stand_aside(&self, process: &HostProcess) {
        process.release();
        self.completion().await;
        process.resume().await;
    }

    /// The process polls on its hardware thread until it is complete.
    pub async fn spin(&self, process: &HostProcess) {
        for (flag, wanted) in &self.flags {
            process.spin(flag, |flag| flag >= wanted).await;
        }
    }

    /// The process loads the flags and yields until it is complete.
    pub async fn yield_until_complete(&self, process: &HostProcess) {
        self.yield_with(process, Pause::LocalStore).await;
    }

    /// The same with another pause before each look.
    pub(crate) async fn yield_with(&self, process: &HostProcess, pause: Pause) {
        for (flag, wanted) in &self.flags {
            process.yield_until(flag, pause, |flag| flag >= wanted).await;
        }
    }

    /// How many flags there are.
    pub(crate) fn count(&self) -> usize {
        self.flags.len()
    }

    /// The process sleeps in the kernel until interrupts have told that it is complete.
    pub async fn sleep_until_interrupts(&self, process: &HostProcess) {
        for (flag, wanted) in &self.flags {
            if flag.read(|flag| flag < wanted) {
                process.sleep_until_interrupt(flag, |flag| flag >= wanted).await;
            }
        }
    }
}

/// The policy of that name, which may be followed by a colon and the name of a variant:
/// `edtlp:round-robin`.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are, also for a variant where the policy has none.
pub fn policy_named(name: &str) -> Result<Box<dyn Policy>> {
    policy_among(policies(), name)
}

/// The same among other policies than those that come with the library.
///
/// # Errors
/// As [`policy_named`].
pub fn policy_among(mut all: Vec<Box<dyn Policy>>, name: &str) -> Result<Box<dyn Policy>> {
    let names =
        |all: &[Box<dyn Policy>]| all.iter().map(|it| it.name().to_string()).collect::<Vec<_>>();
    let (plain, variant) = match name.split_once(':') {
        Some((plain, variant)) => (plain, Some(variant)),
        None => (name, None),
    };
    let Some(place) = all.iter().position(|policy| policy.name() == plain) else {
        return Err(Error::unknown_name("scheduler", plain, names(&all)));
    };
    let Some(variant) = variant else { return Ok(all.swap_remove(place)) };
    let variants = all[place].variants();
    if variants.is_empty() {
        all.retain(|policy| !policy.variants().is_empty());
        return Err(Error::unknown_name("scheduler with variants", plain, names(&all)));
    }
    let known = variants.iter().map(|variant| format!("{plain}:{variant}"));
    all[place]
        .variant(variant)
        .ok_or_else(|| Error::unknown_name("variant of a scheduler", name, known))
}
