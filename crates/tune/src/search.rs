//! The decision after every run, as a function of what was tried so far and nothing else: whoever
//! goes on where a search stopped goes on as if it had never stopped.

use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Result};
use mmgp_model::posterior::Prior;

/// What came of running a configuration once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tried {
    /// Which.
    pub mapping: Mapping,
    /// What was found.
    pub found: Found,
}

/// What a run tells of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// Its time.
    Time(Seconds),
    /// It was stopped: it takes longer than this.
    Longer(Seconds),
    /// It does not run: it cannot be chosen.
    Failed,
}

/// A search for the fastest of some configurations.
pub struct Search {
    /// Those that may be chosen, each once.
    pub space: Vec<Mapping>,
    /// What is believed before the first run.
    pub prior: Prior,
    /// The regret, relative to the fastest, that is good enough: 0.01.
    pub regret: f64,
    /// What is drawn is drawn from this.
    pub seed: u64,
}

/// What is known after some runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The choice: of what ran, the configuration to recommend; `None` where nothing ran well.
    pub choice: Option<Mapping>,
    /// Its time, over many runs.
    pub time: Option<Seconds>,
    /// With 95 %, however often it was asked, the choice takes no more than this longer than the
    /// fastest, relative to that; `None` where it cannot be said.
    pub regret_95: Option<f64>,
    /// Whether that is good enough.
    pub is_settled: bool,
    /// What to run next, the most useful first, each with the time that it is expected to take;
    /// none where no run would tell anything.
    pub next: Vec<(Mapping, Option<Seconds>)>,
}

impl Search {
    /// What is known after `tried`, in that order.
    ///
    /// # Errors
    /// [`mmgp_base::Error::OutOfRange`] where there is nothing to choose from.
    pub fn judge(&self, _tried: &[Tried]) -> Result<Verdict> {
        unimplemented!()
    }
}
