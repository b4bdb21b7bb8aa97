//! The real kernels of the applications, written once against the instructions of the
//! [SPU](mmgp_spu).
//!
//! Read on at [`pbpi`], the likelihood functions of PBPI.
//!
//! A kernel works on its local store alone; who moves data there and back is no business of it.

#[macro_use]
mod kernel;

mod exponential;
pub mod list_ranking;
pub mod logarithm;
pub mod pbpi;
pub mod raxml;
mod scalar;
pub mod sgemm;
pub mod sweep3d;

pub use kernel::Version;
