//! What messages are selected by, and how a report of a deadlock calls what a rank waits for.

/// What a rank waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wait {
    /// A descriptor of the rank, for a message with that envelope.
    Receiver(u32, Envelope),
    /// A message of the rank.
    Sender(u32, Envelope),
    /// An answer of the PPE or its host.
    Service(u32),
}

/// What a message is selected by, beside its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Envelope {
    /// The communicator: 0 is that of all ranks.
    pub context: u8,
    pub purpose: Purpose,
    pub tag: u32,
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Purpose {
    /// The program's own.
    Point,
    /// Part of a collective, towards its root.
    Up,
    /// Part of a collective, from its root.
    Down,
}

impl Wait {
    /// As a report of a deadlock says it.
    pub fn name(self) -> String {
        match self {
            Self::Receiver(rank, what) => format!("rank {rank} to receive ({})", what.name()),
            Self::Sender(rank, what) => format!("rank {rank} to send ({})", what.name()),
            Self::Service(function) => format!("the answer of function {function}"),
        }
    }
}

impl Envelope {
    /// As it lies in a descriptor.
    pub const fn encode(self) -> u64 {
        (self.context as u64) << 48 | (self.purpose as u64) << 32 | self.tag as u64
    }

    /// As a report of a deadlock says it.
    fn name(self) -> String {
        match self.purpose {
            Purpose::Point => format!("tag {}", self.tag),
            Purpose::Up => "a collective, to its root".to_string(),
            Purpose::Down => "a collective, from its root".to_string(),
        }
    }
}
