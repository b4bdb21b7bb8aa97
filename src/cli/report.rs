//! `mmgp report`

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;

use super::output::{data, warnings};
use super::{Answer, input, study};
use crate::error::{Error, Result, Warning};
use crate::model::Parameters;
use crate::plot::benchmarks::{Panel, Tables, panels};
use crate::plot::{self, Format, Kind, Window};
use crate::report::provenance::{InputFile, Provenance};
use crate::report::{Figure, Study, page};
use crate::table::csv::{self, Record};
use crate::table::trace::Trace;
use crate::table::{self, Source};

/// Make a page of a study: one HTML file with answer, pictures, tables and what-if
#[derive(Args)]
#[command(after_help = HELP)]
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

const HELP: &str = "\
Examples:
  mmgp report mmgp-study --out report.html
  mmgp report pbpi-qs20 --title 'As published' > published.html

The folder must hold params.toml. What else is there is used: refined.toml, validation.csv, \
split.csv, the micro-benchmarks' CSV files, trace.json and study.json (where it all comes from).";

/// The file in which a study says where it comes from.
pub const PROVENANCE: &str = "study.json";

/// What stands under the picture of a trace.
const GANTT: &str = "Some off-loads from the middle of the run in trace.json: host processes, \
                     hardware threads and APUs over time";

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
        read_parameters(&arguments.of)?
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
    study.figures = files.gantt()?.into_iter().collect();
    warnings(&files.doubts);
    if let Some(seed) = provenance.seed {
        study.sampling.seed = seed;
    }
    provenance.inputs.append(&mut files.inputs);
    provenance.warnings.extend(files.doubts.iter().map(ToString::to_string));
    study.provenance = provenance;
    Ok(study)
}

/// Parameters alone: a file, or a published set.
fn read_parameters(name: &str) -> Result<Study> {
    let mut study = Study::new(input::parameters(name)?);
    if input::is_file(name) {
        let source = Source::read(Path::new(name))?;
        study.provenance.inputs.push(InputFile::new(&source, PARAMETERS));
    }
    Ok(study)
}

/// What files are to a study.
const PARAMETERS: &str = "parameters";
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

    /// The picture of the trace, where there is one.
    fn gantt(&mut self) -> Result<Option<Figure>> {
        let Some(source) = self.read("trace.json", "what happened when in a run")? else {
            return Ok(None);
        };
        let kind = Kind::Gantt { trace: &Trace::read(&source)?, window: Window::default() };
        let title = "What happens when";
        let svg = plot::draw(&plot::Figure { title, kind }, Format::Svg)?;
        let svg = String::from_utf8(svg).expect("invariant: an SVG is text");
        Ok(Some(Figure { title: GANTT.into(), svg }))
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
        let Some(source) = self.read("params.toml", PARAMETERS)? else {
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
