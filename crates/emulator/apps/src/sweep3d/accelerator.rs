//! The accelerator model: the host runs the program, and hands lines of cells to the SPEs.
//!
//! A block (octant, angles, planes) falls into lines of cells along i, each for *one pair* of angles: as
//! many as stand side by side in a register. Of each what it works on and what flows into it go from main
//! memory to local store and back; only the loop over i runs there. Lines on a *diagonal*, whose
//! j + k + pair are equal as the sweep counts them, are independent: the host off-loads a diagonal as one
//! task, which SPEs share line by line, and waits for it.
//!
//! That a pair follows the one before it by one diagonal keeps two SPEs from adding to the flux of one cell
//! at once. The alternative, lines of all angles of a block with diagonals over j + k, moves the cells once
//! for all pairs, but its diagonals have half as many lines to share. For input.50 on eight SPEs
//! (jt = 50, mk = 10, mmi = 3: two pairs), in times of a line of one pair:
//!
//! | lines of | diagonals | lines of most | rounds of 8 lines | time |
//! |---|---|---|---|---|
//! | all angles | 59 | 10 | 102 | 204 |
//! | a pair | 60 | 20 | 156 | **156** |
//!
//! 125 would be ideal. Faces lie in main memory as well; the host sets them to zero before a block, and adds up
//! what leaves over the boundary after it. It also makes the source and takes the error.
//!
//! # What is left out
//! What the host stores, as zeros of a face, is in its caches: SPEs get it as if it were in main memory.

mod lines;
mod spe_program;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::cells::{Array, Cells, Reflections};
use super::{Account, Findings, Sweep3d, cells};
use crate::layout::InMemory as _;
use crate::run::{Run, alone};
use lines::{Calls, Diagonal, ELEMENT, Faces, LineOfPair, PlacedLine, diagonals};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::memory::Memory;
use mmgp_cell::ppe::Work;
use mmgp_cell::{EffectiveAddress, Placement, Progress};
use mmgp_runtime::{Process, Runtime, Signalling, Task};
use mmgp_spu::Quadword;
use mmgp_sweep::{FixUp, I, J, K, Problem, Sign, Step};
use spe_program::{FUNCTIONS, LineMap, LineProgram, SWEEP};

/// Instructions with which an SPE finds what a line works on, one after the other: it takes the line's
/// four numbers apart, and for six arrays a product and a sum make an address.
const ADDRESSING: u64 = 24;

/// Runs the program on the host, with p SPEs.
pub fn run(app: &Sweep3d, on: &Runtime, mapping: Mapping) -> Result<(Run, Findings)> {
    let (blade, problem) = (on.blade(), &app.problem);
    let own = on.assign(mapping)?.swap_remove(0);
    let homes = blade.homes(Placement::default(), 0, &own);
    let allocate = |bytes: Bytes| homes.allocate(bytes);
    let part = app.decomposition(1)?.part(0);
    let cells = Cells::allocate(part.cells.map(|it| it as u32), allocate);
    cells::fill(&cells, &part, problem, &blade.memory);
    let faces = Faces::allocate(problem, allocate);
    let calls = Calls::allocate(problem, blade.machine.layout.spes(), allocate);
    let map = LineMap::new(problem, &calls);
    blade.create_contexts(&map.image(problem))?;
    let program = Rc::new(LineProgram {
        map,
        cells,
        faces,
        calls,
        angles: problem.angles_of_block() as u32,
        addressing: Cycles(ADDRESSING * blade.machine.spu.simple_fixed.0),
        in_kernels: RefCell::default(),
        fixed: RefCell::new(vec![0; blade.machine.layout.spes() as usize]),
    });
    on.load(&program, Signalling::Memory);
    let host = LineHost {
        problem: Arc::clone(problem),
        memory: Rc::clone(&blade.memory),
        process: on.process(0, own),
        most_shares: mapping.p(),
        cells,
        faces,
        reflections: Reflections::allocate(problem, &part, faces.bytes(), allocate),
        calls,
        progress: blade.progress.clone(),
    };
    let account = alone(blade, host.solve())?;
    let run = Run::collect(on, mapping, &FUNCTIONS);
    let mut flux = vec![[0.0; 4]; part.volume()];
    cells::take_flux(&cells, &part, problem.cells(), &blade.memory, &mut flux);
    let account = Account { in_kernels: *program.in_kernels.borrow(), ..account };
    let ranks = ([1, 1], mapping.p());
    let findings = account.findings(problem, ranks, blade.started(), flux);
    Ok((run, findings))
}

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
struct LineHost {
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
        let task = Task::new(SWEEP, shares, &arguments);
        // A quadword of the diagonal and one of each of its lines, at the least.
        self.process.run(task.writing(Bytes(16 * (1 + u64::from(count))))).await;
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

#[cfg(test)]
mod tests {
    //! The accelerator model against the plain solution.

    use mmgp_base::Mapping;
    use mmgp_base::table::Source;
    use mmgp_cell::mfc::Hazards;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_machine::Machine;
    use mmgp_runtime::{Edtlp, Runtime};
    use mmgp_sweep::{Decomposition, Input, Outcome, solve};

    use super::super::{Findings, Programming, Sweep3d};
    use crate::application::{Application, Ran};

    /// A program by the benchmark's lines: cells and angles, blocks (mk, mmi), width and iterations,
    /// boundaries, fix-ups.
    fn program(cells: &str, blocks: &str, widths: &str, boundaries: &str, fix_ups: i32) -> Sweep3d {
        let text = format!("1 1 {blocks} 1\n{cells} 1\n{widths}\n{boundaries}\n0 0 {fix_ups}\n");
        let input = Input::read(&Source::new("test", &text)).unwrap();
        Sweep3d::new(input, Programming::Accelerator).unwrap()
    }

    fn ran(app: &Sweep3d, p: u32, timing: KernelTiming, hazards: Hazards) -> Ran {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), timing, 0.0);
        blade.set_hazards(hazards);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        app.run(&on, Mapping::of(1, p)).unwrap()
    }

    fn findings(ran: &Ran) -> &Findings {
        ran.findings().unwrap()
    }

    fn plainly(app: &Sweep3d) -> Outcome {
        let problem = app.problem();
        solve(problem, &Decomposition::new(problem, [1, 1]).unwrap(), &mut |_| ()).unwrap()
    }

    fn is_close(found: f64, expected: f64, scale: f64) -> bool {
        (found - expected).abs() <= 1e-12 * scale
    }

    /// The same flux, errors, fix-ups, absorption and leakage as the plain solution's.
    fn check(app: &Sweep3d, p: u32) {
        let (ran, plain) = (ran(app, p, KernelTiming::Cached, Hazards::Checked), plainly(app));
        let found = findings(&ran);
        let largest = plain.flux.iter().fold(0.0_f64, |most, cell| most.max(cell[0]));
        for (found, expected) in found.flux.iter().flatten().zip(plain.flux.iter().flatten()) {
            assert!(is_close(*found, *expected, largest), "{found} {expected}");
        }
        assert_eq!(found.flux.len(), plain.flux.len());
        assert_eq!(found.fix_ups, plain.fix_ups);
        assert_eq!(found.errors.len(), plain.errors.len());
        for (found, expected) in found.errors.iter().zip(&plain.errors) {
            assert!((found - expected).abs() <= 1e-9 * expected, "{found} {expected}");
        }
        assert!(is_close(found.absorption, plain.absorption, plain.source));
        for (found, expected) in found.leakage.iter().flatten().zip(plain.leakage.iter().flatten())
        {
            assert!(is_close(*found, *expected, plain.source), "{found} {expected}");
        }
        assert_eq!(found.processes, [1, 1]);
        assert_eq!(found.iterations.len(), found.errors.len());
        assert!(found.messages.0 == 0.0 && found.compute.0 > 0.0);
    }

    const VACUUM: &str = "0 0 0";
    const WIDTHS: &str = ".1 .1 .1 -3.0";

    #[test]
    fn the_flux_is_the_plain_one_on_any_number_of_spes() {
        for p in [1, 3, 8] {
            check(&program("6 7 5 6", "2 3", WIDTHS, VACUUM, 0), p);
        }
    }

    #[test]
    fn blocks_need_not_divide_the_planes_and_may_have_any_angles() {
        for (blocks, p) in [("5 6", 3), ("3 2", 8), ("4 1", 2), ("10 3", 5)] {
            check(&program("4 6 5 6", blocks, WIDTHS, VACUUM, 0), p);
        }
        check(&program("7 5 6 3", "2 3", WIDTHS, VACUUM, 0), 3);
        check(&program("1 1 1 3", "1 1", WIDTHS, VACUUM, 0), 2);
    }

    #[test]
    fn fix_ups_are_counted_as_by_the_plain_solution() {
        let app = program("6 7 8 6", "3 3", "2.0 2.0 2.0 -4.0", VACUUM, -2);
        let fixed = plainly(&app).fix_ups;
        assert!(fixed[..2] == [0, 0] && fixed[2..].iter().all(|&it| it > 0), "{fixed:?}");
        check(&app, 1);
        check(&app, 8);
    }

    #[test]
    fn low_boundaries_reflect() {
        for boundaries in ["1 0 0", "0 1 0", "0 0 1", "1 1 1"] {
            check(&program("6 5 7 6", "3 3", WIDTHS, boundaries, 0), 4);
        }
    }

    #[test]
    fn timing_every_call_gives_the_same_time() {
        let app = program("6 7 8 6", "3 3", "2.0 2.0 2.0 -3.0", VACUUM, -1);
        let [cached, exact] = [KernelTiming::Cached, KernelTiming::Exact]
            .map(|timing| ran(&app, 3, timing, Hazards::Ignored));
        assert_eq!(findings(&cached), findings(&exact));
        assert_eq!(cached.run.time, exact.run.time);
    }

    #[test]
    fn the_printed_errors_of_input_50_come_out() {
        let app = program("50 50 50 6", "10 3", ".1 .1 .1 -3.0", VACUUM, -7);
        let ran = ran(&app, 8, KernelTiming::Cached, Hazards::Ignored);
        let printed = [1.0, 1.775_129_752_629_006_6, 0.659_083_802_218_004_1];
        for (found, expected) in findings(&ran).errors.iter().zip(printed) {
            assert!((found - expected).abs() <= 1e-10 * expected, "{found} {expected}");
        }
        // A diagonal for each of 60 sums of j, plane and pair, of 80 blocks in each of three iterations.
        assert_eq!(ran.run.offloads(), 3 * 80 * 60);
    }
}
