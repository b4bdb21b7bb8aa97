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
//!
//! A process that is free to run anywhere is taken out of the queue of another hardware thread where it
//! waits there: the choice moves it. What it pays for that is what it does not find where it comes to:
//! translations, and on another Cell everything in the caches. Left out: the lock of the other queue, and
//! that CFS counts from the least run time of each queue.

use super::Scheduler;
use super::queue::{Affinity, Entity, Entry};
use mmgp_sim::Watch;

impl Scheduler {
    /// Puts the process that runs back into the queue as one that yields, and lets that one run; where
    /// it waits in no queue from which it may come, whoever is next.
    pub fn yield_to(&self, thread: usize, process: u32) {
        let began = self.threads.borrow()[thread].running.map(|running| running.since);
        let stopped = self.stop(thread);
        if let Some(entity) = stopped {
            self.threads.borrow_mut()[thread].queue.enter(entity, Entry::Yielded, None);
        }
        let chosen = self.take_waiting(thread, process);
        {
            let own = &mut self.threads.borrow_mut()[thread];
            own.is_chosen = chosen.is_some();
            chosen.into_iter().for_each(|chosen| own.queue.put_first(chosen));
        }
        self.dispatch(thread);
        if let (Some(_), Some(began), Some(caller)) = (chosen, began, stopped)
            && let Some(running) = self.threads.borrow_mut()[thread].running.as_mut()
        {
            running.since = began;
            running.entity.left = caller.left;
        }
    }

    /// Takes a process out of the queue of a thread, or of another one where it may move.
    fn take_waiting(&self, thread: usize, process: u32) -> Option<Entity> {
        let mut threads = self.threads.borrow_mut();
        let own = threads[thread].queue.take(process);
        let affinity = self.processes.borrow().get(&process)?.entity.affinity;
        match affinity {
            Affinity::Pinned => own,
            Affinity::Free | Affinity::Shared => {
                own.or_else(|| threads.iter_mut().find_map(|other| other.queue.take(process)))
            }
        }
    }

    /// Whether a process runs on another hardware thread than this one.
    pub fn runs_elsewhere(&self, process: u32, thread: usize) -> bool {
        let others = |runs: &Vec<Option<u32>>| {
            let mut runs = runs.iter().enumerate();
            runs.any(|(other, runs)| other != thread && *runs == Some(process))
        };
        self.runs.read(others)
    }

    /// Changes when another process runs on some hardware thread: its number by thread.
    pub fn runs(&self) -> &Watch<Vec<Option<u32>>> {
        &self.runs
    }

    /// Whether who has been given a thread was chosen by who had it before; asked once.
    pub fn take_chosen(&self, thread: usize) -> bool {
        std::mem::take(&mut self.threads.borrow_mut()[thread].is_chosen)
    }
}
