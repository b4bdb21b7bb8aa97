//! A program under several schedulers: curves over numbers of workers or of tasks, or bars where
//! neither varies.

use super::axis::{Axis, label};
use super::curves::{self, Drawn, NARROW};
use super::frame::{BELOW, Frame, Surround};
use super::scene::{Anchor, Bounds, Scene};
use super::style::{self, BLUE, LABEL, shortened};
use super::times::checked;
use super::unit::Unit;
use crate::error::{Error, Result};
use crate::table::records::Scheduled;

/// What is shown of each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Its time.
    Time,
    /// Its time over that of the fastest with as many workers and tasks.
    OverFastest,
    /// How long the workers' APUs did nothing, for each off-load.
    ApuIdle,
}

/// A scheduler whose largest excess over the fastest is more than so many times that of the next one
/// lies beyond an axis of ratios, unless that one is hardly above the fastest itself.
const APART: f64 = 5.0;
const LEAST: f64 = 0.01;

/// Height of a bar with its space, and the space for names beside it.
const BAR: f64 = 24.0;
const NAMES: f64 = 170.0;

/// The picture of the rows, each of which is another run.
pub(super) fn scene(title: &str, rows: &[Scheduled], quantity: Quantity) -> Result<Scene> {
    let points = Points::new(rows, quantity)?;
    if points.panels.iter().all(|panel| panel.series.iter().all(|it| it.len() < 2)) {
        return Ok(points.bars(title));
    }
    Ok(points.curves(title))
}

/// What is drawn, by panels.
struct Points<'a> {
    /// The names of the schedulers.
    names: Vec<&'a str>,
    panels: Vec<Panel>,
    x_title: &'static str,
    y_title: String,
    quantity: Quantity,
}

/// The values of as many tasks, or of as many workers.
struct Panel {
    caption: String,
    /// For each scheduler its counts and values, by counts.
    series: Vec<Vec<(u32, f64)>>,
}

/// What distinguishes panels, and what stands on their horizontal axes.
struct Division {
    /// What panels differ in, and what a panel is called.
    key: fn(&Scheduled) -> u32,
    caption: fn(u32) -> String,
    x: fn(&Scheduled) -> u32,
    x_title: &'static str,
}

/// Where workers have as many tasks as they are, one panel; else what has more values lies on the
/// axis.
fn division(rows: &[Scheduled]) -> Division {
    let distinct = |count: fn(&Scheduled) -> u32| {
        let mut counts: Vec<u32> = rows.iter().map(count).collect();
        counts.sort_unstable();
        counts.dedup();
        counts.len()
    };
    let x_title = "workers";
    let (workers, tasks) = (distinct(|row| row.workers), distinct(|row| row.tasks));
    if workers > 1 && rows.iter().all(|row| row.workers == row.tasks) {
        let caption = |_| "A task for each worker".into();
        return Division { key: |_| 0, caption, x: |row| row.workers, x_title };
    }
    if workers > tasks {
        let caption = |tasks| counted(tasks, "tasks");
        return Division { key: |row| row.tasks, caption, x: |row| row.workers, x_title };
    }
    Division {
        key: |row| row.workers,
        caption: |workers| counted(workers, "workers"),
        x: |row| row.tasks,
        x_title: "tasks",
    }
}

/// So many workers or tasks.
fn counted(count: u32, what: &str) -> String {
    let what = if count == 1 { what.trim_end_matches('s') } else { what };
    format!("{count} {what}")
}

impl<'a> Points<'a> {
    fn new(rows: &'a [Scheduled], quantity: Quantity) -> Result<Self> {
        let longest = rows.iter().map(|row| row.time_s).fold(0.0, f64::max);
        let unit = Unit::of(longest);
        let mut names: Vec<&str> = Vec::new();
        for row in rows {
            if !names.contains(&row.scheduler.as_str()) {
                names.push(&row.scheduler);
            }
        }
        let division = division(rows);
        let mut keys: Vec<u32> = rows.iter().map(division.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let panel = |&key: &u32| {
            let here: Vec<&Scheduled> =
                rows.iter().filter(|it| (division.key)(it) == key).collect();
            let series = names.iter().map(|name| {
                let of_name = here.iter().filter(|row| row.scheduler == *name);
                let mut points = of_name
                    .map(|row| Ok(((division.x)(row), value(row, rows, (quantity, unit))?)))
                    .collect::<Result<Vec<_>>>()?;
                points.sort_by_key(|point| point.0);
                Ok(points)
            });
            let series = series.collect::<Result<_>>()?;
            Ok(Panel { caption: (division.caption)(key), series })
        };
        let panels = keys.iter().map(panel).collect::<Result<Vec<Panel>>>()?;
        if panels.is_empty() {
            return Err(Error::TooLittleData {
                file: "schedulers.csv".into(),
                found: "no rows".into(),
                advice: "compare at least one scheduler".into(),
            });
        }
        let y_title = match quantity {
            Quantity::Time => format!("time [{}]", unit.symbol),
            Quantity::OverFastest => "time over that of the fastest".into(),
            Quantity::ApuIdle => "APU idle for each off-load [µs]".into(),
        };
        Ok(Self { names, panels, x_title: division.x_title, y_title, quantity })
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        series.flatten().map(|point| point.1)
    }

    /// The axis of the values, which all panels share.
    fn axis(&self) -> Axis {
        match self.quantity {
            Quantity::OverFastest => {
                let end = self.end();
                Axis::of_window(1.0 - 0.06 * (end - 1.0), end + 0.06 * (end - 1.0))
            }
            _ => Axis::of_times(self.values()),
        }
    }

    /// The upper end of an axis of ratios. It need not reach a few schedulers that are so far above
    /// all others that these would lie on one line.
    fn end(&self) -> f64 {
        let most = |index: usize| {
            let points = self.panels.iter().flat_map(|panel| &panel.series[index]);
            points.map(|point| point.1 - 1.0).fold(0.0, f64::max)
        };
        let mut excesses: Vec<f64> = (0..self.names.len()).map(most).collect();
        excesses.sort_by(f64::total_cmp);
        let few = (excesses.len() / 3).max(1);
        let upper = &excesses[excesses.len().saturating_sub(few + 1)..];
        let gap = upper.windows(2).find(|pair| pair[0] > LEAST && pair[1] > APART * pair[0]);
        let end = gap.map_or(excesses[excesses.len() - 1], |pair| 1.5 * pair[0]);
        1.0 + end.max(0.05)
    }

    /// What a panel is called, and what its axis leaves out.
    fn caption(&self, panel: &Panel) -> String {
        let end = self.end();
        let mut values = panel.series.iter().flatten().map(|point| point.1);
        if self.quantity == Quantity::OverFastest && values.any(|value| value > end) {
            return format!("{} (beyond {end:.2}: at the upper edge)", panel.caption);
        }
        panel.caption.clone()
    }

    fn curves(&self, title: &str) -> Scene {
        let captions: Vec<String> = self.panels.iter().map(|panel| self.caption(panel)).collect();
        let panels = self.panels.iter().zip(&captions).map(|(panel, caption)| Drawn {
            caption,
            y_title: &self.y_title,
            y: self.axis(),
            series: &panel.series,
        });
        curves::draw(title, &self.names, self.x_title, panels.collect())
    }

    /// A bar for each scheduler; where there is a single run of each.
    fn bars(&self, title: &str) -> Scene {
        let height = 28.0 + BAR * self.names.len() as f64 + BELOW;
        let height = height * self.panels.len() as f64;
        let (mut scene, area) = super::begun(title, (NARROW, height), &[]);
        let height = area.height() / self.panels.len() as f64;
        for (index, panel) in self.panels.iter().enumerate() {
            let top = area.top + height * index as f64;
            let bounds = Bounds { top, bottom: top + height, ..area };
            self.panel_of_bars(&mut scene, bounds, panel);
        }
        scene
    }

    fn panel_of_bars(&self, scene: &mut Scene, bounds: Bounds, panel: &Panel) {
        let count = panel.series.iter().flatten().map(|point| point.0).max().unwrap_or(0);
        let surround = Surround {
            caption: &format!("{}, {}", panel.caption, counted(count, self.x_title)),
            x_title: &self.y_title,
            y_title: "",
            above: 0.0,
            below: BELOW,
        };
        let most = self.values().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let left = bounds.left + NAMES - style::LEFT_AXIS;
        // Room for the value at the end of the longest.
        let x = Axis::of_window(0.0, 1.15 * most);
        let y = Axis::of_places(0.0, 1.0);
        let frame = Frame::draw(scene, Bounds { left, ..bounds }, x, y, &surround);
        let end = LABEL.at(Anchor::End);
        for (index, (name, points)) in self.names.iter().zip(&panel.series).enumerate() {
            let middle = frame.data.top + BAR * (index as f64 + 0.5);
            let words = shortened(name, &LABEL, NAMES - 24.0);
            scene.text(&words, [frame.data.left - 8.0, middle], end);
            let Some(&(_, value)) = points.first() else { continue };
            let (top, bottom) = (middle - 0.32 * BAR, middle + 0.32 * BAR);
            let right = frame.x_at(value);
            scene.rectangle(Bounds::new(frame.data.left, top, right, bottom), BLUE);
            let value = label(format!("{value:.3e}").parse().unwrap_or(value));
            style::text_on_white(scene, &value, [right + 6.0, middle], LABEL);
        }
    }
}

/// What is shown of a row.
fn value(row: &Scheduled, rows: &[Scheduled], (quantity, unit): (Quantity, Unit)) -> Result<f64> {
    let time = checked("time_s", row.time_s)?;
    match quantity {
        Quantity::Time => Ok(time * unit.per_second),
        Quantity::OverFastest => {
            let is_beside =
                |other: &&Scheduled| (other.workers, other.tasks) == (row.workers, row.tasks);
            let beside = rows.iter().filter(is_beside);
            let fastest = beside.map(|other| other.time_s).fold(f64::INFINITY, f64::min);
            // Of runs that take no time, none is faster.
            Ok(if fastest > 0.0 { time / fastest } else { 1.0 })
        }
        Quantity::ApuIdle => checked("apu_idle_per_offload_us", row.apu_idle_per_offload_us),
    }
}
