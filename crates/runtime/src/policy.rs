//! The seam at which a scheduler plugs in.

use std::pin::Pin;

use crate::callback::Callback;
use crate::edtlp::Edtlp;
use crate::kernel::{Linux, Mbox, Ynr};
use crate::leases::{BusyMap, Lease};
use crate::sled::Sled;
use crate::stealing::WorkStealing;
use mmgp_base::error::{Error, Result};
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

    /// Its variant of that name, which is one of [`Policy::variants`].
    fn variant(&self, _: &str) -> Option<Box<dyn Policy>> {
        None
    }

    /// How the processes of the host share its hardware threads: of those that are ready, the run
    /// queue that it makes decides who goes on.
    fn sharing(&self, machine: &Machine) -> Sharing;

    /// A task arrives: leases the SPEs on which it runs, or says that it has to wait or runs on the
    /// host. Who has to wait asks again whenever a lease has come to its end.
    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision;

    /// Whether it leases a process none but its own SPEs. Then what a process that shares its Cells
    /// with no other off-loads takes the same time whenever it is the same.
    fn leases_own_only(&self) -> bool {
        false
    }

    /// Waits until `pending` is complete. The process has its hardware thread and is to have it in
    /// the end. It waits so for its SPEs where they signal through [memory](crate::Signalling), and
    /// for others' leases to end.
    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a>;

    /// The process lets go of its hardware thread and goes on as soon as it is its turn again: how a
    /// program under this scheduler gives way to others that are ready.
    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        Box::pin(process.sched_yield())
    }

    /// What an SPE that the host has started does when it has done its share, before it takes another
    /// call: how it tells the host by more than the flag in its local store. Nothing where the flag is
    /// all. It is not asked for where they tell each other through
    /// [mailboxes](crate::Signalling::Mailbox).
    fn tell<'a>(&'a self, _: Completion, _: &'a Spe, _: &'a Machine) -> Option<Steps<'a>> {
        None
    }

    /// An SPE has done its share of a task, at this instant; its process learns of it later.
    fn completed(&self, _: Completion) {}
}

/// What goes on in virtual time.
pub type Steps<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A task that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The process that asks.
    pub process: u32,
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

/// Where a task runs.
pub enum Decision {
    /// On these SPEs, of which there are as many as can share it at most.
    Spes(Lease),
    /// On the host, which must be able to.
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
}

/// What a process waits for: flags that only ever grow, and what each must have come to.
pub struct Pending {
    flags: Vec<(Watch<u64>, u64)>,
}

impl Pending {
    pub(crate) fn new(flags: Vec<(Watch<u64>, u64)>) -> Self {
        Self { flags }
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

/// The policies that there are, the first of which is used where none is named.
pub fn policies() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Edtlp),
        Box::new(Linux),
        Box::new(Ynr),
        Box::new(Sled::default()),
        Box::new(WorkStealing::default()),
        Box::new(Mbox),
        Box::new(Callback),
    ]
}

/// The policy of that name, which may be followed by a colon and the name of a variant:
/// `edtlp:round-robin`.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are, also for a variant where the policy has none.
pub fn policy_named(name: &str) -> Result<Box<dyn Policy>> {
    let Some((plain, variant)) = name.split_once(':') else {
        let named = policies().into_iter().find(|policy| policy.name() == name);
        let known = || policies().iter().map(|policy| policy.name().into()).collect();
        return named.ok_or_else(|| unknown("scheduler", name, known()));
    };
    let policy = policy_named(plain)?;
    let variants = policy.variants();
    if variants.is_empty() {
        let mut known = policies();
        known.retain(|policy| !policy.variants().is_empty());
        let known = known.iter().map(|policy| policy.name().into()).collect();
        return Err(unknown("scheduler with variants", plain, known));
    }
    let known = || variants.iter().map(|variant| format!("{plain}:{variant}")).collect();
    policy.variant(variant).ok_or_else(|| unknown("variant of a scheduler", name, known()))
}

fn unknown(kind: &'static str, name: &str, known: Vec<String>) -> Error {
    Error::UnknownName { kind, name: name.into(), known }
}

#[cfg(test)]
mod tests;
