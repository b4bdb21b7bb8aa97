//! What a program does on an SPE whose course does not depend on when things happen.
//!
//! Such a program asks for transfers, waits for them, runs kernels, and waits for words that other
//! SPEs of its task put into its local store. It never asks what time it is, nor which of two things
//! came first. So it can be run in two ways, from the same lines: on an SPE, where every operation
//! takes its time ([`Timed`]), or with the clock stopped, writing down what would take time
//! ([`Writer`](crate::script::Writer)), which is then timed by itself. The second way is
//! *functional-first* simulation: what is computed comes first, how long it takes afterwards.

use std::cell::RefCell;
use std::future::Future;

use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use mmgp_spu::{Kernel, Quadword};

use crate::mfc::Command;
use crate::record::{Loop, Loops};
use crate::spe::Spe;

/// An SPE as such a program sees it.
pub trait Element {
    /// Puts a transfer into the queue of the MFC; see [`Mfc::enqueue`](crate::mfc::Mfc::enqueue).
    ///
    /// # Errors
    /// As that.
    fn enqueue(&self, command: Command) -> impl Future<Output = Result<()>>;

    /// The same for data that nothing but kernels reads.
    ///
    /// # Errors
    /// As [`Element::enqueue`].
    fn enqueue_operands(&self, command: Command) -> impl Future<Output = Result<()>>;

    /// Waits until every command of the tag group is complete.
    fn wait_for(&self, tag: u8) -> impl Future<Output = ()>;

    /// Runs a kernel. Where results are known from another run ([`Values::Known`]) it is not
    /// executed, and its output is the default.
    fn compute<K: Kernel<Output: Default>>(&self, kernel: &K) -> impl Future<Output = K::Output>;

    /// Takes cycles of the SPU.
    fn spend(&self, cycles: Cycles) -> impl Future<Output = ()>;

    /// What the program outside its kernels loads from local store; `bytes` are rounded outwards to
    /// whole quadwords. The time is the caller's to spend.
    ///
    /// # Errors
    /// [`Hazard`](crate::Hazard), where hazards are looked for.
    fn read(&self, at: LocalAddress, bytes: Bytes) -> Result<Vec<Quadword>>;

    /// Stores of the program outside its kernels, from a multiple of 16 on.
    ///
    /// # Errors
    /// As [`Element::read`].
    fn write(&self, at: LocalAddress, quadwords: &[Quadword]) -> Result<()>;

    /// Spins until another SPE of the task has put a message of two quadwords to `at` whose second
    /// begins with `number`; its first.
    fn message(&self, at: LocalAddress, number: Number) -> impl Future<Output = Quadword>;

    /// A loop begins whose turns several SPEs can share.
    fn loop_begins(&self);

    /// Ends a loop.
    fn loop_ends(&self);
}

/// The number of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// The given number.
    Is(u64),
    /// Any but zero.
    Any,
}

/// Whether the values of a run are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// They are.
    Computed,
    /// They are known from another run of the same program, so that kernels are not executed.
    Known,
}

/// An SPE on which everything takes its time as it is done.
pub struct Timed<'a> {
    spe: &'a Spe,
    loops: RefCell<Loops>,
}

impl<'a> Timed<'a> {
    /// Wraps an SPE.
    pub fn new(spe: &'a Spe) -> Self {
        Self { spe, loops: RefCell::default() }
    }

    /// The loops that have ended.
    pub fn into_loops(self) -> Vec<Loop> {
        self.loops.into_inner().into_done()
    }
}

/// The second quadword of a message.
pub(crate) const NUMBER: Bytes = Bytes(16);

/// Whether a message with the number that is wanted lies at `at`.
pub(crate) fn has_come(store: &LocalStore, at: LocalAddress, wanted: Number) -> bool {
    let Quadword([number, _]) = store.load(at.offset(NUMBER));
    match wanted {
        Number::Is(wanted) => number == wanted,
        Number::Any => number != 0,
    }
}

impl Element for Timed<'_> {
    async fn enqueue(&self, command: Command) -> Result<()> {
        self.spe.mfc.enqueue(command).await
    }

    async fn enqueue_operands(&self, command: Command) -> Result<()> {
        self.enqueue(command).await
    }

    async fn wait_for(&self, tag: u8) {
        self.spe.mfc.wait_for(tag).await;
    }

    async fn compute<K: Kernel<Output: Default>>(&self, kernel: &K) -> K::Output {
        self.spe.compute(kernel).await
    }

    async fn spend(&self, cycles: Cycles) {
        self.spe.spend(cycles).await;
    }

    fn read(&self, at: LocalAddress, bytes: Bytes) -> Result<Vec<Quadword>> {
        self.spe.read(at, bytes)
    }

    fn write(&self, at: LocalAddress, quadwords: &[Quadword]) -> Result<()> {
        self.spe.write(at, quadwords)
    }

    async fn message(&self, at: LocalAddress, number: Number) -> Quadword {
        self.spe.spin(at.offset(NUMBER), |store| has_come(store, at, number)).await;
        self.spe.store.borrow().load(at)
    }

    fn loop_begins(&self) {
        self.loops.borrow_mut().begin(self.spe.sim.now());
    }

    fn loop_ends(&self) {
        self.loops.borrow_mut().end(self.spe.sim.now());
    }
}
