//! Pictures of what a study found, as SVG and as PNG.
//!
//! | kind | what it shows |
//! |---|---|
//! | [`Kind::AgainstM`], [`Kind::AgainstP`], [`Kind::OverAll`], [`Kind::Combined`] | modelled beside measured times, after figures 6 to 8 of the MMGP paper (Blagojevic et al., HiPEAC 2008) |
//! | [`Kind::Parity`], [`Kind::Residuals`] | how far the models are off, and where |
//! | [`Kind::HeatMap`], [`Kind::MeasuredHeatMap`] | the time of every feasible (m, p), with the best and those that cannot be told from it |
//! | [`Kind::Breakdown`] | where the time goes: the models' terms beside the measured split |
//! | [`Kind::Gantt`] | a run as it went, from its trace |
//! | [`Kind::Benchmarks`] | micro-benchmarks with what was fitted to them |
//! | [`Kind::Schedulers`], [`Kind::Excerpts`] | a program under several schedulers: times and idle accelerators, after figures 7 to 9 of Blagojevic et al., PPoPP 2007, and the same part of each run |
//! | [`Kind::Curves`] | columns of a table against counts |
//! | [`Kind::Machine`] | published figures beside those of the emulated machine |
//!
//! A picture is made in memory; whoever asks for it writes the file. All look alike: one font, which
//! is compiled in, and one palette, which colour-blind readers can use; every axis has its unit, and
//! intervals are drawn where they are known.
//!
//! ```
//! use mmgp::plot::{Picture, Format, Kind, Times, draw};
//! use mmgp::table::{Source, csv};
//!
//! let text = "m,p,measured_s,predicted_s,error_percent\n\
//!             1,1,8.0,8.2,2.5\n1,2,4.1,4.3,4.9\n2,1,4.4,4.2,-4.5\n";
//! let (rows, _) = csv::read(&Source::new("validation.csv", text))?;
//! let times = Times::of_validation(&rows, &[])?;
//! let figure = Picture { title: "My program on my machine", kind: Kind::Parity(&times) };
//! let picture: Vec<u8> = draw(&figure, Format::Svg)?;
//! assert!(picture.starts_with(b"<svg"));
//! # Ok::<(), mmgp::Error>(())
//! ```

mod axis;
pub mod benchmarks;
mod best;
mod breakdown;
mod color_bar;
mod color_map;
mod curve;
mod curves;
mod excerpts;
mod font;
mod frame;
mod front;
mod gantt;
mod heat_map;
mod machine;
mod measure;
mod over_all;
mod panels;
mod parity;
mod places;
#[cfg(feature = "png")]
mod png;
mod residuals;
mod scene;
mod schedulers;
mod style;
mod svg;
#[cfg(test)]
mod tests;
mod times;
mod unit;

use std::path::Path;

use crate::Mapping;
use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::table::records::{MachineFigure, Scheduled, Split};
use crate::table::trace::Trace;
use crate::units::Seconds;
use benchmarks::Panel;
use heat_map::{Cell, Content};
use scene::{Bounds, Scene};
use style::Entry;
use times::{Marks, Point, Points, checked};

pub use curves::{CurvePanel, Curves};
pub use front::{Front, FrontPoint};
pub use gantt::Window;
pub use measure::{Better, Measure};
pub use schedulers::Quantity;
pub use times::{Measured, Predicted, Series, Standing, Times};

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Stands above the picture: the application and the machine. Any text; it is escaped, and
    /// shortened where it is too long.
    pub title: &'a str,
    /// Which picture, of what.
    pub kind: Kind<'a>,
}

/// The pictures, each with what it is drawn from.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'a> {
    /// Time against m, one APU for each host thread: p = 1.
    AgainstM(&'a Times),
    /// Time against p, one host thread: m = 1.
    AgainstP(&'a Times),
    /// Time at every (m, p), grouped by m, with the best measured and the best predicted marked.
    OverAll(&'a Times),
    /// The three above on one page.
    Combined(&'a Times),
    /// Predicted against measured times, with a band of 10 % around equality.
    Parity(&'a Times),
    /// Errors of the predictions against m, p and m*p.
    Residuals(&'a Times),
    /// Predicted time of every (m, p), as a colour, with what was measured marked.
    HeatMap(&'a Times),
    /// The same of measured times.
    MeasuredHeatMap(&'a Times),
    /// The models' terms beside the measured split, in parts of the measured time.
    Breakdown {
        /// What the terms are computed from.
        parameters: &'a Parameters,
        /// The rows of a `split.csv`; where there are none, the terms stand alone, for every
        /// feasible configuration.
        splits: &'a [Split],
    },
    /// Processes, hardware threads and accelerators over time.
    Gantt {
        /// The run.
        trace: &'a Trace,
        /// The part of it that is shown.
        window: Window,
    },
    /// A program under several schedulers, by numbers of workers and tasks.
    Schedulers {
        /// The rows of a `schedulers.csv`.
        rows: &'a [Scheduled],
        /// What is shown of them.
        quantity: Quantity,
    },
    /// The same part of several runs, each as in [`Kind::Gantt`], with the same rows.
    Excerpts {
        /// What happened, with the name of each run.
        traces: &'a [(String, Trace)],
        /// The part that is shown; what is open follows from the first.
        window: Window,
    },
    /// Micro-benchmarks and what was fitted to them, as [`benchmarks::panels`] gathers them.
    Benchmarks(&'a [Panel]),
    /// Emulated over published figures.
    Machine(&'a [MachineFigure]),
    /// Configurations by two objectives, with those that none beats in both.
    Front(&'a Front),
    /// Curves over counts.
    Curves(&'a Curves),
}

/// The format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics, as UTF-8 text.
    Svg,
    /// Portable Network Graphics, at two pixels for each unit of the SVG's size.
    #[cfg(feature = "png")]
    Png,
}

impl Format {
    /// All that this build can draw.
    pub const ALL: &[Self] = &[
        Self::Svg,
        #[cfg(feature = "png")]
        Self::Png,
    ];

    /// How the names of its files end.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            #[cfg(feature = "png")]
            Self::Png => "png",
        }
    }

    /// Chooses by the ending of a file's name, `.svg` or `.png` in small or capital letters.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for any other.
    pub fn from_path(path: &Path) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let is_asked = |format: &&Self| ending.eq_ignore_ascii_case(format.ending());
        Self::ALL.iter().find(is_asked).copied().ok_or_else(|| Error::UnknownName {
            kind: "picture format",
            name: ending.to_string(),
            known: Self::ALL.iter().map(|format| format.ending().into()).collect(),
        })
    }
}

/// Draws a figure: the content of a file of that format, the same bytes for the same figure.
///
/// # Errors
/// [`Error::TooLittleData`] where the picture would show nothing, [`Error::OutOfRange`] for a time
/// that is negative, beyond 10^15 s or not a number and for a window outside its run, and
/// [`Error::Plot`] where the drawing itself fails.
pub fn draw(figure: &Picture<'_>, format: Format) -> Result<Vec<u8>> {
    let scene = scene(figure)?;
    match format {
        Format::Svg => Ok(svg::encode(&scene)),
        #[cfg(feature = "png")]
        Format::Png => png::encode(&scene),
    }
}

fn scene(figure: &Picture<'_>) -> Result<Scene> {
    let title = figure.title;
    match figure.kind {
        Kind::AgainstM(times) => of_times(title, Comparison::AgainstM, times),
        Kind::AgainstP(times) => of_times(title, Comparison::AgainstP, times),
        Kind::OverAll(times) => of_times(title, Comparison::OverAll, times),
        Kind::Combined(times) => of_times(title, Comparison::Combined, times),
        Kind::Parity(times) => of_times(title, Comparison::Parity, times),
        Kind::Residuals(times) => of_times(title, Comparison::Residuals, times),
        Kind::HeatMap(times) => of_predicted(title, times),
        Kind::MeasuredHeatMap(times) => of_measured(title, times),
        Kind::Breakdown { parameters, splits } => breakdown::scene(title, parameters, splits),
        Kind::Gantt { trace, window } => gantt::scene(title, trace, window),
        Kind::Schedulers { rows, quantity } => schedulers::scene(title, rows, quantity),
        Kind::Excerpts { traces, window } => excerpts::scene(title, traces, window),
        Kind::Benchmarks(panels) => of_panels(title, panels),
        Kind::Machine(rows) => machine::scene(title, rows),
        Kind::Front(front) => {
            let (mut scene, area) = begun(title, (front::WIDTH, front::HEIGHT), &front::legend());
            front::draw(&mut scene, area, front);
            Ok(scene)
        }
        Kind::Curves(curves) => curves::scene(title, curves),
    }
}

/// The pictures that compare predicted with measured times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AgainstM,
    AgainstP,
    OverAll,
    Combined,
    Parity,
    Residuals,
}

impl Comparison {
    /// Whether the picture has a place for this configuration.
    fn shows(self, point: &Point) -> bool {
        match self {
            Self::AgainstM => point.p == 1,
            Self::AgainstP => point.m == 1,
            _ => true,
        }
    }

    /// Which configurations it shows, as words after "configuration".
    fn condition(self) -> &'static str {
        match self {
            Self::AgainstM => "with p = 1",
            Self::AgainstP => "with m = 1",
            _ => "at all",
        }
    }

    /// Width, and height below title and legend.
    fn size(self) -> (f64, f64) {
        match self {
            Self::AgainstM | Self::AgainstP => (680.0, 400.0),
            Self::OverAll => (1200.0, 500.0),
            Self::Combined => (1200.0, 890.0),
            Self::Parity => (parity::WIDTH, parity::HEIGHT),
            Self::Residuals => (residuals::WIDTH, residuals::HEIGHT),
        }
    }

    fn legend(self, points: &Points) -> Vec<Entry> {
        match self {
            Self::Parity => parity::legend(points),
            Self::Residuals => residuals::legend(points),
            _ => points.legend(Marks::OverLines),
        }
    }

    fn draw(self, scene: &mut Scene, area: Bounds, times: &Points) {
        let points = &times.points;
        match self {
            Self::AgainstM => curve::against_m(scene, area, times, ""),
            Self::AgainstP => curve::against_p(scene, area, times, ""),
            Self::OverAll => over_all::draw(scene, area, times, ""),
            Self::Parity => parity::draw(scene, area, times),
            Self::Residuals => residuals::draw(scene, area, points),
            Self::Combined => {
                let (middle, lower) = (area.middle()[0], area.top + 390.0);
                let left = Bounds { right: middle, bottom: lower, ..area };
                let right = Bounds { left: middle, bottom: lower, ..area };
                curve::against_m(scene, left, times, "(a) ");
                curve::against_p(scene, right, times, "(b) ");
                over_all::draw(scene, Bounds { top: lower, ..area }, times, "(c) ");
            }
        }
    }
}

fn of_times(title: &str, comparison: Comparison, times: &Times) -> Result<Scene> {
    let points = times::points(times)?;
    if !points.points.iter().any(|point| comparison.shows(point)) {
        return Err(Error::TooLittleData {
            file: format!("predicted and {} times", times.measured_as),
            found: format!("no configuration {}", comparison.condition()),
            advice: "measure or predict at least one such configuration".into(),
        });
    }
    let legend = comparison.legend(&points);
    let (mut scene, area) = begun(title, comparison.size(), &legend);
    comparison.draw(&mut scene, area, &points);
    Ok(scene)
}

/// A map of what is predicted, with marks where something was measured.
fn of_predicted(title: &str, times: &Times) -> Result<Scene> {
    let cell = |row: &Predicted| (row.mapping, row.time, row.standing);
    let cells = cells("time_s", times.predicted.rows.iter().map(cell))?;
    let marked = times.measured.iter().map(|row| (row.mapping.m(), row.mapping.p()));
    let mut marked: Vec<(u32, u32)> = marked.collect();
    marked.sort_unstable();
    let (measure, marked) = (&times.measure, (&marked[..], &*times.measured_as));
    of_cells(title, Content { cells: &cells, what: "predicted", measure, marked })
}

fn of_measured(title: &str, times: &Times) -> Result<Scene> {
    let cell = |row: &Measured| (row.mapping, row.time, Standing::Slower);
    let cells = cells("measured_s", times.measured.iter().map(cell))?;
    let (what, measure) = (&*times.measured_as, &times.measure);
    of_cells(title, Content { cells: &cells, what, measure, marked: (&[], "") })
}

/// The cells of a map by m and then by p.
fn cells(
    name: &'static str,
    rows: impl Iterator<Item = (Mapping, Seconds, Standing)>,
) -> Result<Vec<Cell>> {
    let cell = |(mapping, time, standing): (Mapping, Seconds, Standing)| {
        let time = checked(name, time.0)?;
        Ok(Cell { m: mapping.m(), p: mapping.p(), time, standing })
    };
    let mut cells = rows.map(cell).collect::<Result<Vec<Cell>>>()?;
    cells.sort_by_key(|cell| (cell.m, cell.p));
    Ok(cells)
}

fn of_cells(title: &str, content: Content<'_>) -> Result<Scene> {
    if content.cells.is_empty() {
        return Err(Error::TooLittleData {
            file: format!("{} times", content.what),
            found: "no configuration at all".into(),
            advice: "a map needs at least one".into(),
        });
    }
    let map = heat_map::Map::new(content);
    let legend = map.legend();
    let (mut scene, area) = begun(title, (heat_map::WIDTH, heat_map::HEIGHT), &legend);
    map.draw(&mut scene, area);
    Ok(scene)
}

fn of_panels(title: &str, panels: &[Panel]) -> Result<Scene> {
    if panels.is_empty() {
        return Err(Error::TooLittleData {
            file: "micro-benchmarks".into(),
            found: "no table with rows".into(),
            advice: "measure at least one, or write them with mmgp bench".into(),
        });
    }
    let legend = panels::legend(panels);
    let size = (panels::WIDTH, panels::height(panels));
    let (mut scene, area) = begun(title, size, &legend);
    panels::draw(&mut scene, area, panels);
    Ok(scene)
}

/// A picture with title and legend, and the area that is left.
fn begun(title: &str, (width, height): (f64, f64), legend: &[Entry]) -> (Scene, Bounds) {
    let head = style::head_height(width, legend);
    let mut scene = Scene::new(width, head + height, title);
    style::head(&mut scene, title, legend);
    let area = Bounds { top: head, ..scene.bounds() };
    (scene, area)
}
