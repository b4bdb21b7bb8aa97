//! A program under several schedulers: curves over numbers of workers or of tasks, or bars where
//! neither varies.

use super::axis::{Axis, label};
use super::chart::{self, Area, BELOW, CAPTION, Chart, Surround, picture};
use super::curves::{self, NARROW, ScaledPanel};
use super::measure::Unit;
use super::scene::{Anchor, Scene};
use super::style::{self, BLUE, LABEL, shortened};
use super::times::checked;
use crate::error::{Error, Result};
use crate::table::records::Scheduled;

/// What is shown of each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Time of the run.
    Time,
    /// Time of the run over that of the fastest with as many workers and tasks.
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
    let points = SchedulerCurves::new(rows, quantity)?;
    if points.panels.iter().all(|panel| panel.series.iter().all(|it| it.len() < 2)) {
        return points.bars(title);
    }
    points.curves(title)
}

/// What is drawn, by panels.
struct SchedulerCurves<'a> {
    /// The names of the schedulers.
    names: Vec<&'a str>,
    panels: Vec<SchedulerPanel>,
    x_title: &'static str,
    y_title: String,
    quantity: Quantity,
}

/// The values of as many tasks, or of as many workers.
struct SchedulerPanel {
    caption: String,
    /// The counts and values of each scheduler, by counts.
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

/// Division into panels: one where workers have as many tasks as they are; else what has more values
/// lies on the axis.
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

/// A count of workers or tasks in words.
fn counted(count: u32, what: &str) -> String {
    let what = if count == 1 { what.trim_end_matches('s') } else { what };
    format!("{count} {what}")
}

impl<'a> SchedulerCurves<'a> {
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
            Ok(SchedulerPanel { caption: (division.caption)(key), series })
        };
        let panels = keys.iter().map(panel).collect::<Result<Vec<SchedulerPanel>>>()?;
        if panels.is_empty() {
            return Err(Error::too_little(
                "schedulers.csv",
                "no rows",
                "compare at least one scheduler",
            ));
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
    fn caption(&self, panel: &SchedulerPanel) -> String {
        let end = self.end();
        let mut values = panel.series.iter().flatten().map(|point| point.1);
        if self.quantity == Quantity::OverFastest && values.any(|value| value > end) {
            return format!("{} (beyond {end:.2}: at the upper edge)", panel.caption);
        }
        panel.caption.clone()
    }

    fn curves(&self, title: &str) -> Result<Scene> {
        let captions: Vec<String> = self.panels.iter().map(|panel| self.caption(panel)).collect();
        let panels = self.panels.iter().zip(&captions).map(|(panel, caption)| ScaledPanel {
            caption,
            y_title: &self.y_title,
            y: self.axis(),
            series: &panel.series,
        });
        curves::draw(title, &self.names, self.x_title, &panels.collect::<Vec<_>>())
    }

    /// A bar for each scheduler; where there is a single run of each.
    fn bars(&self, title: &str) -> Result<Scene> {
        let height = CAPTION + BAR * self.names.len() as f64 + BELOW;
        picture(title, (NARROW, height * self.panels.len() as f64), &[], |area| {
            let areas = chart::panels(area, self.panels.len(), 1);
            areas
                .iter()
                .zip(&self.panels)
                .try_for_each(|(area, panel)| self.panel_of_bars(area, panel))
        })
    }

    fn panel_of_bars(&self, area: &Area, panel: &SchedulerPanel) -> chart::Drawing {
        let count = panel.series.iter().flatten().map(|point| point.0).max().unwrap_or(0);
        let caption = &format!("{}, {}", panel.caption, counted(count, self.x_title));
        let around =
            Surround { caption, x_title: &self.y_title, left: NAMES, ..Surround::default() };
        let most = self.values().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        // Room for the value at the end of the longest; bars hang from the upper end.
        let (x, y) =
            (Axis::of_window(0.0, 1.15 * most), Axis::of_places(0.0, self.names.len() as f64));
        let mut chart = Chart::new(area, [x, y], around)?;
        chart.axes("")?;
        for (index, (name, points)) in self.names.iter().zip(&panel.series).enumerate() {
            let middle = self.names.len() as f64 - index as f64 - 0.5;
            let value = points.first().map(|it| it.1);
            if let Some(value) = value {
                chart.rectangle([(0.0, middle + 0.32), (value, middle - 0.32)], BLUE)?;
            }
            let words = shortened(name, &LABEL, NAMES - 24.0);
            let [left, y] = chart.at(0.0, middle);
            chart.sketch(|scene| {
                scene.text(&words, [left - 8.0, y], LABEL.at(Anchor::End));
                if let Some(value) = value {
                    let words = label(format!("{value:.3e}").parse().unwrap_or(value));
                    let right = chart.at(value, middle)[0];
                    style::text_on_white(scene, &words, [right + 6.0, y], LABEL);
                }
            })?;
        }
        Ok(())
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
