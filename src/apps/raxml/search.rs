//! The search for the tree of maximum likelihood.

mod host;
mod parsimony;
mod tree;
