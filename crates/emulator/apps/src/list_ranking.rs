//! List ranking by sublists (Helman and JaJa), with software-managed threads on the SPEs (Bader,
//! Agarwal and Madduri, IPDPS 2007): irregular work, whose transfers are short and scattered.
//!
//! ```text
//! step  who    what
//! 1     SPEs   stream through the nodes for the sum of successors, which tells the head of the list
//!       host   chooses the heads of sublists and marks them
//! 2     SPEs   each ranks its part of the sublists, on b DMA lists that are under way at once
//! 3     host   ranks the heads, sublist after sublist
//! 4     SPEs   stream through the ranked records, and put what comes before a sublist in front
//! ```
//!
//! A list that is ordered has its heads at equal distances but for a few lines ([`Heads`]), so that all
//! sublists are as long; of another one they are drawn at random. An SPE's part are consecutive sublists. What comes out of
//! step 2 is contiguous in memory, a buffer of records of one sublist after another, in an area of its
//! own for each SPE; step 4 shares all of them out anew, in equal parts.
//!
//! # What is left out
//! Which SPE does which part of steps 1 and 4 is not published, nor how long the local buffers are:
//! here as long as find room, at most 32 records. A host that has pages of memory to give away only
//! as they are touched is taken for granted: each SPE's area could hold the whole list.

mod host;
mod places;
mod spe_program;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::application::{Application, Division, Ran};
use crate::fingerprint::Fingerprint;
use crate::run::Run;
use crate::run::require;
use host::{LoneHost, RankingHost};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::Seconds;
use mmgp_cell::Placement;
use mmgp_lists::{List, Operation, Order, checksum, imbalance};
use mmgp_runtime::{Runtime, Signalling};
use spe_program::{FUNCTIONS, ListProgram};

/// The name of the program.
pub const NAME: &str = "list-ranking";

/// Most sublists.
pub const MOST_SUBLISTS: u32 = 512;

/// Most DMA lists of an SPE that are under way at once: as many as its queue of commands holds.
pub const MOST_BUFFERS: u32 = 16;

/// Nodes of a step of progress.
const NODES_PER_STEP: u64 = 4096;

/// The beginnings of the sublists of an ordered list, which are all as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heads {
    /// Each with the next bank of the memory: where all begin with the same one, which they do if
    /// their length is a multiple of 128 nodes, threads that go on together wait for it together.
    Staggered,
    /// Heads at equal distances.
    Aligned,
}

/// The program with its input.
#[derive(Debug, Clone)]
pub struct ListRanking {
    list: Arc<List>,
    order: Order,
    operation: Operation,
    sublists: u32,
    buffers: u32,
    placement: Placement,
    heads: Heads,
    /// Everything runs on the host.
    on_host: bool,
    seed: u64,
}

impl ListRanking {
    /// Ranks a list by so many sublists, each SPE with so many DMA lists under way at once. Heads are
    /// chosen as for that order, by the seed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where there are none of them, or too many.
    pub fn new(
        list: Arc<List>,
        order: Order,
        [sublists, buffers]: [u32; 2],
        seed: u64,
    ) -> Result<Self> {
        for (name, found, most) in
            [("sublists", sublists, MOST_SUBLISTS), ("DMA lists under way", buffers, MOST_BUFFERS)]
        {
            require((1..=most).contains(&found), name, found, format!("1 to {most}"))?;
        }
        Ok(Self {
            list,
            order,
            operation: Operation::Sum,
            sublists,
            buffers,
            placement: Placement::default(),
            heads: Heads::Staggered,
            on_host: false,
            seed,
        })
    }

    /// The same with the prefixes of another operation than the sum.
    pub fn with_operation(self, operation: Operation) -> Self {
        Self { operation, ..self }
    }

    /// The same with its data elsewhere.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The same with heads of an ordered list elsewhere.
    pub fn headed(self, heads: Heads) -> Self {
        Self { heads, ..self }
    }

    /// The same without SPEs: the host follows the list from its head.
    pub fn on_host(self) -> Self {
        Self { on_host: true, ..self }
    }

    /// The same with another number of sublists, and of DMA lists under way.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn with_choice(&self, choice: [u32; 2]) -> Result<Self> {
        let other = Self::new(Arc::clone(&self.list), self.order, choice, self.seed)?;
        Ok(Self { sublists: other.sublists, buffers: other.buffers, ..self.clone() })
    }

    /// The list.
    pub fn list(&self) -> &List {
        &self.list
    }

    /// Whose prefixes are computed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The areas of all SPEs, each of which could hold the whole list, are reached by DMA lists, whose
    /// elements have 32 bits of an address in common.
    fn fits(&self, spes: u32) -> Result<()> {
        let nodes = u64::from(self.list.nodes());
        let most = (1 << 28) / u64::from(spes + 2);
        let expected = format!("at most {most} on {spes} SPEs: a DMA list reaches 4 GB");
        require(nodes <= most, "nodes of the list", nodes, expected)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The time of each of the four steps; on the host alone, of the search for the head and of the
    /// chase.
    pub steps: [Seconds; 4],
    /// The prefix of every node.
    pub prefixes: Vec<u32>,
    /// Sublists that there were; none on the host alone.
    pub sublists: u32,
    /// Nodes that each SPE ranked in step 2.
    pub loads: Vec<u64>,
    /// Records of a local buffer.
    pub records: u32,
}

impl Findings {
    /// Nodes that the SPE with the most ranked, over the mean; 1 where all have as many.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.loads)
    }

    /// The checksum of all prefixes, in the order of the nodes.
    pub fn checksum(&self) -> u32 {
        checksum(&self.prefixes)
    }
}

impl Application for ListRanking {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Data
    }

    fn steps(&self) -> u64 {
        u64::from(self.list.nodes()) / NODES_PER_STEP
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        require(
            mapping.m() == 1,
            "processes of list-ranking",
            mapping.m(),
            "1: one process follows the heads of the sublists",
        )?;
        let blade = on.blade();
        let own = on.assign(mapping)?.swap_remove(0);
        let findings = Rc::new(RefCell::new(None));
        let found = Rc::clone(&findings);
        if self.on_host {
            let host = LoneHost::new(self, blade);
            let process = blade.host_process(0);
            let life = async move { *found.borrow_mut() = Some(host.rank(process).await) };
            blade.sim.spawn("rank 0", life);
        } else {
            let program = Rc::new(ListProgram::new(self.operation, blade.progress.clone()));
            on.load(&program, Signalling::Memory);
            let homes = blade.homes(self.placement, 0, &own);
            let process = on.process(0, own);
            self.fits(process.most_spes())?;
            let host = RankingHost::new(self, blade, &homes, process);
            let life = async move { *found.borrow_mut() = Some(host.rank().await) };
            blade.sim.spawn("rank 0", life);
        }
        blade.run()?;
        let run = Run::collect(on, mapping, if self.on_host { &[] } else { &FUNCTIONS });
        let findings = findings.take().expect("invariant: the program has come to its end");
        let fingerprint = Fingerprint::default()
            .counting("nodes", findings.prefixes.len() as u64)
            .counting("checksum of the prefixes", findings.checksum().into());
        Ok(Ran::new(run, fingerprint, findings))
    }
}
