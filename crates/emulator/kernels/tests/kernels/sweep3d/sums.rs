use mmgp_spu::{Kernel as _, execute};
use mmgp_sweep::{Decomposition, Fields, I, Input, J, Problem, Tile};

use super::*;

const EXTERNAL: LocalAddress = LocalAddress(0xC000);
const SUMS: LocalAddress = LocalAddress(0xE000);

/// A tile of the benchmark's problem after two iterations.
fn tile(angles_of_block: i64) -> (Problem, Tile) {
    let fields = Fields {
        processes: [1, 1],
        planes_of_block: 2,
        angles_of_block,
        cells: [5, 4, 5],
        widths: [0.5; 3],
        convergence: -2.0,
        fix_ups: 1,
        ..Fields::BENCHMARK
    };
    let problem = Problem::new(&Input::new(fields).expect("it is right"));
    let decomposition = Decomposition::new(&problem, [1, 1]).expect("it is right");
    let mut tile = Tile::new(&problem, decomposition.part(0));
    for iteration in 1..=2 {
        tile.begin(iteration);
        let (mut i, mut j) = (tile.face(I), tile.face(J));
        problem.steps().for_each(|step| tile.sweep(&step, &mut i, &mut j));
    }
    (problem, tile)
}

#[test]
fn the_source_is_made_of_the_flux_as_plainly() {
    let (problem, mut tile) = tile(3);
    let flux = tile.flux().to_vec();
    let cells = flux.len();
    let mut store = LocalStore::new();
    put(&mut store, FLUX, &pack_moments(&flux));
    put(&mut store, EXTERNAL, &pack_external(tile.external(), &vec![9.0; cells]));
    let kernel = Source {
        cells: cells as u32,
        cross_sections: problem.cross_sections,
        flux: FLUX,
        external: EXTERNAL,
        source: SOURCE,
    };
    kernel.validate().expect("it lies right");
    execute(&kernel, &mut store);
    tile.begin(3);
    let source = unpack_moments(get(&store, SOURCE, MOMENTS_BYTES, cells));
    for (found, expected) in source.as_flattened().iter().zip(tile.source().as_flattened()) {
        assert!((found - expected).abs() <= 3e-16 * expected.abs(), "{found:e} {expected:e}");
    }
    let (external, old) = unpack_external(get(&store, EXTERNAL, EXTERNAL_BYTES, cells));
    assert_eq!(external, tile.external());
    assert!(old.iter().zip(&flux).all(|(old, flux)| *old == flux[0]));
    assert_eq!(unpack_moments(get(&store, FLUX, MOMENTS_BYTES, cells)), tile.flux());
}

/// The error and the sum of phi_0 by the kernel.
fn taken(flux: &[Moments], old: &[f64]) -> (f64, f64) {
    let mut store = LocalStore::new();
    put(&mut store, FLUX, &pack_moments(flux));
    put(&mut store, EXTERNAL, &pack_external(&vec![7.0; old.len()], old));
    let cells = flux.len() as u32;
    let kernel = Error { cells, flux: FLUX, external: EXTERNAL, sums: SUMS };
    kernel.validate().expect("it lies right");
    execute(&kernel, &mut store);
    let [error, sum] = [SUMS, SUMS.offset(Bytes(16))].map(|at| store.load(at));
    Error::result(&[error, sum])
}

#[test]
fn error_and_absorption_are_taken_as_plainly() {
    let (problem, tile) = tile(3);
    let (error, sum) = taken(tile.flux(), tile.old());
    let totals = tile.totals();
    assert!((error / totals.error - 1.0).abs() < 1e-15);
    let absorption = 0.5 * sum * problem.cell_volume();
    assert!((absorption / totals.absorption - 1.0).abs() < 1e-14);
    // An odd number of cells, the largest error last, and where the flux is 0 there is none.
    let cell = |phi: f64| [phi, 1e9, 1e9, 1e9];
    let (error, sum) = taken(&[cell(1.0), cell(0.0), cell(-1e-300)], &[2.0, 1.0, 3e-300]);
    assert!((error - 4.0).abs() < 1e-15, "{error}");
    assert_eq!(sum, 1.0);
    assert_eq!(taken(&[cell(1.0)], &[4.0]), (3.0, 1.0));
}

#[test]
fn what_leaks_is_added_over_a_face() {
    for angles in 1..=6 {
        let data = Data::random(8, 9, angles, 1.0);
        let mut store = data.packed();
        let weights: Vec<f64> = (1..=angles).map(|angle| 0.1 * angle as f64).collect();
        put(&mut store, COEFFICIENTS_AT, &leakage_weights(&weights));
        store.store(SUMS, Quadword::from_doubles([1.0, 2.0]));
        let kernel = Leakage {
            elements: 9,
            angles: angles as u32,
            face: J_FACE,
            weights: COEFFICIENTS_AT,
            sum: SUMS,
        };
        kernel.validate().expect("it lies right");
        execute(&kernel, &mut store);
        let expected: f64 = data
            .j_face
            .chunks_exact(angles)
            .flat_map(|element| element.iter().zip(&weights))
            .map(|(outflow, weight)| outflow * weight)
            .sum();
        let [one, other] = store.load(SUMS).doubles();
        assert!(((one + other - 3.0) / expected - 1.0).abs() < 1e-14);
    }
}

#[test]
fn a_face_is_cleared_and_what_lies_around_it_is_not() {
    for quadwords in [1, 3, 4, 9, 500] {
        let mut store = LocalStore::new();
        store.slice_mut(LocalAddress(0), Bytes(0x10000)).fill(Quadword::splat(7));
        let at = LocalAddress(0x4010);
        execute(&ClearFace { at, bytes: Bytes(16 * quadwords) }, &mut store);
        let is_zero = |place: &u32| store.load(LocalAddress(16 * place)) == Quadword::ZERO;
        let found: Vec<u32> = (0..0x1000).filter(is_zero).collect();
        assert_eq!(found, (0x401..0x401 + quadwords as u32).collect::<Vec<_>>());
    }
}
