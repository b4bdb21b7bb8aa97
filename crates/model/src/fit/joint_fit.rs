//! A joint fit, before it is made into parameters and a report.

use super::data::Robust;
use super::estimate::{Data, Estimated};
use super::identify::Verdict;
use super::shape::Choice;
use crate::model::Parameters;

/// A fit, with everything that it was made of.
pub(crate) struct Fit {
    pub estimated: Estimated,
    pub verdict: Verdict,
    /// The known parameters, with the shape of alpha that was chosen.
    pub base: Parameters,
    pub choice: Option<Choice>,
    pub data: Data,
    /// What a robust loss did, where one was asked for.
    pub robust: Option<Robust>,
}
