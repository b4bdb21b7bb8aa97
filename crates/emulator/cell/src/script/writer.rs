//! The writing of a script, with the clock stopped.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::{Script, ScriptOperation};
use crate::element::{Element, NUMBER, Number, Values, has_come};
use crate::memory::{EffectiveAddress, Place};
use crate::mfc::{Command, Direction};
use crate::spe::Spe;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::{Kernel, Quadword};

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
    /// Writer for an SPE, one of those of a task, which share `messages`.
    pub fn new(spe: &Spe, values: Values, messages: &Rc<Messages>) -> Self {
        Self { spe: spe.clone(), values, messages: Rc::clone(messages), script: RefCell::default() }
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
        let place = match operation {
            ScriptOperation::Enqueue(command) => self.spe.memory().phase(command.effective),
            _ => 0,
        };
        self.script.borrow_mut().push(operation, place);
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
