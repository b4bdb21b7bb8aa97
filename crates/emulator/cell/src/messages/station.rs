//! The part of a PPE in messages between blades: a process that looks round the places in which its
//! SPEs put descriptors, and at what its host brings.
//!
//! ```text
//!   rank a: data, descriptor -> PPE -> host ... host -> PPE: matches, delivers -> rank b
//!           returns          <- PPE <- host ... host <- (acknowledgement)
//! ```
//!
//! There is one such process for each Cell, on the last hardware thread of its PPE. It does one thing
//! after the other, in the order in which they came: each begins with a look round all places
//! ([`LOOK_ROUND`]) and the line that was put or brought, which no cache has; then
//!
//! * a receive: the descriptor is taken and compared with the messages that are there
//!   ([`MATCH`]); one that fits is delivered;
//! * a send: it is handed to the host ([`HAND_OVER`]), which carries it by itself
//!   ([`nodes`](crate::nodes));
//! * a message that arrives: it is compared with the receives that wait. One that fits is delivered; else
//!   it stays in one of `room` buffers. Where none is free it is dropped, and the PPE asks for it *again*
//!   when it has its receive, by a message of no bytes over the same hops; until then its sender
//!   stalls, and its PPE keeps it;
//! * a delivery: up to `stored` bytes the PPE stores itself, a doubleword at a time; for more it tells the
//!   SPE where they are, and that one gets them and says when it has. Then the flag; then the sender gets
//!   an *acknowledgement*, a message of no bytes over the same hops;
//! * an acknowledgement: a flag in the sender's local store, upon which its send comes back.
//!
//! All that crosses the network has a header of 64 bytes, which are carried with its data. Each SPE has one
//! place for a send, one for a receive and one for a call, since it is in one call at a time; so a place is
//! always free, and no message waits for another one's match: there is no deadlock but those of the
//! program.

pub(super) mod desk;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::memory::{EffectiveAddress, Memory};
use crate::messages::state::Post;
use crate::nodes::{Fabric, Seat};
use crate::ppe::Work;
use mmgp_base::units::Bytes;
use mmgp_sim::Watch;
use mmgp_spu::local_store::LOCAL_STORE_BYTES;
use mmgp_spu::register::Quadword;

/// A look at 8 places for sends, 8 for receives, 8 for calls, 8 for buffers that are free again, and
/// at what DaCS has brought.
const LOOK_ROUND: Work = loop_of(33);

/// A descriptor or header of eight doublewords, taken and put into a list.
const TAKE: Work =
    Work { loads: 8, stores: 8, integers: 20, branches: 6, floats: 0, divides: 0, code: 4 * 42 };

/// A comparison with an entry of a list: the rank and the tag.
const MATCH: Work =
    Work { loads: 3, stores: 0, integers: 4, branches: 2, floats: 0, divides: 0, code: 4 * 9 };

/// A header written and given to DaCS with the place of its data.
const HAND_OVER: Work =
    Work { loads: 10, stores: 16, integers: 40, branches: 12, floats: 0, divides: 0, code: 4 * 78 };

/// Work of so many turns of a loop that loads and compares.
const fn loop_of(turns: u64) -> Work {
    Work {
        loads: turns,
        stores: 0,
        integers: turns,
        branches: turns,
        floats: 0,
        divides: 0,
        code: 16,
    }
}

/// What crosses the network with a message's data, or without any.
const HEADER: Bytes = Bytes(64);

/// The number of the first of these processes on each blade: beyond those of any program.
const FIRST_PROCESS: u32 = 10_000;

/// Room for any message.
const BUFFER: u64 = LOCAL_STORE_BYTES as u64;

/// Places of an SPE: lines for a send, a receive, a call and for what it has got; then data on their way out,
/// and data that come in.
const LINE: u64 = 128;
const BUFFERS: u64 = 4 * LINE;
const EACH: u64 = BUFFERS + 2 * BUFFER;

/// Something that a PPE has to do.
pub(super) enum Task {
    /// A rank has posted a send.
    Send(u32),
    /// A rank has posted a receive.
    Receive(u32),
    /// A rank has posted a call.
    Call(u32),
    /// The host has answered the call of a rank.
    Answered(u32, Vec<u64>),
    /// A rank has got a message out of that buffer.
    Fetched(EffectiveAddress),
    /// The host has brought something.
    Arrived(Packet),
}

/// What crosses the network.
pub(super) struct Packet {
    kind: Kind,
    from: u32,
    to: u32,
    envelope: u64,
    bytes: Bytes,
    data: Vec<Quadword>,
}

/// What it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Here are the data.
    Data,
    /// The receiver has matched the message of rank `to`.
    Acknowledgement,
    /// There was no room for it; now the receiver waits for it.
    Again,
}

/// A PPE that takes part.
pub(super) struct Station {
    seat: Seat,
    /// The number of the first SPE of its Cell.
    first: u32,
    memory: Rc<Memory>,
    /// Address at which its places begin in main memory.
    area: EffectiveAddress,
    stored: Bytes,
    tasks: Watch<VecDeque<Task>>,
    books: RefCell<Books>,
}

/// All of them.
pub(super) struct Stations {
    fabric: Option<Rc<Fabric>>,
    open: RefCell<BTreeMap<(usize, u32), Rc<Station>>>,
}

impl Stations {
    pub fn new(fabric: Option<Rc<Fabric>>) -> Self {
        Self { fabric, open: RefCell::default() }
    }

    /// The PPE of a Cell.
    pub fn at(&self, seat: Seat) -> Option<Rc<Station>> {
        self.open.borrow().get(&(seat.blade, seat.cell)).cloned()
    }
}

impl Station {
    /// Something is to be done, which the process sees when it looks round next.
    pub fn tell(&self, task: Task) {
        self.tasks.update(|tasks| tasks.push_back(task));
    }

    /// The longest message that the PPE stores by itself.
    pub fn stored(&self) -> Bytes {
        self.stored
    }

    /// Address to which an SPE, by its number on the blade, puts the descriptor of a send.
    pub fn sends(&self, spe: u32) -> EffectiveAddress {
        self.place(spe, 0)
    }

    /// Address to which an SPE puts the descriptor of a receive.
    pub fn receives(&self, spe: u32) -> EffectiveAddress {
        self.place(spe, LINE)
    }

    /// Address to which an SPE puts a call.
    pub fn calls(&self, spe: u32) -> EffectiveAddress {
        self.place(spe, 2 * LINE)
    }

    /// Address at which an SPE says that it has got a message.
    pub fn fetched(&self, spe: u32) -> EffectiveAddress {
        self.place(spe, 3 * LINE)
    }

    /// Address to which an SPE puts the data of a send.
    pub fn outgoing(&self, spe: u32) -> EffectiveAddress {
        self.place(spe, BUFFERS)
    }

    /// Address to which the data are brought of a message for which an SPE waits.
    fn incoming(&self, spe: u32) -> EffectiveAddress {
        self.place(spe, BUFFERS + BUFFER)
    }

    fn place(&self, spe: u32, offset: u64) -> EffectiveAddress {
        self.area.offset(u64::from(spe - self.first) * EACH + offset)
    }
}

/// Receives that wait, messages that wait, and what there was no room for.
struct Books {
    /// Posted by the rank that receives.
    posted: BTreeMap<u32, Post>,
    /// Messages in the order of their arrival.
    held: VecDeque<Held>,
    refused: VecDeque<Selected>,
    free: Vec<EffectiveAddress>,
    /// All buffers for messages whose receiver does not wait yet.
    buffers: Vec<EffectiveAddress>,
}

/// What a message is selected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Selected {
    pub from: u32,
    pub to: u32,
    pub envelope: u64,
}

impl Selected {
    /// Selection by a receive of rank `to`.
    pub const fn by(to: u32, post: &Post) -> Self {
        Self { from: post.peer, to, envelope: post.envelope }
    }
}

/// A message that waits for its receive.
#[derive(Debug, Clone, Copy)]
struct Held {
    pub is: Selected,
    pub bytes: Bytes,
    pub buffer: EffectiveAddress,
}

/// What there is for a receive.
enum Found {
    Held(Held),
    /// Refused: it has to come again.
    Refused,
    Nothing,
}

impl Books {
    pub fn new(buffers: Vec<EffectiveAddress>) -> Self {
        Self {
            posted: BTreeMap::new(),
            held: VecDeque::new(),
            refused: VecDeque::new(),
            free: buffers.iter().rev().copied().collect(),
            buffers,
        }
    }

    /// Entries that a message or a receive is compared with at most.
    pub fn entries(&self) -> u64 {
        (self.held.len() + self.refused.len()).max(1) as u64
    }

    /// A rank waits for a message: what there is for it. Where it is not there, the receive waits.
    pub fn receive(&mut self, rank: u32, post: Post) -> Found {
        let wanted = Selected::by(rank, &post);
        if let Some(place) = self.held.iter().position(|held| held.is == wanted)
            && let Some(held) = self.held.remove(place)
        {
            return Found::Held(held);
        }
        self.posted.insert(rank, post);
        match self.refused.iter().position(|&refused| refused == wanted) {
            Some(place) => {
                self.refused.remove(place);
                Found::Refused
            }
            None => Found::Nothing,
        }
    }

    /// The receive that waits for a message, which it does no more.
    pub fn waiting(&mut self, message: Selected) -> Option<Post> {
        let post = self.posted.get(&message.to)?;
        if Selected::by(message.to, post) != message {
            return None;
        }
        self.posted.remove(&message.to)
    }

    /// Room for a message that nobody waits for; where there is none, it is noted as refused.
    pub fn hold(&mut self, is: Selected, bytes: Bytes) -> Option<EffectiveAddress> {
        let Some(buffer) = self.free.pop() else {
            self.refused.push_back(is);
            return None;
        };
        self.held.push_back(Held { is, bytes, buffer });
        Some(buffer)
    }

    /// A buffer holds nothing more; that of an SPE is its own.
    pub fn release(&mut self, buffer: EffectiveAddress) {
        if self.buffers.contains(&buffer) {
            self.free.push(buffer);
        }
    }
}
