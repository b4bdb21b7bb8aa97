//! A switch to a process of the caller's choice: `_yield_to` of Computing Frontiers 2009.
//!
//! The kernel takes the process out of the run queue, raises its static priority to the maximum, puts
//! it back, where it is now the leftmost, restores the priority, extends its time and schedules. On
//! the O(1) scheduler, for which the paper has none, this comes to the front of the active array with
//! a new slice.

use super::Scheduler;
use super::queue::Entry;

impl Scheduler {
    /// Puts the process that runs back into the queue as one that yields, and lets that one run; where
    /// it is not in the queue, whoever is next.
    pub fn yield_to(&self, thread: usize, process: u32) {
        let stopped = self.stop(thread);
        {
            let own = &mut self.threads.borrow_mut()[thread];
            if let Some(entity) = stopped {
                own.queue.enter(entity, Entry::Yielded, None);
            }
            own.is_chosen = own.queue.promote(process);
        }
        self.dispatch(thread);
    }

    /// Whether who has been given a thread was chosen by who had it before; asked once.
    pub fn take_chosen(&self, thread: usize) -> bool {
        std::mem::take(&mut self.threads.borrow_mut()[thread].is_chosen)
    }
}
