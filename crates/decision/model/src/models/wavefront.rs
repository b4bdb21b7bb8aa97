//! Wavefronts over a grid of ranks: how long an iteration of a sweep takes on px x py ranks, with planes
//! and angles in blocks of mk and mmi.
//!
//! With a block time W and a cost c of each blocking message, S steps and F steps to fill (after Hoisie,
//! Lubeck and Wasserman; Mudalige, Vernon and Jarvis),
//!
//! ```text
//! T = W (S + F) + c (4 S + 2 F - 10)        S = 8 mmo kb,  F = 2 (px - 1) + 4 (py - 1)
//! ```
//!
//! for px > 2 and py > 1. [`Flat`] is this formula where messages cost by the link that they pass, and by who
//! waits for whom; [`TwoLevel`] is the same over nodes that off-load their blocks.
//!
//! # Several kinds of links
//!
//! A message costs `early` from its sender's readiness, `late` from its receiver's posting, and its sender
//! goes on `release` after that; c is both of the first, and no release. Of a rank, e and n are when it
//! has received along x and along y. They wait for one another by four moves:
//!
//! ```text
//! A  e(x, y)     -> n(x, y)        late_y                 D  n(x, y) -> e(x, y-1) of the next step
//! B  n(x, y)     -> e(x+1, y)      W + early_x                       release_y + late_x
//! C  e(x+1, y)   -> n(x, y+1)      release_x + early_y
//! ```
//!
//! Whoever comes back to where he was after k steps has made each move k times, so every rank takes the same
//! period: a mean over the places that a cycle visits. The costliest cycle is A, D, C, B around the four
//! ranks where the costliest links of both axes cross, not a rank with four costly links:
//!
//! ```text
//! P = W + (early + late + release)_x + (early + late + release)_y          (of c: W + 4 c)
//! ```
//!
//! A sweep of s steps to a rank that is dx and dy further makes D s-1 times, C s-1+dy times, B s-1+dx+dy
//! times and A s+dx times. It crosses each link on its way once; all its other moves it makes where
//! they cost most. Four sweeps, of which the second and the fourth cross both axes, the first and the
//! third y alone and then send along x once more, are T; of equal costs it is the formula above.
//!
//! What this leaves out: the way to the costliest links and back (a few hops that cost less than is
//! counted), blocks of few planes at the end of an octant (each step has the mean of them), and queues.
//!
//! ```
//! use mmgp_model::models::parameters::Estimate;
//! use mmgp_model::models::wavefront::{Choice, Flat, LinkTerms, Problem, Tiling, WavefrontTerms};
//!
//! // 10 us a block whatever its size, 1 us a message wherever it goes.
//! let mut terms = WavefrontTerms::nothing();
//! terms.block_s = Estimate::exact(10e-6);
//! terms.links = LinkTerms::symmetric(&Estimate::exact(1e-6)).everywhere();
//! let problem = Problem { it: 40, jt: 30, kt: 50, angles: 6 };
//! let tiling = Tiling { node: [4, 3], blade: [4, 3], cell: [4, 1] };
//! let choice = Choice { px: 4, py: 3, planes: 10, angles: 3, tiling };
//! // S = 80, F = 2 x 3 + 4 x 2.
//! let time = Flat::new(terms, problem, vec![choice]).time_of(&choice).0;
//! assert!((time - (94.0 * 10e-6 + 338.0 * 1e-6)).abs() < 1e-12);
//! ```

mod choice;
mod flat;
mod period;
mod terms;
#[cfg(test)]
mod tests;
mod two_level;

pub use choice::{Choice, Problem, Tiling, choices};
pub use flat::Flat;
pub(crate) use terms::WAYS;
pub use terms::{Line, LinkTerms, Links, WavefrontTerms};
pub use two_level::{Inner, Transfer, TwoLevel};
