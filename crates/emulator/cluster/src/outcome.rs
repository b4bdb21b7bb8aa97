//! What comes out of a run.

use mmgp_base::units::Seconds;

use super::wavefront::seconds;

/// What happens between an iteration and the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Between {
    /// Each rank goes on when it is done.
    Nothing,
    /// All wait for the last one, and then so long: the sums and maxima of all ranks
    /// ([`Cluster::reduction`](super::Cluster::reduction)).
    Reductions(Seconds),
}

/// When iterations end, and what ranks did meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// When each iteration ends, counted from the start of the first: what happens between iterations
    /// counts to the one before.
    pub ends: Vec<Seconds>,
    /// What each rank did, by its number.
    pub ranks: Vec<Split>,
}

/// Into what the time of a rank splits, all iterations together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Computing blocks.
    pub compute: Seconds,
    /// In receives: waiting, and what the message takes.
    pub receive: Seconds,
    /// In sends, likewise.
    pub send: Seconds,
    /// Done, while others are not.
    pub idle: Seconds,
}

impl Split {
    /// All but computing.
    pub fn wait(&self) -> Seconds {
        self.receive + self.send + self.idle
    }
}

impl Outcome {
    /// The time of all iterations.
    pub fn total(&self) -> Seconds {
        self.ends.last().copied().unwrap_or(Seconds(0.0))
    }

    /// The time of the first iteration.
    pub fn first(&self) -> Seconds {
        self.ends.first().copied().unwrap_or(Seconds(0.0))
    }

    /// The time from the end of the last iteration but one to the end of the last; of a single iteration,
    /// its own.
    pub fn next(&self) -> Seconds {
        match self.ends[..] {
            [.., before, last] => last - before,
            _ => self.first(),
        }
    }

    /// The part of the ranks' time in which they compute.
    pub fn busy(&self) -> f64 {
        let compute: Seconds = self.ranks.iter().map(|split| split.compute).sum();
        compute.0 / (self.total().0 * self.ranks.len() as f64)
    }
}

/// Books of a run that is under way \[ticks\].
#[derive(Debug, Clone, Default)]
pub(crate) struct Books {
    /// End of each iteration.
    pub ends: Vec<f64>,
    /// In receives, by rank.
    pub received: Vec<f64>,
    /// Done while others were not, by rank.
    pub idle: Vec<f64>,
}

impl Books {
    pub fn new(ranks: usize) -> Self {
        Self { ends: Vec::new(), received: vec![0.0; ranks], idle: vec![0.0; ranks] }
    }

    /// Closes them, when ranks are done at `done` and have computed so long.
    pub fn close(self, done: &[f64], compute: &[f64]) -> Outcome {
        let end = self.ends.last().copied().unwrap_or(0.0);
        let ranks = done.iter().zip(compute).zip(self.received.iter().zip(&self.idle));
        let ranks = ranks.map(|((done, compute), (received, idle))| Split {
            compute: seconds(*compute),
            receive: seconds(*received),
            send: seconds(done - compute - received - idle),
            idle: seconds(idle + end - done),
        });
        Outcome { ranks: ranks.collect(), ends: self.ends.into_iter().map(seconds).collect() }
    }
}
