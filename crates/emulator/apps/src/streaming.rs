//! Data that flow through local store while an SPE computes on them, a block at a time.
//!
//! A share of the patterns may begin anywhere in a quadword of an array of bytes, and DMA moves whole
//! quadwords: what is fetched is rounded outwards to them, and a block lies as far behind the
//! beginning of a quadword in local store as it does in main memory. What is stored is whole quadwords,
//! for the bytes beside it belong to others.
//!
//! How data flow goes with how a program was brought to the machine: its [`Port`].

use std::ops::Range;

use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::Element;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_kernels::Version;
use mmgp_runtime::Signalling;
use mmgp_spu::LocalAddress;

/// How the transfers of blocks and the computation go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfers {
    /// While a block is computed, the next one is fetched and the last one stored, each with all of
    /// its arrays at once.
    DoubleBuffered,
    /// Every array of a block is fetched, the block computed, every array stored: one transfer
    /// after the other, each waited for.
    OneByOne,
}

/// The room for blocks in local store, and how they flow.
#[derive(Debug, Clone, Copy)]
pub struct Buffers {
    /// The first byte of their room.
    pub at: u32,
    /// Groups of patterns in a block.
    pub groups: u32,
    /// How they flow.
    pub transfers: Transfers,
}

/// An array that is streamed, a block at a time.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    /// The share's part of the array in main memory.
    pub main: EffectiveAddress,
    /// The offset of a block in a set of buffers.
    pub offset: u32,
    /// Bytes for each group.
    pub bytes: u64,
}

/// Arrays that flow in and out, and where their two sets of buffers lie.
pub struct Streams {
    /// Fetched before a block is computed.
    inputs: Vec<Lane>,
    /// Stored after it.
    outputs: Vec<Lane>,
    /// The two sets of buffers; one and the same where transfers come one by one.
    sets: [u32; 2],
    buffers: Buffers,
    /// The groups that flow.
    share: Range<u32>,
}

/// The unit of large transfers [bytes].
const QUADWORD: u64 = 16;

impl Streams {
    /// Lanes of so many bytes a group, laid out one behind the other, for the groups of `share`.
    /// A block of an input and a group of an output are whole quadwords.
    pub fn new(
        buffers: Buffers,
        share: &Range<u32>,
        inputs: &[(EffectiveAddress, u64)],
        outputs: &[(EffectiveAddress, u64)],
    ) -> Self {
        let whole = |bytes: u64| bytes.is_multiple_of(QUADWORD);
        let of_block = |&(_, bytes): &(_, u64)| whole(u64::from(buffers.groups) * bytes);
        assert!(inputs.iter().all(of_block), "invariant: blocks lie alike in their quadwords");
        let stored = outputs.iter().all(|&(_, bytes)| whole(bytes));
        assert!(stored, "invariant: what is stored shares no quadword");
        let mut end = 0;
        let mut lane = |&(array, bytes): &(EffectiveAddress, u64)| {
            let main = array.offset(u64::from(share.start) * bytes);
            let offset = end + (main.0 % QUADWORD) as u32;
            end = (offset + buffers.groups * bytes as u32).next_multiple_of(QUADWORD as u32);
            Lane { main, offset, bytes }
        };
        let inputs = inputs.iter().map(&mut lane).collect();
        let outputs = outputs.iter().map(&mut lane).collect();
        let second = match buffers.transfers {
            Transfers::DoubleBuffered => buffers.at + end,
            Transfers::OneByOne => buffers.at,
        };
        Self { inputs, outputs, sets: [buffers.at, second], buffers, share: share.clone() }
    }

    /// The address of the lane with that number, inputs first, in a set of buffers.
    pub fn at(&self, set: u32, lane: usize) -> LocalAddress {
        let lanes = self.inputs.iter().chain(&self.outputs);
        LocalAddress(set + lanes.map(|lane| lane.offset).nth(lane).unwrap_or(0))
    }

    /// Begins to fetch the first block, where blocks are double-buffered, so that [`Streams::run`]
    /// finds it; what is done between them overlaps with that.
    pub async fn prefetch(&self, spe: &impl Element) -> Result<()> {
        if self.buffers.transfers == Transfers::DoubleBuffered && !self.share.is_empty() {
            self.issue(spe, Direction::Get, 0, self.block(0)).await?;
        }
        Ok(())
    }

    /// First group, counted within the share, and number of groups of a block.
    fn block(&self, number: u32) -> (u32, u32) {
        let first = number * self.buffers.groups;
        (first, self.buffers.groups.min(self.share.len() as u32 - first))
    }

    /// Runs `compute(set, groups)` over the groups of the share, block by block, in their order.
    /// `set` is the address of the buffers that the block lies in.
    ///
    /// [`Streams::prefetch`] must have been called.
    pub async fn run(
        &self,
        spe: &impl Element,
        mut compute: impl AsyncFnMut(u32, u32),
    ) -> Result<()> {
        let blocks = (self.share.len() as u32).div_ceil(self.buffers.groups);
        for number in 0..blocks {
            let set = number % 2;
            match self.buffers.transfers {
                Transfers::OneByOne => {
                    self.issue(spe, Direction::Get, set, self.block(number)).await?;
                }
                Transfers::DoubleBuffered if number + 1 < blocks => {
                    let next = self.block(number + 1);
                    self.issue(spe, Direction::Get, 1 - set, next).await?;
                }
                Transfers::DoubleBuffered => {}
            }
            spe.wait_for(get_tag(set)).await;
            if number == 0 {
                spe.loop_begins();
            }
            spe.wait_for(put_tag(set)).await;
            let (first, groups) = self.block(number);
            compute(self.sets[set as usize], groups).await;
            self.issue(spe, Direction::Put, set, (first, groups)).await?;
        }
        if blocks > 0 {
            spe.loop_ends();
        }
        spe.wait_for(put_tag(0)).await;
        spe.wait_for(put_tag(1)).await;
        Ok(())
    }

    async fn issue(
        &self,
        spe: &impl Element,
        direction: Direction,
        set: u32,
        (first, groups): (u32, u32),
    ) -> Result<()> {
        let (lanes, tag) = match direction {
            Direction::Get => (&self.inputs, get_tag(set)),
            Direction::Put => (&self.outputs, put_tag(set)),
        };
        for lane in lanes {
            let main = lane.main.offset(u64::from(first) * lane.bytes).0;
            let before = main % QUADWORD;
            let local = LocalAddress(self.sets[set as usize] + lane.offset - before as u32);
            let effective = EffectiveAddress(main - before);
            let bytes = (before + u64::from(groups) * lane.bytes).next_multiple_of(QUADWORD);
            let bytes = Bytes(bytes);
            spe.enqueue_operands(Command::new(direction, local, effective, bytes, tag)).await?;
            if self.buffers.transfers == Transfers::OneByOne {
                spe.wait_for(tag).await;
            }
        }
        Ok(())
    }
}

const fn get_tag(set: u32) -> u8 {
    set as u8
}

const fn put_tag(set: u32) -> u8 {
    2 + set as u8
}

/// How the functions of a program were brought to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Tuned for the SPU: vectorised kernels, DMA in large pieces that overlaps with them.
    Tuned,
    /// Rewritten for the SPU as in 2006: as [`Self::Tuned`], but compiled by a compiler that fuses no
    /// multiplication with the addition behind it.
    Unfused,
    /// Ported as at first: scalar kernels, one transfer after the other, mailboxes.
    Naive,
    /// Not at all: everything runs on the host.
    Ppe,
}

impl Port {
    /// Whether what its kernels take depends on nothing that they compute.
    pub(crate) const fn is_vectorised(self) -> bool {
        matches!(self, Self::Tuned | Self::Unfused)
    }

    /// The kernels that are loaded; on the host none of them runs.
    pub(crate) const fn version(self) -> Version {
        match self {
            Self::Naive => Version::Naive,
            Self::Unfused => Version::Unfused,
            Self::Tuned | Self::Ppe => Version::Tuned,
        }
    }
}

/// How blocks flow around kernels of a version.
pub(crate) const fn transfers(version: Version) -> Transfers {
    match version {
        Version::Naive => Transfers::OneByOne,
        Version::Unfused | Version::Tuned => Transfers::DoubleBuffered,
    }
}

/// How the host and a program of such kernels tell each other of an off-load.
pub(crate) const fn signalling(version: Version) -> Signalling {
    match version {
        Version::Naive => Signalling::Mailbox,
        Version::Unfused | Version::Tuned => Signalling::Memory,
    }
}
