//! What a profiler recorded of a host that has devices work for it: when it launched what, when
//! they worked, when it waited for them.
//!
//! Read from the JSON that PyTorch's profiler and `mmgp emulate --trace` write and, with the
//! feature `nsys`, from the SQLite export of Nsight Systems. Which of them a file is, its first
//! bytes and its events say.
//!
//! *PyTorch's profiler* (`torch.profiler`, `export_chrome_trace`) writes what its library Kineto
//! has recorded: complete events whose category says what they are (`libkineto/src/output_json.cpp`
//! and `ActivityType.cpp` of <https://github.com/pytorch/kineto>). `kernel`, `gpu_memcpy` and
//! `gpu_memset` are a device's, with its number in the argument `device`; `cuda_runtime` and
//! `cuda_driver` are calls of the host. `correlation` is the same number in a call and in what it
//! started. Before version 1.13 the categories were `Kernel`, `Memcpy`, `Memset` and `Runtime`.
//! Times are microseconds with three decimals; processes and threads may be texts.
//!
//! *`mmgp emulate --trace`* shows each off-load on the track of its process (`offload`) and each
//! call on the track of its accelerator (`call`), so nothing has to be put together.

#[cfg(feature = "nsys")]
mod nsys;
mod recording;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
#[cfg(not(feature = "nsys"))]
use std::io;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::trace::read_events;
use super::{ProfilerFile, Source};
use crate::error::{Error, Result, Warning};
use recording::{Interval, Recording};

/// A part of the time of a trace, in femtoseconds since whatever moment its profiler counts from:
/// no format has finer ones, so sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Begin \[fs\].
    pub start_fs: i128,
    /// End, not before the begin \[fs\].
    pub end_fs: i128,
}

/// Something that a device did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Begin and end.
    pub when: Stretch,
    /// Which of the functions.
    pub function: usize,
    /// Which of the devices, from 0.
    pub device: usize,
}

/// An off-load: what the host did to have a device work, once, however much that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Time from the decision until the device works or, where that is later, the host goes on. Of a
    /// launch that the trace does not show, nothing but the moment at which the device began.
    pub when: Stretch,
    /// How much of it, from its begin, the host spent in the call; nothing where the host is known
    /// to wait until the device is done.
    pub call: Stretch,
    /// Which of the functions; of several the first.
    pub function: usize,
}

/// A trace of devices at work.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceTrace {
    /// The file.
    pub file: String,
    /// Time from the first to the last thing that the profiler recorded of the host or a device.
    pub window: Stretch,
    /// Names of the off-loaded functions, without arguments of templates and functions.
    pub functions: Vec<String>,
    /// What the devices did, collectives left out, in the order of their begins.
    pub activities: Vec<Activity>,
    /// The off-loads, collectives left out, in the order of their begins.
    pub launches: Vec<Launch>,
    /// When the host did nothing but wait for a device, in the order of their begins.
    pub waits: Vec<Stretch>,
    /// Collective operations, in the order of their begins.
    pub collectives: Vec<Stretch>,
    /// Devices that worked.
    pub devices: usize,
    /// Processes of the host that launched something.
    pub processes: usize,
    /// Which of so many processes it is of, where it says so.
    pub ranks: Option<(u32, u32)>,
    /// What a reader should know of the file.
    pub warnings: Vec<Warning>,
}

/// How an SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

impl DeviceTrace {
    /// Reads a trace from a file; `-` is JSON from standard input.
    ///
    /// # Errors
    /// As [`ProfilerFile::read`]; [`Error::Input`] with the place where a JSON trace is none, and
    /// [`Error::TooLittleData`] where a database is none or nothing in it shows a device at work;
    /// [`Error::OutOfRange`] for a version of a database's schema that is not known.
    pub fn read(path: &Path) -> Result<Self> {
        Self::of_file(ProfilerFile::read(path)?)
    }

    /// The trace that a file is.
    ///
    /// # Errors
    /// As [`Self::read`], and [`Error::TooLittleData`] for an archive.
    pub fn of_file(file: ProfilerFile) -> Result<Self> {
        match file {
            ProfilerFile::Database(trace) => Ok(trace),
            ProfilerFile::Text(source) => Self::of_json(&source),
            ProfilerFile::Archive(archive) => Err(Error::too_little(
                archive.name,
                "an archive of files",
                "give a trace of events",
            )),
        }
    }

    /// Reads a trace from the text of a JSON file.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_json(source: &Source) -> Result<Self> {
        let expected = "a trace of PyTorch's profiler or of mmgp emulate";
        let mut reading = DeviceReader::default();
        let ranks = read_events(source, expected, |event| reading.take(event))?;
        let gathered = reading.end();
        if gathered.is_idle() {
            let found = "no kernel, copy or set of a device and no off-load";
            return Err(source.error(source.text.len(), found, "a trace with at least one"));
        }
        let ranks = ranks.map(|it| (it.rank, it.world_size));
        Ok(Self { ranks, ..gathered.finish(&source.name) })
    }

    /// Whether a file is a database.
    pub(super) fn is_database(path: &Path) -> Result<bool> {
        Ok(beginning(path)?.starts_with(SQLITE))
    }

    #[cfg(feature = "nsys")]
    pub(super) fn of_database(path: &Path) -> Result<Self> {
        nsys::read(path)
    }

    #[cfg(not(feature = "nsys"))]
    pub(super) fn of_database(path: &Path) -> Result<Self> {
        let why = "it is an SQLite database, as Nsight Systems exports, which this build of mmgp does not \
                   read: build it with the feature nsys, as in `cargo install mmgp --features nsys`";
        let source = io::Error::new(io::ErrorKind::Unsupported, why);
        Err(Error::Read { file: path.into(), source })
    }
}

/// The first bytes of a file.
fn beginning(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| {
        // Of a pipe nothing may be read that the reader of the format then misses.
        if file.metadata()?.is_file() {
            file.take(SQLITE.len() as u64).read_to_end(&mut bytes)?;
        }
        Ok(())
    });
    read.map_err(|source| Error::Read { file: path.into(), source })?;
    Ok(bytes)
}

/// What an event of some category is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventKind {
    /// A kernel on a device; in an emulated trace a part of a call.
    Kernel,
    /// A copy or a set, by a device.
    Transfer,
    /// A call of the devices' library.
    Call,
    /// The host at work.
    Host,
    /// An off-load of an emulated program, as the host sees it.
    OffLoad,
    /// The same as an accelerator sees it.
    Served,
    /// An operation of MPI.
    Mpi,
    /// Known, and said by another event too or of no account here.
    PassedOver,
}

/// The categories that are known, with blanks between.
const CATEGORIES: [(EventKind, &str); 8] = [
    (EventKind::Kernel, "kernel Kernel"),
    (EventKind::Transfer, "gpu_memcpy gpu_memset Memcpy Memset"),
    (
        EventKind::Call,
        "cuda_runtime cuda_driver hip_runtime hip_driver xpu_runtime xpu_driver privateuse1_runtime \
         privateuse1_driver Runtime",
    ),
    (EventKind::Host, "cpu_op Operator user_annotation python_function run ppe switch"),
    (EventKind::OffLoad, "offload"),
    (EventKind::Served, "call"),
    (EventKind::Mpi, "mpi"),
    (
        EventKind::PassedOver,
        "wait dma gpu_user_annotation cuda_sync cuda_event cuda_profiler_range collective_comm \
         cpu_instant_event external_correlation glow_runtime mtia_insight overhead ac2g fwdbwd \
         async_cpu_to_gpu Trace",
    ),
];

/// Phases of the format that say nothing of how long something took: names, instants, arrows,
/// counters, objects, asynchronous events, contexts, marks.
const PASSED_OVER: &str = "MiIstfCbneNODPSTpFRcvV()";

/// Operations of MPI that are no collectives.
const POINT_TO_POINT: [&str; 3] = ["MPI_Send", "MPI_Recv", "MPI_Sendrecv"];

/// One event; what else it says is skipped.
#[derive(Deserialize)]
struct DeviceEvent<'a> {
    #[serde(borrow)]
    ph: Cow<'a, str>,
    #[serde(default, borrow)]
    pid: Option<&'a RawValue>,
    #[serde(default, borrow)]
    tid: Option<&'a RawValue>,
    #[serde(default, borrow)]
    ts: Option<&'a RawValue>,
    #[serde(default, borrow)]
    dur: Option<&'a RawValue>,
    #[serde(default, borrow)]
    name: Cow<'a, str>,
    #[serde(default, borrow)]
    cat: Cow<'a, str>,
    #[serde(default, borrow)]
    args: Option<DeviceArguments<'a>>,
}

#[derive(Deserialize)]
struct DeviceArguments<'a> {
    #[serde(default, borrow)]
    correlation: Option<&'a RawValue>,
    #[serde(default, borrow)]
    device: Option<&'a RawValue>,
}

/// A trace that is being read.
#[derive(Default)]
struct DeviceReader<'a> {
    gathered: Recording,
    /// Events that have begun, by process and thread.
    begun: BTreeMap<(&'a str, &'a str), Vec<(DeviceEvent<'a>, i128)>>,
}

impl<'a> DeviceReader<'a> {
    fn take(&mut self, event: DeviceEvent<'a>) -> std::result::Result<(), String> {
        match &*event.ph {
            "X" => {
                let start_fs = time(event.ts)?;
                let end_fs = event.dur.map(|dur| time(Some(dur)).map(|dur| start_fs + dur));
                self.record(&event, Interval { start_fs, end_fs: end_fs.transpose()? })?;
            }
            "B" => {
                let start_fs = time(event.ts)?;
                self.begun.entry(track(&event)).or_default().push((event, start_fs));
            }
            "E" => {
                let end_fs = Some(time(event.ts)?);
                match self.begun.get_mut(&track(&event)).and_then(Vec::pop) {
                    Some((begun, start_fs)) => {
                        self.record(&begun, Interval { start_fs, end_fs })?;
                    }
                    // It began before the profiler did.
                    None => self.gathered.is_unknown("end without begin"),
                }
            }
            phase if phase.len() == 1 && PASSED_OVER.contains(phase) => {}
            phase => self.gathered.is_unknown(&format!("phase {phase}")),
        }
        Ok(())
    }

    fn record(
        &mut self,
        event: &DeviceEvent<'a>,
        when: Interval,
    ) -> std::result::Result<(), String> {
        if when.end_fs.is_some_and(|end_fs| end_fs < when.start_fs) {
            return Err(format!("an event {:?} that ends before it begins", event.name));
        }
        let is_of =
            |(_, names): &&(EventKind, &str)| names.split(' ').any(|name| name == event.cat);
        let Some(&(kind, _)) = CATEGORIES.iter().find(is_of) else {
            self.gathered.is_unknown(&event.cat);
            return Ok(());
        };
        let process = event.pid.map_or("", RawValue::get);
        let argument = |of: fn(&DeviceArguments<'a>) -> Option<&'a RawValue>| {
            event.args.as_ref().and_then(of).map(RawValue::get)
        };
        let correlation = || {
            let number = argument(|it| it.correlation).and_then(|text| text.parse().ok());
            // What belongs to no call has the number 0.
            number.filter(|&number: &u64| number != 0)
        };
        let device = || argument(|it| it.device).unwrap_or(process);
        let gathered = &mut self.gathered;
        match kind {
            EventKind::Kernel => {
                gathered.works(when, &recording::kernel_name(&event.name), device(), correlation());
            }
            EventKind::Transfer => {
                gathered.works(
                    when,
                    &recording::transfer_name(&event.name),
                    device(),
                    correlation(),
                );
            }
            EventKind::Call => gathered.calls(when, &event.name, process, correlation()),
            EventKind::Host => gathered.covers(when),
            EventKind::OffLoad => gathered.offloads(when, &event.name, track(event).1),
            EventKind::Served => gathered.serves(when, &event.name, track(event).1),
            EventKind::Mpi if POINT_TO_POINT.contains(&&*event.name) => gathered.covers(when),
            EventKind::Mpi => gathered.collective(when),
            EventKind::PassedOver => {}
        }
        Ok(())
    }

    /// All that was gathered, with what has begun and has no end.
    fn end(mut self) -> Recording {
        for (event, start_fs) in std::mem::take(&mut self.begun).into_values().flatten() {
            let recorded = self.record(&event, Interval { start_fs, end_fs: None });
            recorded.expect("invariant: what has no end does not end too early");
        }
        self.gathered
    }
}

/// Process and thread, whether numbers or texts.
fn track<'a>(event: &DeviceEvent<'a>) -> (&'a str, &'a str) {
    (event.pid.map_or("", RawValue::get), event.tid.map_or("", RawValue::get))
}

/// A time in microseconds, exactly; what is finer than a femtosecond is cut off \[fs\].
fn time(value: Option<&RawValue>) -> std::result::Result<i128, String> {
    let text = value.map(RawValue::get).ok_or("an event without a time")?;
    let mistake = || format!("the time {text}, which is no number of microseconds");
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !begins {
        return Err(mistake());
    }
    if text.contains(['e', 'E']) {
        let microseconds: f64 = text.parse().map_err(|_| mistake())?;
        return if microseconds.abs() < MOST_MICROSECONDS as f64 {
            Ok((microseconds * FEMTOSECONDS as f64).round() as i128)
        } else {
            Err(mistake())
        };
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: i128 = whole.parse().map_err(|_| mistake())?;
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    let part: i128 = part.parse().map_err(|_| mistake())?;
    if whole >= MOST_MICROSECONDS {
        return Err(mistake());
    }
    Ok(sign * (whole * FEMTOSECONDS + part))
}

/// Femtoseconds in a microsecond.
const FEMTOSECONDS: i128 = 1_000_000_000;

/// Thirty thousand years: more is no time, and sums of less have room in their type.
const MOST_MICROSECONDS: i128 = 1_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &str) -> Result<DeviceTrace> {
        DeviceTrace::of_json(&Source::new("t.json", &format!("{{\"traceEvents\":[\n{events}]}}")))
    }

    fn us(start: i128, end: i128) -> Stretch {
        Stretch { start_fs: start * FEMTOSECONDS, end_fs: end * FEMTOSECONDS }
    }

    fn messages(trace: &DeviceTrace) -> Vec<String> {
        trace.warnings.iter().map(ToString::to_string).collect()
    }

    /// Events as Kineto writes them: processes and threads as texts too, names of templates, a launch and
    /// what it started under one number, an arrow between them, the profiler's own span.
    const KINETO: &str = r#"
{"ph":"M","name":"process_name","ts":5.000,"pid":77,"tid":0,"args":{"name":"python"}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":77,"tid":77,"ts":10.000,"dur":30.000,
 "args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":77,"tid":77,"ts":12.000,
 "dur":4.000,"args":{"cbid":211,"correlation":5}},
{"ph":"s","id":5,"pid":77,"tid":77,"ts":12.000,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"kernel","name":"void at::add<4, F<float> >(int, F<float>)","pid":0,"tid":7,
 "ts":18.000,"dur":9.000,"args":{"device":0,"stream":7,"correlation":5}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pinned)","pid":0,"tid":7,"ts":30.500,
 "dur":1.500,"args":{"device":0,"stream":7,"correlation":6}},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":77,"tid":77,"ts":28.000,"dur":2.000,
 "args":{"correlation":6}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":77,"tid":77,"ts":31.000,
 "dur":2.000,"args":{"correlation":7}},
{"ph":"X","cat":"Trace","ts":1.000,"dur":99.000,"pid":"Spans","tid":"PyTorch Profiler",
 "name":"PyTorch Profiler (0)"},
{"name":"Record Window End","ph":"i","s":"g","pid":"","tid":"","ts":100.000}"#;

    #[test]
    fn a_launch_finds_what_it_started() {
        let trace = read(KINETO).unwrap();
        assert_eq!(trace.functions, ["at::add", "Memcpy DtoH"]);
        assert_eq!(trace.window, us(10, 40));
        let half = FEMTOSECONDS / 2;
        let copied = Stretch { start_fs: 30 * FEMTOSECONDS + half, end_fs: 32 * FEMTOSECONDS };
        assert_eq!(
            trace.activities,
            [
                Activity { when: us(18, 27), function: 0, device: 0 },
                Activity { when: copied, function: 1, device: 0 }
            ]
        );
        // The kernel begins 2 us after the call has returned, the copy half a microsecond.
        let until = Stretch { start_fs: 28 * FEMTOSECONDS, end_fs: copied.start_fs };
        assert_eq!(
            trace.launches,
            [
                Launch { when: us(12, 18), call: us(12, 16), function: 0 },
                Launch { when: until, call: us(28, 30), function: 1 },
            ]
        );
        assert_eq!(trace.waits, [us(31, 33)]);
        assert_eq!((trace.devices, trace.processes), (1, 1));
        assert_eq!(messages(&trace), [""; 0]);
    }

    #[test]
    fn a_list_of_events_is_a_trace_too() {
        let source = Source::new("t.json", &format!("[{KINETO}]"));
        assert_eq!(DeviceTrace::of_json(&source).unwrap(), read(KINETO).unwrap());
    }

    fn call(name: &str, start: u32, end: u32, correlation: u32) -> String {
        let dur = end - start;
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"{name}","pid":1,"ts":{start},"dur":{dur},
            "args":{{"correlation":{correlation}}}}},"#
        )
    }

    fn kernel(name: &str, start: u32, end: u32, correlation: u32) -> String {
        let dur = end - start;
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"ts":{start},"dur":{dur},
            "args":{{"device":0,"correlation":{correlation}}}}},"#
        )
    }

    fn joined(events: &[String]) -> String {
        events.concat().trim_end_matches(',').to_string()
    }

    #[test]
    fn what_a_graph_starts_is_one_off_load() {
        let events = [
            call("cudaGraphLaunch", 0, 4, 9),
            kernel("a", 5, 7, 9),
            kernel("b", 7, 9, 9),
            kernel("a", 9, 10, 9),
        ];
        let trace = read(&joined(&events)).unwrap();
        assert_eq!(trace.activities.len(), 3);
        assert_eq!(trace.launches, [Launch { when: us(0, 5), call: us(0, 4), function: 0 }]);
    }

    #[test]
    fn a_call_within_a_call_is_no_second_launch() {
        let driver = call("cuLaunchKernel", 1, 3, 9).replace("cuda_runtime", "cuda_driver");
        let runtime = call("cudaLaunchKernel", 0, 4, 9);
        for calls in [[driver.clone(), runtime.clone()], [runtime, driver]] {
            let trace = read(&joined(&[calls.concat(), kernel("a", 5, 7, 9)])).unwrap();
            assert_eq!(trace.launches, [Launch { when: us(0, 5), call: us(0, 4), function: 0 }]);
        }
    }

    #[test]
    fn collectives_are_counted_and_are_no_off_loads() {
        let events = [
            call("cudaLaunchKernel", 0, 1, 1),
            kernel("a", 2, 3, 1),
            call("cudaLaunchKernelExC", 4, 5, 2),
            kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 6, 9, 2),
        ];
        let trace = read(&joined(&events)).unwrap();
        assert_eq!((trace.activities.len(), trace.launches.len()), (1, 1));
        assert_eq!(trace.collectives, [us(6, 9)]);
        assert_eq!(messages(&trace), [""; 0]);
        let alone = read(&joined(&events[2..])).unwrap_err().to_string();
        assert!(alone.contains("found no kernel, copy or set of a device"), "{alone}");
    }

    #[test]
    fn what_is_odd_is_counted_and_said() {
        let events = [
            call("cudaLaunchKernel", 0, 1, 1),
            call("cudaLaunchKernel", 1, 2, 2),
            kernel("a", 2, 3, 1),
            kernel("a", 5, 6, 3),
            r#"{"ph":"B","cat":"kernel","name":"b","pid":0,"tid":1,"ts":7},"#.into(),
            r#"{"ph":"X","cat":"user_annotation","name":"step","pid":1,"ts":0,"dur":12},"#.into(),
            r#"{"ph":"X","cat":"mystery","name":"x","pid":0,"ts":1,"dur":99},"#.into(),
            r#"{"ph":"?","pid":0},{"ph":"E","pid":5,"tid":5,"ts":3},"#.into(),
        ];
        let trace = read(&joined(&events)).unwrap();
        assert_eq!(trace.activities[2], Activity { when: us(7, 12), function: 1, device: 0 });
        assert_eq!(trace.window, us(0, 12));
        assert_eq!(
            messages(&trace),
            [
                "t.json: events of unknown kinds were passed over: 1 of \"end without begin\", 1 of \
                 \"mystery\", 1 of \"phase ?\"",
                "t.json: 1 event has no end and lasts until the trace stops",
                "t.json: the trace does not show the launch of 2 off-loads, whose gap is counted as \
                 0 s",
                "t.json: 1 launch is without anything that a device did, and counted as host time",
            ]
        );
    }

    #[test]
    fn events_may_begin_and_end_apart() {
        let events = r#"{"ph":"B","cat":"kernel","name":"b","pid":0,"tid":1,"ts":7},
            {"ph":"B","cat":"kernel","name":"c","pid":0,"tid":2,"ts":8},
            {"ph":"E","pid":0,"tid":1,"ts":9},{"ph":"E","pid":0,"tid":2,"ts":11}"#;
        let trace = read(events).unwrap();
        let when: Vec<Stretch> = trace.activities.iter().map(|activity| activity.when).collect();
        assert_eq!(when, [us(7, 9), us(8, 11)]);
    }

    #[test]
    fn an_emulated_trace_shows_its_off_loads_itself() {
        // As the emulator writes them: the SPE loads its program before the host begins; a call
        // consists of kernels; calls stand before the off-loads that they end in.
        let events = r#"
{"ph":"X","pid":1,"tid":100001,"ts":0.5,"dur":1.25,"name":"get","cat":"dma"},
{"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"host code","cat":"ppe"},
{"ph":"X","pid":1,"tid":100000,"ts":3.5,"dur":2,"name":"node update","cat":"kernel"},
{"ph":"X","pid":1,"tid":100000,"ts":3.25,"dur":3,"name":"node","cat":"call"},
{"ph":"X","pid":3,"tid":10000,"ts":3,"dur":4,"name":"node","cat":"offload"},
{"ph":"X","pid":3,"tid":10000,"ts":7.5,"dur":0.5,"name":"MPI_Allreduce","cat":"mpi"},
{"ph":"X","pid":3,"tid":10000,"ts":8,"dur":2,"name":"MPI_Send","cat":"mpi"}"#;
        let trace = read(events).unwrap();
        assert_eq!((trace.window, trace.devices, trace.processes), (us(2, 10), 1, 1));
        let [Launch { when, call, function }] = trace.launches[..] else { panic!("one off-load") };
        assert_eq!((when, call), (us(3, 7), us(3, 3)));
        let quarter = FEMTOSECONDS / 4;
        let served = Stretch { start_fs: 13 * quarter, end_fs: 25 * quarter };
        assert_eq!(trace.activities, [Activity { when: served, function, device: 0 }]);
        assert_eq!(trace.functions[function], "node");
        let met = Stretch { start_fs: 30 * quarter, end_fs: 32 * quarter };
        assert_eq!(trace.collectives, [met]);
        assert_eq!(messages(&trace), [""; 0]);
    }

    fn check_error(events: &str, message: &str) {
        let error = read(events).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_place() {
        check_error("", "t.json:2:3: found no kernel, copy or set of a device and no off-load");
        check_error("{\"ph\":\"X\",\n\"ts\":1,\"dur\":}", "t.json:3:14: found expected value");
        check_error("{\"ph\":\"X\"}", "t.json:2:11: found an event without a time, exp");
        let times = [
            ("\"1\"", "2"),
            ("1", "[]"),
            ("1e40", "2"),
            ("1", "1000000000000000000"),
            ("null", "2"),
        ];
        for (ts, dur) in times {
            let event = format!(r#"{{"ph":"X","cat":"kernel","ts":{ts},"dur":{dur}}}"#);
            check_error(&event, "t.json:2:");
        }
        check_error(
            r#"{"ph":"X","cat":"kernel","name":"a","ts":3,"dur":-2}"#,
            "t.json:2:53: found an event \"a\" that ends before it begins",
        );
    }

    #[test]
    fn times_are_exact_whatever_the_clock_counts_from() {
        for (text, femtoseconds) in [
            ("1621401187223197.123", 1_621_401_187_223_197_123_000_000),
            ("0.000000001", 1),
            ("-2.5", -2_500_000_000),
            ("1.0000000019", 1_000_000_001),
            ("25e-1", 2_500_000_000),
        ] {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            assert_eq!(time(Some(raw)), Ok(femtoseconds), "{text}");
        }
    }
}
