//! Which part of a run is shown.

use crate::Mapping;
use crate::measure::Watch;
use crate::models::Parameters;
use crate::models::parameters::Decomposition;
use crate::units::{Seconds, SimSpan};

/// Off-loads of a process that it has.
const OFFLOADS_SHOWN: f64 = 12.0;

/// The middle of the run at a mapping that is predicted to take so long.
pub(super) fn middle(parameters: &Parameters, mapping: Mapping, time: Seconds) -> Watch {
    let m = f64::from(mapping.m());
    let of_each = parameters.terms.offloads.value
        / match parameters.decomposition {
            Decomposition::Data => 1.0,
            Decomposition::Task { .. } => m,
        };
    let length = time * (OFFLOADS_SHOWN / of_each.max(OFFLOADS_SHOWN));
    let before = (of_each * m - OFFLOADS_SHOWN * m).max(0.0) / 2.0;
    Watch::new(mapping, before as u64, SimSpan::from_seconds(length))
}
