//! A rank on an SPE: the whole program, which passes its faces to its neighbours.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::Account;
use super::cells::{Array, Cells, Neighbours, Reflections};
use super::lines::{Chunk, Lines, Pass, RankMap, fan_bytes, transfer};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles, SimSpan, SimTime};
use mmgp_cell::messages::{self, Operation, Reduction, Word};
use mmgp_cell::mfc::Direction;
use mmgp_cell::{Progress, Spe};
use mmgp_kernels::sweep3d::{
    self as kernels, ClearFace, Leakage, Line, coefficients, coefficients_bytes, face_bytes,
    leakage_weights,
};
use mmgp_spu::{LocalAddress, Quadword};
use mmgp_sweep::{FixUp, I, J, K, Problem, Sign, Step};

/// Tags of messages: a face of i, a face of j.
const FACE_TAGS: [u32; 2] = [1, 2];

/// The tag group of faces that a boundary reflects.
const REFLECTED: u8 = 4;

/// A rank.
pub struct RankProgram {
    pub messages: messages::Rank,
    pub problem: Arc<Problem>,
    pub cells: Cells,
    pub map: RankMap,
    pub neighbours: Neighbours,
    pub reflections: Reflections,
    pub progress: Progress,
    /// The time to find where a line lies.
    pub addressing: Cycles,
    /// What the first rank tells.
    pub account: Rc<RefCell<Account>>,
    /// Time spent in messages.
    pub in_messages: Cell<SimSpan>,
    /// Time spent in blocks, without the messages of their faces.
    pub in_blocks: Cell<SimSpan>,
    /// Time spent in kernels.
    pub in_kernels: Cell<SimSpan>,
}

/// What the three passes over the cells move.
const SWEEP: Pass =
    Pass { inputs: &[Array::Source, Array::Flux, Array::Total], outputs: &[Array::Flux] };
const SOURCE: Pass = Pass {
    inputs: &[Array::Flux, Array::External],
    outputs: &[Array::Source, Array::Flux, Array::External],
};
const COMPARISON: Pass = Pass { inputs: &[Array::Flux, Array::External], outputs: &[] };

/// Offsets of quantities among the sums, a quadword each: the error and the sum of phi_0 of both lanes, the
/// error and the fix-ups of this rank and of all, and what is added up at the end: absorption, then
/// leakage by axis and side.
const COMPARED: u64 = 0;
const ERROR: u64 = 32;
const FIX_UPS: u64 = 64;
const TOTALS: u64 = 96;
const TOTAL_COUNT: u32 = 7;

impl RankProgram {
    /// Runs it to its end.
    pub async fn run(self) -> Result<()> {
        self.place_coefficients()?;
        for iteration in 1.. {
            let fix_up = self.problem.fix_up_in(iteration);
            self.make_source().await?;
            self.spe().write(self.sum(TOTALS), &[Quadword::ZERO; TOTAL_COUNT as usize])?;
            let (mut fixed, swept_from) = (0, self.spe().sim.now());
            for step in self.problem.steps() {
                let (start, messages) = (self.spe().sim.now(), self.in_messages.get());
                fixed += self.step(&step, fix_up).await?;
                let span = self.spe().sim.now().since(start);
                let waited = self.in_messages.get() - messages;
                self.in_blocks.set(self.in_blocks.get() + (span - waited));
                self.progress.step();
            }
            self.swept(iteration, swept_from);
            let error = self.error(fixed).await?;
            if self.problem.stop.ends(iteration, error) {
                break;
            }
        }
        self.add_up().await
    }

    /// Notes that this rank has swept since then.
    fn swept(&self, iteration: u32, start: SimTime) {
        let mut account = self.account.borrow_mut();
        let (index, now) = (iteration as usize - 1, self.spe().sim.now());
        if account.sweeps.len() <= index {
            account.sweeps.push([start, now]);
        }
        let [first, last] = &mut account.sweeps[index];
        (*first, *last) = (start.min(*first), now.max(*last));
    }

    fn spe(&self) -> &Spe {
        self.messages.spe()
    }

    /// Writes what kernels need of the directions, for each octant and block of angles.
    fn place_coefficients(&self) -> Result<()> {
        for step in self.problem.steps().filter(|step| step.place.is_first) {
            let directions = self.problem.directions(&step);
            self.spe().write(self.coefficients(step.fan), &coefficients(&directions))?;
            let angles = &self.problem.quadrature().angles()[step.angles.clone()];
            for axis in [I, J, K] {
                let weights: Vec<f64> = angles.iter().map(|angle| angle.current(axis)).collect();
                self.spe().write(self.weights(step.fan, axis), &leakage_weights(&weights))?;
            }
        }
        Ok(())
    }

    fn coefficients(&self, fan: usize) -> LocalAddress {
        self.map.coefficients.offset(Bytes(fan_bytes(self.angles()) * fan as u64))
    }

    /// The weights of a sum of outflows.
    fn weights(&self, fan: usize, axis: usize) -> LocalAddress {
        let Bytes(before) = coefficients_bytes(self.angles());
        let Bytes(each) = face_bytes(self.angles());
        self.coefficients(fan).offset(Bytes(before + each * axis as u64))
    }

    /// Angles of a block.
    fn angles(&self) -> u32 {
        self.problem.angles_of_block() as u32
    }

    fn sum(&self, offset: u64) -> LocalAddress {
        self.map.sums.offset(Bytes(offset))
    }

    /// Sweeps a block; cells and angles with a fix-up.
    async fn step(&self, step: &Step, fix_up: FixUp) -> Result<u64> {
        let lines = self.streamed();
        let chunks = lines.of_step(step);
        lines.prefetch(&chunks, SWEEP).await?;
        self.flow_in(step, I).await?;
        self.flow_in(step, J).await?;
        if step.place.is_first {
            self.flow_in(step, K).await?;
        }
        let mut fixed = 0;
        let sweep = async |chunk, set| fixed += self.sweep(step, (chunk, set), fix_up).await;
        lines.stream(&chunks, SWEEP, sweep).await?;
        self.flow_out(step, I).await?;
        self.flow_out(step, J).await?;
        if step.place.is_last {
            self.flow_out(step, K).await?;
        }
        Ok(fixed)
    }

    fn streamed(&self) -> Lines<'_> {
        Lines { spe: self.spe(), cells: &self.cells, map: &self.map }
    }

    /// Sweeps lines that are in local store.
    async fn sweep(&self, step: &Step, (chunk, set): (Chunk, usize), fix_up: FixUp) -> u64 {
        let [it, jt, _] = self.cells.extents;
        let (signs, each, lines) =
            (step.octant.signs, face_bytes(self.angles()).0 as u32, self.streamed());
        let plane = chunk.k - step.planes.start as u32;
        let face = |axis: usize, cell: u32| LocalAddress(self.map.faces[axis].0 + each * cell);
        let mut fixed = 0;
        for visited in 0..chunk.count {
            let within = signs[J].nth(visited as usize, chunk.count as usize) as u32;
            let j = chunk.first + within;
            let of_line = |array| lines.place(set, array, within);
            let line = Line {
                cells: it,
                angles: self.angles(),
                sign: signs[I],
                fix_up,
                coefficients: self.coefficients(step.fan),
                source: of_line(Array::Source),
                flux: of_line(Array::Flux),
                total: of_line(Array::Total),
                i_face: face(I, plane * jt + j),
                j_face: face(J, plane * it),
                k_face: face(K, j * it),
            };
            self.spe().spend(self.addressing).await;
            fixed += u64::from(self.kernel(&line).await);
        }
        fixed
    }

    /// Runs a kernel, and notes how long it took.
    pub(super) async fn kernel<T: mmgp_spu::Kernel>(&self, kernel: &T) -> T::Output {
        let start = self.spe().sim.now();
        let output = self.spe().compute(kernel).await;
        self.in_kernels.set(self.in_kernels.get() + self.spe().sim.now().since(start));
        output
    }

    /// What the face of an axis holds before a block: what a neighbour sends, what a boundary reflects,
    /// or nothing.
    async fn flow_in(&self, step: &Step, axis: usize) -> Result<()> {
        let (at, bytes) = self.face(axis);
        let sign = step.octant.signs[axis];
        if let Some(from) = self.neighbours.towards(axis, sign.flipped()) {
            let start = self.spe().sim.now();
            self.messages.receive(at, bytes, from, FACE_TAGS[axis]).await;
            self.since(start);
            return Ok(());
        }
        match self.reflections.source(axis, step) {
            Some(from) if sign == Sign::Plus => {
                transfer(self.spe(), Direction::Get, (at, from), bytes.0, REFLECTED).await?;
                self.spe().mfc.wait_for(REFLECTED).await;
            }
            _ => self.kernel(&ClearFace { at, bytes }).await,
        }
        Ok(())
    }

    /// What becomes of the face of an axis after a block: it is sent on, kept to be reflected, or
    /// lost.
    async fn flow_out(&self, step: &Step, axis: usize) -> Result<()> {
        let (at, bytes) = self.face(axis);
        let sign = step.octant.signs[axis];
        if let Some(to) = self.neighbours.towards(axis, sign) {
            let start = self.spe().sim.now();
            self.messages.send(at, bytes, to, FACE_TAGS[axis]).await;
            self.since(start);
            return Ok(());
        }
        match self.reflections.place(axis, step) {
            Some(to) if sign == Sign::Minus => {
                transfer(self.spe(), Direction::Put, (at, to), bytes.0, REFLECTED).await?;
                self.spe().mfc.wait_for(REFLECTED).await;
            }
            _ => {
                let side = u64::from(sign == Sign::Plus);
                let leakage = Leakage {
                    elements: self.face_cells(axis, step),
                    angles: self.angles(),
                    weights: self.weights(step.fan, axis),
                    face: at,
                    sum: self.sum(TOTALS + 16 * (1 + 2 * axis as u64 + side)),
                };
                self.kernel(&leakage).await;
            }
        }
        Ok(())
    }

    fn since(&self, start: SimTime) {
        self.in_messages.set(self.in_messages.get() + self.spe().sim.now().since(start));
    }

    /// The address and the length of the face of an axis.
    fn face(&self, axis: usize) -> (LocalAddress, Bytes) {
        (self.map.faces[axis], Bytes(self.map.face_bytes[axis].into()))
    }

    /// Cells of a face that a block leaves an outflow in: fewer than there is room for where it has
    /// fewer planes.
    fn face_cells(&self, axis: usize, step: &Step) -> u32 {
        let [it, jt, _] = self.cells.extents;
        match axis {
            I => jt * step.planes.len() as u32,
            J => it * step.planes.len() as u32,
            _ => it * jt,
        }
    }

    /// The error of the iteration over all ranks, which the first one notes with the fix-ups.
    async fn error(&self, fixed: u64) -> Result<f64> {
        let largest = self.compare().await?;
        self.spe().write(self.sum(ERROR), &[Quadword::from_doubles([largest, 0.0])])?;
        self.spe().write(self.sum(FIX_UPS), &[Quadword([fixed, 0])])?;
        let start = self.spe().sim.now();
        let reduce = |at: u64, operation, word| {
            let places = (self.sum(at), self.sum(at + 16));
            self.messages.all_reduce(places, 1, Reduction { operation, word })
        };
        reduce(ERROR, Operation::Maximum, Word::F64).await;
        reduce(FIX_UPS, Operation::Sum, Word::U64).await;
        self.since(start);
        let error = self.spe().read(self.sum(ERROR + 16), Bytes(16))?[0].doubles()[0];
        let Quadword([fixed, _]) = self.spe().read(self.sum(FIX_UPS + 16), Bytes(16))?[0];
        if self.messages.rank() == 0 {
            self.account.borrow_mut().note(error, fixed, self.spe().sim.now());
        }
        Ok(error)
    }

    /// Makes the source of this iteration, keeps the flux, and sets it to zero.
    async fn make_source(&self) -> Result<()> {
        let (lines, [it, ..]) = (self.streamed(), self.cells.extents);
        let chunks = lines.all();
        lines.prefetch(&chunks, SOURCE).await?;
        let make = async |chunk: Chunk, set| {
            let source = kernels::Source {
                cells: it * chunk.count,
                cross_sections: self.problem.cross_sections,
                flux: lines.place(set, Array::Flux, 0),
                external: lines.place(set, Array::External, 0),
                source: lines.place(set, Array::Source, 0),
            };
            self.kernel(&source).await;
        };
        lines.stream(&chunks, SOURCE, make).await
    }

    /// Compares the flux with that before: the error of this rank. The sum of phi_0 is among the totals.
    async fn compare(&self) -> Result<f64> {
        let (lines, [it, ..]) = (self.streamed(), self.cells.extents);
        let (chunks, sums) = (lines.all(), self.sum(COMPARED));
        self.spe().write(sums, &[Quadword::ZERO; 2])?;
        lines.prefetch(&chunks, COMPARISON).await?;
        let compare = async |chunk: Chunk, set| {
            let error = kernels::Error {
                cells: it * chunk.count,
                flux: lines.place(set, Array::Flux, 0),
                external: lines.place(set, Array::External, 0),
                sums,
            };
            self.kernel(&error).await;
        };
        lines.stream(&chunks, COMPARISON, compare).await?;
        let found = self.spe().read(sums, Bytes(32))?;
        self.spe().write(self.sum(TOTALS), &found[1..])?;
        let (error, _) = kernels::Error::result(&[found[0], found[1]]);
        Ok(error)
    }

    /// Absorption and leakage of all ranks.
    async fn add_up(&self) -> Result<()> {
        let (own, all) = (self.sum(TOTALS), self.sum(TOTALS + 16 * u64::from(TOTAL_COUNT)));
        let start = self.spe().sim.now();
        let sum = Reduction { operation: Operation::Sum, word: Word::F64 };
        self.messages.reduce((own, all), 2 * TOTAL_COUNT, sum, 0).await;
        self.since(start);
        let mut account = self.account.borrow_mut();
        account.in_messages += self.in_messages.get();
        account.in_blocks += self.in_blocks.get();
        account.in_kernels += self.in_kernels.get();
        if self.messages.rank() == 0 {
            let sums = self.spe().read(all, Bytes(16 * u64::from(TOTAL_COUNT)))?;
            // A sum for each lane of the angles.
            let sum = |index: usize| sums[index].doubles().iter().sum();
            account.absorbed = sum(0);
            account.leaked = [I, J, K].map(|axis| [0, 1].map(|side| sum(1 + 2 * axis + side)));
        }
        Ok(())
    }
}
