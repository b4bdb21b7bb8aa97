//! The functions of RAxML on the host.
//!
//! Each is written once over [`Arithmetic`](mmgp_cell::ppe::Arithmetic): with plain doubles it
//! computes, in [`host`](super::host) it is also timed.
//!
//! # Layout
//! Vectors hold four doubles per pattern and category, `[pattern][category][l]`, in eigen
//! coordinates; GAMMA has four categories, CAT one, whose rate the pattern chooses. Patterns
//! that are not computed are not there.

#[cfg(test)]
mod engine;
mod evaluate;
mod makenewz;
mod newview;
mod state;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use engine::PlainEngine;
pub use state::{Eigen, End, Likelihoods, Newton, Vectors, WeightedPatterns};

/// Four doubles: one for each eigenvalue or each state.
pub type Four = [f64; 4];
