//! `mmgp plot`

mod curves;
mod timed;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Answer;
use super::files::{Files, Guard, Reader};
use super::objective::{NodeSize, ObjectiveArguments};
use super::output::warn;
use super::words::Words;
use crate::error::{Error, Result, Warning};
use crate::models::Parameters;
use crate::plot::Names;
use crate::plot::benchmarks;
use crate::plot::{Format, Kind, Picture, Times, Window, draw};
use crate::table::records::{Prediction, Split, Validation};
use crate::table::trace::Trace;
use crate::table::{self, MicroBenchmarks};
use crate::validate::check_same_parameters;
use curves::CurveArguments;
pub use timed::{TimedRuns, two};

/// Draw what was found: modelled against measured times, and more
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Picture to write: .svg or .png
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which picture
    #[arg(long, value_enum, default_value = "combined")]
    kind: PictureArgument,
    /// Title above the picture
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// What m and p are called on axes and in captions: ranks,threads
    #[arg(long, value_name = "M,P")]
    names: Option<Words>,
    #[command(flatten)]
    files: Files,
    /// Begin of the part of a run that is shown [s]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<f64>,
    /// End of the part of a run that is shown [s]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    to: Option<f64>,
    #[command(flatten)]
    best: ObjectiveArguments,
    #[command(flatten)]
    node_size: NodeSize,
    /// The two objectives of --kind pareto [default: time,cost, of rates rate,cost]
    #[arg(long, value_name = "WHAT,WHAT", value_delimiter = ',')]
    #[arg(help_heading = "What is best")]
    pareto: Vec<String>,
    #[command(flatten, next_help_heading = "Curves")]
    curves: CurveArguments,
}

const HELP: &str = "\
Examples:
  mmgp plot --study mmgp-study --kind parity --out parity.svg
  mmgp plot --validation validation.csv --out validation.svg
  mmgp plot --params params.toml --runs runs.csv --kind heat-map --out map.png
  mmgp plot --params params.toml --names ranks,threads --out times.svg
  mmgp plot --params params.toml --kind pareto --out front.svg
  mmgp plot --kind gantt --trace run.json --from 0.007 --to 0.0075 --out run.png
  mmgp plot --kind curves --table runs.csv --x p --y time_s --by m --out m.svg";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PictureArgument {
    /// The three below on one page
    Combined,
    /// Time against m, at p = 1
    M,
    /// Time against p, at m = 1
    P,
    /// All (m, p), grouped by m
    All,
    /// Predicted against measured times
    Parity,
    /// Errors against m, p and m*p
    Residuals,
    /// Predicted time of every (m, p) as a colour
    HeatMap,
    /// Measured time of every (m, p) as a colour
    HeatMapMeasured,
    /// Where the time goes: terms beside the measured split
    Breakdown,
    /// A run as it went, from its trace
    Gantt,
    /// Micro-benchmarks with what was fitted to them
    Benchmarks,
    /// What no other beats in both of two objectives, of timed runs
    Pareto,
    /// Columns of any table against counts
    Curves,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let format = Format::from_path(&arguments.out)?;
    let names = arguments.names.as_ref().map(Words::names).unwrap_or_default();
    if arguments.names.is_some() && !arguments.kind.is_of_times() {
        return Err(Error::out_of_range(
            "--names",
            "a picture without m and p on its axes",
            "--kind combined, m, p, all, parity, residuals, heat-map or heat-map-measured",
        ));
    }
    if arguments.kind == PictureArgument::Curves {
        return draw_curves(arguments, format);
    }
    let files = arguments.files.clone().with_study();
    files.guard("--study").writes("--out", Some(&arguments.out)).check()?;
    let best = (&arguments.best, &arguments.node_size);
    let (mut material, warnings) = Material::read(&files, &[arguments.kind], best)?;
    material.names = names;
    warn(&warnings);
    if material.timed.is_none() {
        arguments.best.refuse_with("a picture without runs")?;
    }
    let window = Window { from_s: arguments.from, to_s: arguments.to };
    let title = arguments.title.clone().unwrap_or_else(|| material.title(arguments.kind));
    let title = title.as_str();
    let picture = match arguments.kind {
        PictureArgument::Pareto => timed::draw_front(arguments, &material, (title, format))?,
        kind => material.draw(kind, window, (title, format))?,
    };
    table::write(&arguments.out, picture)?;
    Ok(Answer::Done)
}

/// The curves of a table.
fn draw_curves(arguments: &Arguments, format: Format) -> Result<Answer> {
    let guard = Guard::default().reads("--table", arguments.curves.table.as_deref());
    guard.writes("--out", Some(&arguments.out)).check()?;
    let curves = arguments.curves.read()?;
    let title = arguments.title.as_deref().unwrap_or(arguments.kind.title());
    let picture = Picture { title, kind: Kind::Curves(&curves) };
    table::write(&arguments.out, draw(&picture, format)?)?;
    Ok(Answer::Done)
}

/// The pictures of a study, by their files in its folder.
const WRITTEN: [(PictureArgument, &str); 2] =
    [(PictureArgument::All, "all.svg"), (PictureArgument::Combined, "validation.svg")];

/// Draws a picture into a folder, in every format.
pub fn write_picture(folder: &Path, name: &str, picture: &Picture<'_>) -> Result<()> {
    for &format in Format::ALL {
        table::write(&folder.join(format!("{name}.{}", format.ending())), draw(picture, format)?)?;
    }
    Ok(())
}

/// Draws the pictures of a study into a folder.
pub fn write_all(folder: &Path, title: &str, files: &Files) -> Result<()> {
    let best = (&ObjectiveArguments::default(), &NodeSize::default());
    let (material, _) = Material::read(files, &WRITTEN.map(|(picture, _)| picture), best)?;
    for (picture, file) in WRITTEN {
        let bytes = material.draw(picture, Window::default(), (title, Format::Svg))?;
        table::write(&folder.join(file), bytes)?;
    }
    Ok(())
}

impl PictureArgument {
    fn title(self) -> &'static str {
        match self {
            Self::Combined | Self::M | Self::P | Self::All => "Modelled and measured times",
            Self::Parity => "Predicted against measured times",
            Self::Residuals => "Errors of the predictions",
            Self::HeatMap => "Predicted times",
            Self::HeatMapMeasured => "Measured times",
            Self::Breakdown => "Where the time goes",
            Self::Gantt => "A run as it went",
            Self::Benchmarks => "Micro-benchmarks and what was fitted to them",
            Self::Pareto => "What no other beats in both",
            Self::Curves => "Curves of a table",
        }
    }

    /// The file that it cannot be drawn without and that is not there, with its flag.
    fn missing(self, files: &Files) -> Option<(&'static str, &'static str)> {
        let validation = (files.validation.is_none(), "validation.csv", "--validation FILE");
        let params = (!files.has_parameters(), "parameters", "--params NAME|FILE");
        let needed = match self {
            Self::Pareto => vec![params],
            _ if self.is_of_times() && files.runs.runs.is_some() => vec![params],
            Self::HeatMap => {
                vec![(files.predictions.is_none(), "predictions.csv", "--predictions FILE")]
            }
            Self::Gantt => vec![(files.trace.is_none(), "trace", "--trace FILE")],
            Self::Breakdown => vec![params],
            Self::Benchmarks => vec![
                params,
                (
                    !files.has_micro_benchmarks(),
                    "micro-benchmark",
                    "--alpha FILE, --offload FILE or another",
                ),
            ],
            _ => vec![validation],
        };
        let missing = needed.into_iter().find(|(is_missing, ..)| *is_missing);
        missing.map(|(_, file, flag)| (file, flag))
    }

    /// Whether it is drawn from `validation.csv`, where there are no timed runs.
    fn compares(self) -> bool {
        self.is_of_times() && self != Self::HeatMap
    }

    /// Whether it shows measured times, predicted ones or both.
    fn is_of_times(self) -> bool {
        !matches!(
            self,
            Self::Gantt | Self::Breakdown | Self::Benchmarks | Self::Curves | Self::Pareto
        )
    }

    /// Whether it is drawn from timed runs: given ones, or those that came with the parameters.
    fn is_of_runs(self, files: &Files) -> bool {
        if self == Self::Pareto {
            return files.has_parameters();
        }
        let is_asked = files.runs.runs.is_some() || self.missing(files).is_some();
        self.is_of_times() && is_asked && files.has_parameters()
    }

    /// Whether it holds predictions against what was measured.
    fn is_of_errors(self) -> bool {
        matches!(self, Self::Parity | Self::Residuals)
    }

    fn without(self, (file, flag): (&str, &str)) -> Error {
        let kind = self.to_possible_value().expect("invariant: no picture is hidden");
        Error::too_little(
            format!("plot --kind {}", kind.get_name()),
            format!("no {file}"),
            format!("give it with {flag}, or the folder of a study with --study DIR"),
        )
    }
}

/// What the files hold.
#[derive(Default)]
struct Material {
    validation: Vec<Validation>,
    predictions: Vec<Prediction>,
    parameters: Option<Parameters>,
    /// The plot of timed runs, not of a validation.
    timed: Option<TimedRuns>,
    splits: Vec<Split>,
    trace: Trace,
    tables: MicroBenchmarks,
    /// What m and p are called.
    names: Names,
}

impl Material {
    /// Reads what these pictures need, and nothing else.
    fn read(
        files: &Files,
        pictures: &[PictureArgument],
        best: (&ObjectiveArguments, &NodeSize),
    ) -> Result<(Self, Vec<Warning>)> {
        let mut material = Self::default();
        let mut reader = Reader::default();
        if pictures.iter().any(|picture| picture.is_of_runs(files)) {
            let observations =
                reader.observations(&files.runs.measuring(best.0.objective.as_deref()))?;
            let parameters = reader.parameters(files)?.expect("invariant: there are some");
            material.timed = TimedRuns::new(parameters, observations, best)?;
        }
        for picture in pictures {
            let is_enough = picture.is_of_times() && material.timed.is_some();
            match picture.missing(files) {
                Some(missing) if !is_enough => return Err(picture.without(missing)),
                _ => {}
            }
        }
        let wants = |kind: PictureArgument| pictures.contains(&kind);
        // A map of predicted times marks what was measured, where that is given.
        let marks = wants(PictureArgument::HeatMap) && files.validation.is_some();
        if marks || pictures.iter().any(|picture| picture.compares()) {
            material.validation = reader.validation(files)?;
        }
        if wants(PictureArgument::HeatMap) || !material.validation.is_empty() {
            material.predictions = reader.predictions(files)?;
        }
        let compares = !material.validation.is_empty() && files.has_parameters();
        if compares || wants(PictureArgument::Breakdown) || wants(PictureArgument::Benchmarks) {
            material.parameters = reader.parameters(files)?;
        }
        if let (true, Some(parameters)) = (compares, &material.parameters) {
            check_same_parameters(&material.validation, parameters)?;
        }
        let of_others = material.parameters.as_ref().map(|it| &it.quantity);
        if let Some(quantity) = of_others.filter(|it| !it.is_time()) {
            return Err(Error::out_of_range(
                "--kind",
                format!("parameters of {quantity}, whose terms are no seconds"),
                "a picture of the runs, as --kind combined or heat-map",
            ));
        }
        if wants(PictureArgument::Breakdown) {
            material.splits = reader.splits(files)?;
        }
        if wants(PictureArgument::Benchmarks) {
            material.tables = reader.micro_benchmarks(files)?;
        }
        if wants(PictureArgument::Gantt) {
            material.trace = reader.trace(files)?.unwrap_or_default();
        }
        Ok((material, reader.warnings))
    }

    /// What stands above a picture, in the word for what it shows.
    fn title(&self, picture: PictureArgument) -> String {
        let name = self.timed.as_ref().map_or("time", |timed| timed.objective().name());
        match name {
            "time" => picture.title().into(),
            name => picture.title().replace("times", name),
        }
    }

    fn draw(
        &self,
        picture: PictureArgument,
        window: Window,
        (title, format): (&str, Format),
    ) -> Result<Vec<u8>> {
        let mut compared = match &self.timed {
            Some(timed) if picture.is_of_errors() => timed.unseen()?,
            Some(timed) => timed.times()?,
            None => Times::of_validation(&self.validation, &self.predictions)?,
        };
        compared.names = self.names.clone();
        let ranked = match &self.timed {
            Some(_) => compared.clone(),
            None => Times {
                measured: compared.measured.clone(),
                names: self.names.clone(),
                ..Times::of_predictions(&self.predictions)?
            },
        };
        let times = &compared;
        let parameters = || self.parameters.as_ref().expect("invariant: they were asked for");
        let panels = match picture {
            PictureArgument::Benchmarks => benchmarks::panels(&self.tables, parameters()),
            _ => Vec::new(),
        };
        let kind = match picture {
            PictureArgument::Combined => Kind::Combined(times),
            PictureArgument::M => Kind::AgainstM(times),
            PictureArgument::P => Kind::AgainstP(times),
            PictureArgument::All => Kind::OverAll(times),
            PictureArgument::Parity => Kind::Parity(times),
            PictureArgument::Residuals => Kind::Residuals(times),
            PictureArgument::HeatMap => Kind::HeatMap(&ranked),
            PictureArgument::HeatMapMeasured => Kind::MeasuredHeatMap(times),
            PictureArgument::Breakdown => {
                Kind::Breakdown { parameters: parameters(), splits: &self.splits }
            }
            PictureArgument::Gantt => Kind::Gantt { trace: &self.trace, window },
            PictureArgument::Benchmarks => Kind::Benchmarks(&panels),
            PictureArgument::Curves | PictureArgument::Pareto => {
                unreachable!("invariant: they are drawn apart")
            }
        };
        draw(&Picture { title, kind }, format)
    }
}
