//! What has arrived at a rank.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::ppe::Work;
use mmgp_base::units::Bytes;

/// Which messages can be meant: those of the program, or those of one collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Message with a tag.
    User(u32),
    /// The number of the collective.
    Collective(u64),
}

/// What a message carries: contributions of ranks, with the ranks that they are from. A message of
/// the program has one.
#[derive(Debug, Clone)]
pub struct Payload {
    pub parts: Vec<(u32, Data)>,
    /// What is copied.
    pub bytes: Bytes,
}

/// A long message whose sender waits for the receiver.
pub struct Outgoing {
    pub to: u32,
    pub id: u64,
    pub payload: Payload,
}

/// What a receiver waits for.
pub enum Expected {
    /// A message of the program.
    User(Pattern),
    /// A message of a collective, from a rank.
    Collective { source: u32, number: u64 },
    /// The data of a long message that it has answered for.
    Rendezvous { source: u32, channel: Channel, id: u64 },
}

/// A message that has been received.
pub struct Received {
    pub source: u32,
    pub channel: Channel,
    pub payload: Payload,
}

/// What a rank can do next.
pub enum ReceiveStep {
    /// Copy the long message to the receiver, who has answered.
    Copy,
    /// Answer a sender.
    Answer { source: u32, channel: Channel, id: u64 },
    /// Take a message.
    Receive { message: Received, copies: Copies },
    /// Wait for a message that has not come.
    Wait,
}

/// What is left to copy of a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// All of it, from the sender's buffer.
    FromBuffer,
    /// No copy: all of it has been copied.
    Done,
}

/// The inbox of one rank.
#[derive(Default)]
pub struct Inbox {
    /// Short messages and the questions of long ones, in the order of arrival.
    arrived: VecDeque<Arrived>,
    /// Long messages of this rank that their receivers have answered for.
    answered: BTreeSet<u64>,
    /// Data of long messages that this rank has answered for.
    data: BTreeMap<u64, Payload>,
}

struct Arrived {
    source: u32,
    channel: Channel,
    content: Content,
}

enum Content {
    Message(Payload),
    Question(u64),
}

impl Inbox {
    /// A short message has arrived.
    pub fn message(&mut self, source: u32, channel: Channel, payload: Payload) {
        self.arrived.push_back(Arrived { source, channel, content: Content::Message(payload) });
    }

    /// Somebody asks whether a long message may come.
    pub fn question(&mut self, source: u32, channel: Channel, id: u64) {
        self.arrived.push_back(Arrived { source, channel, content: Content::Question(id) });
    }

    /// A long message of this rank may come.
    pub fn answer(&mut self, id: u64) {
        self.answered.insert(id);
    }

    /// A long message has come.
    pub fn data(&mut self, id: u64, payload: Payload) {
        self.data.insert(id, payload);
    }

    /// Takes what its owner can go on with.
    pub fn next(
        &mut self,
        outgoing: Option<&Outgoing>,
        expected: Option<&Expected>,
    ) -> ReceiveStep {
        if outgoing.is_some_and(|outgoing| self.answered.remove(&outgoing.id)) {
            return ReceiveStep::Copy;
        }
        let Some(expected) = expected else { return ReceiveStep::Wait };
        if let Expected::Rendezvous { source, channel, id } = *expected {
            let data = self.data.remove(&id);
            return data.map_or(ReceiveStep::Wait, |payload| {
                let message = Received { source, channel, payload };
                ReceiveStep::Receive { message, copies: Copies::Done }
            });
        }
        let first = self.arrived.iter().position(|arrived| expected.matches(arrived));
        let Some(arrived) = first.and_then(|index| self.arrived.remove(index)) else {
            return ReceiveStep::Wait;
        };
        let Arrived { source, channel, content } = arrived;
        match content {
            Content::Message(payload) => {
                let message = Received { source, channel, payload };
                ReceiveStep::Receive { message, copies: Copies::FromBuffer }
            }
            Content::Question(id) => ReceiveStep::Answer { source, channel, id },
        }
    }

    /// Whether [`Inbox::next`] would find anything.
    pub fn can_go_on(&self, outgoing: Option<&Outgoing>, expected: Option<&Expected>) -> bool {
        outgoing.is_some_and(|outgoing| self.answered.contains(&outgoing.id))
            || match expected {
                None => false,
                Some(Expected::Rendezvous { id, .. }) => self.data.contains_key(id),
                Some(expected) => self.arrived.iter().any(|arrived| expected.matches(arrived)),
            }
    }
}

impl Expected {
    fn matches(&self, arrived: &Arrived) -> bool {
        match (self, arrived.channel) {
            (Self::User(pattern), Channel::User(tag)) => pattern.matches(arrived.source, tag),
            (Self::Collective { source, number }, Channel::Collective(of)) => {
                *source == arrived.source && *number == of
            }
            _ => false,
        }
    }
}

impl Payload {
    /// The data of a message of the program.
    pub fn of(data: Data) -> Self {
        let bytes = data.size();
        Self { parts: vec![(0, data)], bytes }
    }
}

impl From<Received> for Message {
    fn from(Received { source, channel, payload }: Received) -> Self {
        let tag = match channel {
            Channel::User(tag) => tag,
            Channel::Collective(_) => 0,
        };
        let (_, data) = payload
            .parts
            .into_iter()
            .next()
            .expect("invariant: a message of a program has one part");
        Self { source, tag, data }
    }
}

/// Values of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `MPI_BYTE`
    Bytes(Vec<u8>),
    /// `MPI_LONG_LONG`
    Integers(Vec<i64>),
    /// `MPI_DOUBLE`
    Doubles(Vec<f64>),
}

/// How contributions are combined, value by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `MPI_SUM`; integers wrap around.
    Sum,
    /// `MPI_MIN`
    Minimum,
    /// `MPI_MAX`
    Maximum,
}

/// Destination of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The receiver's rank.
    pub rank: u32,
    /// A number by which the receiver chooses among messages.
    pub tag: u32,
}

/// Which messages are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// The sender's rank; any where absent (`MPI_ANY_SOURCE`).
    pub source: Option<u32>,
    /// The tag; any where absent (`MPI_ANY_TAG`).
    pub tag: Option<u32>,
}

/// A message that has been received.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The sender's rank.
    pub source: u32,
    /// Tag.
    pub tag: u32,
    /// What it carries.
    pub data: Data,
}

/// Type and number of values: what all ranks must agree on in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    kind: &'static str,
    count: usize,
}

impl Shape {
    /// Whether MPI combines values of this type.
    pub(super) fn has_arithmetic(self) -> bool {
        self.kind != BYTES
    }
}

const BYTES: &str = "bytes";

impl Data {
    /// Size.
    pub fn size(&self) -> Bytes {
        match self {
            Self::Bytes(values) => Bytes(values.len() as u64),
            Self::Integers(values) => Bytes(8 * values.len() as u64),
            Self::Doubles(values) => Bytes(8 * values.len() as u64),
        }
    }

    pub(super) const fn shape(&self) -> Shape {
        match self {
            Self::Bytes(values) => Shape { kind: BYTES, count: values.len() },
            Self::Integers(values) => Shape { kind: "integers", count: values.len() },
            Self::Doubles(values) => Shape { kind: "doubles", count: values.len() },
        }
    }

    /// Combines it with `other`, value by value; nothing where their shapes differ or an
    /// operation on bytes is asked for, which MPI does not define.
    pub(super) fn combined(&self, other: &Self, reduction: Reduction) -> Option<Self> {
        if self.shape() != other.shape() {
            return None;
        }
        match (self, other) {
            (Self::Integers(a), Self::Integers(b)) => {
                let combine = |(&a, &b): (&i64, &i64)| match reduction {
                    Reduction::Sum => a.wrapping_add(b),
                    Reduction::Minimum => a.min(b),
                    Reduction::Maximum => a.max(b),
                };
                Some(Self::Integers(a.iter().zip(b).map(combine).collect()))
            }
            (Self::Doubles(a), Self::Doubles(b)) => {
                let combine = |(&a, &b): (&f64, &f64)| match reduction {
                    Reduction::Sum => a + b,
                    Reduction::Minimum => a.min(b),
                    Reduction::Maximum => a.max(b),
                };
                Some(Self::Doubles(a.iter().zip(b).map(combine).collect()))
            }
            _ => None,
        }
    }

    /// What combining it with another costs the host.
    pub(super) fn combining(&self) -> Work {
        let once = Work { loads: 2, stores: 1, ..Work::default() };
        match self {
            Self::Bytes(_) => Work::default(),
            Self::Integers(values) => Work { integers: 1, ..once } * values.len() as u64,
            Self::Doubles(values) => Work { floats: 1, ..once } * values.len() as u64,
        }
    }
}

impl Pattern {
    /// Any message.
    pub const ANY: Self = Self { source: None, tag: None };

    /// Whether a message is wanted.
    pub(super) fn matches(&self, source: u32, tag: u32) -> bool {
        self.source.is_none_or(|wanted| wanted == source)
            && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to rank {} with tag {}", self.rank, self.tag)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source {
            Some(source) => write!(f, "from rank {source}")?,
            None => f.write_str("from any rank")?,
        }
        match self.tag {
            Some(tag) => write!(f, " with tag {tag}"),
            None => f.write_str(" with any tag"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.kind)
    }
}
