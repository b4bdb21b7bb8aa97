//! `mmgp study`

mod excerpt;
pub mod list_ranking;
pub mod sweep3d;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::files::{Files, Guard};
use super::identity::Identity;
use super::input::scheduler::SchedulerArguments;
use super::input::{AppArguments, MachineArguments, ThreadArguments, machine_file};
use super::output::{Verbosity, json, warn};
use super::provenance::provenance;
use super::transaction::{Transaction, TransactionArguments};
use super::validate::{Job, Validated, describe};
use super::{Answer, bench, plot, predict, profile, report};
use crate::apps::{Application, Division, Once};
use crate::belief::Posterior;
use crate::decide::{Constraints, Ranking, Sampling, candidates, rank};
use crate::error::{Error, Result, Warning};
use crate::fit::{Fitted, Inputs, Measured, Options, Settings, fit};
use crate::measure::{ApplicationTarget, Target as _};
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate};
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::table::records::Prediction;
use crate::table::{self, csv};
use crate::validate::{Summary, counts};

/// The folder of a study that is given none.
pub const FOLDER: &str = "mmgp-study";

/// Do everything once: measure, fit, predict, emulate every (m, p), compare, draw
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// Folder for the files [default: mmgp-study; mmgp-study-2 and so on where that
    /// has a study of something else]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    transaction: TransactionArguments,
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
  mmgp study
  mmgp study raxml
  mmgp study pbpi --machine ps3 --input alignment.phy --out ps3

Leaves in the folder: alpha.csv, offload.csv, context_switch.csv, collective.csv, memory.csv \
and profile.csv (measured), params.toml (fitted), refined.toml (the same with the terms of the \
refined model), predictions.csv, validation.csv, split.csv (where the time of each run went), \
summary.json, study.json (where it all comes from), trace.json (what happens when, in the middle \
of a run of the predicted best), report.html (the page), plots as SVG and PNG, and manifest.json \
(what belongs together).

Until all is there it lies in a folder of its own, unfinished; files of an earlier study stay what they \
are. The same command goes on where it was interrupted, and on several computers with --shard.";

/// The files of parameters: equation 11, and the refined model.
const FILES: [&str; 2] = ["params.toml", "refined.toml"];

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    arguments.app.study(arguments, words)
}

impl Arguments {
    /// Begins a study that is to leave these files, or goes on with it.
    fn begin(&self, words: &[OsString], files: &[&str]) -> Result<Transaction> {
        let guard = self.app.guarded(self.machine.guarded(Guard::default()));
        let mut inputs = self.app.files().to_vec();
        inputs.push(("--machine", machine_file(&self.machine.machine)));
        let identity = Identity::of_command(words, &inputs, &[])?;
        self.transaction.begin((self.out.as_deref(), FOLDER), identity, (guard, files))
    }
}

/// There is nothing to choose of m where a program is one process.
pub fn of_one_process(arguments: &Arguments) -> Result<Answer> {
    Err(Error::out_of_range(
        "study",
        arguments.app.name(),
        "a program of several processes, or list-ranking; of this one `mmgp complexity` says what \
                   binds it",
    ))
}

/// 1, 2, 4 and so on up to `most`.
pub fn doublings(most: u32) -> Vec<u32> {
    let counts = std::iter::successors(Some(1_u32), |count| count.checked_mul(2));
    counts.take_while(|&count| count <= most).collect()
}

/// A term of a model with its error, as files have it.
#[derive(Serialize)]
struct TermReport {
    name: String,
    value: f64,
    std_error: Option<f64>,
}

impl TermReport {
    fn new(name: String, estimate: &Estimate) -> Self {
        Self { name, value: estimate.value, std_error: estimate.std_error }
    }
}

/// Studies a program at every (m, p).
pub fn by_mapping(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let (target, app) =
        (arguments.scheduler.target(&arguments.machine)?, Once::new(arguments.app.read()?));
    let transaction = arguments.begin(words, &FILES)?;
    let folder = &transaction.unfinished();
    let verbosity = Verbosity::from(arguments.quiet);
    let job = Job { app: &app, target: &target, threads: arguments.threads.count(), verbosity };
    let predicted = predict_all(&job, arguments.app.seed(), folder)?;
    let Predicted { parameters, ranking, .. } = &predicted;
    let best = &ranking.configurations[0];
    let watch = Arc::new(excerpt::middle(parameters, best.mapping, best.time));
    let watched = target.watched(&watch);
    let Some(validated) = predicted.validate(&Job { target: &watched, ..job }, &transaction)?
    else {
        return transaction.finish_shard(verbosity);
    };
    warn(&validated.warnings);
    let trace = match watch.take() {
        Some(trace) => trace,
        None => {
            // The outcome of its run was kept, and what happened in it was not.
            watched.run(&app, best.mapping)?;
            watch.take().expect("invariant: it was run")
        }
    };
    table::write(&folder.join("trace.json"), trace)?;
    plot::write_all(folder, &job.title(), &Files::of_study(folder))?;
    let provenance = provenance(
        (&arguments.app, &arguments.machine, words),
        &app,
        &target,
        &validated.warnings,
    )?;
    table::write(&folder.join(report::PROVENANCE), json(&provenance))?;
    report::write(folder)?;
    let folder = transaction.folder().to_path_buf();
    transaction.commit(Some(&parameters.to_toml()))?;
    if verbosity == Verbosity::Usual {
        let answer = answer(ranking, &app, &target);
        let near = near(ranking, &validated.summary);
        let errors = describe(&validated);
        let folder = folder.display();
        let all = format!(
            "{answer}\n{errors}{near}\nEverything is in {folder}; open {folder}/{} to look at it.\n",
            report::PAGE
        );
        super::output::data(None, &all)?;
    }
    Ok(Answer::Done)
}

/// What follows from what was measured.
struct Predicted {
    /// Of equation 11.
    parameters: Parameters,
    /// The same with the refined model's.
    refined: Parameters,
    ranking: Ranking,
    warnings: Vec<Warning>,
}

/// Measures, fits and predicts; every table is written into the folder.
fn predict_all(job: &Job<'_>, seed: u64, folder: &Path) -> Result<Predicted> {
    let fitted = measure_and_fit(job, seed, folder)?;
    let refined = fitted.refined.expect("invariant: its counts were given");
    let [equation_11, with_refined] = FILES;
    table::write(&folder.join(equation_11), fitted.parameters.to_toml())?;
    table::write(&folder.join(with_refined), refined.to_toml())?;
    let posterior = Posterior::of(&fitted.parameters)?;
    let mappings = candidates(&posterior, &Constraints::NONE, fitted.parameters.apus)?.mappings;
    let ranking = rank(&posterior, &mappings, Sampling::new(Sampling::USUAL_DRAWS, seed))?;
    let rows: Vec<Prediction> = ranking.configurations.iter().map(Prediction::from).collect();
    table::write(&folder.join("predictions.csv"), csv::write(&rows))?;
    let of_fit = fitted.warnings.into_iter().map(super::fit::flags::warning);
    let warnings = of_fit.chain(ranking.warnings.iter().cloned()).collect();
    Ok(Predicted { parameters: fitted.parameters, refined, ranking, warnings })
}

impl Predicted {
    /// Runs every mapping and compares; with the warnings of all steps.
    fn validate(&self, job: &Job<'_>, into: &Transaction) -> Result<Option<Validated>> {
        let mut validated = job.run(&self.refined, into)?;
        if let Some(validated) = &mut validated {
            validated.warnings.splice(0..0, self.warnings.iter().cloned());
        }
        Ok(validated)
    }
}

/// The micro-benchmarks and the profile, written, and the parameters of both models that follow
/// from them.
fn measure_and_fit(job: &Job<'_>, seed: u64, folder: &Path) -> Result<Fitted> {
    let Job { app, target, verbosity, .. } = *job;
    let tables = bench::measure(target, bench::REPETITIONS, seed, verbosity)?;
    bench::write(folder, &tables)?;
    let rows = profile::measure(target, app, profile::REPETITIONS, seed, verbosity)?;
    table::write(&folder.join("profile.csv"), csv::write(&rows))?;
    let settings = Settings::new(
        format!("{} on {}", app.name(), target.name()),
        decomposition(app),
        target.layout().apus,
    )
    .with(Options { counts: Some(counts(app, target.layout(), &rows)), ..Options::default() });
    let inputs = Inputs {
        alpha: Some(measured("alpha.csv", tables.alpha)),
        offload: Some(measured("offload.csv", tables.offload)),
        context_switch: Some(measured("context_switch.csv", tables.context_switch)),
        collective: Some(measured("collective.csv", tables.collective)),
        profile: Some(measured("profile.csv", rows)),
        runs: None,
        memory: Some(measured("memory.csv", tables.memory)),
        prior: None,
    };
    fit(&inputs, &settings)
}

/// How the program divides its work among host processes.
fn decomposition(app: &dyn Application) -> Decomposition {
    match app.division() {
        Division::Tasks(tasks) => Decomposition::Task { tasks },
        _ => Decomposition::Data,
    }
}

fn measured<R>(file: &str, rows: Vec<R>) -> Measured<R> {
    Measured { file: file.into(), rows }
}

/// What a person would act on.
fn answer(ranking: &Ranking, app: &dyn Application, target: &ApplicationTarget) -> String {
    let configurations = &ranking.configurations;
    format!(
        "{} on {}, {} feasible configurations.\n{}\n\n{}",
        app.name(),
        target.description(),
        configurations.len(),
        ranking.choice,
        predict::table(configurations.iter().take(SHOWN), &Objective::of(Quantity::Time))
    )
}

/// Which configurations are so near to the best that the model's own error may hide their order.
fn near(ranking: &Ranking, summary: &Summary) -> String {
    let error = summary.models[0].mean_error_percent;
    let best = ranking.configurations[0].time.0;
    let near: Vec<String> = ranking.configurations[1..]
        .iter()
        .filter(|other| other.time.0 < best * (1.0 + error / 100.0))
        .map(|other| other.mapping.to_string())
        .collect();
    if near.is_empty() {
        return format!("No other configuration is predicted within {error:.1} % of the best.\n");
    }
    format!("Within {error:.1} % of the best by the prediction: {}.\n", near.join(", "))
}

/// Configurations in the summary.
const SHOWN: usize = 5;
