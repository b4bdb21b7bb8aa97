//! What one process does.

use crate::direction::Sign;
use crate::input::Boundary;
use crate::line::{Fan, FixUp, Line};
use crate::problem::{Problem, Step};
use crate::{I, J, K, MOMENTS, Moments};
use mmgp_base::error::{Error, Result};

/// The state of one process.
///
/// In an iteration it does [`Tile::begin`], [`Tile::sweep`] for each of [`Problem::steps`], and
/// [`Tile::totals`]. Its cells lie with i fastest and k slowest. A face of i holds the angles of a
/// block innermost, then j, then the planes of a block; a face of j the angles, then i, then the
/// planes. Both have room for all planes of a block, also where a block has fewer.
#[derive(Debug, Clone)]
pub struct Tile {
    problem: Problem,
    part: Part,
    fix_up: FixUp,
    total: Vec<f64>,
    external: Vec<f64>,
    source: Vec<Moments>,
    flux: Vec<Moments>,
    old: Vec<f64>,
    /// The face of k between two blocks: angles, i, j.
    k_face: Vec<f64>,
    /// Flux that left over a low face that reflects, for each axis and step.
    reflected: [Vec<Vec<f64>>; 3],
    fixed: u64,
    leakage: [[f64; 2]; 3],
}

/// What a process knows of the flux at the end of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// The largest of |phi_0 - old| / |phi_0| over its cells.
    pub error: f64,
    /// Cells and angles in which an outflow was set to zero.
    pub fix_ups: u64,
    /// Absorption in its cells.
    pub absorption: f64,
    /// What left the domain over its low and high faces of each axis.
    pub leakage: [[f64; 2]; 3],
}

impl Totals {
    /// Totals of two processes together.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        let [i, j, k] = [I, J, K]
            .map(|axis| [0, 1].map(|side| self.leakage[axis][side] + other.leakage[axis][side]));
        Self {
            error: self.error.max(other.error),
            fix_ups: self.fix_ups + other.fix_ups,
            absorption: self.absorption + other.absorption,
            leakage: [i, j, k],
        }
    }
}

impl Tile {
    /// State before the first iteration.
    pub fn new(problem: &Problem, part: Part) -> Self {
        let (cells, [width, depth, height]) = (part.volume(), part.cells);
        let mut external = Vec::with_capacity(cells);
        for k in 0..height {
            for j in 0..depth {
                let at = |i| [part.origin[I] + i, part.origin[J] + j, part.origin[K] + k];
                external.extend((0..width).map(|i| problem.source_at(at(i))));
            }
        }
        let kept = |axis: usize, count: usize| {
            let is_kept =
                problem.boundaries[axis] == Boundary::Reflective && part.origin[axis] == 0;
            vec![Vec::new(); if is_kept { count } else { 0 }]
        };
        let steps = problem.step_count();
        Self {
            fix_up: FixUp::Off,
            total: vec![problem.cross_sections.total; cells],
            external,
            source: vec![[0.0; MOMENTS]; cells],
            flux: vec![[problem.initial_flux, 0.0, 0.0, 0.0]; cells],
            old: vec![0.0; cells],
            k_face: vec![0.0; width * depth * problem.angles_of_block()],
            reflected: [kept(I, steps), kept(J, steps), kept(K, problem.fan_count())],
            fixed: 0,
            leakage: [[0.0; 2]; 3],
            problem: problem.clone(),
            part,
        }
    }

    /// What of the grid it has.
    pub fn part(&self) -> Part {
        self.part
    }

    /// phi_0 to phi_3 of its cells.
    pub fn flux(&self) -> &[Moments] {
        &self.flux
    }

    /// The source of the iteration, q_0 to q_3, of its cells.
    pub fn source(&self) -> &[Moments] {
        &self.source
    }

    /// The external source of its cells.
    pub fn external(&self) -> &[f64] {
        &self.external
    }

    /// phi_0 of its cells before the iteration.
    pub fn old(&self) -> &[f64] {
        &self.old
    }

    /// sigma_t of its cells.
    pub fn total(&self) -> &[f64] {
        &self.total
    }

    /// A face of i or j with nothing in it.
    pub fn face(&self, axis: usize) -> Vec<f64> {
        let along = self.part.cells[if axis == I { J } else { I }];
        vec![0.0; along * self.problem.planes_of_block() * self.problem.angles_of_block()]
    }

    /// Begins an iteration, counted from 1: makes the source of the flux, keeps phi_0 and sets the
    /// flux to zero.
    pub fn begin(&mut self, iteration: u32) {
        let sections = self.problem.cross_sections;
        let cells = self.flux.iter_mut().zip(&mut self.old).zip(&mut self.source);
        for (((flux, old), source), external) in cells.zip(&self.external) {
            *old = flux[0];
            // q_0 = s + sigma_s0 phi_0, q_n = sigma_s1 phi_n
            source[0] = external + sections.isotropic * flux[0];
            for moment in 1..MOMENTS {
                source[moment] = sections.linear * flux[moment];
            }
            *flux = [0.0; MOMENTS];
        }
        self.fix_up = self.problem.fix_up_in(iteration);
        self.fixed = 0;
        self.leakage = [[0.0; 2]; 3];
    }

    /// Sweeps a block. `i_face` and `j_face` hold what flows in, and afterwards what flows out.
    /// Where the tile lies at the boundary of the grid they are filled here, whatever they hold.
    ///
    /// # Panics
    /// Where a face is not as long as [`Tile::face`] makes it.
    pub fn sweep(&mut self, step: &Step, i_face: &mut [f64], j_face: &mut [f64]) {
        let mut k_face = std::mem::take(&mut self.k_face);
        self.flow_in(step, I, step.index, i_face);
        self.flow_in(step, J, step.index, j_face);
        if step.place.is_first {
            self.flow_in(step, K, step.fan, &mut k_face);
        }
        self.fixed += match step.angles.len() {
            1 => self.lines::<1>(step, i_face, j_face, &mut k_face),
            2 => self.lines::<2>(step, i_face, j_face, &mut k_face),
            3 => self.lines::<3>(step, i_face, j_face, &mut k_face),
            6 => self.lines::<6>(step, i_face, j_face, &mut k_face),
            count => unreachable!("invariant: {count} does not divide 3 or 6"),
        };
        self.flow_out(step, I, step.index, i_face);
        self.flow_out(step, J, step.index, j_face);
        if step.place.is_last {
            self.flow_out(step, K, step.fan, &k_face);
        }
        self.k_face = k_face;
    }

    /// All lines of a block.
    fn lines<const A: usize>(
        &mut self,
        step: &Step,
        i_face: &mut [f64],
        j_face: &mut [f64],
        k_face: &mut [f64],
    ) -> u64 {
        let fan = Fan::<A>::new(&self.problem.directions(step));
        let [width, depth, _] = self.part.cells;
        let signs = step.octant.signs;
        let mut fixed = 0;
        for k in step.planes_in_order() {
            let plane = k - step.planes.start;
            for visited in 0..depth {
                let j = signs[J].nth(visited, depth);
                let cells = width * (depth * k + j)..width * (depth * k + j + 1);
                let line = A * (depth * plane + j);
                let mut line = Line {
                    total: &self.total[cells.clone()],
                    source: &self.source[cells.clone()],
                    flux: &mut self.flux[cells],
                    i_face: &mut i_face[line..line + A],
                    j_face: &mut j_face[A * width * plane..A * width * (plane + 1)],
                    k_face: &mut k_face[A * width * j..A * width * (j + 1)],
                };
                fixed += line.along(&fan, signs[I], self.fix_up);
            }
        }
        fixed
    }

    /// Fills a face that lies on the boundary of the grid.
    fn flow_in(&self, step: &Step, axis: usize, index: usize, face: &mut [f64]) {
        let sign = step.octant.signs[axis];
        if !self.is_at_boundary(axis, sign.flipped()) {
            return;
        }
        if sign == Sign::Plus && self.problem.boundaries[axis] == Boundary::Reflective {
            // The octants differ in one sign; all else that numbers a step is the same.
            let octants = step.octant.index() - step.octant.mirrored(axis).index();
            let before = octants * self.reflected[axis].len() / 8;
            face.copy_from_slice(&self.reflected[axis][index - before]);
        } else {
            face.fill(self.problem.inflow);
        }
    }

    /// Adds up what leaves over a face on the boundary of the grid, or keeps what it reflects.
    fn flow_out(&mut self, step: &Step, axis: usize, index: usize, face: &[f64]) {
        let sign = step.octant.signs[axis];
        if !self.is_at_boundary(axis, sign) {
            return;
        }
        if sign == Sign::Minus && self.problem.boundaries[axis] == Boundary::Reflective {
            self.reflected[axis][index] = face.to_vec();
            return;
        }
        let quadrature = self.problem.quadrature().angles();
        let angles = &quadrature[step.angles.clone()];
        // Of i and j the planes that there are.
        let elements = match axis {
            K => face.len(),
            _ => face.len() / self.problem.planes_of_block() * step.planes.len(),
        };
        let mut leaked = 0.0;
        for element in face[..elements].chunks_exact(angles.len()) {
            for (angle, outflow) in angles.iter().zip(element) {
                leaked += angle.current(axis) * outflow;
            }
        }
        self.leakage[axis][usize::from(sign == Sign::Plus)] +=
            leaked * self.problem.face_area(axis);
    }

    /// Whether the tile's face towards `side` is the grid's.
    fn is_at_boundary(&self, axis: usize, side: Sign) -> bool {
        match side {
            Sign::Minus => self.part.origin[axis] == 0,
            Sign::Plus => {
                self.part.origin[axis] + self.part.cells[axis] == self.problem.cells()[axis]
            }
        }
    }

    /// What the iteration gave.
    pub fn totals(&self) -> Totals {
        let sections = self.problem.cross_sections;
        let mut error = 0.0_f64;
        let mut absorbed = 0.0;
        for (flux, old) in self.flux.iter().zip(&self.old) {
            if flux[0] != 0.0 {
                error = error.max(((flux[0] - old) / flux[0]).abs());
            }
            absorbed += (sections.total - sections.isotropic) * flux[0];
        }
        Totals {
            error,
            fix_ups: self.fixed,
            absorption: absorbed * self.problem.cell_volume(),
            leakage: self.leakage,
        }
    }
}

/// PX x PY processes over i and j. Each has a column of whole length along k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decomposition {
    processes: [usize; 2],
    cells: [usize; 3],
}

/// What one process has of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// First cell along each axis.
    pub origin: [usize; 3],
    /// Cells along each axis; never 0.
    pub cells: [usize; 3],
}

impl Part {
    /// Cells.
    pub fn volume(&self) -> usize {
        self.cells.iter().product()
    }
}

impl Decomposition {
    /// `processes` along i and j.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for none, and for more than there are cells on an axis.
    pub fn new(problem: &Problem, processes: [usize; 2]) -> Result<Self> {
        let cells = problem.cells();
        for (name, axis) in [("processes along i", I), ("processes along j", J)] {
            let (found, most) = (processes[axis], cells[axis]);
            if found == 0 || found > most {
                let expected = format!("1 to {most}, one for each cell on that axis at most");
                return Err(Error::out_of_range(name, found.to_string(), expected));
            }
        }
        Ok(Self { processes, cells })
    }

    /// PX and PY.
    pub fn processes(&self) -> [usize; 2] {
        self.processes
    }

    /// How many processes there are.
    pub fn count(&self) -> usize {
        self.processes[I] * self.processes[J]
    }

    /// The rank of the process at place `i`, `j`: i + PX j.
    pub fn rank(&self, [i, j]: [usize; 2]) -> usize {
        i + self.processes[I] * j
    }

    /// The place of a rank among the processes.
    pub fn place(&self, rank: usize) -> [usize; 2] {
        [rank % self.processes[I], rank / self.processes[I]]
    }

    /// What a rank has of the grid. Where cells are left over, the first processes of an axis have
    /// one more.
    pub fn part(&self, rank: usize) -> Part {
        let place = self.place(rank);
        let mut part = Part { origin: [0; 3], cells: [0, 0, self.cells[K]] };
        for axis in [I, J] {
            let (cells, processes) = (self.cells[axis], self.processes[axis]);
            let (each, over) = (cells / processes, cells % processes);
            part.origin[axis] = each * place[axis] + over.min(place[axis]);
            part.cells[axis] = each + usize::from(place[axis] < over);
        }
        part
    }
}
