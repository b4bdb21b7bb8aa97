//! The plain solution: all processes one after the other.

use mmgp_base::error::{Error, Result};

use crate::direction::Octant;
use crate::problem::{Problem, Step};
use crate::tile::{Decomposition, Tile, Totals};
use crate::{I, J, K, MOMENTS, Moments};

/// What a solution is, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The error of each iteration: the largest of |phi_0 - old| / |phi_0| over all cells whose
    /// phi_0 is not 0.
    pub errors: Vec<f64>,
    /// Cells and angles of each iteration in which an outflow was set to zero.
    pub fix_ups: Vec<u64>,
    /// Absorption after the last iteration.
    pub absorption: f64,
    /// The source of all cells.
    pub source: f64,
    /// What left over the low and the high face of each axis in the last iteration.
    pub leakage: [[f64; 2]; 3],
    /// Whether the error was reached; always so where a number of iterations was asked for.
    pub has_converged: bool,
    /// phi_0 to phi_3 of all cells, i fastest and k slowest.
    pub flux: Vec<Moments>,
}

impl Outcome {
    /// Iterations that were done.
    pub fn iterations(&self) -> u32 {
        self.errors.len() as u32
    }

    /// What of the source is neither absorbed nor lost: 0 in the end.
    pub fn imbalance(&self) -> f64 {
        self.source - self.absorption - self.leakage.as_flattened().iter().sum::<f64>()
    }
}

/// How far a solution is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The iteration, counted from 1.
    pub iteration: u32,
    /// Octants of it that are done.
    pub octants: usize,
    /// The error of the iteration before, if there was one.
    pub error: Option<f64>,
}

/// The most cells that are solved: each takes some hundred bytes.
const MOST_CELLS: usize = 1 << 26;

/// Solves `problem` by the processes of `decomposition`, one after the other in each step, and says
/// after each octant how far it is. The flux does not depend on the decomposition, nor on the blocks
/// of a step; sums over cells do by their rounding.
///
/// # Errors
/// [`Error::OutOfRange`] for more than 67 million cells.
pub fn solve(
    problem: &Problem,
    decomposition: &Decomposition,
    report: &mut dyn FnMut(Progress),
) -> Result<Outcome> {
    let cells = problem.cells();
    if cells.iter().map(|&count| count as u128).product::<u128>() > MOST_CELLS as u128 {
        return Err(Error::out_of_range(
            "cells to solve",
            format!("{} x {} x {}", cells[I], cells[J], cells[K]),
            format!("{MOST_CELLS} in all at most"),
        ));
    }
    let mut ranks = Ranks::new(problem, *decomposition);
    let steps: Vec<Step> = problem.steps().collect();
    let (mut errors, mut fix_ups) = (Vec::new(), Vec::new());
    loop {
        let iteration = errors.len() as u32 + 1;
        ranks.tiles.iter_mut().for_each(|tile| tile.begin(iteration));
        for (octants, steps) in (1..).zip(steps.chunks(steps.len() / Octant::COUNT)) {
            steps.iter().for_each(|step| ranks.sweep(step));
            report(Progress { iteration, octants, error: errors.last().copied() });
        }
        let totals = ranks.totals();
        errors.push(totals.error);
        fix_ups.push(totals.fix_ups);
        if problem.stop.ends(iteration, totals.error) {
            return Ok(Outcome {
                errors,
                fix_ups,
                absorption: totals.absorption,
                source: problem.total_source(),
                leakage: totals.leakage,
                has_converged: problem.stop.is_reached(totals.error),
                flux: ranks.flux(cells),
            });
        }
    }
}

/// All processes, and the faces on their way between them.
struct Ranks {
    decomposition: Decomposition,
    tiles: Vec<Tile>,
    /// Faces on the way along i within a row of processes; from the tile that is as deep.
    i_faces: Vec<Vec<f64>>,
    j_faces: Vec<Vec<f64>>,
}

impl Ranks {
    fn new(problem: &Problem, decomposition: Decomposition) -> Self {
        let part = |rank| Tile::new(problem, decomposition.part(rank));
        let tiles: Vec<Tile> = (0..decomposition.count()).map(part).collect();
        let [columns, rows] = decomposition.processes();
        Self {
            i_faces: (0..rows).map(|j| tiles[decomposition.rank([0, j])].face(I)).collect(),
            j_faces: (0..columns).map(|i| tiles[i].face(J)).collect(),
            decomposition,
            tiles,
        }
    }

    /// One step of all, from upstream to downstream.
    fn sweep(&mut self, step: &Step) {
        let [columns, rows] = self.decomposition.processes();
        for row in 0..rows {
            let j = step.octant.signs[J].nth(row, rows);
            for column in 0..columns {
                let i = step.octant.signs[I].nth(column, columns);
                let tile = &mut self.tiles[self.decomposition.rank([i, j])];
                tile.sweep(step, &mut self.i_faces[j], &mut self.j_faces[i]);
            }
        }
    }

    fn totals(&self) -> Totals {
        let mut tiles = self.tiles.iter().map(Tile::totals);
        let first = tiles.next().expect("invariant: there is a process");
        tiles.fold(first, Totals::joined)
    }

    /// The flux of the grid.
    fn flux(&self, cells: [usize; 3]) -> Vec<Moments> {
        let mut flux = vec![[0.0; MOMENTS]; cells.iter().product()];
        for tile in &self.tiles {
            let part = tile.part();
            let lines = tile.flux().chunks_exact(part.cells[I]);
            for (line, moments) in lines.enumerate() {
                let (j, k) = (line % part.cells[J], line / part.cells[J]);
                let start = cells[I] * (cells[J] * k + part.origin[J] + j) + part.origin[I];
                flux[start..start + moments.len()].copy_from_slice(moments);
            }
        }
        flux
    }
}
