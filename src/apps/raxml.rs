//! RAxML: maximum-likelihood inference of phylogenies (Stamatakis 2006).

pub mod engine;
pub mod host;
pub mod plain;
