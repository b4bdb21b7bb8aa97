//! The lanes: what takes commands up, moves their data and ends them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::super::eib::{Transfer, lines_touched};
use super::super::memory::{EffectiveAddress, Place};
use super::queue::CommandProgress;
use super::shared::Controller;
use crate::channel::Signal;
use crate::command::{AfterElement, Command, Direction, ListCommand, MfcOperation, SendSignal};
use crate::event::Events;
use crate::hazard::Origin;
use crate::memory::BusUnit;
use crate::mfc::queue::Begun;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, SimSpan, SimTime};
use mmgp_spu::local_store::LocalAddress;

/// Executes the commands of a lane one after the other; never ends.
pub(super) async fn serve(own: Rc<Controller>, direction: Direction) {
    let lane = own.lane(direction);
    loop {
        lane.ready.wait_until(|ready| !ready.is_empty()).await;
        let Some(Reverse(begun)) = lane.ready.update(BinaryHeap::pop) else { continue };
        let (operation, progress) = own.queue(begun.origin).operation(begun.ready.slot);
        match own.perform(begun, &operation, progress).await {
            Ok(CommandState::Complete) => own.end(begun, &operation, progress.entered),
            Ok(CommandState::Stalled) => {}
            Err(error) => return own.fault.raise(error),
        }
    }
}

/// What has become of a command that a lane took up.
enum CommandState {
    Complete,
    /// A list waits for the program.
    Stalled,
}

impl Controller {
    fn end(&self, begun: Begun, operation: &MfcOperation, entered: SimTime) {
        let Begun { origin, ready } = begun;
        let queue = self.queue(origin);
        let ended = queue.end(ready.slot, self.sim.now(), |ready, operation| {
            self.begin(Begun { origin, ready }, operation);
        });
        self.trace.transfer(self.spe, operation.name(), entered, operation.arguments());
        if origin == Origin::Spu {
            let events = &self.channels[self.spe as usize].events;
            if ended.group_is_complete {
                events.raise(Events::TAG_STATUS);
            }
            if ended.was_full {
                events.raise(Events::QUEUE_AVAILABLE);
            }
        }
    }

    async fn perform(
        &self,
        begun: Begun,
        operation: &MfcOperation,
        progress: CommandProgress,
    ) -> Result<CommandState> {
        match operation {
            MfcOperation::Transfer(command) => {
                self.move_data(command, progress.since).await;
                self.count(command, progress);
            }
            MfcOperation::Moved(command) => {
                let (_, to) = self.carry(command, progress.since).await;
                self.tell_of_arrival(to);
                self.count(command, progress);
            }
            MfcOperation::List(list) => return self.go_on(list, progress, begun).await,
            MfcOperation::SendSignal(command) => self.signal(command, progress, begun).await,
            MfcOperation::LockLine(line) => {
                self.claim(*line).await;
                let number = (begun.origin, begun.ready.sequence);
                self.detector.line_put(number, line.effective);
                self.store_line(*line);
            }
            // Having waited for its turn, it has done its work.
            MfcOperation::Barrier | MfcOperation::Synchronise => {}
        }
        Ok(CommandState::Complete)
    }

    /// Moves the data of a transfer that could begin at `since`.
    async fn move_data(&self, command: &Command, since: SimTime) {
        let (from, to) = self.carry(command, since).await;
        self.eib.memory().copy(from, to, command.bytes);
        self.tell_of_arrival(to);
    }

    /// The same of an element of a list, which has been asked for at `since`.
    async fn move_element(&self, element: &Command, since: SimTime) {
        let (from, to) = self.ends(element);
        let transfer = self.transfer(from, to, element.bytes);
        let due = since + self.latency(&transfer);
        self.sim.sleep_until(due).await;
        self.eib.carry_due(&transfer, due).await;
        self.eib.memory().copy(from, to, element.bytes);
        self.tell_of_arrival(to);
    }

    /// Lets the time of a transfer go by that could begin at `since`; its two ends.
    async fn carry(
        &self,
        command: &Command,
        since: SimTime,
    ) -> (EffectiveAddress, EffectiveAddress) {
        let (from, to) = self.ends(command);
        let transfer = self.transfer(from, to, command.bytes);
        self.sim.sleep_until(since + self.latency(&transfer)).await;
        self.eib.carry(&transfer).await;
        (from, to)
    }

    /// Addresses of the data of a transfer: where they are, and where they go.
    fn ends(&self, command: &Command) -> (EffectiveAddress, EffectiveAddress) {
        let local = EffectiveAddress::local_store(self.spe, command.local);
        match command.direction {
            Direction::Get => (command.effective, local),
            Direction::Put => (local, command.effective),
        }
    }

    /// Data have arrived at `to`: whoever spins on it looks again.
    fn tell_of_arrival(&self, to: EffectiveAddress) {
        if let Some(Place::LocalStore { spe, address }) = to.place()
            && spe != self.spe
        {
            self.channels[spe as usize].arrivals.update(|arrivals| arrivals.add(address));
        }
    }

    /// Moves the elements of a list up to its end or the next one that stalls it.
    async fn go_on(
        &self,
        list: &ListCommand,
        from: CommandProgress,
        begun: Begun,
    ) -> Result<CommandState> {
        let CommandProgress { mut since, elements: first, mut next, .. } = from;
        if first == 0 {
            next = list.local.0;
        }
        for number in first..list.elements {
            let element = list.element(&self.store.borrow(), number);
            let transfer = list.transfer(element, LocalAddress(next));
            self.rules().element(&transfer)?;
            since = since + self.list_fetch;
            self.move_element(&transfer, since).await;
            self.count(&transfer, from);
            next = transfer.local.offset(transfer.bytes).0;
            if element.after() == AfterElement::StallAndNotify {
                let progress = CommandProgress { elements: number + 1, next, ..from };
                self.queue(begun.origin).note(begun.ready.slot, progress);
                self.stalled_lists.borrow_mut().push((list.tag, begun));
                self.stalled.update(|stalled| *stalled |= 1 << list.tag);
                self.channels[self.spe as usize].events.raise(Events::LIST_STALL);
                return Ok(CommandState::Stalled);
            }
        }
        Ok(CommandState::Complete)
    }

    /// The program has acknowledged the stalled lists of a tag group.
    pub(super) fn resume_lists(&self, tag: u8) {
        let lists = self.stalled_lists.take();
        let (resumed, others) = lists.into_iter().partition(|&(stalled, _)| stalled == tag);
        *self.stalled_lists.borrow_mut() = others;
        let resumed: Vec<_> = resumed;
        for (_, begun) in resumed {
            let queue = self.queue(begun.origin);
            let (operation, progress) = queue.operation(begun.ready.slot);
            queue.note(begun.ready.slot, CommandProgress { since: self.sim.now(), ..progress });
            self.begin(begun, &operation);
        }
    }

    /// Carries a word to a signal-notification register.
    async fn signal(&self, command: &SendSignal, progress: CommandProgress, begun: Begun) {
        let local = EffectiveAddress::local_store(self.spe, command.local);
        let transfer = self.transfer(local, command.register, SendSignal::BYTES);
        self.sim.sleep_until(progress.since + self.latency(&transfer)).await;
        self.eib.carry(&transfer).await;
        let request = (Direction::Put, SendSignal::BYTES);
        self.meter.arrived(self.sim.now(), request, progress.computed);
        let words = self.store.borrow().load(command.local).words();
        if let Some((spe, signal)) = Signal::at(command.register) {
            let word = words[(command.local.0 % 16 / 4) as usize];
            self.detector.signalled((begun.origin, begun.ready.sequence), spe, signal);
            self.channels[spe as usize].signal(signal).write(word);
        }
    }

    /// Counts a request that has arrived.
    fn count(&self, command: &Command, progress: CommandProgress) {
        let request = (command.direction, command.bytes);
        self.meter.arrived(self.sim.now(), request, progress.computed);
        self.count_lines(command.effective, command.bytes);
    }

    /// Counts the lines that a transfer touches at its end outside the local store.
    pub(super) fn count_lines(&self, at: EffectiveAddress, bytes: Bytes) {
        if !self.meter.is_on() {
            return;
        }
        let (memory, mut done) = (self.eib.memory(), 0);
        while done < bytes.0 {
            let from = at.offset(done);
            let part = memory.at_home(from, Bytes(bytes.0 - done));
            let cell = match memory.unit(from) {
                BusUnit::Memory { cell } => Some(cell),
                BusUnit::Spe { .. } => None,
            };
            self.meter.lines(cell, lines_touched(from, part));
            done += part.0;
        }
    }

    pub(super) const fn transfer(
        &self,
        from: EffectiveAddress,
        to: EffectiveAddress,
        bytes: Bytes,
    ) -> Transfer {
        Transfer { spe: self.spe, from, to, bytes }
    }

    pub(super) fn latency(&self, transfer: &Transfer) -> SimSpan {
        self.eib.latency(transfer.from, transfer.to)
    }
}
