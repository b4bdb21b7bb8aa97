//! Into which steps an iteration falls.

use std::ops::Range;

use crate::direction::{Octant, Sign};
use crate::problem::Problem;
use crate::{K, MOMENTS};

/// One block of angles and planes of an octant: what is swept between two messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The octant.
    pub octant: Octant,
    /// The angles of the octant.
    pub angles: Range<usize>,
    /// The planes of k.
    pub planes: Range<usize>,
    /// Its number in the iteration, from 0.
    pub index: usize,
    /// The number of its octant and angles, among all pairs of them.
    pub fan: usize,
    /// Its place among the blocks of planes of its octant and angles, in the order of the sweep.
    pub place: Place,
}

/// Where a block of planes stands along k.
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

/// phi_0 to phi_3, or q_0 to q_3, of a cell.
pub type Moments = [f64; MOMENTS];

impl Step {
    /// Its planes in the order of the sweep.
    pub fn planes_in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let (planes, sign): (_, Sign) = (self.planes.clone(), self.octant.signs[K]);
        (0..planes.len()).map(move |visited| planes.start + sign.nth(visited, planes.len()))
    }
}
