//! The programs that off-load work to accelerators, and what surrounds their kernels.

pub mod application;
pub mod description;
pub mod fingerprint;
pub mod list_ranking;
mod once;
pub mod pbpi;
pub mod phylogeny;
mod port;
pub mod raxml;
pub mod run;
mod scaling;
pub mod sgemm;
mod streaming;
pub mod sweep3d;
pub mod synthetic;
mod work;

pub use application::{Application, Division, Ran};
pub use fingerprint::Fingerprint;
pub use once::Once;
pub use port::Port;
