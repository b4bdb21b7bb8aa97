//! What is beside a rank: its neighbours, and low boundaries of the grid, which may reflect.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_sweep::{Boundary, Decomposition, I, J, K, Octant, Part, Problem, Sign, Step};

/// The ranks beside a rank along i and j: towards the low and the high face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours {
    beside: [[Option<u32>; 2]; 2],
}

impl Neighbours {
    /// The neighbours of a rank.
    pub fn of(decomposition: &Decomposition, rank: u32) -> Self {
        let (place, processes) = (decomposition.place(rank as usize), decomposition.processes());
        let at = |axis: usize, side: Sign| {
            let mut other = place;
            other[axis] = match side {
                Sign::Minus => place[axis].checked_sub(1)?,
                Sign::Plus => Some(place[axis] + 1).filter(|&it| it < processes[axis])?,
            };
            Some(decomposition.rank(other) as u32)
        };
        Self { beside: [I, J].map(|axis| [Sign::Minus, Sign::Plus].map(|side| at(axis, side))) }
    }

    /// The one on that side along an axis; none at the boundary of the grid, and along k.
    pub fn towards(&self, axis: usize, side: Sign) -> Option<u32> {
        self.beside.get(axis)?[usize::from(side == Sign::Plus)]
    }
}

/// Their room: for each axis that reflects, a face for each step, of k for each octant and block of
/// angles.
#[derive(Debug, Clone, Copy)]
pub struct Reflections {
    faces: [Option<ReflectedFaces>; 3],
}

#[derive(Debug, Clone, Copy)]
struct ReflectedFaces {
    start: EffectiveAddress,
    bytes: u64,
    /// Faces of an octant.
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
            let room = || ReflectedFaces {
                start: allocate(Bytes(bytes * all as u64)),
                bytes,
                count: all / Octant::COUNT,
            };
            reflects.then(room)
        };
        Self { faces: [0, 1, 2].map(faces) }
    }

    /// The address where what leaves over the low face in a step is kept; none where nothing is reflected.
    pub fn place(&self, axis: usize, step: &Step) -> Option<EffectiveAddress> {
        let ReflectedFaces { start, bytes, .. } = self.faces[axis]?;
        Some(start.offset(bytes * number(axis, step) as u64))
    }

    /// The address where what comes back in a step was kept: in the step of the octant with the other sign.
    pub fn source(&self, axis: usize, step: &Step) -> Option<EffectiveAddress> {
        let ReflectedFaces { start, bytes, count } = self.faces[axis]?;
        let octants = step.octant.index() - step.octant.mirrored(axis).index();
        Some(start.offset(bytes * (number(axis, step) - octants * count) as u64))
    }
}

/// The number of a face among those of its axis.
fn number(axis: usize, step: &Step) -> usize {
    if axis == K { step.fan } else { step.index }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::table::Source;
    use mmgp_sweep::{Input, K, Problem};

    #[test]
    fn ranks_at_the_boundary_have_none_there() {
        let text = "2 3 10 3 16\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
        let problem = Problem::new(&Input::read(&Source::new("input.50", text)).unwrap());
        let decomposition = Decomposition::new(&problem, [2, 3]).unwrap();
        // 4 5
        // 2 3
        // 0 1
        let of = |rank| {
            let own = Neighbours::of(&decomposition, rank);
            [(I, Sign::Minus), (I, Sign::Plus), (J, Sign::Minus), (J, Sign::Plus)]
                .map(|(axis, side)| own.towards(axis, side))
        };
        assert_eq!(of(0), [None, Some(1), None, Some(2)]);
        assert_eq!(of(3), [Some(2), None, Some(1), Some(5)]);
        assert_eq!(Neighbours::of(&decomposition, 3).towards(K, Sign::Plus), None);
    }
}
