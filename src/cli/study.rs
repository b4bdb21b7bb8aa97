//! `mmgp study`

use std::path::{Path, PathBuf};

use clap::Args;

use super::input::{AppArguments, MachineArguments, ThreadArguments};
use super::output::{Verbosity, json, progress, warnings};
use super::validate::{Job, describe};
use super::{Answer, bench, input, predict, profile, report};
use crate::apps::App;
use crate::apps::description::Traffic;
use crate::cell;
use crate::error::{Result, Warning};
use crate::fit::refined::{self, Counts};
use crate::fit::{Fitted, Inputs, Measured, Options, Settings, fit};
use crate::machine::Machine;
use crate::measure;
use crate::model::parameters::Decomposition;
use crate::model::refined::Placement;
use crate::report::provenance::{InputFile, MachineName, Provenance};
use crate::solve::{Ranking, Sampling, rank};
use crate::table::records::{Prediction, Profile};
use crate::table::{self, Source, csv};
use crate::validate::Summary;

/// The folder of a study that is given none.
pub const FOLDER: &str = "mmgp-study";

/// Do everything once: measure, fit, predict, emulate every (m, p), compare, draw
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    mmgp study\n  \
    mmgp study --machine ps3 --input alignment.phy --generations 200 --out my-study\n\n\
    Leaves in the folder: alpha.csv, offload.csv, context_switch.csv, collective.csv, memory.csv \
    and\nprofile.csv (measured), params.toml (fitted), refined.toml (the same with the terms of \
    the refined\nmodel), predictions.csv, validation.csv, split.csv (where the time of each run went), \
    summary.json,\nstudy.json (where it all comes from), report.html (the page), and plots as SVG and PNG.")]
pub struct Arguments {
    #[command(flatten)]
    app: AppArguments,
    #[command(flatten)]
    machine: MachineArguments,
    /// Folder for the files
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    #[command(flatten)]
    threads: ThreadArguments,
    /// No progress, no summary
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let (machine, app) = (arguments.machine.read()?, arguments.app.read()?);
    let folder = &arguments.out;
    table::create_folder(folder)?;
    let verbosity = Verbosity::from(arguments.quiet);
    let fitted = measure_and_fit(&app, &machine, arguments)?;
    let refined = fitted.refined.expect("invariant: its counts were given");
    table::write(&folder.join("params.toml"), fitted.parameters.to_toml())?;
    table::write(&folder.join("refined.toml"), refined.to_toml())?;
    let sampling = Sampling { draws: Sampling::USUAL_DRAWS, seed: arguments.app.seed };
    let ranking = rank(&fitted.parameters, sampling)?;
    let rows: Vec<Prediction> = ranking.configurations.iter().map(Prediction::from).collect();
    table::write(&folder.join("predictions.csv"), csv::write(&rows))?;
    let job = Job { app: &app, machine: &machine, threads: arguments.threads.count(), verbosity };
    let mut validated = job.run(&refined, folder)?;
    let doubts = std::mem::take(&mut validated.doubts);
    let doubts = [fitted.warnings, ranking.warnings.clone(), doubts].concat();
    warnings(&doubts);
    let provenance = arguments.provenance(&app, &machine, &doubts)?;
    table::write(&folder.join(report::PROVENANCE), json(&provenance))?;
    report::write(folder)?;
    if verbosity == Verbosity::Usual {
        let answer = answer(&ranking, &app, &machine);
        let near = near(&ranking, &validated.summary);
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

/// The micro-benchmarks and the profile, written, and the parameters of both models that follow
/// from them.
fn measure_and_fit(app: &App, machine: &Machine, arguments: &Arguments) -> Result<Fitted> {
    let (folder, seed) = (&arguments.out, arguments.app.seed);
    let bar = progress("measuring", 2, arguments.quiet.into());
    let tables = measure::micro_benchmarks(machine, bench::REPETITIONS, seed)?;
    bench::write(folder, &tables)?;
    bar.inc(1);
    let rows = measure::profile::profile(app, machine, profile::REPETITIONS, seed)?;
    table::write(&folder.join("profile.csv"), csv::write(&rows))?;
    bar.finish_and_clear();
    let settings = Settings {
        name: format!("{} on {}", app.name(), machine.name),
        decomposition: decomposition(app),
        apus: machine.layout.spes(),
        options: Options { counts: Some(counts(app, machine, &rows)), ..Options::default() },
    };
    let inputs = Inputs {
        alpha: Some(measured("alpha.csv", tables.alpha)),
        offload: Some(measured("offload.csv", tables.offload)),
        context_switch: Some(measured("context_switch.csv", tables.context_switch)),
        collective: Some(measured("collective.csv", tables.collective)),
        profile: Some(measured("profile.csv", rows)),
        runs: None,
        times: None,
        memory: Some(measured("memory.csv", tables.memory)),
        prior: None,
    };
    fit(&inputs, &settings)
}

/// What a user knows of the program and the machine from their descriptions, and how often the
/// profile says that functions were called.
fn counts(app: &App, machine: &Machine, profile: &[Profile]) -> Counts {
    let layout = machine.layout;
    let hardware_contexts = Some(layout.cells * layout.threads_per_ppe);
    let Some(description) = app.description() else {
        return Counts { hardware_contexts, ..Counts::default() };
    };
    let placement = match description.placement {
        cell::Placement::OwnCell => Placement::ByProcess,
        cell::Placement::Interleaved | cell::Placement::BySpe => Placement::ByApu,
    };
    let once = || profile.iter().filter(|row| row.repetition == 1);
    let sum = |bytes: fn(&Traffic) -> u64| -> f64 {
        let of_row = |row: &Profile| {
            let of_function = description.traffic.iter().find(|it| it.function == row.phase);
            of_function.map_or(0.0, |it| row.offloads as f64 * bytes(it) as f64)
        };
        once().map(of_row).sum()
    };
    let offloads: u64 = once().map(|row| row.offloads).sum();
    let traffic = refined::Traffic {
        bytes: sum(|it| it.bytes),
        exposed_bytes: sum(|it| it.exposed_bytes) / offloads.max(1) as f64,
    };
    Counts {
        iterations: Some(description.iterations),
        hardware_contexts,
        traffic: (!description.traffic.is_empty()).then_some(traffic),
        memories: Some((layout.cells, placement)),
    }
}

/// How the program divides its work among host processes.
fn decomposition(app: &App) -> Decomposition {
    app.tasks().map_or(Decomposition::Data, |tasks| Decomposition::Task { tasks })
}

fn measured<R>(file: &str, rows: Vec<R>) -> Measured<R> {
    Measured { file: file.into(), rows }
}

/// What a person would act on.
fn answer(ranking: &Ranking, app: &App, machine: &Machine) -> String {
    let configurations = &ranking.configurations;
    let best = &configurations[0];
    format!(
        "{} on {}: of {} feasible configurations the model chooses m = {} host processes with \
         p = {} APUs each:\n{} predicted, {:.2} times as fast as (1, 1); the best with \
         probability {:.0} % by the spread of what was measured.\n\n{}",
        app.name(),
        machine.description,
        configurations.len(),
        best.m,
        best.p,
        best.time,
        best.speedup,
        100.0 * best.probability_best,
        predict::table(configurations.iter().take(SHOWN))
    )
}

/// Which configurations are so near to the best that the model's own error may hide their order.
fn near(ranking: &Ranking, summary: &Summary) -> String {
    let error = summary.models[0].mean_error_percent;
    let best = ranking.configurations[0].time.0;
    let near: Vec<String> = ranking.configurations[1..]
        .iter()
        .filter(|other| other.time.0 < best * (1.0 + error / 100.0))
        .map(|other| format!("({}, {})", other.m, other.p))
        .collect();
    if near.is_empty() {
        return format!("No other configuration is predicted within {error:.1} % of the best.\n");
    }
    format!("Within {error:.1} % of the best by the prediction: {}.\n", near.join(", "))
}

impl Arguments {
    fn provenance(&self, app: &App, machine: &Machine, doubts: &[Warning]) -> Result<Provenance> {
        let files = [
            (self.app.input.as_deref().filter(|name| input::is_file(name)), "alignment"),
            (Some(self.machine.machine.as_str()).filter(|name| input::is_file(name)), "machine"),
        ];
        let described = |(name, role): (Option<&str>, &str)| {
            let source = name.map(|name| Source::read(Path::new(name)));
            Ok(source.transpose()?.map(|source| InputFile::new(&source, role)))
        };
        let inputs: Vec<Option<InputFile>> =
            files.into_iter().map(described).collect::<Result<_>>()?;
        Ok(Provenance {
            command: Some(command(std::env::args().skip(1))),
            version: Some(crate::VERSION.into()),
            seed: Some(self.app.seed),
            application: Some(app.name().into()),
            machine: Some(MachineName {
                name: machine.name.clone(),
                description: machine.description.clone(),
            }),
            inputs: inputs.into_iter().flatten().collect(),
            warnings: doubts.iter().map(ToString::to_string).collect(),
        })
    }
}

/// A command as somebody would type it again: without what changes no result.
fn command(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["mmgp".to_string()];
    let mut arguments = arguments.peekable();
    while let Some(word) = arguments.next() {
        let flag = word.split('=').next().unwrap_or_default();
        match flag {
            "--quiet" => {}
            "--out" | "--threads" if word == flag => drop(arguments.next()),
            "--out" | "--threads" => {}
            _ if word
                .contains(|letter: char| letter.is_whitespace() || "'\"$\\".contains(letter)) =>
            {
                words.push(format!("'{}'", word.replace('\'', "'\\''")));
            }
            _ => words.push(word),
        }
    }
    words.join(" ")
}

/// Configurations in the summary.
const SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: &str) {
        assert_eq!(command(arguments.iter().map(ToString::to_string)), expected);
    }

    #[test]
    fn a_command_is_kept_without_what_changes_no_result() {
        check(
            &["study", "--threads", "1", "--app=raxml", "--out=x", "--quiet", "--seed", "3"],
            "mmgp study --app=raxml --seed 3",
        );
        check(&["study", "--input", "my file's"], "mmgp study --input 'my file'\\''s'");
    }
}
