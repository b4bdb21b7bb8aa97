//! The panel of all configurations, grouped by m.

use std::ops::Range;

use super::axis::Axis;
use super::best::{self, Best};
use super::frame::{self, Frame, Surround};
use super::scene::{Anchor, Bounds, Color, Place, Scene};
use super::style::{self, BAND, INK, LABEL, MEASURED, Mark, PREDICTED, stroke};
use super::times::{Model, Point, Points, all, is_many};

/// Space between two groups, in widths of a column.
const GAP: f64 = 0.7;

/// Height of a row of text below the data.
const ROW: f64 = 17.0;

/// Height of the space that labels and title of the horizontal axis take.
pub(super) const BELOW: f64 = 2.0 * ROW + 44.0;

/// What the labels below the data are.
pub(super) const X_TITLE: &str = "APUs p for each host thread, grouped by host threads m";

/// Draws the points, which come by m and then by p; `letter` stands before the caption.
pub(super) fn draw(scene: &mut Scene, panel: Bounds, times: &Points, letter: &str) {
    let points = &times.points;
    let largest = all(points).fold(0.0, f64::max);
    let factor = times.measure.factor(largest);
    let configurations: Vec<(u32, u32)> = points.iter().map(|point| (point.m, point.p)).collect();
    let columns = Columns::new(&configurations);
    let y = Axis::of_times(all(points).map(|time| time * factor));
    let caption = format!("{letter}Every configuration (m, p)");
    let y_title = times.measure.title(largest);
    let surround = Surround {
        caption: &caption,
        x_title: X_TITLE,
        y_title: &y_title,
        above: best::HEIGHT,
        below: BELOW,
    };
    let frame = Frame::new(panel, columns.axis(), y, &surround);
    let drawn = Panel { times, columns: &columns, frame: &frame, factor };
    if is_many(points.len()) {
        drawn.draw_bands(scene);
    }
    frame.draw_around(scene, panel, &surround);
    columns.labels(scene, &frame);
    drawn.draw_best(scene);
    drawn.draw_times(scene);
}

/// A column for each configuration, the groups of one m a little apart.
pub(super) struct Columns<'a> {
    configurations: &'a [(u32, u32)],
    /// The place of each on the horizontal axis.
    places: Vec<f64>,
}

impl<'a> Columns<'a> {
    /// Of configurations (m, p) that come by m and then by p.
    pub fn new(configurations: &'a [(u32, u32)]) -> Self {
        let mut place = 0.0;
        let places = configurations.iter().enumerate().map(|(index, (m, _))| {
            if let Some((before, _)) = index.checked_sub(1).map(|last| configurations[last]) {
                place += if before == *m { 1.0 } else { 1.0 + GAP };
            }
            place
        });
        let places = places.collect();
        Self { configurations, places }
    }

    /// The horizontal axis that has them all.
    pub fn axis(&self) -> Axis {
        Axis::of_places(-0.8, self.places.last().unwrap_or(&0.0) + 0.8)
    }

    /// The middle of the column with that index.
    pub fn x(&self, index: usize, frame: &Frame) -> f64 {
        frame.x_at(self.places[index])
    }

    /// From one column to the next.
    pub fn width(&self, frame: &Frame) -> f64 {
        frame.x_at(1.0) - frame.x_at(0.0)
    }

    /// The indices of the configurations of each m.
    fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.configurations.chunk_by(|one, next| one.0 == next.0).map(move |group| {
            let start = end;
            end += group.len();
            start..end
        })
    }

    /// p below each column and m below each group, as far as there is room for them.
    pub fn labels(&self, scene: &mut Scene, frame: &Frame) {
        let Bounds { left, bottom, .. } = frame.data;
        let (p_row, m_row) = (bottom + ROW - 3.0, bottom + 2.0 * ROW + 5.0);
        for (name, y) in [("p", p_row), ("m", m_row)] {
            scene.text(name, [left - 8.0, y], LABEL.at(Anchor::End));
        }
        let widest = self.configurations.iter().map(|(_, p)| p).max().unwrap_or(&1);
        let widest = LABEL.width(&widest.to_string()) + 3.0;
        let stride = (widest / self.width(frame)).ceil().max(1.0) as usize;
        let half = (self.width(frame) / 3.0).min(14.0);
        let mut p_labels = Vec::new();
        let mut m_labels = Vec::new();
        for indices in self.groups() {
            let (first, last) = (self.x(indices.start, frame), self.x(indices.end - 1, frame));
            let bracket = vec![[first - half, m_row - 11.0], [last + half, m_row - 11.0]];
            scene.line(bracket, stroke(INK, 0.8));
            m_labels.push((first.midpoint(last), self.configurations[indices.start].0.to_string()));
            // Of a group that has no room for a second label, the only one would be p = 1.
            let is_narrow = stride > 1 && indices.len() <= 2 * stride;
            for index in indices.step_by(stride).filter(|_| !is_narrow) {
                p_labels.push((self.x(index, frame), self.configurations[index].1.to_string()));
            }
        }
        frame::row(scene, p_row, p_labels.into_iter());
        frame::row(scene, m_row, m_labels.into_iter());
    }
}

/// The panel once its axes stand.
struct Panel<'a> {
    times: &'a Points,
    columns: &'a Columns<'a>,
    frame: &'a Frame,
    /// What numbers are multiplied by to be shown.
    factor: f64,
}

impl Panel<'_> {
    fn points(&self) -> &[Point] {
        &self.times.points
    }

    /// The place of a time in the column of the point with that index.
    fn at(&self, index: usize, time: f64) -> Place {
        [self.columns.x(index, self.frame), self.frame.y_at(time * self.factor)]
    }

    /// The interval of a point in its column, in the unit of the axis.
    fn interval(&self, index: usize) -> Option<(f64, [f64; 2])> {
        let (low, high) = self.points()[index].interval?;
        let ends = [low, high].map(|end| end * self.factor);
        Some((self.columns.x(index, self.frame), ends))
    }

    /// The intervals of each m as an area; that of a column alone is as wide as the column.
    fn draw_bands(&self, scene: &mut Scene) {
        let half = self.columns.width(self.frame) * (1.0 + GAP) / 2.0;
        for indices in self.columns.groups() {
            let intervals: Vec<_> = indices.filter_map(|index| self.interval(index)).collect();
            self.frame.band(scene, &intervals);
            if let [(x, [low, high])] = intervals[..] {
                let (top, bottom) = (self.frame.y_at(high), self.frame.y_at(low));
                scene.rectangle(Bounds::new(x - half, top, x + half, bottom), BAND);
            }
        }
    }

    /// The marks of all points, and lines through the predicted times of each m. Of many points the
    /// lines say all, but where there is a single one.
    fn draw_times(&self, scene: &mut Scene) {
        let points = self.points();
        let is_many = is_many(points.len());
        let intervals = (0..points.len()).filter(|_| !is_many).filter_map(|it| self.interval(it));
        intervals.for_each(|(x, ends)| self.frame.interval(scene, x, ends));
        for model in Model::ALL {
            for indices in self.columns.groups() {
                let time = |index: usize| Some(self.at(index, model.of(&points[index])?));
                scene.line(indices.filter_map(time).collect(), stroke(model.color(), 1.4));
            }
        }
        let radius = style::dot_radius(self.columns.width(self.frame));
        for model in Model::ALL {
            for index in self.columns.groups().filter(|it| !is_many || it.len() == 1).flatten() {
                if let Some(time) = model.of(&points[index]) {
                    model.mark(points.len()).draw(scene, self.at(index, time), radius);
                }
            }
        }
        for (index, point) in points.iter().enumerate() {
            if let Some(time) = point.measured {
                Mark::Dot(MEASURED).draw(scene, self.at(index, time), radius);
            }
        }
    }

    /// Marks the best measured and the best predicted configuration.
    fn draw_best(&self, scene: &mut Scene) {
        let measured = self.best(&self.times.measured_as, MEASURED, |point| point.measured);
        let predicted = self.best("predicted", PREDICTED, |point| point.predicted);
        best::draw(scene, measured.into_iter().chain(predicted).collect(), &self.frame.data);
    }

    /// The fastest of the points, by the time of that kind.
    fn best(&self, kind: &str, color: Color, time: impl Fn(&Point) -> Option<f64>) -> Option<Best> {
        let measure = &self.times.measure;
        let timed = self.points().iter().enumerate();
        let timed = timed.filter_map(|(index, point)| Some((index, time(point)?)));
        let timed: Vec<(usize, f64)> = timed.collect();
        let of = |&(index, time): &(usize, f64)| {
            let Point { m, p, .. } = self.points()[index];
            (time, (m, p))
        };
        let (index, time) = timed[measure.best_of(timed.iter().map(of))?];
        let Point { m, p, .. } = self.points()[index];
        let name = format!("{kind} best ({m}, {p}) {}", measure.words(time));
        Some(Best { at: self.at(index, time), name, color })
    }
}
