//! Lines of cells that go through local store, double-buffered: while some are computed, the next come and
//! the last ones leave.
//!
//! What lies where in the local store of a rank.
//!
//! ```text
//! program, messages | coefficients | sums | face of i | face of j | face of k | lines, twice | stack
//! ```
//!
//! Faces are as long as a block needs them: that of i has a quadword for each pair of angles and each line,
//! that of j a line of cells for each plane, that of k a line of cells for each j. They are received into and
//! sent from where they lie.

use super::cells::{Array, Cells};
use crate::layout::Room;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;
use mmgp_cell::context::SpeImage;
use mmgp_cell::mfc::{Command, Direction};
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_kernels::sweep3d::{coefficients_bytes, face_bytes};
use mmgp_spu::{LOCAL_STORE_BYTES, LocalAddress, LocalStoreFull};
use mmgp_sweep::{I, J, Octant, Sign, Step};

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
    pub map: &'a RankMap,
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

    /// The address of the line of a chunk in a set of buffers.
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

/// Code and data of the program with its messages, as published: 49.8 KB of text, 0.8 of data and 4.4 of
/// bss (Pakin, Lang and Kerbyson 2009).
const PROGRAM: u32 = 56_320;
/// What of that is text and data.
const CODE: u32 = 51_840;
/// The address of the state of the messages: in the bss.
pub const MESSAGES: LocalAddress = LocalAddress(CODE);
/// The most that its stack grows to; not published.
const STACK: Bytes = Bytes(8192);
/// The size of a local store.
const END: u64 = LOCAL_STORE_BYTES as u64;

/// The most bytes of a set of buffers.
const MOST_OF_SET: u64 = 24 * 1024;

/// How large the parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    /// Cells along i, and lines along j.
    pub cells: u32,
    pub lines: u32,
    /// Planes of a block.
    pub planes: u32,
    /// Bytes of the angles of a block: of a face, for each cell.
    pub angles: u32,
    /// Bytes of the coefficients of all blocks of angles.
    pub coefficients: u32,
}

/// The beginnings of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankMap {
    pub coefficients: LocalAddress,
    /// Quadwords that are summed up over all ranks, and room for those of others.
    pub sums: LocalAddress,
    pub faces: [LocalAddress; 3],
    /// Bytes of each face.
    pub face_bytes: [u32; 3],
    /// The two sets of buffers that lines go through.
    pub sets: [LocalAddress; 2],
    /// Lines of a set.
    pub lines: u32,
    end: u32,
}

/// Bytes of the sums.
const SUMS: Bytes = Bytes(512);

/// Bytes of what kernels need of the directions of an octant and a block of angles.
pub fn fan_bytes(angles: u32) -> u64 {
    coefficients_bytes(angles).0 + 3 * face_bytes(angles).0
}

impl RankMap {
    /// The map for a rank's block of so many cells along i, j and k, and so many angles of those of an octant.
    ///
    /// # Errors
    /// The errors of [`RankMap::new`].
    pub fn of_block([cells, lines, planes]: [u32; 3], [own, all]: [u32; 2]) -> Result<Self> {
        let fans = Octant::COUNT as u32 * all / own;
        Self::new(Sizes {
            cells,
            lines,
            planes,
            angles: face_bytes(own).0 as u32,
            coefficients: fan_bytes(own) as u32 * fans,
        })
    }

    /// The map for parts of these sizes.
    ///
    /// # Errors
    /// [`LocalStoreFull`] where there is no room for two lines beside the faces.
    fn new(sizes: Sizes) -> Result<Self> {
        let Sizes { cells, lines, planes, angles, coefficients } = sizes;
        let mut room = Room::of_lines(PROGRAM);
        let (coefficients, sums) = (room.take(Bytes(coefficients.into())), room.take(SUMS));
        let face_bytes = [lines * planes * angles, cells * planes * angles, cells * lines * angles];
        let faces = face_bytes.map(|bytes| room.take(Bytes(bytes.into())));
        let line = set_bytes(cells, 1);
        let left = END.saturating_sub(u64::from(room.end()) + STACK.0) / 2;
        let together = (LARGEST / Array::Flux.line_bytes(cells).max(16))
            .min(MOST_OF_SET.min(left) / line)
            .min(u64::from(lines)) as u32;
        let needed = u64::from(room.end()) + 2 * line + STACK.0;
        if together == 0 {
            let what = format!(
                "a block of {cells} x {lines} x {planes} cells: {} bytes of faces, {} of a line and \
                 the next one, and the program",
                face_bytes.iter().sum::<u32>(),
                2 * line
            );
            return Err(Error::other(LocalStoreFull { what, needed, available: END }));
        }
        let sets = [(); 2].map(|()| room.take(Bytes(set_bytes(cells, together))));
        Ok(Self { coefficients, sums, faces, face_bytes, sets, lines: together, end: room.end() })
    }

    /// The address of an array's lines in a set of buffers.
    pub fn of_set(&self, set: usize, array: Array, cells: u32) -> LocalAddress {
        // What a sweep does not need takes the place of what nothing else does.
        let array = if array == Array::External { Array::Total } else { array };
        let before = SWEPT.iter().take_while(|&&other| other != array);
        let offset: u64 = before.map(|it| u64::from(self.lines) * it.line_bytes(cells)).sum();
        self.sets[set].offset(Bytes(offset))
    }

    /// The first byte behind all of it.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The program with its room.
    pub fn image(&self) -> SpeImage {
        SpeImage {
            name: "Sweep3D",
            code: Bytes(CODE.into()),
            data: Vec::new(),
            buffers: Bytes(u64::from(self.end - CODE)),
            // But for the state of the messages, which see to it themselves.
            zeros: Vec::new(),
            stack: STACK,
        }
    }
}

/// The arrays that a sweep needs, in the order in which they lie in a set.
const SWEPT: [Array; 3] = [Array::Source, Array::Flux, Array::Total];

/// Bytes of a set of so many lines.
fn set_bytes(cells: u32, lines: u32) -> u64 {
    u64::from(lines) * SWEPT.map(|array| array.line_bytes(cells)).iter().sum::<u64>()
}

/// The largest transfer of one command.
pub const LARGEST: u64 = 16_384;

/// Begins to move so many bytes, by as many commands as it takes.
///
/// # Errors
/// What a command may run into.
pub async fn transfer(
    spe: &Spe,
    direction: Direction,
    (local, effective): (LocalAddress, EffectiveAddress),
    bytes: u64,
    tag: u8,
) -> Result<()> {
    for start in (0..bytes).step_by(LARGEST as usize) {
        let length = Bytes(LARGEST.min(bytes - start));
        let (local, effective) = (local.offset(Bytes(start)), effective.offset(start));
        spe.mfc.enqueue(Command::new(direction, local, effective, length, tag)).await?;
    }
    Ok(())
}
