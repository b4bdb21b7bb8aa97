//! What the messages keep in a rank's local store.
//!
//! ```text
//!   0   the descriptor that this rank puts to others             64 bytes
//!  64   where its puts of flags come from                        16
//!  80   its own flag: which receive is complete, and how long    16
//!  96   what its PPE has answered: which request                 16
//! 112   where its PPE has a message that is to be got            16
//! 128   contributions to reductions, as they come; calls       1024
//! 1152  descriptors of the other ranks of the blade              64 each
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use crate::memory::{EffectiveAddress, Memory};
use crate::spe::Spe;
use crate::trace::Span;
use mmgp_base::units::{Bytes, SimTime};
use mmgp_sim::Sim;
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use mmgp_spu::register::Quadword;

/// Bytes of instructions for messages from point to point. The paper's library takes 5 KB with its state,
/// which is 2,176 bytes here where 16 ranks share an address space.
pub const CODE: Bytes = Bytes(5 * 1024 - 2176);

/// Bytes of instructions for collectives, in addition: our estimate, some 500 instructions.
pub const COLLECTIVES: Bytes = Bytes(2048);

const FLAG_SOURCE: u64 = 64;
const FLAG: u64 = 80;
const ANSWER: u64 = 96;
const NOTE: u64 = 112;
const SCRATCH: u64 = 128;
const SLOTS: u64 = 1152;

/// Place of the state of a rank.
#[derive(Clone, Copy)]
pub(super) struct RankState {
    base: LocalAddress,
}

/// What a receive tells the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Address to which the data go.
    pub target: EffectiveAddress,
    /// The most that may come.
    pub bytes: Bytes,
    /// Which message is wanted.
    pub envelope: u64,
    /// Which receive of its rank it is, from 1: 0 is an empty slot.
    pub receive: u64,
    /// Address of the flag of the receiver.
    pub flag: EffectiveAddress,
}

impl Descriptor {
    /// Size.
    pub const BYTES: Bytes = Bytes(64);

    pub const fn encode(&self) -> [Quadword; 4] {
        let Self { target, bytes, envelope, receive, flag } = *self;
        [
            Quadword([envelope, receive]),
            Quadword([target.0, bytes.0]),
            Quadword([flag.0, 0]),
            Quadword::ZERO,
        ]
    }

    /// What lies at `at`, if it is of a receive with that envelope.
    pub fn find(store: &LocalStore, at: LocalAddress, envelope: u64) -> Option<Self> {
        let Quadword([found, receive]) = store.load(at);
        if receive == 0 || found != envelope {
            return None;
        }
        let Quadword([target, bytes]) = store.load(at.offset(Bytes(16)));
        let Quadword([flag, _]) = store.load(at.offset(Bytes(32)));
        Some(Self {
            target: EffectiveAddress(target),
            bytes: Bytes(bytes),
            envelope,
            receive,
            flag: EffectiveAddress(flag),
        })
    }
}

/// What a rank asks of its PPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Post {
    /// Which message is sent or wanted.
    pub envelope: u64,
    /// Which request of its rank it is, or which receive.
    pub number: u64,
    /// The other rank.
    pub peer: u32,
    /// Size, or the room for it.
    pub bytes: Bytes,
    /// Address to which a message that is received goes.
    pub target: LocalAddress,
}

impl Post {
    pub const fn encode(&self) -> [Quadword; 4] {
        let Self { envelope, number, peer, bytes, target } = *self;
        [
            Quadword([envelope, number]),
            Quadword([peer as u64, bytes.0]),
            Quadword([target.0 as u64, 0]),
            Quadword::ZERO,
        ]
    }

    pub fn read(memory: &Memory, at: EffectiveAddress) -> Self {
        let Quadword([envelope, number]) = memory.read(at);
        let Quadword([peer, bytes]) = memory.read(at.offset(16));
        let Quadword([target, _]) = memory.read(at.offset(32));
        let (peer, target) = (peer as u32, LocalAddress(target as u32));
        Self { envelope, number, peer, bytes: Bytes(bytes), target }
    }
}

impl RankState {
    /// What a reduction receives at a time, at most.
    pub const PIECE: Bytes = Bytes(SLOTS - SCRATCH);

    pub const fn new(base: LocalAddress) -> Self {
        Self { base }
    }

    pub const fn bytes(ranks: u32) -> Bytes {
        Bytes((SLOTS + Descriptor::BYTES.0 * ranks as u64).next_multiple_of(128))
    }

    /// The state is zero when the program begins.
    pub fn clear(self, spe: &Spe, bytes: Bytes) {
        spe.zero(self.base, bytes);
    }

    pub const fn descriptor(self) -> LocalAddress {
        self.base
    }

    pub const fn flag_source(self) -> LocalAddress {
        self.base.offset(Bytes(FLAG_SOURCE))
    }

    pub const fn flag(self) -> LocalAddress {
        self.base.offset(Bytes(FLAG))
    }

    pub const fn answer(self) -> LocalAddress {
        self.base.offset(Bytes(ANSWER))
    }

    pub const fn note(self) -> LocalAddress {
        self.base.offset(Bytes(NOTE))
    }

    pub const fn scratch(self) -> LocalAddress {
        self.base.offset(Bytes(SCRATCH))
    }

    /// The slot of the rank with that number among those of the blade.
    pub const fn slot(self, place: u32) -> LocalAddress {
        self.base.offset(Bytes(SLOTS + Descriptor::BYTES.0 * place as u64))
    }
}

/// A call that has come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Who called, by its number among all ranks.
    pub rank: u32,
    /// Name in MPI: `MPI_Send`.
    pub name: &'static str,
    /// The other rank, or the root, by its number in the communicator.
    pub peer: Option<u32>,
    /// What the caller gave or had room for.
    pub bytes: Bytes,
    /// When it was called.
    pub start: SimTime,
    /// When it came back.
    pub end: SimTime,
}

/// Who is told of calls.
///
/// A call within another one, such as the messages of which a collective consists, is not told of.
pub trait Observer {
    /// A call has come back.
    fn returned(&mut self, call: &Call);
}

/// Somebody who is told.
pub(super) type Listener = Rc<RefCell<dyn Observer>>;

/// A call that has not come back.
pub(super) struct OpenCall {
    _span: Span,
    listener: Option<Listener>,
    call: Call,
    sim: Sim,
}

impl OpenCall {
    pub fn new(span: Span, listener: Option<Listener>, call: Call, sim: &Sim) -> Self {
        Self { _span: span, listener, call, sim: sim.clone() }
    }

    /// The call has come back. One that is dropped by the end of a run has not.
    pub fn returned(self) {
        if let Some(listener) = self.listener {
            listener.borrow_mut().returned(&Call { end: self.sim.now(), ..self.call });
        }
    }
}
