//! Speed-up and efficiency by the cores that runs take, beside the ideal: every run as a dot, the fastest of
//! each number of cores as a line, the choice and the baseline marked.

use super::axis::{Axis, three_digits};
use super::chart::{Chart, Drawing, Surround, panels, picture};
use super::scene::{Anchor, Scene};
use super::style::{BLUE, DOT, Entry, GREY, INK, MEASURED, Mark, entry, text_on_white};
use crate::Mapping;
use crate::error::{Error, Result};
use crate::units::Seconds;

/// Size of the picture.
const SIZE: (f64, f64) = (1000.0, 440.0);

/// Runs of a program, and what they are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedUp {
    /// Every run that went well, at least one: its configuration and its time above 0 \[s\].
    pub runs: Vec<(Mapping, Seconds)>,
    /// The configuration that is as fast as its cores say: speed-up m*p, efficiency 1.
    pub reference: (Mapping, Seconds),
    /// Configurations with the times that they take over many runs, and what they are: `chosen`.
    pub marked: Vec<(String, Mapping, Seconds)>,
}

impl SpeedUp {
    /// The speed-up of a time: the cores of the reference, times how much faster it is.
    fn of(&self, time: Seconds) -> f64 {
        cores(self.reference.0) * self.reference.1.0 / time.0
    }
}

fn cores(mapping: Mapping) -> f64 {
    mapping.apus() as f64
}

/// The picture.
///
/// # Errors
/// [`Error::TooLittleData`] where nothing ran on another number of cores than the reference.
pub(super) fn scene(title: &str, of: &SpeedUp) -> Result<Scene> {
    let mut counts: Vec<u32> = of.runs.iter().map(|(it, _)| it.apus() as u32).collect();
    counts.push(of.reference.0.apus() as u32);
    counts.sort_unstable();
    counts.dedup();
    if counts.len() < 2 {
        return Err(Error::too_little(
            "numbers of cores",
            "one",
            "speed-up asks for runs on two at least",
        ));
    }
    let mut legend: Vec<Entry> = vec![
        entry(Mark::Line(GREY), "ideal"),
        entry(Mark::Dot(MEASURED), "a run"),
        entry(Mark::Line(BLUE), "the fastest of so many cores"),
    ];
    let marks = [Mark::Ring, Mark::Diamond(INK), Mark::Triangle(INK)];
    legend.extend(of.marked.iter().zip(marks).map(|((words, ..), mark)| entry(mark, words)));
    let x = match counts.len() > 3 || counts.last() > Some(&(4 * counts[0])) {
        true => Axis::of_doublings(&counts),
        false => Axis::of_counts(&counts),
    };
    let ideal = || counts.iter().map(|&count| (f64::from(count), f64::from(count)));
    picture(title, SIZE, &legend, |area| {
        let areas = panels(area, 2, 2);
        let all = of.runs.iter().map(|(_, time)| of.of(*time)).chain(ideal().map(|it| it.1));
        let speed_ups = Axis::of_ratios(all);
        let panel = Panel { of, caption: "Speed-up", per_core: false, marks: &marks };
        panel.draw(&areas[0], [x.clone(), speed_ups], ideal())?;
        let efficiency = of.runs.iter().map(|(it, time)| of.of(*time) / cores(*it));
        let most = efficiency.fold(1.0, f64::max);
        let panel = Panel { of, caption: "Efficiency", per_core: true, marks: &marks };
        let line = ideal().map(|(count, _)| (count, 1.0));
        panel.draw(&areas[1], [x.clone(), Axis::of_window(0.0, 1.08 * most)], line)
    })
}

/// One of both panels.
struct Panel<'a> {
    of: &'a SpeedUp,
    caption: &'a str,
    per_core: bool,
    marks: &'a [Mark],
}

impl Panel<'_> {
    fn point(&self, mapping: Mapping, time: Seconds) -> (f64, f64) {
        let divisor = if self.per_core { cores(mapping) } else { 1.0 };
        (cores(mapping), self.of.of(time) / divisor)
    }

    fn draw(
        &self,
        area: &super::chart::Area,
        axes: [Axis; 2],
        ideal: impl IntoIterator<Item = (f64, f64)>,
    ) -> Drawing {
        let Self { of, caption, marks, .. } = self;
        let around = Surround { caption, x_title: "cores, m × p", ..Surround::default() };
        let mut chart = Chart::new(area, axes, around)?;
        chart.axes("")?;
        chart.line(ideal, GREY, 1.4)?;
        let points: Vec<(f64, f64)> =
            of.runs.iter().map(|&(it, time)| self.point(it, time)).collect();
        let mut fastest: Vec<(f64, f64)> = Vec::new();
        let mut sorted = points.clone();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
        for point in sorted {
            if fastest.last().is_none_or(|last| last.0 < point.0) {
                fastest.push(point);
            }
        }
        chart.line(fastest, BLUE, 1.6)?;
        chart.marks((Mark::Dot(MEASURED), DOT), 0.0, points.iter().copied())?;
        let mut names = Vec::new();
        for ((_, mapping, time), mark) in of.marked.iter().zip(*marks) {
            let (x, y) = self.point(*mapping, *time);
            chart.marks((*mark, DOT + 2.0), 0.0, [(x, y)])?;
            names.push((mapping.to_string(), chart.at(x, y)));
        }
        chart.spots(of.runs.iter().zip(&points).map(|((mapping, _), &(x, y))| {
            (format!("{mapping}: {}, at {x}", three_digits(y)), chart.at(x, y))
        }))?;
        let beside = [([11.0, -8.0], Anchor::Start), ([-11.0, 10.0], Anchor::End)];
        let names = names.iter().map(|(name, at)| (&**name, INK, *at));
        chart.names(names, &beside, text_on_white)
    }
}
