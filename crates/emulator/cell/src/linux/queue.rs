//! Who runs next on a hardware thread: the run queues of three schedulers.
//!
//! A queue knows nothing of time passing: it is told how long a process ran.

use std::collections::{BTreeMap, VecDeque};

use mmgp_base::units::{Seconds, SimSpan};
use mmgp_machine::{LinuxScheduler, Machine};

/// A process as a scheduler sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entity {
    /// Rank.
    pub process: u32,
    /// Hardware threads on which it may run.
    pub affinity: Affinity,
    /// What is left of its time slice (O(1) scheduler).
    pub left: SimSpan,
    /// How long it has run, as far as the scheduler remembers (CFS).
    pub virtual_run_time: SimSpan,
}

/// Hardware threads on which a process may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Affinity {
    /// One hardware thread.
    Pinned,
    /// Any of the machine.
    Free,
    /// Any on which processes of the program began, whichever of them has it: all share one address
    /// space, so that any of them goes on with what another one has begun.
    Shared,
}

/// How a process comes into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Came as new, or because what it waited for has come.
    Woken,
    /// Asked to be put behind others.
    Yielded,
    /// Came because its time slice has ended.
    Expired,
    /// Somebody who is more urgent came.
    Preempted,
}

/// The runnable processes of a hardware thread but the one that runs.
pub trait Queue {
    /// Adds a process; `running` is the one that runs meanwhile, its account up to date.
    fn enter(&mut self, entity: Entity, how: Entry, running: Option<&Entity>);
    /// Takes out whoever runs next.
    fn next(&mut self) -> Option<Entity>;
    /// Takes out that process.
    fn take(&mut self, process: u32) -> Option<Entity>;
    /// Puts a process before all others.
    fn put_first(&mut self, entity: Entity);
    /// Takes out the process that would run last of those that may run elsewhere.
    fn steal(&mut self) -> Option<Entity>;
    /// How long a process may run from now on before others get their turn; `None`: as long as it
    /// likes.
    fn slice(&self, entity: &Entity) -> Option<SimSpan>;
    /// Whether a newcomer takes the thread from whoever runs.
    fn preempts(&self, newcomer: &Entity, running: &Entity) -> bool;
    /// How many are in it.
    fn waiting(&self) -> usize;
    /// Processes in the queue, in their order, where one that yields is put behind all others.
    fn rotation(&self) -> Option<Vec<u32>> {
        None
    }
}

/// The run queue of Linux on that machine.
pub fn of_kernel(machine: &Machine) -> Box<dyn Queue> {
    match machine.linux.scheduler {
        LinuxScheduler::ConstantTime => Box::new(ConstantTime::new(machine.linux.time_slice)),
        LinuxScheduler::Fair => Box::new(Fair::new(machine)),
    }
}

/// First come, first served, each as long as it likes: the user-level scheduler.
#[derive(Default)]
pub struct Cooperative {
    queue: VecDeque<Entity>,
}

impl Queue for Cooperative {
    fn enter(&mut self, entity: Entity, _: Entry, _: Option<&Entity>) {
        self.queue.push_back(entity);
    }

    fn next(&mut self) -> Option<Entity> {
        self.queue.pop_front()
    }

    fn take(&mut self, process: u32) -> Option<Entity> {
        let place = self.queue.iter().position(|entity| entity.process == process)?;
        self.queue.remove(place)
    }

    fn put_first(&mut self, entity: Entity) {
        self.queue.push_front(entity);
    }

    fn steal(&mut self) -> Option<Entity> {
        let last = self.queue.iter().rposition(|entity| entity.affinity != Affinity::Pinned)?;
        self.queue.remove(last)
    }

    fn slice(&self, _: &Entity) -> Option<SimSpan> {
        None
    }

    fn preempts(&self, _: &Entity, _: &Entity) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn rotation(&self) -> Option<Vec<u32>> {
        Some(self.queue.iter().map(|entity| entity.process).collect())
    }
}

/// The O(1) scheduler of Linux before 2.6.23, all processes at one priority: an active array in the
/// order of arrival and an expired one, which change places when the active one is empty.
///
/// `sched_yield` puts the caller into the expired array, so behind everybody who is runnable. Left
/// out: dynamic priorities, by which a process that slept much preempts one that slept little, and
/// the tick, to whose multiple a slice really lasts.
pub struct ConstantTime {
    active: Cooperative,
    expired: Cooperative,
    time_slice: SimSpan,
}

impl ConstantTime {
    fn new(time_slice: Seconds) -> Self {
        Self {
            active: Cooperative::default(),
            expired: Cooperative::default(),
            time_slice: SimSpan::from_seconds(time_slice),
        }
    }
}

impl Queue for ConstantTime {
    fn enter(&mut self, mut entity: Entity, how: Entry, running: Option<&Entity>) {
        if entity.left == SimSpan::ZERO {
            entity.left = self.time_slice;
        }
        let array = match how {
            Entry::Woken | Entry::Preempted => &mut self.active,
            Entry::Yielded | Entry::Expired => &mut self.expired,
        };
        array.enter(entity, how, running);
    }

    fn next(&mut self) -> Option<Entity> {
        if self.active.waiting() == 0 {
            std::mem::swap(&mut self.active, &mut self.expired);
        }
        self.active.next()
    }

    fn take(&mut self, process: u32) -> Option<Entity> {
        self.active.take(process).or_else(|| self.expired.take(process))
    }

    /// Puts an entity at the front of the active array.
    fn put_first(&mut self, entity: Entity) {
        self.active.put_first(entity);
    }

    fn steal(&mut self) -> Option<Entity> {
        self.expired.steal().or_else(|| self.active.steal())
    }

    fn slice(&self, entity: &Entity) -> Option<SimSpan> {
        Some(entity.left)
    }

    fn preempts(&self, _: &Entity, _: &Entity) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        self.active.waiting() + self.expired.waiting()
    }

    fn rotation(&self) -> Option<Vec<u32>> {
        let arrays = [&self.active, &self.expired].into_iter();
        Some(arrays.flat_map(|array| array.rotation().unwrap_or_default()).collect())
    }
}

/// CFS, the scheduler of Linux from 2.6.23 on, all processes with one weight: a queue in the order
/// of virtual run time, of which the leftmost process runs.
///
/// `sched_yield` (with `compat_yield` off) only puts the caller back at its place, so it goes on if
/// it is still the leftmost. A woken process is put at most one latency to the left of those that
/// run. As in 2.6.24; 2.6.23 kept the difference to a fair share instead, which gives the same
/// order. Left out: the debit of new processes, and the tick, at which alone the kernel looks
/// whether a slice has ended.
pub struct Fair {
    /// Entities by virtual run time, then by order of coming.
    queue: BTreeMap<(SimSpan, u64), Entity>,
    /// The least virtual run time of those that are runnable; never decreases.
    least: SimSpan,
    entries: u64,
    latency: SimSpan,
    minimum_granularity: SimSpan,
    wakeup_granularity: SimSpan,
}

impl Fair {
    fn new(machine: &Machine) -> Self {
        let processors = machine.layout.cells * machine.layout.threads_per_ppe;
        let factor = u64::from(1 + processors.max(1).ilog2());
        let span = |one: Seconds| SimSpan::from_seconds(one) * factor;
        Self {
            queue: BTreeMap::new(),
            least: SimSpan::ZERO,
            entries: 0,
            latency: span(machine.linux.latency),
            minimum_granularity: span(machine.linux.minimum_granularity),
            wakeup_granularity: span(machine.linux.wakeup_granularity),
        }
    }
}

impl Queue for Fair {
    fn enter(&mut self, mut entity: Entity, how: Entry, running: Option<&Entity>) {
        let leftmost = self.queue.keys().next().map(|&(time, _)| time);
        let runnable = running.map(|running| running.virtual_run_time).into_iter().chain(leftmost);
        self.least = runnable.min().unwrap_or(self.least).max(self.least);
        if how == Entry::Woken {
            entity.virtual_run_time = entity.virtual_run_time.max(self.least - self.latency);
        }
        self.entries += 1;
        self.queue.insert((entity.virtual_run_time, self.entries), entity);
    }

    fn next(&mut self) -> Option<Entity> {
        let (_, entity) = self.queue.pop_first()?;
        let others = self.queue.keys().next().map(|&(time, _)| time);
        // Who was promoted may have run for longer than others.
        let least = others.map_or(entity.virtual_run_time, |it| it.min(entity.virtual_run_time));
        self.least = self.least.max(least);
        Some(entity)
    }

    fn take(&mut self, process: u32) -> Option<Entity> {
        let (&place, _) = self.queue.iter().find(|(_, entity)| entity.process == process)?;
        self.queue.remove(&place)
    }

    /// Puts an entity to the left of all; what it has run is kept, so that it comes back to its own place.
    fn put_first(&mut self, entity: Entity) {
        self.queue.insert((SimSpan::ZERO, 0), entity);
    }

    fn steal(&mut self) -> Option<Entity> {
        let mut free = self.queue.iter().filter(|(_, entity)| entity.affinity != Affinity::Pinned);
        let (&place, _) = free.next_back()?;
        self.queue.remove(&place)
    }

    /// Share of the time in which everybody runs once.
    fn slice(&self, _: &Entity) -> Option<SimSpan> {
        let runnable = self.queue.len() as u64 + 1;
        let period = self.latency.max(self.minimum_granularity * runnable);
        (runnable > 1).then(|| SimSpan::from_ticks(period.ticks() / runnable))
    }

    fn preempts(&self, newcomer: &Entity, running: &Entity) -> bool {
        running.virtual_run_time - newcomer.virtual_run_time > self.wakeup_granularity
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}
