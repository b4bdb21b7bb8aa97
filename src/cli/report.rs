//! `mmgp report`

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;

use super::files::{Files, Guard, Reader, without_parameters};
use super::input::RunArguments;
use super::objective::{NodeSize, ObjectiveArguments};
use super::output::{data, warn};
use super::plot::{TimedRuns, two};
use super::{Answer, input, study};
use crate::decide::feasible;
use crate::error::{Error, Result, Warning};
use crate::objective::{Amount, Objective};
use crate::plot::benchmarks::panels;
use crate::plot::{self, Format, Front, FrontPoint, Kind, Window};
use crate::report::provenance::Provenance;
use crate::report::{Picture, Study, page};
use crate::table::trace::Trace;
use crate::table::{self, Source};
use crate::validate::check_same_parameters;

/// Make a page of a study: one HTML file with answer, pictures, tables and what-if
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder of a study; or parameters alone: a TOML file, or a published set (pbpi-qs20,
    /// raxml-qs20)
    #[arg(value_name = "DIR|FILE|NAME", default_value = study::FOLDER)]
    of: String,
    #[command(flatten)]
    runs: RunArguments,
    /// File to write; without it, standard output, unless that is a terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Title of the page [default: the name of the parameters]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    best: ObjectiveArguments,
    #[command(flatten)]
    node_size: NodeSize,
    /// Show what no other beats in both of two objectives, of timed runs: time,cost
    #[arg(long, value_name = "WHAT,WHAT", value_delimiter = ',', help_heading = "What is best")]
    pareto: Vec<String>,
}

const HELP: &str = "\
Examples:
  mmgp report mmgp-study --out report.html
  mmgp report params.toml --runs runs.csv --out report.html
  mmgp report pbpi-qs20 --title 'As published' > published.html

The folder must hold params.toml. What else is there is used: refined.toml, validation.csv, \
split.csv, the micro-benchmarks' CSV files, trace.json and study.json (where it all comes from).\n\
\n\
With timed runs, those that the parameters were fitted with included, the page ranks what is \
believed given the runs, within the smallest and the largest m and p that ran. Of rates, and by \
another objective than the time, the page is words, tables, pictures and what-if.";

/// The file in which a study says where it comes from.
pub const PROVENANCE: &str = "study.json";

/// What stands under the picture of a trace.
const GANTT: &str = "Some off-loads from the middle of the run in trace.json: host processes, \
                     hardware threads and APUs over time";

/// The page that a study leaves in its folder.
pub const PAGE: &str = "report.html";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    if arguments.out.is_none() && std::io::stdout().is_terminal() {
        return Err(Error::out_of_range(
            "--out",
            "none, and a terminal that shows no pages",
            format!("--out {PAGE}"),
        ));
    }
    let folder = Path::new(&arguments.of);
    let guard = arguments.runs.guarded(guard(folder, &arguments.of));
    guard.writes("--out", arguments.out.as_deref()).check()?;
    let mut reader = Reader::recording();
    let mut study = if folder.is_dir() {
        read(folder, &mut reader)?
    } else if arguments.of == study::FOLDER {
        return Err(without_parameters(folder));
    } else {
        Study::new(reader.parameters_named(&arguments.of)?)
    };
    let runs = arguments.runs.measuring(arguments.best.objective.as_deref());
    study.observations = reader.observations(&runs)?;
    let quantity =
        study.observations.as_ref().map_or(&study.parameters.quantity, |it| &it.quantity);
    study.objective = Some(arguments.best.objective(quantity, arguments.node_size.per_node)?);
    study.figures.extend(timed(&study, arguments)?);
    let mut study = with_sources(study, reader);
    if let Some(title) = &arguments.title {
        study.title = title.clone();
    }
    let html = page(&study)?;
    data(arguments.out.as_deref(), &html)?;
    Ok(Answer::Done)
}

fn guard(folder: &Path, name: &str) -> Guard {
    if folder.is_dir() {
        Files::of_study(folder).guard("DIR").reads("DIR", Some(&folder.join(PROVENANCE)))
    } else {
        Guard::default().reads("FILE", input::parameter_file(name))
    }
}

/// Writes the page of the study in a folder beside its files.
pub fn write(folder: &Path) -> Result<()> {
    let mut reader = Reader::recording();
    let study = read(folder, &mut reader)?;
    table::write(&folder.join(PAGE), page(&with_sources(study, reader))?)
}

/// The study in a folder.
fn read(folder: &Path, reader: &mut Reader) -> Result<Study> {
    let files = Files::of_study(folder);
    let parameters =
        reader.parameters(&files)?.expect("invariant: a folder has some or is refused");
    let tables = reader.micro_benchmarks(&files)?;
    let mut study = Study {
        benchmarks: panels(&tables, &parameters),
        validation: reader.validation(&files)?,
        splits: reader.splits(&files)?,
        figures: reader.trace(&files)?.iter().map(gantt).collect::<Result<_>>()?,
        provenance: provenance(folder)?,
        ..Study::new(parameters)
    };
    check_same_parameters(&study.validation, &study.parameters)?;
    reader.warnings.extend(missing_rows(&study));
    if let Some(seed) = study.provenance.seed {
        study.sampling.seed = seed;
    }
    Ok(study)
}

/// What is to be said of a validation of some configurations alone.
fn missing_rows(study: &Study) -> Option<Warning> {
    let feasible = feasible(study.parameters.apus).count();
    let rows = study.validation.len();
    (1..feasible).contains(&rows).then(|| {
        Warning::Note(format!(
            "validation.csv has {rows} of {feasible} feasible configurations: errors and the fastest that \
             ran are of these alone"
        ))
    })
}

/// Adds the files that were read, and tells what was doubted of them.
fn with_sources(mut study: Study, reader: Reader) -> Study {
    warn(&reader.warnings);
    study.provenance.warnings.extend(reader.warnings.iter().map(ToString::to_string));
    study.provenance.inputs.extend(reader.inputs());
    study
}

/// The picture of a trace.
fn gantt(trace: &Trace) -> Result<Picture> {
    let kind = Kind::Gantt { trace, window: Window::default() };
    let title = "What happens when";
    let svg = plot::draw(&plot::Picture { title, kind }, Format::Svg)?;
    let svg = String::from_utf8(svg).expect("invariant: an SVG is text");
    Ok(Picture { title: GANTT.into(), svg })
}

/// Pictures of runs for a page that draws none itself.
fn timed(study: &Study, arguments: &Arguments) -> Result<Vec<Picture>> {
    let objective = study.objective.clone().unwrap_or_default();
    let is_usual = objective.is_time() && objective.tolerance().is_none();
    if is_usual && arguments.pareto.is_empty() {
        return Ok(Vec::new());
    }
    let (parameters, runs) = (study.parameters.clone(), study.observations.clone());
    let best = (&arguments.best, &arguments.node_size);
    let Some(timed) = TimedRuns::new(parameters, runs, best)? else { return Ok(Vec::new()) };
    let times = timed.times()?;
    let picture = |caption: &str, kind: Kind<'_>| -> Result<Picture> {
        let svg = plot::draw(&plot::Picture { title: objective.name(), kind }, Format::Svg)?;
        let svg = String::from_utf8(svg).expect("invariant: an SVG is text");
        Ok(Picture { title: caption.into(), svg })
    };
    let mut pictures = Vec::new();
    if !arguments.pareto.is_empty() {
        let two = two(&arguments.pareto, objective.quantity(), arguments.node_size.per_node)?;
        let front = timed.front(&two)?;
        pictures.push(picture(&front_in_words(&front, &two), Kind::Front(&front))?);
    }
    if !is_usual {
        let caption = "What is predicted and was measured of every configuration";
        pictures.push(picture(caption, Kind::OverAll(&times))?);
        pictures.push(picture("What is predicted, as a colour", Kind::HeatMap(&times))?);
    }
    Ok(pictures)
}

/// The configurations of a front, with what is predicted of them.
fn front_in_words(front: &Front, objectives: &[Objective; 2]) -> String {
    let of = |it: &FrontPoint| {
        let [one, other] = [0, 1].map(|place| objectives[place].shown(Amount(it.amounts[place])));
        format!("{} with {one}, {other}", it.mapping)
    };
    let on = front.points.iter().filter(|point| point.is_on_front);
    format!(
        "What no other beats in {} and {} alike: {}",
        objectives[0].name(),
        objectives[1].name(),
        on.map(of).collect::<Vec<_>>().join("; ")
    )
}

/// What the study says of itself.
fn provenance(folder: &Path) -> Result<Provenance> {
    let path = folder.join(PROVENANCE);
    if !path.exists() {
        return Ok(Provenance::default());
    }
    Provenance::read(&Source::read(&path)?)
}
