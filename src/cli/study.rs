//! `mmgp study`

pub mod choices;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::files::{Files, Guard};
use super::input::scheduler::SchedulerArguments;
use super::input::{AppArguments, MachineArguments, ThreadArguments, machine_file};
use super::output::{Verbosity, data, json, warn};
use super::transaction::{TransactionArguments, finished, identity, in_flags, provenance};
use super::validate::describe;
use super::{Answer, fit, plot, predict, report};
use crate::apps::{Application, Once};
use crate::decide::Ranking;
use crate::error::{Error, Result, Warning};
use crate::lab::study::{Made, Mappings, Results, Study, Subject};
use crate::machine::Machine;
use crate::measure::{Emulated, Target as _};
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::table;
use crate::validate::Summary;

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
of a run of the predicted best), report.html (the page), validation.svg and all.svg (modelled against \
measured times), and manifest.json (what belongs together). `mmgp plot --study DIR` draws every other \
picture.

Until all is there it lies in a folder of its own, unfinished; files of an earlier study stay what they \
are. The same command goes on where it was interrupted, and on several computers with --shard.";

/// Configurations in the summary.
const SHOWN: usize = 5;

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    arguments.app.study(arguments, words)
}

impl Arguments {
    /// A study that is to leave these files.
    fn study(&self, words: &[OsString], files: &[&str]) -> Result<Study> {
        let guard = self.app.guarded(self.machine.guarded(Guard::default()));
        let mut inputs = self.app.files().to_vec();
        inputs.push(("--machine", machine_file(&self.machine.machine)));
        let identity = identity(words, &inputs, &[])?;
        let (folder, verbosity) = ((self.out.as_deref(), FOLDER), self.quiet.into());
        let study = self.transaction.study(folder, identity, (guard, files), verbosity)?;
        Ok(Study { threads: self.threads.count(), seed: self.app.seed(), ..study })
    }

    /// The machine under the scheduler.
    pub fn target(&self) -> Result<Emulated> {
        self.scheduler.target(&self.machine)
    }

    /// The machine by itself.
    pub fn plain_machine(&self) -> Result<Machine> {
        self.machine.read()
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

/// Makes a study; `show` adds pictures and pages to its files, and says what a person would act on.
pub fn conduct<S: Subject>(
    study: Study,
    subject: &S,
    verbosity: Verbosity,
    show: impl FnOnce(&Results<S>, &[Warning]) -> Result<String>,
) -> Result<Answer> {
    let folder = study.folder.clone();
    match study.run(subject, &verbosity).map_err(in_flags)? {
        Made::Share(share) => finished(&share, &folder, verbosity),
        Made::Whole(results) => {
            let warnings = results.warnings.iter().cloned().map(fit::flags::warning);
            let warnings: Vec<Warning> = warnings.collect();
            let answer = show(&results, &warnings)?;
            results.commit()?;
            warn(&warnings);
            if verbosity == Verbosity::Usual {
                data(None, &answer)?;
            }
            Ok(Answer::Done)
        }
    }
}

/// Studies a program at every (m, p).
pub fn by_mapping(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let (target, app) = (arguments.target()?, Once::new(arguments.app.read()?));
    let subject = Mappings::new(&app, &target);
    let study = arguments.study(words, Mappings::FILES)?;
    conduct(study, &subject, arguments.quiet.into(), |results, warnings| {
        let folder = &results.unfinished();
        plot::write_all(folder, &subject.title(), &Files::of_study(folder))?;
        let of = (&arguments.app, &arguments.machine, words);
        let provenance = provenance(of, &app, &target, warnings)?;
        table::write(&folder.join(report::PROVENANCE), json(&provenance))?;
        report::write(folder)?;
        let ranking = results.predictions.ranking.as_ref().expect("invariant: it was predicted");
        let folder = results.folder().display();
        Ok(format!(
            "{} on {}, {} feasible configurations.\n{}\n\n{}\n{}{}\nEverything is in {folder}; open \
             {folder}/{} to look at it.\n",
            app.name(),
            target.description(),
            ranking.configurations.len(),
            ranking.choice,
            predict::table(
                ranking.configurations.iter().take(SHOWN),
                &Objective::of(Quantity::Time)
            ),
            describe(&results.comparison),
            near(ranking, &results.summary),
            report::PAGE
        ))
    })
}

/// A sentence on the configurations that are so near to the best that the model's own error may hide their order.
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
