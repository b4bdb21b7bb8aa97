//! The pictures that compare predicted with measured times: against m, against p, of every (m, p), one
//! against the other, and their errors.

use super::axis::Axis;
use super::chart::{Area, Chart, Drawing, Surround, panels, picture};
use super::columns::{self, Columns, GAP};
use super::scene::{Anchor, Color, Font, Place, Scene, px};
use super::style::{
    self, BAND, DOT, Entry, INK, MEASURED, Mark, PREDICTED, SHADE, TEXT, entry, stroke,
};
use super::times::{Marks, Model, Point, Points, Times, all, error_percent, is_many, points};
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

/// How far from equality the band of parity reaches.
const NEAR: f64 = 0.1;

/// How far from 0 the band of errors reaches \[%\].
const NEAR_PERCENT: f64 = 100.0 * NEAR;

/// Words where nothing can be compared.
const NO_PAIR: &str = "no configuration has both times above 0";

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
            Self::Residuals => residuals(area, &times.points),
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
    let caption = format!("{letter}One APU for each host thread (p = 1)");
    let points = times.points.iter().filter(|point| point.p == 1).map(|it| (it.m, *it)).collect();
    against(panel, times, points, [&caption, "host threads m"])
}

/// Time against p at m = 1; `letter` stands before the caption.
fn against_p(panel: &Area, times: &Points, letter: &str) -> Drawing {
    let caption = format!("{letter}One host thread (m = 1)");
    let points = times.points.iter().filter(|point| point.m == 1).map(|it| (it.p, *it)).collect();
    against(panel, times, points, [&caption, "APUs for the host thread p"])
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
    let around = Surround {
        caption: &caption,
        x_title: columns::X_TITLE,
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
    /// Its name: "measured best (4, 4) 12.3 ms".
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

/// Predicted against measured times, where both are above 0, which a logarithm needs.
fn parity(panel: &Area, times: &Points) -> Drawing {
    let has_both = |point: &&Point| {
        let is_positive = |time: Option<f64>| time.is_some_and(|time| time > 0.0);
        is_positive(point.measured) && (is_positive(point.predicted) || is_positive(point.beside))
    };
    let points: Vec<Point> = times.points.iter().filter(has_both).copied().collect();
    let count = times.points.len();
    let largest = all(&points).fold(0.0, f64::max);
    let factor = times.measure.factor(largest);
    let axis = Axis::of_ratios(all(&points).filter(|time| *time > 0.0).map(|time| time * factor));
    let title = times.measure.title(largest);
    let titles = [&*times.measured_as, "predicted"].map(|what| format!("{what} {title}"));
    let caption = match times.measure.name.as_str() {
        "time" => "On the line a prediction is right, above it too long, below it too short",
        _ => "On the line a prediction is right, above it too large, below it too small",
    };
    let around = Surround { caption, x_title: &titles[0], ..Surround::default() };
    let [low, high] = axis.ends();
    let mut chart = Chart::new(panel, [axis.clone(), axis], around)?;
    // Where the band leaves the panel it follows its edge.
    let (inner_low, inner_high) = (low / (1.0 - NEAR), high / (1.0 + NEAR));
    let corner = |measured: f64, factor: f64| (measured, measured * factor);
    let band = vec![
        corner(low, 1.0),
        corner(low, 1.0 + NEAR),
        corner(inner_high, 1.0 + NEAR),
        corner(high, 1.0),
        corner(high, 1.0 - NEAR),
        corner(inner_low, 1.0 - NEAR),
    ];
    chart.polygon(band, SHADE)?;
    chart.axes(&titles[1])?;
    if points.is_empty() {
        return chart.instead_of_data(NO_PAIR);
    }
    chart.line([(low, low), (high, high)], INK, 1.0)?;
    let is_many = is_many(count);
    let measured =
        |point: &Point| point.measured.expect("invariant: the others are left out") * factor;
    for point in points.iter().filter(|_| !is_many) {
        if let Some((low, high)) = point.interval {
            chart.interval(measured(point), (low * factor, high * factor), 0.0)?;
        }
    }
    let radius = if is_many { 1.2 } else { 0.8 * DOT };
    let of = |model: Model, point: &Point| {
        let time = model.of(point).filter(|time| *time > 0.0)?;
        Some((measured(point), time * factor))
    };
    for model in Model::ALL.into_iter().rev() {
        let marked = points.iter().filter_map(|point| of(model, point));
        chart.marks((model.mark(count), radius), 0.0, marked)?;
    }
    let drawn = points.iter().flat_map(|point| {
        let places = Model::ALL.into_iter().filter_map(|model| of(model, point));
        places.map(|(x, y)| (point.name(), chart.at(x, y))).collect::<Vec<_>>()
    });
    chart.spots(drawn)?;
    let worst = |model: Model| {
        let largest = model.errors(&points).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (point, error) = largest?;
        let (x, y) = of(model, point)?;
        let name = format!("{} {error:+.1} %", point.name()).replace('-', "−");
        Some((name, model.color(), chart.at(x, y)))
    };
    let worst: Vec<_> = Model::ALL.into_iter().filter_map(worst).collect();
    let beside = [
        ([11.0, 0.0], Anchor::Start),
        ([-11.0, 0.0], Anchor::End),
        ([0.0, -15.0], Anchor::Middle),
        ([0.0, 15.0], Anchor::Middle),
    ];
    // Among thousands of dots a name has a ground of its own.
    let write = if is_many { style::text_on_white } else { Scene::text };
    let worst = worst.iter().map(|(name, color, at)| (&**name, *color, *at));
    chart.names(worst, &beside, write)
}

/// What errors stand against: caption, title of the axis, and the count of a point.
type Count = (&'static str, &'static str, fn(&Point) -> u32);

const COUNTS: [Count; 3] = [
    ("(a) By host threads", "host threads m", |point| point.m),
    ("(b) By APUs of a host thread", "APUs for each host thread p", |point| point.p),
    ("(c) By all APUs", "APUs in use m × p", |point| point.m.saturating_mul(point.p)),
];

/// Errors of the predictions in three panels with the same vertical axis.
fn residuals(area: &Area, points: &[Point]) -> Drawing {
    let errors = || Model::ALL.into_iter().flat_map(|model| model.errors(points).map(|it| it.1));
    let low = errors().fold(-NEAR_PERCENT, f64::min);
    let high = errors().fold(NEAR_PERCENT, f64::max);
    // Intervals may double the reach of the axis; wider ones would flatten all errors.
    let within = |end: f64| end.max(low - (high - low) / 2.0).min(high + (high - low) / 2.0);
    let ends = points.iter().filter_map(|point| interval_of_errors(point, points.len()));
    let ends = ends.flat_map(|(low, high)| [within(low), within(high)]);
    let errors: Vec<f64> = errors().chain(ends).collect();
    let y = Axis::of_differences(errors.iter().copied());
    let areas = panels(area, COUNTS.len(), COUNTS.len());
    areas
        .iter()
        .zip(COUNTS)
        .try_for_each(|(panel, count)| errors_by(panel, points, count, y.clone()))
}

fn errors_by(panel: &Area, points: &[Point], (caption, x_title, of): Count, y: Axis) -> Drawing {
    let mut counts: Vec<u32> = points.iter().map(of).collect();
    counts.sort_unstable();
    counts.dedup();
    let x = Axis::of_counts(&counts);
    let [first, last] = x.ends();
    let around = Surround { caption, x_title, ..Surround::default() };
    let mut chart = Chart::new(panel, [x, y], around)?;
    chart.rectangle([(first, NEAR_PERCENT), (last, -NEAR_PERCENT)], SHADE)?;
    chart.axes("error of the prediction [%]")?;
    chart.line([(first, 0.0), (last, 0.0)], INK, 1.0)?;
    if Model::ALL.into_iter().all(|model| model.errors(points).next().is_none()) {
        return chart.instead_of_data(NO_PAIR);
    }
    // The models stand side by side at each count.
    let spacing = chart.data.width() / (counts.len() + 1) as f64;
    let radius = if is_many(points.len()) { 1.2 } else { style::dot_radius(spacing).min(2.6) };
    let is_alone = points.iter().all(|point| point.beside.is_none());
    let aside = if is_alone { 0.0 } else { (spacing / 5.0).min(4.5) };
    for point in points {
        if let Some(ends) = interval_of_errors(point, points.len()) {
            chart.interval(f64::from(of(point)), ends, -aside)?;
        }
    }
    for (model, aside) in Model::ALL.into_iter().zip([-aside, aside]) {
        let placed =
            || model.errors(points).map(|(point, error)| (point, (f64::from(of(point)), error)));
        let marked = placed().map(|it| it.1);
        chart.marks((model.mark(points.len()), radius), aside, marked)?;
        let drawn = placed().map(|(point, (x, y))| {
            let [x, y] = chart.at(x, y);
            (point.name(), [x + aside, y])
        });
        chart.spots(drawn)?;
    }
    Ok(())
}

/// The interval of what is predicted, as errors \[%\]; none where `count` points crowd the panel.
fn interval_of_errors(point: &Point, count: usize) -> Option<(f64, f64)> {
    let (low, high) = point.interval.filter(|_| !is_many(count))?;
    Some((error_percent(point, low)?, error_percent(point, high)?))
}
