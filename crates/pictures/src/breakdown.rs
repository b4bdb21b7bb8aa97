//! Where the time goes: for each configuration the terms of equation 11, those of the refined model
//! and the measured split, stacked side by side.
//!
//! Everything is a part of the measured time (without one, of what equation 11 predicts), so that
//! fast configurations can be read as well as slow ones; the times themselves stand above.

use super::axis::Axis;
use super::chart::{Area, Chart, Corners, Drawing, Surround, picture, sketch};
use super::columns::{BELOW, Columns, X_TITLE};
use super::measure::time_in_words;
use super::scene::{Anchor, Bounds, Color, Scene, px};
use super::style::{
    BLUE, GREEN, GREY, INDENT, INK, LABEL, Mark, ORANGE, PURPLE, RIGHT_MARGIN, SKY, TEXT,
    VERMILLION, YELLOW, shortened, stroke,
};
use super::times::checked;
use crate::Mapping;
use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::models::run::Breakdown;
use crate::table::records::Split;

/// Width of a picture, and height of the panel.
pub(super) const WIDTH: f64 = 1240.0;
const PANEL: f64 = 560.0;

/// The most configurations that have room to be read. Of more, the fastest of each m are shown, and
/// of those the ones at powers of two and half-way between.
const MOST: usize = 24;

// Colours of the parts. What belongs together has a hue; the shade says which of it.
const HOST: Color = BLUE;
const SWITCH: Color = SKY;
const COLLECTIVE: Color = Color(190, 225, 247);
const START: Color = ORANGE;
const SHARED: Color = GREEN;
const UNEVEN: Color = Color(140, 208, 185);
const MEMORY: Color = Color(0, 98, 72);
const GROWTH: Color = Color(200, 232, 220);
const SERIAL: Color = YELLOW;
const SIGNAL: Color = PURPLE;
const EXPOSED: Color = Color(232, 190, 214);
const QUEUE: Color = VERMILLION;

/// Rows of the legend: a kind of time, the terms that predict it, the part of the split that holds
/// it.
type Terms = &'static [(Color, &'static str)];
const LEGEND: [(Terms, Terms, (Color, &str)); 6] = [
    (
        &[
            (HOST, "host code alpha_m·T_HPU"),
            (SWITCH, "switches N·T_CSW"),
            (COLLECTIVE, "collectives O_COL"),
        ],
        &[(QUEUE, "queueing for the host")],
        (HOST, "between off-loads: host code, collectives, waiting for the host"),
    ),
    (&[(START, "starting APUs N·p·g")], &[], (START, "starting and collecting APUs")),
    (
        &[(SHARED, "shared loops T_APU/(m·p)")],
        &[(MEMORY, "memory contention"), (GROWTH, "growing work")],
        (SHARED, "APUs in shared loops, mean over a process's APUs"),
    ),
    (&[(SERIAL, "serial part C_APU")], &[], (SERIAL, "APUs in everything else")),
    (
        &[(SIGNAL, "off-load signals N·O_offload")],
        &[(UNEVEN, "uneven division"), (EXPOSED, "exposed transfers")],
        (SIGNAL, "rest of off-loads: signals, slowest APU, the host"),
    ),
    (&[], &[], (GREY, "no term: before the first and after the last code")),
];

/// Height of a row of the legend.
const LEGEND_ROW: f64 = 19.0;

/// One configuration with its bars, each from the bottom up; times in seconds.
struct Column {
    m: u32,
    p: u32,
    /// What 100 % is.
    whole: f64,
    bars: Vec<Vec<(f64, Color)>>,
}

/// The picture of `splits`, or without any of all feasible configurations.
pub(super) fn scene(title: &str, parameters: &Parameters, splits: &[Split]) -> Result<Scene> {
    let mut columns = columns(parameters, splits)?;
    let all = columns.len();
    let shown = if all <= MOST {
        "each".to_string()
    } else {
        let by_m = fastest_by_m(&mut columns);
        format!("{by_m}, {} of {all}", columns.len())
    };
    let is_refined = parameters.refinements.as_ref().is_some_and(|it| !it.names().is_empty());
    let order = match (is_refined, splits.is_empty()) {
        (false, false) => "equation 11, measured",
        (true, false) => "equation 11, refined model, measured",
        (false, true) => "equation 11",
        (true, true) => "equation 11, refined model",
    };
    let caption = format!("(m, p): {shown}; bars from left to right: {order}");
    let models = if is_refined { Models::Both } else { Models::Equation11 };
    let head = LEGEND_ROW * (LEGEND.len() as f64 + 1.0) + 2.0;
    picture(title, (WIDTH, head + PANEL), &[], |area| {
        sketch(area, |scene| legend(scene, models))?;
        let (_, panel) = area.split_vertically(px(head));
        draw(&panel, &columns, (&caption, splits.is_empty()))
    })
}

/// Keeps the fastest of each m; of too many, those at powers of two, half-way between and the
/// fastest of all. Says which.
fn fastest_by_m(columns: &mut Vec<Column>) -> &'static str {
    let best_of = |columns: &[Column]| {
        let best = columns.iter().min_by(|one, other| one.whole.total_cmp(&other.whole));
        best.map(|column| (column.m, column.p))
    };
    let best = best_of(columns);
    let groups = columns.chunk_by(|one, next| one.m == next.m);
    let kept: Vec<(u32, u32)> = groups.filter_map(best_of).collect();
    columns.retain(|column| kept.contains(&(column.m, column.p)));
    if columns.len() <= MOST {
        return "the fastest of each m";
    }
    let is_best = |column: &Column| Some((column.m, column.p)) == best;
    let is_round =
        |m: u32| m.is_power_of_two() || (m.is_multiple_of(3) && (m / 3).is_power_of_two());
    columns.retain(|column| is_best(column) || is_round(column.m));
    if columns.len() <= MOST {
        return "the fastest of m = 1, 2, 3, 4, 6, 8, 12 … and of all";
    }
    columns.retain(|column| is_best(column) || column.m.is_power_of_two());
    "the fastest of m = 1, 2, 4, 8 … and of all"
}

/// The configurations by m and p, with their bars.
fn columns(parameters: &Parameters, splits: &[Split]) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    if splits.is_empty() {
        for m in 1..=parameters.apus {
            for p in 1..=parameters.apus / m {
                columns.push(column(parameters, (m, p), None)?);
            }
        }
    }
    for split in splits {
        columns.push(column(parameters, (split.m, split.p), Some(split))?);
    }
    columns.retain(|column| column.whole > 0.0);
    if columns.is_empty() {
        return Err(Error::too_little(
            "split.csv",
            "no configuration with a time above 0",
            "measure at least one",
        ));
    }
    columns.sort_by_key(|column| (column.m, column.p));
    Ok(columns)
}

fn column(parameters: &Parameters, (m, p): (u32, u32), split: Option<&Split>) -> Result<Column> {
    let terms = parameters.breakdown(Mapping::of(m, p));
    let mut bars = vec![of_equation_11(&terms)];
    if parameters.refinements.as_ref().is_some_and(|it| !it.names().is_empty()) {
        bars.push(of_refined_model(parameters, (m, p)));
    }
    if let Some(split) = split {
        bars.push(vec![
            (split.host_s, HOST),
            (split.start_s, START),
            (split.apu_shared_s, SHARED),
            (split.apu_serial_s, SERIAL),
            (split.wait_s, SIGNAL),
            (split.idle_s, GREY),
        ]);
    }
    for (part, _) in bars.iter().flatten() {
        checked("part of a time", *part)?;
    }
    let whole = split.map_or(terms.total().0, |split| split.time_s);
    Ok(Column { m, p, whole: checked("time_s", whole)?, bars })
}

fn of_equation_11(terms: &Breakdown) -> Vec<(f64, Color)> {
    vec![
        (terms.hpu_s, HOST),
        (terms.context_switch_s, SWITCH),
        (terms.collective_s, COLLECTIVE),
        (terms.gap_s, START),
        (terms.apu_s, SHARED),
        (terms.apu_serial_s, SERIAL),
        (terms.offload_s, SIGNAL),
    ]
}

/// The same order, each further term beside what it adds to.
fn of_refined_model(parameters: &Parameters, (m, p): (u32, u32)) -> Vec<(f64, Color)> {
    let refined = parameters.refined_breakdown(Mapping::of(m, p));
    let mut parts = of_equation_11(&refined.terms);
    parts.insert(7, (refined.exposed_transfer_s, EXPOSED));
    parts.insert(7, (refined.uneven_division_s, UNEVEN));
    parts.insert(5, (refined.work_growth_s, GROWTH));
    parts.insert(5, (refined.memory_contention_s, MEMORY));
    parts.insert(3, (refined.host_queueing_s, QUEUE));
    parts
}

/// Which models have bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Models {
    Equation11,
    Both,
}

/// A table: in each row what the models say of a kind of time, and what the split holds of it.
fn legend(scene: &mut Scene, models: Models) {
    let middle = 770.0;
    let heads = [(INDENT, "terms of the models"), (middle, "part of the measured split")];
    for (x, words) in heads {
        scene.text(words, [x, 54.0], TEXT);
    }
    for (index, (terms, refined, (color, part))) in LEGEND.iter().enumerate() {
        let y = 54.0 + LEGEND_ROW * (index as f64 + 1.1);
        let mut x = INDENT;
        let further = if models == Models::Both { *refined } else { &[] };
        for (color, words) in terms.iter().chain(further) {
            Mark::Area(*color).draw(scene, [x + 6.0, y], 0.0);
            scene.text(words, [x + 18.0, y], LABEL);
            x += 18.0 + LABEL.width(words) + 22.0;
        }
        Mark::Area(*color).draw(scene, [middle + 6.0, y], 0.0);
        let room = scene.width - RIGHT_MARGIN / 2.0 - middle - 18.0;
        scene.text(&shortened(part, &LABEL, room), [middle + 18.0, y], LABEL);
    }
    let under = 54.0 + LEGEND_ROW * (LEGEND.len() as f64 + 0.8);
    scene.line(vec![[INDENT, under], [scene.width - RIGHT_MARGIN, under]], stroke(GREY, 0.5));
}

fn draw(panel: &Area, columns: &[Column], (caption, predicted): (&str, bool)) -> Drawing {
    let places = Columns::new(columns.iter().map(|it| (it.m, it.p)).collect());
    let total = |bar: &Vec<(f64, Color)>| bar.iter().map(|(part, _)| part).sum::<f64>();
    let percent = |column: &Column, time: f64| 100.0 * time / column.whole;
    let largest = columns.iter().flat_map(|column| {
        column.bars.iter().map(move |bar| percent(column, total(bar)).min(MOST_PERCENT))
    });
    let y = Axis::of_times(largest.chain([0.0]).collect::<Vec<_>>().into_iter());
    let y_title =
        if predicted { "part of the predicted time [%]" } else { "part of the measured time [%]" };
    // The times are read upwards.
    let widths = columns.iter().map(|column| LABEL.width(&time_in_words(column.whole)));
    let above = widths.fold(0.0, f64::max) + 8.0;
    let around = Surround { caption, x_title: X_TITLE, above, below: BELOW, ..Surround::default() };
    let mut chart = Chart::new(panel, [places.axis(), y], around)?;
    chart.axes(y_title)?;
    places.labels(&chart)?;
    let units = places.width(&chart);
    let mut bars: Vec<(Corners, Color)> = Vec::new();
    for (place, column) in places.places.iter().zip(columns) {
        let width = 0.86 / column.bars.len() as f64;
        // A hair between bars that are wide enough.
        let gap = if width * units > 3.0 { 0.4 / units } else { 0.0 };
        for (number, bar) in column.bars.iter().enumerate() {
            let left = place - 0.43 + width * number as f64;
            let mut below = 0.0;
            for (part, color) in bar.iter().filter(|(part, _)| *part > 0.0) {
                let above = below + part;
                let [top, bottom] = [above, below].map(|time| percent(column, time));
                bars.push(([(left + gap, top), (left + width - gap, bottom)], *color));
                below = above;
            }
        }
    }
    // Those of a colour together, which makes the file small; none lies on another.
    bars.sort_by_key(|(_, Color(red, green, blue))| (*red, *green, *blue));
    for (corners, color) in bars {
        chart.rectangle(corners, color)?;
    }
    if !predicted {
        chart.across(100.0, INK, 0.8)?;
    }
    for (place, column) in places.places.iter().zip(columns) {
        let [left, right] = [-0.5, 0.5].map(|half| chart.at(place + half, 0.0)[0]);
        let cell = Bounds::new(left, chart.data.top, right, chart.data.bottom);
        let words = format!("({}, {})", column.m, column.p);
        chart.sketch(|scene| scene.spots.push((cell, words.clone())))?;
    }
    times(&chart, columns, &places)
}

/// Bars that are longer are cut: a model so wrong would flatten all others.
const MOST_PERCENT: f64 = 400.0;

/// The time of each configuration, read upwards, as far as there is room.
fn times(chart: &Chart<'_>, columns: &[Column], places: &Columns) -> Drawing {
    let mut free_from = f64::NEG_INFINITY;
    for (index, column) in columns.iter().enumerate() {
        let x = places.x(index, chart);
        if x - 6.0 >= free_from {
            free_from = x + 6.0;
            let (words, at) = (time_in_words(column.whole), [x, chart.data.top - 4.0]);
            chart.sketch(|scene| scene.text(&words, at, LABEL.at(Anchor::Start).upwards()))?;
        }
    }
    Ok(())
}
