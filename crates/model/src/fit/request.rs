//! What is asked of a joint fit.

use super::runs::{LogTimes, Runs};
use super::settings::Options;
use crate::model::uncertainty::Correlation;

/// What there is to fit.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub runs: &'a Runs,
    /// The single times, where a robust loss or resampling needs them.
    pub times: Option<&'a LogTimes>,
    /// How the errors of what files say go together.
    pub correlations: &'a [Correlation],
    pub options: &'a Options,
}
