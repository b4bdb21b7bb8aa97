//! The same part of a run under several schedulers: a Gantt chart for each, with the same rows and
//! the same axis of time.

use super::frame::BELOW;
use super::gantt::{self, Chart, Window};
use super::scene::{Bounds, Font, Scene};
use super::style::{Entry, INK};
use crate::error::{Error, Result};
use crate::table::trace::{Trace, Track};

const WIDTH: f64 = 1200.0;
/// Charts beside one another, where there is more than one.
const IN_A_ROW: usize = 2;
/// Height of a row, and space for its name.
const ROW: f64 = 12.0;
const NAMES: f64 = 138.0;
/// Names of rows; smaller than other text, for there are many.
const NAME: Font = Font::new(10.0, INK);
/// Space above the rows of a chart.
const CAPTION: f64 = 28.0;

/// The picture of traces with their names.
pub(super) fn scene(title: &str, traces: &[(String, Trace)], window: Window) -> Result<Scene> {
    let shown: Vec<Vec<&Track>> = traces.iter().map(|(_, trace)| gantt::shown(trace)).collect();
    let (Some((_, first)), Some(tracks)) = (traces.first(), shown.first()) else {
        return Err(Error::TooLittleData {
            file: "traces".into(),
            found: "none".into(),
            advice: "compare at least one scheduler".into(),
        });
    };
    let window = gantt::closed(first, tracks, window)?;
    let rows = merged(&shown);
    let mut legend: Vec<Entry> = Vec::new();
    for ((_, trace), tracks) in traces.iter().zip(&shown) {
        let new = gantt::legend(trace, tracks);
        legend.extend(new.into_iter().filter(|it| !legend.contains(it)).collect::<Vec<_>>());
    }
    let beside = traces.len().min(IN_A_ROW);
    let height = CAPTION + ROW * rows.len() as f64 + BELOW;
    let lines = traces.len().div_ceil(beside) as f64;
    let (mut scene, area) = super::begun(title, (WIDTH, height * lines), &legend);
    let width = area.width() / beside as f64;
    for (index, ((name, trace), tracks)) in traces.iter().zip(&shown).enumerate() {
        let left = area.left + width * (index % beside) as f64;
        let top = area.top + height * (index / beside) as f64;
        let of_name = |row: &&str| tracks.iter().find(|track| track.name == *row).copied();
        let rows = rows.iter().map(|row| (*row, of_name(row))).collect();
        let chart = Chart { caption: name, trace, rows, row: ROW, names: (NAMES, NAME) };
        gantt::draw(&mut scene, Bounds::new(left, top, left + width, top + height), &chart, window);
    }
    Ok(scene)
}

/// The names of all tracks: what some of the traces lack stands behind what it follows in the others.
fn merged<'a>(traces: &[Vec<&'a Track>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for tracks in traces {
        let mut next = 0;
        for track in tracks {
            let name = track.name.as_str();
            match names.iter().position(|known| *known == name) {
                Some(index) => next = index + 1,
                None => {
                    names.insert(next, name);
                    next += 1;
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_traces_keep_their_order() {
        let track = |name: &&str| Track { name: (*name).into(), spans: Vec::new() };
        let traces = [&["rank 0", "SPE 0", "SPE 3"][..], &["rank 0", "rank 1", "SPE 1", "SPE 3"]];
        let tracks = traces.map(|names| names.iter().map(track).collect::<Vec<_>>());
        let tracks: Vec<Vec<&Track>> = tracks.iter().map(|it| it.iter().collect()).collect();
        assert_eq!(merged(&tracks), ["rank 0", "rank 1", "SPE 1", "SPE 0", "SPE 3"]);
    }
}
