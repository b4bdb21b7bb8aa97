//! Lines of cells that go through local store, double-buffered: while some are computed, the next come and
//! the last ones leave.

use super::cells::{Array, Cells};
use super::local_map::LocalMap;
use super::transfers::transfer;
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_cell::Spe;
use mmgp_cell::mfc::Direction;
use mmgp_spu::LocalAddress;
use mmgp_sweep::{I, J, Sign, Step};

/// Tag groups: what comes into each set of buffers, and what goes out of it.
const GETS: u8 = 0;
const PUTS: u8 = 2;

/// Lines of a plane that go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Their plane.
    pub k: u32,
    /// The first of them along j, and how many there are.
    pub first: u32,
    pub count: u32,
}

/// What of each cell is fetched and what is stored.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    pub inputs: &'static [Array],
    pub outputs: &'static [Array],
}

/// The cells of a rank, their local store and who moves them.
pub struct Lines<'a> {
    pub spe: &'a Spe,
    pub cells: &'a Cells,
    pub map: &'a LocalMap,
}

impl Lines<'_> {
    /// All lines, plane by plane.
    pub fn all(&self) -> Vec<Chunk> {
        let [_, _, kt] = self.cells.extents;
        (0..kt).flat_map(|k| self.of_plane(k, Sign::Plus)).collect()
    }

    /// The lines of a block, in the order of the sweep.
    pub fn of_step(&self, step: &Step) -> Vec<Chunk> {
        let sign = step.octant.signs[J];
        step.planes_in_order().flat_map(|k| self.of_plane(k as u32, sign)).collect()
    }

    fn of_plane(&self, k: u32, sign: Sign) -> impl Iterator<Item = Chunk> {
        let ([_, jt, _], each) = (self.cells.extents, self.map.lines);
        let count = jt.div_ceil(each);
        (0..count).map(move |visited| {
            let first = each * sign.nth(visited as usize, count as usize) as u32;
            Chunk { k, first, count: each.min(jt - first) }
        })
    }

    /// Where the line of a chunk lies in a set of buffers.
    pub fn place(&self, set: usize, array: Array, within: u32) -> LocalAddress {
        let line = array.line_bytes(self.cells.extents[I]);
        self.map.of_set(set, array, self.cells.extents[I]).offset(Bytes(u64::from(within) * line))
    }

    /// Begins to fetch the first of some chunks, for [`Lines::stream`] to find; what is done in between
    /// overlaps with that.
    ///
    /// # Errors
    /// What a transfer may run into.
    pub async fn prefetch(&self, chunks: &[Chunk], pass: Pass) -> Result<()> {
        match chunks.first() {
            Some(&chunk) => self.begin(Direction::Get, pass.inputs, chunk, 0).await,
            None => Ok(()),
        }
    }

    /// Runs `compute(chunk, set)` over the chunks, in their order; when it is done all that they have
    /// left is in memory.
    ///
    /// # Errors
    /// What a transfer may run into.
    pub async fn stream(
        &self,
        chunks: &[Chunk],
        pass: Pass,
        mut compute: impl AsyncFnMut(Chunk, usize),
    ) -> Result<()> {
        let mfc = &self.spe.mfc;
        for (number, &chunk) in chunks.iter().enumerate() {
            let set = number % 2;
            if let Some(&next) = chunks.get(number + 1) {
                mfc.wait_for(PUTS + (1 - set) as u8).await;
                self.begin(Direction::Get, pass.inputs, next, 1 - set).await?;
            }
            mfc.wait_for(GETS + set as u8).await;
            compute(chunk, set).await;
            self.begin(Direction::Put, pass.outputs, chunk, set).await?;
        }
        mfc.wait_for_all(0b11 << PUTS).await;
        Ok(())
    }

    /// Begins to move arrays of a chunk.
    async fn begin(
        &self,
        direction: Direction,
        arrays: &[Array],
        chunk: Chunk,
        set: usize,
    ) -> Result<()> {
        let tag = set as u8 + if direction == Direction::Get { GETS } else { PUTS };
        for &array in arrays {
            let places = (self.place(set, array, 0), self.cells.line(array, chunk.first, chunk.k));
            let bytes = u64::from(chunk.count) * array.line_bytes(self.cells.extents[I]);
            transfer(self.spe, direction, places, bytes, tag).await?;
        }
        Ok(())
    }
}
