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
//!
//! Hardware threads whose processes all wait, and yield to each other.
//!
//! Nothing happens on such a thread but that one process after the other comes in, looks, and yields,
//! until what one of them waits for is there. These turns are not emulated one by one: whoever has the
//! thread stands for all of them, and when something happens the turn that is then under way is found by
//! its time. So processes that wait for each other for ever come to rest, and are a deadlock.

use crate::linux::queue::{Affinity, Entity, Entry};
use crate::linux::{HardwareThread, Scheduler};
use mmgp_base::units::SimSpan;
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

impl Scheduler {
    /// Puts a sleeping process into a run queue.
    pub fn wake(&self, process: u32) {
        let (entity, home) = {
            let processes = self.processes.borrow();
            let process = processes.get(&process).expect("invariant: it was admitted");
            (process.entity, process.home)
        };
        let thread = match entity.affinity {
            Affinity::Pinned => home,
            Affinity::Free | Affinity::Shared => self.least_loaded(home, entity.affinity),
        };
        self.enter(thread, entity, Entry::Woken);
    }

    /// The same, into that of this thread, from which it is not to move.
    pub fn wake_at(&self, process: u32, thread: usize) {
        let entity =
            self.processes.borrow().get(&process).expect("invariant: it was admitted").entity;
        self.enter(thread, Entity { affinity: Affinity::Pinned, ..entity }, Entry::Woken);
    }

    /// Notes a change from one process to another that was none for the run queue.
    pub fn switched(&self, thread: usize) {
        self.threads.borrow_mut()[thread].switches += 1;
    }

    /// A process from the longest queue.
    pub(super) fn steal(&self) -> Option<Entity> {
        let mut threads = self.threads.borrow_mut();
        let mut order: Vec<usize> = (0..threads.len()).collect();
        order.sort_by_key(|&thread| std::cmp::Reverse(threads[thread].queue.waiting()));
        order.into_iter().find_map(|thread| threads[thread].queue.steal())
    }

    /// The thread with the fewest processes of those on which such a process may run; `home` where it
    /// is one of them.
    pub(super) fn least_loaded(&self, home: usize, affinity: Affinity) -> usize {
        let threads = self.threads.borrow();
        let load = |thread: usize| {
            let HardwareThread { queue, running, .. } = &threads[thread];
            queue.waiting() + usize::from(running.is_some())
        };
        let may = |&thread: &usize| affinity == Affinity::Free || threads[thread].is_begun_on;
        let all = (0..threads.len()).filter(may);
        all.min_by_key(|&thread| (load(thread), thread != home)).unwrap_or(home)
    }
}

impl Scheduler {
    /// Notes that a process only looks and yields, and how long a turn of it is, or that it goes on.
    pub fn polls(&self, process: u32, turn: Option<SimSpan>) {
        if let Some(process) = self.processes.borrow_mut().get_mut(&process) {
            process.turn_of_polling = turn;
        }
    }

    /// The turns of the processes of a thread in their order, that of the one that runs last; nothing
    /// where one of them does more than look and yield, or the queue has another order.
    pub fn rotation(&self, thread: usize) -> Option<Vec<SimSpan>> {
        let (threads, processes) = (self.threads.borrow(), self.processes.borrow());
        let HardwareThread { queue, running, .. } = &threads[thread];
        let running = running.as_ref()?.entity.process;
        let order = queue.rotation()?.into_iter().chain([running]);
        order.map(|process| processes.get(&process)?.turn_of_polling).collect()
    }

    /// Gives a thread to the process whose turn comes after so many others; it has `rest` of it left.
    pub fn rotate(&self, thread: usize, turns: usize, rest: SimSpan) {
        let stopped = self.stop(thread);
        {
            let own = &mut self.threads.borrow_mut()[thread];
            if let Some(entity) = stopped {
                own.queue.enter(entity, Entry::Yielded, None);
            }
            for _ in 0..turns {
                if let Some(entity) = own.queue.next() {
                    own.queue.enter(entity, Entry::Yielded, None);
                }
            }
            own.rest = Some(rest);
        }
        self.dispatch(thread);
    }

    /// What is left of the turn of the process that has just been given a thread, where it began before.
    pub fn take_rest(&self, thread: usize) -> Option<SimSpan> {
        self.threads.borrow_mut()[thread].rest.take()
    }

    /// Changes when a process that waits on a thread for its turn has what it waits for.
    pub fn stirred(&self, thread: usize) -> Watch<u64> {
        self.threads.borrow()[thread].stirred.clone()
    }
}
