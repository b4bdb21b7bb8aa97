//! Channels: how the SPU reaches everything outside its local store.

use mmgp_base::units::Cycles;

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

#[cfg(test)]
mod tests {
    use super::super::pipeline::tests::CELL_BE;
    use super::super::{Compiler, LocalAddress, LocalStore, PlainSpu, Quadword, Spu, Stopwatch};
    use super::*;

    /// Channel 3 holds the word last written to it plus 1, and lets readers wait.
    #[derive(Debug, Default)]
    struct Successor {
        word: Option<u32>,
        wait: Cycles,
    }

    impl Channels for Successor {
        fn count(&mut self, channel: Channel) -> u32 {
            u32::from(channel == Channel(3) && self.word.is_some())
        }

        fn read(&mut self, _: Channel) -> ChannelRead {
            let word = self.word.take().expect("something was written");
            ChannelRead { word: word + 1, wait: self.wait }
        }

        fn write(&mut self, _: Channel, word: u32) -> Cycles {
            self.word = Some(word);
            Cycles(0)
        }
    }

    /// Writes 41, and returns the counts before and after and what it reads.
    fn converse<S: Spu>(spu: &mut S) -> [Quadword; 3] {
        let before = spu.rchcnt(Channel(3));
        let word = spu.il(41);
        spu.wrch(Channel(3), word);
        let after = spu.rchcnt(Channel(3));
        let read = spu.rdch(Channel(3));
        [before, after, read].map(|register| spu.value(register))
    }

    #[test]
    fn words_go_through_channels_by_the_preferred_slot_plain_and_timed() {
        let expected = [0, 1, 42].map(|word| Quadword::from_words([word, 0, 0, 0]));
        let mut store = LocalStore::new();
        let (mut one, mut other) = (Successor::default(), Successor::default());
        let mut plain = PlainSpu::new(&mut store).with_channels(&mut one);
        assert_eq!(converse(&mut plain), expected);
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut timed = stopwatch.start(&mut store).with_channels(&mut other);
        assert_eq!(converse(&mut timed), expected);
    }

    /// Whether `bisled` branches, and its link, with so many events to be read.
    fn check_event(events: u32, taken: bool) {
        #[derive(Debug)]
        struct Events(u32);
        impl Channels for Events {
            fn count(&mut self, channel: Channel) -> u32 {
                if channel == Channel::EVENT_STATUS { self.0 } else { 0 }
            }
            fn read(&mut self, _: Channel) -> ChannelRead {
                unreachable!("only counts are asked for")
            }
            fn write(&mut self, _: Channel, _: u32) -> Cycles {
                unreachable!("only counts are asked for")
            }
        }
        fn call<S: Spu>(spu: &mut S) -> (Quadword, bool) {
            let target = spu.ila(0x80);
            let (link, taken) = spu.bisled(target, LocalAddress(0x40));
            (spu.value(link), taken)
        }
        let mut store = LocalStore::new();
        let expected = (Quadword::from_words([0x40, 0, 0, 0]), taken);
        let mut channels = Events(events);
        let mut plain = PlainSpu::new(&mut store).with_channels(&mut channels);
        assert_eq!(call(&mut plain), expected);
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut timed = stopwatch.start(&mut store).with_channels(&mut channels);
        assert_eq!(call(&mut timed), expected);
    }

    #[test]
    fn a_branch_on_external_data_is_taken_while_an_event_waits() {
        check_event(0, false);
        check_event(1, true);
    }

    fn check_wait(wait: u64, expected: u64) {
        let mut store = LocalStore::new();
        let mut channels = Successor { word: Some(1), wait: Cycles(wait) };
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut spu = stopwatch.start(&mut store).with_channels(&mut channels);
        spu.il(0);
        let read = spu.rdch(Channel(3));
        spu.ai(read, 1);
        let profile = stopwatch.stop();
        assert_eq!((profile.cycles, profile.channel_wait), (Cycles(expected), Cycles(wait)));
    }

    #[test]
    fn a_channel_that_blocks_delays_everything_behind_it() {
        // `il` and `rdch` issue in cycle 0, `ai` 6 cycles later, when the word is there.
        check_wait(0, 7);
        // `il` takes cycle 0; `rdch` issues in cycle 101, `ai` in 107.
        check_wait(100, 108);
    }

    #[test]
    #[should_panic(expected = "was started without channels")]
    fn a_kernel_without_channels_must_not_use_any() {
        PlainSpu::new(&mut LocalStore::new()).rdch(Channel(3));
    }
}
