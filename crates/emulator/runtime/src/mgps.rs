//! Multigrain parallelism scheduling (MGPS, PPoPP 2007).

use std::collections::{BTreeMap, BTreeSet};

use crate::leasing::{Rule, System};
use crate::policy::Departure;
use mmgp_base::units::{SimSpan, SimTime};

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
    /// Of the window.
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
