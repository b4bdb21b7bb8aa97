//! `mmgp plot`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::output::warnings;
use super::{Answer, input};
use crate::error::{Error, Result, Warning};
use crate::model::Parameters;
use crate::plot::benchmarks::{self, Tables};
use crate::plot::{Figure, Format, Kind, Times, Window, draw};
use crate::table::csv::Record;
use crate::table::records::{
    Alpha, Collective, ContextSwitch, MemoryStream, Offload, Prediction, Split, Validation,
};
use crate::table::trace::Trace;
use crate::table::{self, Source, csv};

/// Draw what was found: modelled against measured times, and more
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Picture to write: .svg or .png
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which picture
    #[arg(long, value_enum, default_value = "combined")]
    kind: Picture,
    /// Title above the picture
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    files: Files,
    /// Begin of the part of a run that is shown [s]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<f64>,
    /// End of the part of a run that is shown [s]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    to: Option<f64>,
}

const HELP: &str = "\
Examples:
  mmgp plot --study mmgp-study --kind parity --out parity.svg
  mmgp plot --validation validation.csv --out validation.svg
  mmgp plot --kind gantt --trace run.json --from 0.007 --to 0.0075 --out run.png";

/// What pictures are drawn from.
#[derive(Args, Clone, Default)]
pub struct Files {
    /// Folder of a study: every file below that is not given is looked for there
    #[arg(long, value_name = "DIR")]
    pub study: Option<PathBuf>,
    /// validation.csv, as study and validate write it
    #[arg(long, value_name = "FILE")]
    pub validation: Option<PathBuf>,
    /// predictions.csv, for a heat map and for intervals
    #[arg(long, value_name = "FILE")]
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Picture {
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
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let format = Format::from_path(&arguments.out)?;
    let (material, doubts) = Material::read(&arguments.files, &[arguments.kind])?;
    warnings(&doubts);
    let window = Window { from_s: arguments.from, to_s: arguments.to };
    let title = arguments.title.as_deref().unwrap_or(arguments.kind.title());
    let picture = material.draw(arguments.kind, window, (title, format))?;
    table::write(&arguments.out, picture)?;
    Ok(Answer::Done)
}

/// The pictures of a study, each as SVG and PNG, by their names in its folder. The first four have
/// always been there; the others are in a folder of their own.
const WRITTEN: [(Picture, &str); 11] = [
    (Picture::M, "by_m"),
    (Picture::P, "by_p"),
    (Picture::All, "all"),
    (Picture::Combined, "validation"),
    (Picture::Parity, "plots/parity"),
    (Picture::Residuals, "plots/residuals"),
    (Picture::HeatMap, "plots/heat-map"),
    (Picture::HeatMapMeasured, "plots/heat-map-measured"),
    (Picture::Breakdown, "plots/breakdown"),
    (Picture::Gantt, "plots/gantt"),
    (Picture::Benchmarks, "plots/benchmarks"),
];

/// Draws every picture that these files are enough for into a folder.
pub fn write_all(folder: &Path, title: &str, files: &Files) -> Result<()> {
    let files = files.with_study();
    let has_files = |(picture, _): &&(Picture, &str)| picture.missing(&files).is_none();
    let pictures: Vec<_> = WRITTEN.iter().filter(has_files).collect();
    let kinds: Vec<Picture> = pictures.iter().map(|(picture, _)| *picture).collect();
    let (material, _) = Material::read(&files, &kinds)?;
    table::create_folder(&folder.join("plots"))?;
    for (picture, name) in pictures {
        for (ending, format) in [("svg", Format::Svg), ("png", Format::Png)] {
            let bytes = material.draw(*picture, Window::default(), (title, format))?;
            table::write(&folder.join(format!("{name}.{ending}")), bytes)?;
        }
    }
    Ok(())
}

impl Picture {
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
        }
    }

    /// The file that it cannot be drawn without and that is not there, with its flag.
    fn missing(self, files: &Files) -> Option<(&'static str, &'static str)> {
        let validation = (files.validation.is_none(), "validation.csv", "--validation FILE");
        let params = (files.params.is_none(), "parameters", "--params NAME|FILE");
        let is_without_tables =
            [&files.alpha, &files.offload, &files.context_switch, &files.collective, &files.memory]
                .iter()
                .all(|file| file.is_none());
        let needed = match self {
            Self::HeatMap => {
                vec![(files.predictions.is_none(), "predictions.csv", "--predictions FILE")]
            }
            Self::Gantt => vec![(files.trace.is_none(), "trace", "--trace FILE")],
            Self::Breakdown => vec![params],
            Self::Benchmarks => vec![
                params,
                (is_without_tables, "micro-benchmark", "--alpha FILE, --offload FILE or another"),
            ],
            _ => vec![validation],
        };
        let missing = needed.into_iter().find(|(is_missing, ..)| *is_missing);
        missing.map(|(_, file, flag)| (file, flag))
    }

    /// Whether it is drawn from `validation.csv`.
    fn compares(self) -> bool {
        !matches!(self, Self::HeatMap | Self::Gantt | Self::Breakdown | Self::Benchmarks)
    }
}

impl Files {
    /// Those in the folder of a study.
    pub fn of_study(folder: &Path) -> Self {
        Self { study: Some(folder.into()), ..Self::default() }
    }

    /// With what the study's folder has of the files that were not given.
    fn with_study(&self) -> Self {
        let Some(folder) = &self.study else { return self.clone() };
        let find = |given: &Option<PathBuf>, name: &str| {
            given.clone().or_else(|| Some(folder.join(name)).filter(|path| path.is_file()))
        };
        // The refined model's file has the terms of equation 11 too.
        let params = find(&find(&None, "refined.toml"), "params.toml");
        let params = params.map(|path| path.display().to_string());
        Self {
            study: self.study.clone(),
            validation: find(&self.validation, "validation.csv"),
            predictions: find(&self.predictions, "predictions.csv"),
            params: self.params.clone().or(params),
            split: find(&self.split, "split.csv"),
            trace: find(&self.trace, "trace.json"),
            alpha: find(&self.alpha, "alpha.csv"),
            offload: find(&self.offload, "offload.csv"),
            context_switch: find(&self.context_switch, "context_switch.csv"),
            collective: find(&self.collective, "collective.csv"),
            memory: find(&self.memory, "memory.csv"),
        }
    }
}

/// What the files hold.
#[derive(Default)]
struct Material {
    validation: Vec<Validation>,
    predictions: Vec<Prediction>,
    parameters: Option<Parameters>,
    splits: Vec<Split>,
    trace: Trace,
    alpha: Vec<Alpha>,
    offload: Vec<Offload>,
    context_switch: Vec<ContextSwitch>,
    collective: Vec<Collective>,
    memory: Vec<MemoryStream>,
}

impl Material {
    /// Reads what these pictures need, and nothing else.
    fn read(files: &Files, pictures: &[Picture]) -> Result<(Self, Vec<Warning>)> {
        let files = files.with_study();
        for picture in pictures {
            if let Some((file, flag)) = picture.missing(&files) {
                let kind = picture.to_possible_value().expect("invariant: no picture is hidden");
                return Err(Error::TooLittleData {
                    file: format!("plot --kind {}", kind.get_name()),
                    found: format!("no {file}"),
                    advice: format!(
                        "give it with {flag}, or the folder of a study with --study DIR"
                    ),
                });
            }
        }
        let mut material = Self::default();
        let mut doubts = Vec::new();
        let wants = |kind: Picture| pictures.contains(&kind);
        if pictures.iter().any(|picture| picture.compares()) {
            material.validation = rows(&files.validation, &mut doubts)?;
        }
        if wants(Picture::HeatMap) || !material.validation.is_empty() {
            material.predictions = rows(&files.predictions, &mut doubts)?;
        }
        if wants(Picture::Breakdown) || wants(Picture::Benchmarks) {
            material.parameters = files.params.as_deref().map(input::parameters).transpose()?;
        }
        if wants(Picture::Breakdown) {
            material.splits = rows(&files.split, &mut doubts)?;
        }
        if wants(Picture::Benchmarks) {
            material.alpha = rows(&files.alpha, &mut doubts)?;
            material.offload = rows(&files.offload, &mut doubts)?;
            material.context_switch = rows(&files.context_switch, &mut doubts)?;
            material.collective = rows(&files.collective, &mut doubts)?;
            material.memory = rows(&files.memory, &mut doubts)?;
        }
        if let Some(path) = files.trace.as_ref().filter(|_| wants(Picture::Gantt)) {
            material.trace = Trace::read(&Source::read(path)?)?;
        }
        Ok((material, doubts))
    }

    fn draw(
        &self,
        picture: Picture,
        window: Window,
        (title, format): (&str, Format),
    ) -> Result<Vec<u8>> {
        let times = Times { rows: &self.validation, predictions: &self.predictions };
        let tables = Tables {
            alpha: &self.alpha,
            offload: &self.offload,
            context_switch: &self.context_switch,
            collective: &self.collective,
            memory: &self.memory,
        };
        let parameters = || self.parameters.as_ref().expect("invariant: they were asked for");
        let panels = match picture {
            Picture::Benchmarks => benchmarks::panels(&tables, parameters()),
            _ => Vec::new(),
        };
        let kind = match picture {
            Picture::Combined => Kind::Combined(times),
            Picture::M => Kind::AgainstM(times),
            Picture::P => Kind::AgainstP(times),
            Picture::All => Kind::OverAll(times),
            Picture::Parity => Kind::Parity(times),
            Picture::Residuals => Kind::Residuals(times),
            Picture::HeatMap => Kind::HeatMap(&self.predictions),
            Picture::HeatMapMeasured => Kind::MeasuredHeatMap(&self.validation),
            Picture::Breakdown => {
                Kind::Breakdown { parameters: parameters(), splits: &self.splits }
            }
            Picture::Gantt => Kind::Gantt { trace: &self.trace, window },
            Picture::Benchmarks => Kind::Benchmarks(&panels),
        };
        draw(&Figure { title, kind }, format)
    }
}

/// The rows of a file, none where there is no file.
fn rows<R: Record>(path: &Option<PathBuf>, doubts: &mut Vec<Warning>) -> Result<Vec<R>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let (rows, of_file) = csv::read(&Source::read(path)?)?;
    doubts.extend(of_file);
    Ok(rows)
}
