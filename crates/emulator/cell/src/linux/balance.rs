//! Where processes go that may run on more than one hardware thread.

use super::queue::{Affinity, Entity, Entry};
use super::{Scheduler, Thread};

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
            let Thread { queue, running, .. } = &threads[thread];
            queue.waiting() + usize::from(running.is_some())
        };
        let may = |&thread: &usize| affinity == Affinity::Free || threads[thread].is_begun_on;
        let all = (0..threads.len()).filter(may);
        all.min_by_key(|&thread| (load(thread), thread != home)).unwrap_or(home)
    }
}
