//! The parameters of the model, each with how sure it is and where it came from.

use serde::{Deserialize, Serialize};

use super::file;
use super::observations::Evidence;
use super::refined::Refinements;
use super::uncertainty::Correlation;
use mmgp_base::quantity::Quantity;

/// How the work is divided among the m host threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Decomposition {
    /// One job whose data is cut into m pieces; control flow is replicated on every thread.
    Data,
    /// So many independent tasks, dealt to m workers; the terms are totals over all of them.
    Task {
        /// Independent tasks, at least 1.
        tasks: u32,
    },
}

/// A number with its uncertainty and origin.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "file::TermForm")]
pub struct Estimate {
    /// The value, in the unit of its term; finite and not negative.
    pub value: f64,
    /// Standard error in the same unit, where it is known.
    pub std_error: Option<f64>,
    /// Degrees of freedom of that standard error; `None` where it is taken as known.
    pub degrees_of_freedom: Option<f64>,
    /// File, table or paper it comes from.
    pub source: Option<String>,
    /// The other terms of a sum that the data could not split and that this one carries whole.
    pub combined_with: Vec<String>,
}

impl Estimate {
    /// A value of which nothing else is known.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            std_error: None,
            degrees_of_freedom: None,
            source: None,
            combined_with: Vec::new(),
        }
    }
}

/// A term that depends on m: a number, or a table over m.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "file::TermForm")]
pub enum OverM {
    /// The same for all m; for `alpha`, for all m > 1.
    Constant(Estimate),
    /// Known at certain m; [`Interpolation`] says what holds between and beyond them.
    Table(Table),
}

/// Values at increasing m, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The m of each value, increasing, the first at least 1.
    pub m: Vec<u32>,
    /// One estimate for each m.
    pub values: Vec<Estimate>,
    /// What holds between and beyond them.
    pub interpolation: Interpolation,
}

impl Table {
    /// Values that are linear between their m and held constant beyond the last.
    pub fn new(m: Vec<u32>, values: Vec<Estimate>) -> Self {
        Self { m, values, interpolation: Interpolation::Held }
    }
}

/// What a table is between its entries and beyond the last.
///
/// Below the first, it comes from what the term is at m = 1, which is also the last but one entry
/// of a table that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Linear between entries, held constant beyond the last: nothing is known there.
    #[default]
    #[serde(skip)]
    Held,
    /// Linear in m, beyond the last as between the last two.
    Line,
    /// Linear in log2(m), beyond the last as between the last two.
    Logarithm,
}

impl Interpolation {
    /// The name in files; `None` where a table needs none.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Held => None,
            Self::Line => Some("line"),
            Self::Logarithm => Some("logarithm"),
        }
    }

    /// How far m is from one entry to the next, of which it may lie beyond: 0 at `low`, 1 at `high`.
    pub(super) fn position(self, m: u32, low: u32, high: u32) -> f64 {
        match self {
            Self::Held | Self::Line => f64::from(m - low) / f64::from(high - low),
            Self::Logarithm => {
                let low = f64::from(low);
                (f64::from(m) / low).log2() / (f64::from(high) / low).log2()
            }
        }
    }
}

/// The source of a value that nothing determines.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// The terms of equation 11. Times are seconds, per run unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// T_HPU(1,1): time on the HPU in a sequential run.
    pub t_hpu_s: Estimate,
    /// T_APU(1,1): APU time of the part that p APUs can share.
    pub t_apu_s: Estimate,
    /// C_APU: APU time of the part that they cannot share.
    pub c_apu_s: Estimate,
    /// N: number of off-loads in the run.
    pub offloads: Estimate,
    /// O_offload, per off-load: signal there and back, arguments, result.
    pub o_offload_s: Estimate,
    /// T_CSW, per off-load: context switch on the HPU.
    pub t_csw_s: Estimate,
    /// g, per off-load and APU: gap between consecutive off-loads.
    pub g_s: Estimate,
    /// Collective operations in the run, each of which costs O_COL; where it is `None`, every
    /// off-load does.
    pub collectives: Option<Estimate>,
    /// alpha_m: slowdown of HPU code under m threads, 1 at m = 1.
    #[serde(deserialize_with = "file::slowdown")]
    pub alpha: OverM,
    /// O_COL: global synchronisation, per collective or, where these are not counted, per
    /// off-load.
    pub o_col_s: OverM,
}

/// The part of the program's own terms that one phase contributes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name: the off-loaded function.
    pub name: String,
    /// As [`Terms::t_hpu_s`], for this phase.
    pub t_hpu_s: Estimate,
    /// As [`Terms::t_apu_s`], for this phase.
    pub t_apu_s: Estimate,
    /// As [`Terms::c_apu_s`], for this phase.
    pub c_apu_s: Estimate,
    /// As [`Terms::offloads`], for this phase.
    pub offloads: Estimate,
    /// As [`Terms::g_s`], for this phase.
    pub g_s: Estimate,
    /// As [`Terms::collectives`], for this phase.
    pub collectives: Option<Estimate>,
}

/// Everything a parameter file holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    /// What the parameters are of.
    pub name: String,
    /// Data or task decomposition.
    pub decomposition: Decomposition,
    /// N_APU: APUs available.
    pub apus: u32,
    /// What was measured of runs; where it is a rate, the terms are shares of the time of one unit of work,
    /// not seconds.
    pub quantity: Quantity,
    /// The terms of the whole program.
    pub terms: Terms,
    /// The program's phases, whose own terms add up to those of the whole; empty where the
    /// program is one phase.
    pub phases: Vec<Phase>,
    /// How the errors of the terms go together; `None` where each has its own.
    pub correlation: Option<Correlation>,
    /// Terms that equation 11 leaves out, for the refined model beside it.
    pub refinements: Option<Refinements>,
    /// The runs that the terms were fitted with; `None` where they come from files alone.
    pub evidence: Option<Evidence>,
}

impl Parameters {
    /// Of a program of one phase, each error its own, without refinements.
    pub fn new(
        name: impl Into<String>,
        decomposition: Decomposition,
        apus: u32,
        terms: Terms,
    ) -> Self {
        Self {
            name: name.into(),
            decomposition,
            apus,
            quantity: Quantity::Time,
            terms,
            phases: Vec::new(),
            correlation: None,
            refinements: None,
            evidence: None,
        }
    }
}
