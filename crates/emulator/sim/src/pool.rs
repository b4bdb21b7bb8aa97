//! A pool of equal servers with a queue: first come, first served.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;

use super::Sim;
use super::schedule::{ProcessId, Reason};

/// So many servers and one queue; clones refer to the same pool.
#[derive(Clone)]
pub struct Pool {
    shared: Rc<Shared>,
}

struct Shared {
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
        Self { shared: Rc::new(Shared { sim, reason, free, queue }) }
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
        let Shared { sim, free, queue, .. } = &*self.pool.shared;
        match queue.borrow_mut().pop_front() {
            Some(next) => sim.wake(next),
            None => free.set(free.get() + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::SimSpan;

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
}
