//! A switch to a process of the caller's choice: `_yield_to` of Computing Frontiers 2009.
//!
//! The kernel takes the process out of the run queue, raises its static priority to the maximum, puts
//! it back, where it is now the leftmost, restores the priority, extends its time and schedules. On
//! the O(1) scheduler, for which the paper has none, it comes to the front of the active array.
//!
//! By how much its time is extended is left open. Here it gets what is left of the caller's slice: a
//! chain of such switches ends as one slice does, and then it is the turn of whoever is next by the
//! queue's own order. With a slice of its own each, processes that choose each other all the time
//! would never let a further one run.

use super::Scheduler;
use super::queue::Entry;

impl Scheduler {
    /// Puts the process that runs back into the queue as one that yields, and lets that one run; where
    /// it is not in the queue, whoever is next.
    pub fn yield_to(&self, thread: usize, process: u32) {
        let began = self.threads.borrow()[thread].running.map(|running| running.since);
        let stopped = self.stop(thread);
        let is_chosen = {
            let own = &mut self.threads.borrow_mut()[thread];
            if let Some(entity) = stopped {
                own.queue.enter(entity, Entry::Yielded, None);
            }
            own.is_chosen = own.queue.promote(process);
            own.is_chosen
        };
        self.dispatch(thread);
        if let (true, Some(began), Some(caller)) = (is_chosen, began, stopped)
            && let Some(running) = self.threads.borrow_mut()[thread].running.as_mut()
        {
            running.since = began;
            running.entity.left = caller.left;
        }
    }

    /// Whether who has been given a thread was chosen by who had it before; asked once.
    pub fn take_chosen(&self, thread: usize) -> bool {
        std::mem::take(&mut self.threads.borrow_mut()[thread].is_chosen)
    }
}
