//! A process of the host that asks for tasks.

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;

use crate::course::{Course, Courses};
use crate::leases::{BusyMap, Lease};
use crate::offload::{Call, Signalling, Teams};
use crate::policy::{Continuation, Decision, Departure, Pending, Policy, Request, Steps};
use crate::unbalancing::Unbalancing;
use mmgp_base::units::Bytes;
use mmgp_cell::record::Instants;
use mmgp_cell::trace::Category;
use mmgp_cell::{Blade, EffectiveAddress, Fault, HostProcess, Spe};
use mmgp_sim::{Sim, Watch};

work! {
    /// What the run-time system does when a task arrives: a call of it, the test whether the task is
    /// large enough, the lock of the arena that all processes share, a look at the state of each of a
    /// Cell's or a blade's SPEs, and the task's entry there.
    ARRIVAL: 24 integers, 32 loads, 16 stores, 2 floats, 20 branches;
    /// What it does when a task is done: a call, the lock, the SPEs marked as idle, and how long the task
    /// took.
    DEPARTURE: 16 integers, 16 loads, 12 stores, 2 floats, 8 branches;
}

/// What a program asks for.
pub struct Task<'a> {
    function: u32,
    most_shares: u32,
    arguments: &'a dyn Fn(&[u32]) -> EffectiveAddress,
    written: Bytes,
    on_host: Option<Steps<'a>>,
    continuation: Continuation,
}

impl<'a> Task<'a> {
    /// A function of the program that is loaded on the SPEs, which at most so many can share. Once it
    /// is known which do, `arguments` writes what they need for it and says where that lies.
    pub fn new(
        function: u32,
        most_shares: u32,
        arguments: &'a dyn Fn(&[u32]) -> EffectiveAddress,
    ) -> Self {
        Self {
            function,
            most_shares,
            arguments,
            written: Bytes(0),
            on_host: None,
            continuation: Continuation::Anybody,
        }
    }

    /// The same, for which the process writes so many bytes that SPEs have fetched before: what it is told of its
    /// arguments, and what else its SPEs are to fetch anew.
    pub fn writing(self, written: Bytes) -> Self {
        Self { written, ..self }
    }

    /// The same, where what follows depends on data of its process alone. Where all processes share
    /// theirs and any of them may go on with what another one has begun, this one has to.
    pub fn continued_by_its_process(self) -> Self {
        Self { continuation: Continuation::ItsProcess, ..self }
    }

    /// The same, with how to do it on the host.
    pub fn or_on_host(self, steps: Steps<'a>) -> Self {
        Self { on_host: Some(steps), ..self }
    }
}

/// What all processes of a machine have in common.
pub(crate) struct Shared {
    pub policy: Box<dyn Policy>,
    pub busy: BusyMap,
    pub slots: Slots,
    pub courses: Courses,
    /// State of a policy that moves iterations between the SPEs that share a loop.
    pub unbalancing: Option<Unbalancing>,
    pub fault: Fault,
    /// The Cell of the process that had the lock of the arena last.
    pub arena: Cell<Option<u32>>,
}

/// A process of the host that off-loads tasks.
///
/// It has ended when it is dropped.
pub struct Process {
    host: HostProcess,
    /// The Cell on which it runs.
    cell: u32,
    own: Vec<u32>,
    pub(crate) shared: Rc<Shared>,
}

impl Deref for Process {
    type Target = HostProcess;

    fn deref(&self) -> &HostProcess {
        &self.host
    }
}

impl Process {
    pub(crate) fn new((host, cell): (HostProcess, u32), own: Vec<u32>, shared: Rc<Shared>) -> Self {
        shared.policy.enters(host.rank);
        Self { host, cell, own, shared }
    }

    /// The most SPEs that a task of it may be leased.
    pub fn most_spes(&self) -> u32 {
        if self.shared.policy.leases_own_only() {
            self.own.len() as u32
        } else {
            self.shared.busy.count()
        }
    }

    /// Has a task done where the policy says, and waits until it is; the number of SPEs that shared
    /// it, 0 where the host did it.
    ///
    /// # Panics
    /// Where the policy leases more SPEs than can share the task, or sends it to a host that cannot
    /// do it.
    pub async fn run(&self, task: Task<'_>) -> u32 {
        let books = self.machine().ppe.books;
        self.lock_arena().await;
        self.work(ARRIVAL * books).await;
        let shares = self.off_load(task).await;
        self.lock_arena().await;
        self.work(DEPARTURE * books).await;
        shares
    }

    /// Takes the lock of the arena that all processes share, whose line comes over where a process of another
    /// Cell had it last, and releases it.
    async fn lock_arena(&self) {
        let last = self.shared.arena.replace(Some(self.cell));
        let comes_over = last.is_some_and(|cell| cell != self.cell);
        self.host.lock(comes_over).await;
    }

    /// The same without what the host does for the run-time system's own books, as where that is part
    /// of a host time that was measured.
    ///
    /// # Panics
    /// As [`Process::run`].
    pub async fn off_load(&self, task: Task<'_>) -> u32 {
        let Task { function, most_shares, arguments, written, on_host, continuation } = task;
        let arrived = self.sim.now();
        let request = Request {
            at: arrived,
            process: self.rank,
            cell: self.cell,
            function,
            most_shares,
            own: &self.own,
            host_can: on_host.is_some(),
        };
        let lease = self.place(&request).await;
        let placed = self.sim.now();
        let departure = |shares| Departure {
            process: self.rank,
            function,
            shares,
            placed,
            departed: self.sim.now(),
        };
        let Some(lease) = lease else {
            on_host.expect("invariant: a policy sends to the host what it can do").await;
            self.shared.policy.departs(&departure(0));
            return 0;
        };
        let shares = lease.spes().len() as u32;
        assert!(shares <= most_shares, "invariant: a policy leases no more SPEs than can share");
        let _span = self.trace.span(self.track(), Category::Offload, self.trace.function(function));
        let at = arguments(lease.spes());
        let numbers = self.start(&lease, function, (at, written)).await;
        let started = self.sim.now();
        self.wait_for_stops(&lease, &numbers, continuation).await;
        let resumed = self.sim.now();
        self.collect(&lease, &numbers).await;
        let collected = self.sim.now();
        self.off_loaded(function, Instants { decided: arrived, started, resumed, collected });
        drop(lease);
        self.shared.policy.departs(&departure(shares));
        shares
    }

    /// A lease for the task; nothing where it runs on the host.
    async fn place(&self, request: &Request<'_>) -> Option<Lease> {
        let Shared { policy, busy, .. } = &*self.shared;
        loop {
            let returned = busy.returned().read(|&returned| returned);
            match policy.place(&Request { at: self.sim.now(), ..*request }, busy) {
                Decision::Spes(lease) => return Some(lease),
                Decision::Host => return None,
                Decision::Wait => {
                    let _wait = self.trace.span(self.track(), Category::Wait, "an idle SPE");
                    let flag = (busy.returned().clone(), returned + 1);
                    let more = Pending::new(vec![flag], Continuation::Anybody);
                    policy.wait_for_lease(&self.host, &more).await;
                }
            }
        }
    }

    /// Lets others that are ready on its hardware thread go first, as the policy does it.
    pub async fn give_way(&self) {
        self.shared.policy.give_way(&self.host).await;
    }

    /// Sends a message of so many doublewords to the first of its own SPEs, which answers at once
    /// with one of the same length; all through memory-mapped local store.
    pub async fn ping_pong(&self, doublewords: u64) {
        let spe = self.shared.slots.spe(self.own[0]);
        let message = self.crossing("message to SPE", spe);
        for _ in 0..doublewords {
            self.store_to_spe().await;
        }
        drop(message);
        self.off_load(Task::new(0, 1, &|_| EffectiveAddress::default())).await;
        let _answer = self.crossing("message from SPE", spe);
        for _ in 0..doublewords {
            self.load_from_spe().await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Shared { policy, busy, .. } = &*self.shared;
        policy.leaves(self.host.rank);
        busy.returned().update(|returned| *returned += 1);
    }
}

/// The structures in the local stores through which host and SPEs talk.
pub(crate) struct Slots {
    /// Slots by number of the SPE.
    pub slots: Vec<Slot>,
    pub signalling: Cell<Signalling>,
    pub teams: Cell<Teams>,
}

/// What an SPE is told of a call.
#[derive(Clone)]
pub(crate) struct Told {
    /// Whose call it is.
    pub process: u32,
    pub call: Call,
    pub course: Course,
}

pub(crate) struct Slot {
    pub spe: Spe,
    /// How many calls there were, and the last of them.
    pub start: Watch<(u64, Option<Told>)>,
    /// How many have been served.
    pub stopped: Watch<u64>,
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
    pub fn told_by_host(&self, shares: usize) -> usize {
        match self.teams.get() {
            Teams::ByHost => shares,
            Teams::ByMaster => 1,
        }
    }

    /// Slots of the SPEs of a lease, each with what stands beside it.
    pub fn of<'a, T>(
        &'a self,
        lease: &Lease,
        beside: impl IntoIterator<Item = T>,
    ) -> impl Iterator<Item = (&'a Slot, T)> {
        lease.spes().iter().map(|&spe| &self.slots[spe as usize]).zip(beside)
    }
}

impl Slot {
    pub fn new(sim: &Sim, spe: &Spe) -> Self {
        let number = spe.index;
        Self {
            spe: spe.clone(),
            start: Watch::new(sim, &format!("the start flag of SPE {number}"), (0, None)),
            stopped: Watch::new(sim, &format!("the stop flag of SPE {number}"), 0),
        }
    }

    /// Tells the SPE of a call; the number of its calls so far.
    pub fn tell(&self, told: Told) -> u64 {
        self.start.update(|(count, start)| {
            *count += 1;
            *start = Some(told);
            *count
        })
    }
}
