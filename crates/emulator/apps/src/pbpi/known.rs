//! What a run has computed, so that others need not compute it again.

use std::cell::Cell;
use std::sync::Arc;

use super::trace::Inference;
use mmgp_cell::element::Values;

/// The ln likelihoods of all chains of a run, in the order in which each asked for them.
#[derive(Debug)]
pub(super) struct Known {
    chains: Vec<Vec<f64>>,
}

impl Known {
    /// Those of a run that has ended.
    pub fn of(inference: &Inference) -> Self {
        Self { chains: inference.chains.iter().map(|chain| chain.computed.clone()).collect() }
    }
}

/// The ln likelihoods of the chains of a row.
pub(super) struct Likelihoods {
    known: Option<Arc<Known>>,
    /// The number of the row's first chain, and how many each has been told.
    first: usize,
    told: Vec<Cell<usize>>,
}

impl Likelihoods {
    /// For so many chains from number `first` on.
    pub fn new(known: Option<&Arc<Known>>, first: usize, chains: usize) -> Self {
        Self { known: known.cloned(), first, told: vec![Cell::new(0); chains] }
    }

    /// Whether they are computed.
    pub const fn values(&self) -> Values {
        match self.known {
            None => Values::Computed,
            Some(_) => Values::Known,
        }
    }

    /// The next one of a chain, which has come out as `computed` where anything was.
    pub fn next(&self, chain: usize, computed: f64) -> f64 {
        let Some(known) = &self.known else { return computed };
        let number = self.told[chain].replace(self.told[chain].get() + 1);
        known.chains[self.first + chain][number]
    }
}
