//! The panels of one grain of parallelism: time against m, and time against p.

use super::axis::Axis;
use super::frame::{BELOW, Frame, Surround};
use super::measure::Measure;
use super::scene::{Bounds, Scene};
use super::style::{self, MEASURED, Mark, stroke};
use super::times::{Model, Point, Points, all, is_many};

/// Time against m at p = 1; `letter` stands before the caption.
pub(super) fn against_m(scene: &mut Scene, panel: Bounds, times: &Points, letter: &str) {
    let caption = format!("{letter}One APU for each host thread (p = 1)");
    let points = &times.points;
    let is_many = is_many(points.len());
    let points: Vec<_> = points.iter().filter(|point| point.p == 1).map(|p| (p.m, *p)).collect();
    draw(scene, panel, (&points, is_many, &times.measure), [&caption, "host threads m"]);
}

/// Time against p at m = 1; `letter` stands before the caption.
pub(super) fn against_p(scene: &mut Scene, panel: Bounds, times: &Points, letter: &str) {
    let caption = format!("{letter}One host thread (m = 1)");
    let points = &times.points;
    let is_many = is_many(points.len());
    let points: Vec<_> = points.iter().filter(|point| point.m == 1).map(|p| (p.p, *p)).collect();
    draw(
        scene,
        panel,
        (&points, is_many, &times.measure),
        [&caption, "APUs for the host thread p"],
    );
}

/// The points, each at its count of m or p, whether the whole picture has many, and what they are.
fn draw(
    scene: &mut Scene,
    panel: Bounds,
    (points, is_many, measure): (&[(u32, Point)], bool, &Measure),
    [caption, x_title]: [&str; 2],
) {
    let (counts, times): (Vec<u32>, Vec<Point>) = points.iter().copied().unzip();
    let largest = all(&times).fold(0.0, f64::max);
    let (factor, y_title) = (measure.factor(largest), measure.title(largest));
    let y = Axis::of_times(all(&times).map(|time| time * factor));
    let surround = Surround { caption, x_title, y_title: &y_title, above: 0.0, below: BELOW };
    let frame = Frame::new(panel, Axis::of_counts(&counts), y, &surround);
    let at = |count: u32, time: f64| frame.at(f64::from(count), time * factor);
    let intervals: Vec<(f64, [f64; 2])> = points
        .iter()
        .filter_map(|(count, point)| {
            let (low, high) = point.interval?;
            let ends = [low, high].map(|time| time * factor);
            Some((frame.x_at(f64::from(*count)), ends))
        })
        .collect();
    if is_many {
        frame.band(scene, &intervals);
    }
    frame.draw_around(scene, panel, &surround);
    if points.is_empty() {
        return style::instead_of_data(scene, &frame.data, "no such configuration is known");
    }
    if !is_many {
        intervals.iter().for_each(|(x, ends)| frame.interval(scene, *x, *ends));
    }
    for model in Model::ALL {
        let path = points.iter().filter_map(|(count, point)| Some(at(*count, model.of(point)?)));
        scene.line(path.collect(), stroke(model.color(), 1.4));
    }
    let radius = style::dot_radius(frame.data.width() / points.len() as f64);
    for model in Model::ALL {
        for (count, point) in points.iter().filter(|_| !is_many) {
            if let Some(time) = model.of(point) {
                model.mark(points.len()).draw(scene, at(*count, time), radius);
            }
        }
    }
    for (count, point) in points {
        if let Some(time) = point.measured {
            Mark::Dot(MEASURED).draw(scene, at(*count, time), radius);
        }
    }
}
