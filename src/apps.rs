//! The programs that off-load work to accelerators, and what surrounds their kernels.

pub mod phylogeny;
