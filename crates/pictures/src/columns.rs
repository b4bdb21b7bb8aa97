//! A column for each configuration, grouped by m.

use std::ops::Range;

use super::axis::Axis;
use super::chart::{Chart, Drawing};
use super::scene::{Anchor, Scene};
use super::style::{INK, LABEL, stroke};

/// Space between two groups, in widths of a column.
pub(super) const GAP: f64 = 0.7;

/// Height of a row of text below the data.
const ROW: f64 = 17.0;

/// Height of the space that labels and title of the horizontal axis take.
pub(super) const BELOW: f64 = 2.0 * ROW + 44.0;

/// What the labels below the data are.
pub(super) const X_TITLE: &str = "APUs p for each host thread, grouped by host threads m";

/// A column for each configuration, the groups of one m a little apart.
pub(super) struct Columns {
    configurations: Vec<(u32, u32)>,
    /// The place of each on the horizontal axis.
    pub places: Vec<f64>,
}

impl Columns {
    /// Columns of configurations (m, p) that come by m and then by p.
    pub fn new(configurations: Vec<(u32, u32)>) -> Self {
        let mut place = 0.0;
        let places = configurations.iter().enumerate().map(|(index, (m, _))| {
            if let Some((before, _)) = index.checked_sub(1).map(|last| configurations[last]) {
                place += if before == *m { 1.0 } else { 1.0 + GAP };
            }
            place
        });
        let places = places.collect();
        Self { configurations, places }
    }

    /// The horizontal axis that has them all.
    pub fn axis(&self) -> Axis {
        Axis::of_places(-0.8, self.places.last().unwrap_or(&0.0) + 0.8)
    }

    /// The middle of the column with that index, in the picture.
    pub fn x(&self, index: usize, chart: &Chart<'_>) -> f64 {
        chart.at(self.places[index], 1.0)[0]
    }

    /// The distance from one column to the next, in the picture.
    pub fn width(&self, chart: &Chart<'_>) -> f64 {
        chart.at(1.0, 1.0)[0] - chart.at(0.0, 1.0)[0]
    }

    /// The indices of the configurations of each m.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.configurations.chunk_by(|one, next| one.0 == next.0).map(move |group| {
            let start = end;
            end += group.len();
            start..end
        })
    }

    /// p below each column and m below each group, as far as there is room for them.
    pub fn labels(&self, chart: &Chart<'_>) -> Drawing {
        let bottom = chart.data.bottom;
        let (p_row, m_row) = (bottom + ROW - 3.0, bottom + 2.0 * ROW + 5.0);
        let widest = self.configurations.iter().map(|(_, p)| p).max().unwrap_or(&1);
        let widest = LABEL.width(&widest.to_string()) + 3.0;
        let width = self.width(chart);
        let stride = (widest / width).ceil().max(1.0) as usize;
        let half = (width / 3.0).min(14.0);
        let (mut p_labels, mut m_labels, mut brackets) = (Vec::new(), Vec::new(), Vec::new());
        for indices in self.groups() {
            let (first, last) = (self.x(indices.start, chart), self.x(indices.end - 1, chart));
            brackets.push(vec![[first - half, m_row - 11.0], [last + half, m_row - 11.0]]);
            m_labels.push((first.midpoint(last), self.configurations[indices.start].0.to_string()));
            // Of a group that has no room for a second label, the only one would be p = 1.
            let is_narrow = stride > 1 && indices.len() <= 2 * stride;
            for index in indices.step_by(stride).filter(|_| !is_narrow) {
                p_labels.push((self.x(index, chart), self.configurations[index].1.to_string()));
            }
        }
        chart.sketch(|scene| {
            for (name, y) in [("p", p_row), ("m", m_row)] {
                scene.text(name, [chart.data.left - 8.0, y], LABEL.at(Anchor::End));
            }
            brackets.iter().for_each(|path| scene.line(path.clone(), stroke(INK, 0.8)));
            row(scene, p_row, &p_labels);
            row(scene, m_row, &m_labels);
        })
    }
}

/// Labels on one line, from left to right; one that would touch its neighbour is left out.
fn row(scene: &mut Scene, y: f64, labels: &[(f64, String)]) {
    let mut free_from = f64::NEG_INFINITY;
    for (x, words) in labels {
        let half = LABEL.width(words) / 2.0;
        if x - half >= free_from && x + half <= scene.width {
            scene.text(words, [*x, y], LABEL.at(Anchor::Middle));
            free_from = x + half + 3.0;
        }
    }
}
