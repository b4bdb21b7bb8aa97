//! What happened on the machine, as an instrumented program would see it: through the timebase.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::counts::HostCounts;
use crate::event::Timebase;
use crate::ppe::Work;
use mmgp_base::units::{Cycles, Seconds, SimSpan, SimTime};

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
    /// Time from the decision to the collection \[ticks\].
    pub offload: u64,
    /// Time of SPEs in loops that several can share \[ticks\].
    pub parallel: u64,
    /// Other time of SPEs from seeing the start flag to setting the stop flag \[ticks\].
    pub serial: u64,
}

/// Keeps the totals: as the timebase of the machine shows them, and as further clocks do.
pub struct Recorder {
    own: Readings,
    further: Vec<Readings>,
    host_busy: RefCell<SimSpan>,
    /// Host counts by process, where somebody counts.
    host_counts: RefCell<Option<BTreeMap<u32, HostCounts>>>,
}

impl Recorder {
    pub(super) fn new(timebase: Timebase) -> Self {
        let own = Readings::new(timebase);
        Self {
            own,
            further: Vec::new(),
            host_busy: RefCell::default(),
            host_counts: RefCell::default(),
        }
    }

    /// The same timebase before anything runs, and these clocks beside it.
    pub(super) fn beside(&self, clocks: impl IntoIterator<Item = Timebase>) -> Self {
        let further = clocks.into_iter().map(Readings::new).collect();
        let host_counts = self.host_counts.clone();
        Self { further, host_counts, ..Self::new(self.own.clock) }
    }

    /// The totals as the timebase of the machine shows them.
    pub fn own(&self) -> &Readings {
        &self.own
    }

    /// The totals as each of the further clocks shows them.
    pub fn further(&self) -> &[Readings] {
        &self.further
    }

    /// Time that all host processes together spent executing.
    pub fn host_busy_time(&self) -> Seconds {
        self.host_busy.borrow().seconds()
    }

    /// Counts from now on what host processes execute.
    pub(super) fn count_hosts(&self) {
        *self.host_counts.borrow_mut() = Some(BTreeMap::new());
    }

    /// What they have executed, where somebody counts.
    pub(super) fn host_counts(&self) -> Option<BTreeMap<u32, HostCounts>> {
        self.host_counts.borrow().clone()
    }

    /// Counts what a process does, where somebody counts.
    pub(super) fn count(&self, process: u32, change: impl FnOnce(&mut HostCounts)) {
        if let Some(counts) = &mut *self.host_counts.borrow_mut() {
            change(counts.entry(process).or_default());
        }
    }

    /// A process executes a burst of counted operations.
    pub(super) fn host_work(&self, process: u32, work: Work, cycles: Cycles) {
        self.count(process, |counts| {
            counts.bursts += 1;
            counts.work += work;
            counts.work_cycles += cycles;
        });
    }

    pub(super) fn host_busy(&self, span: SimSpan) {
        *self.host_busy.borrow_mut() += span;
    }

    /// Host code after the last off-load counts for the function that was off-loaded last.
    pub(crate) fn host_tail(&self, function: u32, since: SimTime, now: SimTime) {
        self.for_each_clock(|readings| readings.host_tail(function, since, now));
    }

    /// An off-load seen from the host, whose own code ran `since` then.
    pub(super) fn offload(&self, function: u32, since: SimTime, instants: Instants) {
        self.for_each_clock(|readings| readings.offload(function, since, instants));
    }

    /// A call seen from one SPE.
    pub fn spe_run(&self, function: u32, begin: SimTime, shared: &[Loop], end: SimTime) {
        self.for_each_clock(|readings| readings.spe_run(function, begin, shared, end));
    }

    fn for_each_clock(&self, note: impl Fn(&Readings)) {
        note(&self.own);
        self.further.iter().for_each(note);
    }
}

/// Totals as one clock shows them.
pub struct Readings {
    clock: Timebase,
    functions: RefCell<Vec<FunctionTotals>>,
}

impl Readings {
    fn new(clock: Timebase) -> Self {
        Self { clock, functions: RefCell::default() }
    }

    /// The clock.
    pub(crate) const fn clock(&self) -> Timebase {
        self.clock
    }

    /// Ticks of the clock as time.
    pub fn ticks(&self, ticks: u64) -> Seconds {
        self.clock.ticks(ticks)
    }

    /// The totals of all functions, by number.
    pub fn functions(&self) -> Vec<FunctionTotals> {
        self.functions.borrow().clone()
    }

    fn host_tail(&self, function: u32, since: SimTime, now: SimTime) {
        let ticks = self.clock.at(now) - self.clock.at(since);
        self.with(function, |totals| totals.host += ticks);
    }

    fn offload(&self, function: u32, since: SimTime, instants: Instants) {
        let Instants { decided, started, resumed, collected } = instants;
        let [since, decided, started, resumed, collected] =
            [since, decided, started, resumed, collected].map(|instant| self.clock.at(instant));
        self.with(function, |totals| {
            totals.calls += 1;
            totals.host += decided - since;
            totals.gap += (started - decided) + (collected - resumed);
            totals.offload += collected - decided;
        });
    }

    fn spe_run(&self, function: u32, begin: SimTime, shared: &[Loop], end: SimTime) {
        let ticks = |start, end| self.clock.at(end) - self.clock.at(start);
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

/// The loops of a call.
#[derive(Default)]
pub(crate) struct Loops {
    begun: Option<SimTime>,
    done: Vec<Loop>,
}

impl Loops {
    pub fn begin(&mut self, now: SimTime) {
        self.begun = Some(now);
    }

    pub fn end(&mut self, now: SimTime) {
        let start = self.begun.take().expect("invariant: a loop that ends has begun");
        self.done.push(Loop { start, end: now });
    }

    pub fn into_done(self) -> Vec<Loop> {
        self.done
    }
}

/// A callback for each step of a program: a generation of a chain, a task, a measurement. It takes
/// no virtual time and does not affect the program.
#[derive(Clone, Default)]
pub struct Progress {
    told: Option<Rc<dyn Fn()>>,
}

impl Progress {
    /// Calls `told` after each step.
    pub fn new(told: impl Fn() + 'static) -> Self {
        Self { told: Some(Rc::new(told)) }
    }

    /// One further step is done.
    pub fn step(&self) {
        if let Some(told) = &self.told {
            told();
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = if self.told.is_some() { "told" } else { "not told" };
        f.debug_tuple("Progress").field(&told).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::Hertz;

    #[test]
    fn each_clock_shows_the_ticks_that_begin_between_two_instants() {
        // A tick in 100 ns; the further clock is half of one ahead.
        let [own, ahead] = [0.0, 0.5].map(|phase| Timebase::new(Hertz(1e7), phase));
        let recorder = Recorder::new(own).beside([ahead]);
        let at = |nanoseconds: u64| SimTime::ZERO + SimSpan::from_ticks(nanoseconds * 1_000_000);
        // Ticks of the one begin at 0, 100, 200, 300 ns, of the other at 50, 150, 250, 350.
        let shared = Loop { start: at(160), end: at(240) };
        recorder.spe_run(1, at(110), &[shared], at(370));
        recorder.host_tail(0, at(0), at(199));
        let shown = |readings: &Readings| -> Vec<[u64; 3]> {
            let functions = readings.functions();
            functions.iter().map(|it| [it.host, it.parallel, it.serial]).collect()
        };
        assert_eq!(shown(recorder.own()), [[1, 0, 0], [0, 1, 1]]);
        assert_eq!(shown(&recorder.further()[0]), [[2, 0, 0], [0, 0, 3]]);
    }
}
