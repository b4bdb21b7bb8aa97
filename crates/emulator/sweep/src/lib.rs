//! Discrete ordinates on a grid of cells: the problem of the ASCI benchmark Sweep3D, how it is
//! divided among processes, and its plain solution. It knows no machine.
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
mod solve;
mod tile;

pub use direction::{Angle, Direction, Octant, Quadrature, Sign};
pub use input::{Boundary, Fields, FixUps, Input, Stop};
pub use line::{FixUp, Line};
pub use problem::{CrossSections, Place, Problem, Step};
pub use solve::{Outcome, Progress, solve};
pub use tile::{Decomposition, Part, Tile, Totals};

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

#[cfg(test)]
mod tests;
