//! The host alone: it looks for the head of the list, and follows it.

use super::{Findings, ListRanking, NODES_PER_STEP};
use mmgp_base::units::Seconds;
use mmgp_cell::ppe::{Access, AccessKind};
use mmgp_cell::{Blade, HostProcess, Progress};
use mmgp_kernels::list_ranking::NODE_BYTES;
use mmgp_lists::{END, rank_sequentially};

work! {
    /// What it does for each node in search of the head: the sum of successors, eight nodes a turn.
    SUM: 1 integers, 1 loads;
    /// What it does for a node on its way: its address, its successor and value, the operation, the
    /// prefix, and whether the list ends.
    FOLLOW: 2 integers, 2 loads, 1 stores, 1 branches;
}

/// The host with its list.
pub struct OnHost {
    ranking: ListRanking,
    progress: Progress,
    started: mmgp_base::units::SimTime,
}

impl OnHost {
    /// Before it begins.
    pub fn new(ranking: &ListRanking, blade: &Blade) -> Self {
        let progress = blade.progress.clone();
        Self { ranking: ranking.clone(), progress, started: blade.started() }
    }

    /// Ranks the list: the time of each step by the process's clock.
    pub async fn rank(self, process: HostProcess) -> Findings {
        let Self { ranking: ListRanking { list, operation, .. }, progress, started } = &self;
        process.resume().await;
        let nodes = u64::from(list.nodes());
        let load = |node: u64| Access { address: NODE_BYTES.0 * node, kind: AccessKind::Load };
        for first in (0..nodes).step_by(NODES_PER_STEP as usize) {
            let some = first..nodes.min(first + NODES_PER_STEP);
            let work = SUM * (some.end - some.start);
            process.follow(work, some.map(load)).await;
        }
        let found = process.sim.now();
        let mut node = list.head();
        while node != END {
            let mut accesses = Vec::with_capacity(2 * NODES_PER_STEP as usize);
            while node != END && accesses.len() < 2 * NODES_PER_STEP as usize {
                let load = load(node.into());
                accesses.extend([load, Access { kind: AccessKind::Store, ..load }]);
                node = list.successors()[node as usize];
            }
            let work = FOLLOW * (accesses.len() as u64 / 2);
            process.follow(work, accesses.into_iter()).await;
            progress.step();
        }
        let ended = process.sim.now();
        process.release();
        let steps = [found.since(*started).seconds(), ended.since(found).seconds()];
        Findings {
            steps: [steps[0], steps[1], Seconds(0.0), Seconds(0.0)],
            prefixes: rank_sequentially(list, *operation),
            sublists: 0,
            loads: Vec::new(),
            records: 0,
        }
    }
}
