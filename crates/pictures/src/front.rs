//! Configurations by two objectives, with the front of those that none beats in both.

use super::axis::Axis;
use super::chart::{Area, Chart, Drawing, Surround, picture};
use super::measure::Measure;
use super::scene::{Anchor, Scene};
use super::style::{DOT, GREY, INK, Mark, PREDICTED, entry, text_on_white};
use crate::Mapping;
use crate::error::Result;

/// Size of the picture.
const SIZE: (f64, f64) = (680.0, 460.0);

/// Configurations by two objectives.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// What stands on the horizontal and on the vertical axis.
    pub measures: [Measure; 2],
    /// Every configuration, at least one.
    pub points: Vec<FrontPoint>,
}

/// A configuration by two objectives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontPoint {
    /// Processes m and accelerators p of each.
    pub mapping: Mapping,
    /// What is predicted of it, above 0.
    pub amounts: [f64; 2],
    /// Whether no other beats it in both.
    pub is_on_front: bool,
}

/// The picture of a front.
pub(super) fn scene(title: &str, front: &Front) -> Result<Scene> {
    let of_front = vec![Mark::Line(PREDICTED), Mark::Diamond(PREDICTED)];
    let legend =
        [(of_front, "no other beats it in both".to_string()), entry(Mark::Dot(GREY), "beaten")];
    picture(title, SIZE, &legend, |area| draw(area, front))
}

fn draw(panel: &Area, front: &Front) -> Drawing {
    let values = |axis: usize| front.points.iter().map(move |point| point.amounts[axis]);
    let largest = [0, 1].map(|axis| values(axis).fold(0.0, f64::max));
    let factors = [0, 1].map(|axis| front.measures[axis].factor(largest[axis]));
    let titles = [0, 1].map(|axis| front.measures[axis].title(largest[axis]));
    let axes = [0, 1].map(|axis| Axis::of_ratios(values(axis).map(|it| it * factors[axis])));
    let caption = "Every configuration (m, p), as predicted";
    let around = Surround { caption, x_title: &titles[0], ..Surround::default() };
    let mut chart = Chart::new(panel, axes, around)?;
    chart.axes(&titles[1])?;
    let at = |point: &FrontPoint| (point.amounts[0] * factors[0], point.amounts[1] * factors[1]);
    let (mut on, off): (Vec<&FrontPoint>, Vec<&FrontPoint>) =
        front.points.iter().partition(|point| point.is_on_front);
    chart.marks((Mark::Dot(GREY), DOT), 0.0, off.iter().map(|point| at(point)))?;
    on.sort_by(|one, other| one.amounts[0].total_cmp(&other.amounts[0]));
    chart.line(on.iter().map(|point| at(point)), PREDICTED, 1.4)?;
    chart.marks((Mark::Diamond(PREDICTED), DOT), 0.0, on.iter().map(|point| at(point)))?;
    let named: Vec<_> = on
        .iter()
        .map(|point| (point.mapping.to_string(), chart.at(at(point).0, at(point).1)))
        .collect();
    let beside = [([11.0, -8.0], Anchor::Start), ([-11.0, 8.0], Anchor::End)];
    let named = named.iter().map(|(name, at)| (&**name, INK, *at));
    chart.names(named, &beside, text_on_white)
}
