//! The terms of LogGP, from ping-pong over several sizes and, where they were measured, from
//! streams of messages.

use super::Measured;
use crate::error::Result;
use crate::model::parameters::Estimate;
use crate::table::records::Offload;

/// A term of LogGP, or why the data cannot say.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Its value.
    Determined(Estimate),
    /// What would have to be measured.
    Undetermined(String),
}

/// The cost of a message between HPU and APU: LogP (Culler and others 1993) with a gap per byte
/// (Alexandrov, Ionescu, Schauser and Scheiman 1995). A message of k bytes takes
/// `o + L + k*G + o` from one to the other.
#[derive(Debug, Clone, PartialEq)]
pub struct LogGp {
    /// `o + L + o`: an empty message, half of an empty round trip \[s\].
    pub crossing_s: Finding,
    /// o: what sending a message costs the processor that sends it \[s\].
    pub overhead_s: Finding,
    /// L: what a message is under way \[s\].
    pub latency_s: Finding,
    /// g: between two messages that follow one another \[s\].
    pub gap_s: Finding,
    /// G: for each further byte \[s\].
    pub gap_per_byte_s: Finding,
    /// The size in bytes above which another protocol moves the message, where there is one.
    pub change_bytes: Option<u64>,
    /// G above that size \[s\].
    pub gap_per_byte_above_s: Finding,
}

impl Finding {
    /// The value, where there is one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Finding::Determined(estimate) => Some(estimate),
            Finding::Undetermined(_) => None,
        }
    }
}

/// What `measured` determines of LogGP.
pub fn loggp(measured: &Measured<Offload>) -> Result<LogGp> {
    let _ = measured;
    let unknown = || Finding::Undetermined("not yet".into());
    Ok(LogGp {
        crossing_s: unknown(),
        overhead_s: unknown(),
        latency_s: unknown(),
        gap_s: unknown(),
        gap_per_byte_s: unknown(),
        change_bytes: None,
        gap_per_byte_above_s: unknown(),
    })
}
