//! How the grid is divided among processes.

use mmgp_base::error::{Error, Result};

use crate::problem::Problem;
use crate::{I, J, K};

/// PX x PY processes over i and j. Each has a column of whole length along k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decomposition {
    processes: [usize; 2],
    cells: [usize; 3],
}

/// What one process has of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its first cell along each axis.
    pub origin: [usize; 3],
    /// Its cells along each axis; never 0.
    pub cells: [usize; 3],
}

impl Part {
    /// Its cells.
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
