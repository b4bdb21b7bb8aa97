//! A value that processes wait upon.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::Sim;
use crate::schedule::{ProcessId, Reason};

/// A value that any process may change and any process may wait upon; clones refer to the same.
pub struct Watch<T> {
    shared: Rc<WatchState<T>>,
}

struct WatchState<T> {
    sim: Sim,
    reason: Reason,
    value: RefCell<T>,
    waiting: RefCell<Vec<ProcessId>>,
}

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        Self { shared: Rc::clone(&self.shared) }
    }
}

impl<T> Watch<T> {
    /// A watched value; `name` says what it is in the report of a deadlock.
    pub fn new(sim: &Sim, name: &str, value: T) -> Self {
        let (sim, reason) = (sim.clone(), sim.reason(name));
        let (value, waiting) = (RefCell::new(value), RefCell::default());
        Self { shared: Rc::new(WatchState { sim, reason, value, waiting }) }
    }

    /// Changes the value; every process that waits looks at it at the present instant.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let own = &*self.shared;
        let result = change(&mut own.value.borrow_mut());
        for process in own.waiting.borrow_mut().drain(..) {
            own.sim.wake(process);
        }
        result
    }

    /// Looks at the value.
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.shared.value.borrow())
    }

    /// What a process waits for that waits upon it.
    pub fn reason(&self) -> Reason {
        self.shared.reason
    }

    /// Waits until the value is as wanted; does not wait if it already is.
    pub fn wait_until<F: FnMut(&T) -> bool>(&self, wanted: F) -> impl Future<Output = ()> {
        self.wait_for(self.shared.reason, wanted)
    }

    /// The same, for a reason of which the name of the value would say too little.
    pub fn wait_for<F: FnMut(&T) -> bool>(
        &self,
        reason: Reason,
        wanted: F,
    ) -> impl Future<Output = ()> {
        Wait { shared: &self.shared, reason, wanted, process: None }
    }
}

/// A wait that can be given up: dropped, it calls nobody.
struct Wait<'a, T, F> {
    shared: &'a WatchState<T>,
    reason: Reason,
    wanted: F,
    /// Who is in the list of those that wait.
    process: Option<ProcessId>,
}

impl<T, F> Unpin for Wait<'_, T, F> {}

impl<T, F: FnMut(&T) -> bool> Future for Wait<'_, T, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let (own, process) = (self.shared, self.process);
        if (self.wanted)(&own.value.borrow()) {
            return Poll::Ready(());
        }
        let mut waiting = own.waiting.borrow_mut();
        // Whoever was called for something else is still in the list.
        if process.is_none_or(|process| !waiting.contains(&process)) {
            let current = own.sim.current();
            waiting.push(current);
            self.process = Some(current);
        }
        own.sim.waits_for(self.reason);
        Poll::Pending
    }
}

impl<T, F> Drop for Wait<'_, T, F> {
    fn drop(&mut self) {
        if let Some(process) = self.process {
            self.shared.waiting.borrow_mut().retain(|&waiting| waiting != process);
        }
    }
}

/// Pool of servers with one queue; clones refer to the same pool.
#[derive(Clone)]
pub struct Pool {
    shared: Rc<PoolState>,
}

struct PoolState {
    sim: Sim,
    reason: Reason,
    free: Cell<u32>,
    queue: RefCell<VecDeque<ProcessId>>,
}

/// One server of a [`Pool`], held until it is dropped.
#[must_use = "the server is given back when the permit is dropped"]
pub struct Permit {
    pool: Pool,
}

impl Pool {
    /// A pool of `servers`; `name` says what it is in the report of a deadlock.
    pub fn new(sim: &Sim, name: &str, servers: u32) -> Self {
        let (sim, reason) = (sim.clone(), sim.reason(name));
        let (free, queue) = (Cell::new(servers), RefCell::default());
        Self { shared: Rc::new(PoolState { sim, reason, free, queue }) }
    }

    /// Waits in the queue for a server.
    pub fn acquire(&self) -> impl Future<Output = Permit> {
        let own = &*self.shared;
        let mut queued = false;
        std::future::poll_fn(move |_| {
            // Whoever gives a server back hands it to the first in the queue, so being woken is
            // being served.
            if !queued && own.free.get() == 0 {
                queued = true;
                own.queue.borrow_mut().push_back(own.sim.current());
                own.sim.waits_for(own.reason);
                return Poll::Pending;
            }
            if !queued {
                own.free.set(own.free.get() - 1);
            }
            Poll::Ready(Permit { pool: self.clone() })
        })
    }
}

impl Drop for Permit {
    #[inline]
    fn drop(&mut self) {
        let PoolState { sim, free, queue, .. } = &*self.pool.shared;
        match queue.borrow_mut().pop_front() {
            Some(next) => sim.wake(next),
            None => free.set(free.get() + 1),
        }
    }
}

/// Which of two came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First<A, B> {
    /// The one named first, also where both were there at once.
    Left(A),
    /// The other one.
    Right(B),
}

/// Waits for whichever comes first, and gives the other one up.
///
/// Good for sleeps and for waits upon a [`crate::Watch`], which can be given up at any time; not
/// for a place in a queue or a job at a server.
pub async fn first_of<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    std::future::poll_fn(|_| {
        // Neither is all that the process waits for.
        let context = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::super::first_of;
    use super::*;
    use crate::{Sim, Watch};
    use mmgp_base::units::{SimSpan, SimTime};

    fn at(ticks: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_ticks(ticks)
    }

    /// When a process that waits for a flag until 10 goes on, if the flag is raised at `raised`; it
    /// then sleeps for 100 undisturbed.
    fn waits_until(raised: u64) -> u64 {
        let sim = Sim::new();
        let flag = Watch::new(&sim, "the flag", 0);
        let (own, seen) = (sim.clone(), flag.clone());
        let end = Rc::new(RefCell::new(0));
        let noted = Rc::clone(&end);
        sim.spawn("waiter", async move {
            first_of(seen.wait_until(|&flag| flag == 1), own.sleep_until(at(10))).await;
            *noted.borrow_mut() = own.now().ticks();
            own.sleep(SimSpan::from_ticks(100)).await;
            assert_eq!(own.now().ticks(), *noted.borrow() + 100);
        });
        let own = sim.clone();
        sim.spawn("setter", async move {
            for (instant, value) in [(5, 0), (raised, 1), (raised + 20, 2)] {
                own.sleep_until(at(instant)).await;
                flag.update(|flag| *flag = value);
            }
        });
        sim.run().unwrap();
        *Rc::clone(&end).borrow()
    }

    #[test]
    fn a_wait_with_a_deadline_ends_at_whichever_comes_first() {
        assert_eq!(waits_until(7), 7);
        assert_eq!(waits_until(15), 10);
    }

    #[test]
    fn servers_are_given_out_in_the_order_of_asking() {
        let sim = Sim::new();
        let pool = Pool::new(&sim, "two clerks", 2);
        let ends = Rc::new(RefCell::new(Vec::new()));
        for customer in 0..5 {
            let (own, pool, ends) = (sim.clone(), pool.clone(), Rc::clone(&ends));
            sim.spawn(format!("customer {customer}"), async move {
                let _served = pool.acquire().await;
                own.sleep(SimSpan::from_ticks(10)).await;
                ends.borrow_mut().push((customer, own.now().ticks()));
            });
        }
        sim.run().unwrap();
        assert_eq!(*ends.borrow(), [(0, 10), (1, 10), (2, 20), (3, 20), (4, 30)]);
    }

    /// A flag is set after 5 ticks; what comes first if the other thing is a sleep of `ticks`, and
    /// when a sleep of 100 ticks that follows is over.
    fn race(ticks: u64) -> (First<(), ()>, u64) {
        let sim = Sim::new();
        let flag = Watch::new(&sim, "the flag", 0);
        let (setter, own) = (flag.clone(), sim.clone());
        sim.spawn("setter", async move {
            for value in 1..=5 {
                own.sleep(SimSpan::from_ticks(1)).await;
                setter.update(|flag| *flag = value);
            }
        });
        let (own, seen) = (sim.clone(), std::rc::Rc::new(std::cell::Cell::new(None)));
        let outcome = std::rc::Rc::clone(&seen);
        sim.spawn("racer", async move {
            let sleep = own.sleep(SimSpan::from_ticks(ticks));
            let first = first_of(flag.wait_until(|&flag| flag == 5), sleep).await;
            own.sleep(SimSpan::from_ticks(100)).await;
            outcome.set(Some((first, own.now().ticks())));
        });
        sim.run().unwrap();
        seen.get().unwrap()
    }

    #[test]
    fn of_two_sleeps_the_shorter_ends_the_wait_though_nobody_else_is_due() {
        let sim = Sim::new();
        let own = sim.clone();
        sim.spawn("sleeper", async move {
            let sleep = |ticks| own.sleep(SimSpan::from_ticks(ticks));
            assert_eq!(first_of(sleep(10), sleep(5)).await, First::Right(()));
            assert_eq!(own.now().ticks(), 5);
            assert_eq!(first_of(sleep(0), async {}).await, First::Right(()));
            assert_eq!(first_of(first_of(sleep(9), sleep(8)), sleep(7)).await, First::Right(()));
        });
        assert_eq!(sim.run().unwrap().ticks(), 12);
    }

    #[test]
    fn the_first_ends_the_wait_and_the_other_disturbs_nothing_later() {
        // The flag changes four times without being as wanted, which must not end the sleep.
        assert_eq!(race(7), (First::Left(()), 105));
        assert_eq!(race(3), (First::Right(()), 103));
    }
}
