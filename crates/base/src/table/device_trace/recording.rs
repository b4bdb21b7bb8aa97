//! What a reader has gathered of a trace, and what becomes of it: launches find what they started.

use std::collections::{BTreeMap, BTreeSet};

use super::names;
use super::{Activity, DeviceTrace, Launch, Stretch};
use crate::error::{Warning, shortened};

/// A part of time as a profiler recorded it: some things had not ended when it stopped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub start_fs: i128,
    pub end_fs: Option<i128>,
}

/// Something that a device did.
#[derive(Debug)]
struct DeviceWork {
    when: Interval,
    /// Number among the names.
    name: usize,
    /// Number among the devices.
    device: usize,
    /// The number that it shares with the call that launched it.
    correlation: Option<u64>,
}

/// A call of the host.
#[derive(Debug)]
struct Call {
    when: Interval,
    /// Whether by its name it should have a device do something.
    launches: bool,
    /// Whether a device did something for it.
    is_answered: bool,
}

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Recording {
    window: Option<Stretch>,
    names: NameTable,
    worked: Vec<DeviceWork>,
    calls: BTreeMap<u64, Call>,
    /// Off-loads that the trace itself shows from their begins to their ends.
    offloads: Vec<(Interval, usize)>,
    /// What accelerators did for those.
    served: Vec<DeviceWork>,
    accelerators: NameTable,
    waits: Vec<Interval>,
    collectives: Vec<Interval>,
    devices: NameTable,
    processes: NameTable,
    unknown: BTreeMap<String, u64>,
}

impl Recording {
    /// The time of the trace is at least this.
    pub fn covers(&mut self, when: Interval) {
        let end_fs = when.end_fs.unwrap_or(when.start_fs);
        let window = self.window.get_or_insert(Stretch { start_fs: when.start_fs, end_fs });
        window.start_fs = window.start_fs.min(when.start_fs);
        window.end_fs = window.end_fs.max(end_fs);
    }

    /// A device did something of that name.
    pub fn works(&mut self, when: Interval, name: &str, device: &str, correlation: Option<u64>) {
        let name = self.names.number(names::shown(name));
        let device = self.devices.number(device);
        self.worked.push(DeviceWork { when, name, device, correlation });
    }

    /// The host called the devices' library.
    pub fn calls(&mut self, when: Interval, name: &str, process: &str, correlation: Option<u64>) {
        self.covers(when);
        let launches = names::is_launch(name);
        if launches {
            self.launches_in(process);
        }
        if names::is_wait(name) {
            self.waits.push(when);
        } else if let Some(correlation) = correlation {
            let call = Call { when, launches, is_answered: false };
            // A call of the runtime may make one of the driver for the same: the outer one counts.
            let known = self.calls.entry(correlation).or_insert(call);
            known.launches |= launches;
            known.when = known.when.around(when);
        }
    }

    /// The host off-loaded a function and waited until it was done.
    pub fn offloads(&mut self, when: Interval, function: &str, process: &str) {
        self.covers(when);
        let function = self.names.number(names::shown(function));
        self.offloads.push((when, function));
        self.launches_in(process);
    }

    /// A process of the host has a device work.
    pub fn launches_in(&mut self, process: &str) {
        self.processes.number(process);
    }

    /// An accelerator did what the host off-loaded.
    pub fn serves(&mut self, when: Interval, function: &str, accelerator: &str) {
        let name = self.names.number(names::shown(function));
        let device = self.accelerators.number(accelerator);
        self.served.push(DeviceWork { when, name, device, correlation: None });
    }

    /// A collective operation began on the host.
    pub fn collective(&mut self, when: Interval) {
        self.covers(when);
        self.collectives.push(when);
    }

    /// Something was met that no reader knows.
    pub fn is_unknown(&mut self, kind: &str) {
        *self.unknown.entry(kind.to_string()).or_default() += 1;
    }

    /// Whether the trace shows off-loads from their begins to their ends. What else it shows of
    /// devices then is a part of what they did for those.
    fn shows_offloads(&self) -> bool {
        !self.offloads.is_empty()
    }

    /// Whether no device did anything but collectives.
    pub fn is_idle(&self) -> bool {
        let worked = if self.shows_offloads() { &self.served } else { &self.worked };
        worked.iter().all(|worked| names::is_collective(&self.names.all[worked.name]))
    }

    /// The trace of a file in which a device has worked.
    pub fn finish(mut self, file: &str) -> DeviceTrace {
        if self.shows_offloads() {
            self.worked = std::mem::take(&mut self.served);
            self.devices = std::mem::take(&mut self.accelerators);
        }
        for index in 0..self.worked.len() {
            self.covers(self.worked[index].when);
        }
        let window = self.window.expect("invariant: a device has worked");
        let endless = self.endless();
        let mut waits: Vec<Stretch> =
            self.waits.iter().map(|wait| wait.until(window.end_fs)).collect();
        let (activities, mut launches, unlaunched) = self.linked(window.end_fs);
        if self.shows_offloads() {
            launches = self.shown(window.end_fs);
        }
        waits.sort_by_key(|wait| wait.start_fs);
        launches.sort_by_key(|launch| launch.when.start_fs);
        let mut collectives: Vec<Stretch> =
            self.collectives.iter().map(|it| it.until(window.end_fs)).collect();
        collectives.sort_by_key(|it| it.start_fs);
        let warnings = self.warnings(file, endless, unlaunched);
        DeviceTrace {
            file: file.to_string(),
            window,
            functions: self.names.all,
            activities,
            launches,
            waits,
            collectives,
            devices: self.devices.all.len(),
            processes: self.processes.all.len(),
            ranks: None,
            warnings,
        }
    }

    /// How many things had not ended when the profiler stopped.
    fn endless(&self) -> usize {
        let worked = self.worked.iter().map(|worked| worked.when);
        let calls = self.calls.values().map(|call| call.when);
        let offloads = self.offloads.iter().map(|(when, _)| *when);
        let all = worked.chain(calls).chain(offloads).chain(self.waits.iter().copied());
        all.filter(|when| when.end_fs.is_none()).count()
    }

    /// What the devices did, with the launches of it, and how many of those the trace does not
    /// show; collectives are taken out of both. What one launch started has one number.
    fn linked(&mut self, last_fs: i128) -> (Vec<Activity>, Vec<Launch>, usize) {
        self.worked.sort_by_key(|worked| worked.when.start_fs);
        let (mut activities, mut launches) = (Vec::new(), Vec::new());
        let (mut seen, mut unlaunched) = (BTreeSet::new(), 0);
        for DeviceWork { when, name, device, correlation } in &self.worked {
            let when = when.until(last_fs);
            let call = correlation.and_then(|number| self.calls.get_mut(&number));
            let call = call.map(|call| {
                call.is_answered = true;
                call.when.until(last_fs)
            });
            if names::is_collective(&self.names.all[*name]) {
                self.collectives
                    .push(Interval { start_fs: when.start_fs, end_fs: Some(when.end_fs) });
                continue;
            }
            activities.push(Activity { when, function: *name, device: *device });
            if correlation.is_some_and(|number| !seen.insert(number)) {
                continue;
            }
            unlaunched += usize::from(call.is_none());
            let at_once = Stretch { start_fs: when.start_fs, end_fs: when.start_fs };
            let call = call.unwrap_or(at_once);
            let end_fs = call.end_fs.max(when.start_fs);
            let when = Stretch { start_fs: call.start_fs, end_fs };
            launches.push(Launch { when, call, function: *name });
        }
        (activities, launches, unlaunched)
    }

    /// The off-loads that the trace shows itself.
    fn shown(&self, last_fs: i128) -> Vec<Launch> {
        let launch = |(when, function): &(Interval, usize)| {
            let when = when.until(last_fs);
            let call = Stretch { start_fs: when.start_fs, end_fs: when.start_fs };
            Launch { when, call, function: *function }
        };
        self.offloads.iter().map(launch).collect()
    }

    fn warnings(&self, file: &str, endless: usize, unlaunched: usize) -> Vec<Warning> {
        let mut notes = Vec::new();
        if !self.unknown.is_empty() {
            let kinds = self.unknown.iter();
            let kinds: Vec<String> =
                kinds.map(|(kind, count)| format!("{count} of {:?}", shortened(kind))).collect();
            notes.push(format!("events of unknown kinds were passed over: {}", kinds.join(", ")));
        }
        if endless > 0 {
            notes.push(format!(
                "{} until the trace stops",
                counted(endless, "event has no end and lasts", "events have no end and last")
            ));
        }
        if unlaunched > 0 && !self.shows_offloads() {
            notes.push(format!(
                "the trace does not show the launch of {}, whose gap is counted as 0 s",
                counted(unlaunched, "off-load", "off-loads")
            ));
        }
        let lost = self.calls.values().filter(|call| call.launches && !call.is_answered).count();
        if lost > 0 {
            notes.push(format!(
                "{} without anything that a device did, and counted as host time",
                counted(lost, "launch is", "launches are")
            ));
        }
        notes.into_iter().map(|note| Warning::Note(format!("{file}: {note}"))).collect()
    }
}

impl Interval {
    /// Both, and what is between them.
    fn around(self, other: Self) -> Self {
        let end_fs = self.end_fs.zip(other.end_fs).map(|(one, other)| one.max(other));
        Self { start_fs: self.start_fs.min(other.start_fs), end_fs }
    }

    /// What has no end lasts until `last_fs`.
    fn until(self, last_fs: i128) -> Stretch {
        Stretch { start_fs: self.start_fs, end_fs: self.end_fs.unwrap_or(last_fs) }
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Names, each with the number of its first place.
#[derive(Debug, Default)]
struct NameTable {
    all: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl NameTable {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.numbers.insert(name.to_string(), self.all.len());
        self.all.push(name.to_string());
        self.all.len() - 1
    }
}
