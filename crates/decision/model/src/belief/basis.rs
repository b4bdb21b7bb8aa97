//! What predictions rest on, in words and for programs.

use std::fmt;

use super::{Posterior, Share};
use mmgp_base::units::Percent;

/// The runs and the means that predictions rest on.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Basis {
    /// Configurations that were timed.
    pub timed: usize,
    /// The file that they come from; empty without any.
    pub runs: String,
    /// Relative standard deviation of what the means are off: as the runs tell, or as it was stated.
    pub misfit: f64,
    /// Relative standard deviation of a single run.
    pub noise: f64,
    /// The means by their weights, the largest first.
    pub means: Vec<Share>,
}

impl Posterior {
    /// What its predictions rest on.
    pub fn basis(&self) -> Basis {
        let observations = self.observations();
        Basis {
            timed: observations.configurations.len(),
            runs: observations.source.clone(),
            misfit: self.misfit(),
            noise: self.noise_variance().sqrt(),
            means: self.shares(),
        }
    }
}

/// Means with less weight are not named.
const NOTABLE: f64 = 0.05;

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let misfit = Percent(self.misfit);
        if self.timed == 0 {
            let mean = self.means.first().map_or("the model", |share| share.mean.as_str());
            return write!(
                f,
                "No run tells how far {mean} is off: by +- {misfit}, as such models were elsewhere"
            );
        }
        let named: Vec<String> = self
            .means
            .iter()
            .filter(|share| share.weight >= NOTABLE)
            .map(|share| format!("{} {:.0} %", share.mean, 100.0 * share.weight))
            .collect();
        let configurations = if self.timed == 1 { "configuration" } else { "configurations" };
        write!(
            f,
            "From {} timed {configurations} ({}), weighing {}, which are off by some {misfit}",
            self.timed,
            self.runs,
            named.join(", ")
        )
    }
}
