//! One pass over the time of a trace: whose each moment is.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Warning;
use crate::table::{Activity, DeviceTrace};

/// What a trace says of a phase; times are exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub name: String,
    pub offloads: u64,
    pub collectives: u64,
    /// Time of the host's own \[fs\].
    host_fs: i128,
    /// Time in which a device works, as a mean over the devices that do \[fs\].
    apu_fs: i128,
    /// Time in which the host has a device work and none does \[fs\].
    gap_fs: i128,
}

impl Part {
    /// One of which there is nothing.
    pub fn named(name: &str) -> Self {
        let (offloads, collectives) = (0, 0);
        Self { name: name.into(), offloads, collectives, host_fs: 0, apu_fs: 0, gap_fs: 0 }
    }

    pub fn host_s(&self) -> f64 {
        seconds(self.host_fs)
    }

    pub fn apu_s(&self) -> f64 {
        seconds(self.apu_fs)
    }

    pub fn gap_s(&self) -> f64 {
        seconds(self.gap_fs)
    }

    fn add(&mut self, other: &Self) {
        self.offloads += other.offloads;
        self.collectives += other.collectives;
        self.host_fs += other.host_fs;
        self.apu_fs += other.apu_fs;
        self.gap_fs += other.gap_fs;
    }
}

fn seconds(femtoseconds: i128) -> f64 {
    femtoseconds as f64 / 1e15
}

/// A whole trace.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Swept {
    /// The phases in the order of their first launches.
    pub parts: Vec<Part>,
    /// Time in launching calls while a device works, which is in no part \[fs\].
    hidden_fs: i128,
    /// Time of collectives while no device works, which is in no part \[fs\].
    collective_fs: i128,
    /// Warnings about the file.
    pub warnings: Vec<Warning>,
}

impl Swept {
    pub fn of(trace: &DeviceTrace) -> Self {
        let mut parts: Vec<Part> = trace.functions.iter().map(|name| Part::named(name)).collect();
        for launch in &trace.launches {
            parts[launch.function].offloads += 1;
        }
        for collective in &trace.collectives {
            let begun =
                trace.launches.partition_point(|it| it.when.start_fs <= collective.start_fs);
            parts[trace.launches[begun.saturating_sub(1)].function].collectives += 1;
        }
        let mut sweep = Sweep::new(trace, parts);
        sweep.run();
        let Sweep { mut parts, hidden_fs, collective_fs, .. } = sweep;
        let places: BTreeSet<(usize, usize)> =
            trace.activities.iter().map(|it| (it.function, it.device)).collect();
        for (function, part) in parts.iter_mut().enumerate() {
            let devices = places.range((function, 0)..(function + 1, 0)).count();
            part.apu_fs /= devices.max(1) as i128;
        }
        let mut order: Vec<usize> = Vec::new();
        let launched = trace.launches.iter().map(|launch| launch.function);
        for function in launched.chain(trace.activities.iter().map(|it| it.function)) {
            if !order.contains(&function) {
                order.push(function);
            }
        }
        let take = |index: usize| std::mem::replace(&mut parts[index], Part::named(""));
        let parts = order.into_iter().map(take).collect();
        Self { parts, hidden_fs, collective_fs, warnings: trace.warnings.clone() }
    }

    /// All phases as one.
    pub fn into_one(self) -> Self {
        let mut all = Part::named("all");
        for part in &self.parts {
            all.add(part);
        }
        Self { parts: vec![all], ..self }
    }

    /// A warning where much of what launching takes is hidden by work of the devices.
    pub fn hidden(&self, file: &str) -> Option<Warning> {
        let gap_fs: i128 = self.parts.iter().map(|part| part.gap_fs).sum();
        (self.hidden_fs > gap_fs / MUCH).then(|| {
            Warning::Note(format!(
                "{file}: launching takes {:.6} s more while a device works, which is in no column: \
                 with more APUs it comes to light",
                seconds(self.hidden_fs)
            ))
        })
    }
}

impl Swept {
    /// Time of collectives while no device works, which is in no part.
    pub fn collective_s(&self) -> f64 {
        seconds(self.collective_fs)
    }

    /// What is said where collectives take time that is in no column.
    pub fn collective(&self, file: &str) -> Option<Warning> {
        (self.collective_fs > 0).then(|| {
            Warning::Note(format!(
                "{file}: collectives take {:.6} s while no device works, which is in no column: it is no \
                 time of the host but O_COL, which collective.csv measures",
                self.collective_s()
            ))
        })
    }
}

/// The part of the gap, as one over this, that is worth a warning.
const MUCH: i128 = 10;

/// Something begins or ends.
#[derive(Debug, Clone, Copy)]
enum Change {
    Works(usize),
    Rests(usize),
    Launches(usize),
    Launched(usize),
    Calls,
    Returns,
    Waits,
    Goes,
    Meets,
    Parts,
}

/// What is under way at a moment.
struct Sweep<'a> {
    trace: &'a DeviceTrace,
    parts: Vec<Part>,
    hidden_fs: i128,
    collective_fs: i128,
    /// Activities under way, by device and function.
    working: BTreeMap<usize, BTreeMap<usize, i128>>,
    /// Launches under way.
    launching: BTreeSet<usize>,
    /// Launches that have begun.
    begun: usize,
    calls: usize,
    waits: usize,
    collectives: usize,
}

impl<'a> Sweep<'a> {
    fn new(trace: &'a DeviceTrace, parts: Vec<Part>) -> Self {
        Self {
            trace,
            parts,
            hidden_fs: 0,
            collective_fs: 0,
            working: BTreeMap::new(),
            launching: BTreeSet::new(),
            begun: 0,
            calls: 0,
            waits: 0,
            collectives: 0,
        }
    }

    fn run(&mut self) {
        let mut now_fs = self.trace.window.start_fs;
        for (at_fs, change) in changes(self.trace) {
            self.pass(at_fs - now_fs);
            self.apply(change);
            now_fs = at_fs;
        }
        self.pass(self.trace.window.end_fs - now_fs);
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Works(activity) => {
                let Activity { function, device, .. } = self.trace.activities[activity];
                *self.working.entry(device).or_default().entry(function).or_default() += 1;
            }
            Change::Rests(activity) => self.rest(self.trace.activities[activity]),
            Change::Launches(launch) => {
                self.launching.insert(launch);
                self.begun = launch + 1;
            }
            Change::Launched(launch) => {
                self.launching.remove(&launch);
            }
            Change::Calls => self.calls += 1,
            Change::Returns => self.calls -= 1,
            Change::Waits => self.waits += 1,
            Change::Goes => self.waits -= 1,
            Change::Meets => self.collectives += 1,
            Change::Parts => self.collectives -= 1,
        }
    }

    fn rest(&mut self, activity: Activity) {
        let has_begun = "invariant: what ends has begun";
        let working = self.working.get_mut(&activity.device).expect(has_begun);
        let count = working.get_mut(&activity.function).expect(has_begun);
        *count -= 1;
        if *count == 0 {
            working.remove(&activity.function);
        }
        if working.is_empty() {
            self.working.remove(&activity.device);
        }
    }

    /// Time goes by in which nothing begins or ends.
    fn pass(&mut self, span_fs: i128) {
        if span_fs == 0 {
            return;
        }
        let function_of = |launch: usize| self.trace.launches[launch].function;
        if !self.working.is_empty() {
            for working in self.working.values() {
                let all: i128 = working.values().sum();
                // What cannot be divided is less than a femtosecond for each.
                let mut rest_fs = span_fs % all;
                for (&function, count) in working {
                    self.parts[function].apu_fs += span_fs / all * count + rest_fs;
                    rest_fs = 0;
                }
            }
            if self.calls > 0 {
                self.hidden_fs += span_fs;
            }
        } else if self.collectives > 0 {
            self.collective_fs += span_fs;
        } else if let Some(&first) = self.launching.first() {
            self.parts[function_of(first)].gap_fs += span_fs;
        } else if self.waits > 0 && self.begun > 0 {
            self.parts[function_of(self.begun - 1)].gap_fs += span_fs;
        } else {
            let next = self.begun.min(self.trace.launches.len() - 1);
            self.parts[function_of(next)].host_fs += span_fs;
        }
    }
}

/// All that begins and ends, in the order of time.
fn changes(trace: &DeviceTrace) -> Vec<(i128, Change)> {
    let mut changes = Vec::new();
    for (index, activity) in trace.activities.iter().enumerate() {
        changes.push((activity.when.start_fs, Change::Works(index)));
        changes.push((activity.when.end_fs, Change::Rests(index)));
    }
    for (index, launch) in trace.launches.iter().enumerate() {
        changes.push((launch.when.start_fs, Change::Launches(index)));
        changes.push((launch.when.end_fs, Change::Launched(index)));
        changes.push((launch.call.start_fs, Change::Calls));
        changes.push((launch.call.end_fs, Change::Returns));
    }
    for wait in &trace.waits {
        changes.push((wait.start_fs, Change::Waits));
        changes.push((wait.end_fs, Change::Goes));
    }
    for collective in &trace.collectives {
        changes.push((collective.start_fs, Change::Meets));
        changes.push((collective.end_fs, Change::Parts));
    }
    // The sort is stable, so that what has no length begins before it ends.
    changes.sort_by_key(|&(at_fs, _)| at_fs);
    changes
}
