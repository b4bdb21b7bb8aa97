//! RAxML: maximum-likelihood inference of phylogenies (Stamatakis 2006).

mod arguments;
pub mod engine;
pub mod evaluation;
mod memory;
mod offloaded;
pub mod plain;
mod spe_program;
#[cfg(test)]
mod tests;

pub use offloaded::{OffloadedEngine, run_alone};
pub use spe_program::{FUNCTIONS, RaxmlProgram};

/// How the three functions were brought to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// For the SPU: vectorised kernels, DMA in large pieces that overlaps with them.
    Tuned,
    /// As first ported: scalar kernels, one transfer after the other, mailboxes.
    Naive,
    /// Not at all: everything runs on the host.
    Ppe,
}
