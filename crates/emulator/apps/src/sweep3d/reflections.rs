//! Faces that a low boundary reflects: kept in memory until the octant that they flow into.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_sweep::{Boundary, K, Octant, Part, Problem, Step};

/// Where they lie: for each axis that reflects, a face for each step, of k for each octant and block of
/// angles.
#[derive(Debug, Clone, Copy)]
pub struct Reflections {
    faces: [Option<Faces>; 3],
}

#[derive(Debug, Clone, Copy)]
struct Faces {
    start: EffectiveAddress,
    bytes: u64,
    /// Of an octant.
    count: usize,
}

impl Reflections {
    /// Room for those of a rank, whose faces have so many bytes.
    pub fn allocate(
        problem: &Problem,
        part: &Part,
        face_bytes: [u32; 3],
        allocate: impl Fn(Bytes) -> EffectiveAddress,
    ) -> Self {
        let faces = |axis: usize| {
            let reflects =
                problem.boundaries[axis] == Boundary::Reflective && part.origin[axis] == 0;
            let all = if axis == K { problem.fan_count() } else { problem.step_count() };
            let bytes = u64::from(face_bytes[axis]).next_multiple_of(128);
            let room = || Faces {
                start: allocate(Bytes(bytes * all as u64)),
                bytes,
                count: all / Octant::COUNT,
            };
            reflects.then(room)
        };
        Self { faces: [0, 1, 2].map(faces) }
    }

    /// Where what leaves over the low face in a step is kept; none where nothing is reflected.
    pub fn place(&self, axis: usize, step: &Step) -> Option<EffectiveAddress> {
        let Faces { start, bytes, .. } = self.faces[axis]?;
        Some(start.offset(bytes * number(axis, step) as u64))
    }

    /// Where what comes back in a step was kept: in the step of the octant with the other sign.
    pub fn source(&self, axis: usize, step: &Step) -> Option<EffectiveAddress> {
        let Faces { start, bytes, count } = self.faces[axis]?;
        let octants = step.octant.index() - step.octant.mirrored(axis).index();
        Some(start.offset(bytes * (number(axis, step) - octants * count) as u64))
    }
}

/// The number of a face among those of its axis.
fn number(axis: usize, step: &Step) -> usize {
    if axis == K { step.fan } else { step.index }
}
