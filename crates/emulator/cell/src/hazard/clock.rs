//! What is known to be complete: vector clocks, and the order that the queues of an MFC give.

use std::ops::Range;
use std::rc::Rc;

use super::report::{self, RecordNumber, Space};
use crate::command::{MfcOperation, Order, TAGS};

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
    /// Entries by actor.
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

    /// Adds a command, and none of its group before it.
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

/// An actor that lasts.
pub(super) struct Program {
    actor: Actor,
    /// What it knows of others.
    clock: Rc<Clock>,
    /// Events so far.
    pub events: u64,
}

impl Program {
    pub fn new(actor: Actor) -> Self {
        Self { actor, clock: Rc::default(), events: 0 }
    }

    pub fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    /// What it knows, itself included.
    pub fn view(&self) -> View {
        let own = Epoch { actor: self.actor, value: self.events };
        View { base: Rc::clone(&self.clock), own, more: Vec::new(), single: None }
    }

    pub fn knows(&self, epoch: Epoch) -> bool {
        epoch.actor == self.actor || self.clock.knows(epoch)
    }

    /// Whether it knows this and all before it of the same actor.
    pub fn knows_all(&self, epoch: Epoch) -> bool {
        self.clock.knows_all(epoch)
    }

    pub fn hear(&mut self, view: &View) {
        Rc::make_mut(&mut self.clock).join_view(view);
    }

    pub fn clock(&mut self) -> &mut Clock {
        Rc::make_mut(&mut self.clock)
    }
}

const TAG_COUNT: usize = TAGS as usize;

/// Numbers of commands by tag group; 0 for none.
type Numbers = [u64; TAG_COUNT];

/// A command that its issuer does not know to be complete.
pub(super) struct Left {
    pub epoch: Epoch,
    /// How many entered the queue of the MFC before it; nothing where its time passes apart from it.
    pub sequence: Option<u64>,
    pub record: RecordNumber,
    /// What it comes after.
    pub view: Rc<View>,
    /// What it writes, where it moves data.
    pub writes: Option<(Space, Range<u64>)>,
}

impl Left {
    /// What it writes.
    pub fn place(&self) -> String {
        let place = |(space, bytes): &(Space, Range<u64>)| report::place(*space, bytes.clone());
        self.writes.as_ref().map(place).unwrap_or_default()
    }
}

/// One of the two queues of an MFC.
pub(super) struct CommandOrder {
    spe: u32,
    number: u32,
    entered: u64,
    /// The last command of each tag group.
    last: Box<Numbers>,
    /// The last with a barrier.
    barrier: Box<Numbers>,
    /// The last ones before the `barrier` command.
    whole: Option<Rc<Numbers>>,
    /// What is known with the last command of a tag group, beyond its group.
    implied: Vec<Option<Rc<Numbers>>>,
    pub left: Vec<Left>,
}

impl CommandOrder {
    pub fn new(spe: u32, number: u32) -> Self {
        let (last, barrier) = (Box::new([0; TAG_COUNT]), Box::new([0; TAG_COUNT]));
        let implied = vec![None; TAG_COUNT];
        Self { spe, number, entered: 0, last, barrier, whole: None, implied, left: Vec::new() }
    }

    fn epoch(&self, tag: usize, value: u64) -> Epoch {
        Epoch { actor: Actor::group(self.spe, self.number, tag as u8), value }
    }

    fn epochs(&self, numbers: &Numbers) -> Vec<Epoch> {
        let some = numbers.iter().enumerate().filter(|&(_, &value)| value > 0);
        some.map(|(tag, &value)| self.epoch(tag, value)).collect()
    }

    /// A command enters; adds to `view` what it comes after.
    pub fn enter(&mut self, operation: &MfcOperation, tag: u8, view: &mut View) -> Epoch {
        self.entered += 1;
        let tag = usize::from(tag);
        if *operation == MfcOperation::Barrier {
            self.whole = Some(Rc::new(*self.last));
            return self.epoch(tag, self.entered);
        }
        if let Some(whole) = &self.whole {
            view.more.extend(self.epochs(whole));
            self.implied[tag] = Some(Rc::clone(whole));
        }
        let after = match operation.order() {
            Order::Free => self.barrier[tag],
            Order::Fence | Order::Barrier => self.last[tag],
        };
        if after > 0 {
            view.more.push(self.epoch(tag, after));
        }
        if operation.order() == Order::Barrier {
            self.barrier[tag] = self.entered;
        }
        self.last[tag] = self.entered;
        self.epoch(tag, self.entered)
    }

    /// The issuer knows these tag groups to be complete.
    pub fn waited(&mut self, groups: u32, issuer: &mut Program) {
        let mut rest = groups;
        while rest != 0 {
            let tag = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if self.last[tag] == 0 {
                continue;
            }
            let last = self.epoch(tag, self.last[tag]);
            // That it was told of the last one by somebody else says nothing of those before it.
            if !issuer.knows_all(last) || self.implied[tag].is_some() {
                let implied = self.implied[tag].take();
                let implied = implied.map(|implied| self.epochs(&implied)).unwrap_or_default();
                let clock = issuer.clock();
                clock.advance(last);
                implied.into_iter().for_each(|epoch| clock.advance(epoch));
            }
        }
        self.left.retain(|left| !issuer.knows(left.epoch));
    }

    /// A transfer that the issuer does not know to be complete.
    pub fn left(&self, issuer: &Program) -> Option<&Left> {
        self.left.iter().find(|left| left.writes.is_some() && !issuer.knows(left.epoch))
    }

    /// References to the records of the commands that their issuer does not know to be complete.
    pub fn references(&mut self) -> impl Iterator<Item = &mut RecordNumber> {
        self.left.iter_mut().map(|left| &mut left.record)
    }

    /// What somebody knows who has seen what the command has done before which so many have entered.
    pub fn seen(&self, sequence: u64) -> Option<View> {
        let left = self.left.iter().find(|left| left.sequence == Some(sequence))?;
        Some(left.view.with(left.epoch))
    }
}
