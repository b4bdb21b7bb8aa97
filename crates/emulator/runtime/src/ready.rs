//! The list `ready_to_run` of Computing Frontiers 2009: which processes can go on.
//!
//! It lies in main memory and has an entry for each SPE, a word into which an SPE that has done its
//! share puts the number of the process for which it worked. All entries are in one line. The put takes
//! the line out of the host's caches, so that the next load of it on each Cell waits for memory; further
//! loads find it in the first-level cache, which the hardware threads of a Cell share.
//!
//! Where processes may run on any hardware thread, who is named may go on there already, so the affinity
//! check looks whether it does before somebody yields to it. Left out there: that each further pass checks
//! again whom it has passed over, and how the kernel shows processes who runs where.
//!
//! Left out: that SPEs whose entries are put at once wait for each other's, beyond what the bus and the
//! memory's banks say; and that the line which a process writes to is another Cell's no more.
//!
//! # Queues under locks
//! In place of a list that is scanned there may be a queue for each hardware thread ([`Fifos`]).
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
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cell::{EffectiveAddress, HostProcess, Spe};
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch, first_of};

/// Queue in which processes that wait find who can go on.
pub(crate) trait Ready {
    /// The process, which runs on its hardware thread, is to be found there.
    fn waits(&self, process: &HostProcess);
    /// What a pass takes that looks whether there is somebody \[s\].
    fn pass(&self, machine: &Machine) -> Seconds;
    /// Ends when passes by this process find an entry, or wait for memory.
    async fn stirs(&self, process: &HostProcess);
    /// Waits for memory where an SPE has written to what a pass looks at.
    async fn load(&self, process: &HostProcess);
    /// Another process that can go on, to which this one yields.
    async fn find(&self, process: &HostProcess) -> Option<u32>;
    /// The process looks at what says of itself that it can go on, and clears it.
    async fn look_at_own(&self, process: &HostProcess);
    /// Whether the process that has looked goes on.
    fn is_over(&self, process: &HostProcess, pending: &Pending) -> bool;
    /// An SPE that has done its share says for whom; of a list, what it has put there is to be
    /// [`ReadyToRun::told`].
    fn put<'a>(&'a self, done: Completion, spe: &'a Spe, machine: &'a Machine) -> Steps<'a>;
}

/// Bytes of an entry, and entries of the line.
const ENTRY_BYTES: u64 = 4;
const ENTRIES: u64 = 32;

work! {
    /// A look at an entry: its load, whether it is set, and on to the next.
    LOOK: 2 integers, 1 loads, 1 branches;
    /// The entry of an SPE that has been seen is empty again, or what is noted of a process.
    pub(crate) CLEAR: 1 integers, 1 stores;
    /// The affinity check: which process runs on another hardware thread is loaded and compared.
    CHECK: 2 integers, 1 loads, 1 branches;
}

/// Which entries a process looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Part {
    /// Processes of its hardware thread, to which they are pinned.
    #[default]
    OfThread,
    /// All. Who is named may run just now, on another hardware thread: that is checked.
    Whole,
}

/// The list.
#[derive(Default)]
pub(crate) struct ReadyToRun {
    part: Part,
    at: OnceCell<EffectiveAddress>,
    list: OnceCell<Watch<List>>,
}

#[derive(Default)]
struct List {
    /// The process that is named for an SPE.
    entries: BTreeMap<u32, u32>,
    /// How many puts there were.
    puts: u64,
    /// How many there were when the host of a Cell last loaded the line.
    loaded: BTreeMap<u32, u64>,
    /// The hardware thread of each process that has waited.
    threads: BTreeMap<u32, usize>,
    /// The SPE whose entry was found last by a hardware thread.
    found: BTreeMap<usize, u32>,
}

impl List {
    fn is_cold(&self, cell: u32) -> bool {
        self.loaded.get(&cell).copied().unwrap_or(0) != self.puts
    }

    /// The SPEs of the entries that name others than this process, in the order in which a scan on that
    /// thread comes to them: from behind the one found last.
    fn others(&self, thread: usize, but: u32) -> impl Iterator<Item = (u32, u32)> {
        let first = self.found.get(&thread).map_or(0, |found| found + 1);
        let round = self.entries.range(first..).chain(self.entries.range(..first));
        round.map(|(&spe, &process)| (spe, process)).filter(move |&(_, process)| process != but)
    }
}

/// What it takes to look at so many entries of the list.
pub(crate) fn time_of_looks(machine: &Machine, entries: u64) -> Seconds {
    (LOOK * entries).alone(machine)
}

impl ReadyToRun {
    /// A list of which processes look at that part.
    pub fn of(part: Part) -> Self {
        Self { part, ..Self::default() }
    }

    fn list(&self, sim: &Sim) -> &Watch<List> {
        self.list.get_or_init(|| Watch::new(sim, "an entry of ready_to_run", List::default()))
    }

    /// An entry has been put.
    pub fn told(&self, done: Completion, spe: &Spe) {
        self.list(&spe.sim).update(|list| {
            list.entries.insert(done.spe, done.process);
            list.puts += 1;
        });
    }

    /// How many entries a scan by this process looks at until it comes to another one that can go on,
    /// and that one with its SPE.
    fn scan(&self, process: &HostProcess, list: &List) -> (u64, Option<(u32, u32)>) {
        let thread = process.thread();
        let suits = |other: u32| match self.part {
            Part::OfThread => list.threads.get(&other) == Some(&thread),
            Part::Whole => !process.runs_elsewhere(other),
        };
        let mut looks = 0;
        let found = list.others(thread, process.rank).find(|&(_, other)| {
            looks += 1;
            suits(other)
        });
        (looks, found)
    }
}

impl Ready for ReadyToRun {
    fn waits(&self, process: &HostProcess) {
        let (rank, thread) = (process.rank, process.thread());
        self.list(&process.sim).update(|list| list.threads.insert(rank, thread));
    }

    fn pass(&self, machine: &Machine) -> Seconds {
        let layout = machine.layout;
        let parts = match self.part {
            Part::OfThread => layout.cells * layout.threads_per_ppe,
            Part::Whole => 1,
        };
        time_of_looks(machine, u64::from(layout.spes().div_ceil(parts)))
    }

    async fn stirs(&self, process: &HostProcess) {
        let (list, cell) = (self.list(&process.sim), process.cell());
        let found = |list: &List| list.is_cold(cell) || self.scan(process, list).1.is_some();
        match self.part {
            Part::OfThread => list.wait_until(found).await,
            // Who ran elsewhere may do so no more.
            Part::Whole => {
                while !list.read(found) {
                    first_of(list.wait_until(found), process.others_run()).await;
                }
            }
        }
    }

    async fn load(&self, process: &HostProcess) {
        let (list, cell) = (self.list(&process.sim), process.cell());
        if list.read(|list| list.is_cold(cell)) {
            list.update(|list| list.loaded.insert(cell, list.puts));
            process.load_put_lines(1).await;
        }
    }

    /// The next one round the list from where an entry was last found, so that nobody is passed over
    /// for ever.
    async fn find(&self, process: &HostProcess) -> Option<u32> {
        let (list, machine) = (self.list(&process.sim), process.machine());
        let (looks, found) = list.read(|list| self.scan(process, list));
        if self.part == Part::Whole && looks > 0 {
            let threads = machine.layout.cells * machine.layout.threads_per_ppe;
            let checks = looks * u64::from(threads - 1);
            process.poll_for((CHECK * checks).alone(machine)).await;
        }
        let (spe, other) = found?;
        list.update(|list| list.found.insert(process.thread(), spe));
        Some(other)
    }

    async fn look_at_own(&self, process: &HostProcess) {
        self.load(process).await;
        let (list, rank) = (self.list(&process.sim), process.rank);
        let set = list.read(|list| list.entries.values().filter(|named| **named == rank).count());
        process.poll_for((LOOK + CLEAR * set as u64).alone(process.machine())).await;
        list.update(|list| list.entries.retain(|_, named| *named != rank));
    }

    fn is_over(&self, _: &HostProcess, pending: &Pending) -> bool {
        pending.is_complete()
    }

    fn put<'a>(&'a self, done: Completion, spe: &'a Spe, _: &'a Machine) -> Steps<'a> {
        Box::pin(async move {
            let line = || spe.memory().allocate(0, Bytes(ENTRY_BYTES * ENTRIES));
            let EffectiveAddress(at) = *self.at.get_or_init(line);
            let at = EffectiveAddress(at + ENTRY_BYTES * (u64::from(done.spe) % ENTRIES));
            spe.put_word(at).await.expect("invariant: an entry is an aligned word of memory");
        })
    }
}

/// Bytes of a line: a lock, the places of the first and the last entry, and entries of a word each.
const LINE: Bytes = Bytes(128);

work! {
    /// A look whether a queue is empty: both places are loaded and compared.
    EMPTY: 1 integers, 2 loads, 1 branches;
    /// The lock is loaded with a reservation, found free and stored if the reservation still holds.
    LOCK: 2 integers, 1 loads, 1 stores, 2 branches;
    /// The places of the first and the last entry and the first entry are loaded, the place is moved on, the
    /// process is noted, the entry compared with the caller's own number, and the lock given back.
    POP: 6 integers, 4 loads, 3 stores, 2 branches;
    /// A look at what is noted for oneself.
    READ_NOTE: 1 integers, 1 loads, 1 branches;
}

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
        process.poll_for((READ_NOTE + CLEAR * noted as u64).alone(process.machine())).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_goes_on_behind_the_entry_that_it_found_and_passes_over_its_own() {
        let entries = BTreeMap::from([(0, 10), (1, 11), (2, 12), (4, 14)]);
        let mut list = List { entries, ..List::default() };
        let spes =
            |list: &List, but| -> Vec<u32> { list.others(0, but).map(|(spe, _)| spe).collect() };
        assert_eq!(spes(&list, 11), [0, 2, 4]);
        for (found, expected) in [(0, [1, 2, 4, 0]), (2, [4, 0, 1, 2]), (3, [4, 0, 1, 2])] {
            list.found.insert(0, found);
            assert_eq!(spes(&list, 99), expected, "behind {found}");
        }
        // Where another thread found one says nothing.
        list.found = BTreeMap::from([(1, 2)]);
        assert_eq!(spes(&list, 99), [0, 1, 2, 4]);
    }
}
