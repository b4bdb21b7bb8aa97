//! A value that processes wait upon.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::Sim;
use super::schedule::{ProcessId, Reason};

/// A value that any process may change and any process may wait upon; clones refer to the same.
pub struct Watch<T> {
    shared: Rc<Shared<T>>,
}

struct Shared<T> {
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
        Self { shared: Rc::new(Shared { sim, reason, value, waiting }) }
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
    shared: &'a Shared<T>,
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

#[cfg(test)]
mod tests {
    use super::super::first_of;
    use super::*;
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
}
