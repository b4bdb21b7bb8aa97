//! The pictures that compare predicted with measured times: against m, against p, of every (m, p).

use super::axis::Axis;
use super::chart::{Area, Chart, Drawing, Surround, panels, picture};
use super::columns::{self, Columns, GAP};
use super::errors::{parity, residuals};
use super::scene::{Anchor, Color, Font, Place, Scene, px};
use super::style::{self, BAND, Entry, MEASURED, Mark, PREDICTED, SHADE, TEXT, entry, stroke};
use super::times::{Marks, Model, Point, Points, Times, all, is_many, points};
use crate::error::{Error, Result};

/// The pictures that compare predicted with measured times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    AgainstM,
    AgainstP,
    OverAll,
    Combined,
    Parity,
    Residuals,
}

/// The picture of these times.
pub(super) fn scene(title: &str, comparison: Comparison, times: &Times) -> Result<Scene> {
    let points = points(times)?;
    if !points.points.iter().any(|point| comparison.shows(point)) {
        return Err(Error::too_little(
            format!("predicted and {} times", times.measured_as),
            format!("no configuration {}", comparison.condition()),
            "measure or predict at least one such configuration",
        ));
    }
    let legend = comparison.legend(&points);
    picture(title, comparison.size(), &legend, |area| comparison.draw(area, &points))
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
            // For its axes to have the same length.
            Self::Parity => (680.0, 640.0),
            Self::Residuals => (1200.0, 480.0),
        }
    }

    fn legend(self, points: &Points) -> Vec<Entry> {
        let mut entries = match self {
            Self::Parity => with_mean_errors(points),
            Self::Residuals => points.legend(Marks::Alone),
            _ => return points.legend(Marks::OverLines),
        };
        let words = format!("within 10 % of the {} {}", points.measured_as, points.measure.name);
        entries.push(entry(Mark::Area(SHADE), &words));
        entries
    }

    fn draw(self, area: &Area, times: &Points) -> Drawing {
        match self {
            Self::AgainstM => against_m(area, times, ""),
            Self::AgainstP => against_p(area, times, ""),
            Self::OverAll => over_all(area, times, ""),
            Self::Parity => parity(area, times),
            Self::Residuals => residuals(area, &times.points, &times.called),
            Self::Combined => {
                let (upper, lower) = area.split_vertically(px(390.0));
                let halves = panels(&upper, 2, 2);
                against_m(&halves[0], times, "(a) ")?;
                against_p(&halves[1], times, "(b) ")?;
                over_all(&lower, times, "(c) ")
            }
        }
    }
}

/// Entries of the models, each with its mean error.
fn with_mean_errors(points: &Points) -> Vec<Entry> {
    let mut entries = points.legend(Marks::Alone);
    let count = points.points.len();
    for (marks, words) in &mut entries {
        let model = Model::ALL.into_iter().find(|model| *marks == [model.mark(count)]);
        let Some(model) = model else { continue };
        let errors: Vec<f64> = model.errors(&points.points).map(|(_, error)| error.abs()).collect();
        if !errors.is_empty() {
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            *words += &format!(", mean error {mean:.1} %");
        }
    }
    entries
}

/// A point at its place on the horizontal axis.
type Placed = (f64, Point);

/// Time against m at p = 1; `letter` stands before the caption.
fn against_m(panel: &Area, times: &Points, letter: &str) -> Drawing {
    let [caption, ..] = times.called.alone();
    let [title, _] = times.called.axes();
    let points = times.points.iter().filter(|point| point.p == 1).map(|it| (it.m, *it)).collect();
    against(panel, times, points, [&(letter.to_string() + &caption), &title])
}

/// Time against p at m = 1; `letter` stands before the caption.
fn against_p(panel: &Area, times: &Points, letter: &str) -> Drawing {
    let [_, caption, title] = times.called.alone();
    let points = times.points.iter().filter(|point| point.m == 1).map(|it| (it.p, *it)).collect();
    against(panel, times, points, [&(letter.to_string() + &caption), &title])
}

/// Time against a count.
fn against(
    panel: &Area,
    times: &Points,
    points: Vec<(u32, Point)>,
    [caption, x_title]: [&str; 2],
) -> Drawing {
    let counts: Vec<u32> = points.iter().map(|it| it.0).collect();
    let group = points.into_iter().map(|(count, point)| (f64::from(count), point)).collect();
    let around = Surround { caption, x_title, ..Surround::default() };
    let panel =
        TimesPanel { times, groups: vec![group], places: counts.len() as f64, columns: None }
            .draw(panel, Axis::of_counts(&counts), around)?;
    match counts.is_empty() {
        true => panel.instead_of_data("no such configuration is known"),
        false => Ok(()),
    }
}

/// Time of every configuration, grouped by m; `letter` stands before the caption.
fn over_all(panel: &Area, times: &Points, letter: &str) -> Drawing {
    let points = &times.points;
    let columns = Columns::new(points.iter().map(|point| (point.m, point.p)).collect());
    let placed = |index: usize| (columns.places[index], points[index]);
    let groups = columns.groups().map(|indices| indices.map(placed).collect()).collect();
    let places = columns.places.last().unwrap_or(&0.0) + 1.6;
    let caption = format!("{letter}Every configuration (m, p)");
    let x_title = times.called.grouped();
    let around = Surround {
        caption: &caption,
        x_title: &x_title,
        above: BEST_HEIGHT,
        below: columns::BELOW,
        ..Surround::default()
    };
    TimesPanel { times, groups, places, columns: Some(&columns) }.draw(
        panel,
        columns.axis(),
        around,
    )?;
    Ok(())
}

/// A panel of times over places.
struct TimesPanel<'a> {
    times: &'a Points,
    /// Points that lines join.
    groups: Vec<Vec<Placed>>,
    /// How many places the horizontal axis has room for.
    places: f64,
    /// What the places are, where they are not counts: the best are named then.
    columns: Option<&'a Columns>,
}

impl TimesPanel<'_> {
    fn draw<'a>(&self, panel: &'a Area, x: Axis, around: Surround<'a>) -> Drawing<Chart<'a>> {
        let placed = || self.groups.iter().flatten();
        let points: Vec<Point> = placed().map(|it| it.1).collect();
        let count = self.times.points.len();
        let is_many = is_many(count);
        let largest = all(&points).fold(0.0, f64::max);
        let factor = self.times.measure.factor(largest);
        let y = Axis::of_times(all(&points).map(|time| time * factor));
        let y_title = self.times.measure.title(largest);
        let interval = |&(x, point): &Placed| {
            let (low, high) = point.interval?;
            Some((x, (low * factor, high * factor)))
        };
        let mut chart = Chart::new(panel, [x, y], around)?;
        for group in self.groups.iter().filter(|_| is_many) {
            let intervals: Vec<_> = group.iter().filter_map(interval).collect();
            chart.band(&intervals)?;
            // That of a column alone is as wide as the column.
            if let ([(x, (low, high))], Some(_)) = (&intervals[..], self.columns) {
                let half = (1.0 + GAP) / 2.0;
                chart.rectangle([(x - half, *high), (x + half, *low)], BAND)?;
            }
        }
        chart.axes(&y_title)?;
        if let Some(columns) = self.columns {
            columns.labels(&chart)?;
            self.draw_best(&chart, factor)?;
        }
        for (x, ends) in placed().filter(|_| !is_many).filter_map(interval) {
            chart.interval(x, ends, 0.0)?;
        }
        let of = |model: Model, &(x, point): &Placed| Some((x, model.of(&point)? * factor));
        for model in Model::ALL {
            for group in &self.groups {
                chart.line(group.iter().filter_map(|it| of(model, it)), model.color(), 1.4)?;
            }
        }
        let radius = style::dot_radius(chart.data.width() / self.places.max(1.0));
        for model in Model::ALL {
            // Of many points the lines say all, but where there is a single one.
            let alone =
                self.groups.iter().filter(|it| !is_many || self.columns.is_some() && it.len() == 1);
            let marked = alone.flatten().filter_map(|it| of(model, it));
            chart.marks((model.mark(count), radius), 0.0, marked)?;
        }
        let measured = placed().filter_map(|(x, point)| Some((*x, point.measured? * factor)));
        chart.marks((Mark::Dot(MEASURED), radius), 0.0, measured)?;
        let drawn = placed().flat_map(|(x, point)| {
            let times = [point.measured, point.predicted, point.beside];
            let at = |time: f64| (point.name(), chart.at(*x, time * factor));
            times.into_iter().flatten().map(at).collect::<Vec<_>>()
        });
        chart.spots(drawn)?;
        Ok(chart)
    }

    /// Names the best measured and the best predicted configuration.
    fn draw_best(&self, chart: &Chart<'_>, factor: f64) -> Drawing {
        let measure = &self.times.measure;
        let best = |kind: &str, color: Color, time: fn(&Point) -> Option<f64>| {
            let timed: Vec<(f64, f64, (u32, u32))> = self
                .groups
                .iter()
                .flatten()
                .filter_map(|(x, point)| Some((*x, time(point)?, (point.m, point.p))))
                .collect();
            let (x, time, (m, p)) = timed[measure.best_of(timed.iter().map(|it| (it.1, it.2)))?];
            let name = format!("{kind} best ({m}, {p}) {}", measure.words(time));
            Some(Best { at: chart.at(x, time * factor), name, color })
        };
        let measured = best(&self.times.measured_as, MEASURED, |point| point.measured);
        let predicted = best("predicted", PREDICTED, |point| point.predicted);
        names_of_best(chart, measured.into_iter().chain(predicted).collect())
    }
}

/// A configuration to be named above the data.
struct Best {
    /// The place at which its time is drawn.
    at: Place,
    /// Words: "measured best (4, 4) 12.3 ms".
    name: String,
    /// The colour of the line and the name.
    color: Color,
}

/// Height of the row of such a name, and of the space above the data that two of them take.
const BEST_ROW: f64 = 17.0;
const BEST_HEIGHT: f64 = 2.0 * BEST_ROW + 8.0;

/// Draws two names at most, and their lines, so that no line runs through the other's name.
fn names_of_best(chart: &Chart<'_>, mut named: Vec<Best>) -> Drawing {
    named.sort_by(|one, other| one.at[0].total_cmp(&other.at[0]));
    // Two lines in one column stand side by side.
    if let [one, other] = &mut named[..]
        && one.at[0] == other.at[0]
    {
        one.at[0] -= 1.0;
        other.at[0] += 1.0;
    }
    let (Some(first), Some(last)) = (named.first(), named.last()) else { return Ok(()) };
    let room = named.iter().map(|best| TEXT.width(&best.name)).fold(0.0, f64::max) + 8.0;
    // If possible both on the same side of their lines.
    let sides = if last.at[0] + room <= chart.data.right {
        [1.0, 1.0]
    } else if first.at[0] - room >= chart.data.left {
        [-1.0, -1.0]
    } else {
        [1.0, -1.0]
    };
    // The line from the upper row passes the lower one, so that row's name must be beyond it.
    let rows = if sides[1] > 0.0 { [0.0, 1.0] } else { [1.0, 0.0] };
    chart.sketch(|scene| {
        for ((best, side), row) in named.iter().zip(sides).zip(rows) {
            let [x, y] = best.at;
            let row_y = chart.data.top - (2.0 * BEST_ROW + 2.0) + BEST_ROW * (row + 0.5);
            scene.line(vec![[x, row_y - 6.0], [x, y]], stroke(best.color, 1.0));
            let anchor = if side > 0.0 { Anchor::Start } else { Anchor::End };
            let font = Font { color: best.color, ..TEXT }.at(anchor);
            scene.text(&best.name, [x + 6.0 * side, row_y], font);
        }
    })
}
