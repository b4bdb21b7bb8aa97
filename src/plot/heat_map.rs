//! The time of every feasible (m, p), as a colour.

use super::axis::{Axis, label};
use super::color_map::{self, STEPS};
use super::scene::{Anchor, Bounds, Font, Place, Scene, text_bounds};
use super::style::{self, DOT, Entry, GREY, INK, LABEL, Mark, TEXT, WHITE, entry, stroke};
use super::unit::{self, Unit};

/// Size of a picture.
pub(super) const WIDTH: f64 = 1000.0;
pub(super) const HEIGHT: f64 = 640.0;

/// Up to so many values of m, or of p, cells have the same size.
const EQUAL_CELLS: usize = 24;

/// Iso-lines of m*p, at most.
const ISO_LINES: usize = 6;

/// Cells that are narrower have a dot instead of a ring.
const RING: f64 = 11.0;

/// A configuration with its time \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub m: u32,
    pub p: u32,
    pub time: f64,
    /// Whether it cannot be told from the best.
    pub standing: Standing,
}

/// How a configuration compares with the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Slower,
    Indistinguishable,
}

/// Entries of the legend.
pub(super) fn legend(cells: &[Cell]) -> Vec<Entry> {
    let best = best(cells).map_or_else(String::new, |best| {
        format!("fastest: ({}, {}) with {}", best.m, best.p, unit::time(best.time))
    });
    let mut entries = vec![entry(Mark::Star, &best)];
    if others(cells).next().is_some() {
        entries.push(entry(Mark::Ring, "cannot be told from it"));
    }
    let products: Vec<String> = products(cells).iter().map(u64::to_string).collect();
    if !products.is_empty() {
        let words = format!("equal m × p, from above: {}", products.join(", "));
        entries.push(entry(Mark::Line(GREY), &words));
    }
    entries
}

/// The products m*p that have a line: the largest, its half and so on.
fn products(cells: &[Cell]) -> Vec<u64> {
    let product = |cell: &Cell| u64::from(cell.m) * u64::from(cell.p);
    let most = cells.iter().map(product).max().unwrap_or(1);
    let halves = std::iter::successors(Some(most), |product| Some(product / 2));
    halves.take(ISO_LINES).take_while(|&product| product >= 2).collect()
}

fn best(cells: &[Cell]) -> Option<&Cell> {
    cells.iter().min_by(|one, other| one.time.total_cmp(&other.time))
}

/// Those that cannot be told from the best.
fn others(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    let best = best(cells).map(|best| (best.m, best.p));
    cells.iter().filter(move |cell| {
        cell.standing == Standing::Indistinguishable && Some((cell.m, cell.p)) != best
    })
}

/// Draws the map and its colour bar; `what` is what the times are: `predicted` or `measured`.
pub(super) fn draw(scene: &mut Scene, area: Bounds, cells: &[Cell], what: &str) {
    let unit = Unit::of(cells.iter().map(|cell| cell.time).fold(0.0, f64::max));
    let times = cells.iter().map(|cell| cell.time * unit.per_second);
    let shades = Axis::of_times(times.clone());
    let bar =
        Bounds::new(area.right - 84.0, area.top + 28.0, area.right - 62.0, area.bottom - 56.0);
    let title = format!("{what} time [{}]", unit.symbol);
    color_bar(scene, bar, &shades, &title);
    let data = Bounds::new(area.left + 76.0, area.top + 10.0, bar.left - 60.0, area.bottom - 56.0);
    let [across, up] = [|cell: &Cell| cell.p, |cell: &Cell| cell.m]
        .map(|of| Places::new(cells.iter().map(of).collect()));
    let map = Map { cells, across, up, data, shades, unit };
    map.fill(scene);
    map.iso_lines(scene);
    map.numbers(scene);
    map.labels(scene);
    map.marks(scene);
}

/// The colours with their times, the short ones light and at the bottom.
fn color_bar(scene: &mut Scene, bar: Bounds, shades: &Axis, title: &str) {
    for step in 0..STEPS {
        let height = bar.height() / STEPS as f64;
        let top = bar.bottom - height * (STEPS - step) as f64;
        let bounds = Bounds::new(bar.left, top, bar.right, top + height + 0.3);
        scene.rectangle(bounds, color_map::color(step));
    }
    for &tick in &shades.ticks {
        let y = bar.bottom - shades.fraction(tick) * bar.height();
        scene.line(vec![[bar.right, y], [bar.right + 4.0, y]], stroke(INK, 1.0));
        scene.text(&label(tick), [bar.right + 8.0, y], LABEL);
    }
    scene.text(title, [bar.left - 14.0, bar.middle()[1]], TEXT.at(Anchor::Middle).upwards());
}

/// Where the values of m, or of p, lie along one side, from 0 to 1.
struct Places {
    /// Increasing, each once.
    values: Vec<u32>,
    division: Division,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Division {
    /// Each value takes the same room.
    Equal,
    /// Equal ratios take the same room.
    Logarithmic,
}

impl Places {
    fn new(mut values: Vec<u32>) -> Self {
        values.sort_unstable();
        values.dedup();
        let division =
            if values.len() <= EQUAL_CELLS { Division::Equal } else { Division::Logarithmic };
        Self { values, division }
    }

    /// Both ends of the cells of a value.
    fn ends(&self, value: u32) -> (f64, f64) {
        match self.division {
            Division::Equal => {
                let index = self.values.partition_point(|&known| known < value) as f64;
                let count = self.values.len() as f64;
                (index / count, (index + 1.0) / count)
            }
            Division::Logarithmic => {
                let value = f64::from(value);
                (self.logarithmic(value - 0.5), self.logarithmic(value + 0.5))
            }
        }
    }

    fn logarithmic(&self, value: f64) -> f64 {
        let low = f64::from(self.values[0]) - 0.5;
        let high = f64::from(*self.values.last().expect("invariant: there is a value")) + 0.5;
        ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
    }

    /// The place of a value that need not be one of a cell, or `None` beyond the ends.
    fn at(&self, value: f64) -> Option<f64> {
        let first = f64::from(self.values[0]);
        let last = f64::from(*self.values.last()?);
        if !(first..=last).contains(&value) {
            return None;
        }
        if self.division == Division::Logarithmic {
            return Some(self.logarithmic(value));
        }
        let after = self.values.partition_point(|&known| f64::from(known) < value);
        let middle = |index: usize| (index as f64 + 0.5) / self.values.len() as f64;
        let high = f64::from(self.values[after]);
        let Some(below) = after.checked_sub(1).filter(|_| high > value) else {
            return Some(middle(after));
        };
        let low = f64::from(self.values[below]);
        let part = (value - low) / (high - low);
        Some(middle(below) + part * (middle(after) - middle(below)))
    }

    /// The values that have room for a label every `least` of the side: all, or powers of two.
    fn labelled(&self, least: f64) -> Vec<u32> {
        let all = match self.division {
            Division::Equal => self.values.clone(),
            Division::Logarithmic => {
                let is_power = |value: &&u32| value.is_power_of_two();
                self.values.iter().filter(is_power).copied().collect()
            }
        };
        let mut labelled: Vec<u32> = Vec::new();
        let mut free_from = f64::NEG_INFINITY;
        for value in all {
            let (low, high) = self.ends(value);
            let middle = low.midpoint(high);
            if middle >= free_from {
                labelled.push(value);
                free_from = middle + least;
            }
        }
        labelled
    }
}

/// The map once its sides are divided.
struct Map<'a> {
    cells: &'a [Cell],
    /// Of p.
    across: Places,
    /// Of m.
    up: Places,
    data: Bounds,
    /// The times in their unit, from short to long.
    shades: Axis,
    unit: Unit,
}

impl Map<'_> {
    fn bounds(&self, cell: &Cell) -> Bounds {
        let (left, right) = self.across.ends(cell.p);
        let (low, high) = self.up.ends(cell.m);
        let x = |part: f64| self.data.left + part * self.data.width();
        let y = |part: f64| self.data.bottom - part * self.data.height();
        Bounds::new(x(left), y(high), x(right), y(low))
    }

    /// Short times are light.
    fn step(&self, cell: &Cell) -> usize {
        STEPS - 1 - color_map::step(self.shades.fraction(cell.time * self.unit.per_second))
    }

    fn fill(&self, scene: &mut Scene) {
        let mut cells: Vec<&Cell> = self.cells.iter().collect();
        cells.sort_by_key(|cell| self.step(cell));
        for cell in cells {
            let Bounds { left, top, right, bottom } = self.bounds(cell);
            // A white line between cells that are large enough; else they overlap by a hair, so
            // that none shows.
            let gap = if right - left > 12.0 && bottom - top > 12.0 { 0.5 } else { -0.15 };
            let bounds = Bounds::new(left + gap, top + gap, right - gap, bottom - gap);
            scene.rectangle(bounds, color_map::color(self.step(cell)));
        }
    }

    /// Lines through the middles of cells with the same m*p.
    fn iso_lines(&self, scene: &mut Scene) {
        for product in products(self.cells) {
            let product = product as f64;
            let path: Vec<Place> = (0..=200)
                .filter_map(|index| {
                    // From m = 1 to m = product, in equal ratios.
                    let m = product.powf(f64::from(index) / 200.0);
                    let (up, across) = (self.up.at(m)?, self.across.at(product / m)?);
                    let x = self.data.left + across * self.data.width();
                    Some([x, self.data.bottom - up * self.data.height()])
                })
                .collect();
            scene.line(path.clone(), stroke(WHITE, 2.6));
            scene.line(path, stroke(GREY, 1.0));
        }
    }

    /// Times in the cells with room for them.
    fn numbers(&self, scene: &mut Scene) {
        for cell in self.cells {
            let bounds = self.bounds(cell);
            if bounds.height() < 17.0 || bounds.width() < 17.0 {
                continue;
            }
            let words = three_digits(cell.time * self.unit.per_second);
            let ground = color_map::color(self.step(cell));
            let font = Font { color: color_map::ink_on(ground), ..LABEL }.at(Anchor::Middle);
            if bounds.width() < font.width(&words) + 6.0 {
                continue;
            }
            let at = bounds.middle();
            let Bounds { left, top, right, bottom } = text_bounds(&words, at, &font);
            // The line of equal products does not run through the number.
            scene.rectangle(Bounds::new(left - 2.0, top - 2.5, right + 2.0, bottom + 2.5), ground);
            scene.text(&words, at, font);
        }
    }

    fn labels(&self, scene: &mut Scene) {
        let Bounds { left, bottom, .. } = self.data;
        let widest = self.across.values.last().map_or(0.0, |p| LABEL.width(&count(*p)));
        for p in self.across.labelled((widest + 6.0) / self.data.width()) {
            let (low, high) = self.across.ends(p);
            let x = left + low.midpoint(high) * self.data.width();
            scene.text(&count(p), [x, bottom + 14.0], LABEL.at(Anchor::Middle));
        }
        for m in self.up.labelled(15.0 / self.data.height()) {
            let (low, high) = self.up.ends(m);
            let y = bottom - low.midpoint(high) * self.data.height();
            scene.text(&count(m), [left - 8.0, y], LABEL.at(Anchor::End));
        }
        let [x, y] = self.data.middle();
        let title = TEXT.at(Anchor::Middle);
        scene.text("APUs for each host thread p", [x, bottom + 40.0], title);
        scene.text("host threads m", [18.0, y], title.upwards());
        let axes = vec![[left, self.data.top], [left, bottom], [self.data.right, bottom]];
        scene.line(axes, stroke(INK, 1.0));
    }

    /// The best, and those that cannot be told from it: in the corner of a large cell, on a small.
    fn marks(&self, scene: &mut Scene) {
        let place = |cell: &Cell| {
            let bounds = self.bounds(cell);
            if bounds.width() > 26.0 && bounds.height() > 26.0 {
                [bounds.right - 2.0, bounds.top + 2.0]
            } else {
                bounds.middle()
            }
        };
        let best = best(self.cells);
        for cell in others(self.cells) {
            let bounds = self.bounds(cell);
            let room = bounds.width().min(bounds.height());
            if room > RING {
                Mark::Ring.draw(scene, place(cell), 0.9 * DOT);
            } else {
                // Many small cells: dots that do not hide what is below.
                scene.circle(bounds.middle(), (room / 4.0).max(0.6), style::VERMILLION);
            }
        }
        if let Some(cell) = best {
            Mark::Star.draw(scene, place(cell), DOT);
            let Bounds { left, top, right, bottom } = self.bounds(cell);
            let rim = vec![[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
            scene.line(rim, stroke(style::VERMILLION, 2.0));
        }
    }
}

/// A value of m or p in the room that there is: `512`, `2.1e9`.
fn count(value: u32) -> String {
    if value < 1_000_000 { value.to_string() } else { format!("{:.1e}", f64::from(value)) }
}

/// `12.3`, `0.456`, `1.2e-9`: what tells cells apart in little room.
fn three_digits(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if !(1e-3..1e5).contains(&value) => format!("{value:.1e}"),
        value => {
            let decimals = (2 - value.log10().floor() as i32).max(0) as usize;
            format!("{value:.decimals$}")
        }
    }
}
