//! The programs that off-load work to accelerators, and what surrounds their kernels: PBPI, RAxML, list ranking,
//! Sweep3D, products of matrices, and synthetic work.
//!
//! Read on at [`Application`], which says what a program is to a machine; each program is a module.

#[macro_use]
extern crate mmgp_cell;

#[macro_use]
mod layout;

pub mod application;
mod likelihood;
pub mod list_ranking;
pub mod pbpi;
pub mod phylogeny;
pub mod raxml;
pub mod run;
pub mod sgemm;
mod streaming;
pub mod sweep3d;
pub mod synthetic;

pub use application::{Application, Division, Fingerprint, Once, Ran};
pub use streaming::Port;
