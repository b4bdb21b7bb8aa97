//! What a PPE remembers of messages.

use std::collections::{BTreeMap, VecDeque};

use super::super::state::Post;
use crate::memory::EffectiveAddress;
use mmgp_base::units::Bytes;

/// Receives that wait, messages that wait, and what there was no room for.
pub(super) struct Books {
    /// By the rank that receives.
    posted: BTreeMap<u32, Post>,
    /// In the order of their arrival.
    held: VecDeque<Held>,
    refused: VecDeque<Selected>,
    free: Vec<EffectiveAddress>,
    /// All buffers for messages whose receiver does not wait yet.
    buffers: Vec<EffectiveAddress>,
}

/// What a message is selected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Selected {
    pub from: u32,
    pub to: u32,
    pub envelope: u64,
}

impl Selected {
    /// By a receive of rank `to`.
    pub const fn by(to: u32, post: &Post) -> Self {
        Self { from: post.peer, to, envelope: post.envelope }
    }
}

/// A message that waits for its receive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub is: Selected,
    pub bytes: Bytes,
    pub buffer: EffectiveAddress,
}

/// What there is for a receive.
pub(super) enum Found {
    Held(Held),
    /// It was refused: it has to come again.
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
