//! The same chains without a machine: likelihoods in double precision on this computer.

use super::Pbpi;
use super::chain::Host;
use super::coupling::State;
use super::grid::gather;
use super::trace::{Inference, SampleSink};
use crate::phylogeny::tests::immediately;
use crate::phylogeny::{Patterns, Tree, jukes_cantor};
use mmgp_base::error::Result;
use mmgp_cell::ppe::Work;

/// Computes every likelihood from scratch, and takes no time.
struct Plain<'a> {
    patterns: &'a Patterns,
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

impl Pbpi {
    /// Runs the same chains on this computer, without a machine: every likelihood is computed from
    /// scratch in double precision, and differs from an emulated one by rounding.
    ///
    /// # Errors
    /// `OutOfRange` where a first tree cannot be made, which [`Self::new`] has ruled out.
    pub(super) fn infer(&self, sink: Option<SampleSink>) -> Result<Inference> {
        let coupling = self.coupling.on_rows(1)?;
        let alone = Self { coupling, ..self.clone() };
        let collector = self.collector(sink);
        let host = Plain { patterns: &self.patterns };
        let row = alone.row(host, self.first_chains()?, Some(&collector))?;
        let outcome = immediately(row.run(0));
        Ok(gather([outcome], &collector))
    }
}
