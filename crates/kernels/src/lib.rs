//! The real kernels of the applications, written once against the instructions of the
//! [SPU](mmgp_spu).
//!
//! A kernel works on its local store alone; who moves data there and back is no business of it.

mod exponential;
pub mod list_ranking;
pub mod logarithm;
pub mod pbpi;
pub mod raxml;
mod reciprocal;
mod scalar;
pub mod sgemm;
mod stores;
pub mod sweep3d;
pub mod version;

/// The pipeline that the tests time kernels on: a QS20's.
#[cfg(test)]
fn cell_be() -> mmgp_spu::Timing {
    mmgp_cell::pipeline(&mmgp_machine::Machine::named("qs20").expect("it is built in"))
}

#[cfg(test)]
mod tests;
