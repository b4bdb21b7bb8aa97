//! What is said of faults that were injected.

use serde::Serialize;

use crate::cell::Strike;
use crate::error::Warning;

/// A fault that was injected.
#[derive(Serialize)]
pub struct FaultReport {
    fault: String,
    /// When it struck; none where the run had ended before.
    struck_s: Option<f64>,
    /// When it first held up somebody; none where it made no difference.
    met_s: Option<f64>,
}

impl FaultReport {
    pub fn all(strikes: &[Strike]) -> Vec<Self> {
        let report = |strike: &Strike| Self {
            fault: strike.fault.clone(),
            struck_s: strike.struck.map(|at| at.seconds().0),
            met_s: strike.met.map(|at| at.seconds().0),
        };
        strikes.iter().map(report).collect()
    }

    /// A line for people.
    pub fn line(&self) -> String {
        let at = |seconds: f64| crate::units::Seconds(seconds);
        match (self.struck_s, self.met_s) {
            (None, _) => format!("{}: never struck\n", self.fault),
            (Some(struck), None) => {
                format!("{}: struck at {}, and held up nobody\n", self.fault, at(struck))
            }
            (Some(struck), Some(met)) => {
                let (struck, met) = (at(struck), at(met));
                format!("{}: struck at {struck}, first felt at {met}\n", self.fault)
            }
        }
    }
}

/// Of faults that struck nobody.
pub fn warnings(strikes: &[Strike]) -> Vec<Warning> {
    let warning = |strike: &Strike| match (strike.struck, strike.met) {
        (None, _) => Some(format!("\"{}\" never struck: the run ended before", strike.fault)),
        (Some(_), None) => Some(format!("\"{}\" struck and held up nobody", strike.fault)),
        _ => None,
    };
    strikes.iter().filter_map(warning).map(Warning::Note).collect()
}
