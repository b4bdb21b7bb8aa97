//! What is to be solved.

use std::ops::Range;

use crate::direction::{Direction, Octant, Quadrature, Sign};
use crate::input::{Boundary, FixUps, Input, Stop};
use crate::line::FixUp;
use crate::{I, J, K};

/// How matter takes up and scatters the flux; the same in every cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossSections {
    /// sigma_t \[1/length\].
    pub total: f64,
    /// sigma_s0, the same into all directions \[1/length\].
    pub isotropic: f64,
    /// sigma_s1, three times its mean cosine included \[1/length\].
    pub linear: f64,
}

/// What is to be solved: the grid, the matter, the directions, and in which blocks to sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    cells: [usize; 3],
    widths: [f64; 3],
    quadrature: Quadrature,
    planes_of_block: usize,
    angles_of_block: usize,
    /// What stops the iteration.
    pub stop: Stop,
    /// When negative outflows are set to zero.
    pub fix_ups: FixUps,
    /// The low face of each axis.
    pub boundaries: [Boundary; 3],
    /// The matter.
    pub cross_sections: CrossSections,
    /// The source in each cell of the box \[1/volume\].
    pub source: f64,
    /// Which cells have a source, along each axis.
    pub source_box: [Range<usize>; 3],
    /// What flows in over a face that does not reflect, in every direction: 0 but in tests.
    pub inflow: f64,
    /// phi_0 before the first iteration: 0 but in tests.
    pub initial_flux: f64,
}

impl Problem {
    /// The benchmark's problem: its cross-sections, and a source of 1 in the box in the middle.
    pub fn new(input: &Input) -> Self {
        let (cells, boundaries) = (input.cells(), input.boundaries());
        Self {
            cells,
            widths: input.widths(),
            quadrature: input.quadrature(),
            planes_of_block: input.planes_of_block(),
            angles_of_block: input.angles_of_block(),
            stop: input.stop(),
            fix_ups: input.fix_ups(),
            boundaries,
            cross_sections: CrossSections {
                total: 1.0,
                isotropic: 0.5,
                linear: if input.scatters_linearly() { 3.0 * 0.2 } else { 0.0 },
            },
            source: 1.0,
            source_box: [I, J, K].map(|axis| source_range(cells[axis], boundaries[axis])),
            inflow: 0.0,
            initial_flux: 0.0,
        }
    }

    /// Cells along each axis.
    pub fn cells(&self) -> [usize; 3] {
        self.cells
    }

    /// The angles.
    pub fn quadrature(&self) -> Quadrature {
        self.quadrature
    }

    /// mk: planes of a block along k; the last block may have fewer.
    pub fn planes_of_block(&self) -> usize {
        self.planes_of_block
    }

    /// mmi: angles of a block.
    pub fn angles_of_block(&self) -> usize {
        self.angles_of_block
    }

    /// The volume of a cell.
    pub fn cell_volume(&self) -> f64 {
        self.widths.iter().product()
    }

    /// The external source of a cell.
    pub fn source_at(&self, cell: [usize; 3]) -> f64 {
        let is_within = self.source_box.iter().zip(&cell).all(|(range, at)| range.contains(at));
        if is_within { self.source } else { 0.0 }
    }

    /// The area of a cell's face across an axis.
    pub fn face_area(&self, axis: usize) -> f64 {
        self.cell_volume() / self.widths[axis]
    }

    /// The source of all cells: sum s V.
    pub fn total_source(&self) -> f64 {
        let cells: usize = self.source_box.iter().map(ExactSizeIterator::len).product();
        self.source * cells as f64 * self.cell_volume()
    }

    /// The directions of a step, one for each of its angles.
    pub fn directions(&self, step: &Step) -> Vec<Direction> {
        self.directions_of(step.octant, step.angles.clone())
    }

    /// The directions of some angles of an octant.
    pub fn directions_of(&self, octant: Octant, angles: Range<usize>) -> Vec<Direction> {
        let all = self.quadrature.angles();
        all[angles].iter().map(|angle| octant.direction(angle, self.widths)).collect()
    }

    /// Whether negative outflows are set to zero in an iteration, counted from 1.
    pub fn fix_up_in(&self, iteration: u32) -> FixUp {
        match self.fix_ups {
            FixUps::Always => FixUp::On,
            FixUps::After(without) if iteration > without => FixUp::On,
            FixUps::Never | FixUps::After(_) => FixUp::Off,
        }
    }
}

/// Cells t+1 .. n-t, counted from 1, with t = floor((n+1)/3), and t = 0 on a side that reflects.
fn source_range(cells: usize, low: Boundary) -> Range<usize> {
    let margin = (cells + 1) / 3;
    match low {
        Boundary::Vacuum => margin..cells - margin,
        Boundary::Reflective => 0..cells - margin,
    }
}

/// One block of angles and planes of an octant: what is swept between two messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The octant.
    pub octant: Octant,
    /// The angles of the octant.
    pub angles: Range<usize>,
    /// The planes of k.
    pub planes: Range<usize>,
    /// Number in the iteration, from 0.
    pub index: usize,
    /// The number of its octant and angles, among all pairs of them.
    pub fan: usize,
    /// Place among the blocks of planes of its octant and angles, in the order of the sweep.
    pub place: Place,
}

/// Place of a block of planes along k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whether nothing is upstream of it: the boundary of k flows in.
    pub is_first: bool,
    /// Whether nothing is downstream of it.
    pub is_last: bool,
}

impl Problem {
    /// The steps of an iteration, in their order: octants, then blocks of angles, then blocks of
    /// planes along the octant's direction.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let (planes, angles) = (self.cells()[K], self.quadrature().count());
        let (high, wide) = (self.planes_of_block(), self.angles_of_block());
        let (blocks, fans) = (planes.div_ceil(high), angles / wide);
        Octant::all().flat_map(move |octant| {
            (0..fans * blocks).map(move |within| {
                let (fan, visited) = (within / blocks, within % blocks);
                let start = high * octant.signs[K].nth(visited, blocks);
                Step {
                    octant,
                    angles: wide * fan..wide * (fan + 1),
                    planes: start..planes.min(start + high),
                    index: octant.index() * fans * blocks + within,
                    fan: octant.index() * fans + fan,
                    place: Place { is_first: visited == 0, is_last: visited + 1 == blocks },
                }
            })
        })
    }

    /// Steps of an iteration: 8 mmo kb.
    pub fn step_count(&self) -> usize {
        self.fan_count() * self.cells()[K].div_ceil(self.planes_of_block())
    }

    /// Pairs of an octant and a block of angles: 8 mmo.
    pub fn fan_count(&self) -> usize {
        Octant::COUNT * self.quadrature().count() / self.angles_of_block()
    }
}

impl Step {
    /// Planes in the order of the sweep.
    pub fn planes_in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let (planes, sign): (_, Sign) = (self.planes.clone(), self.octant.signs[K]);
        (0..planes.len()).map(move |visited| planes.start + sign.nth(visited, planes.len()))
    }
}
