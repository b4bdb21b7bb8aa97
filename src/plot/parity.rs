//! Predicted against measured times, on logarithmic axes.

use super::axis::Axis;
use super::frame::{BELOW, Frame, Surround};
use super::scene::{Anchor, Bounds, Font, Place, Scene, text_bounds};
use super::style::{self, DOT, Entry, INK, LABEL, Mark, SHADE, entry, stroke};
use super::times::{Marks, Model, Point, Points, all, is_many};

/// How far from equality the band reaches.
const BAND: f64 = 0.1;

/// Size of a picture; it is higher than wide, for its axes to have the same length.
pub(super) const WIDTH: f64 = 680.0;
pub(super) const HEIGHT: f64 = 640.0;

/// Entries of the legend: each model with its mean error.
pub(super) fn legend(points: &Points) -> Vec<Entry> {
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
    let words = format!("within 10 % of the {} {}", points.measured_as, points.measure.name);
    entries.push(entry(Mark::Area(SHADE), &words));
    entries
}

/// Draws the points with both times, where these are above 0, which a logarithm needs.
pub(super) fn draw(scene: &mut Scene, panel: Bounds, times: &Points) {
    let has_both = |point: &&Point| {
        let is_positive = |time: Option<f64>| time.is_some_and(|time| time > 0.0);
        is_positive(point.measured) && (is_positive(point.predicted) || is_positive(point.beside))
    };
    let points: Vec<Point> = times.points.iter().filter(has_both).copied().collect();
    let is_many = is_many(times.points.len());
    let largest = all(&points).fold(0.0, f64::max);
    let factor = times.measure.factor(largest);
    let drawn = || all(&points).filter(|time| *time > 0.0).map(|time| time * factor);
    let axis = Axis::of_ratios(drawn());
    let title = times.measure.title(largest);
    let titles = [&*times.measured_as, "predicted"].map(|what| format!("{what} {title}"));
    let surround = Surround {
        caption: match times.measure.name.as_str() {
            "time" => "On the line a prediction is right, above it too long, below it too short",
            _ => "On the line a prediction is right, above it too large, below it too small",
        },
        x_title: &titles[0],
        y_title: &titles[1],
        above: 0.0,
        below: BELOW,
    };
    let frame = Frame::new(panel, axis.clone(), axis, &surround);
    band(scene, &frame);
    frame.draw_around(scene, panel, &surround);
    if points.is_empty() {
        let words = "no configuration has both times above 0";
        return style::instead_of_data(scene, &frame.data, words);
    }
    let equal = frame.x.ends().map(|end| frame.at(end, end));
    scene.line(equal.to_vec(), stroke(INK, 1.0));
    let at = |point: &Point, predicted: f64| {
        let measured = point.measured.expect("invariant: the others are left out");
        frame.at(measured * factor, predicted * factor)
    };
    for point in points.iter().filter(|_| !is_many) {
        if let Some((low, high)) = point.interval {
            let ends = [low, high].map(|end| end * factor);
            frame.interval(scene, at(point, low)[0], ends);
        }
    }
    let radius = if is_many { 1.2 } else { 0.8 * DOT };
    for model in Model::ALL.into_iter().rev() {
        for point in &points {
            if let Some(time) = model.of(point).filter(|time| *time > 0.0) {
                model.mark(times.points.len()).draw(scene, at(point, time), radius);
            }
        }
    }
    let worst = Model::ALL.into_iter().filter_map(|model| {
        let largest = model.errors(&points).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (point, error) = largest?;
        let time = model.of(point).filter(|time| *time > 0.0)?;
        let name = format!("({}, {}) {error:+.1} %", point.m, point.p).replace('-', "−");
        let font = Font { color: model.color(), ..LABEL };
        Some((name, at(point, time), font))
    });
    names(scene, &frame.data, &worst.collect::<Vec<_>>(), is_many);
}

/// The band around equality.
fn band(scene: &mut Scene, frame: &Frame) {
    let [low, high] = frame.x.ends();
    let corner = |measured: f64, factor: f64| frame.at(measured, measured * factor);
    // Where the band leaves the panel it follows its edge.
    let (inner_low, inner_high) = (low / (1.0 - BAND), high / (1.0 + BAND));
    let band = vec![
        corner(low, 1.0),
        corner(low, 1.0 + BAND),
        corner(inner_high, 1.0 + BAND),
        corner(high, 1.0),
        corner(high, 1.0 - BAND),
        corner(inner_low, 1.0 - BAND),
    ];
    scene.polygon(band, SHADE);
}

/// Names beside their points, where they leave the area or touch another on another side.
fn names(scene: &mut Scene, data: &Bounds, named: &[(String, Place, Font)], is_many: bool) {
    let mut taken: Vec<Bounds> = Vec::new();
    for (name, [x, y], font) in named {
        let sides = [
            ([x + 11.0, *y], Anchor::Start),
            ([x - 11.0, *y], Anchor::End),
            ([*x, y - 15.0], Anchor::Middle),
            ([*x, y + 15.0], Anchor::Middle),
        ];
        for (at, anchor) in sides {
            let font = font.at(anchor);
            let bounds = text_bounds(name, at, &font);
            if data.holds(&bounds) && taken.iter().all(|other| !other.overlaps(&bounds)) {
                // Among thousands of dots a name has a ground of its own.
                match is_many {
                    true => style::text_on_white(scene, name, at, font),
                    false => scene.text(name, at, font),
                }
                taken.push(bounds);
                break;
            }
        }
    }
}
