//! `ready_to_run` as queues under locks, one for each hardware thread, in place of a list that is scanned.
//!
//! Each queue lies in a line of main memory with its lock. An SPE that has done its share appends the
//! number of its process to the queue of the hardware thread to which that is pinned, by an atomic
//! sequence: it gets and reserves the line, again as long as the lock is taken, and stores it if nobody
//! wrote to it meanwhile, else all again. A process that waits looks whether the queue is empty; where it
//! is not, it takes the lock, takes the oldest entry out, notes for that process that it can go on, and
//! gives the lock back. An SPE's store takes the line out of the host's caches; a store of the host ends
//! the reservations of SPEs.
//!
//! No two processes want a lock at once, as they share the hardware thread. Left out: that its slice may
//! end while a process has the lock.

use std::cell::OnceCell;
use std::collections::{BTreeMap, VecDeque};

use crate::policy::{Completion, Pending, Steps};
use crate::ready::{CLEAR, Ready};
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cell::ppe::Work;
use mmgp_cell::{EffectiveAddress, HostProcess, Spe};
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch};

/// Bytes of a line: a lock, the places of the first and the last entry, and entries of a word each.
const LINE: Bytes = Bytes(128);

/// A look whether a queue is empty: both places are loaded and compared.
const EMPTY: Work =
    Work { integers: 1, loads: 2, stores: 0, floats: 0, divides: 0, branches: 1, code: 0 };
/// The lock is loaded with a reservation, found free and stored if the reservation still holds.
const LOCK: Work =
    Work { integers: 2, loads: 1, stores: 1, floats: 0, divides: 0, branches: 2, code: 0 };
/// The places of the first and the last entry and the first entry are loaded, the place is moved on, the
/// process is noted, the entry compared with the caller's own number, and the lock given back.
const POP: Work =
    Work { integers: 6, loads: 4, stores: 3, floats: 0, divides: 0, branches: 2, code: 0 };
/// A look at what is noted for oneself.
const LOOK: Work =
    Work { integers: 1, loads: 1, stores: 0, floats: 0, divides: 0, branches: 1, code: 0 };

/// The queues of all hardware threads.
#[derive(Default)]
pub(crate) struct Fifos {
    /// The lines, by hardware thread.
    at: OnceCell<Vec<EffectiveAddress>>,
    queues: OnceCell<Watch<BTreeMap<usize, Fifo>>>,
}

#[derive(Debug, Default)]
struct Fifo {
    /// The processes of SPEs that have done their share, the oldest first.
    entries: VecDeque<u32>,
    is_locked: bool,
    /// How many entries SPEs have appended.
    appended: u64,
    /// How many they had when the host last loaded the line.
    loaded: u64,
    /// Processes of which an entry has been taken out, and that have not seen it.
    noted: Vec<u32>,
}

impl Fifos {
    fn queues(&self, sim: &Sim) -> &Watch<BTreeMap<usize, Fifo>> {
        let name = "an entry of a queue of processes";
        self.queues.get_or_init(|| Watch::new(sim, name, BTreeMap::new()))
    }

    /// The queue of the hardware thread on which the process runs.
    fn read<T>(&self, process: &HostProcess, read: impl FnOnce(&Fifo) -> T) -> T {
        self.queues(&process.sim).read(|queues| match queues.get(&process.thread()) {
            Some(own) => read(own),
            None => read(&Fifo::default()),
        })
    }

    fn update<T>(&self, process: &HostProcess, change: impl FnOnce(&mut Fifo) -> T) -> T {
        let queues = self.queues(&process.sim);
        queues.update(|queues| change(queues.entry(process.thread()).or_default()))
    }

    /// The line of a thread, once an SPE has appended something.
    fn store_to_line(&self, process: &HostProcess) {
        if let Some(at) = self.at.get() {
            process.store_to_lock_line(at[process.thread()]);
        }
    }

    /// Takes the lock: all again where an SPE has changed the line between load and store.
    async fn lock(&self, process: &HostProcess) {
        loop {
            self.load(process).await;
            let appended = self.read(process, |own| own.appended);
            process.poll_for(LOCK.alone(process.machine())).await;
            if self.read(process, |own| own.appended) == appended {
                break;
            }
        }
        self.update(process, |own| own.is_locked = true);
        self.store_to_line(process);
    }

    /// Takes the oldest entry out, and gives the lock back.
    async fn pop(&self, process: &HostProcess) -> Option<u32> {
        process.poll_for(POP.alone(process.machine())).await;
        let oldest = self.update(process, |own| {
            own.is_locked = false;
            let oldest = own.entries.pop_front()?;
            own.noted.push(oldest);
            Some(oldest)
        });
        self.store_to_line(process);
        oldest
    }
}

impl Ready for Fifos {
    fn waits(&self, _: &HostProcess) {}

    fn pass(&self, machine: &Machine) -> Seconds {
        EMPTY.alone(machine)
    }

    async fn stirs(&self, process: &HostProcess) {
        let thread = process.thread();
        let has_entry = |queues: &BTreeMap<usize, Fifo>| {
            queues.get(&thread).is_some_and(|own| !own.entries.is_empty())
        };
        self.queues(&process.sim).wait_until(has_entry).await;
    }

    async fn load(&self, process: &HostProcess) {
        if self.read(process, |own| own.loaded != own.appended) {
            self.update(process, |own| own.loaded = own.appended);
            process.load_put_lines(1).await;
        }
    }

    /// The oldest entry, unless it is its own.
    async fn find(&self, process: &HostProcess) -> Option<u32> {
        if self.read(process, |own| own.entries.is_empty()) {
            return None;
        }
        self.lock(process).await;
        self.pop(process).await.filter(|&oldest| oldest != process.rank)
    }

    async fn look_at_own(&self, process: &HostProcess) {
        let rank = process.rank;
        let noted =
            self.read(process, |own| own.noted.iter().filter(|&&noted| noted == rank).count());
        process.poll_for((LOOK + CLEAR * noted as u64).alone(process.machine())).await;
        self.update(process, |own| own.noted.retain(|&noted| noted != rank));
    }

    /// Whether as many entries have been noted for it as it waits for: none is in the queue any more.
    fn is_over(&self, process: &HostProcess, pending: &Pending) -> bool {
        let queued = self.read(process, |own| own.entries.contains(&process.rank));
        pending.is_complete() && !queued
    }

    fn put<'a>(&'a self, done: Completion, spe: &'a Spe, machine: &'a Machine) -> Steps<'a> {
        Box::pin(async move {
            let layout = machine.layout;
            let threads = 0..layout.cells * layout.threads_per_ppe;
            let line = |thread| spe.memory().allocate(thread / layout.threads_per_ppe, LINE);
            let lines = self.at.get_or_init(|| threads.map(line).collect());
            let thread = layout.home_thread(done.process) as usize;
            let queues = self.queues(&spe.sim);
            let is_free =
                || queues.read(|queues| !queues.get(&thread).is_some_and(|queue| queue.is_locked));
            let append = || {
                queues.update(|queues| {
                    let queue = queues.entry(thread).or_default();
                    queue.entries.push_back(done.process);
                    queue.appended += 1;
                });
            };
            let changed = spe.mfc.change_line(lines[thread], is_free, append).await;
            changed.expect("invariant: a line of memory is aligned and mapped");
        })
    }
}
