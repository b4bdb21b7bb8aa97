//! Policies of PPoPP 2007's run-time system that lease any SPEs that are idle: how many is a rule.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::edtlp::Edtlp;
use crate::leases::BusyMap;
use crate::policy::{Completion, Decision, Departure, Images, Pending, Policy, Request, Steps};
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_cell::HostProcess;
use mmgp_cell::linux::Sharing;
use mmgp_machine::Machine;

/// How many SPEs a task gets.
pub(crate) trait Rule: 'static {
    /// What the policy is called.
    const NAME: &'static str;
    /// What it does, in one sentence without a full stop.
    const SUMMARY: &'static str;

    /// A task arrives.
    fn arrives(&mut self, _: SimTime, _: &System) {}

    /// How many SPEs a task gets that arrives at a machine of which not all are busy. What it gets at
    /// most is what can share it.
    fn spes(&self, system: &System) -> u32;

    /// Whether a task waits until as many are idle, rather than have those that are.
    fn waits_for_all(&self) -> bool {
        false
    }

    /// A task has been placed.
    fn placed(&mut self, _process: u32) {}

    /// A process has what its task came to.
    fn departs(&mut self, _: &Departure, _: &System) {}

    /// What its [variants](Policy::variants) are called.
    fn variants() -> &'static [&'static str] {
        &[]
    }

    /// The one of that name.
    fn variant(_: &str) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// What a rule goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct System {
    /// SPEs of the machine.
    pub spes: u32,
    /// Processes that have not ended.
    pub active: u32,
}

/// A policy under which a process that waits does so as under [`Edtlp`], and a task is leased as many
/// SPEs as a rule says: the process's own by the mapping first, then others of its Cell.
pub struct Leasing<R> {
    edtlp: Edtlp,
    state: RefCell<State<R>>,
}

struct State<R> {
    rule: R,
    active: BTreeSet<u32>,
    /// SPEs of the machine, once it is known.
    spes: u32,
}

impl<R> State<R> {
    fn system(&self) -> System {
        System { spes: self.spes, active: self.active.len() as u32 }
    }
}

impl<R: Rule> Leasing<R> {
    /// Under that rule, for a run.
    pub(crate) fn new(rule: R) -> Self {
        let state = RefCell::new(State { rule, active: BTreeSet::new(), spes: 0 });
        Self { edtlp: Edtlp::default(), state }
    }
}

impl<R: Rule> Policy for Leasing<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn summary(&self) -> &'static str {
        R::SUMMARY
    }

    fn variants(&self) -> Vec<&'static str> {
        R::variants().into()
    }

    fn variant(&self, name: &str) -> Option<Box<dyn Policy>> {
        R::variant(name).map(|rule| -> Box<dyn Policy> { Box::new(Self::new(rule)) })
    }

    fn sharing(&self, machine: &Machine) -> Sharing {
        self.edtlp.sharing(machine)
    }

    fn leases_own_only(&self) -> bool {
        false
    }

    fn place(&self, request: &Request<'_>, spes: &BusyMap) -> Decision {
        if self.edtlp.prefers_host(request) {
            return Decision::Host;
        }
        let mut state = self.state.borrow_mut();
        state.spes = spes.count();
        let system = state.system();
        state.rule.arrives(request.at, &system);
        let wanted = state.rule.spes(&system).clamp(1, request.most_shares.min(system.spes));
        let fewest = if state.rule.waits_for_all() { wanted } else { 1 };
        let Some(lease) = spes.lease_near((request.cell, request.own), fewest..=wanted) else {
            return Decision::Wait;
        };
        state.rule.placed(request.process);
        Decision::Spes(lease)
    }

    /// Tasks that one SPE does and those that several share are different programs.
    fn images(&self) -> Images {
        Images::SerialAndParallel
    }

    fn unbalances(&self) -> bool {
        true
    }

    fn wait<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        self.edtlp.wait(process, pending)
    }

    /// Waits without its hardware thread: there is nothing that its run-time system could do.
    fn wait_for_lease<'a>(&'a self, process: &'a HostProcess, pending: &'a Pending) -> Steps<'a> {
        Box::pin(pending.stand_aside(process))
    }

    fn give_way<'a>(&'a self, process: &'a HostProcess) -> Steps<'a> {
        self.edtlp.give_way(process)
    }

    fn enters(&self, process: u32) {
        self.state.borrow_mut().active.insert(process);
    }

    fn completed(&self, completion: Completion) {
        self.edtlp.completed(completion);
    }

    fn departs(&self, departure: &Departure) {
        self.edtlp.departs(departure);
        let mut state = self.state.borrow_mut();
        let system = state.system();
        state.rule.departs(departure, &system);
    }

    fn leaves(&self, process: u32) {
        self.state.borrow_mut().active.remove(&process);
    }
}

/// Every task is shared by as many SPEs as can share it: they do one after the other.
pub(crate) struct AllSpes;

impl Rule for AllSpes {
    const NAME: &'static str = "llp";
    const SUMMARY: &'static str =
        "Loop-level parallelism: every task has all SPEs, one task after the other";

    fn spes(&self, system: &System) -> u32 {
        system.spes
    }

    fn waits_for_all(&self) -> bool {
        true
    }
}

/// A number of SPEs a task while there are enough for all processes that have not ended, and one
/// otherwise.
pub(crate) struct Static(u32);

impl Default for Static {
    /// Chooses 4, of the 2 and 4 of the paper.
    fn default() -> Self {
        Self(2)
    }
}

impl Rule for Static {
    const NAME: &'static str = "edtlp-llp";
    const SUMMARY: &'static str = "EDTLP, and 2 SPEs a task while at most half as many processes are active as there are SPEs";

    fn spes(&self, system: &System) -> u32 {
        if system.active * self.0 <= system.spes { self.0 } else { 1 }
    }

    fn variants() -> &'static [&'static str] {
        &["2", "4"]
    }

    fn variant(name: &str) -> Option<Self> {
        Self::variants().contains(&name).then(|| name.parse().ok().map(Self)).flatten()
    }
}

/// SPEs a task as many as there are for each process, up to four: one while rounds are full, two or
/// four for what remains.
///
/// PPoPP 2007 decides it by the number of bootstraps, which is known to whoever wrote the test. Tasks
/// are dealt on request here, so that a process ends when there is no task left for it: as many are
/// active as tasks remain.
pub(crate) struct Oracle;

/// The most SPEs of a task under the two static schemes.
const MOST_STATIC: u32 = 4;

impl Rule for Oracle {
    const NAME: &'static str = "oracle";
    const SUMMARY: &'static str =
        "EDTLP for full rounds of tasks, and 2 or 4 SPEs a task for those that remain";

    fn spes(&self, system: &System) -> u32 {
        let each = system.spes / system.active.max(1);
        if each >= MOST_STATIC { MOST_STATIC } else { each.clamp(1, 2) }
    }
}

/// Off-loads after which it is decided again: the paper's 800.
const WINDOW: u64 = 800;
/// Time after which it is decided again even so. Assumed, as none is published: somewhat longer than 800
/// tasks of the paper, of 96 us after 11, take one process.
const INTERVAL: SimSpan = SimSpan::from_ticks(100_000_000_000_000);

/// Counts how much task-level parallelism there is, and shares loops where it leaves SPEs idle.
///
/// A task that departs has seen U tasks: itself and those that were off-loaded while it was executing.
/// Whoever departs as the 800th, the 1600th and so on looks at the window that ends there. Where at
/// most half as many tasks were seen as there are SPEs (4 of 8), each task gets floor(SPEs / T) of
/// them from now on; else one.
///
/// What the paper leaves open, and what is done here: U is the mean over the window. T, the tasks that
/// wait for off-loading, is the number of processes that off-loaded in the window, which is the most
/// tasks that can wait at a time. Half of the SPEs is also the threshold where there are two Cells. The
/// timer, which serves programs that off-load rarely, ends a window after 100 ms; the next task that
/// arrives or departs finds it over. A window in which none departed says nothing.
///
/// Left out: the arena's locks, which are in what the run-time system does for every task.
pub(crate) struct Mgps {
    /// SPEs of a task.
    spes: u32,
    /// When the window began.
    since: SimTime,
    /// Tasks that have been placed.
    placed: u64,
    /// How many had been when the task of a process was.
    before: BTreeMap<u32, u64>,
    /// Departures of the window.
    departures: u64,
    seen: u64,
    processes: BTreeSet<u32>,
}

impl Default for Mgps {
    fn default() -> Self {
        Self {
            spes: 1,
            since: SimTime::ZERO,
            placed: 0,
            before: BTreeMap::new(),
            departures: 0,
            seen: 0,
            processes: BTreeSet::new(),
        }
    }
}

impl Rule for Mgps {
    const NAME: &'static str = "mgps";
    const SUMMARY: &'static str =
        "Shares loops among SPEs where a window of 800 off-loads left half of them idle";

    fn spes(&self, _: &System) -> u32 {
        self.spes
    }

    fn arrives(&mut self, at: SimTime, system: &System) {
        self.look(at, system);
    }

    fn placed(&mut self, process: u32) {
        self.before.insert(process, self.placed);
        self.placed += 1;
    }

    fn departs(&mut self, departure: &Departure, system: &System) {
        let Some(before) = self.before.remove(&departure.process) else { return };
        self.departures += 1;
        self.seen += self.placed - before;
        self.processes.insert(departure.process);
        self.look(departure.departed, system);
    }
}

impl Mgps {
    /// Decides again where the window is over.
    fn look(&mut self, at: SimTime, system: &System) {
        if self.departures < WINDOW && at.since(self.since) < INTERVAL {
            return;
        }
        if self.departures > 0 {
            let waiting = self.processes.len() as u32;
            let parallel = 2 * self.seen <= u64::from(system.spes) * self.departures;
            self.spes = if parallel { (system.spes / waiting).max(1) } else { 1 };
        }
        self.since = at;
        (self.departures, self.seen) = (0, 0);
        self.processes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: System = System { spes: 8, active: 8 };

    /// The SPEs of a task after so many windows in which that many processes have one task at a time,
    /// all placed before the first departs.
    fn after(windows: u64, processes: u32) -> u32 {
        let mut mgps = Mgps::default();
        for round in 0..windows * WINDOW / u64::from(processes) {
            let all = || (0..processes).map(|turn| (turn + round as u32) % processes);
            all().for_each(|process| mgps.placed(process));
            for process in all() {
                let instant = SimTime::ZERO;
                let (placed, departed) = (instant, instant);
                let departure = Departure { process, function: 0, shares: 1, placed, departed };
                mgps.departs(&departure, &CELL);
            }
        }
        mgps.spes(&CELL)
    }

    #[test]
    fn loops_are_shared_where_few_tasks_are_off_loaded_together() {
        // Of n tasks that are placed together, the first sees n, the last itself: (n + 1) / 2.
        for (processes, spes) in [(1, 8), (2, 4), (4, 2), (5, 1), (8, 1)] {
            assert_eq!(after(1, processes), spes, "{processes}");
        }
    }

    #[test]
    fn who_off_loads_rarely_waits_for_no_window() {
        let mut mgps = Mgps::default();
        let second = |tenths: u64| SimTime::ZERO + SimSpan::from_ticks(tenths * INTERVAL.ticks());
        mgps.arrives(second(0), &CELL);
        mgps.placed(0);
        mgps.arrives(second(1), &CELL);
        assert_eq!(mgps.spes(&CELL), 1, "none has departed");
        let (placed, departed) = (second(0), second(2));
        mgps.departs(&Departure { process: 0, function: 0, shares: 1, placed, departed }, &CELL);
        assert_eq!(mgps.spes(&CELL), 8);
    }

    #[test]
    fn nothing_changes_before_a_window_is_over() {
        let mut mgps = Mgps::default();
        for departures in 1..=2 * WINDOW {
            mgps.placed(0);
            let instant = SimTime::ZERO;
            let (placed, departed) = (instant, instant);
            mgps.departs(
                &Departure { process: 0, function: 0, shares: 1, placed, departed },
                &CELL,
            );
            assert_eq!(mgps.spes(&CELL), if departures < WINDOW { 1 } else { 8 });
        }
    }
}
