//! A process of the host: it off-loads the likelihoods of its segment to its SPEs, or computes them
//! itself.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::chain::ChainHost;
use super::coupling::{ChainState, Grid};
use super::host::{HostLikelihoods, MATRIX};
use super::memory::{ARGUMENTS_BYTES, PbpiArguments, Segment};
use super::spe_program::{LIKELIHOOD, NODE, ROOT};
use super::trace::Inference;
use crate::layout::InMemory as _;
use crate::likelihood::{End, Vector, pairs};
use crate::phylogeny::{Tree, jukes_cantor};
use crate::run::HostTotals;
use crate::work::add_results;
use mmgp_base::units::Bytes;
use mmgp_cell::element::Values;
use mmgp_cell::memory::Memory;
use mmgp_cell::mpi::{Address, Communicator, Data, Pattern};
use mmgp_cell::ppe::Work;
use mmgp_cell::{EffectiveAddress, HostProcess, Progress};
use mmgp_runtime::{Process, Task};

work! {
    /// Finding a node's children and their branches, and filling in the arguments.
    NODE_CALL: 16 integers, 10 loads, 12 stores, 6 branches;
}

/// The tag of messages between rows.
const SWAP_TAG: u32 = 1;

/// A process of the grid.
pub(super) struct Rank {
    pub process: Process,
    pub grid: Grid,
    /// All processes.
    pub world: Communicator,
    /// The processes of the same row.
    pub row: Communicator,
    pub memory: Rc<Memory>,
    pub segment: Segment,
    /// The one of its two vectors, for each chain of the row and each node, that belongs to the accepted
    /// tree.
    pub accepted_sides: Vec<Vec<usize>>,
    pub likelihoods: RowLikelihoods,
    /// Told of generations by one process of the grid, for all go on together.
    pub progress: Progress,
}

impl ChainHost for Rank {
    async fn begin(&mut self) {
        self.process.resume().await;
    }

    fn end(&mut self) {
        self.process.finish(LIKELIHOOD);
    }

    async fn work(&mut self, work: Work) {
        self.process.work(work).await;
    }

    async fn evaluate(&mut self, chain: usize, tree: &Tree, touched: &[usize]) -> f64 {
        let mut side = self.accepted_sides[chain].clone();
        for &node in touched {
            side[node] = 1 - side[node];
        }
        let vector = |inner: usize| self.segment.inner[chain][inner - tree.taxa()][side[inner]];
        let end = |node: usize| match self.segment.tips.get(node) {
            Some(&codes) => End::Tip(codes),
            None => End::Inner(vector(node)),
        };
        for &node in touched {
            let children: Vec<usize> = tree.children(node).collect();
            self.process.work(NODE_CALL + MATRIX * children.len() as u64).await;
            if self.likelihoods.values() == Values::Computed {
                let matrices = children
                    .iter()
                    .flat_map(|&child| jukes_cantor::transition_matrix(tree.branch_length(child)));
                self.memory.write(self.segment.matrices, pairs(matrices));
            }
            let mut arguments =
                PbpiArguments { out: vector(node), ..self.segment.common_arguments() };
            for (place, &child) in arguments.children.iter_mut().zip(&children) {
                *place = end(child);
            }
            let function = if node == tree.root() { ROOT } else { NODE };
            self.off_load(function, arguments).await;
        }
        self.process.work(NODE_CALL).await;
        let own = self.sum_of_root(vector(tree.root())).await;
        let sum = self.row.allreduce_sum(&self.process, own).await;
        self.likelihoods.next(chain, sum)
    }

    fn accept(&mut self, chain: usize, touched: &[usize]) {
        for &node in touched {
            let side = &mut self.accepted_sides[chain][node];
            *side = 1 - *side;
        }
    }

    fn done(&self) {
        self.progress.step();
    }

    async fn exchange(&mut self, row: u32, own: ChainState) -> ChainState {
        exchange(&self.process, (&self.world, self.grid), row, own).await
    }
}

/// Tells another row of a chain. Each process tells the one of the same column, so all of both rows
/// know.
pub(super) async fn exchange(
    process: &HostProcess,
    (world, grid): (&Communicator, Grid),
    row: u32,
    own: ChainState,
) -> ChainState {
    let (_, column) = grid.place(process.rank);
    let rank = grid.rank(row, column);
    let told = Data::Doubles(vec![own.log_likelihood, own.place as f64]);
    let wanted = Pattern { source: Some(rank), tag: Some(SWAP_TAG) };
    let to = Address { rank, tag: SWAP_TAG };
    match world.sendrecv(process, to, told, wanted).await.data {
        Data::Doubles(told) if told.len() == 2 => {
            ChainState { log_likelihood: told[0], place: told[1] as usize }
        }
        other => unreachable!("invariant: rows tell each other two doubles, not {other:?}"),
    }
}

impl Rank {
    /// ln likelihood of the process's own patterns.
    async fn sum_of_root(&self, root: Vector) -> f64 {
        let mut arguments = self.segment.common_arguments();
        arguments.children[0] = End::Inner(root);
        let shares = self.off_load(LIKELIHOOD, arguments).await;
        add_results(&self.process, shares).await;
        let result = |share: u32| {
            let at = self.segment.results.offset(16 * u64::from(share));
            self.process.reads(at, Bytes(16));
            self.memory.read(at).doubles()[0]
        };
        (0..shares).map(result).sum()
    }

    /// Has the SPEs compute; how many did.
    async fn off_load(&self, function: u32, arguments: PbpiArguments) -> u32 {
        let Segment { arguments: at, most_shares, .. } = self.segment;
        let write = |_: &[u32]| -> EffectiveAddress {
            self.memory.write(at, arguments.quadwords(ARGUMENTS_BYTES));
            at
        };
        self.process.run(Task::new(function, most_shares, &write)).await
    }
}

/// A process of the grid that off-loads nothing.
pub(super) struct HostRank {
    pub process: HostProcess,
    pub grid: Grid,
    /// All processes.
    pub world: Communicator,
    /// The processes of the same row.
    pub row: Communicator,
    pub likelihoods: HostLikelihoods,
    /// The totals that the times of its functions are added to at the end.
    pub totals: Rc<RefCell<HostTotals>>,
    /// Told of generations by one process of the grid, for all go on together.
    pub progress: Progress,
}

impl ChainHost for HostRank {
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

    async fn exchange(&mut self, row: u32, own: ChainState) -> ChainState {
        exchange(&self.process, (&self.world, self.grid), row, own).await
    }
}

/// The ln likelihoods of all chains of a run, in the order in which each asked for them.
#[derive(Debug)]
pub(super) struct KnownLikelihoods {
    chains: Vec<Vec<f64>>,
}

impl KnownLikelihoods {
    /// The likelihoods of a run that has ended.
    pub fn of(inference: &Inference) -> Self {
        Self { chains: inference.chains.iter().map(|chain| chain.computed.clone()).collect() }
    }
}

/// The ln likelihoods of the chains of a row.
pub(super) struct RowLikelihoods {
    known: Option<Arc<KnownLikelihoods>>,
    /// The number of the row's first chain, and how many each has been told.
    first: usize,
    told: Vec<Cell<usize>>,
}

impl RowLikelihoods {
    /// The likelihoods of so many chains from number `first` on.
    pub fn new(known: Option<&Arc<KnownLikelihoods>>, first: usize, chains: usize) -> Self {
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
