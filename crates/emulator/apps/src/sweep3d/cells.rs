//! What lies in the memory of a rank's Cell: the arrays of its cells, line by line along i, and faces that low
//! boundaries reflect. Its neighbours are beside it.

use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_cell::memory::Memory;
use mmgp_kernels::sweep3d::{
    EXTERNAL_BYTES, MOMENTS_BYTES, TOTAL_BYTES, pack_external, pack_total, unpack_moments,
};
use mmgp_spu::Quadword;
use mmgp_sweep::{Boundary, Decomposition, I, J, K, Moments, Octant, Part, Problem, Sign, Step};

/// One of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Array {
    /// The source of all moments.
    Source,
    /// The flux of all moments.
    Flux,
    /// The total cross-section.
    Total,
    /// The source that does not depend on the flux, and the scalar flux of the iteration before.
    External,
}

impl Array {
    const ALL: [Self; 4] = [Self::Source, Self::Flux, Self::Total, Self::External];

    /// Bytes of a line of so many cells.
    pub fn line_bytes(self, cells: u32) -> u64 {
        let Bytes(each) = match self {
            Self::Source | Self::Flux => MOMENTS_BYTES,
            Self::Total => TOTAL_BYTES,
            Self::External => EXTERNAL_BYTES,
        };
        each * u64::from(cells)
    }
}

/// The arrays of a tile in memory.
#[derive(Debug, Clone, Copy)]
pub struct Cells {
    /// Cells along i, j and k.
    pub extents: [u32; 3],
    arrays: [EffectiveAddress; 4],
}

impl Cells {
    /// Room for the cells of a tile.
    pub fn allocate(extents: [u32; 3], allocate: impl Fn(Bytes) -> EffectiveAddress) -> Self {
        let [it, jt, kt] = extents;
        let lines = u64::from(jt) * u64::from(kt);
        let arrays = Array::ALL.map(|array| allocate(Bytes(lines * array.line_bytes(it))));
        Self { extents, arrays }
    }

    /// The beginning of a line of an array; the lines of a plane follow one another.
    pub fn line(&self, array: Array, j: u32, k: u32) -> EffectiveAddress {
        let [it, jt, _] = self.extents;
        let number = u64::from(k) * u64::from(jt) + u64::from(j);
        self.start(array).offset(number * array.line_bytes(it))
    }

    /// The beginning of an array.
    fn start(&self, array: Array) -> EffectiveAddress {
        self.arrays[array as usize]
    }
}

/// Writes the cross-sections and the external source of a part.
pub fn fill(cells: &Cells, part: &Part, problem: &Problem, memory: &Memory) {
    let [it, jt, kt] = part.cells;
    let total = pack_total(&vec![problem.cross_sections.total; it]);
    for (j, k) in (0..kt).flat_map(|k| (0..jt).map(move |j| (j, k))) {
        let [first_i, first_j, first_k] = part.origin;
        let source = |i| problem.source_at([first_i + i, first_j + j, first_k + k]);
        let external: Vec<f64> = (0..it).map(source).collect();
        let line = |array| cells.line(array, j as u32, k as u32);
        memory.write(line(Array::Total), total.iter().copied());
        memory.write(line(Array::External), pack_external(&external, &vec![0.0; it]));
    }
}

/// Writes phi_0 to phi_3 of a part into those of the grid, i fastest and k slowest.
pub fn take_flux(
    cells: &Cells,
    part: &Part,
    grid: [usize; 3],
    memory: &Memory,
    flux: &mut [Moments],
) {
    let Part { origin, cells: [width, depth, height] } = *part;
    for (j, k) in (0..height).flat_map(|k| (0..depth).map(move |j| (j, k))) {
        let start = cells.line(Array::Flux, j as u32, k as u32);
        let quadwords = 0..2 * width as u64;
        let line: Vec<Quadword> =
            quadwords.map(|number| memory.read(start.offset(16 * number))).collect();
        let first = origin[I] + grid[I] * (origin[J] + j + grid[J] * (origin[K] + k));
        flux[first..first + width].copy_from_slice(&unpack_moments(&line));
    }
}

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
