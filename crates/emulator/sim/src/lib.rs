//! A discrete-event simulation whose processes are `async fn`s in virtual time.
//!
//! Read on at [`Sim`], the calendar of all processes.
//!
//! A process is written as the program it stands for: it computes, sleeps, waits for a resource
//! or for another process, and the order of its lines is the order of its life. The executor knows
//! no machine; other crates build one from what is here.
//!
//! ```
//! use mmgp_sim::{Pool, Sim};
//! use mmgp_base::units::{Seconds, SimSpan};
//!
//! let sim = Sim::new();
//! let clerk = Pool::new(&sim, "clerk", 1);
//! for name in ["ann", "bob"] {
//!     let (sim_of_customer, clerk) = (sim.clone(), clerk.clone());
//!     sim.spawn(name, async move {
//!         let _served = clerk.acquire().await;
//!         sim_of_customer.sleep(SimSpan::from_seconds(Seconds(60.0))).await;
//!     });
//! }
//! let end = sim.run().expect("both are served");
//! assert_eq!(end.seconds(), Seconds(120.0));
//! ```
//!
//! # Ordering guarantee
//!
//! 1. Events happen in the order of their virtual time.
//! 2. At the same instant they happen in the order in which they were scheduled: what was put on
//!    the calendar earlier comes first, and what is woken at that instant comes after it.
//!
//! Nothing else decides the order, so the same program gives the same run on every machine. A process
//! that sleeps and before whose instant nobody else is due goes on with no way round the calendar,
//! which comes to the same.
//!
//! # Deadlock
//!
//! When the calendar is empty and a process still waits, [`Sim::run`] returns
//! [`Deadlock`] with the name of each such process and of what it waits for. A *daemon*
//! ([`Sim::spawn_daemon`]) may wait for ever: a server whose clients are all done.

mod flows;
#[cfg(test)]
mod queueing;
mod schedule;
mod watch;

pub use flows::{Capacity, Flow, Flows};
pub use schedule::Reason;
pub use watch::{First, Permit, Pool, Watch, first_of};

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use schedule::{Due, ProcessId, Schedule, Timer};

use mmgp_base::error::{Error, Result};
use mmgp_base::units::{SimSpan, SimTime};

/// A simulation in which nobody can go on: a bug in the simulated program.
#[derive(Debug, thiserror::Error)]
#[error("deadlock at {at}: {}", blocked.join("; "))]
pub struct Deadlock {
    /// Virtual time at which the calendar ran empty.
    pub at: SimTime,
    /// Each blocked process and what it waits for: `spe 3 waits for off-load flag`.
    pub blocked: Vec<String>,
}

/// Handle to a simulation; clones refer to the same one.
#[derive(Clone)]
pub struct Sim {
    core: Rc<Core>,
}

struct Core {
    now: Cell<SimTime>,
    current: Cell<ProcessId>,
    /// Whether the run is to end though it could go on.
    halted: Cell<bool>,
    schedule: RefCell<Schedule>,
    processes: RefCell<Vec<Process>>,
    /// Waker that the processes are polled with.
    one_wait: Waker,
    /// What can be waited for, by [`Reason`].
    reasons: RefCell<Vec<String>>,
}

struct Process {
    /// Absent while the process runs and after its end.
    life: Option<Life>,
    name: String,
    role: Role,
}

type Life = Pin<Box<dyn Future<Output = ()>>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Must come to its end.
    Program,
    /// May wait for ever.
    Daemon,
}

impl Default for Sim {
    fn default() -> Self {
        Self::new()
    }
}

impl Sim {
    /// An empty simulation at time zero.
    pub fn new() -> Self {
        Self {
            core: Rc::new(Core {
                now: Cell::new(SimTime::ZERO),
                current: Cell::default(),
                halted: Cell::new(false),
                schedule: RefCell::default(),
                processes: RefCell::default(),
                one_wait: Waker::from(Arc::new(OneWait)),
                reasons: RefCell::default(),
            }),
        }
    }

    /// The present instant.
    pub fn now(&self) -> SimTime {
        self.core.now.get()
    }

    /// Adds a process that must come to its end; it begins at the present instant.
    pub fn spawn(&self, name: impl Into<String>, life: impl Future<Output = ()> + 'static) {
        self.add(name.into(), Role::Program, Box::pin(life));
    }

    /// Adds a process that may wait for ever.
    pub fn spawn_daemon(&self, name: impl Into<String>, life: impl Future<Output = ()> + 'static) {
        self.add(name.into(), Role::Daemon, Box::pin(life));
    }

    fn add(&self, name: String, role: Role, life: Life) {
        let mut schedule = self.core.schedule.borrow_mut();
        let mut processes = self.core.processes.borrow_mut();
        let id = schedule.add();
        let process = Process { life: Some(life), name, role };
        match processes.get_mut(id.index()) {
            Some(ended) => *ended = process,
            None => processes.push(process),
        }
        schedule.wake(id);
    }

    /// Waits for `span` of virtual time. A span of zero lets everybody else who is due at this
    /// instant go first.
    #[inline]
    pub fn sleep(&self, span: SimSpan) -> impl Future<Output = ()> {
        self.sleep_until(self.now() + span)
    }

    /// Waits until `instant`; at once, after everybody else who is due, if it has passed.
    #[inline]
    pub fn sleep_until(&self, instant: SimTime) -> impl Future<Output = ()> {
        Sleep { sim: self, instant, appointment: None }
    }

    /// Runs until nothing is left to happen, and returns the instant of the last event. Whoever
    /// waits then would wait for ever, and is dropped.
    ///
    /// # Errors
    /// [`Deadlock`] where a process other than a daemon has not come to its end.
    pub fn run(&self) -> Result<SimTime> {
        let mut context = Context::from_waker(&self.core.one_wait);
        loop {
            let next = self.core.schedule.borrow_mut().next(self.now());
            let Some(Due { at, process }) = next else { break };
            self.core.now.set(at);
            self.step(process, &mut context);
            if self.core.halted.get() {
                break;
            }
        }
        let blocked = self.blocked();
        self.drop_all();
        if blocked.is_empty() {
            Ok(self.now())
        } else {
            Err(Error::other(Deadlock { at: self.now(), blocked }))
        }
    }

    /// Ends the run with the present event, as if the calendar were empty: for who finds that whatever
    /// is on it leads nowhere.
    pub fn halt(&self) {
        self.core.halted.set(true);
    }

    /// Lets one process go on to its next wait or its end.
    fn step(&self, id: ProcessId, context: &mut Context<'_>) {
        // The table is not borrowed while the process runs, for it may add others.
        let life = self.core.processes.borrow_mut()[id.index()].life.take();
        let Some(mut life) = life else { return };
        self.core.current.set(id);
        if life.as_mut().poll(context).is_pending() {
            self.core.processes.borrow_mut()[id.index()].life = Some(life);
        } else {
            self.core.schedule.borrow_mut().remove(id);
        }
    }

    /// Processes hold the simulation and it holds them: this breaks the cycle of references.
    fn drop_all(&self) {
        let lives: Vec<Life> =
            self.core.processes.borrow_mut().iter_mut().filter_map(|p| p.life.take()).collect();
        // Only now, when nothing is borrowed: what they hold may be given back to others.
        drop(lives);
    }

    /// Each program that has not come to its end, and what it waits for.
    fn blocked(&self) -> Vec<String> {
        let schedule = self.core.schedule.borrow();
        let reasons = self.core.reasons.borrow();
        let blocked = |(id, process): (ProcessId, &Process)| {
            let reason = schedule.reason(id).map(|reason| &reasons[reason.index()]);
            let reason = reason.map_or("nothing known", String::as_str);
            format!("{} waits for {reason}", process.name)
        };
        schedule
            .ids()
            .zip(self.core.processes.borrow().iter())
            .filter(|(_, process)| process.role == Role::Program && process.life.is_some())
            .map(blocked)
            .collect()
    }

    /// The process that is running now.
    fn current(&self) -> ProcessId {
        self.core.current.get()
    }

    /// Puts an appointment of `process` on the calendar, or makes it ready if that is now; the
    /// appointment's number.
    fn appoint(&self, process: ProcessId, at: SimTime) -> Option<u64> {
        let mut schedule = self.core.schedule.borrow_mut();
        if at <= self.now() {
            schedule.wake(process);
            None
        } else {
            Some(schedule.appoint(process, at))
        }
    }

    /// Goes on to an instant, as if the running process had an appointment then, where nobody is due
    /// before or at it; whether that is so. The process must wait for nothing else.
    #[inline]
    fn pass(&self, instant: SimTime) -> bool {
        let passes = !self.core.halted.get() && self.core.schedule.borrow().is_free_until(instant);
        if passes {
            self.core.now.set(instant.max(self.now()));
        }
        passes
    }

    /// What holds one appointment at a time.
    fn timer(&self) -> Timer {
        self.core.schedule.borrow_mut().add_timer()
    }

    /// Voids the calls to `before`, which waits for a timer, and sets it for another process, which is
    /// made ready if that is now.
    fn set_timer(&self, timer: Timer, before: Option<ProcessId>, next: Option<Due>) {
        let mut schedule = self.core.schedule.borrow_mut();
        if let Some(before) = before {
            schedule.cancel(before);
        }
        match next {
            Some(Due { at, process }) if at <= self.now() => {
                schedule.set(timer, None);
                schedule.wake(process);
            }
            next => schedule.set(timer, next),
        }
    }

    /// Makes a waiting process ready at the present instant.
    fn wake(&self, process: ProcessId) {
        self.core.schedule.borrow_mut().wake(process);
    }

    /// Names something that processes can wait for.
    pub fn reason(&self, name: &str) -> Reason {
        let mut reasons = self.core.reasons.borrow_mut();
        reasons.push(name.into());
        Reason::numbered(reasons.len() - 1)
    }

    /// Notes what the running process is about to wait for, for the report of a deadlock.
    fn waits_for(&self, reason: Reason) {
        self.core.schedule.borrow_mut().waits_for(self.current(), reason);
    }
}

/// Marks what a process waits for as all that it waits for, by the waker that it is polled with.
/// [`first_of`] polls with another one.
struct OneWait;

impl Wake for OneWait {
    /// Processes are woken by the schedule alone.
    fn wake(self: Arc<Self>) {}
}

/// A sleep that can be given up: dropped, it wakes nobody.
struct Sleep<'a> {
    sim: &'a Sim,
    instant: SimTime,
    /// Who sleeps, and the number of the appointment if the calendar has it.
    appointment: Option<(ProcessId, Option<u64>)>,
}

impl Future for Sleep<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Whoever also waits for something else may be called for that before the instant, which
        // voids the appointment.
        if self.appointment.is_some() && self.sim.now() >= self.instant {
            self.appointment = None;
            return Poll::Ready(());
        }
        let is_all_it_waits_for = context.waker().data() == self.sim.core.one_wait.data();
        if is_all_it_waits_for && self.sim.pass(self.instant) {
            return Poll::Ready(());
        }
        let process = self.sim.current();
        self.appointment = Some((process, self.sim.appoint(process, self.instant)));
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some((process, Some(appointment))) = self.appointment {
            self.sim.core.schedule.borrow_mut().revoke(process, appointment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ticks(count: u64) -> SimSpan {
        SimSpan::from_ticks(count)
    }

    #[test]
    fn events_at_one_instant_happen_in_the_order_of_scheduling() {
        let sim = Sim::new();
        let log = Rc::new(RefCell::new(Vec::new()));
        for (name, first, second) in [("a", 2, 3), ("b", 1, 4), ("c", 5, 0)] {
            let (own, log) = (sim.clone(), Rc::clone(&log));
            sim.spawn(name, async move {
                own.sleep(ticks(first)).await;
                own.sleep(ticks(second)).await;
                log.borrow_mut().push((own.now().ticks(), name));
            });
        }
        sim.run().unwrap();
        // All end at 5. b went to sleep for the last time at 1, a at 2; c lets those who are
        // already due go first.
        assert_eq!(*log.borrow(), [(5, "b"), (5, "a"), (5, "c")]);
    }

    #[test]
    fn a_deadlock_names_who_waits_for_what() {
        let sim = Sim::new();
        let lock = Pool::new(&sim, "the lock", 1);
        let never = Watch::new(&sim, "the flag", 0);
        let (first_lock, own) = (lock.clone(), sim.clone());
        sim.spawn("holder", async move {
            let _held = first_lock.acquire().await;
            own.sleep(ticks(7)).await;
            never.wait_until(|&flag| flag == 1).await;
        });
        sim.spawn("claimant", async move {
            let _held = lock.acquire().await;
        });
        assert_eq!(
            sim.run().unwrap_err().to_string(),
            "deadlock at 0.000 ns: holder waits for the flag; claimant waits for the lock"
        );
    }

    #[test]
    fn nothing_is_left_of_a_simulation_that_has_run() {
        let sim = Sim::new();
        let held = Rc::new(());
        let (never, own, kept) = (Watch::new(&sim, "work", 0), sim.clone(), Rc::clone(&held));
        sim.spawn_daemon("server", async move {
            never.wait_until(|&work| work > 0).await;
            drop((own, kept));
        });
        sim.run().unwrap();
        assert_eq!(Rc::strong_count(&held), 1);
    }

    #[test]
    fn a_new_process_takes_the_place_of_one_that_has_ended() {
        let sim = Sim::new();
        let own = sim.clone();
        sim.spawn("parent", async move {
            for _ in 0..100 {
                let child = own.clone();
                own.spawn("child", async move { child.sleep(ticks(1)).await });
                own.sleep(ticks(2)).await;
            }
        });
        assert_eq!(sim.run().unwrap().ticks(), 200);
        assert_eq!(sim.core.processes.borrow().len(), 2);
    }

    #[test]
    fn a_daemon_may_wait_for_ever() {
        let sim = Sim::new();
        let never = Watch::new(&sim, "work", 0);
        sim.spawn_daemon("server", async move { never.wait_until(|&work| work > 0).await });
        assert_eq!(sim.run().unwrap(), SimTime::ZERO);
    }
}
