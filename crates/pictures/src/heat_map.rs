//! The time of every feasible (m, p), as a colour.
//!
//! Up to 24 values of m and of p, all cells have the same size, with their times in them. Beyond, the
//! sides are logarithmic and what would be smaller than a cell that can be seen shares one, which has
//! the colour of its fastest: no picture has more cells than eyes can tell apart.

mod marks;

use super::axis::{Axis, three_digits};
use super::chart::{bounds, picture, sketch};
use super::places::{Division, Places};
use super::scene::{Anchor, Bounds, Font, Place, Scene};
use super::style::{self, STEPS, color_bar, shade};
use super::style::{Entry, GREY, GRID, INK, LABEL, Mark, TEXT, VERMILLION, WHITE, entry, stroke};
use super::times::{MeasuredTime, PredictedTime, Standing, Times, checked};
use crate::Mapping;
use crate::error::{Error, Result};
use crate::units::Seconds;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 640.0;

/// Space of the map within its area, the colour bar left out.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 144.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 56.0;
/// Iso-lines of m*p, at most.
const ISO_LINES: usize = 6;

/// A map of what is predicted, with marks where something was measured.
pub(super) fn of_predicted(title: &str, times: &Times) -> Result<Scene> {
    let cell = |row: &PredictedTime| (row.mapping, row.time, row.standing);
    let has_failed = |of: Mapping| times.failed.iter().any(|(failed, _)| *failed == of);
    let rows = times.predicted.rows.iter().filter(|row| !has_failed(row.mapping));
    let cells = cells("time_s", rows.map(cell))?;
    let marked = times.measured.iter().map(|row| (row.mapping.m(), row.mapping.p()));
    let mut marked: Vec<(u32, u32)> = marked.collect();
    marked.sort_unstable();
    let marked = (&marked[..], &*times.measured_as);
    of_cells(title, Content { cells: &cells, what: "predicted", marked, times })
}

/// A map of what was measured.
pub(super) fn of_measured(title: &str, times: &Times) -> Result<Scene> {
    let cell = |row: &MeasuredTime| (row.mapping, row.time, Standing::Slower);
    let cells = cells("measured_s", times.measured.iter().map(cell))?;
    let what = &*times.measured_as;
    of_cells(title, Content { cells: &cells, what, marked: (&[], ""), times })
}

/// The cells of a map by m and then by p.
fn cells(
    name: &'static str,
    rows: impl Iterator<Item = (Mapping, Seconds, Standing)>,
) -> Result<Vec<Cell>> {
    let cell = |(mapping, time, standing): (Mapping, Seconds, Standing)| {
        let time = checked(name, time.0)?;
        Ok(Cell { m: mapping.m(), p: mapping.p(), time, standing })
    };
    let mut cells = rows.map(cell).collect::<Result<Vec<Cell>>>()?;
    cells.sort_by_key(|cell| (cell.m, cell.p));
    Ok(cells)
}

fn of_cells(title: &str, content: Content<'_>) -> Result<Scene> {
    if content.cells.is_empty() {
        return Err(Error::too_little(
            format!("{} times", content.what),
            "no configuration at all",
            "a map needs at least one",
        ));
    }
    let mut map = Map::new(content);
    picture(title, (WIDTH, HEIGHT), &map.legend(), |area| {
        let area_bounds = bounds(area);
        map.move_below(area_bounds.top);
        sketch(area, |scene| map.draw(scene, area_bounds))
    })
}

/// A configuration with its time \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    m: u32,
    p: u32,
    time: f64,
    /// Whether it cannot be told from the best.
    standing: Standing,
}

/// What a map shows.
struct Content<'a> {
    /// Sorted by m and then by p; there is at least one.
    cells: &'a [Cell],
    /// What the times are: `predicted` or `measured`.
    what: &'a str,
    /// What m, p and the numbers are called, and what failed.
    times: &'a Times,
    /// Configurations (m, p) that are marked, in order, and what they are.
    marked: (&'a [(u32, u32)], &'a str),
}

impl Content<'_> {
    fn best(&self) -> &Cell {
        let all = self.cells.iter().map(|cell| (cell.time, (cell.m, cell.p)));
        let best = self.times.measure.best_of(all).map(|place| &self.cells[place]);
        best.expect("invariant: a map has cells")
    }

    /// Cells that cannot be told from the best.
    fn others(&self) -> impl Iterator<Item = &Cell> {
        let best = (self.best().m, self.best().p);
        self.cells.iter().filter(move |cell| {
            cell.standing == Standing::Indistinguishable && (cell.m, cell.p) != best
        })
    }

    /// The products m*p that have a line: the largest, its half and so on.
    fn products(&self) -> Vec<u64> {
        let product = |cell: &Cell| u64::from(cell.m) * u64::from(cell.p);
        let most = self.cells.iter().map(product).max().unwrap_or(1);
        let halves = std::iter::successors(Some(most), |product| Some(product / 2));
        halves.take(ISO_LINES).take_while(|&product| product >= 2).collect()
    }
}

/// A rectangle of the map with the configurations that lie in it.
struct Tile {
    /// Which one from the left, and from below.
    at: (usize, usize),
    bounds: Bounds,
    /// The time of its fastest configuration.
    time: f64,
    /// The standing of any of them.
    standing: Standing,
    /// How many configurations it has.
    count: usize,
}

/// The map once its sides are divided.
struct Map<'a> {
    content: Content<'a>,
    /// The values of p along the horizontal side.
    across: Places,
    /// The values of m along the vertical side.
    up: Places,
    /// Sorted by their places.
    tiles: Vec<Tile>,
    /// The times in their unit, from short to long.
    shades: Axis,
    /// The largest.
    largest: f64,
    data: Bounds,
}

impl<'a> Map<'a> {
    /// Divides an area that begins at the top of the picture; [`Map::move_below`] moves it down.
    fn new(content: Content<'a>) -> Self {
        let data = Bounds::new(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM);
        let failed = || content.times.failed.iter().map(|(mapping, _)| (mapping.m(), mapping.p()));
        let all = || content.cells.iter().map(|cell| (cell.m, cell.p)).chain(failed());
        let across = Places::new(all().map(|(_, p)| p).collect(), data.width());
        let up = Places::new(all().map(|(m, _)| m).collect(), data.height());
        let largest = content.cells.iter().map(|cell| cell.time).fold(0.0, f64::max);
        let factor = content.times.measure.factor(largest);
        let shades = Axis::of_times(content.cells.iter().map(|cell| cell.time * factor));
        let mut map = Self { content, across, up, tiles: Vec::new(), shades, largest, data };
        map.tiles = map.divided();
        map
    }

    fn divided(&self) -> Vec<Tile> {
        let mut tiles = std::collections::BTreeMap::new();
        for cell in self.content.cells {
            let at = (self.across.tile(cell.p), self.up.tile(cell.m));
            let tile = tiles.entry(at).or_insert_with(|| Tile {
                at,
                bounds: self.bounds(at),
                time: cell.time,
                standing: Standing::Slower,
                count: 0,
            });
            let order = |time: f64| self.content.times.measure.order(time);
            if order(cell.time) < order(tile.time) {
                tile.time = cell.time;
            }
            tile.count += 1;
            if cell.standing == Standing::Indistinguishable {
                tile.standing = cell.standing;
            }
        }
        tiles.into_values().collect()
    }

    fn bounds(&self, (across, up): (usize, usize)) -> Bounds {
        let [left, right] = self.across.ends(across).map(|part| self.x(part));
        let [low, high] = self.up.ends(up).map(|part| self.y(part));
        // At whole pixels of a bitmap: then neighbours share a border, with nothing between.
        let [left, right, low, high] =
            [left, right, low, high].map(|place| (place * 2.0).round() / 2.0);
        Bounds::new(left, high, right, low)
    }

    fn x(&self, part: f64) -> f64 {
        self.data.left + part * self.data.width()
    }

    fn y(&self, part: f64) -> f64 {
        self.data.bottom - part * self.data.height()
    }

    /// The place of a configuration.
    fn at(&self, (m, p): (u32, u32)) -> Place {
        [self.x(self.across.middle(p)), self.y(self.up.middle(m))]
    }

    /// Whether all cells have the same size.
    fn is_even(&self) -> bool {
        [&self.across, &self.up].iter().all(|places| places.division() == Division::Equal)
    }

    /// What stands in each tile, where all have room for it.
    fn numbers(&self) -> Option<Vec<String>> {
        let words = |tile: &Tile| {
            let words = three_digits(tile.time * self.factor());
            let Bounds { left, right, top, bottom } = tile.bounds;
            let has_room = bottom - top >= 17.0 && right - left >= LABEL.width(&words) + 6.0;
            has_room.then_some(words)
        };
        self.tiles.iter().filter(|_| self.is_even()).map(words).collect::<Option<Vec<_>>>()
    }

    /// Whether the numbers of all tiles stand in them.
    fn has_numbers(&self) -> bool {
        self.numbers().is_some_and(|numbers| !numbers.is_empty())
    }

    /// Entries of the legend.
    fn legend(&self) -> Vec<Entry> {
        let best = self.content.best();
        let measure = &self.content.times.measure;
        let (word, amount) = (measure.best(), measure.words(best.time));
        let words = format!("{word}: ({}, {}) with {amount}", best.m, best.p);
        let mut entries = vec![entry(Mark::Star, &words)];
        if self.content.others().next().is_some() {
            let mark = if self.is_even() { Mark::Ring } else { Mark::Line(VERMILLION) };
            entries.push(entry(mark, "cannot be told from it"));
        }
        let (marked, words) = self.content.marked;
        if self.marks_all() {
            entries.push((Vec::new(), format!("all {words}")));
        } else if !marked.is_empty() {
            entries.push(entry(Mark::Dot(INK), words));
        }
        if !self.content.times.failed.is_empty() {
            entries.push(entry(Mark::Area(GRID), "failed or stopped"));
        }
        if self.tiles.iter().any(|tile| tile.count > 1) {
            let shade = style::color(STEPS / 2);
            let words = format!("of several in a cell, the {word}");
            entries.push(entry(Mark::Area(shade), &words));
        }
        let products: Vec<String> = self.content.products().iter().map(u64::to_string).collect();
        if !products.is_empty() && !self.has_numbers() {
            let words = format!("equal m × p, from above: {}", products.join(", "));
            entries.push(entry(Mark::Line(GREY), &words));
        }
        entries
    }

    /// Whether every cell would have a mark, which would tell nothing.
    fn marks_all(&self) -> bool {
        let marked = self.content.marked.0;
        self.content.cells.iter().all(|cell| marked.binary_search(&(cell.m, cell.p)).is_ok())
    }

    /// Moves the map below title and legend.
    fn move_below(&mut self, top: f64) {
        self.data.top += top;
        self.data.bottom += top;
        self.tiles = self.divided();
    }

    /// Draws the map and its colour bar.
    fn draw(&self, scene: &mut Scene, area: Bounds) {
        let bar = Bounds::new(
            area.right - 84.0,
            area.top + 28.0,
            area.right - 62.0,
            area.bottom - BOTTOM,
        );
        let (what, measure) = (self.content.what, &self.content.times.measure);
        let title = format!("{what} {}", measure.title(self.largest));
        color_bar(scene, bar, (&self.shades, measure.better), &title);
        self.fill(scene);
        if self.has_numbers() {
            self.write_numbers(scene);
        } else {
            self.iso_lines(scene);
        }
        self.labels(scene);
        self.cross_out(scene);
        self.dots(scene);
        self.marks(scene);
        let drawn = |cell: &Cell| {
            let at = (self.across.tile(cell.p), self.up.tile(cell.m));
            let tile = self.tiles.binary_search_by_key(&at, |tile| tile.at);
            let bounds = match tile.map(|index| &self.tiles[index]) {
                Ok(tile) if tile.count == 1 => tile.bounds,
                // Of several in a tile each is nearest to its own place.
                _ => {
                    let [x, y] = self.at((cell.m, cell.p));
                    Bounds::new(x, y, x, y)
                }
            };
            (bounds, format!("({}, {})", cell.m, cell.p))
        };
        scene.spots.extend(self.content.cells.iter().map(drawn));
    }

    /// What is better is light.
    fn step(&self, time: f64) -> usize {
        let step = style::step(self.shades.fraction(time * self.factor()));
        shade(step, self.content.times.measure.better)
    }

    /// What numbers are multiplied by to be shown.
    fn factor(&self) -> f64 {
        self.content.times.measure.factor(self.largest)
    }

    fn fill(&self, scene: &mut Scene) {
        let mut tiles: Vec<&Tile> = self.tiles.iter().collect();
        tiles.sort_by_key(|tile| self.step(tile.time));
        // Where each has its number, a white line between them.
        let gap = if self.is_even() { 0.5 } else { 0.0 };
        for tile in tiles {
            let Bounds { left, top, right, bottom } = tile.bounds;
            let bounds = Bounds::new(left + gap, top + gap, right - gap, bottom - gap);
            scene.rectangle(bounds, style::color(self.step(tile.time)));
        }
    }

    /// Lines through the middles of cells with the same m*p.
    fn iso_lines(&self, scene: &mut Scene) {
        for product in self.content.products() {
            let product = product as f64;
            let path: Vec<Place> = (0..=200)
                .filter_map(|index| {
                    // From m = 1 to m = product, in equal ratios.
                    let m = product.powf(f64::from(index) / 200.0);
                    let (up, across) = (self.up.at(m)?, self.across.at(product / m)?);
                    Some([self.x(across), self.y(up)])
                })
                .collect();
            scene.line(path.clone(), stroke(WHITE, 2.6));
            scene.line(path, stroke(GREY, 1.0));
        }
    }

    fn write_numbers(&self, scene: &mut Scene) {
        for (tile, words) in self.tiles.iter().zip(self.numbers().unwrap_or_default()) {
            let color = style::ink_on(style::color(self.step(tile.time)));
            let font = Font { color, ..LABEL }.at(Anchor::Middle);
            scene.text(&words, tile.bounds.middle(), font);
        }
    }

    fn labels(&self, scene: &mut Scene) {
        let Bounds { left, bottom, .. } = self.data;
        let widest = self.across.last().map_or(0.0, |p| LABEL.width(&count(p)));
        for p in self.across.labelled((widest + 6.0) / self.data.width()) {
            let x = self.x(self.across.middle(p));
            scene.line(vec![[x, bottom], [x, bottom + 4.0]], stroke(INK, 1.0));
            scene.text(&count(p), [x, bottom + 14.0], LABEL.at(Anchor::Middle));
        }
        for m in self.up.labelled(15.0 / self.data.height()) {
            let y = self.y(self.up.middle(m));
            scene.line(vec![[left - 4.0, y], [left, y]], stroke(INK, 1.0));
            scene.text(&count(m), [left - 8.0, y], LABEL.at(Anchor::End));
        }
        let [x, y] = self.data.middle();
        let title = TEXT.at(Anchor::Middle);
        let [of_m, of_p] = self.content.times.names.axes();
        scene.text(&of_p, [x, bottom + 40.0], title);
        scene.text(&of_m, [18.0, y], title.upwards());
        let axes = vec![[left, self.data.top], [left, bottom], [self.data.right, bottom]];
        scene.line(axes, stroke(INK, 1.0));
    }
}

/// A value of m or p in the room that there is: `512`, `2.1e9`.
fn count(value: u32) -> String {
    if value < 1_000_000 { value.to_string() } else { format!("{:.1e}", f64::from(value)) }
}
