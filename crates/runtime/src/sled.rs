//! The slack-minimising event-driven scheduler (SLED, Computing Frontiers 2009).

use crate::policy::{Completion, Pending, Policy, Steps};
use crate::ready::{ReadyToRun, time_of_looks};
use mmgp_base::units::SimSpan;
use mmgp_cell::host::{Level, Scan};
use mmgp_cell::linux::Sharing;
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
/// when the slice ends that p has from the caller. Processes are pinned.
///
/// Where the paper leaves it open: the caller repeats until its own entry is set, and clears it then;
/// a scan goes on from the entry at which the last one of that hardware thread stopped, so that no
/// process is passed over for ever; N is as many passes as take the time of one `sched_yield`, so that
/// a scan in vain costs at most what it may spare.
///
/// Variants: `user` scans in the process, as where none is named; `kernel` scans in a system call, which
/// nobody interrupts and which also yields, so that only who finds its own entry there pays for the call
/// besides. Either may be followed by N: `user-10`.
///
/// Left out: processes that may run on any hardware thread, and a list with a lock.
#[derive(Default)]
pub struct Sled {
    settings: Settings,
    list: ReadyToRun,
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    level: Level,
    passes: Passes,
}

/// How many passes a scan has at most.
#[derive(Debug, Clone, Copy)]
enum Passes {
    /// As many as take the time of a `sched_yield`.
    OfAYield,
    /// So many.
    Count(u64),
}

impl Default for Settings {
    fn default() -> Self {
        Self { level: Level::User, passes: Passes::OfAYield }
    }
}

impl Settings {
    /// Those of that name.
    fn named(name: &str) -> Option<Self> {
        let (level, passes) = match name.split_once('-') {
            Some((level, count)) => {
                let count = count.parse().ok().filter(|&count| count > 0)?;
                (level, Passes::Count(count))
            }
            None => (name, Passes::OfAYield),
        };
        let level = match level {
            "user" => Level::User,
            "kernel" => Level::Kernel,
            _ => return None,
        };
        Some(Self { level, passes })
    }

    /// A scan on that machine.
    fn scan(self, machine: &Machine) -> Scan {
        let layout = machine.layout;
        let parts = layout.cells * layout.threads_per_ppe;
        let pass = time_of_looks(machine, u64::from(layout.spes().div_ceil(parts)));
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
    /// That this process can go on.
    Other(u32),
    Nothing,
}

impl Sled {
    async fn scan(&self, process: &HostProcess, pending: &Pending) -> Found {
        let whole = self.settings.scan(process.machine());
        let mut left = whole.most;
        while left > 0 {
            let ready = first_of(self.list.stirs(process), pending.completion());
            let passes = process
                .scan(
                    async {
                        ready.await;
                    },
                    Scan { most: left, ..whole },
                )
                .await;
            self.list.load(process).await;
            if pending.is_complete() {
                return Found::Own;
            }
            if let Some(other) = self.list.find(process) {
                return Found::Other(other);
            }
            left = left.saturating_sub(passes);
        }
        Found::Nothing
    }

    async fn wait_for_entry(&self, process: &HostProcess, pending: &Pending) {
        self.list.waits(process);
        loop {
            self.list.look_at_own(process).await;
            if pending.is_complete() {
                return;
            }
            match (self.scan(process, pending).await, self.settings.level) {
                (Found::Own, Level::User) => {}
                (Found::Own, Level::Kernel) => {
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
        vec!["user", "kernel", "user-N", "kernel-N"]
    }

    fn variant(&self, name: &str) -> Option<Box<dyn Policy>> {
        let settings = Settings::named(name)?;
        Some(Box::new(Self { settings, ..Self::default() }))
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        Sharing::kernel(machine)
    }

    fn leases_own_only(&self) -> bool {
        true
    }

    /// SPEs put their entries of the list into main memory.
    fn moves_nothing(&self) -> bool {
        false
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(self.wait_for_entry(process, pending))
    }

    fn tell<'a>(&'a self, done: Completion, spe: &'a Spe, _: &'a Machine) -> Option<Steps<'a>> {
        Some(self.list.put(done, spe))
    }
}
