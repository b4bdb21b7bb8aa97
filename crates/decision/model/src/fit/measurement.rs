//! A term as one file determines it.

use super::shape::Choice;
use crate::models::parameters::Estimate;
use crate::models::uncertainty::Correlation;
use mmgp_base::error::Warning;

/// A term as one file determines it.
#[derive(Debug)]
pub(crate) struct Measurement<T> {
    pub value: T,
    /// Rows that went into it.
    pub observations: u64,
    /// How the shape of a term over m was chosen, for the term and for each of its parts.
    pub choices: Vec<Choice>,
    /// How the errors of the entries of a term over m go together, where they do.
    pub correlation: Option<Correlation>,
    pub warnings: Vec<Warning>,
}

impl<T> Measurement<T> {
    /// Of a term without a shape.
    pub fn new(value: T, observations: u64, warnings: Vec<Warning>) -> Self {
        Self { value, observations, choices: Vec::new(), correlation: None, warnings }
    }
}

/// An estimate of which only the value and the origin are known.
pub(crate) fn stated(value: f64, source: &str) -> Estimate {
    Estimate { source: Some(source.to_string()), ..Estimate::exact(value) }
}
