//! What lies where in the local store of an SPE that sweeps lines.
//!
//! ```text
//!   program | coefficients | fix-ups | arguments | line, twice | stack
//! ```

use crate::layout::Room;
use mmgp_base::units::Bytes;
use mmgp_cell::context::SpeImage;
use mmgp_kernels::sweep3d::{MOMENTS_BYTES, TOTAL_BYTES, coefficients, coefficients_bytes};
use mmgp_spu::{LocalAddress, Quadword};
use mmgp_sweep::{I, Problem};

use super::arguments::Calls;
use super::faces::{ELEMENT, pairs};

/// Room for the code, the two forms of the loop over cells and what serves calls; not published.
const CODE: u32 = 32_768;
/// The most that its stack grows to; not published.
const STACK: Bytes = Bytes(8192);

/// Coefficients of a pair of angles.
const COEFFICIENTS: u64 = coefficients_bytes(2).0;

/// Where the parts begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalMap {
    /// Cells of a line.
    pub cells: u32,
    /// Pairs of angles of a block.
    pairs: u32,
    pub fixed: LocalAddress,
    pub arguments: LocalAddress,
    /// The two sets of buffers that lines go through.
    sets: [LocalAddress; 2],
    end: u32,
}

/// What a line works on, in the order in which it lies in a set of buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    Source,
    Flux,
    Total,
    /// What flows along j.
    J,
    K,
    I,
}

impl Buffer {
    const ALL: [Self; 6] = [Self::Source, Self::Flux, Self::Total, Self::J, Self::K, Self::I];

    /// Bytes of it, of a line of so many cells.
    pub fn bytes(self, cells: u32) -> u64 {
        match self {
            Self::Source | Self::Flux => MOMENTS_BYTES.0 * u64::from(cells),
            Self::Total => TOTAL_BYTES.0 * u64::from(cells),
            Self::J | Self::K => ELEMENT * u64::from(cells),
            Self::I => ELEMENT,
        }
    }
}

impl LocalMap {
    /// For the lines of a problem.
    pub fn new(problem: &Problem, calls: &Calls) -> Self {
        let (cells, pairs) = (problem.cells()[I] as u32, pairs(problem));
        let coefficients = (COEFFICIENTS as u32 * pairs) * problem.fan_count() as u32;
        let mut room = Room::of_lines(CODE + coefficients);
        let set: u64 = Buffer::ALL.iter().map(|it| it.bytes(cells).next_multiple_of(128)).sum();
        let (fixed, arguments) = (room.take(Bytes(16)), room.take(calls.bytes()));
        let sets = [(); 2].map(|()| room.take(Bytes(set)));
        Self { cells, pairs, fixed, arguments, sets, end: room.end() }
    }

    /// Coefficients of a pair of angles of an octant and a block of angles.
    pub fn coefficients(&self, fan: u32, pair: u32) -> LocalAddress {
        let number = u64::from(fan * self.pairs + pair);
        LocalAddress(CODE).offset(Bytes(COEFFICIENTS * number))
    }

    /// Where a buffer of a set lies.
    pub fn of_set(&self, set: usize, buffer: Buffer) -> LocalAddress {
        let before = Buffer::ALL.iter().take_while(|&&it| it != buffer);
        let offset = before.map(|it| it.bytes(self.cells).next_multiple_of(128)).sum();
        self.sets[set].offset(Bytes(offset))
    }

    /// The program with its room; its coefficients come with it.
    pub fn image(&self, problem: &Problem) -> SpeImage {
        let of_fan = |step| {
            let directions = problem.directions(&step);
            directions.chunks(2).flat_map(coefficients).collect::<Vec<Quadword>>()
        };
        let data: Vec<Quadword> =
            problem.steps().filter(|step| step.place.is_first).flat_map(of_fan).collect();
        let buffers = u64::from(self.end - CODE) - 16 * data.len() as u64;
        SpeImage {
            name: "Sweep3D, lines",
            code: Bytes(CODE.into()),
            data,
            buffers: Bytes(buffers),
            zeros: Vec::new(),
            stack: STACK,
        }
    }
}
