//! A panel's caption, axes and grid.

use super::axis::{Axis, label};
use super::scene::{Anchor, Bounds, Place, Scene};
use super::style::{BAND, FAINT, GRID, INDENT, INK, LABEL, LEFT_AXIS, RIGHT_MARGIN, SKY, TEXT};
use super::style::{shortened, stroke};

/// What stands around the data of a panel.
pub(super) struct Surround<'a> {
    /// Above it.
    pub caption: &'a str,
    /// Below the horizontal axis.
    pub x_title: &'a str,
    /// Beside the vertical axis.
    pub y_title: &'a str,
    /// Height of the space between caption and data.
    pub above: f64,
    /// Height of the space below the data.
    pub below: f64,
}

/// Height of the space that labels and title of a horizontal axis take.
pub(super) const BELOW: f64 = 56.0;

/// Height of the caption.
const CAPTION: f64 = 28.0;

/// Where the data of a panel go.
pub(super) struct Frame {
    pub x: Axis,
    pub y: Axis,
    /// The space of the data.
    pub data: Bounds,
}

impl Frame {
    /// Where the data go in a panel.
    pub fn new(panel: Bounds, x: Axis, y: Axis, surround: &Surround<'_>) -> Self {
        let data = Bounds::new(
            panel.left + LEFT_AXIS,
            panel.top + CAPTION + surround.above,
            panel.right - RIGHT_MARGIN,
            panel.bottom - surround.below,
        );
        Self { x, y, data }
    }

    /// Draws everything but the data.
    pub fn draw(
        scene: &mut Scene,
        panel: Bounds,
        x: Axis,
        y: Axis,
        surround: &Surround<'_>,
    ) -> Self {
        let frame = Self::new(panel, x, y, surround);
        frame.draw_around(scene, panel, surround);
        frame
    }

    /// Draws everything but the data, above what lies behind them.
    pub fn draw_around(&self, scene: &mut Scene, panel: Bounds, surround: &Surround<'_>) {
        let caption = shortened(surround.caption, &TEXT, panel.width() - INDENT - RIGHT_MARGIN);
        scene.text(&caption, [panel.left + INDENT, panel.top + 11.0], TEXT);
        self.grid(scene);
        self.labels(scene);
        let y_title = shortened(surround.y_title, &TEXT, self.data.height() + 40.0);
        let at = [panel.left + 16.0, self.data.middle()[1]];
        scene.text(&y_title, at, TEXT.at(Anchor::Middle).upwards());
        let x_title = shortened(surround.x_title, &TEXT, panel.width() - 16.0);
        // Below the middle of the data, but within the panel.
        let half = TEXT.width(&x_title) / 2.0;
        let x = self.data.middle()[0].min(panel.right - half).max(panel.left + half);
        scene.text(&x_title, [x, panel.bottom - 14.0], TEXT.at(Anchor::Middle));
    }

    fn grid(&self, scene: &mut Scene) {
        let Bounds { left, top, right, bottom } = self.data;
        for (values, color) in [(&self.x.minor, FAINT), (&self.x.ticks, GRID)] {
            for &value in values {
                let x = self.x_at(value);
                scene.line(vec![[x, top], [x, bottom]], stroke(color, 1.0));
            }
        }
        for (values, color) in [(&self.y.minor, FAINT), (&self.y.ticks, GRID)] {
            for &value in values {
                let y = self.y_at(value);
                scene.line(vec![[left, y], [right, y]], stroke(color, 1.0));
            }
        }
        scene.line(vec![[left, top], [left, bottom], [right, bottom]], stroke(INK, 1.0));
    }

    fn labels(&self, scene: &mut Scene) {
        let Bounds { left, bottom, .. } = self.data;
        let ticks = stroke(INK, 1.0);
        for &value in &self.y.ticks {
            let y = self.y_at(value);
            scene.line(vec![[left - 5.0, y], [left, y]], ticks);
            scene.text(&label(value), [left - 8.0, y], LABEL.at(Anchor::End));
        }
        for &value in &self.x.ticks {
            let x = self.x_at(value);
            scene.line(vec![[x, bottom], [x, bottom + 5.0]], ticks);
        }
        let labels = self.x.ticks.iter().map(|&tick| (self.x_at(tick), label(tick)));
        let labels: Vec<_> = labels.collect();
        let stride = if self.x.is_linear() { stride(&labels) } else { 1 };
        row(scene, bottom + 15.0, labels.into_iter().step_by(stride));
    }

    pub fn x_at(&self, value: f64) -> f64 {
        self.data.left + self.x.fraction(value) * self.data.width()
    }

    pub fn y_at(&self, value: f64) -> f64 {
        self.data.bottom - self.y.fraction(value) * self.data.height()
    }

    /// An area between intervals that stand side by side, each at its x.
    pub fn band(&self, scene: &mut Scene, intervals: &[(f64, [f64; 2])]) {
        let lower = intervals.iter().map(|&(x, [low, _])| [x, self.y_at(low)]);
        let upper = intervals.iter().rev().map(|&(x, [_, high])| [x, self.y_at(high)]);
        if intervals.len() > 1 {
            scene.polygon(lower.chain(upper).collect(), BAND);
        }
    }

    /// An interval at an x, open at an end that lies beyond the axis.
    pub fn interval(&self, scene: &mut Scene, x: f64, ends: [f64; 2]) {
        let line = stroke(SKY, 1.0);
        scene.line(ends.map(|end| [x, self.y_at(end)]).to_vec(), line);
        let [low, high] = self.y.ends();
        for end in ends.into_iter().filter(|end| (low..=high).contains(end)) {
            let y = self.y_at(end);
            scene.line(vec![[x - 2.5, y], [x + 2.5, y]], line);
        }
    }

    /// The place of a point with these two values.
    pub fn at(&self, x: f64, y: f64) -> Place {
        [self.x_at(x), self.y_at(y)]
    }
}

/// Every how many evenly spaced labels there is room.
fn stride(labels: &[(f64, String)]) -> usize {
    let fits = |stride: &usize| {
        let some: Vec<_> = labels.iter().step_by(*stride).collect();
        some.windows(2).all(|pair| {
            let taken = pair.iter().map(|(_, words)| LABEL.width(words)).sum::<f64>() / 2.0;
            pair[1].0 - pair[0].0 >= taken + 3.0
        })
    };
    (1..labels.len()).find(fits).unwrap_or(1)
}

/// Labels on one line, from left to right; one that would touch its neighbour is left out.
pub(super) fn row(scene: &mut Scene, y: f64, labels: impl Iterator<Item = (f64, String)>) {
    let mut free_from = f64::NEG_INFINITY;
    for (x, words) in labels {
        let half = LABEL.width(&words) / 2.0;
        if x - half >= free_from && x + half <= scene.width {
            scene.text(&words, [x, y], LABEL.at(Anchor::Middle));
            free_from = x + half + 3.0;
        }
    }
}
