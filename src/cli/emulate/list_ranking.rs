//! What `mmgp emulate --app list-ranking` says of a run.

use serde::Serialize;

use super::Once;
use super::report::{OwnReport, RunReport, together};
use crate::apps::list_ranking::{Findings, ListRanking};
use crate::apps::{Application, Ran};
use crate::lists::{Order, rank_sequentially};

/// The program, to be run once.
pub struct ListRankingOnce {
    pub ranking: ListRanking,
    pub order: Order,
    pub buffers: u32,
}

impl Once for ListRankingOnce {
    fn application(&self) -> &dyn Application {
        &self.ranking
    }

    fn report(&self, ran: &Ran) -> Box<dyn OwnReport> {
        let findings = ran.findings().expect("invariant: list ranking finds prefixes");
        Box::new(RankingReport::new(self, findings))
    }
}

/// What came of the list.
#[derive(Serialize)]
struct RankingReport {
    nodes: u32,
    order: &'static str,
    operation: &'static str,
    /// As there were: no more than nodes.
    sublists: u32,
    buffers: u32,
    /// Records of a local buffer.
    buffer_records: u32,
    /// Choosing heads, ranking sublists, ranking heads, adding.
    steps_s: [f64; 4],
    /// Nodes that each SPE ranked.
    load: Vec<u64>,
    /// The largest of these over their mean.
    load_imbalance: f64,
    checksum: u32,
    /// Prefixes that differ from those of a sequential program.
    wrong: usize,
}

impl RankingReport {
    fn new(once: &ListRankingOnce, findings: &Findings) -> Self {
        let ListRankingOnce { ranking, order, buffers } = once;
        let expected = rank_sequentially(ranking.list(), ranking.operation());
        let wrong = expected.iter().zip(&findings.prefixes).filter(|(one, other)| one != other);
        Self {
            nodes: ranking.list().nodes(),
            order: order.name(),
            operation: ranking.operation().name(),
            sublists: findings.sublists,
            buffers: *buffers,
            buffer_records: findings.records,
            steps_s: findings.steps.map(|step| step.0),
            load: findings.loads.clone(),
            load_imbalance: findings.imbalance(),
            checksum: findings.checksum(),
            wrong: wrong.count(),
        }
    }
}

impl OwnReport for RankingReport {
    fn values(&self) -> Vec<(&'static str, String)> {
        let [choose, rank, follow, add] = self.steps_s;
        vec![
            ("nodes", self.nodes.to_string()),
            ("order", self.order.to_string()),
            ("operation", self.operation.to_string()),
            ("sublists", self.sublists.to_string()),
            ("buffers", self.buffers.to_string()),
            ("step_1_s", choose.to_string()),
            ("step_2_s", rank.to_string()),
            ("step_3_s", follow.to_string()),
            ("step_4_s", add.to_string()),
            ("load_imbalance", self.load_imbalance.to_string()),
            ("checksum", self.checksum.to_string()),
            ("wrong", self.wrong.to_string()),
        ]
    }

    fn text(&self) -> String {
        String::new()
    }

    fn json(&self, run: &RunReport) -> String {
        together(run, self)
    }
}
