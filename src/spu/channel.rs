//! Channels: how the SPU reaches everything outside its local store.

use crate::units::Cycles;

/// What stands at the other end of an SPU's channels: the MFC, mailboxes, signals, the decrementer.
/// Whoever runs a kernel that uses channels provides it.
pub trait Channels: std::fmt::Debug {
    /// How often `channel` can be read or written before it blocks.
    fn count(&mut self, channel: Channel) -> u32;

    /// Takes a word from `channel`.
    fn read(&mut self, channel: Channel) -> ChannelRead;

    /// Puts a word into `channel`; returns how long it blocks the SPU before.
    fn write(&mut self, channel: Channel, word: u32) -> Cycles;
}

/// What reading a channel gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelRead {
    /// The word that was read.
    pub word: u32,
    /// How long the channel blocks the SPU before.
    pub wait: Cycles,
}

/// A channel, by its number from 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel(pub u8);

impl Channel {
    /// SPU_RdEventStat: the events that wait to be read.
    pub const EVENT_STATUS: Self = Self(0);
}

/// The channels with which a kernel was started.
///
/// # Panics
/// Where it was started without: then it must not use any.
#[inline(always)]
pub(super) fn connected<'c>(channels: &'c mut Option<&mut dyn Channels>) -> &'c mut dyn Channels {
    match channels {
        Some(channels) => *channels,
        None => panic!("the kernel uses a channel, but was started without channels"),
    }
}
