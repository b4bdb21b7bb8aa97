//! The arrays of a rank's cells, line by line along i, in the memory of its Cell.

use mmgp_base::units::{Bytes, Seconds, SimTime};
use mmgp_cell::EffectiveAddress;
use mmgp_cell::memory::Memory;
use mmgp_kernels::sweep3d::{
    EXTERNAL_BYTES, MOMENTS_BYTES, TOTAL_BYTES, pack_external, pack_total, unpack_moments,
};
use mmgp_spu::Quadword;
use mmgp_sweep::{I, J, K, Moments, Part, Problem};

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

/// The absorption in all cells, of which phi_0 has that sum.
pub fn absorption(problem: &Problem, flux: f64) -> f64 {
    let sections = problem.cross_sections;
    flux * (sections.total - sections.isotropic) * problem.cell_volume()
}

/// The leakage over the low and the high face of each axis, from sums of what flows out of their cells.
pub fn leakage(problem: &Problem, sums: [[f64; 2]; 3]) -> [[f64; 2]; 3] {
    [I, J, K].map(|axis| sums[axis].map(|sum| sum * problem.face_area(axis)))
}

/// The time of each iteration, from the instants at which they end.
pub fn spans(started: SimTime, ends: &[SimTime]) -> Vec<Seconds> {
    let starts = std::iter::once(&started).chain(ends);
    ends.iter().zip(starts).map(|(end, start)| end.since(*start).seconds()).collect()
}
