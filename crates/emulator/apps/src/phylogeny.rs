//! What a program for phylogenetic inference needs around its likelihood kernels: alignments and
//! their site patterns, trees and their text form, a simulator, and a plain computation of the
//! likelihood that kernels can be held against.
//!
//! Everything here runs on the host, outside the emulated machine.

pub mod alignment;
pub(crate) mod jukes_cantor;
pub mod newick;
pub mod simulate;
pub mod splits;
pub mod substitution;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tree;

pub use alignment::{Alignment, Patterns};
pub(crate) use simulate::Stream;
pub use tree::Tree;
