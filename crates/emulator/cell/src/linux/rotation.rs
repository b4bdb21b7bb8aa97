//! Hardware threads whose processes all wait, and yield to each other.
//!
//! Nothing happens on such a thread but that one process after the other comes in, looks, and yields,
//! until what one of them waits for is there. These turns are not emulated one by one: whoever has the
//! thread stands for all of them, and when something happens the turn that is then under way is found by
//! its time. So processes that wait for each other for ever come to rest, and are a deadlock.

use super::queue::Entry;
use super::{Scheduler, Thread};
use mmgp_base::units::SimSpan;
use mmgp_sim::Watch;

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
        let Thread { queue, running, .. } = &threads[thread];
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
