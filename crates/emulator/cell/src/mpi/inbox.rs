//! What has arrived at a rank.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::message::{Data, Message, Pattern};
use mmgp_base::units::Bytes;

/// Which messages can be meant: those of the program, or those of one collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// With a tag.
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
pub enum Step {
    /// Copy the long message to the receiver, who has answered.
    Copy,
    /// Answer a sender.
    Answer { source: u32, channel: Channel, id: u64 },
    /// Take a message.
    Receive { message: Received, copies: Copies },
    /// Nothing.
    Wait,
}

/// What is left to copy of a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// All of it, from the sender's buffer.
    FromBuffer,
    /// Nothing.
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
    pub fn next(&mut self, outgoing: Option<&Outgoing>, expected: Option<&Expected>) -> Step {
        if outgoing.is_some_and(|outgoing| self.answered.remove(&outgoing.id)) {
            return Step::Copy;
        }
        let Some(expected) = expected else { return Step::Wait };
        if let Expected::Rendezvous { source, channel, id } = *expected {
            let data = self.data.remove(&id);
            return data.map_or(Step::Wait, |payload| {
                let message = Received { source, channel, payload };
                Step::Receive { message, copies: Copies::Done }
            });
        }
        let first = self.arrived.iter().position(|arrived| expected.matches(arrived));
        let Some(arrived) = first.and_then(|index| self.arrived.remove(index)) else {
            return Step::Wait;
        };
        let Arrived { source, channel, content } = arrived;
        match content {
            Content::Message(payload) => {
                let message = Received { source, channel, payload };
                Step::Receive { message, copies: Copies::FromBuffer }
            }
            Content::Question(id) => Step::Answer { source, channel, id },
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
