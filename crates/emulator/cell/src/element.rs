//! What a program does on an SPE whose course does not depend on when things happen.
//!
//! Such a program asks for transfers, waits for them, runs kernels, and waits for words that other
//! SPEs of its task put into its local store. It never asks what time it is, nor which of two things
//! came first. So it can be run in two ways, from the same lines: on an SPE, where every operation
//! takes its time ([`Timed`]), or with the clock stopped, writing down what would take time
//! ([`Writer`]), which is then timed by itself. The second way is
//! *functional-first* simulation: what is computed comes first, how long it takes afterwards.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use crate::memory::{EffectiveAddress, Memory, Place};
use crate::mfc::{Command, Direction};
use crate::record::{Loop, Loops};
use crate::spe::Spe;
use crate::timing::KernelTime;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use mmgp_spu::{Kernel, Quadword};

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

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptOperation {
    /// Puts a transfer into the queue of the MFC.
    Enqueue(Command),
    /// Waits for a tag group.
    Wait(u8),
    /// Runs a kernel of that name.
    Compute(&'static str, KernelTime),
    /// Takes cycles of the SPU.
    Spend(Cycles),
    /// Spins until other SPEs have put so many messages there since the task began.
    Message { at: LocalAddress, count: u64 },
    /// A loop begins.
    LoopBegins,
    /// Ends a loop.
    LoopEnds,
}

impl ScriptOperation {
    /// What its time depends on.
    fn words(self, memory: &Memory) -> [u64; 3] {
        match self {
            Self::Enqueue(command) => {
                let way = match command.direction {
                    Direction::Get => 0,
                    Direction::Put => 1,
                };
                let small = u64::from(command.tag) << 4 | way << 3 | command.order as u64;
                let place = memory.phase(command.effective);
                [1 << 32 | u64::from(command.local.0), place, command.bytes.0 << 16 | small]
            }
            Self::Wait(tag) => [2, u64::from(tag), 0],
            Self::Compute(_, KernelTime { cycles, port_use, .. }) => {
                [3 | port_use.fetches << 8, cycles.0, port_use.accesses]
            }
            Self::Spend(cycles) => [4, cycles.0, 0],
            Self::Message { at, count } => [5, u64::from(at.0), count],
            Self::LoopBegins => [6, 0, 0],
            Self::LoopEnds => [7, 0, 0],
        }
    }
}

/// The operations of a call, in their order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(crate) operations: Vec<ScriptOperation>,
}

impl Script {
    /// Two scripts of the same fingerprint take the same time if they meet the machine in the same
    /// state.
    pub fn fingerprint(&self, memory: &Memory) -> Fingerprint {
        let mut all = Fingerprint::default();
        self.operations.iter().for_each(|operation| all.add_together(operation.words(memory)));
        all
    }

    /// DMA commands.
    pub fn commands(&self) -> u64 {
        let is_command =
            |operation: &&ScriptOperation| matches!(operation, ScriptOperation::Enqueue(_));
        self.operations.iter().filter(is_command).count() as u64
    }

    /// Number of operations.
    pub fn operation_count(&self) -> usize {
        self.operations.len()
    }
}

/// 128 bits of hash: two different scripts of a run share a fingerprint with a probability of some
/// 2^-128 times the number of their pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fingerprint(u64, u64);

impl Fingerprint {
    /// Fingerprint of both, in this order.
    pub fn then(mut self, other: Self) -> Self {
        self.add(other.0);
        self.add(other.1);
        self
    }

    /// Adds a word.
    pub fn add(&mut self, word: u64) {
        self.0 = mixed(self.0 ^ word, INCREMENTS[0]);
        self.1 = mixed(self.1 ^ word.rotate_left(32), INCREMENTS[1]);
    }

    /// Adds words, of which none waits until the one before it is mixed.
    fn add_together<const COUNT: usize>(&mut self, words: [u64; COUNT]) {
        let sum = |increment: u64| {
            let mixed = |(place, word)| mixed(word, increment.wrapping_mul(place));
            (2..).zip(words).map(mixed).fold(0, u64::wrapping_add)
        };
        self.0 = mixed(self.0 ^ sum(INCREMENTS[0]), INCREMENTS[0]);
        self.1 = mixed(self.1 ^ sum(INCREMENTS[1]), INCREMENTS[1]);
    }
}

/// Odd increments of the two halves.
const INCREMENTS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];

/// The output function of SplitMix64, a bijection, with that increment.
const fn mixed(state: u64, increment: u64) -> u64 {
    let mut z = state.wrapping_add(increment);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The messages that the SPEs of a task have put into each other's local stores since it began, by
/// SPE and address.
pub type Messages = RefCell<BTreeMap<(u32, u32), u64>>;

/// Runs a call on an SPE with the clock stopped and writes down what takes time.
pub struct Writer {
    spe: Spe,
    values: Values,
    messages: Rc<Messages>,
    script: RefCell<Script>,
}

impl Writer {
    /// Writer for an SPE, one of those of a task, which share `messages`, with room for so many
    /// operations at first.
    pub fn new(spe: &Spe, values: Values, messages: &Rc<Messages>, room: usize) -> Self {
        let script = RefCell::new(Script { operations: Vec::with_capacity(room) });
        Self { spe: spe.clone(), values, messages: Rc::clone(messages), script }
    }

    /// How many operations have been written down.
    pub fn written(&self) -> usize {
        self.script.borrow().operations.len()
    }

    /// What has been written down.
    pub fn into_script(self) -> Script {
        self.script.into_inner()
    }

    fn push(&self, operation: ScriptOperation) {
        self.script.borrow_mut().operations.push(operation);
    }

    /// Moves the data of a transfer.
    fn transfer(&self, command: &Command) {
        let local = EffectiveAddress::local_store(self.spe.index, command.local);
        let (from, to) = match command.direction {
            Direction::Get => (command.effective, local),
            Direction::Put => (local, command.effective),
        };
        self.spe.memory().copy(from, to, command.bytes);
        if let Some(Place::LocalStore { spe, address }) = to.place()
            && spe != self.spe.index
        {
            *self.messages.borrow_mut().entry((spe, address.0)).or_default() += 1;
        }
    }
}

impl Element for Writer {
    async fn enqueue(&self, command: Command) -> Result<()> {
        self.spe.mfc.check(&command)?;
        self.spe.mfc.give(&command)?;
        self.transfer(&command);
        self.push(ScriptOperation::Enqueue(command));
        Ok(())
    }

    async fn enqueue_operands(&self, command: Command) -> Result<()> {
        match self.values {
            Values::Computed => self.enqueue(command).await,
            Values::Known => {
                self.push(ScriptOperation::Enqueue(command));
                Ok(())
            }
        }
    }

    async fn wait_for(&self, tag: u8) {
        self.spe.mfc.know(tag);
        self.push(ScriptOperation::Wait(tag));
    }

    async fn compute<K: Kernel<Output: Default>>(&self, kernel: &K) -> K::Output {
        let (output, time) = match self.values {
            Values::Computed => self.spe.execute(kernel).await,
            Values::Known => (K::Output::default(), self.spe.time(kernel)),
        };
        self.push(ScriptOperation::Compute(kernel.name(), time));
        output
    }

    async fn spend(&self, cycles: Cycles) {
        self.push(ScriptOperation::Spend(cycles));
    }

    fn read(&self, at: LocalAddress, bytes: Bytes) -> Result<Vec<Quadword>> {
        self.spe.read(at, bytes)
    }

    fn write(&self, at: LocalAddress, quadwords: &[Quadword]) -> Result<()> {
        self.spe.write(at, quadwords)
    }

    async fn message(&self, at: LocalAddress, number: Number) -> Quadword {
        poll_fn(|_| match has_come(&self.spe.store.borrow(), at, number) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        self.spe.detector().saw(at.offset(NUMBER));
        let count = self.messages.borrow().get(&(self.spe.index, at.0)).copied();
        self.push(ScriptOperation::Message { at, count: count.unwrap_or(0) });
        self.spe.store.borrow().load(at)
    }

    fn loop_begins(&self) {
        self.push(ScriptOperation::LoopBegins);
    }

    fn loop_ends(&self) {
        self.push(ScriptOperation::LoopEnds);
    }
}
