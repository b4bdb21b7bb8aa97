//! Curves over counts, in panels beside one another: a colour and a mark for each name.

use super::axis::{Axis, three_digits};
use super::chart::{self, Area, Chart, Surround, picture};
use super::measure::Unit;
use super::scene::{Color, Scene};
use super::style::{self, BLUE, Entry, GREEN, INK, Mark, ORANGE, PURPLE, SKY, VERMILLION};
use crate::error::{Error, Result};

/// Curves to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// What the curves are called, in the order of their colours.
    pub names: Vec<String>,
    /// Panels, at least one.
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
    /// The counts and values of each of the names, by counts.
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
pub(super) struct ScaledPanel<'a> {
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
        return Err(Error::too_little(
            "curves",
            "no points",
            "give rows with the columns that are drawn",
        ));
    }
    let panels: Vec<(String, CurvePanel)> = curves.panels.iter().map(in_units).collect();
    let drawn = panels.iter().map(|(y_title, panel)| ScaledPanel {
        caption: &panel.caption,
        y_title,
        y: Axis::of_times(values(panel).into_iter()),
        series: &panel.series,
    });
    let names: Vec<&str> = curves.names.iter().map(String::as_str).collect();
    draw(title, &names, &curves.x_title, &drawn.collect::<Vec<_>>())
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
pub(super) fn draw(
    title: &str,
    names: &[&str],
    x_title: &str,
    panels: &[ScaledPanel<'_>],
) -> Result<Scene> {
    let width = if panels.len() == 1 { NARROW } else { WIDE };
    let height = HEIGHT * panels.len().div_ceil(IN_A_ROW) as f64;
    picture(title, (width, height), &legend(names), |area| {
        let areas = chart::panels(area, panels.len(), IN_A_ROW);
        areas
            .iter()
            .zip(panels)
            .try_for_each(|(area, panel)| draw_panel(area, names, x_title, panel))
    })
}

fn legend(names: &[&str]) -> Vec<Entry> {
    let entry = |(index, name): (usize, &&str)| {
        let color = COLORS[index % COLORS.len()];
        (vec![Mark::Line(color), MARKS[index % MARKS.len()](color)], (*name).to_string())
    };
    names.iter().enumerate().map(entry).collect()
}

fn draw_panel(
    area: &Area,
    names: &[&str],
    x_title: &str,
    panel: &ScaledPanel<'_>,
) -> chart::Drawing {
    let ScaledPanel { caption, y_title, y, series } = panel;
    let mut counts: Vec<u32> = series.iter().flatten().map(|point| point.0).collect();
    counts.sort_unstable();
    counts.dedup();
    let are_doublings = counts.len() > 3 && counts.iter().all(|it| it.is_power_of_two());
    let x = match are_doublings {
        true => Axis::of_doublings(&counts),
        false => Axis::of_counts(&counts),
    };
    let around = Surround { caption, x_title, ..Surround::default() };
    let mut chart = Chart::new(area, [x, y.clone()], around)?;
    chart.axes(y_title)?;
    let radius = style::dot_radius(chart.data.width() / counts.len().max(1) as f64);
    // The first lie above the others.
    for (index, points) in series.iter().enumerate().rev() {
        let color = COLORS[index % COLORS.len()];
        let points = points.iter().map(|&(count, value)| (f64::from(count), value));
        chart.line(points.clone(), color, 1.6)?;
        chart.marks((MARKS[index % MARKS.len()](color), radius), 0.0, points.clone())?;
        chart.spots(points.map(|(count, value)| {
            let words = format!("{}: {}, at {count}", names[index], three_digits(value));
            (words, chart.at(count, value))
        }))?;
    }
    Ok(())
}
