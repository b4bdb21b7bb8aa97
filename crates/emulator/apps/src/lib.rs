//! The programs that off-load work to accelerators, and what surrounds their kernels: PBPI, RAxML, list ranking,
//! Sweep3D, products of matrices, and synthetic work.
//!
//! Read on at [`Application`], which says what a program is to a machine; each program is a module.

#[macro_use]
mod layout;
#[macro_use]
mod work;

pub mod application;
pub mod fingerprint;
mod likelihood;
pub mod list_ranking;
pub mod pbpi;
pub mod phylogeny;
mod port;
pub mod raxml;
pub mod run;
pub mod sgemm;
mod streaming;
pub mod sweep3d;
pub mod synthetic;

pub use application::{Application, Division, Once, Ran};
pub use fingerprint::Fingerprint;
pub use port::Port;
