//! `mmgp report`

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;

use super::output::{data, warnings};
use super::{Answer, input, study};
use crate::error::{Error, Result, Warning};
use crate::model::Parameters;
use crate::plot::benchmarks::{Panel, Tables, panels};
use crate::report::provenance::{InputFile, Provenance};
use crate::report::{Study, page};
use crate::table::csv::{self, Record};
use crate::table::{self, Source};

/// Make a page of a study: one HTML file with answer, pictures, tables and what-if
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    mmgp report mmgp-study --out report.html\n  \
    mmgp fit --runs runs.csv --out mine/params.toml && mmgp report mine --out mine.html\n\n\
    The folder must hold params.toml. What else is there is used: refined.toml, validation.csv,\n\
    split.csv, the micro-benchmarks' CSV files, and study.json (where it all comes from).")]
pub struct Arguments {
    /// Folder of a study; or parameters alone: a TOML or JSON file, or a published set (pbpi-qs20,
    /// raxml-qs20)
    #[arg(value_name = "DIR|FILE|NAME", default_value = study::FOLDER)]
    of: String,
    /// File to write; without it, standard output, unless that is a terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Title of the page [default: the name of the parameters]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// The file in which a study says where it comes from.
pub const PROVENANCE: &str = "study.json";

/// The page that a study leaves in its folder.
pub const PAGE: &str = "report.html";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    if arguments.out.is_none() && std::io::stdout().is_terminal() {
        return Err(Error::OutOfRange {
            name: "--out",
            found: "none, and a terminal that shows no pages".into(),
            expected: format!("--out {PAGE}"),
        });
    }
    let folder = Path::new(&arguments.of);
    let mut study = if folder.is_dir() {
        read(folder)?
    } else if arguments.of == study::FOLDER {
        return Err(Files::missing(folder));
    } else {
        Study::new(input::parameters(&arguments.of)?)
    };
    if let Some(title) = &arguments.title {
        study.title = title.clone();
    }
    let html = page(&study)?;
    data(arguments.out.as_deref(), &html)?;
    Ok(Answer::Done)
}

/// Writes the page of the study in a folder beside its files.
pub fn write(folder: &Path) -> Result<()> {
    table::write(&folder.join(PAGE), page(&read(folder)?)?)
}

/// The study in a folder.
fn read(folder: &Path) -> Result<Study> {
    let mut files = Files { folder, inputs: Vec::new(), doubts: Vec::new() };
    let mut provenance = files.provenance()?;
    let mut study = Study {
        validation: files.rows("validation.csv", "measured beside predicted")?,
        splits: files.rows("split.csv", "where measured time went")?,
        ..Study::new(files.parameters()?)
    };
    study.benchmarks = files.benchmarks(&study.parameters)?;
    warnings(&files.doubts);
    if let Some(seed) = provenance.seed {
        study.sampling.seed = seed;
    }
    provenance.inputs.append(&mut files.inputs);
    provenance.warnings.extend(files.doubts.iter().map(ToString::to_string));
    study.provenance = provenance;
    Ok(study)
}

/// What such a file is to a study.
const BENCHMARK: &str = "micro-benchmark";

/// The files of a folder, as they are read.
struct Files<'a> {
    folder: &'a Path,
    inputs: Vec<InputFile>,
    doubts: Vec<Warning>,
}

impl Files<'_> {
    /// A file where there is one.
    fn read(&mut self, name: &str, role: &str) -> Result<Option<Source>> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let source = Source::read(&path)?;
        self.inputs.push(InputFile::new(&source, role));
        Ok(Some(source))
    }

    /// The rows of a file; none where it is not there.
    fn rows<R: Record>(&mut self, name: &str, role: &str) -> Result<Vec<R>> {
        let Some(source) = self.read(name, role)? else { return Ok(Vec::new()) };
        let (rows, doubts) = csv::read(&source)?;
        self.doubts.extend(doubts);
        Ok(rows)
    }

    /// The micro-benchmarks that are there, beside what the parameters say of them.
    fn benchmarks(&mut self, parameters: &Parameters) -> Result<Vec<Panel>> {
        let alpha = self.rows("alpha.csv", BENCHMARK)?;
        let offload = self.rows("offload.csv", BENCHMARK)?;
        let context_switch = self.rows("context_switch.csv", BENCHMARK)?;
        let collective = self.rows("collective.csv", BENCHMARK)?;
        let memory = self.rows("memory.csv", BENCHMARK)?;
        let tables = Tables {
            alpha: &alpha,
            offload: &offload,
            context_switch: &context_switch,
            collective: &collective,
            memory: &memory,
        };
        Ok(panels(&tables, parameters))
    }

    fn provenance(&mut self) -> Result<Provenance> {
        let path = self.folder.join(PROVENANCE);
        if !path.exists() {
            return Ok(Provenance::default());
        }
        Provenance::read(&Source::read(&path)?)
    }

    /// Those of equation 11, with the refined terms where the folder has them for the same.
    fn parameters(&mut self) -> Result<Parameters> {
        let Some(source) = self.read("params.toml", "parameters")? else {
            return Err(Self::missing(self.folder));
        };
        let parameters = Parameters::read(&source)?;
        let Some(source) = self.read("refined.toml", "parameters of the refined model")? else {
            return Ok(parameters);
        };
        let refined = Parameters::read(&source)?;
        let without = Parameters { refinements: parameters.refinements.clone(), ..refined.clone() };
        if without == parameters {
            return Ok(refined);
        }
        self.doubts.push(Warning::Note(
            "refined.toml has other terms than params.toml: the page is of params.toml alone"
                .into(),
        ));
        Ok(parameters)
    }

    /// The error for a folder without parameters.
    fn missing(folder: &Path) -> Error {
        let folder = folder.display();
        Error::TooLittleData {
            file: folder.to_string(),
            found: "no params.toml".into(),
            advice: format!(
                "`mmgp study --out {folder}` makes everything, `mmgp fit --out \
                 {folder}/params.toml` that"
            ),
        }
    }
}
