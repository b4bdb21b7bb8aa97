//! RAxML: maximum-likelihood inference of phylogenies (Stamatakis 2006).

pub mod engine;
pub mod plain;
pub mod search;
pub mod support;
