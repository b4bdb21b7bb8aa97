//! What runs on the SPEs: lines of a diagonal, double-buffered.
//!
//! What lies where in the local store of an SPE that sweeps lines.
//!
//! ```text
//! program | coefficients | fix-ups | arguments | line, twice | stack
//! ```

use std::cell::RefCell;

use super::lines::{Calls, Diagonal, ELEMENT, Faces, PlacedLine, pairs};
use crate::layout::{InMemory as _, Room};
use crate::sweep3d::cells::{Array, Cells};
use crate::sweep3d::lines::transfer;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles, SimSpan};
use mmgp_cell::context::SpeImage;
use mmgp_cell::mfc::Direction;
use mmgp_cell::{EffectiveAddress, Spe};
use mmgp_kernels::sweep3d::{Line, MOMENTS_BYTES, TOTAL_BYTES, coefficients, coefficients_bytes};
use mmgp_lists::part;
use mmgp_runtime::{Call, Loop, SpeProgram};
use mmgp_spu::{LocalAddress, Quadword};
use mmgp_sweep::{FixUp, I, J, K, Problem};

/// What its function is called.
pub const FUNCTIONS: [&str; 1] = ["sweep lines"];
/// The number of the function.
pub const SWEEP: u32 = 0;

/// Tag groups: what comes into each set of buffers, what goes out of it, arguments, and fix-ups.
const GETS: u8 = 0;
const PUTS: u8 = 2;
const ARGUMENTS: u8 = 4;
const FIXED: u8 = 5;

/// What a line needs, and what it leaves.
const INPUTS: [Buffer; 6] =
    [Buffer::Source, Buffer::Flux, Buffer::Total, Buffer::J, Buffer::K, Buffer::I];
const OUTPUTS: [Buffer; 4] = [Buffer::Flux, Buffer::J, Buffer::K, Buffer::I];

/// The program, with where the data lie, which it is told once.
pub struct LineProgram {
    pub map: LineMap,
    pub cells: Cells,
    pub faces: Faces,
    pub calls: Calls,
    /// Angles of a block.
    pub angles: u32,
    /// The time to find where a line lies.
    pub addressing: Cycles,
    /// Time in kernels, of all SPEs together.
    pub in_kernels: RefCell<SimSpan>,
    /// Fix-ups of each SPE since it began.
    pub fixed: RefCell<Vec<u64>>,
}

impl LineProgram {
    /// Fetches what a call is about: the diagonal, and this SPE's part of its lines.
    async fn arguments(&self, spe: &Spe, call: Call) -> Result<(Diagonal, Vec<PlacedLine>)> {
        let (at, bytes) = (self.map.arguments, self.calls.bytes());
        transfer(spe, Direction::Get, (at, call.arguments), bytes.0, ARGUMENTS).await?;
        spe.mfc.wait_for(ARGUMENTS).await;
        let diagonal = Diagonal::from_quadwords(&spe.read(at, Bytes(16))?);
        let own = part(diagonal.lines, call.share, call.shares);
        let first = at.offset(Bytes(16 * u64::from(own.start + 1)));
        let lines = spe.read(first, Bytes(16 * own.len() as u64))?;
        Ok((diagonal, lines.chunks(1).map(PlacedLine::from_quadwords).collect()))
    }

    /// The address of a buffer's data in main memory.
    fn place(&self, buffer: Buffer, PlacedLine { line, k }: PlacedLine) -> EffectiveAddress {
        match buffer {
            Buffer::Source => self.cells.line(Array::Source, line.j, k),
            Buffer::Flux => self.cells.line(Array::Flux, line.j, k),
            Buffer::Total => self.cells.line(Array::Total, line.j, k),
            Buffer::I => self.faces.of_line(I, line),
            Buffer::J => self.faces.of_line(J, line),
            Buffer::K => self.faces.of_line(K, line),
        }
    }

    /// Begins to move what a line needs, or leaves.
    async fn begin(
        &self,
        spe: &Spe,
        direction: Direction,
        line: PlacedLine,
        set: usize,
    ) -> Result<()> {
        let (buffers, tag): (&[Buffer], u8) = match direction {
            Direction::Get => (&INPUTS, GETS),
            Direction::Put => (&OUTPUTS, PUTS),
        };
        for &buffer in buffers {
            let places = (self.map.of_set(set, buffer), self.place(buffer, line));
            let bytes = buffer.bytes(self.map.cells);
            transfer(spe, direction, places, bytes, tag + set as u8).await?;
        }
        Ok(())
    }

    /// Sweeps a line that is in local store; its fix-ups.
    async fn sweep(&self, spe: &Spe, diagonal: &Diagonal, pair: u32, set: usize) -> u64 {
        let of_line = |buffer| self.map.of_set(set, buffer);
        let line = Line {
            cells: self.map.cells,
            // Of an odd number the last is alone.
            angles: (self.angles - 2 * pair).min(2),
            sign: diagonal.sign,
            fix_up: diagonal.fix_up,
            coefficients: self.map.coefficients(diagonal.fan, pair),
            source: of_line(Buffer::Source),
            flux: of_line(Buffer::Flux),
            total: of_line(Buffer::Total),
            i_face: of_line(Buffer::I),
            j_face: of_line(Buffer::J),
            k_face: of_line(Buffer::K),
        };
        let start = spe.sim.now();
        let fixed = spe.compute(&line).await;
        let mut spent = self.in_kernels.borrow_mut();
        *spent += spe.sim.now().since(start);
        fixed.into()
    }

    /// Sweeps lines: while one is computed the next comes and the last one leaves. All that they leave is
    /// in main memory when it is done.
    async fn run(&self, spe: &Spe, diagonal: &Diagonal, lines: &[PlacedLine]) -> Result<()> {
        let mut fixed = 0;
        for (number, &line) in lines.iter().enumerate() {
            let set = number % 2;
            if number == 0 {
                spe.spend(self.addressing).await;
                self.begin(spe, Direction::Get, line, set).await?;
            }
            if let Some(&next) = lines.get(number + 1) {
                spe.spend(self.addressing).await;
                spe.mfc.wait_for(PUTS + (1 - set) as u8).await;
                self.begin(spe, Direction::Get, next, 1 - set).await?;
            }
            spe.mfc.wait_for(GETS + set as u8).await;
            fixed += self.sweep(spe, diagonal, line.line.pair, set).await;
            self.begin(spe, Direction::Put, line, set).await?;
        }
        if diagonal.fix_up == FixUp::On {
            let sum = {
                let mut of_spes = self.fixed.borrow_mut();
                let sum = &mut of_spes[spe.index as usize];
                *sum += fixed;
                *sum
            };
            spe.write(self.map.fixed, &[Quadword([sum, 0])])?;
            let places = (self.map.fixed, self.calls.fixed(spe.index));
            transfer(spe, Direction::Put, places, 16, FIXED).await?;
        }
        spe.mfc.wait_for_all(0b11 << PUTS | 1 << FIXED).await;
        Ok(())
    }
}

impl SpeProgram for LineProgram {
    const FUNCTIONS: &'static [&'static str] = &FUNCTIONS;

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let (diagonal, lines) = self.arguments(spe, call).await?;
        let start = spe.sim.now();
        self.run(spe, &diagonal, &lines).await?;
        Ok(vec![Loop { start, end: spe.sim.now() }])
    }
}

/// Room for the code, the two forms of the loop over cells and what serves calls; not published.
const CODE: u32 = 32_768;
/// The most that its stack grows to; not published.
const STACK: Bytes = Bytes(8192);

/// Coefficients of a pair of angles.
const COEFFICIENTS: u64 = coefficients_bytes(2).0;

/// The beginnings of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineMap {
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

impl LineMap {
    /// The map for the lines of a problem.
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

    /// The address of a buffer of a set.
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
