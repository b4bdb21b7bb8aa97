//! The SPE's side of an off-load: a program that serves calls.

use std::cell::Cell;
use std::rc::Rc;

use crate::call::{Call, Signalling, SpeProgram};
use crate::course::Course;
use crate::policy::{Completion, Images};
use crate::process::{Shared, Told};
use mmgp_base::error::Result;
use mmgp_base::units::SimSpan;
use mmgp_cell::context::Code;
use mmgp_cell::record::{Loop, Recorder};
use mmgp_cell::trace::{Arrow, Category, Track};
use mmgp_cell::{Blade, Fault, Spe};
use mmgp_machine::Machine;

/// Loads a program on every SPE, which then serves calls for ever.
pub(crate) fn load<P: SpeProgram>(
    blade: &Blade,
    shared: &Rc<Shared>,
    program: &Rc<P>,
    signalling: Signalling,
) {
    blade.trace.name_functions(P::FUNCTIONS);
    shared.slots.signalling.set(signalling);
    shared.slots.teams.set(program.teams());
    if blade.is_functional_first() {
        shared.courses.write(program);
    }
    for spe in 0..blade.machine.layout.spes() {
        let server = Server {
            spe: blade.spe(spe).clone(),
            program: Rc::clone(program),
            shared: Rc::clone(shared),
            recorder: Rc::clone(&blade.recorder),
            machine: Rc::clone(&blade.machine),
            fault: blade.fault(),
            code: blade.code(),
            holds_parallel: Cell::new(false),
        };
        blade.sim.spawn_daemon(format!("SPE {spe}"), server.serve());
    }
}

/// The program of one SPE at work.
struct Server<P> {
    spe: Spe,
    program: Rc<P>,
    shared: Rc<Shared>,
    recorder: Rc<Recorder>,
    machine: Rc<Machine>,
    fault: Fault,
    /// What is fetched in place of the program that the SPE holds.
    code: Option<Code>,
    /// Whether it holds the program for tasks that several SPEs share, where that is another one.
    holds_parallel: Cell<bool>,
}

/// Whom an SPE tells that it is done by a flag in memory, and by what the policy adds.
enum Tells {
    Host,
    /// Nobody: it is told by other means, or its master is.
    Nobody,
}

impl<P: SpeProgram> Server<P> {
    /// Fetches the program that a call wants, unless the SPE holds it; how long that took.
    async fn fetch_program(&self, call: Call) -> Result<SimSpan> {
        let Some(code) = self.code else { return Ok(SimSpan::ZERO) };
        let (parallel, since) = (call.shares > 1, self.spe.sim.now());
        if self.shared.policy.images() == Images::SerialAndParallel
            && self.holds_parallel.replace(parallel) != parallel
        {
            code.fetch(&self.spe).await?;
        }
        Ok(self.spe.sim.now().since(since))
    }

    /// Runs a call's function, as its course says; how long its program was fetched before, and its loops.
    async fn follow(&self, call: Call, course: &Course) -> Result<(SimSpan, Vec<Loop>)> {
        let fetched = self.fetch_program(call).await?;
        let loops = match course {
            Course::Direct => self.program.call(&self.spe, call).await?,
            _ => self.shared.courses.follow(&self.spe, course).await,
        };
        Ok((fetched, loops))
    }

    async fn serve(self) {
        let Self { spe, shared, .. } = &self;
        let (slot, signalling) =
            (&shared.slots.slots[spe.index as usize], &shared.slots.signalling);
        for number in 1.. {
            slot.start.wait_until(|(count, _)| *count >= number).await;
            let Some(Told { process, call, course }) = slot.start.read(|(_, told)| told.clone())
            else {
                continue;
            };
            let begin = spe.sim.now();
            let label = spe.trace.function(call.function);
            let span = spe.trace.span(Track::Spu(spe.index), Category::Call, label);
            let by_host = (call.share as usize) < shared.slots.told_by_host(call.shares as usize);
            match signalling.get() {
                _ if !by_host => {}
                Signalling::Memory => spe.spend(spe.poll()).await,
                Signalling::Mailbox => self.read_mailbox().await,
            }
            if by_host {
                spe.hears_host();
                span.arrive(Arrow::Start { spe: spe.index, call: number });
            }
            match self.follow(call, &course).await {
                Ok((fetched, loops)) => {
                    if let Some(unbalancing) = &shared.unbalancing {
                        unbalancing.ended(process, call, &loops);
                    }
                    self.recorder.spe_run(call.function, begin + fetched, &loops, spe.sim.now());
                }
                Err(error) => return self.fault.raise(error),
            }
            let (function, at) = (call.function, spe.sim.now());
            let done = Completion { spe: spe.index, process, function, at };
            let tells = match signalling.get() {
                Signalling::Memory if by_host => Tells::Host,
                _ => Tells::Nobody,
            };
            self.tell(done, &course, tells).await;
            if by_host {
                if signalling.get() == Signalling::Mailbox {
                    self.write_mailbox(call.function).await;
                } else if matches!(course, Course::Direct) {
                    spe.tells_host();
                }
                span.depart(Arrow::Stop { spe: spe.index, call: number });
            }
            drop(span);
            shared.policy.completed(done);
            slot.stopped.update(|stopped| *stopped = number);
        }
    }

    /// Tells the host that the function is done as the policy has it, beside the flag, where it `tells`.
    async fn tell(&self, done: Completion, course: &Course, tells: Tells) {
        let Shared { policy, courses, .. } = &*self.shared;
        let steps = match tells {
            Tells::Host => policy.tell(done, &self.spe, &self.machine),
            Tells::Nobody => None,
        };
        let is_told = steps.is_some();
        courses.tell(&self.spe, course, steps).await;
        if is_told {
            policy.told(done, &self.spe);
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
