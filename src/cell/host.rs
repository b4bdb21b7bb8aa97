//! A process of the host: it runs on a hardware thread, gives it away while it waits, and pays for
//! coming back.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::ppe::{HardwareThread, Ppe, Work};
use super::record::Recorder;
use super::trace::{Category, Span, Tracer, Track};
use super::{Blade, Spe};
use crate::machine::Machine;
use crate::sim::{Permit, Sim};
use crate::units::{Seconds, SimSpan, SimTime};

/// A process of the host under the event-driven scheduler (EDTLP, PPoPP 2007): a user-level
/// scheduler gives the hardware thread to the next process whose off-load is done as soon as this
/// one waits, in the order in which they became ready.
pub struct HostProcess {
    /// Its number, as in MPI.
    pub rank: u32,
    /// Virtual time.
    pub sim: Sim,
    /// What happened, for reports.
    pub recorder: Rc<Recorder>,
    pub(super) machine: Rc<Machine>,
    ppe: Rc<Ppe>,
    thread: Rc<HardwareThread>,
    held: RefCell<Option<(Permit, Span)>>,
    /// Whether another process has run since this one did.
    cold: Cell<bool>,
    /// When the process last began to run host code.
    pub(super) since: Cell<SimTime>,
    pub(super) trace: Tracer,
}

impl HostProcess {
    pub(super) fn new(blade: &Blade, rank: u32, ppe: &Rc<Ppe>, turn: u32) -> Self {
        Self {
            rank,
            sim: blade.sim.clone(),
            recorder: Rc::clone(&blade.recorder),
            machine: Rc::clone(&blade.machine),
            ppe: Rc::clone(ppe),
            thread: Rc::clone(ppe.thread(turn)),
            held: RefCell::default(),
            cold: Cell::new(false),
            since: Cell::new(SimTime::ZERO),
            trace: blade.trace.clone(),
        }
    }

    /// Waits for the hardware thread; another process's leaving it costs a switch.
    pub async fn resume(&self) {
        self.dispatch(self.machine.linux.context_switch).await;
    }

    /// Gives the hardware thread away.
    pub fn release(&self) {
        self.held.borrow_mut().take();
    }

    /// `sched_yield`: everybody else who is ready on this hardware thread runs first.
    pub async fn sched_yield(&self) {
        self.release();
        self.dispatch(self.machine.linux.yield_).await;
    }

    /// Ends the process; the host code since its last off-load counts for `function`.
    pub fn finish(&self, function: u32) {
        self.recorder.host_tail(function, self.since.get(), self.sim.now());
        self.release();
    }

    async fn dispatch(&self, switch: Seconds) {
        let queued = self.trace.span(self.track(), Category::Wait, "run queue");
        let permit = self.thread.pool.acquire().await;
        drop(queued);
        let running = self.trace.span(self.thread.track, Category::Run, ("rank", self.rank));
        *self.held.borrow_mut() = Some((permit, running));
        if let Some(last) = self.thread.last.replace(Some(self.rank))
            && last != self.rank
        {
            self.thread.switches.set(self.thread.switches.get() + 1);
            self.cold.set(true);
            let _span = self.trace.span(self.thread.track, Category::Switch, "context switch");
            self.sim.sleep(SimSpan::from_seconds(switch)).await;
        }
    }

    /// Executes a burst of host code; the first one after another process ran also refills the
    /// caches with what it touches.
    pub async fn work(&self, work: Work) {
        let start = self.sim.now();
        let _span = self.trace.span(self.thread.track, Category::Ppe, "host code");
        if self.cold.replace(false) {
            self.sim.sleep(SimSpan::from_seconds(self.ppe.refill(work))).await;
        }
        self.ppe.execute(work).await;
        self.recorder.host_busy(self.sim.now().since(start));
    }

    /// Executes code of a library that takes so long when nobody shares the core.
    pub(super) async fn execute_for(&self, name: &'static str, alone: Seconds) {
        let start = self.sim.now();
        let _span = self.trace.span(self.thread.track, Category::Ppe, name);
        self.ppe.execute_for(alone).await;
        self.recorder.host_busy(self.sim.now().since(start));
    }

    /// Its time line in a trace.
    pub(super) fn track(&self) -> Track {
        Track::Rank(self.rank)
    }

    /// A burst of stores to, or loads from, local store, on the time line of its hardware thread.
    pub(super) fn crossing(&self, what: &'static str, spe: &Spe) -> Span {
        self.trace.span(self.thread.track, Category::Ppe, (what, spe.index))
    }

    /// Stores a word into a local store and waits until it is there.
    pub(super) async fn store_to_spe(&self) {
        self.stall(self.machine.ppe.mmio_store).await;
    }

    /// Loads a word from a local store.
    pub(super) async fn load_from_spe(&self) {
        self.stall(self.machine.ppe.mmio_load).await;
    }

    /// The thread waits for the bus; the other one has the pipeline to itself meanwhile.
    async fn stall(&self, span: Seconds) {
        let span = SimSpan::from_seconds(span);
        self.recorder.host_busy(span);
        self.sim.sleep(span).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::KernelTiming;
    use super::*;

    /// Time until `processes` processes have each done a second of work.
    fn time_of_all(processes: u32) -> f64 {
        let machine = Machine::named("qs20").unwrap();
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        for rank in 0..processes {
            let process = blade.host_process(rank);
            blade.sim.spawn(format!("process {rank}"), async move {
                process.resume().await;
                process.work(Work { integers: 1_600_000_000, ..Work::default() }).await;
                process.release();
            });
        }
        blade.run().unwrap().seconds().0
    }

    #[test]
    fn processes_spread_over_the_cells_then_over_the_threads_then_queue() {
        let times = [1, 2, 4].map(time_of_all);
        assert!((times[0] - 1.0).abs() < 1e-9 && (times[1] - 1.0).abs() < 1e-9, "{times:?}");
        assert!((times[2] - 1.28).abs() < 1e-9, "{times:?}");
        // Two on each thread, one after the other, with a switch and a cold start between.
        assert!((time_of_all(8) / 2.56 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_yield_without_anybody_else_costs_no_switch() {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let process = blade.host_process(0);
        blade.sim.spawn("alone", async move {
            process.resume().await;
            process.sched_yield().await;
        });
        assert_eq!(blade.run().unwrap(), SimTime::ZERO);
        assert_eq!(blade.context_switches(), 0);
    }
}
