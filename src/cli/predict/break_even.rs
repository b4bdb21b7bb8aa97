//! `mmgp predict --break-even`

use clap::Args;
use serde::Serialize;

use super::Asked;
use super::rows::{Rows, field};
use crate::decide::{BreakEvenRow, break_even};
use crate::error::Result;
use crate::units::Seconds;

#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct BreakEvenArguments {
    /// From what size of a task off-loading pays, for each p, and up to how many APUs
    #[arg(long, group = "question", requires = "host_factor", conflicts_with = "m")]
    break_even: bool,
    /// Time of the off-loaded part on the host, relative to one APU
    #[arg(long, value_name = "F", requires = "break_even")]
    host_factor: Option<f64>,
}

impl BreakEvenArguments {
    /// The factor of the host, where the question is asked.
    pub fn asked(&self) -> Option<f64> {
        self.host_factor.filter(|_| self.break_even)
    }
}

#[derive(Serialize)]
struct Json {
    host_factor: f64,
    granularity_s: f64,
    shared_part: f64,
    /// Where a further APU no longer pays, with its interval.
    optimal_p: Option<f64>,
    optimal_p_low: Option<f64>,
    optimal_p_high: Option<f64>,
    last_paying_p: u32,
    break_even: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    p: u32,
    least_granularity_s: Option<f64>,
    low_s: Option<f64>,
    high_s: Option<f64>,
    gain: f64,
}

pub fn text(asked: &Asked<'_>, host_factor: f64) -> Result<String> {
    let answer = break_even(&*asked.model, &asked.constraints, host_factor)?;
    let optimum = answer.optimum;
    let up_to = match optimum.continuous {
        Some((best, low, high)) => format!(
            "APUs pay up to p = {}: sqrt(T_APU/(N*g)) = {best:.1}, 95 % interval {low:.1} .. \
             {high:.1}.",
            optimum.last_p
        ),
        None => "APUs cost nothing here, so every one of them pays.".into(),
    };
    let preface = format!(
        "An off-load has {} of APU time, of which APUs share {:.1} %; the host takes {host_factor} \
         times as long.\n{up_to}\n\n",
        answer.granularity,
        100.0 * answer.shared_part,
    );
    let row = |row: &BreakEvenRow| Row {
        p: row.p,
        least_granularity_s: row.least_granularity.map(|(least, _, _)| least.0),
        low_s: row.least_granularity.map(|(_, low, _)| low.0),
        high_s: row.least_granularity.map(|(_, _, high)| high.0),
        gain: row.gain,
    };
    let rows = Rows {
        rows: &answer.rows,
        people: (&["p", "pays from", "95 % interval", "host/off-loaded"], for_people),
        programs: (&["p", "least_granularity_s", "low_s", "high_s", "gain"], for_programs),
        preface,
        json: Json {
            host_factor,
            granularity_s: answer.granularity.0,
            shared_part: answer.shared_part,
            optimal_p: optimum.continuous.map(|(best, _, _)| best),
            optimal_p_low: optimum.continuous.map(|(_, low, _)| low),
            optimal_p_high: optimum.continuous.map(|(_, _, high)| high),
            last_paying_p: optimum.last_p,
            break_even: answer.rows.iter().map(row).collect(),
        },
    };
    Ok(rows.text(asked.format))
}

fn for_people(row: &BreakEvenRow) -> Vec<String> {
    let gain = format!("{:.2}", row.gain);
    match row.least_granularity {
        Some((least, low, high)) if low < high => {
            vec![row.p.to_string(), least.to_string(), format!("{low} .. {high}"), gain]
        }
        Some((least, _, _)) => vec![row.p.to_string(), least.to_string(), "-".into(), gain],
        None => vec![row.p.to_string(), "never".into(), "-".into(), gain],
    }
}

fn for_programs(row: &BreakEvenRow) -> Vec<String> {
    let part = |pick: fn((Seconds, Seconds, Seconds)) -> Seconds| {
        field(row.least_granularity.map(|least| pick(least).0))
    };
    vec![
        row.p.to_string(),
        part(|(least, _, _)| least),
        part(|(_, low, _)| low),
        part(|(_, _, high)| high),
        row.gain.to_string(),
    ]
}
