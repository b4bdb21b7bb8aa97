//! What lies in the arrays of a tile before the first iteration and after the last, and what is said of a run
//! whoever made it.

use super::cells::{Array, Cells};
use mmgp_base::units::{Seconds, SimTime};
use mmgp_cell::memory::Memory;
use mmgp_kernels::sweep3d::{pack_external, pack_total, unpack_moments};
use mmgp_spu::Quadword;
use mmgp_sweep::{I, J, K, Moments, Part, Problem};

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
