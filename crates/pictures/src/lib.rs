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
//! use mmgp_pictures::{Picture, Format, Kind, Times, draw};
//! use mmgp_base::table::{Source, csv};
//!
//! let text = "m,p,measured_s,predicted_s,error_percent\n\
//!             1,1,8.0,8.2,2.5\n1,2,4.1,4.3,4.9\n2,1,4.4,4.2,-4.5\n";
//! let (rows, _) = csv::read(&Source::new("validation.csv", text))?;
//! let times = Times::of_validation(&rows, &[])?;
//! let figure = Picture { title: "My program on my machine", kind: Kind::Parity(&times) };
//! let picture: Vec<u8> = draw(&figure, Format::Svg)?;
//! assert!(picture.starts_with(b"<svg"));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod axis;
pub mod benchmarks;
mod breakdown;
mod chart;
mod columns;
mod comparison;
mod curves;
mod errors;
mod front;
mod gantt;
mod heat_map;
mod machine;
mod measure;
mod names;
mod places;
#[cfg(feature = "png")]
mod png;
mod scene;
mod schedulers;
mod speed_up;
mod style;
mod svg;
#[cfg(test)]
mod tests;
mod times;

use std::path::Path;

use mmgp_base::{Mapping, error, table, units};
use mmgp_model::models;

use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::table::records::{MachineFigure, Scheduled, Split};
use crate::table::trace::Trace;
use benchmarks::Panel;
use comparison::Comparison;
use scene::Scene;

pub use curves::{CurvePanel, Curves};
pub use front::{Front, FrontPoint};
pub use gantt::Window;
pub use measure::{Better, Measure};
pub use names::Names;
pub use schedulers::Quantity;
pub use speed_up::SpeedUp;
pub use times::{MeasuredTime, PredictedTime, Series, Standing, Times};

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
    /// Speed-up and efficiency by cores.
    SpeedUp(&'a SpeedUp),
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
        Self::ALL.iter().find(is_asked).copied().ok_or_else(|| {
            Error::unknown_name(
                "picture format",
                ending,
                Self::ALL.iter().map(|format| format.ending()),
            )
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
    let scene = Scene { spots: Vec::new(), ..scene(figure)? };
    match format {
        Format::Svg => Ok(svg::encode(&scene).into_bytes()),
        #[cfg(feature = "png")]
        Format::Png => png::encode(&scene),
    }
}

/// Draws a figure for a page that answers to a pointer: an SVG whose attribute `data-spots` says what is
/// where, as `x y|words` of points and `x y width height|words` of cells. The words are `(m, p)` of a
/// configuration, or tell a number.
///
/// # Errors
/// Those of [`draw`].
pub fn answering(figure: &Picture<'_>) -> Result<String> {
    Ok(svg::encode(&scene(figure)?))
}

fn scene(figure: &Picture<'_>) -> Result<Scene> {
    let title = figure.title;
    match figure.kind {
        Kind::AgainstM(times) => comparison::scene(title, Comparison::AgainstM, times),
        Kind::AgainstP(times) => comparison::scene(title, Comparison::AgainstP, times),
        Kind::OverAll(times) => comparison::scene(title, Comparison::OverAll, times),
        Kind::Combined(times) => comparison::scene(title, Comparison::Combined, times),
        Kind::Parity(times) => comparison::scene(title, Comparison::Parity, times),
        Kind::Residuals(times) => comparison::scene(title, Comparison::Residuals, times),
        Kind::HeatMap(times) => heat_map::of_predicted(title, times),
        Kind::MeasuredHeatMap(times) => heat_map::of_measured(title, times),
        Kind::Breakdown { parameters, splits } => breakdown::scene(title, parameters, splits),
        Kind::Gantt { trace, window } => gantt::scene(title, trace, window),
        Kind::Schedulers { rows, quantity } => schedulers::scene(title, rows, quantity),
        Kind::Excerpts { traces, window } => gantt::scene_of_several(title, traces, window),
        Kind::Benchmarks(panels) => benchmarks::scene(title, panels),
        Kind::Machine(rows) => machine::scene(title, rows),
        Kind::Front(front) => front::scene(title, front),
        Kind::Curves(curves) => curves::scene(title, curves),
        Kind::SpeedUp(of) => speed_up::scene(title, of),
    }
}
