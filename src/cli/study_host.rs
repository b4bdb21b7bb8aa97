//! `mmgp study --machine host`: the paper's way on this computer, with the user's own program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use super::bench::{self, BenchArguments};
use super::output::{Verbosity, data, json, line, spinner, warn};
use super::tune::{self, DeclareArguments, sample_command};
use super::{Answer, fit};
use crate::Mapping;
use crate::belief::Posterior;
use crate::error::{Result, Warning};
use crate::fit::{FileRows, Inputs, Settings, fit as estimate};
use crate::models::Parameters;
use crate::models::parameters::Decomposition;
use crate::native::host;
use crate::probe::{self, Library};
use crate::table::records::{Run, TermRow, Validation};
use crate::table::{self, csv};
use crate::units::Seconds;
use crate::validate::Comparison;

/// Measure this computer, trace your program twice, predict all other runs, make them, and compare
#[derive(Args)]
#[command(after_help = HELP, override_usage = "mmgp study --machine host [OPTIONS] -- <COMMAND>...")]
pub struct Arguments {
    #[command(flatten)]
    declare: DeclareArguments,
    /// Folder for the files
    #[arg(long, value_name = "DIR", default_value = super::study::FOLDER)]
    out: PathBuf,
    /// Trace the program: the way to its terms, and the only one; the word says so
    #[arg(long)]
    probe: bool,
    /// The compiler of the MPI that the program runs with, where it is not beside its launcher
    #[arg(long, value_name = "MPICC")]
    mpicc: Option<String>,
    /// How often each configuration runs; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Study a program that is in mmgp itself, processes of several threads
    #[arg(long, conflicts_with = "command")]
    sample: bool,
    /// Print nothing but the answer, warnings and errors
    #[arg(long)]
    quiet: bool,
    /// The program and its arguments, with the placeholders {m} and {p}; OMP_NUM_THREADS is p
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "sample")]
    command: Vec<String>,
}

const HELP: &str = "\
Examples:
  mmgp study --machine host --sample
  mmgp study --machine host --probe --m 1,2,4 --p 1,2,4 --out study \\
      -- mpirun -n {m} ./app

Leaves in the folder: alpha.csv, offload.csv, context_switch.csv, collective.csv and memory.csv (what this computer \
costs), terms.csv (the configurations traced first, of one rank of one thread and one inside), params.toml (fitted), \
predictions.csv (made before anything else ran), all_terms.csv (all runs, traced), runs.csv, validation.csv and \
summary.json. `mmgp report study/params.toml --runs study/runs.csv` makes a page of it.

Times are those between MPI_Init and MPI_Finalize, or from start to exit, on the slowest rank.";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let (study, warnings) = Study::of(arguments)?;
    warn(&warnings);
    let first = tune::traced_first(&study.space, host::cores() as u64)?;
    bench::bench(&BenchArguments::of_host(
        &arguments.out,
        arguments.mpicc.clone(),
        arguments.quiet,
    ))?;
    let mut rows = Vec::new();
    let mut runs = BTreeMap::new();
    for &mapping in &first {
        runs.insert(mapping, study.repeated(mapping, &mut rows)?);
    }
    study.write("terms.csv", &csv::write(&rows))?;
    let (parameters, warnings) = study.fitted(&rows)?;
    study.write("params.toml", &parameters.to_toml())?;
    warn(&warnings);
    let posterior = Posterior::of(&parameters)?;
    let marginals = posterior.marginals(&study.space);
    let predicted: BTreeMap<Mapping, Seconds> =
        study.space.iter().enumerate().map(|(index, &it)| (it, marginals.time(index))).collect();
    let lines = study
        .space
        .iter()
        .map(|it| vec![it.m().to_string(), it.p().to_string(), predicted[it].0.to_string()]);
    study.write("predictions.csv", &csv::write_fields(&["m", "p", "time_s"], lines))?;
    for &mapping in study.space.iter().filter(|it| !first.contains(it)) {
        runs.insert(mapping, study.repeated(mapping, &mut rows)?);
    }
    study.write("all_terms.csv", &csv::write(&rows))?;
    study.compare(&predicted, &runs, &first)
}

/// A program, and where it is studied.
struct Study<'a> {
    arguments: &'a Arguments,
    space: Vec<Mapping>,
    command: Vec<String>,
    library: Library,
}

impl<'a> Study<'a> {
    fn of(arguments: &'a Arguments) -> Result<(Self, Vec<Warning>)> {
        let mut warnings = Vec::new();
        let declare = arguments.declare.clone();
        let declare = if arguments.sample { declare.of_sample() } else { declare };
        let declared = declare.declared(&mut warnings)?;
        let command = if arguments.sample { sample_command()? } else { arguments.command.clone() };
        let library = Library::for_command(&command, arguments.mpicc.as_deref())?;
        table::create_folder(&arguments.out)?;
        Ok((Self { arguments, space: declared.space, command, library }, warnings))
    }

    /// Runs a configuration some times, traced; the median of its times on the slowest rank.
    fn repeated(&self, mapping: Mapping, rows: &mut Vec<TermRow>) -> Result<Seconds> {
        let (m, p) = (mapping.m().to_string(), mapping.p().to_string());
        let fill = |word: &String| word.replace("{m}", &m).replace("{p}", &p);
        let argv: Vec<String> = self.command.iter().map(fill).collect();
        let quiet = Verbosity::from(self.arguments.quiet);
        let _spinner = (quiet == Verbosity::Usual).then(|| spinner(format!("{mapping}")));
        let mut times = Vec::new();
        for repetition in 1..=self.arguments.repetitions {
            let folder = self.arguments.out.join("ranks");
            let traced =
                probe::run_quietly(&self.library, &argv, &folder, &[("OMP_NUM_THREADS", &p)])?;
            traced.check(mapping, &argv[0])?;
            warn(&if repetition == 1 { traced.warnings() } else { Vec::new() });
            rows.extend(probe::terms(&traced, &format!("{m}x{p}.{repetition}")));
            times.push(traced.processes.iter().map(|it| it.time).fold(0.0, f64::max));
        }
        times.sort_by(f64::total_cmp);
        Ok(Seconds(times[(times.len() - 1) / 2]))
    }

    fn fitted(&self, rows: &[TermRow]) -> Result<(Parameters, Vec<Warning>)> {
        let most = self.space.iter().map(|it| it.apus()).max().unwrap_or(1);
        let settings = Settings::new(
            "this computer",
            Decomposition::Data,
            most.try_into().unwrap_or(u32::MAX),
        );
        let terms = FileRows { file: "terms.csv".into(), rows: rows.to_vec() };
        let fitted = estimate(&Inputs { terms: Some(terms), ..Inputs::default() }, &settings)?;
        if let Some(traced) = fitted.traced.as_ref().filter(|_| !self.arguments.quiet) {
            line(&fit::traced(traced));
        }
        Ok((fitted.parameters, fitted.warnings))
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        table::write(&self.arguments.out.join(file), text)
    }

    /// What was predicted beside what ran.
    fn compare(
        &self,
        predicted: &BTreeMap<Mapping, Seconds>,
        runs: &BTreeMap<Mapping, Seconds>,
        traced: &[Mapping],
    ) -> Result<Answer> {
        let row = |(&mapping, &Seconds(measured_s)): (&Mapping, &Seconds)| {
            let predicted_s = predicted[&mapping].0;
            let error_percent = 100.0 * (predicted_s - measured_s) / measured_s;
            let (m, p) = (mapping.m(), mapping.p());
            Validation {
                m,
                p,
                measured_s,
                predicted_s,
                error_percent,
                refined_s: Default::default(),
            }
        };
        let all: Vec<Validation> = runs.iter().map(row).collect();
        self.write("validation.csv", &csv::write(&all))?;
        let run = |(mapping, time): (&Mapping, &Seconds)| Run {
            m: mapping.m(),
            p: mapping.p(),
            repetition: 1,
            time_s: time.0,
        };
        self.write("runs.csv", &csv::write(&runs.iter().map(run).collect::<Vec<_>>()))?;
        let is_unseen = |it: &Validation| !traced.contains(&Mapping::of(it.m, it.p));
        let unseen: Vec<f64> =
            all.iter().filter(|it| is_unseen(it)).map(|it| it.error_percent.abs()).collect();
        let mut summary = Comparison::new(all.clone()).summary;
        for model in &mut summary.models {
            model.model = "traced";
        }
        self.write("summary.json", &json(&summary))?;
        let [model, ..] = &summary.models[..] else { return Ok(Answer::Done) };
        let mut text = String::new();
        if !unseen.is_empty() {
            text += &format!(
                "{} configurations that were not traced: predicted with a mean error of {:.1} %, {:.1} % at most.\n",
                unseen.len(),
                unseen.iter().sum::<f64>() / unseen.len() as f64,
                unseen.iter().copied().fold(0.0, f64::max)
            );
        }
        let cores = host::cores() as u64;
        let beyond = self.space.iter().filter(|it| it.apus() > cores).count();
        if beyond > 0 {
            text += &format!(
                "{beyond} of all ask for more than the {cores} processors, which they share.\n"
            );
        }
        text += &format!(
            "Predicted to be the fastest: {}; it takes {:.1} % longer than the fastest, {}.\nEverything is in {}.\n",
            model.predicted_best,
            model.regret_percent,
            model.measured_best,
            self.arguments.out.display()
        );
        data(None, &text)?;
        Ok(Answer::Done)
    }
}
