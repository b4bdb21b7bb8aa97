//! Times that are compared: of each configuration the measured one, what the models predict, and the
//! interval of the prediction.

use std::collections::BTreeMap;

use super::scene::Color;
use super::style::{Entry, MEASURED, Mark, PREDICTED, REFINED, SKY, entry};
use crate::error::{Error, Result};
use crate::table::records::{Prediction, Validation};

/// Predicted beside measured times.
#[derive(Debug, Clone, Copy)]
pub struct Times<'a> {
    /// The rows of a `validation.csv` in any order, each (m, p) at most once.
    pub rows: &'a [Validation],
    /// The rows of a `predictions.csv`, for the 95 % intervals of equation 11; may be empty, and
    /// need not have every configuration.
    pub predictions: &'a [Prediction],
}

/// Times beyond this are refused \[s\]: thirty million years.
pub(super) const LONGEST_S: f64 = 1e15;

/// A configuration with its times \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub m: u32,
    pub p: u32,
    pub measured: f64,
    /// By equation 11.
    pub predicted: f64,
    /// By the refined model.
    pub refined: Option<f64>,
    /// The interval of what equation 11 predicts.
    pub interval: Option<(f64, f64)>,
}

/// What predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    Equation11,
    Refined,
}

impl Model {
    pub const ALL: [Self; 2] = [Self::Equation11, Self::Refined];

    pub fn mark(self) -> Mark {
        match self {
            Self::Equation11 => Mark::Diamond(self.color()),
            Self::Refined => Mark::Triangle(self.color()),
        }
    }

    pub fn line(self) -> Mark {
        Mark::Line(self.color())
    }

    pub fn color(self) -> Color {
        match self {
            Self::Equation11 => PREDICTED,
            Self::Refined => REFINED,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Equation11 => "predicted by equation 11",
            Self::Refined => "predicted by the refined model",
        }
    }

    /// What it predicts for a point.
    pub fn of(self, point: &Point) -> Option<f64> {
        match self {
            Self::Equation11 => Some(point.predicted),
            Self::Refined => point.refined,
        }
    }

    /// Its errors \[%\], where the measured time is above 0.
    pub fn errors(self, points: &[Point]) -> impl Iterator<Item = (&Point, f64)> {
        let of_point = move |point| Some((point, error_percent(point, self.of(point)?)?));
        points.iter().filter_map(of_point)
    }
}

/// `100*(predicted - measured)/measured`.
pub(super) fn error_percent(point: &Point, predicted: f64) -> Option<f64> {
    let error = 100.0 * (predicted - point.measured) / point.measured;
    error.is_finite().then_some(error)
}

/// A time that can be drawn.
pub(super) fn checked(name: &'static str, value: f64) -> Result<f64> {
    if (0.0..=LONGEST_S).contains(&value) {
        return Ok(value);
    }
    let expected = format!("a time from 0 to {LONGEST_S:e} s");
    Err(Error::OutOfRange { name, found: value.to_string(), expected })
}

/// The rows by m and, for each m, by p.
pub(super) fn points(times: &Times<'_>) -> Result<Vec<Point>> {
    let Times { rows, predictions } = times;
    let intervals: BTreeMap<(u32, u32), (f64, f64)> =
        predictions.iter().map(|row| ((row.m, row.p), (row.low_s, row.high_s))).collect();
    let mut points = Vec::with_capacity(rows.len());
    for row in *rows {
        let interval = intervals.get(&(row.m, row.p));
        let interval = interval
            .map(|(low, high)| Ok((checked("low_s", *low)?, checked("high_s", *high)?)))
            .transpose()?;
        points.push(Point {
            m: row.m,
            p: row.p,
            measured: checked("measured_s", row.measured_s)?,
            predicted: checked("predicted_s", row.predicted_s)?,
            refined: row.refined_s.0.map(|time| checked("refined_s", time)).transpose()?,
            interval,
        });
    }
    points.sort_by_key(|point| (point.m, point.p));
    Ok(points)
}

/// All times that a picture of these points has to show.
pub(super) fn all(points: &[Point]) -> impl Iterator<Item = f64> + Clone {
    points.iter().flat_map(|point| {
        let interval = point.interval.map(|(low, high)| [low, high]);
        [point.measured, point.predicted]
            .into_iter()
            .chain(point.refined)
            .chain(interval.into_iter().flatten())
    })
}

/// Entries of a legend for what the points have; `through` says whether lines run through marks.
pub(super) fn legend(points: &[Point], through: Through) -> Vec<Entry> {
    let mut entries = match through {
        Through::Lines => vec![entry(Mark::Dot(MEASURED), "measured")],
        Through::Nothing => Vec::new(),
    };
    for model in Model::ALL {
        if points.iter().any(|point| model.of(point).is_some()) {
            let marks = match through {
                Through::Lines => vec![model.line(), model.mark()],
                Through::Nothing => vec![model.mark()],
            };
            entries.push((marks, model.name().to_string()));
        }
    }
    if points.iter().any(|point| point.interval.is_some()) {
        entries.push(entry(Mark::Interval(SKY), "95 % interval of equation 11"));
    }
    entries
}

/// What runs through the marks of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    Lines,
    Nothing,
}
