//! mmgp: how to map a program onto a machine of host cores and accelerators.

pub mod apps;
pub mod cell;
pub mod cli;
pub mod error;
pub mod export;
pub mod fit;
pub mod kernels;
pub mod machine;
pub mod measure;
pub mod model;
pub mod plot;
pub mod sim;
pub mod solve;
pub mod spu;
pub mod table;
pub mod units;
pub mod validate;

pub use error::{Error, Result, Warning};
