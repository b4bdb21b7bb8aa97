//! How a process waits on its hardware thread: it looks, and lets others run between two looks.

use crate::Spe;
use crate::hazard::Touch;
use crate::host::{First, HostProcess, first_of};
use crate::linux::{Entry, Waiting};
use crate::memory::EffectiveAddress;
use crate::ppe::{Access, Work};
use crate::trace::Category;
use mmgp_base::units::{Bytes, Seconds, SimSpan};
use mmgp_machine::{Interrupts, Machine};
use mmgp_sim::{Reason, Watch};

/// What a process does before each look at what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Loads the flag from a local store, across the bus.
    LocalStore,
    /// Loads the flag from its own memory.
    Memory,
    /// Counts down from 1, 2, 4 and so on up to the limit of the machine's MPI library.
    Backoff,
}

impl Pause {
    /// How long the pause before the look with that number is, from 0.
    fn before(self, look: u32, machine: &Machine) -> Seconds {
        match self {
            Self::LocalStore => machine.ppe.mmio_load,
            Self::Memory => {
                let look = Work { integers: 1, loads: 1, branches: 1, ..Work::default() };
                look.alone(machine)
            }
            Self::Backoff => {
                let turns = 1_u64.checked_shl(look).unwrap_or(u64::MAX).min(machine.mpi.backoff);
                (Work { integers: 1, branches: 1, ..Work::default() } * turns).alone(machine)
            }
        }
    }
}

impl HostProcess {
    /// Gives the hardware thread to the next process in turn, by the user-level scheduler, and goes on
    /// when its own turn has come again.
    pub async fn hand_over(&self) {
        self.give_way(Entry::Yielded).await;
    }

    /// Looks whether `watch` is as wanted, and yields by a system call as long as it is not.
    ///
    /// Pauses, switches and system calls are not emulated one by one while all processes of the hardware
    /// thread do nothing else. They keep the pipeline busy and are slowed down as the other thread was busy when each began.
    pub async fn yield_until<T>(
        &self,
        watch: &Watch<T>,
        pause: Pause,
        wanted: impl Fn(&T) -> bool,
    ) {
        self.yield_for(watch, watch.reason(), pause, wanted).await;
    }

    /// The same, for a reason of which the name of the value would say too little.
    async fn yield_for<T>(
        &self,
        watch: &Watch<T>,
        reason: Reason,
        pause: Pause,
        wanted: impl Fn(&T) -> bool,
    ) {
        let ready = || watch.wait_for(reason, &wanted);
        let mut is_due = false;
        for look in 0.. {
            let before = pause.before(look, &self.machine);
            if !is_due {
                self.poll_for(before).await;
            }
            if watch.read(&wanted) {
                break;
            }
            let is_longest = before == pause.before(look + 1, &self.machine);
            if is_longest {
                let turn = SimSpan::from_seconds(
                    before + self.in_kernel(self.machine.linux.services.yield_),
                );
                self.scheduler.polls(self.rank, Some(turn));
            }
            if is_longest && self.scheduler.is_alone(self.thread.get()) {
                let period = before + self.in_kernel(self.machine.linux.services.yield_alone);
                self.look_alone(ready(), period).await;
                is_due = true;
            } else {
                is_due = self.yield_among(ready).await;
            }
        }
        self.scheduler.polls(self.rank, None);
    }

    /// Yields, and has its turn again; whether its next look is due at once.
    async fn yield_among<F: Future<Output = ()>>(&self, ready: impl Fn() -> F) -> bool {
        let thread = self.thread.get();
        match self.scheduler.rotation(thread) {
            Some(turns) => self.stand_for(&turns, ready()).await,
            None => self.requeue(Entry::Yielded),
        }
        let queued = self.trace.span(self.track(), Category::Wait, "run queue");
        let turn = || self.turn.wait_until(|turn| turn.thread.is_some());
        if let First::Right(()) = first_of(turn(), ready()).await {
            self.scheduler.polls(self.rank, None);
            self.scheduler.stirred(thread).update(|count| *count += 1);
        }
        turn().await;
        drop(queued);
        let switched = self.come_in();
        let rest = self.scheduler.take_rest(self.thread.get());
        let (span, time) = match (rest, switched) {
            (Some(rest), _) => (self.polling("poll"), rest),
            (None, true) => {
                let span = self.trace.span(self.thread_track(), Category::Switch, "context switch");
                (span, SimSpan::from_seconds(self.switch_time(self.machine.linux.services.yield_)))
            }
            (None, false) => {
                let call = self.in_kernel(self.machine.linux.services.yield_alone);
                let call = SimSpan::from_seconds(call);
                (self.polling("sched_yield"), call)
            }
        };
        self.ppe().pipeline.begin();
        self.sim.sleep(time).await;
        self.ppe().pipeline.end();
        drop(span);
        rest.is_some()
    }

    /// Stands for all processes of the hardware thread, whose turns these are, its own last, until one
    /// of them has what it waits for or another comes; then whoever has its turn goes on with it.
    async fn stand_for(&self, turns: &[SimSpan], ready: impl Future<Output = ()>) {
        let thread = self.thread.get();
        let stirred = self.scheduler.stirred(thread);
        let (count, turn) = (stirred.read(|&count| count), self.turn.read(|&turn| turn));
        let start = self.sim.now();
        let span = self.polling("poll");
        self.ppe().pipeline.begin();
        let other = first_of(
            stirred.wait_until(|&now| now != count),
            self.turn.wait_until(|&now| now != turn),
        );
        first_of(other, ready).await;
        self.ppe().pipeline.end();
        drop(span);
        self.polled_since(start);
        let round = turns.iter().fold(0, |sum, turn| sum + turn.ticks()).max(1);
        let mut left = self.sim.now().since(start).ticks() % round;
        let mut before = 0;
        while before + 1 < turns.len() && left >= turns[before].ticks() {
            left -= turns[before].ticks();
            before += 1;
        }
        self.running.borrow_mut().take();
        let rest = SimSpan::from_ticks(turns[before].ticks().saturating_sub(left));
        self.scheduler.rotate(thread, before, rest);
    }

    /// Waits for a message as the processes of the machine do; `reason` says for what in the report of
    /// a deadlock.
    pub(crate) async fn wait_for_message<T>(
        &self,
        inbox: &Watch<T>,
        reason: Reason,
        wanted: impl Fn(&T) -> bool,
    ) {
        match self.scheduler.waiting() {
            Waiting::Aside => {
                self.release();
                inbox.wait_for(reason, wanted).await;
                self.resume().await;
            }
            Waiting::Yields => self.yield_for(inbox, reason, Pause::Backoff, wanted).await,
        }
    }

    /// Looks once in each period until it is ready or another process wants to run.
    async fn look_alone(&self, ready: impl Future<Output = ()>, period: Seconds) {
        let period = SimSpan::from_seconds(period);
        let start = self.sim.now();
        let turn = self.turn.read(|&turn| turn);
        self.ppe().pipeline.begin();
        let span = self.polling("poll");
        let disturbed = self.turn.wait_until(|&now| now != turn);
        first_of(disturbed, ready).await;
        let ticks = self.sim.now().since(start).ticks();
        let whole = ticks.div_ceil(period.ticks().max(1)).max(1) * period.ticks();
        self.sim.sleep(SimSpan::from_ticks(whole.saturating_sub(ticks))).await;
        drop(span);
        self.ppe().pipeline.end();
        self.polled_since(start);
    }

    /// Sleeps in the kernel until an interrupt of an SPE tells that `watch` is as wanted, such as that it
    /// has written its interrupt mailbox; then the scheduler decides when the process runs. A hardware thread
    /// handles one interrupt after the other.
    ///
    /// The way in and the way out of the call are taken for halves of it. Left out: the time that the
    /// interrupt takes from whoever runs on the hardware thread.
    pub async fn sleep_until_interrupt<T>(&self, watch: &Watch<T>, wanted: impl FnMut(&T) -> bool) {
        self.read_half().await;
        self.release();
        let sleep = self.trace.span(self.track(), Category::Wait, "interrupt");
        watch.wait_until(wanted).await;
        let handler = match self.machine.linux.interrupts {
            Interrupts::First => 0,
            Interrupts::Own => self.thread.get(),
        };
        let interrupt = SimSpan::from_seconds(self.machine.linux.services.interrupt);
        self.sim.sleep(self.scheduler.handled_in(handler, interrupt)).await;
        drop(sleep);
        self.resume().await;
        self.read_half().await;
    }

    /// One of both ways of a read of a mailbox's file.
    async fn read_half(&self) {
        let _span = self.span("system call");
        self.stall(self.machine.linux.services.mailbox_read * 0.5).await;
    }

    /// Keeps the pipeline busy for so long.
    pub async fn poll_for(&self, time: Seconds) {
        let (start, span) = (self.sim.now(), self.polling("poll"));
        self.ppe().pipeline.begin();
        self.sim.sleep(SimSpan::from_seconds(time)).await;
        drop(span);
        self.ppe().pipeline.end();
        self.polled_since(start);
    }
}

impl HostProcess {
    /// What the host's program is about to load from memory that SPEs have put: where hazards are looked
    /// for and the host does not know the puts to be complete, the run ends with
    /// [`Hazard`](crate::Hazard). Takes no time.
    pub fn reads(&self, at: EffectiveAddress, bytes: Bytes) {
        self.touches(Touch::Reads, at, bytes);
    }

    /// The same of what it is about to store.
    pub fn writes(&self, at: EffectiveAddress, bytes: Bytes) {
        self.touches(Touch::Writes, at, bytes);
    }

    fn touches(&self, touch: Touch, at: EffectiveAddress, bytes: Bytes) {
        if let Err(hazard) = self.detector.host(touch, at, bytes) {
            self.fault.raise(hazard);
        }
    }

    /// Tells an SPE something by a flag, which that one sees at [`Spe::hears_host`].
    pub fn tells(&self, spe: &Spe) {
        spe.detector().host_tells();
    }

    /// Notes that it has seen what an SPE has told it by [`Spe::tells_host`].
    pub fn hears(&self, spe: &Spe) {
        spe.detector().host_hears();
    }
}

impl HostProcess {
    /// Executes a burst whose accesses to the process's data need what the one before has loaded, as
    /// when a list is followed: waits for each line that is not in the first-level cache, and for each
    /// translation that is not at hand. An [`Access`]'s address is its place among the data.
    pub async fn follow(&self, work: Work, accesses: impl Iterator<Item = Access>) {
        let stall = self.ppe().follow(self.rank, accesses);
        if stall > Seconds(0.0) {
            let _span = self.span("cold caches");
            self.stall(stall).await;
        }
        self.recorder.host_work(self.rank, work, work.cycles(&self.machine.ppe));
        self.execute_for("host code", self.ppe().alone(work)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ppe::AccessKind;
    use crate::{Blade, KernelTiming};
    use mmgp_machine::Machine;

    /// Cycles of loads from these places, one after the other.
    fn cycles(places: &'static [u64]) -> f64 {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let process = blade.host_process(0);
        blade.sim.spawn("chase", async move {
            process.resume().await;
            let loads = places.iter().map(|&address| Access { address, kind: AccessKind::Load });
            let work = Work { loads: places.len() as u64, ..Work::default() };
            process.follow(work, loads).await;
            process.release();
        });
        (blade.run().unwrap().seconds().0 * 3.2e9).round()
    }

    #[test]
    fn each_load_waits_for_its_line_and_its_translation() {
        // A load takes 5 cycles. The first finds nothing: 495 more for its line, 60 + 495 for its page.
        assert_eq!(cycles(&[0]), 5.0 + 495.0 + 555.0);
        // Another line of the page, and the first again.
        assert_eq!(cycles(&[0, 128, 64]), 3.0 * 5.0 + 2.0 * 495.0 + 555.0);
    }
}
