//! A process of the host: it runs on a hardware thread, gives it away while it waits, and pays for
//! coming back.

mod lines;
mod scanning;
mod waiting;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::context::Loading;
use super::fault::Fault;
use super::hazard::Detector;
use super::linux::{Affinity, Entry, Idle, Scheduler, Turn};
use super::memory::Memory;
use super::ppe::{Ppe, Stretch, Translated, Work};
use super::record::{Instants, Recorder};
use super::trace::{Category, Span, Tracer, Track};
use super::{Blade, Spe};
use mmgp_base::units::{Cycles, Seconds, SimSpan, SimTime};
use mmgp_machine::Machine;
use mmgp_sim::{First, Sim, Watch, first_of};

pub use scanning::{Scan, Scanner};
pub use waiting::Pause;

/// A process of the host.
///
/// It runs from [`HostProcess::resume`] to [`HostProcess::release`]; where the kernel decides who
/// runs, it may take the hardware thread from it while it works or spins, and it goes on when its
/// turn has come again.
pub struct HostProcess {
    /// Number, as in MPI.
    pub rank: u32,
    /// Virtual time.
    pub sim: Sim,
    /// What happened, for reports.
    pub recorder: Rc<Recorder>,
    pub(super) machine: Rc<Machine>,
    memory: Rc<Memory>,
    detector: Detector,
    fault: Fault,
    ppes: Rc<Vec<Ppe>>,
    scheduler: Rc<Scheduler>,
    turn: Watch<Turn>,
    loading: Watch<Loading>,
    /// The hardware thread on which it runs or ran last.
    thread: Cell<usize>,
    /// What it has touched since another address space was in use.
    translated: RefCell<Translated>,
    /// When the process last began to run host code.
    since: Cell<SimTime>,
    /// What happened when, for a viewer.
    pub trace: Tracer,
    /// Stay on the hardware thread.
    running: RefCell<Option<Span>>,
}

impl Blade {
    /// A process of the host that begins on its hardware thread, to which it is pinned unless its
    /// scheduler has it run elsewhere, too.
    pub fn host_process(&self, rank: u32) -> HostProcess {
        self.host_process_with(rank, self.scheduler.affinity())
    }

    /// A process of the host that begins on its hardware thread.
    pub fn host_process_with(&self, rank: u32, affinity: Affinity) -> HostProcess {
        HostProcess::new(self, rank, self.machine.layout.home_thread(rank) as usize, affinity)
    }
}

impl HostProcess {
    pub(super) fn new(blade: &Blade, rank: u32, thread: usize, affinity: Affinity) -> Self {
        Self {
            rank,
            sim: blade.sim.clone(),
            recorder: Rc::clone(&blade.recorder),
            machine: Rc::clone(&blade.machine),
            memory: Rc::clone(&blade.memory),
            detector: blade.detector.clone(),
            fault: blade.fault.clone(),
            ppes: Rc::clone(&blade.ppes),
            scheduler: Rc::clone(&blade.scheduler),
            loading: blade.loading.clone(),
            turn: blade.scheduler.admit(rank, thread, affinity),
            thread: Cell::new(thread),
            translated: RefCell::default(),
            since: Cell::new(SimTime::ZERO),
            trace: blade.trace.clone(),
            running: RefCell::default(),
        }
    }

    /// Waits for a hardware thread; coming after another process costs a switch. At start-up it
    /// first waits until the SPEs have their programs.
    pub async fn resume(&self) {
        if self.loading.read(|loading| loading.under_way > 0) {
            self.loading.wait_until(|loading| loading.under_way == 0).await;
            self.since.set(self.sim.now());
        }
        self.scheduler.wake(self.rank);
        self.take_turn(self.scheduler.switch()).await;
    }

    /// Gives the hardware thread away.
    pub fn release(&self) {
        self.running.borrow_mut().take();
        self.scheduler.block(self.thread.get());
    }

    /// `sched_yield`: who runs first of those that are ready on this hardware thread is up to the
    /// scheduler; where it is the caller again, it has paid for a system call.
    pub async fn sched_yield(&self) {
        self.requeue(Entry::Yielded);
        if !self.take_turn(self.machine.linux.services.yield_).await {
            let _span = self.span("sched_yield");
            self.stall(self.in_kernel(self.machine.linux.services.yield_alone)).await;
        }
    }

    /// Polls until `watch` is as wanted. The loop keeps the hardware thread busy until its slice
    /// ends, where it has one.
    pub async fn spin<T>(&self, watch: &Watch<T>, mut wanted: impl FnMut(&T) -> bool) {
        loop {
            let start = self.sim.now();
            let span = self.polling("spin");
            let either = first_of(watch.wait_until(&mut wanted), self.stopped());
            self.ppe().pipeline.begin();
            let first = either.await;
            self.ppe().pipeline.end();
            drop(span);
            self.polled_since(start);
            match first {
                First::Left(()) => return,
                First::Right(how) => self.give_way(how).await,
            }
        }
    }

    /// Loads the status of an SPE's outbound mailbox until it tells of a word. The loop keeps the
    /// hardware thread; its loads leave the pipeline to the other one. The load that tells is the
    /// first that ends after the word came, by loads back to back since the first one; those in
    /// between are not emulated one by one.
    pub async fn poll_mailbox(&self, spe: &Spe) {
        let mailbox = spe.outbound_mailbox();
        let load = SimSpan::from_seconds(self.machine.ppe.mmio_load);
        let first = self.sim.now();
        loop {
            let start = self.sim.now();
            let span = self.trace.span(self.thread_track(), Category::Ppe, ("poll SPE", spe.index));
            let either = first_of(mailbox.arrival(), self.stopped()).await;
            if either == First::Left(()) {
                let ticks = self.sim.now().since(first).ticks();
                let loads = ticks.div_ceil(load.ticks()).max(1);
                let rest = SimSpan::from_ticks(loads * load.ticks() - ticks);
                self.sim.sleep(rest).await;
            }
            drop(span);
            self.recorder.host_busy(self.sim.now().since(start));
            match either {
                First::Left(()) => return,
                First::Right(how) => self.give_way(how).await,
            }
        }
    }

    /// Keeps the instants of an off-load that has been collected; host code begins again.
    pub fn off_loaded(&self, function: u32, instants: Instants) {
        self.recorder.offload(function, self.since.get(), instants);
        self.since.set(instants.collected);
    }

    /// Ends the process; the host code since its last off-load counts for `function`.
    pub fn finish(&self, function: u32) {
        self.recorder.host_tail(function, self.since.get(), self.sim.now());
        self.release();
    }

    /// Executes a burst of host code: waits for the lines and translations that others have
    /// displaced, then shares the pipeline.
    pub async fn work(&self, work: Work) {
        self.work_as("host code", work).await;
    }

    /// The same, under another name in a trace.
    pub(super) async fn work_as(&self, name: &'static str, work: Work) {
        let stall = self.ppe().stall(self.rank, work, &mut self.translated.borrow_mut());
        if stall > Seconds(0.0) {
            let _span = self.span("cold caches");
            self.stall(stall).await;
        }
        self.recorder.host_work(self.rank, work, work.cycles(&self.machine.ppe));
        self.execute_for(name, self.ppe().alone(work)).await;
    }

    /// Executes code whose instructions take so many cycles with everything in the first-level
    /// caches, and that walks through these stretches of the process's data: waits for the lines
    /// that are not there, then shares the pipeline. Left out: the translation of their pages.
    pub async fn compute(&self, cycles: Cycles, walked: &[Stretch]) {
        let stall = self.ppe().walk(self.rank, walked);
        if stall > Seconds(0.0) {
            let _span = self.span("cold caches");
            self.stall(stall).await;
        }
        self.recorder.count(self.rank, |counts| counts.computed_cycles += cycles);
        self.execute_for("host code", cycles.at(self.machine.clock).seconds()).await;
    }

    /// The machine that it runs on.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Executes code that takes so long when nobody shares the core and everything is in the
    /// first-level caches.
    pub(super) async fn execute_for(&self, name: &'static str, alone: Seconds) {
        let mut left = alone;
        while left > Seconds(0.0) {
            let start = self.sim.now();
            let span = self.span(name);
            let how = Cell::new(Entry::Expired);
            let stopped = async { how.set(self.stopped().await) };
            left = self.ppe().execute(left, stopped).await;
            drop(span);
            self.recorder.host_busy(self.sim.now().since(start));
            if left > Seconds(0.0) {
                self.give_way(how.get()).await;
            }
        }
    }

    /// Time line in a trace.
    pub fn track(&self) -> Track {
        Track::Rank(self.rank)
    }

    /// The time line of the hardware thread on which it runs.
    fn thread_track(&self) -> Track {
        let (thread, each) = (self.thread.get() as u32, self.machine.layout.threads_per_ppe);
        Track::HardwareThread { cell: thread / each, thread: thread % each }
    }

    /// What it does on its hardware thread, from now until the span is dropped.
    fn span(&self, name: &'static str) -> Span {
        self.trace.span(self.thread_track(), Category::Ppe, name)
    }

    /// A burst of stores to, or loads from, local store, on the time line of its hardware thread.
    pub fn crossing(&self, what: &'static str, spe: &Spe) -> Span {
        self.trace.span(self.thread_track(), Category::Ppe, (what, spe.index))
    }

    /// Lets the time go by that the process takes for something that was timed elsewhere, sharing of
    /// the core included, such as by [`super::ppe::Core`]. The pipeline knows nothing of it.
    pub async fn spend(&self, time: Seconds) {
        let _span = self.span("host code");
        self.stall(time).await;
    }

    /// Stores a word into a local store and waits until it is there.
    pub async fn store_to_spe(&self) {
        self.recorder.count(self.rank, |counts| counts.spe_stores += 1);
        self.stall(self.machine.ppe.mmio_store).await;
    }

    /// Loads a word from a local store.
    pub async fn load_from_spe(&self) {
        self.recorder.count(self.rank, |counts| counts.spe_loads += 1);
        self.stall(self.machine.ppe.mmio_load).await;
    }

    /// The thread waits; the other one has the pipeline to itself meanwhile.
    async fn stall(&self, span: Seconds) {
        let span = SimSpan::from_seconds(span);
        self.recorder.host_busy(span);
        self.sim.sleep(span).await;
    }

    /// A span of polling, on the time line of its hardware thread.
    fn polling(&self, name: &'static str) -> Span {
        let category = match self.scheduler.idle() {
            Idle::Sleeps => Category::Ppe,
            Idle::Polls => Category::Wait,
        };
        self.trace.span(self.thread_track(), category, name)
    }

    /// Polling keeps a process busy, unless a user-level scheduler does it in its place.
    fn polled_since(&self, start: SimTime) {
        if self.scheduler.idle() == Idle::Sleeps {
            self.recorder.host_busy(self.sim.now().since(start));
        }
    }

    /// Ends when the scheduler wants the hardware thread back.
    async fn stopped(&self) -> Entry {
        loop {
            let turn = self.turn.read(|&turn| turn);
            if turn.preempted {
                return Entry::Preempted;
            }
            let changed = self.turn.wait_until(|&now| now != turn);
            match self.scheduler.slice_end(self.thread.get()) {
                None => changed.await,
                Some(end) => {
                    if let First::Right(()) = first_of(changed, self.sim.sleep_until(end)).await {
                        return Entry::Expired;
                    }
                }
            }
        }
    }

    /// Goes back into the queue, and on when it is its turn again.
    async fn give_way(&self, how: Entry) {
        self.requeue(how);
        self.take_turn(self.scheduler.switch()).await;
    }

    fn requeue(&self, how: Entry) {
        self.running.borrow_mut().take();
        self.scheduler.requeue(self.thread.get(), how);
    }

    /// Waits for its turn, and pays for the switch where another process ran before; whether it
    /// did.
    async fn take_turn(&self, switch: Seconds) -> bool {
        let queued = self.trace.span(self.track(), Category::Wait, "run queue");
        self.turn.wait_until(|turn| turn.thread.is_some()).await;
        drop(queued);
        let switched = self.come_in();
        let switch = self.switch_time(switch);
        if switched {
            let _span = self.trace.span(self.thread_track(), Category::Switch, "context switch");
            self.ppe().pipeline.begin();
            self.sim.sleep(SimSpan::from_seconds(switch)).await;
            self.ppe().pipeline.end();
        }
        switched
    }

    /// What the switch takes by which it has come in: longer than the usual one where who ran before
    /// chose it.
    fn switch_time(&self, usual: Seconds) -> Seconds {
        let linux = &self.machine.linux;
        let chosen = self.scheduler.take_chosen(self.thread.get());
        let switch = if chosen { linux.services.yield_ * linux.yield_to } else { usual };
        match self.scheduler.idle() {
            Idle::Sleeps => self.in_kernel(switch),
            // A user-level scheduler's was measured while both threads were busy.
            Idle::Polls => switch,
        }
    }

    /// What a service of the kernel takes that takes so long while the other hardware thread waits.
    fn in_kernel(&self, alone: Seconds) -> Seconds {
        self.ppe().pipeline.slowed(alone)
    }

    /// Has the hardware thread that it was given; whether another process ran there before, in another
    /// address space.
    fn come_in(&self) -> bool {
        let before = self.thread.get();
        let thread = self.turn.read(|turn| turn.thread).unwrap_or(before);
        self.thread.set(thread);
        let running = self.trace.span(self.thread_track(), Category::Run, ("rank", self.rank));
        *self.running.borrow_mut() = Some(running);
        let switched = self.scheduler.comes_in(thread, self.rank);
        let place = |thread: usize| match self.scheduler.affinity() {
            Affinity::Pinned | Affinity::Free => thread,
            // What one thread of a PPE has translated serves the other.
            Affinity::Shared => thread / self.machine.layout.threads_per_ppe as usize,
        };
        if switched || place(thread) != place(before) {
            *self.translated.borrow_mut() = Translated::default();
        }
        switched
    }

    /// The PPE on which it runs.
    fn ppe(&self) -> &Ppe {
        &self.ppes[self.thread.get() / self.machine.layout.threads_per_ppe as usize]
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        self.scheduler.retire(self.rank);
    }
}

#[cfg(test)]
mod tests {
    use super::super::KernelTiming;
    use super::*;
    use mmgp_machine::ThreadSharing;

    /// Time until `processes` processes have each done a second of work, where two busy threads are
    /// slower by 1.28.
    fn time_of_all(processes: u32) -> f64 {
        let mut machine = Machine::named("qs20").unwrap();
        machine.ppe_issue.threads = ThreadSharing::Given;
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
    fn a_yield_without_anybody_else_costs_a_system_call_and_no_switch() {
        let mut machine = Machine::named("qs20").unwrap();
        machine.linux.services.yield_alone = Seconds(0.2e-6);
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        let process = blade.host_process(0);
        blade.sim.spawn("alone", async move {
            process.resume().await;
            process.sched_yield().await;
        });
        assert_eq!(blade.run().unwrap().seconds(), Seconds(0.2e-6));
        assert_eq!(blade.context_switches(), 0);
    }
}
