//! `mmgp predict` of more configurations than can be weighed against each other.

use serde::Serialize;

use super::Asked;
use super::rows::Rows;
use crate::cli::output::warn;
use crate::error::Result;
use crate::solve::{Predicted, fastest};

/// So many are shown where nobody says how many.
const SHOWN: u32 = 10;

#[derive(Serialize)]
struct Json {
    feasible: usize,
    configurations: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    rank: u32,
    m: u32,
    p: u32,
    time_s: f64,
    low_s: f64,
    high_s: f64,
    speedup: f64,
    efficiency: f64,
}

impl From<&Predicted> for Row {
    fn from(it: &Predicted) -> Self {
        Self {
            rank: it.rank,
            m: it.mapping.m(),
            p: it.mapping.p(),
            time_s: it.time.0,
            low_s: it.low.0,
            high_s: it.high.0,
            speedup: it.speedup,
            efficiency: it.efficiency,
        }
    }
}

pub fn text(asked: &Asked<'_>, top: Option<u32>) -> Result<String> {
    let count = top.unwrap_or(SHOWN) as usize;
    let found = fastest(&asked.posterior, &*asked.model, &asked.constraints, count)?;
    warn(&found.warnings);
    let rows = Rows {
        rows: &found.configurations,
        people: (
            &["rank", "m", "p", "time", "95 % interval", "speed-up", "efficiency"],
            for_people,
        ),
        programs: (
            &["rank", "m", "p", "time_s", "low_s", "high_s", "speedup", "efficiency"],
            for_programs,
        ),
        preface: String::new(),
        json: Json {
            feasible: found.feasible,
            configurations: found.configurations.iter().map(Row::from).collect(),
        },
    };
    Ok(rows.text(asked.format))
}

fn for_people(it: &Predicted) -> Vec<String> {
    let interval = format!("{} .. {}", it.low, it.high);
    vec![
        it.rank.to_string(),
        it.mapping.m().to_string(),
        it.mapping.p().to_string(),
        it.time.to_string(),
        if it.low < it.high { interval } else { "-".into() },
        format!("{:.2}", it.speedup),
        format!("{:.0} %", 100.0 * it.efficiency),
    ]
}

fn for_programs(it: &Predicted) -> Vec<String> {
    let counts = [it.rank, it.mapping.m(), it.mapping.p()].map(|count| count.to_string());
    let numbers = [it.time.0, it.low.0, it.high.0, it.speedup, it.efficiency];
    counts.into_iter().chain(numbers.map(|x| x.to_string())).collect()
}
