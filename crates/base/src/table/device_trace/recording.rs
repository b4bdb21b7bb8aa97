//! What a reader has gathered of a trace, and what becomes of it: launches find what they started.

use std::collections::{BTreeMap, BTreeSet};

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
        let name = self.names.number(shown(name));
        let device = self.devices.number(device);
        self.worked.push(DeviceWork { when, name, device, correlation });
    }

    /// The host called the devices' library.
    pub fn calls(&mut self, when: Interval, name: &str, process: &str, correlation: Option<u64>) {
        self.covers(when);
        let launches = is_launch(name);
        if launches {
            self.launches_in(process);
        }
        if is_wait(name) {
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
        let function = self.names.number(shown(function));
        self.offloads.push((when, function));
        self.launches_in(process);
    }

    /// A process of the host has a device work.
    pub fn launches_in(&mut self, process: &str) {
        self.processes.number(process);
    }

    /// An accelerator did what the host off-loaded.
    pub fn serves(&mut self, when: Interval, function: &str, accelerator: &str) {
        let name = self.names.number(shown(function));
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
        worked.iter().all(|worked| is_collective(&self.names.all[worked.name]))
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
            if is_collective(&self.names.all[*name]) {
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

/// The name of a kernel without its result, its arguments and those of its templates, so that all
/// instances of one template are one function: `void at::native::reduce_kernel<512, 1>(Op)` is
/// `at::native::reduce_kernel`.
pub(super) fn kernel_name(name: &str) -> String {
    // It has the bracket of an argument list, but is a namespace.
    let name = name.replace("(anonymous namespace)::", "");
    let base = name.split(['<', '(']).next().unwrap_or_default();
    match base.split_whitespace().next_back() {
        Some(base) => base.to_string(),
        None => name.trim().to_string(),
    }
}

/// What a copy or a set is called, without the kinds of memory: `Memcpy HtoD (Pageable -> Device)`
/// is `Memcpy HtoD`.
pub(super) fn transfer_name(name: &str) -> String {
    name.split('(').next().unwrap_or_default().trim().to_string()
}

/// A name as a table can hold it, which has none of blanks alone and none around others.
fn shown(name: &str) -> &str {
    match name.trim() {
        "" => "unnamed",
        name => name,
    }
}

/// Whether a kernel is one of NCCL's or RCCL's, whose names all begin so.
fn is_collective(kernel: &str) -> bool {
    kernel.starts_with("nccl")
}

/// Whether a call of the host does nothing but wait for a device: `cudaDeviceSynchronize`,
/// `cuCtxSynchronize`, `hipStreamSynchronize`...
fn is_wait(call: &str) -> bool {
    call.contains("Synchronize")
}

/// Whether a call of the host has a device do something: `cudaLaunchKernel`, `cuLaunchKernelEx`,
/// `cudaGraphLaunch`... Calls that set up or query launches are none.
fn is_launch(call: &str) -> bool {
    call.contains("LaunchKernel") || call.contains("GraphLaunch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_called_by_its_base_name() {
        for (full, base) in [
            (
                "void at::native::(anonymous namespace)::fill<4, F<float> >(int, F)",
                "at::native::fill",
            ),
            ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"),
            (
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            ),
            ("saxpy(int, float*)", "saxpy"),
            ("<unnamed>", "<unnamed>"),
        ] {
            assert_eq!(kernel_name(full), base);
        }
        assert_eq!(transfer_name("Memcpy DtoH (Device -> Pinned)"), "Memcpy DtoH");
        assert_eq!(["", " ", " a b "].map(shown), ["unnamed", "unnamed", "a b"]);
        assert!(is_collective("ncclDevKernel_AllReduce") && !is_collective("ampere_nccl"));
        assert!(is_launch("cudaLaunchKernelExC_v11060") && !is_launch("cudaLaunchHostFunc"));
    }
}
