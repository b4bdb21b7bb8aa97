//! The panel of all configurations, grouped by m.

use std::ops::Range;

use plotters::element::PathElement;
use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::TextStyle;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::best::{self, Best};
use super::canvas::{Pixel, px};
use super::frame::{Frame, Surround};
use super::style::{self, INK, LABEL, MEASURED, PREDICTED};
use super::unit::Unit;
use super::{Area, Drawn, Point};
use crate::units::Seconds;

/// Space between two groups, in widths of a column.
const GAP: f64 = 0.7;

/// Height of a row of text below the data, in units of the SVG.
const ROW: i32 = 17;

/// Draws the points, which come by m and then by p; `letter` stands before the caption.
pub(super) fn draw<DB: DrawingBackend>(
    area: &Area<DB>,
    points: &[Point],
    letter: &str,
) -> Drawn<DB> {
    let times = points.iter().flat_map(|point| [point.measured, point.predicted]);
    let unit = Unit::of(times.clone().fold(0.0, f64::max));
    let columns = columns(points);
    let last = columns.last().copied().unwrap_or(0.0);
    let x = Axis::of_places(-0.8, last + 0.8);
    let y = Axis::of_times(times.map(|time| time * unit.per_second));
    let caption = format!("{letter}Every feasible configuration (m, p)");
    let y_title = format!("time [{}]", unit.symbol);
    let surround = Surround {
        caption: &caption,
        x_title: "APUs p for each host thread, grouped by host threads m",
        y_title: &y_title,
        above: best::HEIGHT,
        below: 2 * ROW + 40,
    };
    let frame = Frame::draw(area, x, y, &surround)?;
    let panel = Panel { area, points, columns: &columns, frame: &frame, unit };
    panel.draw_labels()?;
    panel.draw_best()?;
    panel.draw_times()
}

/// The place of each point on the horizontal axis, the groups a little apart.
fn columns(points: &[Point]) -> Vec<f64> {
    let mut place = 0.0;
    let steps = points.windows(2).map(|pair| if pair[0].m == pair[1].m { 1.0 } else { 1.0 + GAP });
    let mut columns = vec![place];
    columns.extend(steps.map(|step| {
        place += step;
        place
    }));
    columns
}

/// The panel once its axes stand.
struct Panel<'a, DB: DrawingBackend> {
    area: &'a Area<DB>,
    points: &'a [Point],
    /// The place of each point on the horizontal axis.
    columns: &'a [f64],
    frame: &'a Frame,
    unit: Unit,
}

impl<DB: DrawingBackend> Panel<'_, DB> {
    /// The pixel of a time in the column of the point with that index.
    fn at(&self, index: usize, time: f64) -> Pixel {
        self.frame.at(self.columns[index], time * self.unit.per_second)
    }

    /// Pixels from one column to the next.
    fn column_width(&self) -> i32 {
        self.frame.at(1.0, 0.0).0 - self.frame.at(0.0, 0.0).0
    }

    /// The marks of all points, and a line through the predicted times of each m.
    fn draw_times(&self) -> Drawn<DB> {
        let radius = style::dot_radius(f64::from(self.column_width()));
        for indices in self.groups() {
            let path = indices.map(|index| self.at(index, self.points[index].predicted));
            style::line(self.area, path.collect())?;
        }
        for (index, point) in self.points.iter().enumerate() {
            style::diamond(self.area, self.at(index, point.predicted), radius)?;
        }
        for (index, point) in self.points.iter().enumerate() {
            style::dot(self.area, self.at(index, point.measured), radius)?;
        }
        Ok(())
    }

    /// The indices of the points of each m.
    fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.points.chunk_by(|one, next| one.m == next.m).map(move |group| {
            let start = end;
            end += group.len();
            start..end
        })
    }

    /// p below each column and m below each group, as far as there is room for them.
    fn draw_labels(&self) -> Drawn<DB> {
        let style = style::anchored(style::text(LABEL - 2, INK), HPos::Center);
        let bottom = self.frame.y_limits.1;
        let (p_row, m_row) = (bottom + px(ROW - 5), bottom + px(2 * ROW + 2));
        let names = style::anchored(style::text(LABEL - 2, INK), HPos::Right);
        style::write(self.area, "p", &names, (self.frame.x_limits.0 - px(8), p_row))?;
        style::write(self.area, "m", &names, (self.frame.x_limits.0 - px(8), m_row))?;

        let widest = self.points.iter().map(|point| style::width(&style, &point.p.to_string()));
        let widest = widest.max().unwrap_or(0) + px(2);
        let stride = (widest - 1) / self.column_width().max(1) + 1;
        let mut p_labels = Row::new(self.area, style.clone(), p_row);
        let mut m_labels = Row::new(self.area, style, m_row);
        for indices in self.groups() {
            let (left, _) = self.at(indices.start, 0.0);
            let (right, _) = self.at(indices.end - 1, 0.0);
            let half = self.column_width() / 3;
            let bracket = vec![(left - half, m_row - px(11)), (right + half, m_row - px(11))];
            self.area.draw(&PathElement::new(bracket, style::stroke(INK, 0.8)))?;
            m_labels.label(left.midpoint(right), self.points[indices.start].m)?;
            for index in indices.step_by(stride as usize) {
                p_labels.label(self.at(index, 0.0).0, self.points[index].p)?;
            }
        }
        Ok(())
    }

    /// Marks the best measured and the best predicted configuration.
    fn draw_best(&self) -> Drawn<DB> {
        let measured = self.best("measured", MEASURED, |point| point.measured);
        let predicted = self.best("predicted", PREDICTED, |point| point.predicted);
        match (measured, predicted) {
            (Some(measured), Some(predicted)) => {
                best::draw(self.area, [measured, predicted], self.frame)
            }
            _ => Ok(()),
        }
    }

    /// The first of the fastest points, by the time of that kind.
    fn best(&self, kind: &str, color: RGBColor, time: impl Fn(&Point) -> f64) -> Option<Best> {
        let times = self.points.iter().map(time).enumerate();
        let (index, time) = times.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let Point { m, p, .. } = self.points[index];
        let name = format!("{kind} best ({m}, {p}) {}", Seconds(time));
        Some(Best { at: self.at(index, time), name, color })
    }
}

/// Labels on one line, from left to right; one that would touch its neighbour is left out.
struct Row<'a, DB: DrawingBackend> {
    area: &'a Area<DB>,
    style: TextStyle<'static>,
    y: i32,
    /// Where the next label may begin.
    free_from: i32,
}

impl<'a, DB: DrawingBackend> Row<'a, DB> {
    fn new(area: &'a Area<DB>, style: TextStyle<'static>, y: i32) -> Self {
        Self { area, style, y, free_from: i32::MIN }
    }

    fn label(&mut self, x: i32, number: u32) -> Drawn<DB> {
        let words = number.to_string();
        let half = style::width(&self.style, &words) / 2;
        if x - half < self.free_from {
            return Ok(());
        }
        self.free_from = x + half + px(2);
        style::write(self.area, &words, &self.style, (x, self.y))
    }
}
