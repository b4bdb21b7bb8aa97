//! Traces: as `emulate --trace` writes them and pictures show them, and as profilers record them.

use mmgp::import::{Phases, profile};
use mmgp::table::csv;
use mmgp::table::records::Profile;
use mmgp::table::trace::Trace;
use mmgp::table::{DeviceTrace, Source};

use super::{Kind, Reader, judged};
use crate::mutation::Format;
use crate::target::{Outcome, Seen, refused};

/// Spans that end after they begin, on tracks with names, of known categories.
fn spans(source: &Source) -> Result<Outcome, String> {
    judged(Trace::read(source), source, |trace| {
        for track in &trace.tracks {
            for span in &track.spans {
                let is_sound = span.start_s.is_finite()
                    && span.end_s.is_finite()
                    && span.start_s <= span.end_s
                    && usize::from(span.category) < trace.categories.len();
                if !is_sound {
                    return Some(format!("a span was read: {span:?}"));
                }
            }
        }
        None
    })
}

/// A profile whose parts add up to no more than the trace, and that is read as it is written.
fn devices(source: &Source) -> Result<Outcome, String> {
    let trace = match DeviceTrace::of_json(source) {
        Err(error) => return refused(&error, source),
        Ok(trace) => trace,
    };
    for phases in [Phases::Functions, Phases::One] {
        let rows = match profile(std::slice::from_ref(&trace), phases, None) {
            Err(error) => return refused(&error, source),
            Ok((rows, _)) => rows,
        };
        let text = csv::write(&rows);
        match csv::read::<Profile>(&Source::new("profile.csv", &text)) {
            Ok((again, _)) if again == rows => {}
            Ok(_) => return Err(format!("reads otherwise what it wrote: {text:?}")),
            // An empty trace has an empty profile.
            Err(_) if rows.is_empty() => {}
            Err(error) => return Err(format!("does not read what it wrote: {error}: {text:?}")),
        }
    }
    Ok(Seen::Taken.into())
}

const EMULATED: &str = r#"{"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"host"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"process 0"}},
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":2.5,"name":"newview","cat":"offload"},
{"ph":"X","pid":2,"tid":3,"ts":0.5,"dur":1.5,"name":"newview","cat":"call"},
{"ph":"s","pid":1,"tid":1,"ts":0.1,"id":1,"name":"start","cat":"arrow"},
{"ph":"f","pid":2,"tid":3,"ts":0.5,"id":1,"name":"start","cat":"arrow","bp":"e"},
{"ph":"X","pid":1,"tid":1,"ts":1000.5,"dur":1e3,"name":"allreduce","cat":"collective"}
],"displayTimeUnit":"ns"}"#;

const CUDA: &str = r#"{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 2,
"args": {"correlation": 5, "External id": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm<float, 4>", "pid": 0, "tid": 7, "ts": 13.5, "dur": 100.25,
"args": {"device": 0, "stream": 7, "correlation": 5}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 7, "tid": 7, "ts": 13, "dur": 101},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 200, "dur": 5,
"args": {"device": 0, "correlation": 6}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 5, "dur": 8}
]}"#;

const WORDS: &[&str] = &[
    "\"ph\":\"X\"",
    "\"ph\":\"M\"",
    "\"dur\":-1",
    "\"ts\":1e18",
    "\"ts\":-5",
    "\"cat\":\"kernel\"",
    "\"cat\":\"offload\"",
    "\"correlation\": 5",
    "\"device\": 1",
    "\"pid\":18446744073709551615",
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\",\"cat\":\"b\"},",
];

pub const READERS: &[Reader] = &[
    Reader {
        name: "trace",
        file: "trace.json",
        kind: Kind { format: Format::Text, words: WORDS },
        seeds: &[EMULATED],
        check: spans,
    },
    Reader {
        name: "device-trace",
        file: "trace.json",
        kind: Kind { format: Format::Text, words: WORDS },
        seeds: &[EMULATED, CUDA],
        check: devices,
    },
];
