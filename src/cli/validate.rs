//! `mmgp validate`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::files::{Files, Guard};
use super::input::SchedulerArguments;
use super::input::{AppArguments, MachineArguments, ThreadArguments};
use super::study::conduct;
use super::transaction::{TransactionArguments, identity};
use super::{Answer, input, plot};
use crate::apps::Once;
use crate::error::{Error, Result};
use crate::lab::study::{Mappings, Study};
use crate::models::Parameters;
use crate::table::records::Validation;
use crate::validate::{Comparison, ModelSummary, refined};

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

Writes validation.csv, split.csv (where the time of each run went), summary.json, validation.svg and \
all.svg (modelled against measured times), and manifest.json (what belongs together). Exit code 1 where the mean error is above the threshold.

The same command goes on where it was interrupted, and on several computers with --shard.";

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let (parameters, text) = arguments.parameters()?;
    let (target, app) =
        (arguments.scheduler.target(&arguments.machine)?, Once::new(arguments.app.read()?));
    let subject = Mappings::new(&app, &target).predicted_by(&parameters, &text);
    let mut error_percent = 0.0;
    let verbosity = arguments.quiet.into();
    let answer = conduct(arguments.study(words)?, &subject, verbosity, |results, _| {
        error_percent = results.summary.models[0].mean_error_percent;
        let folder = &results.unfinished();
        let files = Files {
            validation: Some(folder.join(FILES[0])),
            split: Some(folder.join(FILES[2])),
            params: Some(arguments.params.clone()),
            ..Files::default()
        };
        plot::write_all(folder, &subject.title(), &files)?;
        Ok(describe(&results.comparison))
    })?;
    match arguments.fail_above {
        Some(most) if error_percent > most => Ok(Answer::No),
        _ => Ok(answer),
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

    fn study(&self, words: &[OsString]) -> Result<Study> {
        let parameters = ("--params", input::parameter_file(&self.params));
        let guard = Guard::default().reads(parameters.0, parameters.1);
        let guard = self.app.guarded(self.machine.guarded(guard));
        let mut inputs = self.app.files().to_vec();
        inputs.extend([parameters, ("--machine", input::machine_file(&self.machine.machine))]);
        let identity = identity(words, &inputs, &["fail_above"])?;
        let out = (Some(self.out.as_path()), "");
        let study = self.transaction.study(out, identity, (guard, &FILES), self.quiet.into())?;
        Ok(Study { threads: self.threads.count(), seed: self.app.seed(), ..study })
    }
}

/// What a validation writes into its folder, apart from pictures.
const FILES: [&str; 3] = ["validation.csv", "summary.json", "split.csv"];

/// The errors of each model, and what the choice of its predicted best costs, for people.
pub fn describe(comparison: &Comparison) -> String {
    let models = &comparison.summary.models;
    let mut text = describe_model(&models[0], &comparison.rows);
    if let (Some(model), Some(rows)) = (models.get(1), refined(&comparison.rows)) {
        text += &format!("\nBeside it the refined model:\n{}", describe_model(model, &rows));
    }
    text
}

fn describe_model(model: &ModelSummary, rows: &[Validation]) -> String {
    let (predicted, measured) = (&model.predicted_best, &model.measured_best);
    let configurations = rows.len();
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
