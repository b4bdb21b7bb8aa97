//! Errors of the predictions against m, against p and against the number of APUs in use.

use super::axis::Axis;
use super::frame::{BELOW, Frame, Surround};
use super::scene::{Bounds, Scene};
use super::style::{self, Entry, INK, Mark, SHADE, entry, stroke};
use super::times::{Marks, Model, Point, Points, error_percent, is_many};

/// How far from 0 the band reaches \[%\].
const BAND: f64 = 10.0;

/// Size of a picture.
pub(super) const WIDTH: f64 = 1200.0;
pub(super) const HEIGHT: f64 = 480.0;

/// Entries of the legend.
pub(super) fn legend(points: &Points) -> Vec<Entry> {
    let mut entries = points.legend(Marks::Alone);
    let words = format!("within 10 % of the {} {}", points.measured_as, points.measure.name);
    entries.push(entry(Mark::Area(SHADE), &words));
    entries
}

/// What errors stand against.
type Count = (&'static str, &'static str, fn(&Point) -> u32);

const COUNTS: [Count; 3] = [
    ("(a) By host threads", "host threads m", |point| point.m),
    ("(b) By APUs of a host thread", "APUs for each host thread p", |point| point.p),
    ("(c) By all APUs", "APUs in use m × p", |point| point.m.saturating_mul(point.p)),
];

/// Draws the three panels side by side, with the same vertical axis.
pub(super) fn draw(scene: &mut Scene, area: Bounds, points: &[Point]) {
    let errors = || Model::ALL.into_iter().flat_map(|model| model.errors(points).map(|it| it.1));
    let low = errors().fold(-BAND, f64::min);
    let high = errors().fold(BAND, f64::max);
    // Intervals may double the reach of the axis; wider ones would flatten all errors.
    let within = |end: f64| end.max(low - (high - low) / 2.0).min(high + (high - low) / 2.0);
    let ends = points.iter().filter_map(|point| interval(point, points.len()));
    let ends = ends.flat_map(|(low, high)| [within(low), within(high)]);
    let errors: Vec<f64> = errors().chain(ends).collect();
    let y = Axis::of_differences(errors.iter().copied());
    let width = area.width() / COUNTS.len() as f64;
    for (index, count) in COUNTS.iter().enumerate() {
        let left = area.left + width * index as f64;
        let panel = Bounds::new(left, area.top, left + width, area.bottom);
        draw_panel(scene, panel, points, (count, y.clone()));
    }
}

fn draw_panel(scene: &mut Scene, panel: Bounds, points: &[Point], (count, y): (&Count, Axis)) {
    let (caption, x_title, of) = count;
    let mut counts: Vec<u32> = points.iter().map(of).collect();
    counts.sort_unstable();
    counts.dedup();
    let y_title = "error of the prediction [%]";
    let surround = Surround { caption, x_title, y_title, above: 0.0, below: BELOW };
    let frame = Frame::new(panel, Axis::of_counts(&counts), y, &surround);
    let Bounds { left, right, .. } = frame.data;
    let band = [BAND, -BAND].map(|error| frame.y_at(error));
    scene.rectangle(Bounds::new(left, band[0], right, band[1]), SHADE);
    frame.draw_around(scene, panel, &surround);
    let zero = frame.y_at(0.0);
    scene.line(vec![[left, zero], [right, zero]], stroke(INK, 1.0));
    if Model::ALL.into_iter().all(|model| model.errors(points).next().is_none()) {
        let words = "no configuration has both times above 0";
        return style::instead_of_data(scene, &frame.data, words);
    }
    // The models stand side by side at each count.
    let spacing = frame.data.width() / (counts.len() + 1) as f64;
    let radius = if is_many(points.len()) { 1.2 } else { style::dot_radius(spacing).min(2.6) };
    let is_alone = points.iter().all(|point| point.beside.is_none());
    let aside = if is_alone { 0.0 } else { (spacing / 5.0).min(4.5) };
    for point in points {
        if let Some((low, high)) = interval(point, points.len()) {
            frame.interval(scene, frame.x_at(f64::from(of(point))) - aside, [low, high]);
        }
    }
    for model in Model::ALL {
        let aside = match model {
            Model::First => -aside,
            Model::Beside => aside,
        };
        for (point, error) in model.errors(points) {
            let at = [frame.x_at(f64::from(of(point))) + aside, frame.y_at(error)];
            model.mark(points.len()).draw(scene, at, radius);
        }
    }
}

/// The interval of what is predicted, as errors \[%\]; none where `count` points crowd the panel.
fn interval(point: &Point, count: usize) -> Option<(f64, f64)> {
    let (low, high) = point.interval.filter(|_| !is_many(count))?;
    Some((error_percent(point, low)?, error_percent(point, high)?))
}
