//! A profile of the user's own program, from what a profiler recorded of it.
//!
//! Every moment of a trace at m = p = 1 belongs to one column of `profile.csv`, but for those of
//! collectives that nothing hides, which are said: their sum is the time of the trace.
//!
//! * *APU*, where a device works: the union of its busy times, not their sum. Where several
//!   functions run at once, each gets an equal share of that time.
//! * *Gap*, where no device works, but the host is having one work: from a launch until the device
//!   begins, or until the call returns if that is later, and while the host does nothing but wait
//!   for a device that is done. That is what lies between one launch and the next and is neither
//!   the device's work nor the host's own. It belongs to the function that is launched, or was
//!   launched last. It holds the way of the signals (`O_offload` of the model), which a trace
//!   cannot tell from `g`: a file of off-loads beside such a profile counts that twice.
//! * *Host*, all the rest. It belongs to the function whose launch it leads to; after the last
//!   launch to that one, as in a profile of the emulated machine.
//!
//! An off-load is a launch, however many kernels it starts (a graph has many); copies and sets
//! count as functions of their own. Collectives (kernels of NCCL and operations of MPI) are counted
//! for the function that was launched before them and are no off-loads: their time is the host's.
//!
//! A trace at one p cannot tell what p APUs can share from what they cannot. With a trace at
//! another p of the same work, equation 6 for each function says it:
//!
//! `T_APU(1,p) = T_APU(1,1)/p + C_APU`
//!
//! where the left side is a mean over the devices that have a part in the function: that they do
//! not begin at once is the model's `p*g`, and that one is done before another no column's.

mod sweep;
mod terms;

pub use terms::{Division, terms};

use crate::error::{Error, Result, Warning};
use crate::table::DeviceTrace;
use crate::table::records::Profile;
use sweep::{Part, Swept};

/// How finely a profile tells functions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phases {
    /// A row for each off-loaded function.
    Functions,
    /// One row, called `all`.
    One,
}

/// A trace of the same work with another number of APUs.
#[derive(Debug, Clone, Copy)]
pub struct AtP<'a> {
    /// APUs, 2 or more.
    pub p: u32,
    /// What was recorded then.
    pub trace: &'a DeviceTrace,
}

/// The rows of `profile.csv` from traces of runs at m = p = 1, each a repetition of the same work:
/// in each repetition a row for every function of any. Without `other` all APU time is what APUs
/// can share, and none is what they cannot.
///
/// # Errors
/// [`Error::TooLittleData`] for a trace of several processes, or of more devices than its p.
pub fn profile(
    traces: &[DeviceTrace],
    phases: Phases,
    other: Option<AtP<'_>>,
) -> Result<(Vec<Profile>, Vec<Warning>)> {
    let mut warnings = Vec::new();
    let other = other.map(|other| Ok::<_, Error>((other.p, swept(other.trace, other.p, phases)?)));
    let other = other.transpose()?;
    warnings.extend(other.iter().flat_map(|(_, swept)| swept.warnings.clone()));
    let mut repetitions = Vec::with_capacity(traces.len());
    for trace in traces {
        let swept = swept(trace, 1, phases)?;
        warnings.extend(swept.warnings.iter().cloned().chain(swept.hidden(&trace.file)));
        warnings.extend(swept.collective(&trace.file).into_iter().chain(of_several(trace)));
        repetitions.push(swept.parts);
    }
    let mut names: Vec<&str> = Vec::new();
    for part in repetitions.iter().flatten() {
        if !names.contains(&part.name.as_str()) {
            names.push(&part.name);
        }
    }
    let mut rows = Vec::with_capacity(repetitions.len() * names.len());
    for (repetition, parts) in (1..).zip(&repetitions) {
        for name in &names {
            let none = Part::named(name);
            let part = parts.iter().find(|part| part.name == *name).unwrap_or(&none);
            let (serial_s, warning) = match &other {
                Some((p, other)) => serial_s(part, *p, &other.parts),
                None => (0.0, None),
            };
            // What holds of a function holds of its repetitions.
            warnings.extend(warning.filter(|_| repetition == 1));
            rows.push(row(part, repetition, serial_s));
        }
    }
    Ok((rows, warnings))
}

/// A warning that a trace is of one of several processes, which is no run at m = 1.
fn of_several(trace: &DeviceTrace) -> Option<Warning> {
    let (rank, count) = trace.ranks.filter(|(_, count)| *count > 1)?;
    Some(Warning::Note(format!(
        "{}: it is of process {rank} of {count}, no run at m = 1: where they share the work, these are \
         the times of its part; trace a run of one process for those of all",
        trace.file
    )))
}

/// What a trace at that p says of each phase.
fn swept(trace: &DeviceTrace, p: u32, phases: Phases) -> Result<Swept> {
    let refused = |found: String, advice: String| Error::too_little(&trace.file, found, advice);
    if trace.processes > 1 {
        return Err(refused(
            format!("{} processes that off-load", trace.processes),
            "trace a run of one (m = 1), or export one process alone".into(),
        ));
    }
    if trace.devices > p as usize {
        return Err(refused(
            format!("{} devices at work in a trace at p = {p}", trace.devices),
            "trace a run in which the program sees no more than that".into(),
        ));
    }
    let swept = Swept::of(trace);
    Ok(match phases {
        Phases::Functions => swept,
        Phases::One => swept.into_one(),
    })
}

/// The part of a function's APU time at p = 1 that APUs cannot share, given parts at another p, and
/// what is odd about it.
fn serial_s(part: &Part, p: u32, others: &[Part]) -> (f64, Option<Warning>) {
    let note = |text: String| Some(Warning::Note(format!("{}: {text}", part.name)));
    let Some(other) = others.iter().find(|other| other.name == part.name) else {
        return (0.0, note(format!("not in the trace at p = {p}: taken for what APUs can share")));
    };
    let (alone_s, shared_s) = (part.apu_s(), other.apu_s());
    // T_APU(1,1)/p + C_APU = T_APU(1,p), with T_APU(1,1) + C_APU = T_APU of the trace at p = 1.
    let p_f64 = f64::from(p);
    let serial_s = (shared_s - alone_s / p_f64) / (1.0 - 1.0 / p_f64);
    let is_same_work = [part.offloads, part.offloads * u64::from(p)].contains(&other.offloads);
    let warning = if !is_same_work {
        note(format!(
            "{} off-loads at p = 1, {} at p = {p}: that may not be the same work",
            part.offloads, other.offloads
        ))
    } else if serial_s > alone_s {
        note(format!(
            "{shared_s:.6} s of APU time at p = {p}, not less than the {alone_s:.6} s at p = 1: taken \
             for what APUs cannot share"
        ))
    } else if serial_s < -NOISE * alone_s {
        note(format!(
            "{shared_s:.6} s of APU time at p = {p}, less than a {p}th of the {alone_s:.6} s at p = \
             1: taken for what APUs can share"
        ))
    } else {
        None
    };
    (serial_s.clamp(0.0, alone_s), warning)
}

/// Scatter of a function's APU time that nobody wonders at.
const NOISE: f64 = 0.02;

fn row(part: &Part, repetition: u32, serial_s: f64) -> Profile {
    Profile {
        phase: part.name.clone(),
        repetition,
        offloads: part.offloads,
        collectives: part.collectives,
        hpu_time_s: part.host_s(),
        apu_parallel_time_s: part.apu_s() - serial_s,
        apu_serial_time_s: serial_s,
        gap_time_s: part.gap_s(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Source;

    /// An event of Kineto's: category, name, begin and end \[us\], and a number that a launch and
    /// what it starts share.
    type Event = (&'static str, &'static str, u32, u32, u32);

    fn trace(events: &[Event]) -> DeviceTrace {
        let event = |&(cat, name, start, end, correlation): &Event| {
            let dur = end - start;
            format!(
                r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":0,"ts":{start},"dur":{dur},
                "args":{{"correlation":{correlation}}}}}"#
            )
        };
        let events: Vec<String> = events.iter().map(event).collect();
        let source = Source::new("t.json", &format!("[{}]", events.join(",")));
        DeviceTrace::of_json(&source).expect("a trace")
    }

    const LAUNCH: &str = "cudaLaunchKernel";

    /// Host code from 0 to 100 us. Its launch at 10 us starts f at 16; that of g at 20 us, while f
    /// works, has g follow at 36; the host waits until 50 us; f again, which begins within the call.
    fn two_functions() -> DeviceTrace {
        trace(&[
            ("cpu_op", "step", 0, 100, 0),
            ("cuda_runtime", LAUNCH, 10, 14, 1),
            ("kernel", "f", 16, 36, 1),
            ("cuda_runtime", LAUNCH, 20, 23, 2),
            ("kernel", "g", 36, 46, 2),
            ("cuda_runtime", "cudaDeviceSynchronize", 30, 50, 3),
            ("cuda_runtime", LAUNCH, 60, 64, 4),
            ("kernel", "f", 62, 70, 4),
        ])
    }

    /// Name, off-loads, collectives and microseconds of host, shared and serial APU time, and gap.
    type Expected = (&'static str, u64, u64, [f64; 4]);

    fn check(rows: &[Profile], expected: &[Expected]) {
        assert_eq!(rows.len(), expected.len(), "{rows:?}");
        for (row, (name, offloads, collectives, times)) in rows.iter().zip(expected) {
            assert_eq!(
                (row.phase.as_str(), row.offloads, row.collectives),
                (*name, *offloads, *collectives)
            );
            let found =
                [row.hpu_time_s, row.apu_parallel_time_s, row.apu_serial_time_s, row.gap_time_s];
            for (found, expected) in found.into_iter().zip(times) {
                approx::assert_relative_eq!(1e6 * found, expected, max_relative = 1e-12);
            }
        }
    }

    fn messages(warnings: &[Warning]) -> Vec<String> {
        warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_moment_counts_once() {
        let (rows, warnings) = profile(&[two_functions()], Phases::Functions, None).unwrap();
        // f: host 0-10 and 50-60, which lead to it, and 70-100 as it was launched last; works 16-36
        // and 62-70; gap 10-16 and 60-62. g: works 36-46; gap 46-50, as it was waited for.
        check(&rows, &[("f", 2, 0, [50.0, 28.0, 0.0, 8.0]), ("g", 1, 0, [0.0, 10.0, 0.0, 4.0])]);
        // Calls at 20-23 and 62-64, while f works.
        assert_eq!(
            messages(&warnings),
            ["t.json: launching takes 0.000005 s more while a device works, which is in no \
                 column: with more APUs it comes to light"]
        );
        let (rows, _) = profile(&[two_functions()], Phases::One, None).unwrap();
        check(&rows, &[("all", 3, 0, [50.0, 38.0, 0.0, 12.0])]);
    }

    /// Whatever a profiler has recorded of one device, every moment is in one column.
    #[test]
    fn columns_add_up_to_the_time_of_the_trace() {
        use proptest::test_runner::TestRunner;
        const KINDS: [(&str, &str); 5] = [
            ("cuda_runtime", LAUNCH),
            ("kernel", "f"),
            ("kernel", "g"),
            ("cuda_runtime", "cudaStreamSynchronize"),
            ("kernel", "ncclDevKernel_AllReduce"),
        ];
        let event = (0..KINDS.len(), 0..500_u32, 0..60_u32, 0..20_u32);
        let events = proptest::collection::vec(event, 1..60);
        let checked = TestRunner::deterministic().run(&events, |events| {
            let event = |(kind, start, length, correlation): (usize, u32, u32, u32)| {
                (KINDS[kind].0, KINDS[kind].1, start, start + length, correlation)
            };
            let mut events: Vec<Event> = events.into_iter().map(event).collect();
            events.push(("kernel", "h", 250, 260, 21));
            let start = events.iter().map(|event| event.2).min().expect("there is one");
            let end = events.iter().map(|event| event.3).max().expect("there is one");
            let trace = trace(&events);
            let of_collectives = Swept::of(&trace).collective_s();
            let (rows, _) = profile(&[trace], Phases::Functions, None).expect("a profile");
            let times = |row: &Profile| [row.hpu_time_s, row.apu_parallel_time_s, row.gap_time_s];
            let times: Vec<f64> = rows.iter().flat_map(times).collect();
            assert!(times.iter().all(|&time| time >= 0.0));
            let sum_us = 1e6 * (times.iter().sum::<f64>() + of_collectives);
            approx::assert_relative_eq!(sum_us, f64::from(end - start), max_relative = 1e-12);
            // What a fit refuses: a gap of a function that is not off-loaded.
            assert!(rows.iter().all(|row| row.offloads > 0 || row.gap_time_s == 0.0));
            Ok(())
        });
        checked.expect("every trace adds up");
    }

    #[test]
    fn functions_that_work_at_once_share_the_time() {
        let trace = trace(&[
            ("cuda_runtime", LAUNCH, 0, 4, 1),
            ("cuda_runtime", LAUNCH, 5, 9, 2),
            ("cuda_runtime", LAUNCH, 9, 10, 3),
            ("kernel", "a", 10, 30, 1),
            ("kernel", "b", 20, 40, 2),
            ("kernel", "b", 26, 29, 3),
        ]);
        let (rows, _) = profile(&[trace], Phases::Functions, None).unwrap();
        // The union is 10-40. a: 10 alone, half of 20-26 and 29-30, a third of 26-29. From 0 on the
        // first launch is under way, that of a, and so is the gap its own.
        check(&rows, &[("a", 1, 0, [0.0, 14.5, 0.0, 10.0]), ("b", 2, 0, [0.0, 15.5, 0.0, 0.0])]);
    }

    #[test]
    fn collectives_belong_to_what_was_launched_before_and_their_time_to_no_column() {
        let trace = trace(&[
            ("cuda_runtime", LAUNCH, 0, 2, 1),
            ("kernel", "a", 2, 10, 1),
            ("cuda_runtime", LAUNCH, 10, 12, 2),
            ("kernel", "ncclDevKernel_AllReduce", 12, 20, 2),
            ("cuda_runtime", LAUNCH, 20, 22, 3),
            ("kernel", "b", 22, 23, 3),
        ]);
        let (rows, warnings) = profile(&[trace], Phases::Functions, None).unwrap();
        check(&rows, &[("a", 1, 1, [0.0, 8.0, 0.0, 2.0]), ("b", 1, 0, [2.0, 1.0, 0.0, 2.0])]);
        let said = warnings.iter().any(|it| it.to_string().contains("collectives take 0.000008 s"));
        assert!(said, "{warnings:?}");
    }

    #[test]
    fn a_trace_of_one_of_several_processes_is_no_run_at_m_1() {
        let events = r#"{"traceEvents":[{"ph":"X","cat":"kernel","name":"f","ts":1,"dur":2}],
            "distributedInfo":{"backend":"nccl","rank":3,"world_size":8}}"#;
        let trace = DeviceTrace::of_json(&Source::new("t.json", events)).unwrap();
        let (_, warnings) = profile(&[trace], Phases::Functions, None).unwrap();
        let said = "t.json: it is of process 3 of 8, no run at m = 1";
        assert!(warnings.iter().any(|it| it.to_string().starts_with(said)), "{warnings:?}");
    }

    #[test]
    fn the_time_at_another_p_is_a_mean_over_the_devices() {
        let on = |device: u32, start: u32, end: u32| {
            format!(
                r#"{{"ph":"X","cat":"kernel","name":"f","ts":{start},"dur":{},
                "args":{{"device":{device}}}}}"#,
                end - start
            )
        };
        // One works 40 us, the other from 2 us later on 44; 42 = 64/2 + 10.
        let events = format!("[{},{}]", on(0, 0, 40), on(1, 2, 46));
        let other = DeviceTrace::of_json(&Source::new("2.json", &events)).unwrap();
        let at_p = AtP { p: 2, trace: &other };
        let traces = [working("f", 74)];
        let (rows, _) = profile(&traces, Phases::Functions, Some(at_p)).unwrap();
        check(&rows, &[("f", 1, 0, [0.0, 64.0, 10.0, 2.0])]);
    }

    /// One launch of `f` that works so long.
    fn working(f: &'static str, end: u32) -> DeviceTrace {
        trace(&[("cuda_runtime", LAUNCH, 0, 2, 1), ("kernel", f, 2, 2 + end, 1)])
    }

    #[test]
    fn a_trace_at_another_p_splits_the_time_of_apus() {
        let check_split = |other: &DeviceTrace, parts: [f64; 2], message: &str| {
            let at_p = AtP { p: 4, trace: other };
            let traces = [working("f", 100), working("f", 100)];
            let (rows, warnings) = profile(&traces, Phases::Functions, Some(at_p)).unwrap();
            let row = |row: &Profile| [row.apu_parallel_time_s * 1e6, row.apu_serial_time_s * 1e6];
            for part in [row(&rows[0]), row(&rows[1])] {
                approx::assert_relative_eq!(
                    part[..],
                    parts[..],
                    max_relative = 1e-12,
                    epsilon = 1e-9
                );
            }
            assert_eq!(messages(&warnings).join(""), message);
        };
        // 80/4 + 20 = 40.
        check_split(&working("f", 40), [80.0, 20.0], "");
        check_split(&working("f", 25), [100.0, 0.0], "");
        check_split(
            &working("f", 10),
            [100.0, 0.0],
            "f: 0.000010 s of APU time at p = 4, less than a 4th of the 0.000100 s at p = 1: taken \
             for what APUs can share",
        );
        check_split(
            &working("f", 101),
            [0.0, 100.0],
            "f: 0.000101 s of APU time at p = 4, not less than the 0.000100 s at p = 1: taken for \
             what APUs cannot share",
        );
        check_split(
            &working("g", 40),
            [100.0, 0.0],
            "f: not in the trace at p = 4: taken for what APUs can share",
        );
    }

    #[test]
    fn more_off_loads_than_apus_explain_raise_a_doubt() {
        let twice = trace(&[
            ("cuda_runtime", LAUNCH, 0, 2, 1),
            ("kernel", "f", 2, 10, 1),
            ("cuda_runtime", LAUNCH, 10, 12, 2),
            ("kernel", "f", 12, 20, 2),
        ]);
        let once = [working("f", 32)];
        // The double number of launches is right for 2 APUs, and odd for 4.
        let warnings = |p| {
            let at_p = AtP { p, trace: &twice };
            messages(&profile(&once, Phases::Functions, Some(at_p)).unwrap().1)
        };
        assert_eq!(warnings(2), [""; 0]);
        assert_eq!(
            warnings(4),
            ["f: 1 off-loads at p = 1, 2 at p = 4: that may not be the same work"]
        );
    }

    #[test]
    fn every_repetition_has_every_function() {
        let traces = [working("f", 10), working("g", 10)];
        let (rows, _) = profile(&traces, Phases::Functions, None).unwrap();
        let rows: Vec<_> =
            rows.iter().map(|row| (row.phase.as_str(), row.repetition, row.offloads)).collect();
        assert_eq!(rows, [("f", 1, 1), ("g", 1, 0), ("f", 2, 0), ("g", 2, 1)]);
    }

    #[test]
    fn a_trace_of_another_mapping_is_refused() {
        let refused = |trace: DeviceTrace, message: &str| {
            let error = profile(&[trace], Phases::Functions, None).unwrap_err().to_string();
            assert_eq!(error, message);
        };
        refused(
            DeviceTrace { processes: 2, ..two_functions() },
            "t.json: 2 processes that off-load; trace a run of one (m = 1), or export one process \
             alone",
        );
        refused(
            DeviceTrace { devices: 3, ..two_functions() },
            "t.json: 3 devices at work in a trace at p = 1; trace a run in which the program sees no \
             more than that",
        );
    }
}
