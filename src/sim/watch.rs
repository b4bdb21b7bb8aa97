//! A value that processes wait upon.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use super::schedule::ProcessId;
use super::{Reason, Sim};

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

    /// Changes the value; whoever waits looks at it at the present instant.
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

    /// Waits until the value is as wanted; does not wait if it already is.
    pub fn wait_until(&self, wanted: impl FnMut(&T) -> bool) -> impl Future<Output = ()> {
        self.wait_for(self.shared.reason, wanted)
    }

    /// The same, for a reason of which the name of the value would say too little.
    pub(crate) fn wait_for(
        &self,
        reason: Reason,
        mut wanted: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = ()> {
        let own = &*self.shared;
        std::future::poll_fn(move |_| {
            if wanted(&own.value.borrow()) {
                return Poll::Ready(());
            }
            own.waiting.borrow_mut().push(own.sim.current());
            own.sim.waits_for(reason);
            Poll::Pending
        })
    }
}
