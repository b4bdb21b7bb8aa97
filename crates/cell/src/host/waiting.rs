//! How a process waits on its hardware thread: it looks, and lets others run between two looks.

use super::{First, HostProcess, first_of};
use crate::linux::{Entry, Waiting};
use crate::ppe::Work;
use mmgp_base::units::{Seconds, SimSpan};
use mmgp_machine::Machine;
use mmgp_sim::{Reason, Watch};

/// What a process does before each look at what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// It loads the flag from a local store, across the bus.
    LocalStore,
    /// It counts down from 1, 2, 4 and so on up to the limit of the machine's MPI library.
    Backoff,
}

impl Pause {
    /// How long the pause before the look with that number is, from 0.
    fn before(self, look: u32, machine: &Machine) -> Seconds {
        match self {
            Self::LocalStore => machine.ppe.mmio_load,
            Self::Backoff => {
                let turns = 1_u64.checked_shl(look).unwrap_or(u64::MAX).min(machine.mpi.backoff);
                let countdown = Work { integers: 1, branches: 1, ..Work::default() } * turns;
                countdown.cycles(&machine.ppe).at(machine.clock).seconds()
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
    /// Pauses and system calls of a process that has its hardware thread to itself are not emulated
    /// one by one. They keep the pipeline busy and are not slowed down themselves.
    pub async fn yield_until<T>(
        &self,
        watch: &Watch<T>,
        pause: Pause,
        mut wanted: impl FnMut(&T) -> bool,
    ) {
        for look in 0.. {
            let before = pause.before(look, &self.machine);
            self.poll_for(before).await;
            if watch.read(&mut wanted) {
                return;
            }
            let is_longest = before == pause.before(look + 1, &self.machine);
            if is_longest && self.scheduler.is_alone(self.thread.get()) {
                let period = before + self.machine.linux.system_call;
                self.look_alone(watch, &mut wanted, period).await;
                if watch.read(&mut wanted) {
                    return;
                }
            } else {
                self.sched_yield().await;
            }
        }
    }

    /// Waits for a message as the processes of the machine do; `reason` says for what in the report of
    /// a deadlock.
    pub(crate) async fn wait_for_message<T>(
        &self,
        inbox: &Watch<T>,
        reason: Reason,
        wanted: impl FnMut(&T) -> bool,
    ) {
        match self.scheduler.waiting() {
            Waiting::Aside => {
                self.release();
                inbox.wait_for(reason, wanted).await;
                self.resume().await;
            }
            Waiting::Yields => self.yield_until(inbox, Pause::Backoff, wanted).await,
        }
    }

    /// Looks once in each period until `watch` is as wanted or another process wants to run.
    async fn look_alone<T>(
        &self,
        watch: &Watch<T>,
        wanted: impl FnMut(&T) -> bool,
        period: Seconds,
    ) {
        let period = SimSpan::from_seconds(period);
        let start = self.sim.now();
        let turn = self.turn.read(|&turn| turn);
        self.ppe().pipeline.begin();
        let span = self.polling("poll");
        let disturbed = self.turn.wait_until(|&now| now != turn);
        let (First::Left(()) | First::Right(())) =
            first_of(watch.wait_until(wanted), disturbed).await;
        let ticks = self.sim.now().since(start).ticks();
        let whole = ticks.div_ceil(period.ticks().max(1)).max(1) * period.ticks();
        self.sim.sleep(SimSpan::from_ticks(whole.saturating_sub(ticks))).await;
        drop(span);
        self.ppe().pipeline.end();
        self.polled_since(start);
    }

    /// Keeps the pipeline busy for so long.
    async fn poll_for(&self, time: Seconds) {
        let (start, span) = (self.sim.now(), self.polling("poll"));
        self.ppe().pipeline.begin();
        self.sim.sleep(SimSpan::from_seconds(time)).await;
        drop(span);
        self.ppe().pipeline.end();
        self.polled_since(start);
    }
}
