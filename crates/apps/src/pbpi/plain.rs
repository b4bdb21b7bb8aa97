//! The same chains without a machine: likelihoods in double precision on this computer.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::chain::Host;
use super::coupling::State;
use crate::phylogeny::{Patterns, Tree, jukes_cantor};
use mmgp_cell::ppe::Work;

/// Computes every likelihood from scratch, and takes no time.
pub(super) struct Plain<'a> {
    pub patterns: &'a Patterns,
}

impl Host for Plain<'_> {
    async fn begin(&mut self) {}

    fn end(&mut self) {}

    async fn work(&mut self, _: Work) {}

    async fn evaluate(&mut self, _: usize, tree: &Tree, _: &[usize]) -> f64 {
        jukes_cantor::log_likelihood(tree, self.patterns)
    }

    fn accept(&mut self, _: usize, _: &[usize]) {}

    fn done(&self) {}

    async fn exchange(&mut self, row: u32, _: State) -> State {
        unreachable!("invariant: without a machine all chains are on one row, not on {row}")
    }
}

/// What comes of a future that never waits.
pub(super) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("invariant: without a machine there is nothing to wait for"),
    }
}
