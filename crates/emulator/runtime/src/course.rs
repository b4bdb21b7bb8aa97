//! How the time of a call on an SPE goes by.
//!
//! Where a program can be written down ([`SpeProgram::write`]), what a task computes is computed when
//! its first SPE is started, with the clock stopped; what each SPE does that takes time is a
//! [`Script`]. The script is then played on the machine, among all else that goes on there. A process
//! that is alone on its Cells and finds them quiet takes the same time for the same scripts, and for
//! telling the host that they are done: they are played once, and their times kept.
//!
//! ```text
//!   task --> scripts, one for each SPE --> known, alone, quiet?  -- yes --> sleep
//!                                                  | no
//!                                                  v
//!                                                 play  (and keep the times, if alone and quiet)
//! ```

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::offload::{Call, SpeProgram};
use crate::policy::Steps;
use mmgp_base::error::Result;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_cell::element::Values;
use mmgp_cell::element::{Fingerprint, Script, Writer};
use mmgp_cell::record::Loop;
use mmgp_cell::{Spe, Traffic};
use mmgp_sim::Sim;

/// How an SPE serves a call.
#[derive(Clone)]
pub(crate) enum Course {
    /// Runs the program, each operation taking its time as it is done.
    Direct,
    /// Plays what it does; the times are kept for `learning`, as those of that share.
    Play { script: Rc<Script>, learning: Option<(Rc<Learning>, usize)> },
    /// Takes the time that it took before.
    Known { known: Rc<Known>, process: u32, share: usize },
}

/// The most tasks whose times are kept: those of programs that branch on data need not come again.
/// When there are so many, all are forgotten, so that those that come now find room.
const MOST_KNOWN: usize = 1 << 14;

/// The times of a task's calls.
#[derive(Debug)]
pub(crate) struct Known {
    shares: Vec<Share>,
    /// Time from the moment at which the first of them began until nothing is felt of them any more.
    felt: SimSpan,
}

/// The time of a call.
///
/// The SPEs of a task begin one after the other, each as long after the one before as the host takes
/// to start one; that is the same for all tasks.
#[derive(Debug, Clone)]
struct Share {
    span: SimSpan,
    /// Begin and end of each of its loops.
    loops: Vec<[SimSpan; 2]>,
    /// Time from its end until it has told the host.
    telling: SimSpan,
    /// DMA commands, those by which it tells the host among them.
    commands: u64,
}

/// Times that are being found out.
pub(crate) struct Learning {
    scripts: Fingerprint,
    process: u32,
    spes: Vec<u32>,
    first: Cell<Option<SimTime>>,
    /// Shares that have run their program, and have not told the host.
    ran: RefCell<Vec<Option<Share>>>,
    shares: RefCell<Vec<Option<Share>>>,
}

/// The program of the SPEs as far as it can be written down, and the times that are known.
pub(crate) struct Courses {
    sim: Sim,
    traffic: Rc<Traffic>,
    /// Whether the times of tasks are kept: processes keep to the SPEs that are their own, and nobody
    /// wants to see or count every transfer.
    keeps: bool,
    program: RefCell<Option<Rc<dyn Writes>>>,
    /// Scripts by what the program says that they depend on.
    written: RefCell<BTreeMap<Fingerprint, Rc<Written>>>,
    known: RefCell<BTreeMap<Fingerprint, Rc<Known>>>,
}

/// Writes down the calls of a task; nothing where they cannot be.
trait Writes {
    /// The first of the SPEs (`by_host`) are told of the task by the host, and tell it that it is done.
    fn write(&self, calls: &[(&Spe, Call)], by_host: usize) -> Result<Option<Vec<Script>>>;
    /// See [`SpeProgram::alike`].
    fn alike(&self, calls: &[(&Spe, Call)]) -> Option<Fingerprint>;
}

/// The scripts of a task's calls.
struct Written {
    scripts: Vec<Rc<Script>>,
    /// Fingerprint of all of them, with the SPEs, once somebody has asked for it.
    fingerprint: OnceCell<Fingerprint>,
}

impl Written {
    fn fingerprint(&self, calls: &[(&Spe, Call)]) -> Fingerprint {
        *self.fingerprint.get_or_init(|| {
            let mut all = Fingerprint::default();
            for ((spe, _), script) in calls.iter().zip(&self.scripts) {
                all.add(u64::from(spe.index));
                all = all.then(script.fingerprint(spe.memory()));
            }
            all
        })
    }
}

struct Program<P> {
    program: Rc<P>,
    /// The operations of its longest script.
    longest: Cell<usize>,
}

impl<P: SpeProgram> Writes for Program<P> {
    fn write(&self, calls: &[(&Spe, Call)], by_host: usize) -> Result<Option<Vec<Script>>> {
        let Self { program, longest } = self;
        let messages = Rc::default();
        let writer =
            |(spe, _): &(&Spe, Call)| Writer::new(spe, program.values(), &messages, longest.get());
        let writers: Vec<Writer> = calls.iter().map(writer).collect();
        let of_call =
            writers.iter().zip(calls).map(|(writer, &(_, call))| program.write(writer, call));
        let Some(mut writings) = of_call.collect::<Option<Vec<_>>>() else { return Ok(None) };
        calls[..by_host].iter().for_each(|(spe, _)| spe.hears_what_host_knows());
        let written = || writers.iter().map(Writer::written).sum::<usize>();
        let mut context = Context::from_waker(Waker::noop());
        let mut left: Vec<usize> = (0..writings.len()).collect();
        while !left.is_empty() {
            let (before, mut ended) = (written(), Ok(()));
            let waiting = left.len();
            left.retain(|&share| match writings[share].as_mut().poll(&mut context) {
                Poll::Pending => true,
                Poll::Ready(result) => {
                    if ended.is_ok() {
                        ended = result;
                    }
                    false
                }
            });
            ended?;
            if left.len() == waiting && written() == before {
                // Each waits for another: run on the machine, they are reported by name.
                return Ok(None);
            }
        }
        drop(writings);
        calls[..by_host].iter().for_each(|(spe, _)| spe.tells_host());
        let scripts: Vec<Script> = writers.into_iter().map(Writer::into_script).collect();
        longest.set(scripts.iter().map(Script::operation_count).fold(longest.get(), usize::max));
        Ok(Some(scripts))
    }

    fn alike(&self, calls: &[(&Spe, Call)]) -> Option<Fingerprint> {
        let Self { program, .. } = self;
        (program.values() == Values::Known).then(|| program.alike(calls)).flatten()
    }
}

impl Courses {
    pub fn new(sim: &Sim, traffic: &Rc<Traffic>, keeps: bool) -> Self {
        Self {
            sim: sim.clone(),
            traffic: Rc::clone(traffic),
            keeps,
            program: RefCell::default(),
            written: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// Lets tasks of this program be written down.
    pub fn write<P: SpeProgram>(&self, program: &Rc<P>) {
        *self.program.borrow_mut() =
            Some(Rc::new(Program { program: Rc::clone(program), longest: Cell::default() }));
    }

    /// How the calls of a task of `process`, which begins now, go; one for each SPE, of which the host
    /// itself tells the first ones (`by_host`).
    pub fn of_task(
        &self,
        process: u32,
        calls: &[(&Spe, Call)],
        by_host: usize,
    ) -> Result<Vec<Course>> {
        let Some(written) = self.written(calls, by_host)? else {
            return Ok(vec![Course::Direct; calls.len()]);
        };
        let scripts = written.scripts.iter().map(Rc::clone);
        let spes: Vec<u32> = calls.iter().map(|(spe, _)| spe.index).collect();
        calls.iter().for_each(|(spe, _)| spe.forget_messages());
        let alone = self.keeps
            && self.traffic.is_alone(process, &spes)
            && self.traffic.is_quiet(process, &spes, self.sim.now());
        if !alone {
            let play = |script| Course::Play { script, learning: None };
            return Ok(scripts.map(play).collect());
        }
        let fingerprint = written.fingerprint(calls);
        if let Some(known) = self.known.borrow().get(&fingerprint) {
            let known = |share| Course::Known { known: Rc::clone(known), process, share };
            return Ok((0..spes.len()).map(known).collect());
        }
        let learning = Rc::new(Learning {
            scripts: fingerprint,
            process,
            first: Cell::new(None),
            ran: RefCell::new(vec![None; spes.len()]),
            shares: RefCell::new(vec![None; spes.len()]),
            spes,
        });
        let play = |(share, script)| Course::Play {
            script,
            learning: Some((Rc::clone(&learning), share)),
        };
        Ok(scripts.enumerate().map(play).collect())
    }

    /// The scripts of a task's calls, where they can be written.
    fn written(&self, calls: &[(&Spe, Call)], by_host: usize) -> Result<Option<Rc<Written>>> {
        let Some(program) = self.program.borrow().clone() else { return Ok(None) };
        let alike = program.alike(calls);
        if let Some(alike) = alike
            && let Some(written) = self.written.borrow().get(&alike)
        {
            return Ok(Some(Rc::clone(written)));
        }
        let Some(scripts) = program.write(calls, by_host)? else { return Ok(None) };
        let scripts = scripts.into_iter().map(Rc::new).collect();
        let written = Rc::new(Written { scripts, fingerprint: OnceCell::new() });
        if let Some(alike) = alike {
            self.written.borrow_mut().insert(alike, Rc::clone(&written));
        }
        Ok(Some(written))
    }

    /// Lets the time of a call go by whose course is not [`Course::Direct`]; its loops.
    pub async fn follow(&self, spe: &Spe, course: &Course) -> Vec<Loop> {
        let begin = self.sim.now();
        match course {
            Course::Direct => unreachable!("invariant: such a call runs its program"),
            Course::Play { script, learning } => {
                if let Some((learning, _)) = learning
                    && learning.first.get().is_none()
                {
                    learning.first.set(Some(begin));
                }
                let loops = spe.play(script).await;
                if let Some((learning, share)) = learning {
                    let since = |instant: SimTime| instant.since(begin);
                    learning.ran.borrow_mut()[*share] = Some(Share {
                        span: since(self.sim.now()),
                        loops: loops.iter().map(|it| [since(it.start), since(it.end)]).collect(),
                        telling: SimSpan::ZERO,
                        commands: script.commands(),
                    });
                }
                loops
            }
            Course::Known { known, process, share } => {
                let Share { span, loops, commands, .. } = &known.shares[*share];
                spe.count_commands(*commands);
                if *share == 0 {
                    self.traffic.feel_until(*process, begin + known.felt);
                }
                self.sim.sleep_until(begin + *span).await;
                let at =
                    |&[start, end]: &[SimSpan; 2]| Loop { start: begin + start, end: begin + end };
                loops.iter().map(at).collect()
            }
        }
    }

    /// Lets the time go by in which an SPE, whose call this was, tells the host that it is done: by
    /// `steps`, if it does so by more than its flag, or as long as it took before.
    pub async fn tell(&self, spe: &Spe, course: &Course, steps: Option<Steps<'_>>) {
        match (course, steps) {
            (Course::Known { known, share, .. }, Some(_)) => {
                self.sim.sleep(known.shares[*share].telling).await;
            }
            (Course::Known { .. }, None) => {}
            (Course::Play { learning: Some((learning, share)), .. }, steps) => {
                let (begin, commands) = (self.sim.now(), spe.commands());
                if let Some(steps) = steps {
                    steps.await;
                }
                let telling = self.sim.now().since(begin);
                self.learn(learning, *share, (telling, spe.commands() - commands));
            }
            (_, Some(steps)) => steps.await,
            (_, None) => {}
        }
    }

    /// Keeps the time of a call of which the host has been told now, in so long and by so many DMA
    /// commands, and with the last one those of the task.
    fn learn(&self, learning: &Learning, share: usize, (telling, commands): (SimSpan, u64)) {
        let Learning { process, spes, first, shares, ran, .. } = learning;
        let first = first.get().unwrap_or(self.sim.now());
        let mut shares = shares.borrow_mut();
        let ran = ran.borrow_mut()[share].take();
        shares[share] = ran.map(|ran| Share { telling, commands: ran.commands + commands, ..ran });
        if let Some(shares) = shares.iter().cloned().collect::<Option<Vec<_>>>() {
            let felt = self.traffic.quiet_from(*process, spes).max(first).since(first);
            let mut known = self.known.borrow_mut();
            if known.len() == MOST_KNOWN {
                known.clear();
            }
            known.insert(learning.scripts, Rc::new(Known { shares, felt }));
        }
    }
}
