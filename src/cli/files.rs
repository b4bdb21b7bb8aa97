//! The files that pictures and pages are made of: each given by a flag, or found in a study's folder;
//! and that no command writes over what it reads.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::input::{self, RunArguments};
use crate::error::{Error, Result, Warning};
use crate::lab::transaction;
use crate::models::Parameters;
use crate::models::observations::Observations;
use crate::report::provenance::InputFile;
use crate::table::csv::{self, Record};
use crate::table::records::{Prediction, Split, Validation};
use crate::table::trace::Trace;
use crate::table::{self, MicroBenchmarks, STANDARD_INPUT, Source};

/// Sees to it that a command writes over nothing that it reads or has written.
#[derive(Default)]
pub struct Guard {
    /// Each file with its place, and what is done with it for which flag.
    files: Vec<(PathBuf, String)>,
    /// Whether one of them is standard input.
    has_standard_input: bool,
    /// The first output that is one of the files before it, or the second reading of standard input.
    overwriting: Option<Error>,
}

impl Guard {
    /// A file that is read for a flag; all of them before the first that is written.
    pub fn reads(mut self, flag: &str, path: Option<&Path>) -> Self {
        let file = path.filter(|path| *path != Path::new(STANDARD_INPUT));
        if path.is_some() && file.is_none() {
            return self.reads_standard_input();
        }
        let place = file.and_then(table::place);
        self.files.extend(place.map(|place| (place, format!("is read for {flag}"))));
        self
    }

    fn reads_standard_input(mut self) -> Self {
        if self.has_standard_input && self.overwriting.is_none() {
            let source = io::Error::other("standard input can be read for one file alone");
            self.overwriting = Some(Error::Read { file: STANDARD_INPUT.into(), source });
        }
        self.has_standard_input = true;
        self
    }

    /// A file that is written for a flag.
    pub fn writes(mut self, flag: &'static str, path: Option<&Path>) -> Self {
        let Some((path, place)) = path.and_then(|path| Some((path, table::place(path)?))) else {
            return self;
        };
        let same = self.files.iter().find(|(other, _)| *other == place);
        if let (Some((_, done)), None) = (same, &self.overwriting) {
            self.overwriting = Some(Error::out_of_range(
                flag,
                format!("{}, which {done}", path.display()),
                "another file",
            ));
        }
        self.files.push((place, format!("is written for {flag}")));
        self
    }

    /// Files that are written into a folder.
    pub fn writes_into(self, flag: &'static str, folder: &Path, names: &[&str]) -> Self {
        names.iter().fold(self, |guard, name| guard.writes(flag, Some(&folder.join(name))))
    }

    /// Refuses to begin where something would be overwritten.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with both flags and the path.
    pub fn check(self) -> Result<()> {
        self.overwriting.map_or(Ok(()), Err)
    }
}

/// The places of the files.
#[derive(Args, Clone, Default)]
pub struct Files {
    /// Folder of a study: every file below that is not given is looked for there
    #[arg(long, value_name = "DIR")]
    pub study: Option<PathBuf>,
    /// validation.csv, as study and validate write it
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    pub validation: Option<PathBuf>,
    /// predictions.csv, for a heat map and for intervals
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    pub predictions: Option<PathBuf>,
    /// Parameters, for the terms and for what was fitted: a TOML file or a published set
    #[arg(long, value_name = "NAME|FILE")]
    pub params: Option<String>,
    /// split.csv, where the time of each run went
    #[arg(long, value_name = "FILE")]
    pub split: Option<PathBuf>,
    /// Trace of a run, as emulate --trace writes it
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// alpha.csv
    #[arg(long, value_name = "FILE")]
    pub alpha: Option<PathBuf>,
    /// offload.csv
    #[arg(long, value_name = "FILE")]
    pub offload: Option<PathBuf>,
    /// context_switch.csv
    #[arg(long, value_name = "FILE")]
    pub context_switch: Option<PathBuf>,
    /// collective.csv
    #[arg(long, value_name = "FILE")]
    pub collective: Option<PathBuf>,
    /// memory.csv
    #[arg(long, value_name = "FILE")]
    pub memory: Option<PathBuf>,
    #[command(flatten)]
    pub runs: RunArguments,
}

/// The file in a study's folder that there is no page without.
const PARAMETERS: &str = "params.toml";

/// The same with the terms of the refined model.
const REFINED: &str = "refined.toml";

impl Files {
    /// The files in the folder of a study.
    pub fn of_study(folder: &Path) -> Self {
        Self { study: Some(folder.into()), ..Self::default() }.with_study()
    }

    /// The files of a study that are no parameters, each with its flag and its name there.
    fn all(&mut self) -> [(&'static str, &'static str, &mut Option<PathBuf>); 9] {
        [
            ("--validation", "validation.csv", &mut self.validation),
            ("--predictions", "predictions.csv", &mut self.predictions),
            ("--split", "split.csv", &mut self.split),
            ("--trace", "trace.json", &mut self.trace),
            ("--alpha", "alpha.csv", &mut self.alpha),
            ("--offload", "offload.csv", &mut self.offload),
            ("--context-switch", "context_switch.csv", &mut self.context_switch),
            ("--collective", "collective.csv", &mut self.collective),
            ("--memory", "memory.csv", &mut self.memory),
        ]
    }

    /// Adds what the study's folder has of the files that were not given. Where timed runs are,
    /// what the study itself ran and predicted is left aside.
    pub fn with_study(mut self) -> Self {
        let Some(folder) = self.study.clone() else { return self };
        let has_runs = self.runs.runs.is_some();
        for (flag, name, path) in self.all() {
            let is_left = has_runs && ["--validation", "--predictions"].contains(&flag);
            if path.is_none() && !is_left {
                *path = Some(folder.join(name)).filter(|path| path.is_file());
            }
        }
        self
    }

    /// The files that are read, each with the flag that names it; `study` names the folder.
    pub fn guard(&self, study: &str) -> Guard {
        let params = self.params.as_deref().and_then(input::parameter_file);
        let mut guard = self.runs.guarded(Guard::default()).reads("--params", params);
        let folder = self.study.as_deref();
        for name in [PARAMETERS, REFINED] {
            guard = guard.reads(study, folder.map(|folder| folder.join(name)).as_deref());
        }
        for (flag, _, path) in self.clone().all() {
            let is_of_study =
                path.as_ref().zip(folder).is_some_and(|(it, own)| it.starts_with(own));
            guard = guard.reads(if is_of_study { study } else { flag }, path.as_deref());
        }
        guard
    }

    /// Whether there are parameters, given or the study's.
    pub fn has_parameters(&self) -> bool {
        let is_there = |folder: &PathBuf| folder.join(PARAMETERS).is_file();
        self.params.is_some() || self.study.as_ref().is_some_and(is_there)
    }

    /// Whether there is any micro-benchmark.
    pub fn has_micro_benchmarks(&self) -> bool {
        [&self.alpha, &self.offload, &self.context_switch, &self.collective, &self.memory]
            .iter()
            .any(|file| file.is_some())
    }
}

/// Reads files, and remembers what was doubted. What is not there is empty.
#[derive(Default)]
pub struct Reader {
    /// Which files they were by their hashes, where somebody wants to know.
    inputs: Option<Vec<InputFile>>,
    pub warnings: Vec<Warning>,
}

impl Reader {
    /// A reader that remembers which files they were, too.
    pub fn recording() -> Self {
        Self { inputs: Some(Vec::new()), ..Self::default() }
    }

    /// The files that were read, of one that remembers them.
    pub fn inputs(self) -> Vec<InputFile> {
        self.inputs.unwrap_or_default()
    }

    /// The text of a file, and what it is to a study.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where it does not belong to what is beside it in its folder.
    fn source(&mut self, path: &Path, role: &str) -> Result<Source> {
        let source = Source::read(path)?;
        if let Some(objection) = transaction::objection(&source)? {
            return Err(Error::out_of_range(
                "a folder of results",
                format!("{}: {objection}", source.name),
                format!(
                    "the files of one command together, or a folder without {}",
                    transaction::MANIFEST
                ),
            ));
        }
        self.remember(&source, role);
        Ok(source)
    }

    fn remember(&mut self, source: &Source, role: &str) {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(InputFile::new(source, role));
        }
    }

    fn rows<R: Record>(&mut self, path: &Option<PathBuf>, role: &str) -> Result<Vec<R>> {
        let Some(path) = path else { return Ok(Vec::new()) };
        let (rows, warnings) = csv::read(&self.source(path, role)?)?;
        self.warnings.extend(warnings);
        Ok(rows)
    }

    pub fn validation(&mut self, files: &Files) -> Result<Vec<Validation>> {
        self.rows(&files.validation, "measured beside predicted")
    }

    pub fn predictions(&mut self, files: &Files) -> Result<Vec<Prediction>> {
        self.rows(&files.predictions, "predictions")
    }

    pub fn splits(&mut self, files: &Files) -> Result<Vec<Split>> {
        self.rows(&files.split, "where measured time went")
    }

    /// Timed runs as predictions are conditioned on them.
    pub fn observations(&mut self, arguments: &RunArguments) -> Result<Option<Observations>> {
        let Some(path) = &arguments.runs else { return Ok(None) };
        let source = self.source(path, "timed runs")?;
        let (observations, warnings) = input::observations_in(&source, arguments)?;
        self.warnings.extend(warnings);
        Ok(Some(observations))
    }

    pub fn micro_benchmarks(&mut self, files: &Files) -> Result<MicroBenchmarks> {
        let role = "micro-benchmark";
        Ok(MicroBenchmarks {
            alpha: self.rows(&files.alpha, role)?,
            offload: self.rows(&files.offload, role)?,
            context_switch: self.rows(&files.context_switch, role)?,
            collective: self.rows(&files.collective, role)?,
            memory: self.rows(&files.memory, role)?,
        })
    }

    pub fn trace(&mut self, files: &Files) -> Result<Option<Trace>> {
        let Some(path) = &files.trace else { return Ok(None) };
        Trace::read(&self.source(path, "what happened when in a run")?).map(Some)
    }

    /// The parameters that were given, or else those of the study's folder.
    pub fn parameters(&mut self, files: &Files) -> Result<Option<Parameters>> {
        match (&files.params, &files.study) {
            (Some(name), _) => self.parameters_named(name).map(Some),
            (None, Some(folder)) => self.parameters_of_study(folder).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// A parameter set by name or file.
    pub fn parameters_named(&mut self, name: &str) -> Result<Parameters> {
        let Some(path) = input::parameter_file(name) else { return input::parameters(name) };
        let source = Source::read(path)?;
        self.warnings.extend(transaction::doubt(&source)?);
        self.remember(&source, "parameters");
        Parameters::read(&source)
    }

    /// The parameters of equation 11, with the refined terms where the folder has them for the same.
    fn parameters_of_study(&mut self, folder: &Path) -> Result<Parameters> {
        let path = folder.join(PARAMETERS);
        if !path.exists() {
            return Err(without_parameters(folder));
        }
        let parameters = Parameters::read(&self.source(&path, "parameters")?)?;
        let path = folder.join(REFINED);
        if !path.exists() {
            return Ok(parameters);
        }
        let refined = Parameters::read(&self.source(&path, "parameters of the refined model")?)?;
        let mut without = refined.clone();
        without.refinements.clone_from(&parameters.refinements);
        if without == parameters {
            return Ok(refined);
        }
        self.warnings.push(Warning::Note(
            "refined.toml has other terms than params.toml: what is shown is of params.toml alone"
                .into(),
        ));
        Ok(parameters)
    }
}

/// The error for a folder without parameters.
pub fn without_parameters(folder: &Path) -> Error {
    if let Some(of) = transaction::unfinished_in(folder) {
        return Error::too_little(
            folder.display().to_string(),
            format!("results of `{}` that are not finished", of.typed()),
            format!("`{}` goes on with it", of.typed_into(folder)),
        );
    }
    let folder = folder.display();
    Error::too_little(
        folder.to_string(),
        format!("no {PARAMETERS}"),
        format!(
            "`mmgp study --out {folder}` makes everything, `mmgp fit --out \
             {folder}/{PARAMETERS}` that"
        ),
    )
}
