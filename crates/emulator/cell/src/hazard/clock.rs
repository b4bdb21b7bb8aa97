//! What is known to be complete: vector clocks.

use std::rc::Rc;

/// Who does things one after the other, or a tag group, of whose commands a number is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Actor(u32);

impl Actor {
    /// All processes of the host.
    pub const HOST: Self = Self(0);
    /// The program of an SPE, and the tag groups of its two queues.
    const EACH: u32 = 65;

    pub const fn spu(spe: u32) -> Self {
        Self(1 + Self::EACH * spe)
    }

    /// A tag group of the queue of the SPU (0) or of the PPE (1).
    pub const fn group(spe: u32, queue: u32, tag: u8) -> Self {
        Self(2 + Self::EACH * spe + 32 * queue + tag as u32)
    }
}

/// An event of a program, or a command of a tag group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Epoch {
    pub actor: Actor,
    pub value: u64,
}

/// Up to which event of each actor everything is known to be complete.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    /// By actor.
    entries: Vec<(Actor, u64)>,
    /// Commands that are known to be complete while earlier ones of their groups may not be.
    single: Vec<Epoch>,
}

impl Clock {
    fn get(&self, actor: Actor) -> u64 {
        let found = self.entries.binary_search_by_key(&actor, |entry| entry.0);
        found.map_or(0, |index| self.entries[index].1)
    }

    pub fn knows(&self, epoch: Epoch) -> bool {
        self.get(epoch.actor) >= epoch.value || self.single.contains(&epoch)
    }

    /// Whether all events of an actor up to this one are known.
    pub fn knows_all(&self, epoch: Epoch) -> bool {
        self.get(epoch.actor) >= epoch.value
    }

    /// All events of an actor up to this one.
    pub fn advance(&mut self, Epoch { actor, value }: Epoch) {
        match self.entries.binary_search_by_key(&actor, |entry| entry.0) {
            Ok(index) => self.entries[index].1 = self.entries[index].1.max(value),
            Err(index) => self.entries.insert(index, (actor, value)),
        }
    }

    /// This command, and none of its group before it.
    fn add(&mut self, epoch: Epoch) {
        if self.knows(epoch) {
            return;
        }
        if self.get(epoch.actor) + 1 == epoch.value {
            return self.advance(epoch);
        }
        self.single.push(epoch);
    }

    pub fn join(&mut self, other: &Self) {
        // Both are in the order of their actors.
        let mut index = 0;
        for &(actor, value) in &other.entries {
            while self.entries.get(index).is_some_and(|entry| entry.0 < actor) {
                index += 1;
            }
            match self.entries.get_mut(index) {
                Some(entry) if entry.0 == actor => entry.1 = entry.1.max(value),
                _ => self.entries.insert(index, (actor, value)),
            }
        }
        other.single.iter().for_each(|&epoch| self.add(epoch));
        let Self { entries, single } = self;
        single.retain(|epoch| {
            let found = entries.binary_search_by_key(&epoch.actor, |entry| entry.0);
            found.map_or(0, |index| entries[index].1) < epoch.value
        });
    }

    pub fn join_view(&mut self, view: &View) {
        self.join(&view.base);
        self.advance(view.own);
        view.more.iter().for_each(|&epoch| self.advance(epoch));
        view.single.iter().for_each(|&epoch| self.add(epoch));
    }
}

/// What somebody knew at an instant.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub base: Rc<Clock>,
    /// Up to which event it knows itself.
    pub own: Epoch,
    /// Beyond that.
    pub more: Vec<Epoch>,
    /// A command that is complete by itself.
    pub single: Option<Epoch>,
}

impl View {
    pub fn knows(&self, epoch: Epoch) -> bool {
        let covers = |it: &Epoch| it.actor == epoch.actor && it.value >= epoch.value;
        covers(&self.own)
            || self.more.iter().any(covers)
            || self.single == Some(epoch)
            || self.base.knows(epoch)
    }

    /// The same when the command with that epoch is complete, too.
    pub fn with(&self, epoch: Epoch) -> Self {
        Self { single: Some(epoch), ..self.clone() }
    }
}
