//! A process of the host that computes the likelihoods of its segment itself.

use std::cell::RefCell;
use std::rc::Rc;

use super::chain::Host;
use super::coupling::{Grid, State};
use super::host::HostLikelihoods;
use super::rank::exchange;
use super::spe_program::LIKELIHOOD;
use crate::phylogeny::Tree;
use crate::run::HostTotals;
use mmgp_cell::mpi::Communicator;
use mmgp_cell::ppe::Work;
use mmgp_cell::{HostProcess, Progress};

/// A process of the grid that off-loads nothing.
pub(super) struct HostRank {
    pub process: HostProcess,
    pub grid: Grid,
    /// All processes.
    pub world: Communicator,
    /// Those of the same row.
    pub row: Communicator,
    pub likelihoods: HostLikelihoods,
    /// Where the times of its functions go at the end.
    pub totals: Rc<RefCell<HostTotals>>,
    /// Told of generations by one process of the grid, for all go on together.
    pub progress: Progress,
}

impl Host for HostRank {
    async fn begin(&mut self) {
        self.process.resume().await;
    }

    fn end(&mut self) {
        self.totals.borrow_mut().add(self.likelihoods.totals());
        self.process.finish(LIKELIHOOD);
    }

    async fn work(&mut self, work: Work) {
        self.process.work(work).await;
    }

    async fn evaluate(&mut self, chain: usize, tree: &Tree, touched: &[usize]) -> f64 {
        let own = self.likelihoods.evaluate(&self.process, chain, tree, touched).await;
        self.row.allreduce_sum(&self.process, own).await
    }

    fn accept(&mut self, chain: usize, touched: &[usize]) {
        self.likelihoods.accept(chain, touched);
    }

    fn done(&self) {
        self.progress.step();
    }

    async fn exchange(&mut self, row: u32, own: State) -> State {
        exchange(&self.process, (&self.world, self.grid), row, own).await
    }
}
