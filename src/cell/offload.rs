//! Off-loading by flags in local store.
//!
//! The protocol of the papers' run-time system: the host stores `stop = 0` into a structure mapped
//! into the SPE's local store, then `start = function`; the SPE spins on `start`, fetches the
//! arguments by DMA, computes, commits its results, stores `stop = 1`; the host sees it when it
//! loads `stop`. A task whose loops are shared by p SPEs is started on one after the other and
//! complete when the last has stopped. What the host process does meanwhile depends on the
//! [`Discipline`]: it gives its hardware thread away, or spins.

use std::future::Future;
use std::rc::Rc;

use super::host::HostProcess;
use super::linux::Discipline;
use super::memory::EffectiveAddress;
use super::record::Recorder;
use super::spe::Spe;
use super::trace::{Arrow, Category, Track};
use super::{Blade, Fault};
use crate::error::Result;
use crate::sim::{Sim, Watch};
use crate::units::SimTime;

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

/// The program that is loaded on every SPE.
pub trait SpeProgram: 'static {
    /// What its functions are called in a trace, in the order of their numbers.
    const FUNCTIONS: &'static [&'static str] = &[];

    /// Runs one function and says when its shared loops began and ended, in their order; the
    /// results are committed when it returns.
    fn call(&self, spe: &Spe, call: Call) -> impl Future<Output = Result<Vec<Loop>>>;
}

/// The structure in local store through which host and SPE talk; clones refer to the same.
#[derive(Clone)]
pub(super) struct Mailslot {
    start: Watch<(u64, Option<Call>)>,
    stopped: Watch<u64>,
}

impl Mailslot {
    pub(super) fn new(sim: &Sim, spe: u32) -> Self {
        Self {
            start: Watch::new(sim, &format!("the start flag of SPE {spe}"), (0, None)),
            stopped: Watch::new(sim, &format!("the stop flag of SPE {spe}"), 0),
        }
    }
}

impl Blade {
    /// Loads a program on every SPE, which then serves calls for ever.
    pub fn load<P: SpeProgram>(&self, program: &Rc<P>) {
        self.trace.name_functions(P::FUNCTIONS);
        for spe in &self.spes {
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
            spe.spend(spe.poll).await;
            span.arrive(Arrow::Start { spe: spe.index, call: number });
            match self.program.call(spe, call).await {
                Ok(shared) => {
                    self.recorder.spe_run(call.function, begin, &shared, spe.sim.now());
                }
                Err(error) => return self.fault.raise(error),
            }
            span.depart(Arrow::Stop { spe: spe.index, call: number });
            drop(span);
            spe.mailslot.stopped.update(|stopped| *stopped = number);
        }
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
            let span = self.crossing("start SPE", spe);
            // stop = 0, then start = function.
            self.store_to_spe().await;
            self.store_to_spe().await;
            let number = spe.mailslot.start.update(|(count, start)| {
                *count += 1;
                *start = Some(call);
                *count
            });
            span.depart(Arrow::Start { spe: spe.index, call: number });
            numbers.push(number);
        }
        let started = self.sim.now();
        self.wait_for_stops(spes, &numbers).await;
        let resumed = self.sim.now();
        for (spe, &number) in spes.iter().zip(&numbers) {
            let span = self.crossing("collect SPE", spe);
            self.load_from_spe().await;
            span.arrive(Arrow::Stop { spe: spe.index, call: number });
        }
        let collected = self.sim.now();
        let instants = [self.since.get(), decided, started, resumed, collected];
        self.recorder.offload(function, instants);
        self.since.set(collected);
    }

    /// Waits until each SPE has served the call with that number.
    async fn wait_for_stops(&self, spes: &[Spe], numbers: &[u64]) {
        let _wait = self.trace.span(self.track(), Category::Wait, "SPEs");
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
