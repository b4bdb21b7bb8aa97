//! The schedulers of Computing Frontiers 2009 whose processes look in `ready_to_run`: the slack-minimising
//! event-driven one (SLED), and work stealing at user level.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::policy::{Completion, Continuation, Moves, Pending, Policy, Steps};
use crate::ready::Fifos;
use crate::ready::{Part, Ready, ReadyToRun, time_of_looks};
use mmgp_base::units::{Seconds, SimSpan};
use mmgp_cell::host::{Scan, Scanner};
use mmgp_cell::linux::{Affinity, Sharing};
use mmgp_cell::{HostProcess, Spe};
use mmgp_machine::Machine;
use mmgp_sim::first_of;

/// An SPE that has done its share puts the number of its process into `ready_to_run`; a process that
/// waits scans the part of that list that belongs to its hardware thread, and yields to the first process
/// that it finds there.
///
/// ```text
///   wait:  own entry set? -- yes --> clear it, go on
///             ^   | no
///             |   v
///             |  N passes over the entries of this hardware thread
///             |   |            |                    |
///             |  own entry   another one: p       nothing
///             |   |            |                    |
///             +---+-- _yield_to(p) ---------- sched_yield
/// ```
///
/// `_yield_to(p)` has p run next whatever the queue's order is, and p pays the machine's
/// `linux.yield_to` times what a `sched_yield` takes. Whoever is not in the list, as it computes, runs
/// when the slice ends that p has from the caller. Processes are pinned, but for the variants that say
/// otherwise.
///
/// Where the paper leaves it open: the caller repeats until its own entry is set, and clears it then;
/// a scan goes on from the entry at which the last one of that hardware thread stopped, so that no
/// process is passed over for ever; N, a parameter of the paper without a value there, is as many passes
/// as take the time of one `sched_yield`, so that a scan in vain costs at most what it may spare
/// (assumed; 212 on a PlayStation 3, 126 on a QS20).
///
/// Variants, each of which may be followed by N, as `user-10` or `kernel-10`:
///
/// * `user` scans in the process, as where none is named.
/// * `kernel` scans in a system call, which nobody interrupts and which also yields, so that only who
///   finds its own entry there pays for the call besides.
/// * `free` and `free-kernel`: processes are not pinned. Linux may run them on any hardware thread of
///   the machine, as it does without being told otherwise, so the list is not split, and whoever finds an
///   entry checks that its process does not run on another hardware thread, and otherwise goes on to the
///   next entry. A process that waits for another hardware thread is moved by the switch, and finds
///   there what that thread and its Cell have of it: no translations, and perhaps cold caches.
/// * `fifo`: in place of a list there is a queue under a lock for each hardware thread, from which
///   whoever waits takes the oldest entry; processes are pinned. It is read at user level.
pub struct Sled {
    settings: Settings,
    order: Order,
}

/// What tells who can go on.
enum Order {
    List(ReadyToRun),
    Fifos(Fifos),
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    level: Scanner,
    passes: Passes,
    affinity: Affinity,
}

/// How many passes a scan has at most.
#[derive(Debug, Clone, Copy)]
enum Passes {
    /// Passes that take the time of a `sched_yield`.
    OfAYield,
    /// A number of passes.
    Count(u64),
}

impl Default for Sled {
    fn default() -> Self {
        Self::named("user").expect("invariant: there is such a variant")
    }
}

impl Settings {
    /// A scan on that machine whose passes take so long.
    fn scan(self, machine: &Machine, pass: Seconds) -> Scan {
        let most = match self.passes {
            Passes::Count(count) => count,
            Passes::OfAYield => {
                let [switch, pass] =
                    [machine.linux.services.yield_, pass].map(SimSpan::from_seconds);
                (switch.ticks() / pass.ticks().max(1)).max(1)
            }
        };
        Scan { pass, most, level: self.level }
    }
}

/// What a scan has found.
enum Found {
    /// What the process itself waits for.
    Own,
    /// Another process, with this number, can go on.
    Other(u32),
    Nothing,
}

impl Sled {
    /// The variant of that name.
    fn named(name: &str) -> Option<Self> {
        let (name, passes) = match name.rsplit_once('-') {
            Some((before, count)) if count != "kernel" => {
                let count = count.parse().ok().filter(|&count| count > 0)?;
                (before, Passes::Count(count))
            }
            _ => (name, Passes::OfAYield),
        };
        let list = |part| Order::List(ReadyToRun::of(part));
        let (level, affinity, order) = match name {
            "user" => (Scanner::User, Affinity::Pinned, list(Part::OfThread)),
            "kernel" => (Scanner::Kernel, Affinity::Pinned, list(Part::OfThread)),
            "free" => (Scanner::User, Affinity::Free, list(Part::Whole)),
            "free-kernel" => (Scanner::Kernel, Affinity::Free, list(Part::Whole)),
            "fifo" => (Scanner::User, Affinity::Pinned, Order::Fifos(Fifos::default())),
            _ => return None,
        };
        Some(Self { settings: Settings { level, passes, affinity }, order })
    }
}

/// A process that waits, and where it finds who can go on.
struct Waits<'a, R> {
    settings: Settings,
    ready: &'a R,
    process: &'a HostProcess,
    pending: &'a Pending,
}

impl<R: Ready> Waits<'_, R> {
    fn is_over(&self) -> bool {
        self.ready.is_over(self.process, self.pending)
    }

    async fn scan(&self) -> Found {
        let Self { settings, ready, process, pending } = *self;
        let whole = settings.scan(process.machine(), ready.pass(process.machine()));
        let mut left = whole.most;
        while left > 0 {
            let stirs = first_of(ready.stirs(process), pending.completion());
            let passes = process
                .scan(
                    async {
                        stirs.await;
                    },
                    Scan { most: left, ..whole },
                )
                .await;
            ready.load(process).await;
            if self.is_over() {
                return Found::Own;
            }
            if let Some(other) = ready.find(process).await {
                return Found::Other(other);
            }
            if self.is_over() {
                return Found::Own;
            }
            left = left.saturating_sub(passes);
        }
        Found::Nothing
    }

    async fn until_it_goes_on(self) {
        let Self { settings, ready, process, .. } = self;
        ready.waits(process);
        loop {
            ready.look_at_own(process).await;
            if self.is_over() {
                return;
            }
            match (self.scan().await, settings.level) {
                (Found::Own, Scanner::User) => {}
                (Found::Own, Scanner::Kernel) => {
                    process.poll_for(process.machine().linux.services.yield_alone).await;
                }
                (Found::Other(other), _) => process.yield_after_scan(Some(other)).await,
                (Found::Nothing, _) => process.yield_after_scan(None).await,
            }
        }
    }
}

impl Policy for Sled {
    fn name(&self) -> &'static str {
        "sled"
    }

    fn summary(&self) -> &'static str {
        "Slack-minimising: a process that waits scans a list and yields to one that can go on; \
         sled:kernel-N and others end a scan after N passes"
    }

    fn variants(&self) -> Vec<&'static str> {
        let of_a_yield = ["user", "kernel", "free", "free-kernel", "fifo"];
        let counted = ["user-N", "kernel-N", "free-N", "free-kernel-N", "fifo-N"];
        of_a_yield.into_iter().chain(counted).collect()
    }

    fn variant(&self, name: &str) -> Option<Box<dyn Policy>> {
        Some(Box::new(Self::named(name)?))
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing { affinity: self.settings.affinity, ..Sharing::kernel(machine) }
    }

    fn leases_own_only(&self) -> bool {
        true
    }

    /// SPEs put their entries of the list into main memory, or wait for the lock of a queue.
    fn moves(&self) -> Moves {
        match self.order {
            Order::List(_) => Moves::Tellings,
            Order::Fifos(_) => Moves::Whatever,
        }
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        let settings = self.settings;
        match &self.order {
            Order::List(ready) => {
                Box::pin(Waits { settings, ready, process, pending }.until_it_goes_on())
            }
            Order::Fifos(ready) => {
                Box::pin(Waits { settings, ready, process, pending }.until_it_goes_on())
            }
        }
    }

    fn tell<'a>(&'a self, done: Completion, spe: &'a Spe, on: &'a Machine) -> Option<Steps<'a>> {
        match &self.order {
            Order::List(ready) => Some(ready.put(done, spe, on)),
            Order::Fifos(ready) => Some(ready.put(done, spe, on)),
        }
    }

    fn told(&self, done: Completion, spe: &Spe) {
        match &self.order {
            Order::List(ready) => ready.told(done, spe),
            Order::Fifos(_) => {}
        }
    }
}

work! {
    /// What a process does that has found an SPE which can go on: a call, the lock of the queue of work
    /// items, the next item of the process that is named there, the lock given back.
    TAKE: 16 integers, 12 loads, 6 stores, 8 branches;
}

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
