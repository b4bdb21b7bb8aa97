//! Data that flow through local store while an SPE computes on them, a block at a time.

use std::ops::Range;

use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::element::Element;
use mmgp_cell::mfc::{Command, Direction};
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

/// Where blocks lie in local store, and how they flow.
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
    /// The whole array in main memory.
    pub main: EffectiveAddress,
    /// Where the block lies in a set of buffers.
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
}

impl Streams {
    /// Lanes of so many bytes a group, laid out one behind the other.
    pub fn new(
        buffers: Buffers,
        inputs: &[(EffectiveAddress, u64)],
        outputs: &[(EffectiveAddress, u64)],
    ) -> Self {
        let mut end = 0;
        let mut lane = |&(main, bytes): &(EffectiveAddress, u64)| {
            let offset = end;
            end += buffers.groups * bytes as u32;
            Lane { main, offset, bytes }
        };
        let inputs = inputs.iter().map(&mut lane).collect();
        let outputs = outputs.iter().map(&mut lane).collect();
        let second = match buffers.transfers {
            Transfers::DoubleBuffered => buffers.at + end,
            Transfers::OneByOne => buffers.at,
        };
        Self { inputs, outputs, sets: [buffers.at, second], buffers }
    }

    /// Where the lane with that number, inputs first, lies in a set of buffers.
    pub fn offset(&self, lane: usize) -> u32 {
        let lanes = self.inputs.iter().chain(&self.outputs);
        lanes.map(|lane| lane.offset).nth(lane).unwrap_or(0)
    }

    /// Begins to fetch the first block of `share`, where blocks are double-buffered, so that
    /// [`Streams::run`] finds it; what is done between them overlaps with that.
    pub async fn prefetch(&self, spe: &impl Element, share: &Range<u32>) -> Result<()> {
        if self.buffers.transfers == Transfers::DoubleBuffered && !share.is_empty() {
            self.issue(spe, Direction::Get, 0, self.block(share, 0)).await?;
        }
        Ok(())
    }

    /// First group and number of groups of a block.
    fn block(&self, share: &Range<u32>, number: u32) -> (u32, u32) {
        let first = share.start + number * self.buffers.groups;
        (first, self.buffers.groups.min(share.end - first))
    }

    /// Runs `compute(set, groups)` over the groups of `share`, block by block, in their order.
    /// `set` is the address of the buffers that the block lies in.
    ///
    /// [`Streams::prefetch`] must have been called for the same share.
    pub async fn run(
        &self,
        spe: &impl Element,
        share: Range<u32>,
        mut compute: impl AsyncFnMut(u32, u32),
    ) -> Result<()> {
        let blocks = (share.end - share.start).div_ceil(self.buffers.groups);
        for number in 0..blocks {
            let set = number % 2;
            match self.buffers.transfers {
                Transfers::OneByOne => {
                    self.issue(spe, Direction::Get, set, self.block(&share, number)).await?;
                }
                Transfers::DoubleBuffered if number + 1 < blocks => {
                    let next = self.block(&share, number + 1);
                    self.issue(spe, Direction::Get, 1 - set, next).await?;
                }
                Transfers::DoubleBuffered => {}
            }
            spe.wait_for(get_tag(set)).await;
            if number == 0 {
                spe.loop_begins();
            }
            spe.wait_for(put_tag(set)).await;
            let (first, groups) = self.block(&share, number);
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
            let local = LocalAddress(self.sets[set as usize] + lane.offset);
            let effective = lane.main.offset(u64::from(first) * lane.bytes);
            let bytes = Bytes(u64::from(groups) * lane.bytes);
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
