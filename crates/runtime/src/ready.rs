//! The list `ready_to_run` of Computing Frontiers 2009: which processes can go on.
//!
//! It lies in main memory and has an entry for each SPE, a word into which an SPE that has done its
//! share puts the number of the process for which it worked. All entries are in one line. The put takes
//! the line out of the host's caches, so that the next load of it on each Cell waits for memory; further
//! loads find it in the first-level cache, which the hardware threads of a Cell share.
//!
//! Left out: that SPEs whose entries are put at once wait for each other's, beyond what the bus and the
//! memory's banks say; and that the line which a process writes to is another Cell's no more.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::policy::{Completion, Steps};
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cell::ppe::Work;
use mmgp_cell::{EffectiveAddress, HostProcess, Spe};
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch};

/// Bytes of an entry, and entries of the line.
const ENTRY_BYTES: u64 = 4;
const ENTRIES: u64 = 32;

/// A look at an entry: its load, whether it is set, and on to the next.
const LOOK: Work =
    Work { integers: 2, loads: 1, stores: 0, floats: 0, divides: 0, branches: 1, code: 0 };
/// The entry of an SPE that has been seen is empty again.
const CLEAR: Work =
    Work { integers: 1, loads: 0, stores: 1, floats: 0, divides: 0, branches: 0, code: 0 };

/// The list.
#[derive(Default)]
pub(crate) struct ReadyToRun {
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

    /// The SPE of the next entry, behind the one found last, with a process of that thread and not
    /// this one.
    fn next(&self, thread: usize, but: u32) -> Option<u32> {
        let found = self.found.get(&thread).copied();
        let of_thread = self
            .entries
            .iter()
            .filter(|&(_, process)| *process != but && self.threads.get(process) == Some(&thread));
        let behind = |&(spe, _): &(&u32, &u32)| found.is_some_and(|found| *spe <= found);
        of_thread.min_by_key(|entry| (behind(entry), *entry.0)).map(|(&spe, _)| spe)
    }
}

/// What it takes to look at so many entries of the list.
pub(crate) fn time_of_looks(machine: &Machine, entries: u64) -> Seconds {
    (LOOK * entries).alone(machine)
}

impl ReadyToRun {
    fn list(&self, sim: &Sim) -> &Watch<List> {
        self.list.get_or_init(|| Watch::new(sim, "an entry of ready_to_run", List::default()))
    }

    /// The SPE puts its entry.
    pub fn put<'a>(&'a self, done: Completion, spe: &'a Spe) -> Steps<'a> {
        Box::pin(async move {
            let line = || spe.memory().allocate(0, Bytes(ENTRY_BYTES * ENTRIES));
            let EffectiveAddress(at) = *self.at.get_or_init(line);
            let at = EffectiveAddress(at + ENTRY_BYTES * (u64::from(done.spe) % ENTRIES));
            spe.put_word(at).await.expect("invariant: an entry is an aligned word of memory");
            self.list(&spe.sim).update(|list| {
                list.entries.insert(done.spe, done.process);
                list.puts += 1;
            });
        })
    }

    /// The process, which runs on its hardware thread, is to be found there.
    pub fn waits(&self, process: &HostProcess) {
        let (rank, thread) = (process.rank, process.thread());
        self.list(&process.sim).update(|list| list.threads.insert(rank, thread));
    }

    /// Waits for the line where an SPE has written to it since it was last loaded on this Cell.
    pub async fn load(&self, process: &HostProcess) {
        let (list, cell) = (self.list(&process.sim), process.cell());
        if list.read(|list| list.is_cold(cell)) {
            list.update(|list| list.loaded.insert(cell, list.puts));
            process.load_put_lines(1).await;
        }
    }

    /// Ends when a scan for others by this process finds an entry, or waits for the line.
    pub async fn stirs(&self, process: &HostProcess) {
        let (cell, thread, rank) = (process.cell(), process.thread(), process.rank);
        let list = self.list(&process.sim);
        list.wait_until(|list| list.is_cold(cell) || list.next(thread, rank).is_some()).await;
    }

    /// Another process of this one's hardware thread that can go on, the next one round the list from
    /// where an entry was last found, so that nobody is passed over for ever.
    pub fn find(&self, process: &HostProcess) -> Option<u32> {
        let (list, thread) = (self.list(&process.sim), process.thread());
        let spe = list.read(|list| list.next(thread, process.rank))?;
        list.update(|list| {
            list.found.insert(thread, spe);
            list.entries.get(&spe).copied()
        })
    }

    /// The process looks at its own entry, and clears it.
    pub async fn look_at_own(&self, process: &HostProcess) {
        self.load(process).await;
        let (list, rank) = (self.list(&process.sim), process.rank);
        let set = list.read(|list| list.entries.values().filter(|named| **named == rank).count());
        process.poll_for((LOOK + CLEAR * set as u64).alone(process.machine())).await;
        list.update(|list| list.entries.retain(|_, named| *named != rank));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_goes_on_behind_the_entry_that_it_found_and_passes_over_other_threads() {
        // Processes 0, 2 and 4 wait on hardware thread 0, process 1 on thread 1, process 3 nowhere.
        let threads = BTreeMap::from([(0, 0), (2, 0), (4, 0), (1, 1)]);
        let entries = BTreeMap::from([(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
        let mut list = List { entries, threads, ..List::default() };
        assert_eq!((list.next(0, 0), list.next(1, 0), list.next(1, 1)), (Some(2), Some(1), None));
        for (found, next) in [(0, 2), (2, 4), (3, 4), (4, 0)] {
            list.found.insert(0, found);
            assert_eq!(list.next(0, 99), Some(next), "behind {found}");
        }
        // Its own is not what a process looks for.
        assert_eq!(list.next(0, 0), Some(2));
    }
}
