//! The memory flow controller: DMA between a local store and everything else.
//!
//! ```text
//!   SPU --- 16 commands ---+        +--- get lane ---+
//!                          +--------+                +--- bus: latency, then the data
//!   PPE --- 8 (proxy) -----+        +--- put lane ---+
//!                                            atomic unit (lock lines, no queue)
//! ```
//!
//! # Order
//! Two lanes serve the queues: one loads into local store, the other does everything else, so gets
//! and puts overtake each other. Within a lane commands begin in the order of their queue, those of
//! the SPU before those of the PPE, but for those that have to wait: a *fenced* command begins when
//! all earlier commands of its tag group are complete; after a command with a *barrier* no later
//! one of its tag group begins before it is complete; the `barrier` command does both to its whole
//! queue. Whatever waits is overtaken by what does not have to.
//!
//! # Time
//! Enqueueing takes the SPU a few cycles, and as long as the queue is full. The latency of a command
//! runs from the moment at which it could begin, so that the latencies of queued commands overlap;
//! then its lane is its own until its last byte has arrived. How long both take is the bus's to say
//! (`Eib` in `eib.rs`). It carries the transfers of one MFC one after the other, in
//! the order in which the lanes offer them: a get overtakes the puts that still wait in their lane,
//! not the one that is moving. A list is one command; its elements are fetched from local
//! store one after the other while earlier ones move, and each moves as a transfer of its own.
//!
//! A command's data are moved when its last byte has arrived, all at once.

mod atomic;
mod engine;
mod queue;
mod shared;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::blade::Board;
use crate::hazard::{Detector, Origin};
use crate::memory::Memory;
use mmgp_base::error::Result;
use mmgp_sim::Permit;
use shared::Controller;

pub(crate) use crate::command::MfcOperation;
pub use crate::command::{
    AfterElement, Command, Direction, ListCommand, ListElement, LockLine, Order, SendSignal, TAGS,
    write_list,
};
pub use crate::hazard::Hazards;
pub use atomic::AtomicStatus;

/// The memory flow controller of one SPE; clones refer to the same.
///
/// A *mask* is a set of tag groups: bit t stands for tag group t.
#[derive(Clone)]
pub struct Mfc {
    shared: Rc<Controller>,
}

impl Mfc {
    /// The MFC of an SPE, with its lanes at work.
    pub(super) fn new(board: &Board, detector: &Detector, spe: u32) -> Self {
        let shared = Rc::new(Controller::new(board, detector, spe));
        let name = |what: &str| format!("{what} of SPE {spe}");
        for direction in [Direction::Get, Direction::Put] {
            let life = engine::serve(Rc::clone(&shared), direction);
            board.sim.spawn_daemon(name(&format!("{direction:?} lane")), life);
        }
        Self { shared }
    }

    /// Puts a transfer into the queue, waiting for a place where it is full.
    ///
    /// # Errors
    /// [`BusError`](crate::BusError) where the command breaks a rule: the bus error of
    /// the hardware. [`Hazard`](crate::Hazard) where hazards are looked for and
    /// an earlier command that was not waited for touches the same bytes.
    pub async fn enqueue(&self, command: Command) -> Result<()> {
        self.check(&command)?;
        self.enter(MfcOperation::Transfer(command), command.tag).await
    }

    /// Whether the command keeps to the rules.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`].
    pub(crate) fn check(&self, command: &Command) -> Result<()> {
        self.shared.rules().transfer(command)
    }

    /// Has hazards looked for as if the program gave this transfer now; its data are the caller's to
    /// move, and its time passes later, by [`Mfc::enqueue_moved`].
    pub(crate) fn give(&self, command: &Command) -> Result<()> {
        let own = &*self.shared;
        let operation = MfcOperation::Transfer(*command);
        own.detector.command(Origin::Spu, (&operation, command.tag), None, &own.store)
    }

    /// The same of a wait for a tag group, whose time passes by [`Mfc::pass_wait`].
    pub(crate) fn know(&self, tag: u8) {
        self.shared.detector.waited(Origin::Spu, 1 << tag);
    }

    /// Puts a transfer of which the data have been moved into the queue. No hazards are looked for.
    pub(crate) async fn enqueue_moved(&self, command: Command) {
        let place = self.place().await;
        self.shared.enter(Origin::Spu, place, (MfcOperation::Moved(command), command.tag));
    }

    /// What the host's loads and the MFC reach.
    pub(crate) fn memory(&self) -> &Rc<Memory> {
        self.shared.eib.memory()
    }

    /// Counts commands whose time is known from others.
    pub(crate) fn count(&self, commands: u64) {
        self.shared.commands.set(self.shared.commands.get() + commands);
    }

    /// Puts a list into the queue, as [`Mfc::enqueue`] does. Its elements are looked at when the
    /// MFC fetches them; one that breaks a rule then ends the run.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`].
    pub async fn enqueue_list(&self, command: ListCommand) -> Result<()> {
        self.shared.rules().list(&command)?;
        self.enter(MfcOperation::List(command), command.tag).await
    }

    /// Puts a signal to another SPE into the queue.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`].
    pub async fn send_signal(&self, command: SendSignal) -> Result<()> {
        self.shared.rules().signal(&command)?;
        self.enter(MfcOperation::SendSignal(command), command.tag).await
    }

    /// `putqlluc`: puts the store of a lock line, reserved or not, into the queue.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`].
    pub async fn putqlluc(&self, line: LockLine, tag: u8) -> Result<()> {
        self.shared.rules().lock_line("Putqlluc", &line, tag)?;
        self.enter(MfcOperation::LockLine(line), tag).await
    }

    /// `barrier`: all earlier commands of the queue are complete before a later one begins.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`].
    pub async fn barrier(&self, tag: u8) -> Result<()> {
        self.shared.rules().tag("Barrier", tag)?;
        self.enter(MfcOperation::Barrier, tag).await
    }

    /// `mfcsync` and `mfceieio`: all earlier commands of the tag group are complete, as every
    /// processor sees it, before a later one of the group begins. Here all see a transfer complete at
    /// once, so the two do the same.
    ///
    /// # Errors
    /// As [`Mfc::enqueue`].
    pub async fn mfcsync(&self, tag: u8) -> Result<()> {
        self.shared.rules().tag("Mfcsync", tag)?;
        self.enter(MfcOperation::Synchronise, tag).await
    }

    /// Waits until every command of the tag group is complete.
    pub async fn wait_for(&self, tag: u8) {
        self.wait_for_all(1 << tag).await;
    }

    /// Waits until every command of all tag groups in `mask` is complete.
    pub async fn wait_for_all(&self, mask: u32) {
        self.pass_wait(mask).await;
        self.shared.detector.waited(Origin::Spu, mask);
    }

    /// The same where that is no news to whoever looks for hazards.
    pub(crate) async fn pass_wait(&self, mask: u32) {
        let own = &*self.shared;
        let _span = own.wait("DMA tag");
        own.waiting(own.queue.all(mask)).await;
        own.channel(own.access).await;
    }

    /// Waits until a tag group in `mask` is complete, and returns all that are; at once if `mask`
    /// is empty.
    pub async fn wait_for_any(&self, mask: u32) -> u32 {
        let span = self.shared.wait("DMA tag");
        self.shared.waiting(self.shared.queue.any(mask)).await;
        drop(span);
        self.status(mask).await
    }

    /// The tag groups in `mask` that are complete now.
    pub async fn status(&self, mask: u32) -> u32 {
        let own = &*self.shared;
        own.channel(own.access).await;
        let complete = own.queue.status(mask);
        own.detector.waited(Origin::Spu, complete);
        complete
    }

    /// Waits until a list stalls, and returns the tag groups of all that have since the last call.
    pub async fn stalled_lists(&self) -> u32 {
        let own = &*self.shared;
        let _span = own.wait("DMA list");
        own.waiting(own.stalled.wait_until(|&stalled| stalled != 0)).await;
        own.channel(own.access).await;
        own.stalled.update(std::mem::take)
    }

    /// Lets the stalled lists of a tag group go on.
    pub async fn acknowledge_stall(&self, tag: u8) {
        self.shared.channel(self.shared.access).await;
        self.shared.resume_lists(tag);
    }

    /// The queue through which the PPE gives commands to this MFC.
    pub fn proxy(&self) -> Proxy<'_> {
        Proxy::new(&self.shared)
    }

    /// Commands enqueued so far, by SPU and PPE.
    pub(crate) fn commands(&self) -> u64 {
        self.shared.commands.get()
    }

    /// Accesses of DMA to the SPE's own local store so far; see [`Eib::local_store_lines`].
    pub(super) fn local_store_lines(&self) -> u64 {
        self.shared.eib.local_store_lines(self.shared.spe)
    }

    async fn enter(&self, operation: MfcOperation, tag: u8) -> Result<()> {
        let place = self.place().await;
        self.shared.look(Origin::Spu, (&operation, tag))?;
        self.shared.enter(Origin::Spu, place, (operation, tag));
        Ok(())
    }

    /// Waits for a place in the queue.
    async fn place(&self) -> Permit {
        let own = &*self.shared;
        own.channel(own.issue).await;
        let _span = own.wait("DMA queue");
        own.waiting(own.queue.place()).await
    }
}

/// The proxy queue of an MFC. It takes transfers but no lists, and its tag groups are its own.
pub struct Proxy<'a> {
    shared: &'a Controller,
}

impl<'a> Proxy<'a> {
    const fn new(shared: &'a Controller) -> Self {
        Self { shared }
    }

    /// Puts a transfer into the queue, waiting for a place where it is full. What telling the MFC
    /// costs is the caller's: see [`HostProcess::enqueue`](crate::HostProcess::enqueue).
    ///
    /// # Errors
    /// As [`Mfc::enqueue`](crate::mfc::Mfc::enqueue).
    pub async fn enqueue(&self, command: Command) -> Result<()> {
        self.shared.rules().transfer(&command)?;
        let place = self.shared.proxy.place().await;
        let operation = MfcOperation::Transfer(command);
        self.shared.look(Origin::Proxy, (&operation, command.tag))?;
        self.shared.enter(Origin::Proxy, place, (operation, command.tag));
        Ok(())
    }

    /// Waits until every command of the tag group is complete.
    pub async fn wait_for(&self, tag: u8) {
        self.shared.proxy.all(1 << tag).await;
        self.shared.detector.waited(Origin::Proxy, 1 << tag);
    }
}
