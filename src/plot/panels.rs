//! The picture of the micro-benchmarks, a panel for each.

use super::axis::Axis;
use super::benchmarks::{FitPoint, Panel, Scale};
use super::frame::{BELOW, Frame, Surround};
use super::scene::{Bounds, Scene};
use super::style::{self, BLUE, DOT, Entry, LABEL, MEASURED, Mark, SKY, entry, shortened, stroke};

/// Width of a picture, and height of a row of panels.
pub(super) const WIDTH: f64 = 1200.0;
const ROW: f64 = 380.0;

/// Panels beside one another.
const IN_A_ROW: usize = 3;

/// The height of all rows.
pub(super) fn height(panels: &[Panel]) -> f64 {
    ROW * panels.len().div_ceil(IN_A_ROW) as f64
}

/// Entries of the legend.
pub(super) fn legend(panels: &[Panel]) -> Vec<Entry> {
    let mut entries = vec![entry(Mark::Dot(MEASURED), "measured")];
    let mut fits = panels.iter().flat_map(|panel| &panel.fit);
    if fits.clone().next().is_some() {
        entries.push(entry(Mark::Line(BLUE), "by the parameters"));
    }
    if fits.any(|point| point.interval.is_some()) {
        entries.push(entry(Mark::Interval(SKY), "their 95 % interval"));
    }
    entries
}

/// Draws all panels, each beside or below the one before it.
pub(super) fn draw(scene: &mut Scene, area: Bounds, panels: &[Panel]) {
    let width = area.width() / IN_A_ROW as f64;
    for (index, panel) in panels.iter().enumerate() {
        let left = area.left + width * (index % IN_A_ROW) as f64;
        let top = area.top + ROW * (index / IN_A_ROW) as f64;
        draw_panel(scene, Bounds::new(left, top, left + width, top + ROW), panel);
    }
}

fn draw_panel(scene: &mut Scene, bounds: Bounds, panel: &Panel) {
    let [points, fit] = can_be_drawn(panel);
    let xs = points.iter().chain(&fit).map(|point| point.x);
    let interval = |point: &FitPoint| point.interval.map(|(low, high)| [low, high]);
    let ys = points
        .iter()
        .chain(&fit)
        .flat_map(|point| [point.y].into_iter().chain(interval(point).into_iter().flatten()));
    let x = match panel.x_scale {
        Scale::Linear => {
            let mut counts: Vec<u32> = xs.clone().map(|x| x as u32).collect();
            counts.sort_unstable();
            Axis::of_counts(&counts)
        }
        Scale::Log => Axis::of_ratios(xs),
    };
    let y = match panel.y_scale {
        Scale::Linear => Axis::of_times(ys.clone().chain([0.0])),
        Scale::Log => Axis::of_ratios(ys),
    };
    let surround = Surround {
        caption: &panel.title,
        x_title: &panel.x_label,
        y_title: &panel.y_label,
        above: 20.0,
        below: BELOW,
    };
    let frame = Frame::draw(scene, bounds, x, y, &surround);
    let words = shortened(&panel.fit_label, &LABEL, bounds.right - 8.0 - frame.data.left);
    scene.text(&words, [frame.data.left, frame.data.top - 13.0], LABEL);
    for point in &fit {
        if let Some((low, high)) = point.interval {
            let ends = [frame.y_at(low), frame.y_at(high)];
            style::interval(scene, frame.x_at(point.x), ends, SKY);
        }
    }
    scene.line(fit.iter().map(|point| frame.at(point.x, point.y)).collect(), stroke(BLUE, 1.6));
    for point in &points {
        Mark::Dot(MEASURED).draw(scene, frame.at(point.x, point.y), 0.7 * DOT);
    }
}

/// The points, and those of the line: finite, and above 0 on logarithmic axes.
fn can_be_drawn(panel: &Panel) -> [Vec<FitPoint>; 2] {
    let fits = |scale: Scale, value: f64| match scale {
        Scale::Linear => value.is_finite() && value >= 0.0,
        Scale::Log => value.is_finite() && value > 0.0,
    };
    let is_drawn = |point: &FitPoint| fits(panel.x_scale, point.x) && fits(panel.y_scale, point.y);
    let drawn = |point: FitPoint| {
        let is_sane =
            |(low, high): &(f64, f64)| fits(panel.y_scale, *low) && fits(panel.y_scale, *high);
        FitPoint { interval: point.interval.filter(is_sane), ..point }
    };
    let points = panel.points.iter().map(|&[x, y]| FitPoint { x, y, interval: None });
    let points = points.filter(is_drawn).collect();
    [points, panel.fit.iter().copied().filter(is_drawn).map(drawn).collect()]
}
