//! `mmgp ask`

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;

use super::Answer;
use super::files::Guard;
use super::objective::Fields;
use super::output::{data, json, warn};
use super::tune::{DeclareArguments, SearchArguments, of_drivers};
use crate::Mapping;
use crate::attempt::Order;
use crate::error::Result;
use crate::tune::derived;
use crate::tune::engine::{Discipline, ask, verdicts};
use crate::units::Seconds;

/// Say what to run next, as JSON, for a driver of your own
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// So many runs at most
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    #[command(flatten)]
    declare: DeclareArguments,
    #[command(flatten)]
    search: SearchArguments,
}

const HELP: &str = "\
Examples:
  mmgp ask --m 1..64*2 --p 1,2,4,8 --out tune
  mmgp ask --m 1..64*2 --p 1,2,4,8 --until-regret 5% --out tune --count 3

What came of a run is told by `mmgp tell --out tune --m 8 --p 4 --time 12.5`. Asks and answers go by \
one log, DIR/log.jsonl, and are those of `mmgp tune`. Prints {\"runs\": [{\"id\", \
\"m\", \"p\", ...}], \"best\": [m, p], \"time_s\", \"expected_regret\", \"regret_95\", \"settled\"}: run what it says, tell what \
came of it, and ask again, until \"settled\" is true. Asked again without being told anything, it says \
the same.";

#[derive(Serialize)]
struct Json {
    runs: Vec<Run>,
    best: Option<(u32, u32)>,
    #[serde(flatten)]
    amount: Fields,
    expected_regret: Option<f64>,
    regret_95: Option<f64>,
    settled: bool,
}

#[derive(Serialize)]
struct Run {
    id: u64,
    m: u32,
    p: u32,
    nodes: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    params: BTreeMap<String, String>,
    repetition: u32,
}

impl From<(Mapping, Order)> for Run {
    fn from((mapping, order): (Mapping, Order)) -> Self {
        let Order { id, nodes, factors: params, repetition, .. } = order;
        Self { id, m: mapping.m(), p: mapping.p(), nodes, params, repetition }
    }
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let mut warnings = Vec::new();
    arguments.declare.guarded(Guard::default()).check()?;
    let declared = arguments.declare.declared(&mut warnings)?;
    warn(&warnings);
    let attempts = of_drivers(&arguments.search.out)?;
    let quantity = match attempts.is_empty() {
        true => arguments.search.best.quantity()?,
        false => derived::quantity(&attempts),
    };
    let levels = arguments.search.levels(&declared, &quantity, None)?;
    let discipline = Discipline::new(0, None, declared.nodes.clone());
    let orders = ask(&levels, &attempts, &discipline, arguments.count as usize)?;
    let verdicts = verdicts(&levels, &attempts)?;
    let known = verdicts.iter().filter(|verdict| verdict.time.is_some());
    let objective = levels.first().map(|level| level.search.objective.clone()).unwrap_or_default();
    let product = |it: &&crate::tune::Verdict| {
        let of = |(time, choice): (Seconds, Mapping)| time.0 * objective.factor(choice);
        it.time.zip(it.choice).map_or(f64::INFINITY, of)
    };
    let best = known.min_by(|one, other| product(one).total_cmp(&product(other)));
    let answer = Json {
        runs: orders.into_iter().map(Run::from).collect(),
        best: best.and_then(|it| it.choice).map(|it| (it.m(), it.p())),
        amount: Fields::of_choice(&objective, best.and_then(|it| it.choice.zip(it.time))),
        expected_regret: best.and_then(|it| it.expected_regret),
        regret_95: best.and_then(|it| it.regret_95),
        settled: verdicts.iter().all(|verdict| verdict.is_settled),
    };
    data(None, &json(&answer))?;
    Ok(Answer::Done)
}
