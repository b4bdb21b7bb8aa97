//! Times that are compared: of each configuration what was measured, what is predicted, and the
//! interval of the prediction.

use std::collections::BTreeMap;

use super::Names;
use super::measure::Measure;
use super::scene::Color;
use super::style::{BAND, Entry, MEASURED, Mark, PREDICTED, REFINED, SKY, entry};
use crate::Mapping;
use crate::error::{Error, Result};
use crate::table::records::{Prediction, Validation};
use crate::units::Seconds;

/// A configuration that ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredTime {
    /// What ran.
    pub mapping: Mapping,
    /// How long a run took: of several, their mean or median, as the caller has it.
    pub time: Seconds,
    /// How many runs that time is of, at least 1.
    pub repetitions: u32,
}

/// What is predicted of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedTime {
    /// What would run.
    pub mapping: Mapping,
    /// How long it would take.
    pub time: Seconds,
    /// The lower and the upper end of its 95 % interval, where that is known.
    pub interval: Option<(Seconds, Seconds)>,
    /// Whether it can be told from the best.
    pub standing: Standing,
}

/// How a configuration compares with the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Slower, as far as is known.
    Slower,
    /// As fast, perhaps.
    Indistinguishable,
}

/// The predictions of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What predicts, to stand after "predicted by": `equation 11`.
    pub name: String,
    /// Each configuration at most once, in any order.
    pub rows: Vec<PredictedTime>,
}

/// Predicted beside measured times. What was measured need not have been predicted, nor the other way
/// round: a picture shows what it can.
///
/// ```
/// use mmgp_base::Mapping;
/// use mmgp_pictures::{Format, Kind, MeasuredTime, Picture, PredictedTime, Series, Standing, Times, draw};
/// use mmgp_base::units::Seconds;
///
/// let (mapping, standing) = (Mapping::of(2, 4), Standing::Slower);
/// let interval = Some((Seconds(1.0), Seconds(1.3)));
/// let predicted = PredictedTime { mapping, time: Seconds(1.1), interval, standing };
/// let times = Times {
///     measured: vec![MeasuredTime { mapping, time: Seconds(1.2), repetitions: 3 }],
///     measured_as: "measured".into(),
///     predicted: Series { name: "equation 11".into(), rows: vec![predicted] },
///     beside: None,
///     measure: Default::default(),
///     names: Default::default(),
///     failed: Vec::new(),
/// };
/// let figure = Picture { title: "My program", kind: Kind::Parity(&times) };
/// assert!(draw(&figure, Format::Svg)?.starts_with(b"<svg"));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// What ran, each configuration at most once, in any order.
    pub measured: Vec<MeasuredTime>,
    /// What that is called: `measured`, or `emulated` where nothing but an emulation ran.
    pub measured_as: String,
    /// What is predicted; intervals are drawn of these.
    pub predicted: Series,
    /// What another model predicts.
    pub beside: Option<Series>,
    /// What the numbers are, where they are no times.
    pub measure: Measure,
    /// What m and p are called.
    pub names: Names,
    /// Configurations that cannot be chosen, and why; a map crosses them out.
    pub failed: Vec<(Mapping, String)>,
}

impl Times {
    /// Takes the rows of a `validation.csv`, with the intervals of a `predictions.csv`, which may be
    /// empty and need not have every configuration.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where m or p is 0.
    pub fn of_validation(rows: &[Validation], predictions: &[Prediction]) -> Result<Self> {
        let intervals = predictions.iter().map(|row| ((row.m, row.p), (row.low_s, row.high_s)));
        let intervals: BTreeMap<(u32, u32), (f64, f64)> = intervals.collect();
        let (mut measured, mut predicted, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let mapping = Mapping::new(row.m, row.p)?;
            let standing = Standing::Slower;
            let interval = intervals.get(&(row.m, row.p));
            let interval = interval.map(|(low, high)| (Seconds(*low), Seconds(*high)));
            let time = Seconds(row.predicted_s);
            predicted.push(PredictedTime { mapping, time, interval, standing });
            if let Some(time) = row.refined_s.0.map(Seconds) {
                beside.push(PredictedTime { mapping, time, interval: None, standing });
            }
            measured.push(MeasuredTime::once(row)?);
        }
        let beside = Series { name: "the refined model".into(), rows: beside };
        Ok(Self {
            measured,
            measured_as: "measured".into(),
            predicted: Series { name: "equation 11".into(), rows: predicted },
            beside: (!beside.rows.is_empty()).then_some(beside),
            measure: Measure::default(),
            names: Names::default(),
            failed: Vec::new(),
        })
    }

    /// Takes the rows of a `predictions.csv`, of which nothing has been measured yet.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where m or p is 0.
    pub fn of_predictions(rows: &[Prediction]) -> Result<Self> {
        let rows = rows.iter().map(PredictedTime::try_from).collect::<Result<_>>()?;
        Ok(Self {
            measured: Vec::new(),
            measured_as: "measured".into(),
            predicted: Series { name: "equation 11".into(), rows },
            beside: None,
            measure: Measure::default(),
            names: Names::default(),
            failed: Vec::new(),
        })
    }
}

impl MeasuredTime {
    /// A row of a `validation.csv`, as one run.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where m or p is 0.
    pub fn once(row: &Validation) -> Result<Self> {
        let mapping = Mapping::new(row.m, row.p)?;
        Ok(Self { mapping, time: Seconds(row.measured_s), repetitions: 1 })
    }
}

impl TryFrom<&Prediction> for PredictedTime {
    type Error = Error;

    /// Fails with [`Error::OutOfRange`] where m or p is 0.
    fn try_from(row: &Prediction) -> Result<Self> {
        let standing = match row.indistinguishable {
            0 => Standing::Slower,
            _ => Standing::Indistinguishable,
        };
        Ok(Self {
            mapping: Mapping::new(row.m, row.p)?,
            time: Seconds(row.time_s),
            interval: (row.low_s < row.high_s).then_some((Seconds(row.low_s), Seconds(row.high_s))),
            standing,
        })
    }
}

/// Times beyond this are refused \[s\]: thirty million years.
pub(super) const LONGEST_S: f64 = 1e15;

/// The most points that have hollow marks and intervals; more have dots and areas.
const MANY: usize = 160;

/// A configuration with its times \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub m: u32,
    pub p: u32,
    pub measured: Option<f64>,
    pub predicted: Option<f64>,
    /// The prediction of the other model.
    pub beside: Option<f64>,
    /// The interval of what is predicted.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// The configuration: `(4, 2)`.
    pub fn name(&self) -> String {
        format!("({}, {})", self.m, self.p)
    }
}

/// What the pictures of times draw.
#[derive(Debug, Clone)]
pub(super) struct Points {
    /// Sorted by m and, for each m, by p.
    pub points: Vec<Point>,
    pub measured_as: String,
    pub measure: Measure,
    /// What m and p are called.
    pub called: Names,
    /// The names of both models.
    names: [String; 2],
    /// The number of runs of a time in words, where there are several.
    repetitions: String,
}

/// What predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    First,
    Beside,
}

impl Model {
    pub const ALL: [Self; 2] = [Self::First, Self::Beside];

    /// Mark of the model, where as many points are drawn.
    pub fn mark(self, count: usize) -> Mark {
        match self {
            _ if is_many(count) => Mark::Dot(self.color()),
            Self::First => Mark::Diamond(self.color()),
            Self::Beside => Mark::Triangle(self.color()),
        }
    }

    pub fn color(self) -> Color {
        match self {
            Self::First => PREDICTED,
            Self::Beside => REFINED,
        }
    }

    /// What it predicts for a point.
    pub fn of(self, point: &Point) -> Option<f64> {
        match self {
            Self::First => point.predicted,
            Self::Beside => point.beside,
        }
    }

    /// Errors of the model \[%\], where the measured time is above 0.
    pub fn errors(self, points: &[Point]) -> impl Iterator<Item = (&Point, f64)> {
        let of_point = move |point| Some((point, error_percent(point, self.of(point)?)?));
        points.iter().filter_map(of_point)
    }
}

/// Whether so many points crowd a picture.
pub(super) fn is_many(count: usize) -> bool {
    count > MANY
}

/// `100*(predicted - measured)/measured`.
pub(super) fn error_percent(point: &Point, predicted: f64) -> Option<f64> {
    let measured = point.measured?;
    let error = 100.0 * (predicted - measured) / measured;
    error.is_finite().then_some(error)
}

/// A time that can be drawn.
pub(super) fn checked(name: &'static str, value: f64) -> Result<f64> {
    if (0.0..=LONGEST_S).contains(&value) {
        return Ok(value);
    }
    let expected = format!("a time from 0 to {LONGEST_S:e} s");
    Err(Error::out_of_range(name, value.to_string(), expected))
}

/// What was measured and predicted, by configuration.
pub(super) fn points(times: &Times) -> Result<Points> {
    let mut points: BTreeMap<(u32, u32), Point> = BTreeMap::new();
    let mut point = |mapping: Mapping, edit: &dyn Fn(&mut Point)| {
        let (m, p) = (mapping.m(), mapping.p());
        let none = Point { m, p, measured: None, predicted: None, beside: None, interval: None };
        edit(points.entry((m, p)).or_insert(none));
    };
    for row in &times.measured {
        let time = checked("measured_s", row.time.0)?;
        point(row.mapping, &|point| point.measured = Some(time));
    }
    for row in &times.predicted.rows {
        let time = checked("predicted_s", row.time.0)?;
        let ends = |(low, high): (Seconds, Seconds)| {
            Ok((checked("low_s", low.0)?, checked("high_s", high.0)?))
        };
        let interval = row.interval.map(ends).transpose()?;
        let interval = interval.filter(|(low, high)| low < high);
        point(row.mapping, &|point| (point.predicted, point.interval) = (Some(time), interval));
    }
    for row in times.beside.iter().flat_map(|series| &series.rows) {
        let time = checked("refined_s", row.time.0)?;
        point(row.mapping, &|point| point.beside = Some(time));
    }
    let of_beside = times.beside.as_ref().map_or(String::new(), |series| series.name.clone());
    Ok(Points {
        called: times.names.clone(),
        points: points.into_values().collect(),
        measured_as: times.measured_as.clone(),
        measure: times.measure.clone(),
        names: [times.predicted.name.clone(), of_beside],
        repetitions: repetitions(&times.measured),
    })
}

/// How many runs a time is of, in words that follow "measured".
fn repetitions(measured: &[MeasuredTime]) -> String {
    let counts = || measured.iter().map(|row| row.repetitions);
    match (counts().min().unwrap_or(1), counts().max().unwrap_or(1)) {
        (_, 0 | 1) => String::new(),
        (least, most) if least == most => format!(", {most} runs each"),
        (least, most) => format!(", {least} to {most} runs each"),
    }
}

/// All times that a picture of these points has to show. Intervals may double its reach at either
/// end, no more: a wide one would flatten everything else.
pub(super) fn all(points: &[Point]) -> impl Iterator<Item = f64> + Clone {
    let times = points
        .iter()
        .flat_map(|point| point.measured.into_iter().chain(point.predicted).chain(point.beside));
    let (low, high) = times
        .clone()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), time| (low.min(time), high.max(time)));
    let within = move |time: f64| time.max(low / 2.0).min(high * 2.0);
    let intervals = points.iter().filter_map(|point| point.interval);
    times.chain(intervals.flat_map(move |(low, high)| [within(low), within(high)]))
}

impl Points {
    /// Entries of a legend for what the points have.
    pub fn legend(&self, marks: Marks) -> Vec<Entry> {
        let points = &self.points;
        let mut entries = match marks {
            Marks::OverLines if points.iter().any(|point| point.measured.is_some()) => {
                let words = format!("{}{}", self.measured_as, self.repetitions);
                vec![entry(Mark::Dot(MEASURED), &words)]
            }
            _ => Vec::new(),
        };
        for (model, name) in Model::ALL.into_iter().zip(&self.names) {
            if points.iter().any(|point| model.of(point).is_some()) {
                let line = Mark::Line(model.color());
                let marks = match marks {
                    Marks::OverLines if is_many(points.len()) => vec![line],
                    Marks::OverLines => vec![line, model.mark(points.len())],
                    Marks::Alone => vec![model.mark(points.len())],
                };
                entries.push((marks, format!("predicted by {name}")));
            }
        }
        if points.iter().any(|point| point.interval.is_some()) {
            let mark = match is_many(points.len()) {
                true => Mark::Area(BAND),
                false => Mark::Interval(SKY),
            };
            let words = format!("95 % interval of {}", self.names[0]);
            match (marks, is_many(points.len())) {
                // Where points lie in no order, thousands of intervals would hide them.
                (Marks::Alone, true) => {}
                _ => entries.push(entry(mark, &words)),
            }
        }
        entries
    }
}

/// Whether lines run through the marks of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    OverLines,
    Alone,
}
