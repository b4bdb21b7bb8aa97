//! What `mmgp emulate list-ranking` says of a run, on the emulated machine and on this computer.

use serde::Serialize;

use super::Once;
#[cfg(unix)]
use super::native::NativeReport;
use super::report::{OwnReport, RunReport, together};
use crate::apps::list_ranking::{Findings, ListRanking};
use crate::apps::{Application, Ran};
#[cfg(unix)]
use crate::cli::{input::HOST, output::json};
use crate::lists::{Order, rank_sequentially};
#[cfg(unix)]
use crate::native::list_ranking::{RankingTimes, Settings, Spread};

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

/// What came of the list on this computer.
#[cfg(unix)]
#[derive(Serialize)]
pub struct HostRanking {
    app: &'static str,
    machine: &'static str,
    m: u32,
    p: u32,
    seed: u64,
    nodes: usize,
    order: &'static str,
    operation: &'static str,
    /// As there were: no more than nodes.
    sublists: u32,
    /// Sublists that a thread follows at once.
    buffers: u32,
    repetitions: usize,
    /// The median of all repetitions, and their limits.
    time_s: f64,
    time_least_s: f64,
    time_most_s: f64,
    /// Medians: choosing heads, ranking sublists, ranking heads, adding.
    steps_s: [f64; 4],
    /// One thread that follows the list from its head, as often.
    sequential_s: f64,
    sequential_least_s: f64,
    sequential_most_s: f64,
    /// The time of that over the time, both medians.
    speed_up: f64,
    /// Nodes that each thread ranked.
    load: Vec<u64>,
    /// The largest of these over their mean.
    load_imbalance: f64,
    checksum: u32,
    /// Prefixes that differ from those of a sequential program.
    wrong: usize,
}

#[cfg(unix)]
impl HostRanking {
    /// Of what was measured with these settings.
    pub fn new(app: &'static str, settings: &Settings, measured: &RankingTimes) -> Self {
        let Spread { median, least, most } = measured.time();
        let sequential = measured.of_sequential();
        Self {
            app,
            machine: HOST,
            m: 1,
            p: settings.threads,
            seed: settings.seed,
            nodes: measured.prefixes.len(),
            order: settings.order.name(),
            operation: settings.operation.name(),
            sublists: measured.sublists,
            buffers: settings.in_flight,
            repetitions: measured.steps.len(),
            time_s: median.0,
            time_least_s: least.0,
            time_most_s: most.0,
            steps_s: measured.of_steps().map(|step| step.median.0),
            sequential_s: sequential.median.0,
            sequential_least_s: sequential.least.0,
            sequential_most_s: sequential.most.0,
            speed_up: sequential.median.0 / median.0,
            load: measured.loads.clone(),
            load_imbalance: measured.imbalance(),
            checksum: measured.checksum(),
            wrong: measured.wrong,
        }
    }
}

#[cfg(unix)]
impl NativeReport for HostRanking {
    fn values(&self) -> Vec<(&'static str, String)> {
        let [choose, rank, follow, add] = self.steps_s;
        vec![
            ("app", self.app.to_string()),
            ("machine", self.machine.to_string()),
            ("m", self.m.to_string()),
            ("p", self.p.to_string()),
            ("seed", self.seed.to_string()),
            ("nodes", self.nodes.to_string()),
            ("order", self.order.to_string()),
            ("operation", self.operation.to_string()),
            ("sublists", self.sublists.to_string()),
            ("buffers", self.buffers.to_string()),
            ("repetitions", self.repetitions.to_string()),
            ("time_s", self.time_s.to_string()),
            ("time_least_s", self.time_least_s.to_string()),
            ("time_most_s", self.time_most_s.to_string()),
            ("step_1_s", choose.to_string()),
            ("step_2_s", rank.to_string()),
            ("step_3_s", follow.to_string()),
            ("step_4_s", add.to_string()),
            ("sequential_s", self.sequential_s.to_string()),
            ("sequential_least_s", self.sequential_least_s.to_string()),
            ("sequential_most_s", self.sequential_most_s.to_string()),
            ("speed_up", self.speed_up.to_string()),
            ("load_imbalance", self.load_imbalance.to_string()),
            ("checksum", self.checksum.to_string()),
            ("wrong", self.wrong.to_string()),
        ]
    }

    fn json(&self) -> String {
        json(self)
    }
}
