//! A joint fit, before it is made into parameters and a report.

use nalgebra::DVector;

use super::bounds::{Held, Within, estimate_within};
use super::estimate::{Data, Estimated, Spread};
use super::identify::Verdict;
use super::shape::Choice;
use super::unknowns::Unknowns;
use crate::model::Parameters;
use mmgp_base::error::Result;

/// A fit, with everything that it was made of.
pub(crate) struct Fit {
    pub estimated: Estimated,
    /// The errors of the entries, with what is not known of the shape of alpha.
    pub spread: Spread,
    pub verdict: Verdict,
    /// The known parameters, with the shape of alpha that was chosen.
    pub base: Parameters,
    pub choice: Option<Choice>,
    /// Entries that are at a bound which the data would have them cross.
    pub held: Vec<Held>,
    pub data: Data,
    pub host_time: HostTime,
}

/// What T_HPU of a fit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostTime {
    /// Known, by a file or as a sum by the runs.
    Known,
    /// A number that alpha is relative to: see [`super::host_time`].
    Conventional,
}

/// A fit with one shape of alpha.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The known parameters, with that shape.
    pub base: Parameters,
    pub within: Within,
}

impl Trial {
    /// Searches for the minimum of these unknowns from a start.
    pub fn of(
        base: Parameters,
        unknowns: &Unknowns,
        data: &Data,
        start: &DVector<f64>,
    ) -> Result<Self> {
        Ok(Self { base, within: estimate_within(unknowns, data, start)? })
    }
}
