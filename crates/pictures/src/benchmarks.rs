//! The micro-benchmarks beside the parameters that were fitted to them, a panel for each.

use std::collections::BTreeMap;

use super::axis::{Axis, label, three_digits};
use super::chart::{self, Area, Chart, Drawing, Surround, picture};
use super::measure::{Unit, time_in_words as time};
use super::scene::Scene;
use super::style::{BLUE, DOT, Entry, LABEL, MEASURED, Mark, SKY, entry, shortened};
use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::models::parameters::{Estimate, OverM};
use crate::table::MicroBenchmarks;
use crate::table::records::{Alpha, Collective, ContextSwitch, MemoryStream, Offload};

/// One measurement and what was fitted to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What was measured.
    pub title: String,
    /// What stands on the horizontal axis, with its unit where it has one.
    pub x_label: String,
    /// What stands on the vertical axis, with its unit where it has one.
    pub y_label: String,
    /// How the horizontal axis is divided.
    pub x_scale: Scale,
    /// How the vertical axis is divided.
    pub y_scale: Scale,
    /// What was measured, `[x, y]` in the units of the labels; positive on a logarithmic axis.
    pub points: Vec<[f64; 2]>,
    /// The line that the parameters describe, by x; empty where they have no such term.
    pub fit: Vec<FitPoint>,
    /// What the line is.
    pub fit_label: String,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far.
    Linear,
    /// Equal ratios are equally far.
    Log,
}

/// A point of a fitted line, in the units of the labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitPoint {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Value of the line there.
    pub y: f64,
    /// The 95 % interval of the value, where that is known: its lower and its upper end.
    pub interval: Option<(f64, f64)>,
}

/// A panel for each table with rows that can be shown, in the order of the equation's terms; for
/// each collective operation and message size one of its own.
pub fn panels(tables: &MicroBenchmarks, parameters: &Parameters) -> Vec<Panel> {
    let processes = tables.alpha.iter().map(|row| row.processes);
    let last_m = processes.chain(tables.collective.iter().map(|row| row.ranks)).max();
    let parameters = &parameters.tabulated(last_m.unwrap_or(1));
    let mut panels = vec![
        alpha(&tables.alpha, parameters),
        offload(&tables.offload, parameters),
        context_switch(&tables.context_switch, parameters),
    ];
    panels.extend(collectives(&tables.collective, parameters));
    panels.push(memory(&tables.memory, parameters));
    panels.retain(|panel| !panel.points.is_empty());
    panels
}

/// The time of concurrent products over that of one alone, a point for each size of matrix, means
/// over repetitions; and alpha_m.
fn alpha(rows: &[Alpha], parameters: &Parameters) -> Panel {
    let mut times: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
    for row in rows {
        let (sum, count) = times.entry((row.processes, row.matrix_size)).or_default();
        *sum += row.time_s;
        *count += 1.0;
    }
    let mean = |key: &(u32, u32)| times.get(key).map(|(sum, count)| sum / count);
    let ratio = |key: &(u32, u32)| {
        let alone = mean(&(1, key.1)).filter(|alone| *alone > 0.0)?;
        Some([f64::from(key.0), mean(key)? / alone])
    };
    let points: Vec<[f64; 2]> = times.keys().filter_map(ratio).collect();
    let mut fit = over_m(&parameters.terms.alpha, 1.0, &points, 1.0);
    // alpha_1 = 1 by definition, whatever holds for all others.
    if let (OverM::Constant(_), Some(first)) = (&parameters.terms.alpha, fit.first_mut())
        && first.x == 1.0
    {
        *first = FitPoint { x: 1.0, y: 1.0, interval: None };
        let last = fit.last().copied().filter(|last| last.x > 2.0);
        fit.splice(1..1, last.map(|last| FitPoint { x: 2.0, ..last }));
    }
    Panel {
        title: "Slowdown of host code, alpha".into(),
        x_label: "processes at once".into(),
        y_label: "time over that of one process".into(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        points: distinct(points),
        fit,
        fit_label: "alpha_m of the parameters".into(),
    }
}

/// Round trips, and the line from O_offload upwards. The part that grows with the size is no
/// parameter: its slope is that of the least squares of relative deviations from the points.
fn offload(rows: &[Offload], parameters: &Parameters) -> Panel {
    let seconds: Vec<[f64; 2]> = rows
        .iter()
        .map(|row| [row.bytes as f64, row.time_s / row.round_trips as f64])
        .filter(|[bytes, time]| *bytes > 0.0 && *time > 0.0)
        .collect();
    let unit = Unit::of(longest(&seconds));
    let start = &parameters.terms.o_offload_s;
    let sum = |term: fn([f64; 2], f64) -> f64| -> f64 {
        seconds.iter().map(|point| term(*point, start.value) / point[1].powi(2)).sum()
    };
    let squares = sum(|[bytes, _], _| bytes * bytes);
    let slope = sum(|[bytes, time], start| bytes * (time - start)) / squares.max(f64::MIN_POSITIVE);
    let slope = slope.max(0.0);
    let mut sizes: Vec<f64> = seconds.iter().map(|[bytes, _]| *bytes).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    // Between sizes the line is bent on logarithmic axes.
    let steps = sizes.windows(2).flat_map(|pair| [pair[0], (pair[0] * pair[1]).sqrt()]);
    let xs: Vec<f64> = steps.chain(sizes.last().copied()).collect();
    let at = |bytes: &f64| {
        let add = |value: f64| (value + slope * bytes) * unit.per_second;
        let interval = start.interval().map(|(low, high)| (add(low), add(high)));
        FitPoint { x: *bytes, y: add(start.value), interval }
    };
    Panel {
        title: "Off-load there and back, O_offload".into(),
        x_label: "message [byte]".into(),
        y_label: format!("time of a round trip [{}]", unit.symbol),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        points: scaled(&seconds, unit.per_second),
        fit: xs.iter().map(at).collect(),
        fit_label: format!("O_offload = {}, growing with the size", time(start.value)),
    }
}

/// Yields between processes, and T_CSW. A process alone switches to nobody.
fn context_switch(rows: &[ContextSwitch], parameters: &Parameters) -> Panel {
    let of_several = rows.iter().filter(|row| row.processes >= 2);
    let seconds: Vec<[f64; 2]> = of_several
        .map(|row| [f64::from(row.processes), row.time_s / row.switches as f64])
        .collect();
    let unit = Unit::of(longest(&seconds));
    let term = &parameters.terms.t_csw_s;
    Panel {
        title: "Context switch on the host, T_CSW".into(),
        x_label: "processes on one hardware thread".into(),
        y_label: format!("time of a switch [{}]", unit.symbol),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        fit: constant(term, &seconds, unit.per_second),
        fit_label: format!("T_CSW = {}", time(term.value)),
        points: scaled(&seconds, unit.per_second),
    }
}

/// Calls of each kind of operation, and O_COL.
fn collectives(rows: &[Collective], parameters: &Parameters) -> Vec<Panel> {
    let mut kinds: BTreeMap<(&str, u64), Vec<[f64; 2]>> = BTreeMap::new();
    for row in rows {
        let point = [f64::from(row.ranks), row.time_s / row.calls as f64];
        kinds.entry((&row.operation, row.bytes)).or_default().push(point);
    }
    let panel = |((operation, bytes), seconds): ((&str, u64), Vec<[f64; 2]>)| {
        let unit = Unit::of(longest(&seconds));
        Panel {
            title: format!("{operation} of {bytes} bytes, O_COL"),
            x_label: "ranks".into(),
            y_label: format!("time of a call [{}]", unit.symbol),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            fit: over_m(&parameters.terms.o_col_s, 0.0, &seconds, unit.per_second),
            fit_label: "O_COL of the parameters".into(),
            points: scaled(&seconds, unit.per_second),
        }
    };
    kinds.into_iter().map(panel).collect()
}

/// What accelerators get from one memory together, and what the refined model takes it to deliver.
fn memory(rows: &[MemoryStream], parameters: &Parameters) -> Panel {
    let rate = |row: &MemoryStream| {
        let accelerators = f64::from(row.accelerators);
        [accelerators, accelerators * row.bytes as f64 / row.time_s]
    };
    let rates: Vec<[f64; 2]> = rows.iter().filter(|row| row.time_s > 0.0).map(rate).collect();
    let (symbol, bytes_per_second) = match longest(&rates) {
        rate if rate < 1e6 => ("kB/s", 1e3),
        rate if rate < 1e9 => ("MB/s", 1e6),
        _ => ("GB/s", 1e9),
    };
    let term = parameters.refinements.as_ref().and_then(|it| it.memory.as_ref());
    let term = term.map(|memory| &memory.bandwidth_bytes_per_s);
    let in_unit = 1.0 / bytes_per_second;
    let delivers =
        |term: &Estimate| format!("one memory delivers {:.2} {symbol}", term.value * in_unit);
    Panel {
        title: "Bandwidth of one memory".into(),
        x_label: "accelerators at once".into(),
        y_label: format!("bytes of all per second [{symbol}]"),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        fit: term.map(|term| constant(term, &rates, in_unit)).unwrap_or_default(),
        fit_label: term.map(delivers).unwrap_or_default(),
        points: scaled(&rates, in_unit),
    }
}

/// The entries of a term over m from the least to the largest x of the points, or, where it is the
/// same for all m, both ends; a table that starts later starts from `at_one` at 1.
fn over_m(term: &OverM, at_one: f64, points: &[[f64; 2]], per_unit: f64) -> Vec<FitPoint> {
    let table = match term {
        OverM::Constant(estimate) => return constant(estimate, points, per_unit),
        OverM::Table(table) => table,
    };
    let (first, last) = ends(points);
    let starts_later = first == 1.0 && table.m.first().is_some_and(|&m| m > 1);
    let start = starts_later.then_some(FitPoint { x: 1.0, y: at_one * per_unit, interval: None });
    let entries = table.m.iter().map(|&m| f64::from(m)).zip(&table.values);
    let inside = entries.filter(|(m, _)| (first..=last).contains(m));
    start.into_iter().chain(inside.map(|(m, value)| fit_point(m, value, per_unit))).collect()
}

/// A term that does not depend on x.
fn constant(term: &Estimate, points: &[[f64; 2]], per_unit: f64) -> Vec<FitPoint> {
    let (first, last) = ends(points);
    if first > last {
        return Vec::new();
    }
    let mut ends = vec![fit_point(first, term, per_unit), fit_point(last, term, per_unit)];
    ends.dedup();
    ends
}

fn fit_point(x: f64, estimate: &Estimate, per_unit: f64) -> FitPoint {
    let interval = estimate.interval().map(|(low, high)| (low * per_unit, high * per_unit));
    FitPoint { x, y: estimate.value * per_unit, interval }
}

/// The least and the largest x.
fn ends(points: &[[f64; 2]]) -> (f64, f64) {
    let xs = points.iter().map(|[x, _]| *x);
    (xs.clone().fold(f64::INFINITY, f64::min), xs.fold(f64::NEG_INFINITY, f64::max))
}

fn longest(points: &[[f64; 2]]) -> f64 {
    points.iter().map(|[_, y]| *y).fold(0.0, f64::max)
}

/// The points with y in another unit, each once.
fn scaled(points: &[[f64; 2]], per_unit: f64) -> Vec<[f64; 2]> {
    distinct(points.iter().map(|[x, y]| [*x, y * per_unit]).collect())
}

/// Repetitions that gave the same number are one point.
fn distinct(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|one, other| one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])));
    points.dedup();
    points
}

/// Width of a picture, and height of a row of panels.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 380.0;

/// Panels beside one another.
const IN_A_ROW: usize = 3;

/// The picture of all panels.
pub(super) fn scene(title: &str, panels: &[Panel]) -> Result<Scene> {
    if panels.is_empty() {
        return Err(Error::too_little(
            "micro-benchmarks",
            "no table with rows",
            "measure at least one, or write them with mmgp bench",
        ));
    }
    // As wide as three, however many there are.
    let places = panels.len().next_multiple_of(IN_A_ROW);
    let height = ROW * (places / IN_A_ROW) as f64;
    picture(title, (WIDTH, height), &legend(panels), |area| {
        let areas = chart::panels(area, places, IN_A_ROW);
        areas.iter().zip(panels).try_for_each(|(area, panel)| draw_panel(area, panel))
    })
}

/// Entries of the legend.
fn legend(panels: &[Panel]) -> Vec<Entry> {
    let mut entries = vec![entry(Mark::Dot(MEASURED), "measured")];
    let mut fits = panels.iter().flat_map(|panel| &panel.fit);
    if fits.clone().next().is_some() {
        entries.push(entry(Mark::Line(BLUE), "by the parameters"));
    }
    if fits.any(|point| point.interval.is_some()) {
        entries.push(entry(Mark::Interval(SKY), "their 95 % interval"));
    }
    entries
}

fn draw_panel(area: &Area, panel: &Panel) -> Drawing {
    let [points, fit] = can_be_drawn(panel);
    let xs = points.iter().chain(&fit).map(|point| point.x);
    let ends = |point: &FitPoint| point.interval.map(|(low, high)| [low, high]);
    let ys = points
        .iter()
        .chain(&fit)
        .flat_map(|point| [point.y].into_iter().chain(ends(point).into_iter().flatten()));
    let x = match panel.x_scale {
        Scale::Linear => {
            let mut counts: Vec<u32> = xs.clone().map(|x| x as u32).collect();
            counts.sort_unstable();
            Axis::of_counts(&counts)
        }
        Scale::Log => Axis::of_ratios(xs),
    };
    let y = match panel.y_scale {
        Scale::Linear => Axis::of_times(ys.clone().chain([0.0])),
        Scale::Log => Axis::of_ratios(ys),
    };
    let (caption, x_title) = (&*panel.title, &*panel.x_label);
    let around = Surround { caption, x_title, above: 20.0, ..Surround::default() };
    let mut chart = Chart::new(area, [x, y], around)?;
    chart.axes(&panel.y_label)?;
    let words = shortened(&panel.fit_label, &LABEL, chart.data.width() + 16.0);
    chart.sketch(|scene| scene.text(&words, [chart.data.left, chart.data.top - 13.0], LABEL))?;
    for point in &fit {
        if let Some(ends) = point.interval {
            chart.interval(point.x, ends, 0.0)?;
        }
    }
    chart.line(fit.iter().map(|point| (point.x, point.y)), BLUE, 1.6)?;
    let measured = points.iter().map(|point| (point.x, point.y));
    chart.marks((Mark::Dot(MEASURED), 0.7 * DOT), 0.0, measured)?;
    chart.spots(points.iter().map(|&FitPoint { x, y, .. }| {
        let words = format!("{}: {}, at {}", panel.y_label, three_digits(y), label(x));
        (words, chart.at(x, y))
    }))
}

/// The points, and those of the line: finite, and above 0 on logarithmic axes.
fn can_be_drawn(panel: &Panel) -> [Vec<FitPoint>; 2] {
    let fits = |scale: Scale, value: f64| match scale {
        Scale::Linear => value.is_finite() && value >= 0.0,
        Scale::Log => value.is_finite() && value > 0.0,
    };
    let is_drawn = |point: &FitPoint| fits(panel.x_scale, point.x) && fits(panel.y_scale, point.y);
    let drawn = |point: FitPoint| {
        let is_sane =
            |(low, high): &(f64, f64)| fits(panel.y_scale, *low) && fits(panel.y_scale, *high);
        FitPoint { interval: point.interval.filter(is_sane), ..point }
    };
    let points = panel.points.iter().map(|&[x, y]| FitPoint { x, y, interval: None });
    let points = points.filter(is_drawn).collect();
    [points, panel.fit.iter().copied().filter(is_drawn).map(drawn).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::published;

    fn parameters() -> Parameters {
        published("pbpi-qs20").expect("it is published")
    }

    fn estimate(value: f64, std_error: f64) -> Estimate {
        Estimate { std_error: Some(std_error), ..Estimate::exact(value) }
    }

    fn round_trip(bytes: u64, repetition: u32, time_s: f64) -> Offload {
        Offload {
            bytes,
            repetition,
            round_trips: 10,
            time_s,
            mode: crate::table::records::OffloadMode::PingPong,
        }
    }

    fn only(panels: Vec<Panel>) -> Panel {
        let [panel] = panels.try_into().expect("one panel");
        panel
    }

    #[test]
    fn tables_without_rows_have_no_panel() {
        assert_eq!(panels(&MicroBenchmarks::default(), &parameters()), []);
    }

    #[test]
    fn alpha_is_shown_as_a_ratio_for_each_size_of_matrix() {
        let row = |matrix_size, processes, repetition, time_s| Alpha {
            matrix_size,
            processes,
            repetition,
            time_s,
        };
        // Means over repetitions: 2 s alone and 3 s together for one size, 4 s and 5 s for the other.
        let rows = vec![
            row(8, 1, 1, 1.0),
            row(8, 1, 2, 3.0),
            row(8, 2, 1, 3.0),
            row(16, 1, 1, 4.0),
            row(16, 2, 1, 5.0),
        ];
        let mut parameters = parameters();
        parameters.terms.alpha = OverM::Constant(estimate(1.375, 0.0));
        let tables = MicroBenchmarks { alpha: rows, ..MicroBenchmarks::default() };
        let panel = only(panels(&tables, &parameters));
        assert_eq!(panel.points, [[1.0, 1.0], [2.0, 1.25], [2.0, 1.5]]);
        let fit: Vec<_> = panel.fit.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(fit, [(1.0, 1.0), (2.0, 1.375)]);
    }

    #[test]
    fn the_line_of_offloads_meets_points_that_lie_on_it() {
        // 2 us and 0.5 us for each byte.
        let trip = |bytes| round_trip(bytes, 1, 1e-5 * (2.0 + 0.5 * bytes as f64));
        let mut parameters = parameters();
        parameters.terms.o_offload_s = estimate(2e-6, 0.0);
        let tables =
            MicroBenchmarks { offload: [8, 16, 32].map(trip).into(), ..MicroBenchmarks::default() };
        let panel = only(panels(&tables, &parameters));
        assert_eq!(panel.y_label, "time of a round trip [µs]");
        for [bytes, time] in &panel.points {
            let fitted = panel.fit.iter().find(|point| point.x == *bytes).expect("a point");
            approx::assert_relative_eq!(fitted.y, time, max_relative = 1e-12);
            approx::assert_relative_eq!(fitted.y, 2.0 + 0.5 * bytes, max_relative = 1e-12);
        }
    }

    #[test]
    fn what_a_fit_leaves_out_is_left_out_here() {
        let alone = ContextSwitch {
            processes: 1,
            repetition: 1,
            switches: 1,
            time_s: 1.0,
            mode: "yield".into(),
        };
        let tables = MicroBenchmarks { context_switch: vec![alone], ..MicroBenchmarks::default() };
        assert_eq!(panels(&tables, &parameters()), []);
    }

    #[test]
    fn each_kind_of_collective_has_a_panel_and_repetitions_alike_are_one_point() {
        let row = |operation: &str, ranks, repetition| Collective {
            operation: operation.into(),
            ranks,
            bytes: 8,
            repetition,
            calls: 2,
            time_s: 1e-3,
        };
        let rows = vec![row("barrier", 2, 1), row("allreduce", 2, 1), row("allreduce", 2, 2)];
        let tables = MicroBenchmarks { collective: rows, ..MicroBenchmarks::default() };
        let panels = panels(&tables, &parameters());
        let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["allreduce of 8 bytes, O_COL", "barrier of 8 bytes, O_COL"]);
        assert_eq!(panels[0].points, [[2.0, 500.0]]);
    }
}
