//! The terms of equation 11 as unknowns of a fit.

use crate::models::terms::Term;
use mmgp_base::error::Warning;

/// The terms in the order in which they carry: of terms that cannot be told apart, the first carries
/// the sum. Of alpha it is the slope a of `alpha_m = 1 + a*(m - 1)` that runs tell of, its product
/// with T_HPU where that is unknown too.
pub(crate) const CARRIERS: [Term; 10] = [
    Term::HpuTime,
    Term::ApuTime,
    Term::ApuSerialTime,
    Term::Alpha,
    Term::Gap,
    Term::OffloadOverhead,
    Term::ContextSwitch,
    Term::CollectiveCost,
    Term::Offloads,
    Term::Collectives,
];

impl Term {
    /// What the term adds to a sum \[s\].
    pub(crate) fn contribution(self) -> &'static str {
        match self {
            Term::HpuTime | Term::ApuTime | Term::ApuSerialTime => self.name(),
            Term::Alpha => "(alpha - 1)*t_hpu_s",
            Term::Gap => "offloads*p*g_s",
            Term::OffloadOverhead => "offloads*o_offload_s",
            Term::ContextSwitch => "offloads*t_csw_s",
            Term::CollectiveCost | Term::Collectives => "collectives*o_col_s",
            Term::Offloads => "(offloads - 1)*(o_offload_s + t_csw_s)",
        }
    }

    /// The value that leaves the term out of equation 11, above which estimates by runs alone lie. A
    /// program off-loads at least once, so that times per off-load mean something.
    pub(crate) fn neutral(self) -> f64 {
        match self {
            Term::Alpha | Term::Offloads => 1.0,
            _ => 0.0,
        }
    }

    /// The least that the term can be: nobody is slowed down by less than nothing.
    pub(crate) fn least(self) -> f64 {
        if self == Term::Alpha { 1.0 } else { 0.0 }
    }

    /// The files that would give the term a value.
    pub(crate) fn measured_by(self) -> &'static str {
        match self {
            Term::Alpha => "alpha.csv, or runs.csv with several m,",
            Term::OffloadOverhead => "offload.csv",
            Term::ContextSwitch => "context_switch.csv",
            Term::CollectiveCost => "collective.csv",
            Term::Gap => "profile.csv, or runs.csv with several p,",
            Term::HpuTime
            | Term::ApuTime
            | Term::ApuSerialTime
            | Term::Offloads
            | Term::Collectives => "profile.csv",
        }
    }

    /// The warning that goes with a neutral value.
    pub(crate) fn not_measured(self) -> Warning {
        Warning::NotMeasured {
            term: self.name(),
            taken: self.neutral(),
            measure: self.measured_by(),
        }
    }
}
