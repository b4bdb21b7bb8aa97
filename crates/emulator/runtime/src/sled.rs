//! The slack-minimising event-driven scheduler (SLED, Computing Frontiers 2009).

use crate::fifo::Fifos;
use crate::policy::{Completion, Moves, Pending, Policy, Steps};
use crate::ready::{Part, Ready, ReadyToRun};
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
/// process is passed over for ever; N is as many passes as take the time of one `sched_yield`, so that
/// a scan in vain costs at most what it may spare.
///
/// Variants, each of which may be followed by N, as `user-10`:
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
                let [switch, pass] = [machine.linux.yield_, pass].map(SimSpan::from_seconds);
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
                    process.poll_for(process.machine().linux.system_call).await;
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
        "Slack-minimising: a process that waits scans a list and yields to one that can go on"
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
