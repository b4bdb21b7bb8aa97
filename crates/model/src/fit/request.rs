//! What is asked of a joint fit.

use super::runs::Runs;
use super::settings::Options;
use crate::model::uncertainty::Correlation;

/// What there is to fit.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub runs: &'a Runs,
    /// How the errors of what files say go together.
    pub correlations: &'a [Correlation],
    pub options: &'a Options,
}
