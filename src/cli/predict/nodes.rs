//! `mmgp predict --nodes N`

use clap::Args;
use serde::Serialize;

use super::Asked;
use super::rows::Rows;
use crate::cli::output::warn;
use crate::decide::{NodeConfiguration, rank_nodes};
use crate::error::{Error, Result};
use crate::models::levels::NodeLevel;
use crate::units::Seconds;

#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct NodeArguments {
    /// Rank (n, m, p) with up to so many nodes, each with the APUs and constraints of one; an
    /// extension of the model that no publication has measured
    #[arg(long, value_name = "N", group = "question", conflicts_with = "m")]
    nodes: Option<u32>,
    /// What every collective (off-load, where collectives are not counted) costs more as soon as
    /// there are several nodes [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "nodes")]
    node_overhead: f64,
    /// What it costs for each step of a tree over the nodes, ceil(log2 n) of them [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "nodes")]
    node_collective: f64,
}

impl NodeArguments {
    /// Nodes and what they cost, where the question is asked.
    pub fn asked(&self) -> Option<(u32, NodeLevel)> {
        let per_message = Seconds(self.node_overhead);
        let per_step = Seconds(self.node_collective);
        self.nodes.map(|nodes| (nodes, NodeLevel { per_message, per_step }))
    }
}

#[derive(Serialize)]
struct Json {
    feasible: usize,
    configurations: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    rank: u32,
    n: u32,
    m: u32,
    p: u32,
    time_s: f64,
    low_s: f64,
    high_s: f64,
    speedup: f64,
    efficiency: f64,
}

impl From<&NodeConfiguration> for Row {
    fn from(c: &NodeConfiguration) -> Self {
        Self {
            rank: c.rank,
            n: c.n,
            m: c.mapping.m(),
            p: c.mapping.p(),
            time_s: c.time.0,
            low_s: c.low.0,
            high_s: c.high.0,
            speedup: c.speedup,
            efficiency: c.efficiency,
        }
    }
}

pub fn text(asked: &Asked<'_>, nodes: u32, level: NodeLevel) -> Result<String> {
    if asked.model.equation_11().is_none() {
        return Err(Error::out_of_range(
            "model",
            asked.model.name(),
            "mmgp: nodes are put around the terms of equation 11 alone",
        ));
    }
    let ranking = rank_nodes(&asked.parameters, &asked.constraints, nodes, level)?;
    warn(&ranking.warnings);
    let shown = &ranking.configurations[..ranking.configurations.len().min(asked.shown)];
    let columns = ["rank", "n", "m", "p", "time_s", "low_s", "high_s", "speedup", "efficiency"];
    let rows = Rows {
        rows: shown,
        people: (
            &["rank", "n", "m", "p", "time", "95 % interval", "speed-up", "efficiency"],
            for_people,
        ),
        programs: (&columns, for_programs),
        preface: String::new(),
        json: Json {
            feasible: ranking.configurations.len(),
            configurations: shown.iter().map(Row::from).collect(),
        },
    };
    Ok(rows.text(asked.format))
}

fn for_people(c: &NodeConfiguration) -> Vec<String> {
    let interval = format!("{} .. {}", c.low, c.high);
    vec![
        c.rank.to_string(),
        c.n.to_string(),
        c.mapping.m().to_string(),
        c.mapping.p().to_string(),
        c.time.to_string(),
        if c.low < c.high { interval } else { "-".into() },
        format!("{:.2}", c.speedup),
        format!("{:.0} %", 100.0 * c.efficiency),
    ]
}

fn for_programs(c: &NodeConfiguration) -> Vec<String> {
    let counts = [c.rank, c.n, c.mapping.m(), c.mapping.p()].map(|count| count.to_string());
    let numbers = [c.time.0, c.low.0, c.high.0, c.speedup, c.efficiency].map(|x| x.to_string());
    counts.into_iter().chain(numbers).collect()
}
