//! What every part of mmgp stands on: quantities that cannot be mixed up ([`units`]), one error
//! and warnings as values ([`error`]), files in and out ([`table`]), and what is told of them, to people and
//! to programs alike ([`answer`]).

pub mod answer;
pub mod attempt;
pub mod error;
pub mod expression;
mod mapping;
pub mod quantity;
pub mod series;
pub mod table;
pub mod target;
pub mod units;

pub use error::{Error, Result, Warning};
pub use mapping::{Mapping, Site};
