//! What lies where in the local store of a rank.
//!
//! ```text
//!   program, messages | coefficients | sums | face of i | face of j | face of k | lines, twice | stack
//! ```
//!
//! Faces are as long as a block needs them: that of i has a quadword for each pair of angles and each line,
//! that of j a line of cells for each plane, that of k a line of cells for each j. They are received into and
//! sent from where they lie.

use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;
use mmgp_cell::context::SpeImage;
use mmgp_spu::{LOCAL_STORE_BYTES, LocalAddress};

use super::cells::Array;
use super::rank::fan_bytes;
use super::transfers::LARGEST;
use crate::layout::Room;
use mmgp_kernels::sweep3d::face_bytes;
use mmgp_sweep::Octant;

/// Code and data of the program with its messages, as published: 49.8 KB of text, 0.8 of data and 4.4 of
/// bss (Pakin, Lang and Kerbyson 2009).
const PROGRAM: u32 = 56_320;
/// What of that is text and data.
const CODE: u32 = 51_840;
/// Where the state of the messages lies: in the bss.
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

/// Where the parts begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalMap {
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

impl LocalMap {
    /// For a rank's block of so many cells along i, j and k, and so many angles of those of an octant.
    ///
    /// # Errors
    /// As [`LocalMap::new`].
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

    /// For parts of these sizes.
    ///
    /// # Errors
    /// [`Error::LocalStoreFull`] where there is no room for two lines beside the faces.
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
            return Err(Error::LocalStoreFull { what, needed, available: END });
        }
        let sets = [(); 2].map(|()| room.take(Bytes(set_bytes(cells, together))));
        Ok(Self { coefficients, sums, faces, face_bytes, sets, lines: together, end: room.end() })
    }

    /// Where an array's lines lie in a set of buffers.
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
