//! The benchmark's input.

mod read;

use std::fmt;

use mmgp_base::error::{Error, Result};

use crate::direction::Quadrature;

/// The numbers of an input file under the names that the benchmark has for them, as they stand
/// there. [`Input::new`] checks them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fields {
    /// `npe_i` and `npe_j`: processes along i and j.
    pub processes: [i64; 2],
    /// `mk`: planes of a block along k.
    pub planes_of_block: i64,
    /// `mmi`: angles of a block.
    pub angles_of_block: i64,
    /// `ncpu`: changes nothing.
    pub processors: i64,
    /// `it`, `jt`, `kt`: cells along each axis.
    pub cells: [i64; 3],
    /// `mm`: angles of an octant.
    pub angles: i64,
    /// `isct`: the order of scattering.
    pub scattering: i64,
    /// `dx`, `dy`, `dz`: the width of a cell along each axis.
    pub widths: [f64; 3],
    /// `epsi`: the error to reach, or where it is negative so many iterations.
    pub convergence: f64,
    /// `ibc`, `jbc`, `kbc`: 1 where the low face of an axis reflects.
    pub boundaries: [i64; 3],
    /// `iprint`: changes nothing.
    pub printing: i64,
    /// `idsa`: changes nothing.
    pub acceleration: i64,
    /// `ifixups`: whether negative outflows are set to zero, or where it is negative after how many
    /// iterations.
    pub fix_ups: i64,
}

impl Fields {
    /// The problem that the benchmark comes with: 50 x 50 x 50 cells in 12 iterations, fix-ups after 7.
    pub const BENCHMARK: Self = Self {
        processes: [2, 3],
        planes_of_block: 10,
        angles_of_block: 3,
        processors: 1,
        cells: [50, 50, 50],
        angles: 6,
        scattering: 1,
        widths: [0.1, 0.1, 0.1],
        convergence: -12.0,
        boundaries: [0, 0, 0],
        printing: 0,
        acceleration: 0,
        fix_ups: -7,
    };
}

/// A checked input.
///
/// ```
/// use mmgp_base::table::Source;
/// use mmgp_sweep::Input;
///
/// let text = "2 3 10 3 16\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";
/// let input = Input::read(&Source::new("input.50", text))?;
/// assert_eq!((input.processes(), input.cells()), ([2, 3], [50, 50, 50]));
/// let refused = Input::read(&Source::new("input.50", &text.replace("6 1", "5 1"))).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "input.50:2:10: found 5 as angles of an octant, mm, expected 3 or 6"
/// );
/// # Ok::<(), mmgp_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Input {
    fields: Fields,
}

/// The most cells of an axis, and processes.
const MOST_CELLS: i64 = 1_000_000;

/// A field that is not as it must be.
#[derive(Debug)]
struct Flaw {
    /// Place in the file, from 0.
    field: usize,
    found: String,
    expected: String,
}

/// What the numbers are called in messages, in the order of the file.
const NAMES: [&str; COUNT] = [
    "processes along i, npe_i",
    "processes along j, npe_j",
    "planes of a block, mk",
    "angles of a block, mmi",
    "processors, ncpu",
    "cells along i, it",
    "cells along j, jt",
    "cells along k, kt",
    "angles of an octant, mm",
    "order of scattering, isct",
    "width of a cell along i, dx",
    "width of a cell along j, dy",
    "width of a cell along k, dz",
    "error to reach, epsi",
    "low boundary of i, ibc",
    "low boundary of j, jbc",
    "low boundary of k, kbc",
    "printing, iprint",
    "acceleration, idsa",
    "fix-ups, ifixups",
];

/// Numbers of an input file.
const COUNT: usize = 20;

/// Numbers of each of its lines, as the benchmark's own files have them.
const OF_LINE: [usize; 5] = [5, 5, 4, 3, 3];

impl Fields {
    /// Looks for the first number that is not as it must be.
    fn check(&self) -> std::result::Result<(), Flaw> {
        whole(0, self.processes[0], 1..=MOST_CELLS)?;
        whole(1, self.processes[1], 1..=MOST_CELLS)?;
        whole(2, self.planes_of_block, 1..=MOST_CELLS)?;
        for (field, &cells) in (5..).zip(&self.cells) {
            whole(field, cells, 1..=MOST_CELLS)?;
        }
        refuse_unless([3, 6].contains(&self.angles), 8, self.angles, "3 or 6")?;
        let divides = self.angles_of_block > 0 && self.angles % self.angles_of_block == 0;
        let expected = format!("a divisor of the {} angles of an octant", self.angles);
        refuse_unless(divides, 3, self.angles_of_block, &expected)?;
        whole(9, self.scattering, 0..=1)?;
        for (field, &width) in (10..).zip(&self.widths) {
            let is_width = width.is_finite() && width > 0.0;
            refuse_unless(is_width, field, width, "a finite number above 0")?;
        }
        let epsi = self.convergence;
        let most = f64::from(Stop::MOST_ITERATIONS);
        let is_count = (-most..=-1.0).contains(&epsi) && epsi.fract() == 0.0;
        let expected = format!("a number above 0, or minus a whole number of iterations to {most}");
        refuse_unless(is_count || (epsi > 0.0 && epsi.is_finite()), 13, epsi, &expected)?;
        for (field, &boundary) in (14..).zip(&self.boundaries) {
            refuse_unless(
                [0, 1].contains(&boundary),
                field,
                boundary,
                "0, a vacuum, or 1, where it reflects",
            )?;
        }
        whole(19, self.fix_ups, -MOST_CELLS..=MOST_CELLS)
    }
}

fn whole(
    field: usize,
    value: i64,
    range: std::ops::RangeInclusive<i64>,
) -> std::result::Result<(), Flaw> {
    let (first, last) = (range.start(), range.end());
    let expected = format!("a whole number from {first} to {last}");
    refuse_unless(range.contains(&value), field, value, &expected)
}

fn refuse_unless(
    is_right: bool,
    field: usize,
    found: impl ToString,
    expected: &str,
) -> std::result::Result<(), Flaw> {
    if is_right {
        return Ok(());
    }
    Err(Flaw { field, found: found.to_string(), expected: expected.into() })
}

impl Input {
    /// Makes an input from numbers instead of a file.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the name of the number, what it is and what it may be.
    pub fn new(fields: Fields) -> Result<Self> {
        match fields.check() {
            Ok(()) => Ok(Self { fields }),
            Err(Flaw { field, found, expected }) => {
                let name = NAMES[field].split(", ").next().unwrap_or(NAMES[field]);
                Err(Error::out_of_range(name, found, expected))
            }
        }
    }

    /// The numbers, as they stand in the file.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Processes along i and j.
    pub fn processes(&self) -> [usize; 2] {
        self.fields.processes.map(count)
    }

    /// Planes of a block along k: mk, but no more than there are.
    pub fn planes_of_block(&self) -> usize {
        count(self.fields.planes_of_block.min(self.fields.cells[2]))
    }

    /// Angles of a block: mmi.
    pub fn angles_of_block(&self) -> usize {
        count(self.fields.angles_of_block)
    }

    /// Cells along each axis.
    pub fn cells(&self) -> [usize; 3] {
        self.fields.cells.map(count)
    }

    /// The angles.
    pub fn quadrature(&self) -> Quadrature {
        Quadrature::with_angles(count(self.fields.angles)).expect("invariant: mm is 3 or 6")
    }

    /// Whether some of the scattering depends on the angle.
    pub fn scatters_linearly(&self) -> bool {
        self.fields.scattering == 1
    }

    /// The width of a cell along each axis.
    pub fn widths(&self) -> [f64; 3] {
        self.fields.widths
    }

    /// What stops the iteration.
    pub fn stop(&self) -> Stop {
        match self.fields.convergence {
            epsi if epsi < 0.0 => Stop::After(-epsi as u32),
            epsi => Stop::Within(epsi),
        }
    }

    /// The low face of each axis.
    pub fn boundaries(&self) -> [Boundary; 3] {
        let reflects = |it| if it == 1 { Boundary::Reflective } else { Boundary::Vacuum };
        self.fields.boundaries.map(reflects)
    }

    /// When negative outflows are set to zero.
    pub fn fix_ups(&self) -> FixUps {
        match self.fields.fix_ups {
            0 => FixUps::Never,
            without @ ..0 => FixUps::After(without.unsigned_abs() as u32),
            1.. => FixUps::Always,
        }
    }
}

/// A number that has been checked to be above 0.
fn count(value: i64) -> usize {
    usize::try_from(value).expect("invariant: counts are above 0")
}

/// Writes it as an input file.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = &self.fields;
        let [npe_i, npe_j] = it.processes;
        writeln!(
            f,
            "{npe_i} {npe_j} {} {} {}",
            it.planes_of_block, it.angles_of_block, it.processors
        )?;
        let [i, j, k] = it.cells;
        writeln!(f, "{i} {j} {k} {} {}", it.angles, it.scattering)?;
        let [dx, dy, dz] = it.widths;
        writeln!(f, "{dx:?} {dy:?} {dz:?} {:?}", it.convergence)?;
        let [ibc, jbc, kbc] = it.boundaries;
        writeln!(f, "{ibc} {jbc} {kbc}")?;
        writeln!(f, "{} {} {}", it.printing, it.acceleration, it.fix_ups)
    }
}

/// What stops the iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// Ends after so many iterations.
    After(u32),
    /// Ends as soon as the error is at most this, or after [`Stop::MOST_ITERATIONS`].
    Within(f64),
}

impl Stop {
    /// Iterations after which an error that does not fall is given up.
    pub const MOST_ITERATIONS: u32 = 10_000;

    /// Whether an iteration, counted from 1, with this error is the last.
    pub fn ends(self, iteration: u32, error: f64) -> bool {
        match self {
            Self::After(count) => iteration >= count,
            Self::Within(_) => self.is_reached(error) || iteration >= Self::MOST_ITERATIONS,
        }
    }

    /// Whether an error is what was asked for; always so where iterations were.
    pub fn is_reached(self, error: f64) -> bool {
        match self {
            Self::After(_) => true,
            Self::Within(most) => error <= most,
        }
    }
}

/// When negative outflows are set to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixUps {
    /// Every iteration.
    Always,
    /// No iteration.
    Never,
    /// Iterations after so many without.
    After(u32),
}

/// What is beyond the low face of an axis. Beyond the high face there is always a vacuum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing comes back.
    Vacuum,
    /// What flows out comes back with the same cosines, but for the sign.
    Reflective,
}
