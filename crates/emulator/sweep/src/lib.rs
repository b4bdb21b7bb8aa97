//! Discrete ordinates on a grid of cells: the problem of the ASCI benchmark Sweep3D, how it is
//! divided among processes, and its plain solution. It knows no machine.
//!
//! Read on at [`Problem`], which is made of the benchmark's input file.
//!
//! A [`Problem`] is made of an [`Input`], the benchmark's input file. Its unknown is the angular flux
//! psi in every cell and direction; what is kept are the four moments of the flux, phi_0 to phi_3.
//! Source iteration takes the scattering from the moments of the iteration before, and then *sweeps*
//! the grid along every direction: a cell needs the outflow of the cells upstream of it. The
//! directions come in eight [`Octant`]s of some angles each ([`Quadrature`]).
//!
//! A [`Decomposition`] cuts the grid into columns, one [`Part`] a process. What a process does is a
//! [`Tile`]: it sweeps one block of angles and planes a [`Step`], takes the faces upstream of it and
//! leaves those downstream in their place. [`solve`] runs all tiles one after the other.
//!
//! ```
//! use mmgp_base::table::Source;
//! use mmgp_sweep::{Decomposition, Input, Problem, solve};
//!
//! let text = "1 1 2 3 1\n6 6 6 6 1\n.1 .1 .1 -4\n0 0 0\n0 0 0\n";
//! let problem = Problem::new(&Input::read(&Source::new("small", text))?);
//! let whole = solve(&problem, &Decomposition::new(&problem, [1, 1])?, &mut |_| ())?;
//! let divided = solve(&problem, &Decomposition::new(&problem, [2, 3])?, &mut |_| ())?;
//! assert_eq!(whole.errors.len(), 4);
//! assert_eq!(whole.flux, divided.flux);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod direction;
mod input;
mod line;
mod problem;
mod tile;

pub use direction::{Angle, Direction, Octant, Quadrature, Sign};
pub use input::{Boundary, Fields, FixUps, Input, Stop};
pub use line::{FixUp, Line};
pub use problem::{CrossSections, Place, Problem, Step};
pub use tile::{Decomposition, Part, Tile, Totals};

use mmgp_base::error::{Error, Result};

/// The axes i, j and k, as indices of what there is for each.
pub const I: usize = 0;
/// See [`I`].
pub const J: usize = 1;
/// See [`I`].
pub const K: usize = 2;

/// Moments of the flux that are kept: one, and one for each axis.
pub const MOMENTS: usize = 4;

/// phi_0 to phi_3, or q_0 to q_3, of a cell.
pub type Moments = [f64; MOMENTS];

/// What a solution is, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The error of each iteration: the largest of |phi_0 - old| / |phi_0| over all cells whose
    /// phi_0 is not 0.
    pub errors: Vec<f64>,
    /// Cells and angles of each iteration in which an outflow was set to zero.
    pub fix_ups: Vec<u64>,
    /// Absorption after the last iteration.
    pub absorption: f64,
    /// The source of all cells.
    pub source: f64,
    /// What left over the low and the high face of each axis in the last iteration.
    pub leakage: [[f64; 2]; 3],
    /// Whether the error was reached; always so where a number of iterations was asked for.
    pub has_converged: bool,
    /// phi_0 to phi_3 of all cells, i fastest and k slowest.
    pub flux: Vec<Moments>,
}

impl Outcome {
    /// Iterations that were done.
    pub fn iterations(&self) -> u32 {
        self.errors.len() as u32
    }

    /// What of the source is neither absorbed nor lost: 0 in the end.
    pub fn imbalance(&self) -> f64 {
        self.source - self.absorption - self.leakage.as_flattened().iter().sum::<f64>()
    }
}

/// How far a solution is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The iteration, counted from 1.
    pub iteration: u32,
    /// Octants of it that are done.
    pub octants: usize,
    /// The error of the iteration before, if there was one.
    pub error: Option<f64>,
}

/// The most cells that are solved: each takes some hundred bytes.
const MOST_CELLS: usize = 1 << 26;

/// Solves `problem` by the processes of `decomposition`, one after the other in each step, and says
/// after each octant how far it is. The flux does not depend on the decomposition, nor on the blocks
/// of a step; sums over cells do by their rounding.
///
/// # Errors
/// [`Error::OutOfRange`] for more than 67 million cells.
pub fn solve(
    problem: &Problem,
    decomposition: &Decomposition,
    report: &mut dyn FnMut(Progress),
) -> Result<Outcome> {
    let cells = problem.cells();
    if cells.iter().map(|&count| count as u128).product::<u128>() > MOST_CELLS as u128 {
        return Err(Error::out_of_range(
            "cells to solve",
            format!("{} x {} x {}", cells[I], cells[J], cells[K]),
            format!("{MOST_CELLS} in all at most"),
        ));
    }
    let mut ranks = Ranks::new(problem, *decomposition);
    let steps: Vec<Step> = problem.steps().collect();
    let (mut errors, mut fix_ups) = (Vec::new(), Vec::new());
    loop {
        let iteration = errors.len() as u32 + 1;
        ranks.tiles.iter_mut().for_each(|tile| tile.begin(iteration));
        for (octants, steps) in (1..).zip(steps.chunks(steps.len() / Octant::COUNT)) {
            steps.iter().for_each(|step| ranks.sweep(step));
            report(Progress { iteration, octants, error: errors.last().copied() });
        }
        let totals = ranks.totals();
        errors.push(totals.error);
        fix_ups.push(totals.fix_ups);
        if problem.stop.ends(iteration, totals.error) {
            return Ok(Outcome {
                errors,
                fix_ups,
                absorption: totals.absorption,
                source: problem.total_source(),
                leakage: totals.leakage,
                has_converged: problem.stop.is_reached(totals.error),
                flux: ranks.flux(cells),
            });
        }
    }
}

/// All processes, and the faces on their way between them.
struct Ranks {
    decomposition: Decomposition,
    tiles: Vec<Tile>,
    /// Faces on the way along i within a row of processes; from the tile that is as deep.
    i_faces: Vec<Vec<f64>>,
    j_faces: Vec<Vec<f64>>,
}

impl Ranks {
    fn new(problem: &Problem, decomposition: Decomposition) -> Self {
        let part = |rank| Tile::new(problem, decomposition.part(rank));
        let tiles: Vec<Tile> = (0..decomposition.count()).map(part).collect();
        let [columns, rows] = decomposition.processes();
        Self {
            i_faces: (0..rows).map(|j| tiles[decomposition.rank([0, j])].face(I)).collect(),
            j_faces: (0..columns).map(|i| tiles[i].face(J)).collect(),
            decomposition,
            tiles,
        }
    }

    /// One step of all, from upstream to downstream.
    fn sweep(&mut self, step: &Step) {
        let [columns, rows] = self.decomposition.processes();
        for row in 0..rows {
            let j = step.octant.signs[J].nth(row, rows);
            for column in 0..columns {
                let i = step.octant.signs[I].nth(column, columns);
                let tile = &mut self.tiles[self.decomposition.rank([i, j])];
                tile.sweep(step, &mut self.i_faces[j], &mut self.j_faces[i]);
            }
        }
    }

    fn totals(&self) -> Totals {
        let mut tiles = self.tiles.iter().map(Tile::totals);
        let first = tiles.next().expect("invariant: there is a process");
        tiles.fold(first, Totals::joined)
    }

    /// The flux of the grid.
    fn flux(&self, cells: [usize; 3]) -> Vec<Moments> {
        let mut flux = vec![[0.0; MOMENTS]; cells.iter().product()];
        for tile in &self.tiles {
            let part = tile.part();
            let lines = tile.flux().chunks_exact(part.cells[I]);
            for (line, moments) in lines.enumerate() {
                let (j, k) = (line % part.cells[J], line / part.cells[J]);
                let start = cells[I] * (cells[J] * k + part.origin[J] + j) + part.origin[I];
                flux[start..start + moments.len()].copy_from_slice(moments);
            }
        }
        flux
    }
}

#[cfg(test)]
mod tests {
    //! The solution against the benchmark's printed values, and against what is known of it.

    // The digits are the benchmark's.
    #![allow(clippy::excessive_precision)]

    use crate::{
        Boundary, CrossSections, Decomposition, Fields, FixUps, I, Input, Moments, Outcome,
        Problem, Stop, solve,
    };

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

    const ERRORS: [f64; 12] = [
        1.0,
        1.775_129_752_629_006_63,
        0.659_083_802_218_004_111,
        0.305_348_671_948_976_524,
        0.141_234_079_272_600_122,
        0.062_789_646_139_528_268_5,
        0.026_695_594_895_489_734_0,
        0.019_956_304_230_268_728_8,
        0.005_687_930_117_967_335_45,
        0.001_854_127_563_340_398_97,
        0.000_681_074_826_574_155_846,
        0.000_261_752_203_210_804_436,
    ];
    const FIX_UPS: [u64; 12] = [0, 0, 0, 0, 0, 0, 0, 12_000, 11_712, 11_664, 11_664, 11_664];
    const ABSORPTION: f64 = 3.343_417_464_828_590_37;
    const LEAKAGE: [f64; 3] =
        [0.125_419_419_635_145_5, 0.125_419_419_635_145_5, 0.125_419_421_915_668_1];

    /// Ten significant digits.
    const DIGITS: f64 = 5e-11;

    fn check_printed(outcome: &Outcome) {
        assert_eq!(outcome.iterations(), 12);
        for (iteration, (&found, &printed)) in outcome.errors.iter().zip(&ERRORS).enumerate() {
            check_close(found, printed, DIGITS, &format!("error {}", iteration + 1));
        }
        assert_eq!(outcome.fix_ups, FIX_UPS);
        check_close(outcome.absorption, ABSORPTION, DIGITS, "absorption");
        check_close(outcome.source, 4.096, 1e-14, "source");
        for (axis, printed) in LEAKAGE.into_iter().enumerate() {
            for found in outcome.leakage[axis] {
                check_close(found, printed, DIGITS, &format!("leakage along axis {axis}"));
            }
        }
        assert!((outcome.imbalance() - 6.6e-5).abs() < 0.05e-5, "{:e}", outcome.imbalance());
        assert!(outcome.has_converged);
    }

    #[test]
    fn the_printed_values_come_out() {
        check_printed(&solved(&problem(INPUT_50), [1, 1]));
    }

    #[test]
    fn every_decomposition_and_blocking_gives_the_same() {
        let one = solved(&problem(INPUT_50), [2, 3]);
        check_printed(&one);
        for (processes, planes_of_block, angles_of_block) in
            [([5, 10], 10, 3), ([1, 1], 7, 6), ([2, 3], 50, 2), ([3, 1], 1, 1)]
        {
            let fields = Fields { planes_of_block, angles_of_block, ..INPUT_50 };
            let other = solved(&problem(fields), processes);
            // The same operations in the same order: not a bit differs, but for sums over processes.
            assert_eq!(other.flux, one.flux, "{processes:?}");
            assert_eq!((&other.errors, &other.fix_ups), (&one.errors, &one.fix_ups));
            check_close(other.absorption, one.absorption, 1e-13, "absorption");
            let leaked = other.leakage.as_flattened().iter().zip(one.leakage.as_flattened());
            leaked.for_each(|(&found, &expected)| check_close(found, expected, 1e-13, "leakage"));
        }
    }

    /// A small grid, on which the flux does not become negative.
    const SMALL: Fields =
        Fields { cells: [12; 3], planes_of_block: 5, convergence: 1e-14, fix_ups: 0, ..INPUT_50 };

    /// The largest difference of phi_0 between a cell and the one that `mirror` makes of it, over the
    /// largest flux.
    fn asymmetry(
        outcome: &Outcome,
        cells: usize,
        mirror: impl Fn([usize; 3]) -> [usize; 3],
    ) -> f64 {
        let at = |[i, j, k]: [usize; 3]| outcome.flux[i + cells * (j + cells * k)][0];
        let largest = outcome.flux.iter().map(|flux| flux[0].abs()).fold(0.0, f64::max);
        let mut off = 0.0_f64;
        for cell in 0..cells.pow(3) {
            let cell = [cell % cells, cell / cells % cells, cell / cells / cells];
            off = off.max((at(cell) - at(mirror(cell))).abs());
        }
        off / largest
    }

    /// Summed over all directions, what is not balanced is 1 - w of what comes into them, source and
    /// scattering; here as much is scattered as absorbed. The weights of S6 sum to .99999999.
    #[test]
    fn source_absorption_and_leakage_balance() {
        for (angles, angles_of_block, missing) in [(3, 1, 0.0), (6, 3, 1e-8)] {
            let outcome = solved(&problem(Fields { angles, angles_of_block, ..SMALL }), [2, 2]);
            assert!(outcome.has_converged && outcome.iterations() > 12);
            let off = outcome.imbalance() - missing * (outcome.source + outcome.absorption);
            assert!(off.abs() < 1e-13 * outcome.source, "{off:e} with {angles} angles");
        }
    }

    #[test]
    fn the_flux_is_as_symmetric_as_the_problem() {
        for fix_ups in [0, 1] {
            let outcome = solved(&problem(Fields { fix_ups, ..SMALL }), [1, 1]);
            assert!(asymmetry(&outcome, 12, |[i, j, k]| [11 - i, j, k]) < 2e-15);
            assert!(asymmetry(&outcome, 12, |[i, j, k]| [i, 11 - j, k]) < 2e-15);
            assert!(asymmetry(&outcome, 12, |[i, j, k]| [i, j, 11 - k]) < 2e-15);
            assert!(asymmetry(&outcome, 12, |[i, j, k]| [j, i, k]) < 2e-15);
            // xi is derived from mu and eta, which have eight digits.
            let off = asymmetry(&outcome, 12, |[i, j, k]| [k, j, i]);
            assert!((1e-10..2e-8).contains(&off), "{off:e}");
        }
    }

    /// Checks that without end, and the same everywhere, the flux along every direction is Q / (sigma_t - sigma_s0
    /// w), w the sum of all weights.
    #[test]
    fn a_medium_without_end_stays_as_it_is() {
        for (angles, weights) in [(3, 1.0), (6, 0.999_999_99)] {
            let fields = Fields { angles, convergence: -5.0, fix_ups: 1, ..SMALL };
            let mut infinite = problem(fields);
            let along = 1.0 / (1.0 - 0.5 * weights);
            infinite.source_box = [0..12, 0..12, 0..12];
            infinite.inflow = along;
            infinite.initial_flux = weights * along;
            let outcome = solved(&infinite, [3, 2]);
            for flux in &outcome.flux {
                check_close(flux[0], weights * along, 1e-14, "phi_0");
                assert!(flux[1..].iter().all(|moment| moment.abs() < 1e-14));
            }
            assert_eq!(outcome.fix_ups, [0; 5]);
        }
    }

    /// Checks one dimension: a cell lets (c - sigma) / (c + sigma) of what flows in flow out.
    #[test]
    fn without_scattering_a_beam_dies_away_by_the_same_factor_in_each_cell() {
        let fields = Fields {
            cells: [40, 1, 1],
            // So wide along j and k that nothing flows over those faces.
            widths: [0.1, 1e20, 1e20],
            angles: 3,
            convergence: -1.0,
            ..SMALL
        };
        let mut absorber = problem(fields);
        absorber.cross_sections = CrossSections { total: 1.0, isotropic: 0.0, linear: 0.0 };
        absorber.source = 0.0;
        absorber.inflow = 1.0;
        let outcome = solved(&absorber, [4, 1]);
        let angles = absorber.quadrature().angles();
        for (cell, flux) in outcome.flux.iter().enumerate() {
            let expected: f64 = angles.iter().fold(0.0, |sum, angle| {
                let c = 2.0 * angle.cosines[I] / 0.1;
                let factor = (c - 1.0) / (c + 1.0);
                // In a cell psi is the mean of inflow and outflow; from both sides, in four octants.
                let along = |before: i32| (factor.powi(before) + factor.powi(before + 1)) / 2.0;
                sum + 4.0 * angle.weight * (along(cell as i32) + along(39 - cell as i32))
            });
            check_close(flux[0], expected, 1e-13, "phi_0");
        }
        // What flows in is passed on, absorbed, or leaves again: half the flux of each side's angles.
        let out: f64 = angles.iter().fold(0.0, |sum, angle| {
            let c = 2.0 * angle.cosines[I] / 0.1;
            sum + 4.0 * angle.weight * angle.cosines[I] * ((c - 1.0) / (c + 1.0)).powi(40)
        });
        check_close(outcome.leakage[I][0] / 1e40, out, 1e-13, "leakage");
    }

    #[test]
    fn a_face_that_reflects_stands_for_the_other_half() {
        for axis in 0..3 {
            for fix_ups in [0, 1] {
                let whole = problem(Fields { fix_ups, convergence: -12.0, ..SMALL });
                let mut fields = Fields { fix_ups, convergence: -12.0, ..SMALL };
                fields.cells[axis] = 6;
                fields.boundaries[axis] = 1;
                let mut half = problem(fields);
                assert_eq!(half.boundaries[axis], Boundary::Reflective);
                assert_eq!(half.source_box[axis], 0..4);
                half.source_box[axis] = 0..whole.source_box[axis].end - 6;
                let (whole, half) = (solved(&whole, [2, 2]), solved(&half, [2, 3]));
                let cells = fields.cells.map(|count| count as usize);
                let largest = whole.flux.iter().map(|flux| flux[0]).fold(0.0, f64::max);
                for (index, found) in half.flux.iter().enumerate() {
                    let mut cell = [
                        index % cells[0],
                        index / cells[0] % cells[1],
                        index / cells[0] / cells[1],
                    ];
                    cell[axis] += 6;
                    let expected = whole.flux[cell[0] + 12 * (cell[1] + 12 * cell[2])];
                    check_record(found, &expected, largest);
                }
                // Nothing is lost where it reflects, and half of all elsewhere.
                assert_eq!(half.leakage[axis][0], 0.0);
                check_close(half.leakage[axis][1], whole.leakage[axis][1], 1e-12, "leakage");
                let beside = (axis + 1) % 3;
                check_close(
                    half.leakage[beside][0],
                    whole.leakage[beside][0] / 2.0,
                    1e-12,
                    "beside",
                );
                for (half, whole) in half.fix_ups.iter().zip(&whole.fix_ups) {
                    assert_eq!(2 * half, *whole);
                }
            }
        }
    }

    fn check_record(found: &Moments, expected: &Moments, largest: f64) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 4e-15 * largest, "{found:e} {expected:e}");
        }
    }

    #[test]
    fn it_stops_where_the_error_is_reached() {
        let few = solved(&problem(Fields { convergence: 1e-3, ..SMALL }), [1, 1]);
        let (last, before) = few.errors.split_last().expect("there is an iteration");
        assert!(*last <= 1e-3 && before.iter().all(|&error| error > 1e-3));
        assert!(few.has_converged);
    }

    #[test]
    fn outflows_are_set_to_zero_when_they_are_to_be() {
        // Thick cells: half of an inflow is too much for them.
        let thick = Fields { widths: [2.0; 3], convergence: -4.0, ..SMALL };
        let fix_ups = |fix_ups| solved(&problem(Fields { fix_ups, ..thick }), [1, 1]).fix_ups;
        assert_eq!(fix_ups(0), [0; 4]);
        let always = fix_ups(1);
        assert!(always.iter().all(|&count| count > 0));
        let after = fix_ups(-2);
        assert!(after[..2] == [0, 0] && after[2..].iter().all(|&count| count > 0));
        let mut never_negative = problem(Fields { fix_ups: 1, ..thick });
        never_negative.fix_ups = FixUps::Always;
        never_negative.cross_sections.linear = 0.0;
        let flux = solved(&never_negative, [1, 1]).flux;
        assert!(flux.iter().all(|moments| moments[0] >= 0.0));
    }

    #[test]
    fn a_report_comes_after_each_octant() {
        let mut small = problem(SMALL);
        small.stop = Stop::After(3);
        let mut reports = Vec::new();
        let decomposition = Decomposition::new(&small, [1, 1]).unwrap();
        let outcome =
            solve(&small, &decomposition, &mut |progress| reports.push(progress)).unwrap();
        assert_eq!(reports.len(), 24);
        assert_eq!((reports[9].iteration, reports[9].octants), (2, 2));
        assert_eq!((reports[0].error, reports[9].error), (None, Some(outcome.errors[0])));
    }

    #[test]
    fn parts_are_the_whole_grid_and_the_first_have_what_is_left_over() {
        let grid = problem(Fields { cells: [11, 7, 5], ..SMALL });
        let decomposition = Decomposition::new(&grid, [3, 2]).unwrap();
        assert_eq!((decomposition.count(), decomposition.rank([1, 1])), (6, 4));
        let parts: Vec<_> = (0..6).map(|rank| decomposition.part(rank)).collect();
        assert_eq!((parts[0].origin, parts[0].cells), ([0, 0, 0], [4, 4, 5]));
        assert_eq!((parts[5].origin, parts[5].cells), ([8, 4, 0], [3, 3, 5]));
        assert_eq!(parts.iter().map(|part| part.volume()).sum::<usize>(), 11 * 7 * 5);
        let refused = Decomposition::new(&grid, [3, 8]).unwrap_err().to_string();
        assert_eq!(
            refused,
            "processes along j: found 8, expected 1 to 7, one for each cell on that axis at most"
        );
    }

    #[test]
    fn a_grid_too_large_to_solve_is_refused() {
        let grid = problem(Fields { cells: [1000, 1000, 1000], ..SMALL });
        let decomposition = Decomposition::new(&grid, [1, 1]).unwrap();
        let refused = solve(&grid, &decomposition, &mut |_| ()).unwrap_err().to_string();
        assert_eq!(
            refused,
            "cells to solve: found 1000 x 1000 x 1000, expected 67108864 in all at most"
        );
    }
}
