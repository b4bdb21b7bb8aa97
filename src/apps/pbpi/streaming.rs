//! Data that flow through local store while an SPE computes on them: double buffering.

use crate::cell::mfc::{Command, Direction};
use crate::cell::offload::Loop;
use crate::cell::{EffectiveAddress, Spe};
use crate::error::Result;
use crate::spu::LocalAddress;
use crate::units::Bytes;

/// Groups of patterns in a block. Nothing overlaps the fetching of the first block, so blocks are
/// small: of 8, 16, 32, 64 and 128 groups, 8 and 16 took the least time on a QS20 with all SPEs
/// busy (107 taxa x 10,000 sites at (2, 8): 32.2, 32.9, 34.7, 37.7, 43.6 ms), and 16 needs half the
/// DMA commands of 8.
pub const BLOCK_GROUPS: u32 = 16;

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
    pub inputs: Vec<Lane>,
    /// Stored after it.
    pub outputs: Vec<Lane>,
    /// The two sets of buffers.
    pub buffers: [u32; 2],
}

impl Streams {
    /// Lanes of so many bytes a group, laid out one behind the other.
    pub fn new(
        buffers: u32,
        inputs: &[(EffectiveAddress, u64)],
        outputs: &[(EffectiveAddress, u64)],
    ) -> Self {
        let mut end = 0;
        let mut lane = |&(main, bytes): &(EffectiveAddress, u64)| {
            let offset = end;
            end += BLOCK_GROUPS * bytes as u32;
            Lane { main, offset, bytes }
        };
        let inputs = inputs.iter().map(&mut lane).collect();
        let outputs = outputs.iter().map(&mut lane).collect();
        Self { inputs, outputs, buffers: [buffers, buffers + end] }
    }

    /// Where the lane with that number, inputs first, lies in a set of buffers.
    pub fn offset(&self, lane: usize) -> u32 {
        let lanes = self.inputs.iter().chain(&self.outputs);
        lanes.map(|lane| lane.offset).nth(lane).unwrap_or(0)
    }

    /// Runs `compute(set, groups)` over the groups of `share`, block by block: while a block is
    /// computed, the next one is fetched and the last one stored. `set` is the address of the
    /// buffers that the block lies in.
    pub async fn run(
        &self,
        spe: &Spe,
        share: std::ops::Range<u32>,
        mut compute: impl AsyncFnMut(u32, u32),
    ) -> Result<Loop> {
        let blocks = (share.end - share.start).div_ceil(BLOCK_GROUPS);
        let block = |number: u32| {
            let first = share.start + number * BLOCK_GROUPS;
            (first, BLOCK_GROUPS.min(share.end - first))
        };
        let mut start = None;
        if blocks > 0 {
            self.issue(spe, Direction::Get, 0, block(0)).await?;
        }
        for number in 0..blocks {
            let set = number % 2;
            if number + 1 < blocks {
                self.issue(spe, Direction::Get, 1 - set, block(number + 1)).await?;
            }
            spe.mfc.wait_for(get_tag(set)).await;
            start.get_or_insert(spe.sim.now());
            spe.mfc.wait_for(put_tag(set)).await;
            let (first, groups) = block(number);
            compute(self.buffers[set as usize], groups).await;
            self.issue(spe, Direction::Put, set, (first, groups)).await?;
        }
        let end = spe.sim.now();
        spe.mfc.wait_for(put_tag(0)).await;
        spe.mfc.wait_for(put_tag(1)).await;
        Ok(Loop { start: start.unwrap_or(end), end })
    }

    async fn issue(
        &self,
        spe: &Spe,
        direction: Direction,
        set: u32,
        (first, groups): (u32, u32),
    ) -> Result<()> {
        let (lanes, tag) = match direction {
            Direction::Get => (&self.inputs, get_tag(set)),
            Direction::Put => (&self.outputs, put_tag(set)),
        };
        for lane in lanes {
            let local = LocalAddress(self.buffers[set as usize] + lane.offset);
            let effective = lane.main.offset(u64::from(first) * lane.bytes);
            let bytes = Bytes(u64::from(groups) * lane.bytes);
            let command = Command::new(direction, local, effective, bytes, tag);
            spe.mfc.enqueue(command).await?;
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
