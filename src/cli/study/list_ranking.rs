//! `mmgp study list-ranking`: which p, how many sublists, how many DMA lists under way?

use std::ffi::OsString;

use serde::Serialize;

use super::{Arguments, TermReport, doublings};
use crate::Mapping;
use crate::belief::Posterior;
use crate::cli::Answer;
use crate::cli::input::list_ranking::ListRankingArguments;
use crate::cli::output::{Verbosity, aligned, data, json, warn};
use crate::cli::plot::write_picture;
use crate::cli::transaction::Transaction;
use crate::decide::{Sampling, rank};
use crate::error::Result;
use crate::fit::estimate_threads;
use crate::lists::Order;
use crate::measure::list_ranking::{ThreadPlan, run_thread_plan, thread_plans, thread_run};
use crate::measure::{Emulated, Measured as _, Target as _};
use crate::models::TimeModel as _;
use crate::models::threads::{Choice, Division, Formula, SoftwareThreads, ThreadTerms};
use crate::plot::{CurvePanel, Curves, Kind, Picture};
use crate::table::records::{Maybe, ThreadChoice};
use crate::table::{self, csv};
use crate::units::Seconds;
use crate::validate::choices::{ChoiceSummaries, compare_choices};

/// Nodes of the list where nothing is said of them.
const NODES: u32 = 1 << 18;

/// The choices: numbers of sublists, and of DMA lists under way.
const SUBLISTS: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];
const BUFFERS: [u32; 5] = [1, 2, 4, 8, 16];

/// What it leaves in its folder, beside pictures.
const FILES: [&str; 5] =
    ["threads.csv", "terms.json", "predictions.csv", "validation.csv", "summary.json"];

/// The picture of choices.
const PICTURE: &str = "choices";

/// Choices that are shown.
const SHOWN: usize = 8;

pub fn study(
    own: &ListRankingArguments,
    arguments: &Arguments,
    words: &[OsString],
) -> Result<Answer> {
    let target = arguments.scheduler.target(&arguments.machine)?;
    let (ranking, order) = (own.ranking(NODES)?, own.order());
    let study = Study {
        target: &target,
        threads: arguments.threads.count(),
        verbosity: Verbosity::from(arguments.quiet),
        seed: arguments.app.seed(),
        transaction: arguments.begin(words, &FILES)?,
    };
    let folder = &study.transaction.unfinished();
    let [threads, terms_file, predictions_file, validation, summary] = FILES;
    let ps = doublings(target.layout().apus);
    let plans = thread_plans(&ps, order);
    let kept = study.transaction.kept();
    let short = kept.all("short runs", &plans, study.how(), &|plan| {
        run_thread_plan(&target, plan, arguments.app.seed())
    })?;
    table::write(&folder.join(threads), csv::write(&short))?;
    let terms = estimate_threads(&short, division(order), threads)?;
    table::write(&folder.join(terms_file), json(&TermsReport::of(&terms)))?;
    let list = List { nodes: ranking.list().nodes(), order };
    let predictions = study.predict(&terms, list, &ps)?;
    table::write(&folder.join(predictions_file), csv::write(&predictions))?;
    let plans: Vec<ThreadPlan> = predictions.iter().map(|row| list.plan(row)).collect();
    let all = ("emulating all choices", &plans[..]);
    let run = |plan: &ThreadPlan| {
        let ranking = ranking.with_choice([plan.sublists, plan.buffers])?;
        thread_run(&target, &ranking, plan)
    };
    let Some(runs) = kept.share(study.transaction.shard(), all, study.how(), &run)? else {
        return study.transaction.finish_shard(study.verbosity);
    };
    let (rows, summaries) = compare_choices(&predictions, &runs);
    table::write(&folder.join(validation), csv::write(&rows))?;
    table::write(&folder.join(summary), json(&summaries))?;
    let title = format!("list-ranking on {}", target.name());
    let curves = curves(&rows);
    let picture = Picture { title: &title, kind: Kind::Curves(&curves) };
    write_picture(folder, PICTURE, &picture)?;
    let (verbosity, folder) = (study.verbosity, study.transaction.folder().to_path_buf());
    study.transaction.commit(None)?;
    if verbosity == Verbosity::Usual {
        let answer = answer(&rows, &summaries, (list, &target));
        data(None, &format!("{answer}\nEverything is in {}.\n", folder.display()))?;
    }
    Ok(Answer::Done)
}

/// How its runs are made.
struct Study<'a> {
    target: &'a Emulated,
    threads: usize,
    verbosity: Verbosity,
    seed: u64,
    transaction: Transaction,
}

/// What is ranked.
#[derive(Clone, Copy)]
struct List {
    nodes: u32,
    order: Order,
}

impl List {
    fn plan(self, row: &ThreadChoice) -> ThreadPlan {
        let &ThreadChoice { p, sublists, buffers, .. } = row;
        ThreadPlan { p, sublists, buffers, nodes: self.nodes, order: self.order }
    }
}

/// How long the sublists are whose heads are chosen for that order.
fn division(order: Order) -> Division {
    match order {
        Order::Ordered => Division::Even,
        Order::Random => Division::Random,
    }
}

impl Study<'_> {
    /// How runs are made on this computer.
    fn how(&self) -> (usize, Verbosity) {
        (self.threads.min(self.target.at_once()), self.verbosity)
    }

    /// The predicted time of every choice, the fastest first.
    fn predict(&self, terms: &ThreadTerms, list: List, ps: &[u32]) -> Result<Vec<ThreadChoice>> {
        let (nodes, division) = (list.nodes, division(list.order));
        let mut rows = Vec::new();
        let choices = SUBLISTS.into_iter().flat_map(|sublists| {
            BUFFERS.map(|buffers| Choice { sublists: sublists.min(nodes), buffers })
        });
        for choice in choices {
            let Choice { sublists, buffers } = choice;
            let formula = Formula::new(terms.clone(), nodes, division, choice);
            let model = SoftwareThreads::new(terms.clone(), nodes, division, choice);
            let posterior = Posterior::of_model(model);
            let mappings: Vec<Mapping> = ps
                .iter()
                .filter(|&&p| p <= sublists)
                .map(|&p| Mapping::new(1, p))
                .collect::<Result<_>>()?;
            let sampling = Sampling::new(Sampling::USUAL_DRAWS, self.seed);
            let ranking = rank(&posterior, &mappings, sampling)?;
            warn(&ranking.warnings);
            rows.extend(ranking.configurations.iter().map(|own| ThreadChoice {
                rank: 1,
                p: own.mapping.p(),
                sublists,
                buffers,
                time_s: own.time.0,
                low_s: own.low.0,
                high_s: own.high.0,
                formula_s: formula.time(own.mapping).0,
                measured_s: Maybe(None),
                error_percent: Maybe(None),
            }));
        }
        rows.sort_by(|one, other| {
            let key = |row: &ThreadChoice| [row.p, row.sublists, row.buffers];
            one.time_s.total_cmp(&other.time_s).then(key(one).cmp(&key(other)))
        });
        rows.dedup_by_key(|row| [row.p, row.sublists, row.buffers]);
        let chosen = chosen(&rows);
        rows[..=chosen].rotate_right(1);
        (1..).zip(&mut rows).for_each(|(rank, row)| row.rank = rank);
        Ok(rows)
    }
}

/// How much longer a choice may be predicted to take to be as good as the fastest.
const AS_GOOD: f64 = 0.01;

/// Which of the choices to take, the fastest of which comes first. Of those that are as good, the one with
/// the most lists under way, for they cost nothing that the model knows and hide what it does not; and
/// of these the one with the fewest accelerators.
fn chosen(rows: &[ThreadChoice]) -> usize {
    let limit = (1.0 + AS_GOOD) * rows[0].time_s;
    let near = rows.iter().take_while(|row| row.time_s <= limit);
    let best = near.enumerate().min_by_key(|(_, row)| (u32::MAX - row.buffers, row.p));
    best.map_or(0, |(place, _)| place)
}

/// The terms, with their errors.
#[derive(Serialize)]
struct TermsReport {
    terms: Vec<TermReport>,
}

impl TermsReport {
    fn of(terms: &ThreadTerms) -> Self {
        let named = terms.named().into_iter();
        Self { terms: named.map(|(name, estimate)| TermReport::new(name, estimate)).collect() }
    }
}

/// What of a choice varies in a panel, and what is kept at the choice.
type Dimension = (&'static str, fn(&ThreadChoice) -> u32);

const DIMENSIONS: [Dimension; 3] =
    [("p", |row| row.p), ("sublists", |row| row.sublists), ("buffers", |row| row.buffers)];

/// Predicted and emulated times of the choices that differ from the first in one thing.
fn curves(rows: &[ThreadChoice]) -> Curves {
    let chosen = &rows[0];
    let panel = |(name, varied): Dimension| {
        let others = DIMENSIONS.into_iter().filter(|(other, _)| *other != name);
        let others: Vec<Dimension> = others.collect();
        let is_beside = |row: &&ThreadChoice| others.iter().all(|(_, of)| of(row) == of(chosen));
        let series = |time: fn(&ThreadChoice) -> Option<f64>| {
            let beside = rows.iter().filter(is_beside);
            let mut points: Vec<(u32, f64)> =
                beside.filter_map(|row| Some((varied(row), time(row)?))).collect();
            points.sort_by_key(|point| point.0);
            points
        };
        let kept: Vec<String> =
            others.iter().map(|(name, of)| format!("{name} = {}", of(chosen))).collect();
        CurvePanel {
            caption: format!("by {name}, {}", kept.join(", ")),
            quantity: "time_s".into(),
            series: vec![
                series(|row| row.measured_s.0),
                series(|row| Some(row.time_s)),
                series(|row| Some(row.formula_s)),
            ],
        }
    };
    Curves {
        names: ["emulated", "predicted", "by the formula alone"].map(String::from).to_vec(),
        panels: DIMENSIONS.map(panel).to_vec(),
        x_title: "how many".into(),
    }
}

/// What a person would act on.
fn answer(
    rows: &[ThreadChoice],
    summaries: &ChoiceSummaries,
    (list, target): (List, &Emulated),
) -> String {
    let best = &rows[0];
    let [time, low, high] =
        [best.time_s, best.low_s, best.high_s].map(|it| Seconds(it).to_string());
    let mut text = format!(
        "list-ranking of {} nodes on {}, {} choices of p, sublists and buffers.\n\
         Run p = {}, --sublists {}, --buffers {}: it takes about {time} ({low} .. {high}).\n\n",
        list.nodes,
        target.description(),
        rows.len(),
        best.p,
        best.sublists,
        best.buffers
    );
    let cells = |row: &ThreadChoice| {
        let time = |time: f64| Seconds(time).to_string();
        vec![
            row.rank.to_string(),
            row.p.to_string(),
            row.sublists.to_string(),
            row.buffers.to_string(),
            time(row.time_s),
            row.measured_s.0.map_or_else(String::new, time),
        ]
    };
    let shown: Vec<Vec<String>> = rows.iter().take(SHOWN).map(cells).collect();
    text += &aligned(&["rank", "p", "sublists", "buffers", "predicted", "emulated"], &shown);
    for model in &summaries.models {
        let choice = |[p, sublists, buffers]: [u32; 3]| format!("({p}, {sublists}, {buffers})");
        text += &format!(
            "\nBy {}: mean error {:.1} %, maximum {:.1} %; its choice, {}, takes {:.1} % longer than the \
             fastest that ran, {}.",
            model.model,
            model.mean_error_percent,
            model.max_error_percent,
            choice(model.predicted_best),
            model.regret_percent,
            choice(model.measured_best)
        );
    }
    text + "\n"
}
