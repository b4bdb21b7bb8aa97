//! The terms of equation 11 as unknowns of a fit.

use crate::model::sensitivity::Entry;
use mmgp_base::error::Warning;

/// A term that runs may have to estimate.
///
/// The order matters: of terms that cannot be told apart, the first carries the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Term {
    /// T_HPU.
    HpuTime,
    /// T_APU.
    ApuTime,
    /// C_APU.
    ApuSerialTime,
    /// The slope a of `alpha_m = 1 + a*(m - 1)`; its product with T_HPU where that is unknown too.
    Alpha,
    /// g.
    Gap,
    /// O_offload.
    OffloadOverhead,
    /// T_CSW.
    ContextSwitch,
    /// O_COL, the same for all m.
    CollectiveCost,
    /// N, beyond the one off-load that is assumed.
    Offloads,
    /// The number of collectives.
    Collectives,
}

impl Term {
    /// The term's name in parameter files.
    pub fn name(self) -> &'static str {
        match self {
            Term::HpuTime => "t_hpu_s",
            Term::ApuTime => "t_apu_s",
            Term::ApuSerialTime => "c_apu_s",
            Term::Alpha => "alpha",
            Term::Gap => "g_s",
            Term::OffloadOverhead => "o_offload_s",
            Term::ContextSwitch => "t_csw_s",
            Term::CollectiveCost => "o_col_s",
            Term::Offloads => "offloads",
            Term::Collectives => "collectives",
        }
    }

    /// The term of that name in parameter files.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
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
        all.into_iter().find(|term| term.name() == name)
    }

    /// Its entry in the parameters; of a table over m, the first.
    pub fn entry(self) -> Entry {
        match self {
            Term::HpuTime => Entry::HpuTime,
            Term::ApuTime => Entry::ApuTime,
            Term::ApuSerialTime => Entry::ApuSerialTime,
            Term::Alpha => Entry::Alpha(0),
            Term::Gap => Entry::Gap,
            Term::OffloadOverhead => Entry::OffloadOverhead,
            Term::ContextSwitch => Entry::ContextSwitch,
            Term::CollectiveCost => Entry::Collective(0),
            Term::Offloads => Entry::Offloads,
            Term::Collectives => Entry::Collectives,
        }
    }

    /// The term that an entry belongs to.
    pub fn of(entry: Entry) -> Self {
        match entry {
            Entry::HpuTime => Term::HpuTime,
            Entry::ApuTime => Term::ApuTime,
            Entry::ApuSerialTime => Term::ApuSerialTime,
            Entry::Alpha(_) => Term::Alpha,
            Entry::Gap => Term::Gap,
            Entry::OffloadOverhead => Term::OffloadOverhead,
            Entry::ContextSwitch => Term::ContextSwitch,
            Entry::Collective(_) => Term::CollectiveCost,
            Entry::Offloads => Term::Offloads,
            Entry::Collectives => Term::Collectives,
        }
    }

    /// What the term adds to a sum \[s\].
    pub fn contribution(self) -> &'static str {
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

    /// The value that leaves the term out of equation 11, and the lower bound of an estimate. A
    /// program off-loads at least once, so that times per off-load mean something.
    pub fn neutral(self) -> f64 {
        match self {
            Term::Alpha | Term::Offloads => 1.0,
            _ => 0.0,
        }
    }

    /// The flags that would give the term a value.
    pub fn measured_by(self) -> &'static str {
        match self {
            Term::Alpha => "--alpha FILE, or --runs FILE with several m,",
            Term::OffloadOverhead => "--offload FILE",
            Term::ContextSwitch => "--context-switch FILE",
            Term::CollectiveCost => "--collective FILE",
            Term::Gap => "--profile FILE, or --runs FILE with several p,",
            Term::HpuTime
            | Term::ApuTime
            | Term::ApuSerialTime
            | Term::Offloads
            | Term::Collectives => "--profile FILE",
        }
    }

    /// The doubt that goes with a neutral value.
    pub fn not_measured(self) -> Warning {
        Warning::NotMeasured {
            term: self.name(),
            taken: self.neutral(),
            measure: self.measured_by(),
        }
    }
}
