//! `mmgp study sweep3d`: how many ranks along i and j, which blocks of planes and angles, which ranks on
//! a node?

mod answer;
mod candidates;
mod estimates;

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::Serialize;

use super::Arguments;
use crate::Mapping;
use crate::belief::Posterior;
use crate::cli::Answer;
use crate::cli::input::sweep3d::Sweep3dArguments;
use crate::cli::output::{Verbosity, data, json, warn};
use crate::cli::plot::write_picture;
use crate::cli::transaction::Transaction;
use crate::decide::{Sampling, rank};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::measure::messages;
use crate::measure::wavefront::{Sweep, SweepPlan, block_run};
use crate::models::wavefront::{Flat, WavefrontTerms};
use crate::plot::{Kind, Picture};
use crate::table::records::{BlockRun, Maybe, WavefrontChoice};
use crate::table::{self, csv};
use crate::validate::wavefronts::{WavefrontSummary, compare};
use candidates::Candidates;
use estimates::{Asked, Terms, Timed};

/// What it leaves in its folder, beside pictures.
const FILES: [&str; 6] = [
    "blocks.csv",
    "messages.csv",
    "terms.json",
    "predictions.csv",
    "validation.csv",
    "summary.json",
];

/// The picture of choices.
const PICTURE: &str = "choices";

/// Studies the choice of ranks and blocks.
pub fn study(own: &Sweep3dArguments, arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let machine = arguments.machine.read()?;
    let candidates = Candidates::new(&machine, own)?;
    let study = Study {
        machine: &machine,
        candidates: &candidates,
        threads: arguments.threads.count(),
        verbosity: Verbosity::from(arguments.quiet),
        seed: arguments.app.seed(),
        transaction: arguments.begin(words, &FILES)?,
    };
    let folder = &study.transaction.unfinished();
    let [blocks_file, messages_file, terms_file, predictions_file, validation, summary] = FILES;
    let blocks = study.blocks()?;
    table::write(&folder.join(blocks_file), csv::write(&blocks))?;
    let times = messages::times(&machine, &candidates.sizes(), study.threads)?;
    table::write(&folder.join(messages_file), csv::write(&times))?;
    let files = [blocks_file, messages_file];
    let timed = Timed { blocks, messages: messages::runs(&times), files };
    let terms = timed.terms_of_all(&candidates)?;
    table::write(&folder.join(terms_file), json(&Terms::of(&terms)))?;
    let predictions = study.predict(&terms)?;
    table::write(&folder.join(predictions_file), csv::write(&predictions))?;
    let Some(measured) = study.sweep_all(&predictions)? else {
        return study.transaction.finish_shard(study.verbosity);
    };
    let (rows, found) = compare(&predictions, &measured);
    table::write(&folder.join(validation), csv::write(&rows))?;
    table::write(
        &folder.join(summary),
        json(&Summaries { configurations: rows.len(), models: [&found] }),
    )?;
    let title = format!("sweep3d on {}", machine.name);
    let curves = answer::curves(&rows);
    let picture = Picture { title: &title, kind: Kind::Curves(&curves) };
    write_picture(folder, PICTURE, &picture)?;
    let (verbosity, folder) = (study.verbosity, study.transaction.folder().to_path_buf());
    study.transaction.commit(None)?;
    if verbosity == Verbosity::Usual {
        let answer = answer::text(&rows, &found, &machine);
        data(None, &format!("{answer}\nEverything is in {}.\n", folder.display()))?;
    }
    Ok(Answer::Done)
}

/// How its runs are made.
struct Study<'a> {
    machine: &'a Machine,
    candidates: &'a Candidates,
    threads: usize,
    verbosity: Verbosity,
    seed: u64,
    transaction: Transaction,
}

#[derive(Serialize)]
struct Summaries<'a> {
    configurations: usize,
    models: [&'a WavefrontSummary; 1],
}

impl Study<'_> {
    /// Times the blocks from which the terms are estimated.
    fn blocks(&self) -> Result<Vec<BlockRun>> {
        let plans = self.candidates.block_plans();
        let how = (self.threads, self.verbosity);
        let kept = self.transaction.kept();
        kept.all("timing blocks", &plans, how, &|plan| block_run(self.machine, plan))
    }

    /// The predicted time of every choice, the fastest first.
    fn predict(&self, terms: &BTreeMap<Asked, WavefrontTerms>) -> Result<Vec<WavefrontChoice>> {
        let mut warnings = Vec::new();
        let mut rows = Vec::with_capacity(self.candidates.choices.len());
        for &(problem, choice) in &self.candidates.choices {
            let mapping: Mapping = choice.mapping().ok_or_else(|| {
                Error::out_of_range(
                    "ranks of sweep3d",
                    format!("{} x {}", choice.px, choice.py),
                    "some",
                )
            })?;
            let asked = Asked::of(self.candidates, &problem, &choice);
            let terms = terms[&asked].clone();
            let posterior = Posterior::of_model(Flat::new(terms, problem, vec![choice]));
            let sampling = Sampling::new(Sampling::USUAL_DRAWS, self.seed);
            let ranking = rank(&posterior, &[mapping], sampling)?;
            warnings.extend(ranking.warnings.iter().cloned());
            let own = &ranking.configurations[0];
            let [tx, ty] = choice.tiling.node;
            rows.push(WavefrontChoice {
                rank: 1,
                it: problem.it,
                jt: problem.jt,
                kt: problem.kt,
                px: choice.px,
                py: choice.py,
                mk: choice.planes,
                mmi: choice.angles,
                tx,
                ty,
                time_s: own.time.0,
                low_s: own.low.0,
                high_s: own.high.0,
                measured_s: Maybe(None),
                error_percent: Maybe(None),
            });
        }
        warnings.dedup();
        warn(&warnings);
        rows.sort_by(|one, other| one.time_s.total_cmp(&other.time_s));
        (1..).zip(&mut rows).for_each(|(rank, row)| row.rank = rank);
        Ok(rows)
    }

    /// Emulates every choice, or simulates it where there are more ranks than those of a node.
    /// `None` where others have a share.
    fn sweep_all(&self, predictions: &[WavefrontChoice]) -> Result<Option<Vec<f64>>> {
        let sweep = Sweep::new(self.machine, self.candidates.fields, self.threads)?;
        let how = (self.threads, self.verbosity);
        let (kept, shard) = (self.transaction.kept(), self.transaction.shard());
        kept.share(shard, ("sweeping all choices", predictions), how, &|row| {
            let plan = SweepPlan {
                cells: [row.it, row.jt, row.kt],
                grid: [row.px, row.py],
                planes: row.mk,
                angles: row.mmi,
            };
            Ok(sweep.time(plan, [row.tx, row.ty])?.0)
        })
    }
}
