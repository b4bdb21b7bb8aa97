//! A process of the host: it off-loads the likelihoods of its segment to its SPEs, or computes them
//! itself. What it keeps in main memory is its [`Segment`] of the patterns, and the arguments of off-loads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::chain::ChainHost;
use super::coupling::{ChainState, Grid};
use super::host::{HostLikelihoods, MATRIX};
use super::spe_program::{LIKELIHOOD, NODE, ROOT};
use super::trace::Inference;
use crate::layout::{InMemory as _, add_results};
use crate::likelihood::{End, EndBytes, Vector, pairs};
use crate::phylogeny::alignment::{Patterns, UNDETERMINED};
use crate::phylogeny::{Tree, jukes_cantor};
use crate::run::HostTotals;
use mmgp_base::units::Bytes;
use mmgp_cell::element::Values;
use mmgp_cell::memory::Memory;
use mmgp_cell::mpi::{Address, Communicator, Data, Pattern};
use mmgp_cell::ppe::Work;
use mmgp_cell::{Blade, EffectiveAddress, Homes, HostProcess, Progress};
use mmgp_kernels::pbpi::PATTERNS_PER_GROUP;
use mmgp_runtime::{Process, Task};
use mmgp_spu::Quadword;

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
        let task = Task::new(function, most_shares, &write);
        // For a node, the matrices of its children as well.
        let matrices = if function == LIKELIHOOD { 0 } else { 2 * MATRIX_BYTES };
        self.process.run(task.writing(Bytes(ARGUMENTS_BYTES.0 + matrices))).await
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

/// Patterns in a group.
const GROUP_PATTERNS: usize = PATTERNS_PER_GROUP as usize;

/// Bytes of a conditional likelihood vector for each group of patterns: four doubles a pattern.
pub const VECTOR_BYTES: u64 = 32 * GROUP_PATTERNS as u64;
/// Bytes of the scaling counts for each group: a word a pattern.
pub const COUNTS_BYTES: u64 = 4 * GROUP_PATTERNS as u64;
/// Bytes of the codes of a tip for each group: a byte a pattern.
pub const CODES_BYTES: u64 = GROUP_PATTERNS as u64;
/// Bytes of the arrays of a child for each group.
pub const CHILD_BYTES: EndBytes =
    EndBytes { codes: CODES_BYTES, entries: VECTOR_BYTES, counts: COUNTS_BYTES };
/// Bytes of the weights for each group: a double a pattern.
pub const WEIGHTS_BYTES: u64 = 8 * GROUP_PATTERNS as u64;
/// Bytes of a transition matrix.
pub const MATRIX_BYTES: u64 = 128;

/// The data of one process. What its SPEs share lies where the process has its homes, the rest in
/// the memory of its own Cell.
pub struct Segment {
    /// Which patterns these are.
    own: std::ops::Range<usize>,
    /// Groups of patterns, the last one padded with patterns of weight zero.
    pub groups: u32,
    /// A double for each pattern.
    pub weights: EffectiveAddress,
    /// The codes of the residues of each tip, a byte for each pattern.
    pub tips: Vec<EffectiveAddress>,
    /// Two vectors for each chain and inner node: one belongs to the accepted tree, the other
    /// to a proposal.
    pub inner: Vec<Vec<[Vector; 2]>>,
    /// The arguments of an off-load.
    pub arguments: EffectiveAddress,
    /// Up to three transition matrices.
    pub matrices: EffectiveAddress,
    /// What each SPE that shares an off-load found, a quadword each.
    pub results: EffectiveAddress,
    /// The number of SPEs for whose results there is room.
    pub most_shares: u32,
}

impl Segment {
    /// Lays out the patterns of `rank` of `ranks`: contiguous blocks, of which the first
    /// `patterns mod ranks` hold one more. There are vectors of `inner` inner nodes, the root
    /// included, for one chain.
    pub fn new(
        blade: &Blade,
        homes: &Homes,
        (rank, ranks): (u32, u32),
        patterns: &Patterns,
        inner: usize,
    ) -> Self {
        let own = block(patterns.len(), rank as usize, ranks as usize);
        let groups = own.len().div_ceil(GROUP_PATTERNS);
        let allocate = |bytes: u64| homes.allocate(Bytes(bytes * groups as u64));
        let allocate_own = |bytes: u64| homes.allocate_own(Bytes(bytes));
        let most_shares = blade.machine.layout.spes();
        let weights = allocate(WEIGHTS_BYTES);
        let vector = || Vector { entries: allocate(VECTOR_BYTES), counts: allocate(COUNTS_BYTES) };
        Self {
            own,
            groups: groups as u32,
            weights,
            tips: patterns.tips.iter().map(|_| allocate(CODES_BYTES)).collect(),
            inner: vec![(0..inner).map(|_| [vector(), vector()]).collect()],
            arguments: allocate_own(128),
            matrices: allocate_own(3 * MATRIX_BYTES),
            results: allocate_own(16 * u64::from(most_shares)),
            most_shares,
        }
    }

    /// Puts the patterns there.
    pub fn fill(&self, blade: &Blade, patterns: &Patterns) {
        let padded = |index: usize| self.own.start + index..self.own.end;
        let places = 0..self.groups as usize * GROUP_PATTERNS;
        let weight = |index| padded(index).next().map_or(0.0, |i| f64::from(patterns.weights[i]));
        blade.memory.write(self.weights, pairs(places.clone().map(weight)));
        for (&tip, codes) in self.tips.iter().zip(&patterns.tips) {
            let code = |index| padded(index).next().map_or(UNDETERMINED, |i| codes[i]);
            let quadword =
                |first| Quadword::from_bytes(std::array::from_fn(|byte| code(first + byte)));
            blade.memory.write(tip, places.clone().step_by(16).map(quadword));
        }
    }

    /// The same with vectors for so many chains, which share all else.
    pub fn for_chains(mut self, homes: &Homes, chains: usize) -> Self {
        let allocate = |bytes: u64| homes.allocate(Bytes(bytes * u64::from(self.groups)));
        let vector = || Vector { entries: allocate(VECTOR_BYTES), counts: allocate(COUNTS_BYTES) };
        let inner = self.inner[0].len();
        while self.inner.len() < chains {
            self.inner.push((0..inner).map(|_| [vector(), vector()]).collect());
        }
        self
    }
}

/// Which of `count` things the `index`-th of `shares` gets: contiguous blocks, the first
/// `count mod shares` of which hold one more.
pub fn block(count: usize, index: usize, shares: usize) -> std::ops::Range<usize> {
    let (each, more) = (count / shares, count % shares);
    let start = index * each + index.min(more);
    start..start + each + usize::from(index < more)
}

/// Their size: a line.
pub const ARGUMENTS_BYTES: Bytes = Bytes(128);

arguments! {
    /// The arguments of an off-load.
    pub struct PbpiArguments {
        /// The children, of which an inner node has two; for the likelihood the root alone.
        pub children: [End; 3],
        /// The vectors of the node, written.
        pub out: Vector,
        /// Transition matrices towards the children, one behind the other.
        pub matrices: EffectiveAddress,
        /// Weights of the patterns.
        pub weights: EffectiveAddress,
        /// The sums of the SPEs, a quadword each, written.
        pub results: EffectiveAddress,
        /// Groups of patterns of the process.
        pub groups: u32,
    }
}

impl Segment {
    /// The arguments that every off-load of this process has in common.
    pub fn common_arguments(&self) -> PbpiArguments {
        PbpiArguments {
            groups: self.groups,
            matrices: self.matrices,
            weights: self.weights,
            results: self.results,
            ..PbpiArguments::BLANK
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_contiguous_cover_everything_and_differ_by_at_most_one() {
        for (count, shares) in [(10, 3), (2, 5), (16, 16), (0, 2)] {
            let blocks: Vec<_> = (0..shares).map(|index| block(count, index, shares)).collect();
            assert_eq!(blocks[0].start, 0);
            assert_eq!(blocks[shares - 1].end, count);
            assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
            let longest = blocks[0].len();
            assert!(blocks.iter().all(|block| longest - block.len() <= 1));
        }
    }
}

#[cfg(test)]
mod arguments_tests {
    use super::*;

    #[test]
    fn an_spe_finds_the_arguments_of_any_mix_of_tips_and_inner_nodes() {
        let at = |number: u64| EffectiveAddress(128 * number);
        let vector = |number| Vector { entries: at(number), counts: at(number + 1) };
        for tips in 0..8 {
            let child = |place: u64| match tips >> place & 1 {
                0 => End::Inner(vector(10 * place)),
                _ => End::Tip(at(10 * place)),
            };
            let arguments = PbpiArguments {
                groups: 25_000,
                children: [child(0), child(1), child(2)],
                out: vector(40),
                matrices: at(50),
                weights: at(51),
                results: at(52),
            };
            let quadwords = arguments.quadwords(ARGUMENTS_BYTES);
            assert_eq!(quadwords.len() as u64 * 16, ARGUMENTS_BYTES.0);
            assert_eq!(PbpiArguments::from_quadwords(&quadwords), arguments);
        }
    }
}
