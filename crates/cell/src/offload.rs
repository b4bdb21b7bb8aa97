//! Off-loading by flags in local store, or by mailboxes.
//!
//! [`Signalling::Memory`] is the protocol of the papers' run-time system: the host stores `stop = 0` into a structure mapped
//! into the SPE's local store, then `start = function`; the SPE spins on `start`, fetches the
//! arguments by DMA, computes, commits its results, stores `stop = 1`; the host sees it when it
//! loads `stop`. A task whose loops are shared by p SPEs is started on one after the other and
//! complete when the last has stopped. What the host process does meanwhile depends on the
//! [`Discipline`]: it gives its hardware thread away, or spins.
//!
//! [`Signalling::Mailbox`] is that of a first port: the host loads the status of the SPE's inbound
//! mailbox and writes the function there; the SPE's program reads it from its channel, computes as
//! above, and writes the function into its outbound mailbox. The host process loads the status of that
//! mailbox until there is a word, and then the word. It polls itself, under either discipline, so
//! that it keeps its hardware thread until the SPEs are done: the scheduler that gives a thread away
//! knows flags in memory alone.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use super::host::HostProcess;
use super::linux::Discipline;
use super::memory::EffectiveAddress;
use super::record::Recorder;
use super::spe::Spe;
use super::trace::{Arrow, Category, Track};
use super::{Blade, Fault};
use mmgp_base::error::Result;
use mmgp_base::units::SimTime;
use mmgp_sim::{Sim, Watch};

/// What the host tells an SPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which function of the SPE's program.
    pub function: u32,
    /// Where its arguments lie.
    pub arguments: EffectiveAddress,
    /// Which of the SPEs that share the task this one is, from 0.
    pub share: u32,
    /// How many share it.
    pub shares: u32,
}

/// A part of an SPE's run in which it worked on what several SPEs can share: from the moment
/// the first data of the loop were there to the end of its last iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// Begin of the loop.
    pub start: SimTime,
    /// End of the loop.
    pub end: SimTime,
}

/// How host and SPE tell each other that a call begins and that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalling {
    /// Flags in local store.
    Memory,
    /// Words through the SPE's inbound and outbound mailbox.
    Mailbox,
}

/// The program that is loaded on every SPE.
pub trait SpeProgram: 'static {
    /// What its functions are called in a trace, in the order of their numbers.
    const FUNCTIONS: &'static [&'static str] = &[];

    /// How it and the host talk; asked for when it is loaded.
    fn signalling(&self) -> Signalling {
        Signalling::Memory
    }

    /// Runs one function and says when its shared loops began and ended, in their order; the
    /// results are committed when it returns.
    fn call(&self, spe: &Spe, call: Call) -> impl Future<Output = Result<Vec<Loop>>>;
}

/// The structure in local store through which host and SPE talk; clones refer to the same.
#[derive(Clone)]
pub(super) struct Mailslot {
    start: Watch<(u64, Option<Call>)>,
    stopped: Watch<u64>,
    signalling: Rc<Cell<Signalling>>,
}

impl Mailslot {
    pub(super) fn new(sim: &Sim, spe: u32) -> Self {
        Self {
            start: Watch::new(sim, &format!("the start flag of SPE {spe}"), (0, None)),
            stopped: Watch::new(sim, &format!("the stop flag of SPE {spe}"), 0),
            signalling: Rc::new(Cell::new(Signalling::Memory)),
        }
    }

    /// Tells the SPE of a call; the number of its calls so far.
    fn tell(&self, call: Call) -> u64 {
        self.start.update(|(count, start)| {
            *count += 1;
            *start = Some(call);
            *count
        })
    }
}

impl Blade {
    /// Loads a program on every SPE, which then serves calls for ever.
    pub fn load<P: SpeProgram>(&self, program: &Rc<P>) {
        self.trace.name_functions(P::FUNCTIONS);
        for spe in &self.spes {
            spe.mailslot.signalling.set(program.signalling());
            let server = Server {
                spe: spe.clone(),
                program: Rc::clone(program),
                recorder: Rc::clone(&self.recorder),
                fault: self.fault.clone(),
            };
            self.sim.spawn_daemon(format!("SPE {}", spe.index), server.serve());
        }
    }
}

/// The program of one SPE at work.
struct Server<P> {
    spe: Spe,
    program: Rc<P>,
    recorder: Rc<Recorder>,
    fault: Fault,
}

impl<P: SpeProgram> Server<P> {
    async fn serve(self) {
        let Self { spe, .. } = &self;
        for number in 1.. {
            spe.mailslot.start.wait_until(|&(count, _)| count >= number).await;
            let Some(call) = spe.mailslot.start.read(|&(_, call)| call) else { continue };
            let begin = spe.sim.now();
            let label = spe.trace.function(call.function);
            let span = spe.trace.span(Track::Spu(spe.index), Category::Call, label);
            match spe.mailslot.signalling.get() {
                Signalling::Memory => spe.spend(spe.poll).await,
                Signalling::Mailbox => self.read_mailbox().await,
            }
            span.arrive(Arrow::Start { spe: spe.index, call: number });
            match self.program.call(spe, call).await {
                Ok(shared) => {
                    self.recorder.spe_run(call.function, begin, &shared, spe.sim.now());
                }
                Err(error) => return self.fault.raise(error),
            }
            if spe.mailslot.signalling.get() == Signalling::Mailbox {
                self.write_mailbox(call.function).await;
            }
            span.depart(Arrow::Stop { spe: spe.index, call: number });
            drop(span);
            spe.mailslot.stopped.update(|stopped| *stopped = number);
        }
    }

    /// Takes the word that tells of the call.
    async fn read_mailbox(&self) {
        let track = Track::Spu(self.spe.index);
        let _span = self.spe.trace.span(track, Category::Wait, "inbound mailbox");
        self.spe.inbound_mailbox().read().await;
    }

    /// Tells the host that the function is done.
    async fn write_mailbox(&self, function: u32) {
        let track = Track::Spu(self.spe.index);
        let _span = self.spe.trace.span(track, Category::Wait, "outbound mailbox");
        self.spe.outbound_mailbox().write(function).await;
    }
}

impl HostProcess {
    /// Off-loads a function to `spes`, which share its loops, and waits until all are done.
    pub async fn offload(&self, spes: &[Spe], function: u32, arguments: EffectiveAddress) {
        let decided = self.sim.now();
        let label = self.trace.function(function);
        let _offload = self.trace.span(self.track(), Category::Offload, label);
        let mut numbers = Vec::with_capacity(spes.len());
        for (share, spe) in (0..).zip(spes) {
            let call = Call { function, arguments, share, shares: spes.len() as u32 };
            let number = self.start(spe, call).await;
            numbers.push(number);
        }
        let started = self.sim.now();
        self.wait_for_stops(spes, &numbers).await;
        let resumed = self.sim.now();
        for (spe, &number) in spes.iter().zip(&numbers) {
            self.collect(spe, number).await;
        }
        let collected = self.sim.now();
        let instants = [self.since.get(), decided, started, resumed, collected];
        self.recorder.offload(function, instants);
        self.since.set(collected);
    }

    /// Tells an SPE of a call and returns the number of it.
    async fn start(&self, spe: &Spe, call: Call) -> u64 {
        let span = match spe.mailslot.signalling.get() {
            Signalling::Memory => {
                let span = self.crossing("start SPE", spe);
                // stop = 0, then start = function.
                self.store_to_spe().await;
                self.store_to_spe().await;
                span
            }
            Signalling::Mailbox => {
                let span = self.crossing("write mailbox of SPE", spe);
                // Whether there is room: what is written into a full mailbox overwrites.
                self.load_from_spe().await;
                self.write_mailbox(spe, call.function).await;
                span
            }
        };
        let number = spe.mailslot.tell(call);
        span.depart(Arrow::Start { spe: spe.index, call: number });
        number
    }

    /// Reads that the call with that number is done, which it is.
    async fn collect(&self, spe: &Spe, number: u64) {
        let span = match spe.mailslot.signalling.get() {
            Signalling::Memory => {
                let span = self.crossing("collect SPE", spe);
                self.load_from_spe().await;
                span
            }
            Signalling::Mailbox => {
                let span = self.crossing("read mailbox of SPE", spe);
                let word = self.read_mailbox(spe.outbound_mailbox()).await;
                word.expect("invariant: the status of the mailbox has told of a word");
                span
            }
        };
        span.arrive(Arrow::Stop { spe: spe.index, call: number });
    }

    /// Waits until each SPE has served the call with that number.
    async fn wait_for_stops(&self, spes: &[Spe], numbers: &[u64]) {
        let _wait = self.trace.span(self.track(), Category::Wait, "SPEs");
        // All SPEs have the same program.
        if spes.iter().any(|spe| spe.mailslot.signalling.get() == Signalling::Mailbox) {
            for spe in spes {
                self.poll_mailbox(spe).await;
            }
            return;
        }
        let calls = spes.iter().zip(numbers);
        match self.discipline {
            Discipline::Edtlp => {
                self.release();
                for (spe, &number) in calls {
                    spe.mailslot.stopped.wait_until(|&stopped| stopped >= number).await;
                }
                self.resume().await;
            }
            Discipline::LinuxSpin => {
                for (spe, &number) in calls {
                    self.spin(&spe.mailslot.stopped, |&stopped| stopped >= number).await;
                }
            }
        }
    }

    /// Sends a message of so many doublewords to an SPE, which answers at once with one of the same
    /// length; all through memory-mapped local store.
    pub async fn ping_pong(&self, spe: &[Spe; 1], doublewords: u64) {
        let message = self.crossing("message to SPE", &spe[0]);
        for _ in 0..doublewords {
            self.store_to_spe().await;
        }
        drop(message);
        self.offload(spe, 0, EffectiveAddress::default()).await;
        let _answer = self.crossing("message from SPE", &spe[0]);
        for _ in 0..doublewords {
            self.load_from_spe().await;
        }
    }
}

#[cfg(test)]
mod tests;
