//! A queue of commands: places, tag groups, and what must come before what.
//!
//! A command that has entered knows which of those before it it has to wait for; the rest may be
//! overtaken. Two queues feed an MFC, that of the SPU and that of the PPE (the *proxy* queue), and
//! the tag groups of one have nothing to do with those of the other.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::command::{MfcOperation, Order, TAGS};
use crate::hazard::Origin;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_sim::{Permit, Pool, Sim, Watch};

/// A command that can begin: the number of those that entered the queue before it, and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReadyCommand {
    pub sequence: u64,
    pub slot: usize,
}

/// One of the two queues of an MFC.
pub(super) struct Queue {
    places: Pool,
    capacity: u32,
    entries: RefCell<Entries>,
    /// Commands of each tag group that are not complete.
    pending: [Cell<u32>; TAGS as usize],
    /// The tag status: bit t is set while no command of tag group t is pending.
    complete: Watch<u32>,
}

struct Entries {
    /// What each slot holds, or held last.
    slots: Vec<Option<QueueEntry>>,
    /// Slots whose commands are not complete.
    taken: u32,
    /// Slots whose commands wait for others.
    blocked: u32,
    /// Commands that have ever entered.
    entered: u64,
}

/// A command in its queue.
struct QueueEntry {
    operation: MfcOperation,
    tag: u8,
    /// How many entered before it.
    sequence: u64,
    /// The slots that it waits for.
    after: u32,
    progress: CommandProgress,
    /// Place; given back when it ends. The rest then stays until another takes the slot, for
    /// moving it takes longer than all else at the end of a command.
    place: Option<Permit>,
}

/// How far a command has come.
#[derive(Clone, Copy)]
pub(super) struct CommandProgress {
    /// When the command entered the queue.
    pub entered: SimTime,
    /// Time for which the SPU had computed then.
    pub computed: SimSpan,
    /// When it could begin, or a list could go on.
    pub since: SimTime,
    /// List elements that are done.
    pub elements: u32,
    /// Local store that they fill, up to here.
    pub next: u32,
}

/// What the end of a command means for the program.
pub(super) struct Ended {
    /// Whether there was no free place before.
    pub was_full: bool,
    /// Whether it was the last pending command of its tag group.
    pub group_is_complete: bool,
}

impl Queue {
    /// An empty queue of at most 32 places.
    pub fn new(sim: &Sim, capacity: u32, place: &str, groups: &str) -> Self {
        let slots = (0..capacity).map(|_| None).collect();
        Self {
            places: Pool::new(sim, place, capacity),
            capacity,
            entries: RefCell::new(Entries { slots, taken: 0, blocked: 0, entered: 0 }),
            pending: Default::default(),
            complete: Watch::new(sim, groups, u32::MAX),
        }
    }

    /// Waits for a place.
    pub async fn place(&self) -> Permit {
        self.places.acquire().await
    }

    /// How many commands have ever entered.
    pub fn entered(&self) -> u64 {
        self.entries.borrow().entered
    }

    /// Puts a command into the place that was found for it; says so if it can begin at once.
    pub fn enter(
        &self,
        place: Permit,
        operation: MfcOperation,
        tag: u8,
        (now, computed): (SimTime, SimSpan),
    ) -> Option<ReadyCommand> {
        let pending = &self.pending[usize::from(tag)];
        pending.set(pending.get() + 1);
        if pending.get() == 1 {
            self.complete.update(|complete| *complete &= !(1 << tag));
        }
        let mut entries = self.entries.borrow_mut();
        let slot = entries.taken.trailing_ones() as usize;
        let after = entries.before(&operation, tag);
        let progress = CommandProgress { entered: now, computed, since: now, elements: 0, next: 0 };
        let sequence = entries.entered;
        entries.entered += 1;
        let entry = QueueEntry { operation, tag, sequence, after, progress, place: Some(place) };
        entries.slots[slot] = Some(entry);
        entries.taken |= 1 << slot;
        if after == 0 {
            return Some(ReadyCommand { sequence, slot });
        }
        entries.blocked |= 1 << slot;
        None
    }

    /// What a slot holds.
    pub fn operation(&self, slot: usize) -> (MfcOperation, CommandProgress) {
        let entries = self.entries.borrow();
        let entry = entries.slots[slot].as_ref();
        let entry = entry.expect("invariant: a slot is looked at while its command is pending");
        (entry.operation, entry.progress)
    }

    /// Notes how far a list has come.
    pub fn note(&self, slot: usize, progress: CommandProgress) {
        if let Some(entry) = &mut self.entries.borrow_mut().slots[slot] {
            entry.progress = progress;
        }
    }

    /// Ends a command and calls `begin` with each that waited for it alone; what it leaves.
    pub fn end(
        &self,
        slot: usize,
        now: SimTime,
        mut begin: impl FnMut(ReadyCommand, &MfcOperation),
    ) -> Ended {
        let mut entries = self.entries.borrow_mut();
        let ended =
            entries.slots[slot].as_mut().expect("invariant: a command has entered its slot");
        let (tag, place) = (ended.tag, ended.place.take());
        let was_full = entries.taken.count_ones() == self.capacity;
        entries.taken &= !(1 << slot);
        let mut rest = entries.blocked;
        while rest != 0 {
            let other = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let Entries { slots, blocked, .. } = &mut *entries;
            if let Some(entry) = &mut slots[other] {
                entry.after &= !(1 << slot);
                if entry.after == 0 {
                    entry.progress.since = now;
                    *blocked &= !(1 << other);
                    begin(ReadyCommand { sequence: entry.sequence, slot: other }, &entry.operation);
                }
            }
        }
        drop(entries);
        drop(place);
        let pending = &self.pending[usize::from(tag)];
        pending.set(pending.get() - 1);
        let group_is_complete = pending.get() == 0;
        if group_is_complete {
            self.complete.update(|complete| *complete |= 1 << tag);
        }
        Ended { was_full, group_is_complete }
    }

    /// The tag status of the groups in `mask`.
    pub fn status(&self, mask: u32) -> u32 {
        self.complete.read(|complete| complete & mask)
    }

    /// Waits until all groups in `mask` are complete.
    pub async fn all(&self, mask: u32) {
        self.complete.wait_until(|complete| complete & mask == mask).await;
    }

    /// Waits until one group in `mask` is complete; at once if there is none in it.
    pub async fn any(&self, mask: u32) {
        self.complete.wait_until(|complete| mask == 0 || complete & mask != 0).await;
    }
}

impl Entries {
    /// The slots that a command which enters now has to wait for.
    fn before(&self, operation: &MfcOperation, tag: u8) -> u32 {
        let mut after = 0;
        let mut rest = self.taken;
        while rest != 0 {
            let slot = rest.trailing_zeros();
            rest &= rest - 1;
            let Some(earlier) = &self.slots[slot as usize] else { continue };
            let whole_queue = [operation, &earlier.operation].contains(&&MfcOperation::Barrier);
            let same_group = earlier.tag == tag
                && (operation.order() != Order::Free
                    || earlier.operation.order() == Order::Barrier);
            if whole_queue || same_group {
                after |= 1 << slot;
            }
        }
        after
    }
}

/// A lane of an MFC: the commands that it can begin.
pub(super) struct Lane {
    pub ready: Watch<BinaryHeap<Reverse<Begun>>>,
}

impl Lane {
    pub fn new(sim: &Sim, name: &str) -> Self {
        Self { ready: Watch::new(sim, name, BinaryHeap::new()) }
    }
}

/// A command that can begin, in the order in which a lane takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Begun {
    pub origin: Origin,
    pub ready: ReadyCommand,
}
