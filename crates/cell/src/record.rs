//! What happened on the machine, as an instrumented program would see it: through the timebase.

use std::cell::RefCell;

use super::decrementer::Timebase;
use mmgp_base::units::{Seconds, SimSpan, SimTime};

/// A part of an SPE's run in which it worked on what several SPEs can share: from the moment
/// the first data of the loop were there to the end of its last iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// Begin of the loop.
    pub start: SimTime,
    /// End of the loop.
    pub end: SimTime,
}

/// The instants of an off-load, seen from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instants {
    /// The process decided for it.
    pub decided: SimTime,
    /// All SPEs had been started.
    pub started: SimTime,
    /// The process ran again.
    pub resumed: SimTime,
    /// All SPEs had been collected.
    pub collected: SimTime,
}

/// Totals for one off-loaded function, times in ticks of the timebase.
#[derive(Debug, Clone, Copy, Default)]
pub struct FunctionTotals {
    /// Off-loads.
    pub calls: u64,
    /// Host time from the end of the previous off-load to the decision for this one \[ticks\].
    pub host: u64,
    /// Host time spent starting SPEs and collecting them \[ticks\].
    pub gap: u64,
    /// From the decision to the collection \[ticks\].
    pub offload: u64,
    /// Time of SPEs in loops that several can share \[ticks\].
    pub parallel: u64,
    /// Other time of SPEs from seeing the start flag to setting the stop flag \[ticks\].
    pub serial: u64,
}

/// Keeps the totals.
pub struct Recorder {
    timebase: Timebase,
    functions: RefCell<Vec<FunctionTotals>>,
    host_busy: RefCell<SimSpan>,
}

impl Recorder {
    pub(super) fn new(timebase: Timebase) -> Self {
        let functions = RefCell::default();
        Self { timebase, functions, host_busy: RefCell::default() }
    }

    /// What the timebase register shows at an instant.
    pub fn timebase_at(&self, instant: SimTime) -> u64 {
        self.timebase.at(instant)
    }

    /// Ticks of the timebase as time.
    pub fn ticks(&self, ticks: u64) -> Seconds {
        self.timebase.ticks(ticks)
    }

    /// The totals of all functions, by number.
    pub fn functions(&self) -> Vec<FunctionTotals> {
        self.functions.borrow().clone()
    }

    /// Time that all host processes together spent executing.
    pub fn host_busy_time(&self) -> Seconds {
        self.host_busy.borrow().seconds()
    }

    pub(super) fn host_busy(&self, span: SimSpan) {
        *self.host_busy.borrow_mut() += span;
    }

    /// Host code after the last off-load counts for the function that was off-loaded last.
    pub(crate) fn host_tail(&self, function: u32, since: SimTime, now: SimTime) {
        let ticks = self.timebase_at(now) - self.timebase_at(since);
        self.with(function, |totals| totals.host += ticks);
    }

    /// An off-load seen from the host, whose own code ran `since` then.
    pub(super) fn offload(&self, function: u32, since: SimTime, instants: Instants) {
        let Instants { decided, started, resumed, collected } = instants;
        let [since, decided, started, resumed, collected] =
            [since, decided, started, resumed, collected].map(|instant| self.timebase_at(instant));
        self.with(function, |totals| {
            totals.calls += 1;
            totals.host += decided - since;
            totals.gap += (started - decided) + (collected - resumed);
            totals.offload += collected - decided;
        });
    }

    /// A call seen from one SPE.
    pub fn spe_run(&self, function: u32, begin: SimTime, shared: &[Loop], end: SimTime) {
        let ticks = |start, end| self.timebase_at(end) - self.timebase_at(start);
        let parallel: u64 = shared.iter().map(|shared| ticks(shared.start, shared.end)).sum();
        self.with(function, |totals| {
            totals.parallel += parallel;
            totals.serial += ticks(begin, end) - parallel;
        });
    }

    fn with(&self, function: u32, change: impl FnOnce(&mut FunctionTotals)) {
        let mut functions = self.functions.borrow_mut();
        let index = function as usize;
        if functions.len() <= index {
            functions.resize(index + 1, FunctionTotals::default());
        }
        change(&mut functions[index]);
    }
}
