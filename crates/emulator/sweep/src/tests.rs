//! The solution against the benchmark's printed values, and against what is known of it.

mod benchmark;
mod known;

use crate::{Decomposition, Fields, Input, Outcome, Problem, solve};

/// The numbers of the benchmark's smaller example.
const INPUT_50: Fields = Fields {
    processes: [2, 3],
    planes_of_block: 10,
    angles_of_block: 3,
    processors: 16,
    cells: [50; 3],
    angles: 6,
    scattering: 1,
    widths: [0.1; 3],
    convergence: -12.0,
    boundaries: [0; 3],
    printing: 0,
    acceleration: 1,
    fix_ups: -7,
};

fn problem(fields: Fields) -> Problem {
    Problem::new(&Input::new(fields).expect("the numbers are right"))
}

fn solved(problem: &Problem, processes: [usize; 2]) -> Outcome {
    let decomposition = Decomposition::new(problem, processes).expect("there are cells enough");
    solve(problem, &decomposition, &mut |_| ()).expect("it is small enough")
}

fn check_close(found: f64, expected: f64, relative: f64, what: &str) {
    let off = (found - expected).abs() / expected.abs();
    assert!(off <= relative, "{what}: {found:?}, expected {expected:?}, off by {off:e}");
}
