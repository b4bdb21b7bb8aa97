//! The model's side of mmgp: from measurements to a ranking, with no emulator, terminal or picture.
//!
//! [`fit`] makes parameters of tables, [`model`] holds the equations, [`solve`] ranks every (m, p),
//! [`export`] hands parameters to other tools.

pub mod export;
pub mod fit;
pub mod model;
pub mod solve;
#[cfg(test)]
mod toy;

pub use mmgp_base::{Error, Mapping, Result, Warning, error, table, units};
