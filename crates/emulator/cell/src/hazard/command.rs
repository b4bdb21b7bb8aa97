//! Commands: what they come after, and what they touch.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::clock::{Actor, Epoch, View};
use super::records::Number;
use super::report::{self, Who};
use super::shadow::Access;
use super::state::Program;
use super::{Detector, Origin, Space, Touch};
use crate::mfc::{Command, Direction, LockLine, Operation, Order, SendSignal, TAGS};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::{LocalAddress, LocalStore};

const TAG_COUNT: usize = TAGS as usize;

/// By tag group, the number of a command; 0 for none.
type Numbers = [u64; TAG_COUNT];

/// Bytes of a memory, and what is done to them.
type Area = ((Space, Range<u64>), Touch);

/// A command that its issuer does not know to be complete.
pub(super) struct Left {
    pub epoch: Epoch,
    /// How many entered the queue of the MFC before it; nothing where its time passes apart from it.
    sequence: Option<u64>,
    pub record: Number,
    /// What it comes after.
    view: Rc<View>,
    /// What it writes, where it moves data.
    writes: Option<(Space, Range<u64>)>,
}

impl Left {
    /// What it writes.
    pub fn place(&self) -> String {
        let place = |(space, bytes): &(Space, Range<u64>)| report::place(*space, bytes.clone());
        self.writes.as_ref().map(place).unwrap_or_default()
    }
}

/// One of the two queues of an MFC.
pub(super) struct Queue {
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
    left: Vec<Left>,
}

impl Queue {
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
    fn enter(&mut self, operation: &Operation, tag: u8, view: &mut View) -> Epoch {
        self.entered += 1;
        let tag = usize::from(tag);
        if *operation == Operation::Barrier {
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
    fn waited(&mut self, groups: u32, issuer: &mut Program) {
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

    /// To the records of the commands that their issuer does not know to be complete.
    pub fn references(&mut self) -> impl Iterator<Item = &mut Number> {
        self.left.iter_mut().map(|left| &mut left.record)
    }

    /// What somebody knows who has seen what the command has done before which so many have entered.
    pub fn seen(&self, sequence: u64) -> Option<View> {
        let left = self.left.iter().find(|left| left.sequence == Some(sequence))?;
        Some(left.view.with(left.epoch))
    }
}

impl Detector {
    /// A command is given to a queue, which so many (`sequence`) have entered before it; `store` is where
    /// the elements of a list are found.
    pub fn command(
        &self,
        origin: Origin,
        (operation, tag): (&Operation, u8),
        sequence: Option<u64>,
        store: &RefCell<LocalStore>,
    ) -> Result<()> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let state = &mut *state;
        let mut view = state.issuer(self.spe, origin).view();
        let queue = &mut state.spes[self.spe as usize].queues[origin as usize];
        let epoch = queue.enter(operation, tag, &mut view);
        if *operation == Operation::Barrier {
            return Ok(());
        }
        let who = Who::Command { spe: self.spe, origin, operation: *operation };
        let record = state.record(who, self.core.sim.now());
        let view = Rc::new(view);
        let areas = self.areas(operation, &store.borrow());
        let is_transfer = matches!(operation, Operation::Transfer(_) | Operation::List(_));
        let writes = areas.iter().find(|area| is_transfer && area.1 == Touch::Writes);
        let writes = writes.map(|(place, _)| place.clone());
        let left = Left { epoch, sequence, record, view: Rc::clone(&view), writes };
        state.spes[self.spe as usize].queues[origin as usize].left.push(left);
        let own = (origin == Origin::Spu).then_some(self.spe);
        for ((space, bytes), touch) in areas {
            let is_main = matches!(space, Space::Main(_));
            let atomic = is_main && matches!(operation, Operation::LockLine(_));
            let before = (!is_main).then(|| Rc::clone(&view));
            let access = Access { epoch, touch, atomic, record, view: before };
            state.access((space, &bytes), &access, &view, own)?;
        }
        Ok(())
    }

    /// The program, or the host, waited for these tag groups or found them complete.
    pub fn waited(&self, origin: Origin, groups: u32) {
        let Some(mut state) = self.state() else { return };
        let state = &mut *state;
        let spe = &mut state.spes[self.spe as usize];
        let issuer = match origin {
            Origin::Spu => &mut spe.program,
            Origin::Proxy => &mut state.host,
        };
        spe.queues[origin as usize].waited(groups, issuer);
    }

    /// What a command touches: in local store, and outside it.
    fn areas(&self, operation: &Operation, store: &LocalStore) -> Vec<Area> {
        match operation {
            Operation::Transfer(command) => self.moved(command.direction, &[*command]),
            Operation::List(command) => self.moved(command.direction, &command.transfers(store)),
            // The register takes what comes, in any order.
            Operation::SendSignal(command) => {
                vec![(self.local(command.local, SendSignal::BYTES), Touch::Reads)]
            }
            Operation::LockLine(line) => {
                let inside = (self.local(line.local, LockLine::BYTES), Touch::Reads);
                let outside = self.place(line.effective, LockLine::BYTES);
                let outside = outside.map(|place| (place, Touch::Writes));
                [Some(inside), outside].into_iter().flatten().collect()
            }
            // It moves nothing.
            Operation::Moved(_) | Operation::Barrier | Operation::Synchronise => Vec::new(),
        }
    }

    fn local(&self, at: LocalAddress, bytes: Bytes) -> (Space, Range<u64>) {
        let start = u64::from(at.0);
        (Space::Store(self.spe), start..start + bytes.0)
    }

    /// What transfers of one command touch, which mostly follow each other in local store.
    fn moved(&self, direction: Direction, transfers: &[Command]) -> Vec<Area> {
        let (inner, outer) = match direction {
            Direction::Get => (Touch::Writes, Touch::Reads),
            Direction::Put => (Touch::Reads, Touch::Writes),
        };
        let mut areas: Vec<Area> = Vec::with_capacity(1 + transfers.len());
        for transfer in transfers {
            let (space, bytes) = self.local(transfer.local, transfer.bytes);
            match areas.last_mut() {
                Some(((_, before), _)) if before.end == bytes.start => before.end = bytes.end,
                _ => areas.push(((space, bytes), inner)),
            }
        }
        let outside = transfers.iter().filter_map(|it| self.place(it.effective, it.bytes));
        areas.extend(outside.map(|place| (place, outer)));
        areas
    }
}
