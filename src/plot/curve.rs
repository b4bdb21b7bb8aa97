//! The panels of one grain of parallelism: time against m, and time against p.

use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::frame::{Frame, Surround};
use super::style::{self, INK, TEXT};
use super::unit::Unit;
use super::{Area, Drawn, Point};

/// Time against m at p = 1; `letter` stands before the caption.
pub(super) fn against_m<DB: DrawingBackend>(
    area: &Area<DB>,
    points: &[Point],
    letter: &str,
) -> Drawn<DB> {
    let caption = format!("{letter}One APU for each host thread (p = 1)");
    let points: Vec<_> = points.iter().filter(|point| point.p == 1).map(|p| (p.m, *p)).collect();
    draw(area, &points, &caption, "host threads m")
}

/// Time against p at m = 1; `letter` stands before the caption.
pub(super) fn against_p<DB: DrawingBackend>(
    area: &Area<DB>,
    points: &[Point],
    letter: &str,
) -> Drawn<DB> {
    let caption = format!("{letter}One host thread (m = 1)");
    let points: Vec<_> = points.iter().filter(|point| point.m == 1).map(|p| (p.p, *p)).collect();
    draw(area, &points, &caption, "APUs for the host thread p")
}

/// The points, each at its count of m or p.
fn draw<DB: DrawingBackend>(
    area: &Area<DB>,
    points: &[(u32, Point)],
    caption: &str,
    x_title: &str,
) -> Drawn<DB> {
    let times = points.iter().flat_map(|(_, point)| [point.measured, point.predicted]);
    let unit = Unit::of(times.clone().fold(0.0, f64::max));
    let counts: Vec<u32> = points.iter().map(|(count, _)| *count).collect();
    let x = Axis::of_counts(&counts);
    let y = Axis::of_times(times.map(|time| time * unit.per_second));
    let y_title = format!("time [{}]", unit.symbol);
    let surround = Surround { caption, x_title, y_title: &y_title, above: 0, below: 48 };
    let frame = Frame::draw(area, x, y, &surround)?;
    if points.is_empty() {
        let middle = (
            frame.x_limits.0.midpoint(frame.x_limits.1),
            frame.y_limits.0.midpoint(frame.y_limits.1),
        );
        let style = style::anchored(style::text(TEXT, INK), HPos::Center);
        return style::write(area, "no such configuration was measured", &style, middle);
    }
    let at = |count: &u32, time: f64| frame.at(f64::from(*count), time * unit.per_second);
    style::line(area, points.iter().map(|(count, point)| at(count, point.predicted)).collect())?;
    let spacing = f64::from(frame.x_limits.1 - frame.x_limits.0) / points.len() as f64;
    let radius = style::dot_radius(spacing);
    for (count, point) in points {
        style::diamond(area, at(count, point.predicted), radius)?;
    }
    for (count, point) in points {
        style::dot(area, at(count, point.measured), radius)?;
    }
    Ok(())
}
