//! Linux: which process runs on which hardware thread, and until when.
//!
//! Each hardware thread has a run queue ([`Queue`]). A process enters it when it is woken, yields or
//! has used up its slice, and learns from its [`Turn`] that it may run or must stop. What a switch
//! costs is charged to the process that comes in.

mod choice;
mod queue;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub use queue::{Affinity, Entity, Entry, Queue};
use queue::{Cooperative, of_kernel};

use super::ppe::{Pipeline, Ppe};
use mmgp_base::units::{Seconds, SimSpan, SimTime};
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch};

/// How the processes of the host share its hardware threads.
pub struct Sharing {
    /// Makes the run queue of a hardware thread, which decides who goes on.
    pub queue: Box<dyn Fn() -> Box<dyn Queue>>,
    /// Hardware threads on which its processes may run.
    pub affinity: Affinity,
    /// What a hardware thread does while none of its processes is ready.
    pub idle: Idle,
    /// What a process pays that comes in after another one, unless it had yielded: then it pays what
    /// the machine's file says of a yield \[s\].
    pub switch: Seconds,
    /// What a process does while it waits for a message of another one.
    pub waiting: Waiting,
}

/// What a process does while it waits for a message of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Stands aside until the message is there, as if its scheduler knew of it.
    Aside,
    /// Looks and yields, as its library does.
    Yields,
}

/// What a hardware thread does while none of its processes is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// A user-level scheduler polls there for one that is, so the other hardware thread of the core
    /// feels it as if a program ran.
    Polls,
    /// Nothing: the other hardware thread has the core to itself.
    Sleeps,
}

impl Sharing {
    /// A user-level scheduler gives the hardware thread to the next process that is ready as soon as
    /// one waits, in the order in which they became ready; nobody is preempted.
    pub fn cooperative(machine: &Machine) -> Self {
        Self {
            queue: Box::new(|| Box::new(Cooperative::default())),
            affinity: Affinity::Pinned,
            idle: Idle::Polls,
            switch: machine.linux.context_switch,
            waiting: Waiting::Aside,
        }
    }

    /// The same, but all processes stay in turn while they wait, whatever they wait for.
    pub fn in_turn(machine: &Machine) -> Self {
        Self { waiting: Waiting::Yields, ..Self::cooperative(machine) }
    }

    /// All processes are in one address space, and whichever of them has a hardware thread goes on
    /// with what any of them has begun, in the order in which that can go on. Nobody is switched to.
    ///
    /// Left out: the slices of the kernel, at whose ends another process takes a hardware thread over
    /// where there are more of them than threads. It goes on with the same.
    pub fn shared(machine: &Machine) -> Self {
        let cooperative = Self::cooperative(machine);
        Self { affinity: Affinity::Shared, switch: Seconds(0.0), ..cooperative }
    }

    /// The kernel of that machine decides.
    pub fn kernel(machine: &Machine) -> Self {
        let of = machine.clone();
        Self {
            queue: Box::new(move || of_kernel(&of)),
            affinity: Affinity::Pinned,
            idle: Idle::Sleeps,
            switch: machine.linux.services.yield_,
            waiting: Waiting::Yields,
        }
    }
}

/// What a process is told by the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn {
    /// The hardware thread on which it runs.
    pub thread: Option<usize>,
    /// Somebody more urgent is there.
    pub preempted: bool,
    /// How often its slice may have become another one.
    pub nudges: u64,
}

/// The schedulers of all hardware threads, numbered through the Cells.
pub struct Scheduler {
    sim: Sim,
    ppes: Rc<Vec<Ppe>>,
    threads_per_ppe: usize,
    affinity: Affinity,
    idle: Idle,
    switch: Seconds,
    waiting: Waiting,
    threads: RefCell<Vec<HardwareThread>>,
    /// Which process runs on each.
    runs: Watch<Vec<Option<u32>>>,
    processes: RefCell<BTreeMap<u32, Process>>,
    /// Until when each hardware thread handles interrupts.
    handling: RefCell<BTreeMap<usize, SimTime>>,
}

struct HardwareThread {
    queue: Box<dyn Queue>,
    running: Option<Running>,
    /// Who ran last.
    last: Option<u32>,
    /// Changes from one process to another.
    switches: u64,
    /// Whether the user-level scheduler polls here, for want of a process that is ready.
    polls: bool,
    /// What is left of a turn of polling that began while nobody looked.
    rest: Option<SimSpan>,
    /// How often a process in the queue got what it waits for.
    stirred: Watch<u64>,
    /// Whether a process began there.
    is_begun_on: bool,
    /// Whether who has been given it was chosen by who had it before.
    is_chosen: bool,
}

#[derive(Clone, Copy)]
struct Running {
    entity: Entity,
    /// Up to when its account is.
    as_of: SimTime,
    /// When it was given the thread.
    since: SimTime,
}

struct Process {
    /// Account while it is in no queue.
    entity: Entity,
    /// The thread on which it ran last, or that it is pinned to.
    home: usize,
    turn: Watch<Turn>,
    /// How long a turn is in which it only looks whether it can go on and yields, where that is all it
    /// does.
    turn_of_polling: Option<SimSpan>,
}

impl Scheduler {
    /// The schedulers of an idle machine.
    pub fn new(sim: &Sim, machine: &Machine, ppes: &Rc<Vec<Ppe>>, sharing: &Sharing) -> Self {
        let Sharing { queue, affinity, idle, switch, waiting } = sharing;
        let threads = machine.layout.cells * machine.layout.threads_per_ppe;
        let thread = |number| HardwareThread {
            queue: queue(),
            running: None,
            last: None,
            switches: 0,
            polls: false,
            rest: None,
            stirred: Watch::new(sim, &format!("a turn on hardware thread {number}"), 0),
            is_begun_on: false,
            is_chosen: false,
        };
        Self {
            sim: sim.clone(),
            ppes: Rc::clone(ppes),
            threads_per_ppe: machine.layout.threads_per_ppe as usize,
            affinity: *affinity,
            idle: *idle,
            switch: *switch,
            waiting: *waiting,
            threads: RefCell::new((0..threads).map(thread).collect()),
            runs: Watch::new(
                sim,
                "another process on a hardware thread",
                vec![None; threads as usize],
            ),
            processes: RefCell::default(),
            handling: RefCell::default(),
        }
    }

    /// In how long an interrupt that comes now is handled by a hardware thread, which handles one after the other.
    pub fn handled_in(&self, thread: usize, each: SimSpan) -> SimSpan {
        let now = self.sim.now();
        let mut handling = self.handling.borrow_mut();
        let until = handling.entry(thread).or_insert(now);
        *until = (*until).max(now) + each;
        until.since(now)
    }

    /// Makes a process known, which sleeps; the scheduler speaks to it through what it returns.
    pub fn admit(&self, process: u32, home: usize, affinity: Affinity) -> Watch<Turn> {
        let name = format!("a hardware thread for process {process}");
        let turn = Watch::new(&self.sim, &name, Turn::default());
        let (left, virtual_run_time) = (SimSpan::ZERO, SimSpan::ZERO);
        let entity = Entity { process, affinity, left, virtual_run_time };
        let known = Process { entity, home, turn: turn.clone(), turn_of_polling: None };
        self.processes.borrow_mut().insert(process, known);
        self.threads.borrow_mut()[home].is_begun_on = true;
        turn
    }

    /// Takes the process off its hardware thread until it is woken.
    pub fn block(&self, thread: usize) {
        if let Some(entity) = self.stop(thread) {
            let mut processes = self.processes.borrow_mut();
            let process = processes.get_mut(&entity.process).expect("invariant: it was admitted");
            process.entity = Entity { affinity: process.entity.affinity, ..entity };
        }
        self.dispatch(thread);
    }

    /// Forgets a process that has ended.
    pub fn retire(&self, process: u32) {
        let Some(ended) = self.processes.borrow_mut().remove(&process) else { return };
        let thread = ended.home;
        let runs = |running: &Running| running.entity.process == process;
        if self.threads.borrow()[thread].running.as_ref().is_some_and(runs) {
            self.stop(thread);
            self.dispatch(thread);
        } else {
            self.poll_if_idle(thread);
        }
    }

    /// Puts the process that runs back into the queue, and lets the next one run.
    pub fn requeue(&self, thread: usize, how: Entry) {
        if let Some(entity) = self.stop(thread) {
            self.threads.borrow_mut()[thread].queue.enter(entity, how, None);
        }
        self.dispatch(thread);
    }

    /// When the slice of whoever runs there ends.
    pub fn slice_end(&self, thread: usize) -> Option<SimTime> {
        let threads = self.threads.borrow();
        let HardwareThread { queue, running, .. } = &threads[thread];
        let Running { entity, as_of, since } = running.as_ref()?;
        // What has been accounted for meanwhile belongs to the same slice.
        let whole = Entity { left: entity.left + as_of.since(*since), ..*entity };
        queue.slice(&whole).map(|slice| *since + slice)
    }

    /// Notes that a process has begun to run on a thread; whether another one ran there before, and
    /// left another address space.
    pub fn comes_in(&self, thread: usize, process: u32) -> bool {
        let thread = &mut self.threads.borrow_mut()[thread];
        let other = thread.last.replace(process).is_some_and(|last| last != process);
        let switched = other && self.affinity != Affinity::Shared;
        thread.switches += u64::from(switched);
        switched
    }

    /// What a process pays that comes in after another one, unless it had yielded.
    pub fn switch(&self) -> Seconds {
        self.switch
    }

    /// Hardware threads on which processes may run.
    pub fn affinity(&self) -> Affinity {
        self.affinity
    }

    /// What a hardware thread does while none of its processes is ready.
    pub fn idle(&self) -> Idle {
        self.idle
    }

    /// What a process does while it waits for a message.
    pub fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Whether nobody else is ready to run on a thread.
    pub fn is_alone(&self, thread: usize) -> bool {
        self.threads.borrow()[thread].queue.waiting() == 0
    }

    /// Changes from one process to another on all threads, without those of the turns that are not
    /// emulated one by one.
    pub fn switches(&self) -> u64 {
        self.threads.borrow().iter().map(|thread| thread.switches).sum()
    }

    fn enter(&self, thread: usize, entity: Entity, how: Entry) {
        let now = self.sim.now();
        let mut threads = self.threads.borrow_mut();
        let HardwareThread { queue, running, .. } = &mut threads[thread];
        if let Some(running) = running.as_mut() {
            running.account(now);
        }
        queue.enter(entity, how, running.as_ref().map(|running| &running.entity));
        let Some(running) = *running else {
            drop(threads);
            return self.dispatch(thread);
        };
        let preempted = queue.preempts(&entity, &running.entity);
        drop(threads);
        self.tell(running.entity.process, |turn| {
            turn.preempted |= preempted;
            turn.nudges += 1;
        });
    }

    /// Takes whoever runs off the thread.
    fn stop(&self, thread: usize) -> Option<Entity> {
        let mut running = self.threads.borrow_mut()[thread].running.take()?;
        running.account(self.sim.now());
        self.runs.update(|runs| runs[thread] = None);
        self.tell(running.entity.process, |turn| *turn = Turn::default());
        Some(running.entity)
    }

    /// Lets the next process run on an idle thread; where none waits, one that waits elsewhere and
    /// may move.
    fn dispatch(&self, thread: usize) {
        let own = self.threads.borrow_mut()[thread].queue.next();
        let Some(entity) = own.or_else(|| self.steal()) else { return self.poll_if_idle(thread) };
        let now = self.sim.now();
        self.threads.borrow_mut()[thread].running =
            Some(Running { entity, as_of: now, since: now });
        self.runs.update(|runs| runs[thread] = Some(entity.process));
        self.poll_if_idle(thread);
        if let Some(process) = self.processes.borrow_mut().get_mut(&entity.process) {
            process.home = thread;
        }
        self.tell(entity.process, |turn| turn.thread = Some(thread));
    }

    /// Has the user-level scheduler poll on a thread that is idle while one of its processes waits.
    fn poll_if_idle(&self, thread: usize) {
        let own = &mut self.threads.borrow_mut()[thread];
        let waits = |process: &Process| match process.entity.affinity {
            Affinity::Pinned | Affinity::Free => process.home == thread,
            Affinity::Shared => true,
        };
        let waits = self.processes.borrow().values().any(waits);
        let polls = waits && own.running.is_none() && self.idle == Idle::Polls;
        let polled = std::mem::replace(&mut own.polls, polls);
        match (polled, polls) {
            (false, true) => self.pipeline(thread).begin(),
            (true, false) => self.pipeline(thread).end(),
            _ => {}
        }
    }

    fn pipeline(&self, thread: usize) -> &Pipeline {
        &self.ppes[thread / self.threads_per_ppe].pipeline
    }

    fn tell(&self, process: u32, change: impl FnOnce(&mut Turn)) {
        if let Some(process) = self.processes.borrow().get(&process) {
            process.turn.update(change);
        }
    }
}

impl Running {
    /// Brings the account of the process up to `now`.
    fn account(&mut self, now: SimTime) {
        let ran = now.since(self.as_of);
        self.entity.left = self.entity.left - ran;
        self.entity.virtual_run_time += ran;
        self.as_of = now;
    }
}
