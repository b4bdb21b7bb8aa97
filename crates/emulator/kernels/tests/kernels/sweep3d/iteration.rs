use mmgp_base::units::Bytes;
use mmgp_spu::execute;
use mmgp_sweep::{Decomposition, Fields, I, Input, J, K, Problem, Step, solve};

use super::*;

/// The whole grid in the host's memory as quadwords, of which a line at a time is in local store.
struct Grid {
    cells: [usize; 3],
    total: Vec<Quadword>,
    source: Vec<Quadword>,
    flux: Vec<Quadword>,
    external: Vec<Quadword>,
    fixed: u64,
}

const EXTERNAL: LocalAddress = LocalAddress(0xC000);
const SUMS: LocalAddress = LocalAddress(0xE000);

impl Grid {
    fn new(problem: &Problem) -> Self {
        let [width, depth, height] = problem.cells();
        let cells = width * depth * height;
        let at = |cell| [cell % width, cell / width % depth, cell / width / depth];
        let external: Vec<f64> = (0..cells).map(|cell| problem.source_at(at(cell))).collect();
        Self {
            cells: problem.cells(),
            total: pack_total(&vec![problem.cross_sections.total; cells]),
            source: vec![Quadword::ZERO; 2 * cells],
            flux: vec![Quadword::ZERO; 2 * cells],
            external: pack_external(&external, &vec![0.0; cells]),
            fixed: 0,
        }
    }

    /// Line by line: the source, or the error.
    fn each_line(&mut self, store: &mut LocalStore, run: impl Fn(&mut LocalStore, u32)) {
        let width = self.cells[I];
        for line in 0..self.cells[J] * self.cells[K] {
            let (cells, moments) = (line * width, 2 * line * width);
            put(store, FLUX, &self.flux[moments..moments + 2 * width]);
            put(store, EXTERNAL, &self.external[cells..cells + width]);
            run(store, width as u32);
            let back = |at, bytes| get(store, at, bytes, width).to_vec();
            self.flux.splice(moments..moments + 2 * width, back(FLUX, MOMENTS_BYTES));
            self.source.splice(moments..moments + 2 * width, back(SOURCE, MOMENTS_BYTES));
            self.external.splice(cells..cells + width, back(EXTERNAL, EXTERNAL_BYTES));
        }
    }

    /// One step, with nothing but a vacuum around.
    fn sweep(
        &mut self,
        (problem, store): (&Problem, &mut LocalStore),
        step: &Step,
        (k_face, fix_up): (&mut Vec<Quadword>, FixUp),
    ) {
        let [width, depth, _] = self.cells;
        let angles = step.angles.len();
        let element = pairs(angles as u32) as usize;
        let face = width * element;
        put(store, COEFFICIENTS_AT, &coefficients(&problem.directions(step)));
        if step.place.is_first {
            *k_face = vec![Quadword::ZERO; face * depth];
        }
        let signs = step.octant.signs;
        for k in step.planes_in_order() {
            put(store, J_FACE, &vec![Quadword::ZERO; face]);
            for j in (0..depth).map(|visited| signs[J].nth(visited, depth)) {
                let cells = width * (depth * k + j);
                put(store, TOTAL, &self.total[cells..cells + width]);
                put(store, SOURCE, &self.source[2 * cells..2 * (cells + width)]);
                put(store, FLUX, &self.flux[2 * cells..2 * (cells + width)]);
                put(store, I_FACE, &vec![Quadword::ZERO; element]);
                put(store, K_FACE, &k_face[face * j..face * (j + 1)]);
                let kernel = line_of(width, angles, signs[I], fix_up);
                self.fixed += u64::from(execute(&kernel, store));
                let flux = get(store, FLUX, MOMENTS_BYTES, width);
                self.flux[2 * cells..2 * (cells + width)].copy_from_slice(flux);
                let bytes = face_bytes(angles as u32);
                k_face[face * j..face * (j + 1)].copy_from_slice(get(store, K_FACE, bytes, width));
            }
        }
    }
}

/// All iterations by the kernels alone: errors and fix-ups of each, and the flux.
fn solved(problem: &Problem, iterations: u32) -> (Vec<f64>, Vec<u64>, Vec<Moments>) {
    let mut grid = Grid::new(problem);
    let store = &mut LocalStore::new();
    let (mut errors, mut fix_ups, mut k_face) = (Vec::new(), Vec::new(), Vec::new());
    for iteration in 1..=iterations {
        let cross_sections = problem.cross_sections;
        grid.each_line(store, |store, cells| {
            let (flux, external, source) = (FLUX, EXTERNAL, SOURCE);
            execute(&Source { cells, cross_sections, flux, external, source }, store);
        });
        grid.fixed = 0;
        for step in problem.steps() {
            let fix_up = problem.fix_up_in(iteration);
            grid.sweep((problem, store), &step, (&mut k_face, fix_up));
        }
        put(store, SUMS, &[Quadword::ZERO; 2]);
        grid.each_line(store, |store, cells| {
            execute(&Error { cells, flux: FLUX, external: EXTERNAL, sums: SUMS }, store);
        });
        let sums = [SUMS, SUMS.offset(Bytes(16))].map(|at| store.load(at));
        errors.push(Error::result(&sums).0);
        fix_ups.push(grid.fixed);
    }
    (errors, fix_ups, unpack_moments(&grid.flux))
}

fn check(size: i64, angles_of_block: i64, fix_ups: i64) {
    let fields = Fields {
        processes: [1, 1],
        planes_of_block: 4,
        angles_of_block,
        processors: 1,
        cells: [size, size - 1, size + 1],
        angles: 6,
        scattering: 1,
        widths: [5.0 / size as f64; 3],
        convergence: -5.0,
        boundaries: [0; 3],
        printing: 0,
        acceleration: 0,
        fix_ups,
    };
    let problem = Problem::new(&Input::new(fields).expect("it is right"));
    let decomposition = Decomposition::new(&problem, [1, 1]).expect("it is right");
    let expected = solve(&problem, &decomposition, &mut |_| ()).expect("it is small");
    let (errors, fixed, flux) = solved(&problem, 5);
    assert_eq!(fixed, expected.fix_ups);
    assert!(fix_ups == 0 || fixed.iter().sum::<u64>() > 100, "{fixed:?}");
    for (found, expected) in errors.iter().zip(&expected.errors) {
        assert!((found / expected - 1.0).abs() < 1e-10, "{found:e} {expected:e}");
    }
    let largest = expected.flux.iter().map(|it| it[0]).fold(0.0, f64::max);
    for (found, expected) in flux.as_flattened().iter().zip(expected.flux.as_flattened()) {
        assert!((found - expected).abs() < 1e-14 * largest, "{found:e} {expected:e}");
    }
}

/// Iterations of the kernels alone, one after the other, are those of the plain solution.
#[test]
fn a_whole_problem_is_solved_as_plainly() {
    for (angles_of_block, fix_ups) in [(1, 1), (2, -2), (3, 0), (3, 1), (6, 1)] {
        check(9, angles_of_block, fix_ups);
    }
}
