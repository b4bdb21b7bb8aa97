//! Configurations by two objectives, with the front of those that none beats in both.

use super::axis::Axis;
use super::frame::{BELOW, Frame, Surround};
use super::measure::Measure;
use super::scene::{Anchor, Bounds, Place, Scene, text_bounds};
use super::style::{self, DOT, Entry, GREY, LABEL, Mark, PREDICTED, entry, stroke};
use crate::Mapping;

pub(super) const WIDTH: f64 = 680.0;
pub(super) const HEIGHT: f64 = 460.0;

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
    /// Which.
    pub mapping: Mapping,
    /// What is predicted of it, above 0.
    pub amounts: [f64; 2],
    /// Whether no other beats it in both.
    pub is_on_front: bool,
}

pub(super) fn legend() -> Vec<Entry> {
    vec![
        (vec![Mark::Line(PREDICTED), Mark::Diamond(PREDICTED)], "no other beats it in both".into()),
        entry(Mark::Dot(GREY), "beaten"),
    ]
}

pub(super) fn draw(scene: &mut Scene, panel: Bounds, front: &Front) {
    let values = |axis: usize| front.points.iter().map(move |point| point.amounts[axis]);
    let largest = [0, 1].map(|axis| values(axis).fold(0.0, f64::max));
    let [x_factor, y_factor] = [0, 1].map(|axis| front.measures[axis].factor(largest[axis]));
    let [x_title, y_title] = [0, 1].map(|axis| front.measures[axis].title(largest[axis]));
    let surround = Surround {
        caption: "Every configuration (m, p), as predicted",
        x_title: &x_title,
        y_title: &y_title,
        above: 0.0,
        below: BELOW,
    };
    let x = Axis::of_ratios(values(0).map(|it| it * x_factor));
    let y = Axis::of_ratios(values(1).map(|it| it * y_factor));
    let frame = Frame::draw(scene, panel, x, y, &surround);
    let at =
        |point: &FrontPoint| frame.at(point.amounts[0] * x_factor, point.amounts[1] * y_factor);
    let (mut on, off): (Vec<&FrontPoint>, Vec<&FrontPoint>) =
        front.points.iter().partition(|point| point.is_on_front);
    off.iter().for_each(|point| Mark::Dot(GREY).draw(scene, at(point), DOT));
    on.sort_by(|one, other| one.amounts[0].total_cmp(&other.amounts[0]));
    scene.line(on.iter().map(|point| at(point)).collect(), stroke(PREDICTED, 1.4));
    on.iter().for_each(|point| Mark::Diamond(PREDICTED).draw(scene, at(point), DOT));
    let named: Vec<(String, Place)> =
        on.iter().map(|point| (point.mapping.to_string(), at(point))).collect();
    names(scene, &frame.data, &named);
}

/// Names beside their points, where there is room for them.
fn names(scene: &mut Scene, data: &Bounds, named: &[(String, Place)]) {
    let mut taken: Vec<Bounds> = Vec::new();
    for (name, [x, y]) in named {
        let sides = [([x + 11.0, y - 8.0], Anchor::Start), ([x - 11.0, y + 8.0], Anchor::End)];
        for (at, anchor) in sides {
            let font = LABEL.at(anchor);
            let bounds = text_bounds(name, at, &font);
            if data.holds(&bounds) && taken.iter().all(|other| !other.overlaps(&bounds)) {
                style::text_on_white(scene, name, at, font);
                taken.push(bounds);
                break;
            }
        }
    }
}
