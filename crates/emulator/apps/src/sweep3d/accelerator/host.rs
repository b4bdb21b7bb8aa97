//! The process of the host: it runs the program and hands out lines.

use std::rc::Rc;
use std::sync::Arc;

use super::lines::{Calls, Diagonal, ELEMENT, Faces, LineOfPair, PlacedLine, diagonals};
use super::spe_program::SWEEP;
use crate::layout::InMemory as _;
use crate::sweep3d::Account;
use crate::sweep3d::cells::{Array, Cells, Reflections};
use mmgp_base::units::Bytes;
use mmgp_cell::memory::Memory;
use mmgp_cell::ppe::Work;
use mmgp_cell::{EffectiveAddress, Progress};
use mmgp_runtime::{Process, Task};
use mmgp_spu::Quadword;
use mmgp_sweep::{FixUp, I, J, K, Problem, Sign, Step};

work! {
    /// What the host does for a cell before a sweep: phi_0 to phi_3 and the external source are loaded; phi_0
    /// is kept, four moments of the source are stored and four zeros.
    MAKE_SOURCE: 3 integers, 5 loads, 9 stores, 4 floats, 1 branches;
    /// What it does for a cell after a sweep: |phi_0 - old| / |phi_0| where that is not 0, its maximum, and the
    /// sum of phi_0.
    COMPARE: 2 integers, 2 loads, 6 floats, 1 divides, 3 branches;
    /// What it does for an element of a face on the boundary of the grid: two outflows, each with a weight.
    LEAK: 1 integers, 2 loads, 2 floats, 1 branches;
    /// What it does for a line of memory that is set to zero: `dcbz`, which does not load it.
    CLEAR: 1 integers, 1 stores, 1 branches;
    /// What it does for an element that is copied.
    COPY: 1 integers, 2 loads, 2 stores, 1 branches;
    /// What it does for a diagonal: where it begins and ends, and four words that tell of it.
    BEGIN: 16 integers, 4 loads, 4 stores, 4 branches;
    /// What it does for a line of cells: its pair, plane and j, and four words that tell of it.
    HAND_OUT: 8 integers, 4 stores, 2 branches;
}

/// A line of memory.
const LINE: u64 = 128;

/// The process with its data.
pub struct LineHost {
    pub problem: Arc<Problem>,
    pub memory: Rc<Memory>,
    pub process: Process,
    /// SPEs that share a diagonal at most.
    pub most_shares: u32,
    pub cells: Cells,
    pub faces: Faces,
    pub reflections: Reflections,
    pub calls: Calls,
    pub progress: Progress,
}

impl LineHost {
    /// Runs the program to its end.
    pub(in crate::sweep3d) async fn solve(self) -> Account {
        let mut account = Account::default();
        self.process.resume().await;
        for iteration in 1.. {
            let fix_up = self.problem.fix_up_in(iteration);
            self.make_source().await;
            account.leaked = [[0.0; 2]; 3];
            for step in self.problem.steps() {
                self.step(&step, fix_up, &mut account.leaked).await;
                self.progress.step();
            }
            let (error, sum) = self.compare().await;
            let fixed = self.fixed(fix_up).await - account.fix_ups.iter().sum::<u64>();
            account.absorbed = sum;
            account.note(error, fixed, self.process.sim.now());
            if self.problem.stop.ends(iteration, error) {
                break;
            }
        }
        self.process.finish(SWEEP);
        account
    }

    /// Sweeps a block: a task for each of its diagonals.
    async fn step(&self, step: &Step, fix_up: FixUp, leaked: &mut [[f64; 2]; 3]) {
        self.flow_in(step, I).await;
        self.flow_in(step, J).await;
        if step.place.is_first {
            self.flow_in(step, K).await;
        }
        let [_, jt, _] = self.problem.cells();
        for lines in diagonals(step, [jt, self.faces.pairs as usize]) {
            self.off_load(step, &lines, fix_up).await;
        }
        self.flow_out(step, I, leaked).await;
        self.flow_out(step, J, leaked).await;
        if step.place.is_last {
            self.flow_out(step, K, leaked).await;
        }
    }

    /// Off-loads a diagonal, and waits for it.
    async fn off_load(&self, step: &Step, lines: &[LineOfPair], fix_up: FixUp) {
        let count = lines.len() as u32;
        self.process.work(BEGIN + HAND_OUT * count.into()).await;
        let arguments = |_: &[u32]| {
            let mut told = Diagonal::new(step, lines, fix_up).quadwords(Bytes(16));
            let first = step.planes.start as u32;
            let placed = |&line: &LineOfPair| PlacedLine { line, k: first + line.plane };
            told.extend(lines.iter().flat_map(|line| placed(line).quadwords(Bytes(16))));
            self.memory.write(self.calls.at, told);
            self.calls.at
        };
        let shares = self.most_shares.min(count);
        self.process.run(Task::new(SWEEP, shares, &arguments)).await;
    }

    /// What a face holds before a block: what a boundary reflects, or nothing.
    async fn flow_in(&self, step: &Step, axis: usize) {
        let bytes = u64::from(self.faces.bytes()[axis]);
        let to = self.faces.start(axis);
        match self.reflections.source(axis, step) {
            Some(from) if step.octant.signs[axis] == Sign::Plus => self.copy(from, to, bytes).await,
            _ => {
                self.memory.write(to, (0..bytes / ELEMENT).map(|_| Quadword::ZERO));
                self.process.work(CLEAR * bytes.div_ceil(LINE)).await;
            }
        }
    }

    /// What becomes of a face after a block: it is kept to be reflected, or lost.
    async fn flow_out(&self, step: &Step, axis: usize, leaked: &mut [[f64; 2]; 3]) {
        let sign = step.octant.signs[axis];
        match self.reflections.place(axis, step) {
            Some(to) if sign == Sign::Minus => {
                let bytes = u64::from(self.faces.bytes()[axis]);
                self.copy(self.faces.start(axis), to, bytes).await;
            }
            _ => {
                leaked[axis][usize::from(sign == Sign::Plus)] += self.leakage(step, axis).await;
            }
        }
    }

    /// Copies a face; what is read are lines that SPEs have put, or that came to memory long ago.
    async fn copy(&self, from: EffectiveAddress, to: EffectiveAddress, bytes: u64) {
        self.process.load_put_lines(bytes.div_ceil(LINE)).await;
        self.process.work(COPY * (bytes / ELEMENT)).await;
        self.memory.write(to, self.quadwords(from, bytes));
    }

    /// What leaves over a face, for each unit of its area.
    async fn leakage(&self, step: &Step, axis: usize) -> f64 {
        let elements = self.faces.elements(axis, step.planes.len() as u64);
        let all = elements * u64::from(self.faces.pairs);
        self.process.load_put_lines((all * ELEMENT).div_ceil(LINE)).await;
        self.process.work(LEAK * all).await;
        let angles = &self.problem.quadrature().angles()[step.angles.clone()];
        let mut leaked = 0.0;
        for (pair, angles) in (0..).zip(angles.chunks(2)) {
            let start = self.faces.of_pair(axis, pair);
            for element in self.quadwords(start, elements * ELEMENT) {
                for (angle, outflow) in angles.iter().zip(element.doubles()) {
                    leaked += angle.current(axis) * outflow;
                }
            }
        }
        leaked
    }

    /// Makes the source of this iteration, keeps phi_0, and sets the flux to zero.
    async fn make_source(&self) {
        self.walk(&[Array::Flux, Array::External, Array::Source], MAKE_SOURCE).await;
        let sections = self.problem.cross_sections;
        let start = |array| self.cells.line(array, 0, 0);
        let (flux, external) = (start(Array::Flux), start(Array::External));
        for cell in 0..self.cell_count() {
            let (two, one) = (32 * cell, 16 * cell);
            let moments = self.moments(cell);
            let [given, _] = self.memory.read(external.offset(one)).doubles();
            // q_0 = s + sigma_s0 phi_0, q_n = sigma_s1 phi_n
            let first = given + sections.isotropic * moments[0];
            let [a, b, c] = [1, 2, 3].map(|number| sections.linear * moments[number]);
            let source = [[first, a], [b, c]].map(Quadword::from_doubles);
            self.memory.write(start(Array::Source).offset(two), source);
            let record = Quadword::from_doubles([given, moments[0]]);
            self.memory.write(external.offset(one), [record]);
            self.memory.write(flux.offset(two), [Quadword::ZERO; 2]);
        }
    }

    /// Compares the flux with that before: the error, and the sum of phi_0.
    async fn compare(&self) -> (f64, f64) {
        self.walk(&[Array::Flux, Array::External], COMPARE).await;
        let external = self.cells.line(Array::External, 0, 0);
        let (mut error, mut sum) = (0.0_f64, 0.0);
        for cell in 0..self.cell_count() {
            let [flux, ..] = self.moments(cell);
            let [_, old] = self.memory.read(external.offset(16 * cell)).doubles();
            if flux != 0.0 {
                error = error.max(((flux - old) / flux).abs());
            }
            sum += flux;
        }
        (error, sum)
    }

    /// Lets the time go by of a loop over all cells that goes through these arrays: SPEs have put them, or
    /// they are longer than the second-level cache, so that each of their lines comes from main memory;
    /// nothing fetches them ahead.
    async fn walk(&self, arrays: &[Array], each: Work) {
        let cells = self.cell_count();
        let line = |&array: &Array| array.line_bytes(1);
        let bytes: u64 = arrays.iter().map(line).sum();
        self.process.load_put_lines((bytes * cells).div_ceil(LINE)).await;
        self.process.work(each * cells).await;
    }

    /// All fix-ups since the program began, as SPEs have put them.
    async fn fixed(&self, fix_up: FixUp) -> u64 {
        let spes = self.process.machine().layout.spes();
        if fix_up == FixUp::On {
            self.process.load_put_lines(spes.into()).await;
        }
        let fixed = |spe| {
            let at = self.calls.fixed(spe);
            self.process.reads(at, Bytes(16));
            self.memory.read(at).0[0]
        };
        (0..spes).map(fixed).sum()
    }

    fn cell_count(&self) -> u64 {
        self.cells.extents.iter().map(|&it| u64::from(it)).product()
    }

    /// phi_0 to phi_3.
    fn moments(&self, cell: u64) -> [f64; 4] {
        let at = self.cells.line(Array::Flux, 0, 0).offset(32 * cell);
        self.process.reads(at, Bytes(32));
        let [[a, b], [c, d]] = [0, 16].map(|it| self.memory.read(at.offset(it)).doubles());
        [a, b, c, d]
    }

    fn quadwords(&self, from: EffectiveAddress, bytes: u64) -> Vec<Quadword> {
        self.process.reads(from, Bytes(bytes / ELEMENT * 16));
        (0..bytes / ELEMENT).map(|number| self.memory.read(from.offset(16 * number))).collect()
    }
}
