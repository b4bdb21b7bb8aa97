//! Curves over counts, in panels beside one another: a colour and a mark for each name.

use super::axis::Axis;
use super::frame::{BELOW, Frame, Surround};
use super::scene::{Bounds, Color, Scene};
use super::style::{self, BLUE, Entry, GREEN, INK, Mark, ORANGE, PURPLE, SKY, VERMILLION, stroke};
use super::unit::Unit;
use crate::error::{Error, Result};

/// Curves to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// What the curves are called, in the order of their colours.
    pub names: Vec<String>,
    /// At least one.
    pub panels: Vec<CurvePanel>,
    /// What the counts are.
    pub x_title: String,
}

/// A panel of curves.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePanel {
    /// What stands above it.
    pub caption: String,
    /// What is drawn: a name that ends with `_s` is of times.
    pub quantity: String,
    /// For each of the names its counts and values, by counts.
    pub series: Vec<Vec<(u32, f64)>>,
}

/// Colours and marks of curves, in turn: as the numbers of both have no common divisor, 21 curves
/// differ, and neighbours in both.
const COLORS: [Color; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK];
const MARKS: [fn(Color) -> Mark; 3] = [Mark::Dot, Mark::Diamond, Mark::Triangle];

/// Width of a picture of one panel, and of more.
pub(super) const NARROW: f64 = 760.0;
const WIDE: f64 = 1200.0;
/// Height of a panel, and how many stand beside one another.
const HEIGHT: f64 = 380.0;
const IN_A_ROW: usize = 3;

/// A panel with its axis.
pub(super) struct Drawn<'a> {
    pub caption: &'a str,
    pub y_title: &'a str,
    pub y: Axis,
    pub series: &'a [Vec<(u32, f64)>],
}

/// The picture of the curves.
pub(super) fn scene(title: &str, curves: &Curves) -> Result<Scene> {
    let values = |panel: &CurvePanel| -> Vec<f64> {
        panel.series.iter().flatten().map(|point| point.1).collect()
    };
    if curves.panels.iter().all(|panel| values(panel).is_empty()) {
        return Err(Error::TooLittleData {
            file: "curves".into(),
            found: "no points".into(),
            advice: "give rows with the columns that are drawn".into(),
        });
    }
    let panels: Vec<(String, CurvePanel)> = curves.panels.iter().map(in_units).collect();
    let drawn = panels.iter().map(|(y_title, panel)| Drawn {
        caption: &panel.caption,
        y_title,
        y: Axis::of_times(values(panel).into_iter()),
        series: &panel.series,
    });
    let names: Vec<&str> = curves.names.iter().map(String::as_str).collect();
    Ok(draw(title, &names, &curves.x_title, drawn.collect()))
}

/// A panel in the unit of its values, and what its axis is called.
fn in_units(panel: &CurvePanel) -> (String, CurvePanel) {
    let Some(name) = panel.quantity.strip_suffix("_s") else {
        return (panel.quantity.replace('_', " "), panel.clone());
    };
    let longest = panel.series.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let unit = Unit::of(longest);
    let scaled = |series: &Vec<(u32, f64)>| {
        series.iter().map(|&(count, value)| (count, value * unit.per_second)).collect()
    };
    let series = panel.series.iter().map(scaled).collect();
    let title = format!("{} [{}]", name.replace('_', " "), unit.symbol);
    (title, CurvePanel { series, ..panel.clone() })
}

/// Draws panels, at least one, whose series belong to these names.
pub(super) fn draw(title: &str, names: &[&str], x_title: &str, panels: Vec<Drawn<'_>>) -> Scene {
    let beside = panels.len().min(IN_A_ROW);
    let width = if beside == 1 { NARROW } else { WIDE };
    let height = HEIGHT * panels.len().div_ceil(beside) as f64;
    let (mut scene, area) = super::begun(title, (width, height), &legend(names));
    let width = area.width() / beside as f64;
    for (index, panel) in panels.into_iter().enumerate() {
        let left = area.left + width * (index % beside) as f64;
        let top = area.top + HEIGHT * (index / beside) as f64;
        draw_panel(&mut scene, Bounds::new(left, top, left + width, top + HEIGHT), x_title, panel);
    }
    scene
}

fn legend(names: &[&str]) -> Vec<Entry> {
    let entry = |(index, name): (usize, &&str)| {
        let color = COLORS[index % COLORS.len()];
        (vec![Mark::Line(color), MARKS[index % MARKS.len()](color)], (*name).to_string())
    };
    names.iter().enumerate().map(entry).collect()
}

fn draw_panel(scene: &mut Scene, bounds: Bounds, x_title: &str, panel: Drawn<'_>) {
    let Drawn { caption, y_title, y, series } = panel;
    let mut counts: Vec<u32> = series.iter().flatten().map(|point| point.0).collect();
    counts.sort_unstable();
    counts.dedup();
    let surround = Surround { caption, x_title, y_title, above: 0.0, below: BELOW };
    let are_doublings = counts.len() > 3 && counts.iter().all(|it| it.is_power_of_two());
    let x = match are_doublings {
        true => Axis::of_doublings(&counts),
        false => Axis::of_counts(&counts),
    };
    let frame = Frame::draw(scene, bounds, x, y, &surround);
    let radius = style::dot_radius(frame.data.width() / counts.len().max(1) as f64);
    // The first lie above the others.
    for (index, points) in series.iter().enumerate().rev() {
        let color = COLORS[index % COLORS.len()];
        let places = points.iter().map(|&(count, value)| frame.at(f64::from(count), value));
        scene.line(places.clone().collect(), stroke(color, 1.6));
        for place in places {
            MARKS[index % MARKS.len()](color).draw(scene, place, radius);
        }
    }
}
