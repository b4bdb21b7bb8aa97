//! How a process scans a list in memory while it waits, and yields when it has found something or
//! nothing.

use crate::channel::{OutboundMailbox, Signal};
use crate::host::{First, HostProcess, Translated, first_of};
use crate::linux::Entry;
use crate::mfc::Command;
use crate::spe::Spe;
use crate::trace::Category;
use mmgp_base::error::Result;
use mmgp_base::units::{Seconds, SimSpan};

/// Passes over a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan {
    /// What a pass takes \[s\].
    pub pass: Seconds,
    /// How many there are at most.
    pub most: u64,
    /// Who makes them.
    pub level: Scanner,
}

/// Who scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanner {
    /// The process itself, whose slice may end meanwhile.
    User,
    /// The kernel in its place, from which nobody takes the hardware thread.
    Kernel,
}

impl HostProcess {
    /// The hardware thread on which it runs or ran last, counted through all Cells.
    pub fn thread(&self) -> usize {
        self.thread.get()
    }

    /// The Cell of that thread.
    pub fn cell(&self) -> u32 {
        self.thread.get() as u32 / self.machine.layout.threads_per_ppe
    }

    /// Whether that process runs on another hardware thread just now.
    pub fn runs_elsewhere(&self, process: u32) -> bool {
        self.scheduler.runs_elsewhere(process, self.thread.get())
    }

    /// Ends when another process than now runs on some hardware thread.
    pub async fn others_run(&self) {
        let runs = self.scheduler.runs();
        let before = runs.read(Vec::clone);
        runs.wait_until(|now| *now != before).await;
    }

    /// Passes over a list until there have been the most, or the one is over during which `ready`
    /// ended; how many there were, at least one.
    ///
    /// While nobody else is ready on its hardware thread, the process yields to itself after the most
    /// passes and begins again. Passes and such yields are not emulated one by one. They keep the
    /// pipeline busy and are not slowed down themselves.
    pub async fn scan(&self, ready: impl Future<Output = ()>, scan: Scan) -> u64 {
        if self.scheduler.is_alone(self.thread.get()) {
            self.scan_alone(ready, scan).await;
            return 1;
        }
        let (start, span) = (self.sim.now(), self.polling("scan"));
        let pass = SimSpan::from_seconds(scan.pass).ticks().max(1);
        let stopped = async {
            match scan.level {
                Scanner::User => self.stopped().await,
                Scanner::Kernel => std::future::pending().await,
            }
        };
        let enough = self.sim.sleep(SimSpan::from_ticks(pass * scan.most));
        self.ppe().pipeline.begin();
        let first = first_of(stopped, first_of(ready, enough)).await;
        let ticks = self.sim.now().since(start).ticks();
        let passes = ticks.div_ceil(pass).max(1);
        self.sim.sleep(SimSpan::from_ticks(passes * pass - ticks)).await;
        self.ppe().pipeline.end();
        drop(span);
        self.polled_since(start);
        if let First::Left(how) = first {
            self.give_way(how).await;
        }
        passes
    }

    /// Scans and yields to nobody until it is ready or another process wants to run.
    async fn scan_alone(&self, ready: impl Future<Output = ()>, scan: Scan) {
        let (start, span) = (self.sim.now(), self.polling("scan"));
        let turn = self.turn.read(|&turn| turn);
        self.ppe().pipeline.begin();
        let disturbed = self.turn.wait_until(|&now| now != turn);
        first_of(disturbed, ready).await;
        let pass = SimSpan::from_seconds(scan.pass).ticks().max(1);
        let passes = pass * scan.most;
        let period =
            passes + SimSpan::from_seconds(self.machine.linux.services.yield_alone).ticks();
        // Where it is within a scan and the yield after it.
        let ticks = self.sim.now().since(start).ticks();
        let since = ticks % period;
        let end = if since < passes { since.next_multiple_of(pass) } else { period };
        let end = if ticks == 0 { pass } else { end };
        self.sim.sleep(SimSpan::from_ticks(end - since)).await;
        self.ppe().pipeline.end();
        drop(span);
        self.polled_since(start);
    }

    /// Resumes as [`HostProcess::resume`] does, where processes share an address space, but on the hardware thread
    /// on which it began and on no other.
    pub async fn resume_at_home(&self) {
        let home = self.machine.layout.home_thread(self.rank) as usize;
        self.scheduler.wake_at(self.rank, home);
        self.take_turn(self.scheduler.switch()).await;
    }

    /// Pays for a switch of its hardware thread to this process from another one that has chosen it,
    /// where both go on with the same, so that the scheduler knows of none.
    pub async fn come_in_by_choice(&self) {
        self.scheduler.switched(self.thread.get());
        *self.translated.borrow_mut() = Translated::default();
        let linux = &self.machine.linux;
        let span = self.trace.span(self.thread_track(), Category::Switch, "context switch");
        self.sim.sleep(SimSpan::from_seconds(linux.services.yield_ * linux.yield_to)).await;
        drop(span);
    }

    /// `sched_yield`, or `_yield_to` a process, of one that has scanned; who runs first is up to the
    /// scheduler. It keeps the pipeline busy, as in [`HostProcess::yield_until`].
    pub async fn yield_after_scan(&self, to: Option<u32>) {
        let thread = self.thread.get();
        match to {
            None => self.requeue(Entry::Yielded),
            Some(process) => {
                self.running.borrow_mut().take();
                self.scheduler.yield_to(thread, process);
            }
        }
        let queued = self.trace.span(self.track(), Category::Wait, "run queue");
        self.turn.wait_until(|turn| turn.thread.is_some()).await;
        drop(queued);
        let switched = self.come_in();
        let time = self.switch_time(self.machine.linux.services.yield_);
        let (span, time) = if switched {
            (self.trace.span(self.thread_track(), Category::Switch, "context switch"), time)
        } else {
            (self.polling("sched_yield"), self.in_kernel(self.machine.linux.services.yield_alone))
        };
        self.ppe().pipeline.begin();
        self.sim.sleep(SimSpan::from_seconds(time)).await;
        self.ppe().pipeline.end();
        drop(span);
    }
}

impl HostProcess {
    /// Stores a word into an SPE's inbound mailbox.
    pub async fn write_mailbox(&self, spe: &Spe, word: u32) {
        self.store_to_spe().await;
        spe.inbound_mailbox().write(word);
    }

    /// Loads a word from an SPE's outbound mailbox; nothing where it is empty.
    pub async fn read_mailbox(&self, mailbox: &OutboundMailbox) -> Option<u32> {
        self.load_from_spe().await;
        mailbox.take()
    }

    /// Stores a word into a signal-notification register.
    pub async fn signal(&self, spe: &Spe, signal: Signal, value: u32) {
        self.store_to_spe().await;
        spe.detector().signalled_by_host(signal);
        spe.signal(signal).write(value);
    }

    /// Gives a transfer to the MFC of an SPE: stores of the local address, of the effective
    /// address, of size and tag with the command itself, and a load of the status that says
    /// whether it was taken.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`](crate::mfc::Mfc::enqueue).
    pub async fn enqueue(&self, spe: &Spe, command: Command) -> Result<()> {
        for _ in 0..3 {
            self.store_to_spe().await;
        }
        self.load_from_spe().await;
        spe.mfc.proxy().enqueue(command).await
    }
}
