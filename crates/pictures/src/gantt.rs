//! A run as it went: a row for each process, hardware thread and accelerator; and the same part of
//! several runs, with the same rows.

use std::collections::BTreeMap;

use super::axis::Axis;
use super::chart::{self, Area, BELOW, CAPTION, Corners, Drawing, Surround, picture};
use super::measure::Unit;
use super::scene::{Anchor, Color, Font, Scene};
use super::style::{
    BLUE, Entry, GREEN, GREY, INK, LABEL, Mark, ORANGE, PURPLE, SKY, VERMILLION, YELLOW, entry,
    shortened,
};
use crate::error::{Error, Result};
use crate::table::trace::{Span, Trace, Track};

/// Width of a picture.
const WIDTH: f64 = 1200.0;

/// How the rows of a chart look.
#[derive(Clone, Copy)]
struct Rows {
    /// Height of a row.
    height: f64,
    /// Space for their names.
    names: f64,
    font: Font,
}

/// Rows of one run, and of several: there are many then.
const OF_ONE: Rows = Rows { height: 20.0, names: 150.0, font: LABEL };
const OF_MANY: Rows = Rows { height: 12.0, names: 138.0, font: Font::new(10.0, INK) };

/// Charts beside one another, where there is more than one.
const IN_A_ROW: usize = 2;

/// Off-loads that the window shows where nobody says which: enough for a pattern, few enough to
/// tell its parts.
const OFFLOADS_SHOWN: f64 = 12.0;

/// Steps along a row: what is narrower than a step shows only where nothing in it is longer.
const STEPS: usize = 1400;

/// What a category of spans is called, and its colour; by the names in a trace.
const CATEGORIES: [(&str, &str, Color); 8] = [
    ("run", "a process runs", Color(190, 225, 247)),
    ("ppe", "host code", BLUE),
    ("switch", "context switch", VERMILLION),
    ("offload", "awaiting an off-load", YELLOW),
    ("mpi", "MPI", PURPLE),
    ("call", "off-load on an APU", ORANGE),
    ("kernel", "kernel", GREEN),
    ("wait", "waiting", SKY),
];

/// DMA commands overlap one another, in as many tracks as they need; they have no rows here.
const LEFT_OUT: &str = "dma";

/// The part of a run that is shown \[s\]; an end that is `None` follows from the other or the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Window {
    /// Beginning of the part.
    pub from_s: Option<f64>,
    /// End of the part.
    pub to_s: Option<f64>,
}

/// The picture of a trace. Where the window is open, it shows twelve off-loads from the middle of
/// them all; a trace without off-loads is shown as a whole.
pub(super) fn scene(title: &str, trace: &Trace, window: Window) -> Result<Scene> {
    charts(title, [("", trace)].into_iter(), window, OF_ONE)
}

/// The picture of several traces with their names; what is open of the window follows from the first.
pub(super) fn scene_of_several(
    title: &str,
    traces: &[(String, Trace)],
    window: Window,
) -> Result<Scene> {
    charts(title, traces.iter().map(|(name, trace)| (&**name, trace)), window, OF_MANY)
}

fn charts<'a>(
    title: &str,
    traces: impl Iterator<Item = (&'a str, &'a Trace)> + Clone,
    window: Window,
    look: Rows,
) -> Result<Scene> {
    let shown: Vec<Vec<&Track>> = traces.clone().map(|(_, trace)| shown(trace)).collect();
    let (Some((_, first)), Some(tracks)) = (traces.clone().next(), shown.first()) else {
        return Err(Error::too_little("traces", "none", "compare at least one scheduler"));
    };
    let window = closed(first, tracks, window)?;
    let rows = merged(&shown);
    let mut entries: Vec<Entry> = Vec::new();
    for ((_, trace), tracks) in traces.clone().zip(&shown) {
        let new = legend(trace, tracks);
        entries.extend(new.into_iter().filter(|it| !entries.contains(it)).collect::<Vec<_>>());
    }
    let lines = shown.len().div_ceil(IN_A_ROW) as f64;
    let height = CAPTION + look.height * rows.len() as f64 + BELOW;
    picture(title, (WIDTH, height * lines), &entries, |area| {
        let areas = chart::panels(area, shown.len(), IN_A_ROW);
        for (((caption, trace), tracks), area) in traces.zip(&shown).zip(&areas) {
            let keys = keys(tracks);
            let of_key = |row: &Key<'_>| Some(tracks[keys.iter().position(|key| key == row)?]);
            let rows = rows.iter().map(|row| (row.0, of_key(row))).collect();
            draw(area, &RunChart { caption, trace, rows, look }, window)?;
        }
        Ok(())
    })
}

/// The names of all tracks: what some of the traces lack stands behind what it follows in the others.
fn merged<'a>(traces: &[Vec<&'a Track>]) -> Vec<Key<'a>> {
    let mut rows: Vec<Key<'a>> = Vec::new();
    for tracks in traces {
        let mut next = 0;
        for key in keys(tracks) {
            next = match rows.iter().position(|known| *known == key) {
                Some(index) => index + 1,
                None => {
                    rows.insert(next, key);
                    next + 1
                }
            };
        }
    }
    rows
}

/// The name of a track, and how many before it have the same.
type Key<'a> = (&'a str, usize);

fn keys<'a>(tracks: &[&'a Track]) -> Vec<Key<'a>> {
    let before =
        |index: usize, name: &str| tracks[..index].iter().filter(|it| it.name == name).count();
    let key = |(index, track): (usize, &&'a Track)| (&*track.name, before(index, &track.name));
    tracks.iter().enumerate().map(key).collect()
}

/// The tracks that have a row.
fn shown(trace: &Trace) -> Vec<&Track> {
    let has_row = |track: &&Track| track.spans.iter().any(|span| name(trace, span) != LEFT_OUT);
    trace.tracks.iter().filter(has_row).collect()
}

fn name<'a>(trace: &'a Trace, span: &Span) -> &'a str {
    &trace.categories[usize::from(span.category)]
}

fn length(span: &Span) -> f64 {
    span.end_s - span.start_s
}

/// The window with both ends, within the run.
fn closed(trace: &Trace, tracks: &[&Track], window: Window) -> Result<(f64, f64)> {
    let spans = || tracks.iter().flat_map(|track| &track.spans);
    let first = spans().map(|span| span.start_s).fold(f64::INFINITY, f64::min);
    let last = spans().map(|span| span.end_s).fold(f64::NEG_INFINITY, f64::max);
    if first >= last || !first.is_finite() || !last.is_finite() {
        return Err(Error::too_little(
            "trace",
            "no span that takes time",
            "write one with mmgp emulate --trace",
        ));
    }
    let mut offloads: Vec<&Span> = spans().filter(|span| name(trace, span) == "offload").collect();
    offloads.sort_by(|one, other| length(one).total_cmp(&length(other)));
    let usual = offloads.get(offloads.len() / 2).map_or(last - first, |it| length(it));
    let usual = (OFFLOADS_SHOWN * usual).min(last - first);
    offloads.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
    let middle = offloads.get(offloads.len() / 2).map_or(first.midpoint(last), |it| it.start_s);
    let window = match (window.from_s, window.to_s) {
        (Some(from), Some(to)) => (from, to),
        (Some(from), None) => (from, from + usual),
        (None, Some(to)) => (to - usual, to),
        (None, None) => {
            let from = (middle - usual / 2.0).max(first);
            (from, from + usual)
        }
    };
    let (from, to) = window;
    if from.is_finite() && to.is_finite() && from < to && from < last && to > first {
        return Ok((from.max(first), to.min(last)));
    }
    Err(Error::out_of_range(
        "window",
        format!("{from} s to {to} s"),
        format!("a beginning before its end, in the run from {first} s to {last} s"),
    ))
}

fn legend(trace: &Trace, tracks: &[&Track]) -> Vec<Entry> {
    let mut is_there = vec![false; trace.categories.len()];
    for span in tracks.iter().flat_map(|track| &track.spans) {
        is_there[usize::from(span.category)] = true;
    }
    let has = |wanted: &str| {
        let mut known = trace.categories.iter().zip(&is_there);
        known.any(|(name, is_there)| *is_there && name == wanted)
    };
    let known = CATEGORIES.iter().filter(|(name, ..)| has(name));
    let mut entries: Vec<Entry> =
        known.map(|(_, words, color)| entry(Mark::Area(*color), words)).collect();
    let is_other =
        |name: &String| name != LEFT_OUT && CATEGORIES.iter().all(|(known, ..)| known != name);
    if trace.categories.iter().zip(&is_there).any(|(name, is_there)| *is_there && is_other(name)) {
        entries.push(entry(Mark::Area(GREY), "anything else"));
    }
    entries
}

/// A chart of a trace.
struct RunChart<'a> {
    /// Stands above it.
    caption: &'a str,
    /// What the tracks are of.
    trace: &'a Trace,
    /// The names of the rows, and what is in them.
    rows: Vec<(&'a str, Option<&'a Track>)>,
    look: Rows,
}

/// Draws a chart; its window is in the run.
fn draw(area: &Area, gantt: &RunChart<'_>, (from, to): (f64, f64)) -> Drawing {
    let Rows { names, font, .. } = gantt.look;
    let unit = Unit::of(to.abs().max(from.abs()));
    let x_title = &format!("time since the start [{}]", unit.symbol);
    let around = Surround { caption: gantt.caption, x_title, left: names, ..Surround::default() };
    let x = Axis::of_window(from * unit.per_second, to * unit.per_second);
    // Rows hang from the upper end.
    let count = gantt.rows.len() as f64;
    let mut chart = chart::Chart::new(area, [x, Axis::of_places(0.0, count)], around)?;
    chart.axes("")?;
    let at = |step: usize| {
        (from + (to - from) * step as f64 / STEPS as f64).clamp(from, to) * unit.per_second
    };
    let mut parts: BTreeMap<(u8, u8, u8), Vec<Corners>> = BTreeMap::new();
    for (index, (name, track)) in gantt.rows.iter().enumerate() {
        let top = count - index as f64;
        let words = shortened(name, &font, names - 24.0);
        let [_, middle] = chart.at(from, top - 0.5);
        chart.sketch(|scene| {
            scene.text(&words, [chart.data.left - 8.0, middle], font.at(Anchor::End));
        })?;
        let spans = track.map_or(&[][..], |track| &track.spans);
        for (steps, category) in pieces(spans, (from, to)) {
            let Color(red, green, blue) = color(&gantt.trace.categories[usize::from(category)]);
            let corners = [(at(steps.start), top - 0.125), (at(steps.end), top - 0.875)];
            parts.entry((red, green, blue)).or_default().push(corners);
        }
    }
    for ((red, green, blue), rectangles) in parts {
        for corners in rectangles {
            chart.rectangle(corners, Color(red, green, blue))?;
        }
    }
    Ok(())
}

fn color(category: &str) -> Color {
    let known = CATEGORIES.iter().find(|(name, ..)| *name == category);
    known.map_or(GREY, |(.., color)| *color)
}

/// The steps of the window with the category that takes the most of each, neighbours alike merged.
/// Of spans within one another the innermost counts.
fn pieces(spans: &[Span], (from, to): (f64, f64)) -> Vec<(std::ops::Range<usize>, u8)> {
    let step = (to - from) / STEPS as f64;
    // For each step, how much of it each category takes.
    let mut shares: Vec<BTreeMap<u8, f64>> = vec![BTreeMap::new(); STEPS];
    for (start, end, category) in innermost(spans, (from, to)) {
        let first = (((start - from) / step) as usize).min(STEPS - 1);
        let last = (((end - from) / step) as usize).min(STEPS - 1);
        for (index, shares) in shares[first..=last].iter_mut().enumerate() {
            let left = from + (first + index) as f64 * step;
            let share = end.min(left + step) - start.max(left);
            *shares.entry(category).or_default() += share;
        }
    }
    let largest = |shares: &BTreeMap<u8, f64>| {
        let idle = step - shares.values().sum::<f64>();
        let (category, share) = shares.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        (*share >= idle).then_some(*category)
    };
    let mut pieces: Vec<(std::ops::Range<usize>, u8)> = Vec::new();
    for (index, category) in shares.iter().map(largest).enumerate() {
        let Some(category) = category else { continue };
        match pieces.last_mut() {
            Some((steps, last)) if steps.end == index && *last == category => steps.end += 1,
            _ => pieces.push((index..index + 1, category)),
        }
    }
    pieces
}

/// The parts of the window in which each span is the innermost: begin, end and category.
fn innermost(spans: &[Span], (from, to): (f64, f64)) -> Vec<(f64, f64, u8)> {
    let mut inside: Vec<&Span> =
        spans.iter().filter(|span| span.end_s > from && span.start_s < to).collect();
    // Outer spans first.
    inside.sort_by(|a, b| a.start_s.total_cmp(&b.start_s).then(b.end_s.total_cmp(&a.end_s)));
    let mut parts = Vec::new();
    let mut add = |start: f64, end: f64, category: u8| {
        let (start, end) = (start.max(from), end.min(to));
        if start < end {
            parts.push((start, end, category));
        }
    };
    // Spans that are open, and up to where all is said.
    let mut open: Vec<&Span> = Vec::new();
    let mut said = from;
    for span in inside {
        while let Some(top) = open.pop_if(|top| top.end_s <= span.start_s) {
            add(said, top.end_s, top.category);
            said = said.max(top.end_s);
        }
        if let Some(top) = open.last() {
            add(said, span.start_s, top.category);
        }
        said = said.max(span.start_s);
        open.push(span);
    }
    while let Some(top) = open.pop() {
        add(said, top.end_s, top.category);
        said = said.max(top.end_s);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start_s: f64, end_s: f64, category: u8) -> Span {
        Span { start_s, end_s, category }
    }

    #[test]
    fn of_nested_spans_the_innermost_counts() {
        let spans = [span(2.0, 3.0, 1), span(0.0, 10.0, 0), span(2.5, 2.75, 2)];
        let parts = innermost(&spans, (0.0, 10.0));
        let expected =
            [(0.0, 2.0, 0), (2.0, 2.5, 1), (2.5, 2.75, 2), (2.75, 3.0, 1), (3.0, 10.0, 0)];
        assert_eq!(parts, expected);
    }

    #[test]
    fn what_leaves_the_window_is_cut_there() {
        let spans = [span(0.0, 4.0, 0), span(6.0, 9.0, 1)];
        assert_eq!(innermost(&spans, (3.0, 7.0)), [(3.0, 4.0, 0), (6.0, 7.0, 1)]);
    }

    #[test]
    fn narrow_spans_merge_and_none_hides_a_longer_one() {
        // A thousand spans in the first half, each shorter than a step, and one long in the second.
        let short = (0..1_000_000).map(|index| {
            let start = f64::from(index) * 1e-6;
            span(start, start + 0.9e-6, (index % 2) as u8)
        });
        let spans: Vec<Span> = short.chain([span(1.0, 2.0, 2)]).collect();
        let pieces = pieces(&spans, (0.0, 2.0));
        assert_eq!(pieces.last(), Some(&(STEPS / 2..STEPS, 2)));
        let first_half: usize = pieces[..pieces.len() - 1].iter().map(|it| it.0.len()).sum();
        assert_eq!(first_half, STEPS / 2);
    }

    #[test]
    fn a_step_that_is_mostly_idle_stays_empty() {
        let step = 1.0 / STEPS as f64;
        assert_eq!(pieces(&[span(0.0, 0.4 * step, 0)], (0.0, 1.0)), []);
        assert_eq!(pieces(&[span(0.0, 0.6 * step, 0)], (0.0, 1.0)), [(0..1, 0)]);
    }

    #[test]
    fn rows_of_several_traces_keep_their_order() {
        let track = |name: &&str| Track { name: (*name).into(), spans: Vec::new() };
        let traces = [&["rank 0", "SPE 0", "SPE 3"][..], &["rank 0", "rank 1", "SPE 1", "SPE 3"]];
        let tracks = traces.map(|names| names.iter().map(track).collect::<Vec<_>>());
        let tracks: Vec<Vec<&Track>> = tracks.iter().map(|it| it.iter().collect()).collect();
        let names: Vec<&str> = merged(&tracks).iter().map(|key| key.0).collect();
        assert_eq!(names, ["rank 0", "rank 1", "SPE 1", "SPE 0", "SPE 3"]);
    }
}
