//! What is good enough, and why a search ends.

use mmgp_model::decide::Regret;

/// What is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The choice is expected to take no more than this longer than the fastest, relative to that, and nine
    /// times in ten it does not, or no further run is expected to save anything. Of 23 programs that others
    /// timed, a search ends after little more than half of the runs that trying each configuration once
    /// takes, and costs less than a per cent.
    Expected(f64),
    /// The choice takes no more than this longer, with 95 % over programs. On a program whose best is hidden
    /// well, a search that ends by this is wrong more often than in 5 %.
    Sure(f64),
    /// The choice will be used so often: a further run takes longer than it is expected to save.
    Uses(f64),
}

/// Why there are no more runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every choice is good enough.
    Settled,
    /// Several cannot be told apart at the noise of single runs; the choice is the one with the fewest cores.
    Alike,
    /// A further run takes longer than it is expected to save, however often the choice is used.
    NotWorth,
    /// All runs of the budget are made.
    Runs,
    /// The time of the budget is spent, or what is left does not suffice for the next run.
    Time,
    /// There is nothing more to run.
    Exhausted,
    /// Somebody asked for an end.
    Interrupted,
}

impl Goal {
    /// The regret that it is about.
    pub fn regret(self) -> f64 {
        match self {
            Self::Expected(regret) | Self::Sure(regret) => regret,
            Self::Uses(_) => REGRET_OF_USES,
        }
    }

    /// Whether what a choice may cost is good enough, beyond what is given up for fewer cores; `least` is
    /// the least cost that any may be expected to have.
    pub(crate) fn is_met(self, cost: &Regret, given_up: f64, least: f64) -> bool {
        match self {
            Self::Expected(regret) => cost.expected() <= regret + given_up,
            Self::Sure(regret) => cost.exceeds(regret + given_up) <= 1.0 - SURE,
            // What it costs more, over all uses, is less than a run.
            Self::Uses(uses) => (cost.expected() - least - given_up) * uses <= 1.0,
        }
    }
}

/// How probable what is sure is.
pub(crate) const SURE: f64 = 0.95;

/// The regret that runs are weighed by where the choice is judged by its uses.
const REGRET_OF_USES: f64 = 0.05;
