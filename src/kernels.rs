//! The real kernels of the applications, written once against the instructions of the
//! [SPU](crate::spu).
//!
//! A kernel works on its local store alone; who moves data there and back is no business of it.

pub mod exponential;
pub mod layout;
pub mod logarithm;
pub mod pbpi;
pub mod raxml;
pub mod scalar;
pub mod sgemm;
pub mod version;
