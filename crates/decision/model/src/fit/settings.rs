//! What a fit is of, and how it is done.

use super::refined::Counts;
use super::shape::TermChoices;
use crate::models::parameters::Decomposition;

/// What the parameters are of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Name of the parameter set.
    pub name: String,
    /// How the program divides its work among host threads.
    pub decomposition: Decomposition,
    /// N_APU: APUs available.
    pub apus: u32,
    /// How to estimate.
    pub options: Options,
}

impl Settings {
    /// Estimated by default.
    pub fn new(name: impl Into<String>, decomposition: Decomposition, apus: u32) -> Self {
        Self { name: name.into(), decomposition, apus, options: Options::default() }
    }

    /// Estimated so.
    pub fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }
}

/// How to estimate; the default is what most data ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The shapes of the terms over m, and the collective that the program calls.
    pub terms: TermChoices,
    /// What is counted of the program for the refined model, which is fitted beside equation 11
    /// where this is given.
    pub counts: Option<Counts>,
}
