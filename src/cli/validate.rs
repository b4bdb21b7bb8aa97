//! `mmgp validate`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::files::{Files, Guard};
use super::identity::Identity;
use super::input::scheduler::SchedulerArguments;
use super::input::{AppArguments, MachineArguments, ThreadArguments};
use super::output::{Verbosity, data, json, warn};
use super::transaction::{Transaction, TransactionArguments};
use super::{Answer, input, plot};
use crate::Mapping;
use crate::apps::{Application, Once};
use crate::decide::feasible;
use crate::error::{Error, Result, Warning};
use crate::measure::ApplicationTarget;
use crate::models::Parameters;
use crate::table::records::{Split, Validation};
use crate::table::{self, csv};
use crate::validate::{
    Comparison, ModelSummary, Outcome, Summary, check_same_result, compare, refined,
};

/// Run every feasible (m, p) on the emulated machine, beside the prediction
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE")]
    params: String,
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    transaction: TransactionArguments,
    /// Fail where the mean error over all configurations is above this [%]
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    fail_above: Option<f64>,
    #[command(flatten)]
    threads: ThreadArguments,
    /// No progress, no summary
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp validate --params params.toml --out validated
  mmgp validate --params pbpi-qs20 --machine qs22 --out validated \\
      --fail-above 10

Writes validation.csv, split.csv (where the time of each run went), summary.json, plots and \
manifest.json (what belongs together). Exit code 1 where the mean error is above the threshold.

The same command goes on where it was interrupted, and on several computers with --shard.";

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let (parameters, text) = arguments.parameters()?;
    let (target, app) =
        (arguments.scheduler.target(&arguments.machine)?, Once::new(arguments.app.read()?));
    let transaction = arguments.begin(words)?;
    let folder = &transaction.unfinished();
    let verbosity = Verbosity::from(arguments.quiet);
    let job = Job { app: &app, target: &target, threads: arguments.threads.count(), verbosity };
    let Some(validated) = job.run(&parameters, &transaction)? else {
        return transaction.finish_shard(verbosity);
    };
    let files = Files {
        validation: Some(folder.join("validation.csv")),
        split: Some(folder.join("split.csv")),
        params: Some(arguments.params.clone()),
        ..Files::default()
    };
    plot::write_all(folder, &job.title(), &files)?;
    transaction.commit(Some(&text))?;
    warn(&validated.warnings);
    let model = &validated.summary.models[0];
    if verbosity == Verbosity::Usual {
        data(None, &describe(&validated))?;
    }
    match arguments.fail_above {
        Some(most) if model.mean_error_percent > most => Ok(Answer::No),
        _ => Ok(Answer::Done),
    }
}

impl Arguments {
    /// The parameters, with their text.
    fn parameters(&self) -> Result<(Parameters, String)> {
        let parameters = input::parameters(&self.params)?;
        let text = match input::parameter_file(&self.params) {
            Some(path) => input::source(path)?.text.clone(),
            None => parameters.to_toml(),
        };
        Ok((parameters, text))
    }

    fn begin(&self, words: &[OsString]) -> Result<Transaction> {
        let parameters = ("--params", input::parameter_file(&self.params));
        let guard = Guard::default().reads(parameters.0, parameters.1);
        let guard = self.app.guarded(self.machine.guarded(guard));
        let mut inputs = self.app.files().to_vec();
        inputs.extend([parameters, ("--machine", input::machine_file(&self.machine.machine))]);
        let identity = Identity::of_command(words, &inputs, &["fail_above"])?;
        let out = (Some(self.out.as_path()), "");
        self.transaction.begin(out, identity, (guard, &FILES))
    }
}

/// What a validation writes into its folder, apart from pictures.
const FILES: [&str; 3] = ["validation.csv", "summary.json", "split.csv"];

/// A validation to be run.
pub struct Job<'a> {
    pub app: &'a (dyn Application + 'static),
    pub target: &'a ApplicationTarget,
    pub threads: usize,
    pub verbosity: Verbosity,
}

/// What came of it.
pub struct Validated {
    pub summary: Summary,
    pub rows: Vec<Validation>,
    pub warnings: Vec<Warning>,
}

impl Job<'_> {
    /// What stands above its pictures.
    pub fn title(&self) -> String {
        format!("{} on {}", self.app.name().to_uppercase(), self.target.name())
    }

    /// Runs every mapping, by m, then p, of which no outcome is kept, and writes its files; `None` where
    /// others have a share of the runs.
    pub fn run(&self, parameters: &Parameters, into: &Transaction) -> Result<Option<Validated>> {
        let mappings: Vec<Mapping> = feasible(self.target.layout().apus).collect();
        let how = (self.threads.min(self.target.at_once()), self.verbosity);
        let run = |&mapping: &Mapping| self.target.run(self.app, mapping).map(Outcome::from);
        let all = ("emulating all (m, p)", &mappings[..]);
        let Some(runs) = into.kept().share(into.shard(), all, how, &run)? else {
            return Ok(None);
        };
        let folder = into.unfinished();
        let comparison = compare(parameters, &runs);
        let [validation, summary, split] = FILES;
        table::write(&folder.join(validation), csv::write(&comparison.rows))?;
        table::write(&folder.join(summary), json(&comparison.summary))?;
        let splits: Vec<Split> = runs.iter().map(|run| run.split.clone()).collect();
        table::write(&folder.join(split), csv::write(&splits))?;
        let Comparison { rows, summary, .. } = comparison;
        Ok(Some(Validated { summary, rows, warnings: check_same_result(&runs) }))
    }
}

/// The errors of each model, and what the choice of its predicted best costs, for people.
pub fn describe(validated: &Validated) -> String {
    let Summary { configurations, models, .. } = &validated.summary;
    let mut text = describe_model(&models[0], &validated.rows, *configurations);
    if let (Some(model), Some(rows)) = (models.get(1), refined(&validated.rows)) {
        text += &format!(
            "\nBeside it the refined model:\n{}",
            describe_model(model, &rows, *configurations)
        );
    }
    text
}

fn describe_model(model: &ModelSummary, rows: &[Validation], configurations: usize) -> String {
    let (predicted, measured) = (model.predicted_best, model.measured_best);
    let choice = if predicted == measured {
        format!("The predicted best, {predicted}, is the fastest of all that ran.")
    } else {
        format!(
            "The predicted best, {predicted}, takes {:.1} % longer than the fastest that ran, \
             {measured}.",
            model.regret_percent
        )
    };
    let off = |row: &&Validation| row.error_percent.abs();
    let worst = rows.iter().max_by(|a, b| off(a).total_cmp(&off(b)));
    let worst = worst.map_or_else(String::new, |row| {
        format!(" at ({}, {}), where it predicts {:+.1} %", row.m, row.p, row.error_percent)
    });
    let without = model.without_inputs.map_or_else(String::new, |without| {
        format!(
            "Of the time without collectives and alpha, which may be inputs of the machine: mean \
             {:.1} %, maximum {:.1} %.\n",
            without.mean_error_percent, without.max_error_percent
        )
    });
    format!(
        "{choice}\nError of the predicted times over {configurations} configurations: mean {:.1} %, \
         standard deviation {:.1} %, maximum {:.1} %{worst}.\n{without}",
        model.mean_error_percent, model.sd_error_percent, model.max_error_percent
    )
}

/// Refuses a share that is no percentage.
pub fn percentage(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share.is_finite() && share >= 0.0 => Ok(share),
        _ => Err(Error::out_of_range("percentage", text, "a number of 0 or more").to_string()),
    }
}
