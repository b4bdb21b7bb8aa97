//! `mmgp import-profile`: traces whose truth is known, and files that are none.

use mmgp::table::Source;
use mmgp::table::csv;
use mmgp::table::records::Profile;
use serde_json::Value;

use crate::Folder;

const RUN: [&str; 4] = ["--input", "sim12", "--generations", "200"];

/// The rows that a command prints.
fn rows(folder: &Folder, arguments: &[&str]) -> Vec<Profile> {
    let run = folder.mmgp(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
    csv::read(&Source::new("profile.csv", &run.stdout)).expect("a profile").0
}

/// A run at that p: its report, and its trace in a file.
fn traced(folder: &Folder, p: &str, file: &str) -> Value {
    let arguments = ["emulate", "--p", p, "--trace", file, "--format", "json", "--quiet"];
    folder.json(&[&arguments[..], &RUN].concat())
}

/// Period of the timebase that profiles are taken with, 14.318 MHz \[s\].
const TICK: f64 = 1.0 / 14.318e6;

#[test]
fn the_trace_of_an_emulated_run_gives_its_profile_again() {
    let folder = Folder::new();
    let report = traced(&folder, "1", "1.json");
    let imported = rows(&folder, &["import-profile", "1.json"]);
    let profile = [&["profile", "--repetitions", "1", "--quiet"], &RUN[..]].concat();
    let truth = rows(&folder, &profile);
    assert_eq!(imported.len(), 3);
    for (imported, truth) in imported.iter().zip(&truth) {
        assert_eq!((&imported.phase, imported.offloads), (&truth.phase, truth.offloads));
        assert!(truth.offloads > 100, "{truth:?}");
        // The program reads the timebase at both ends of two stretches an off-load; an instant is
        // wrong by the standard deviation of what is uniform over a tick, and no more than five
        // standard errors are for chance.
        let bound = 5.0 * (4.0 * truth.offloads as f64 / 12.0).sqrt() * TICK;
        let apu_s = truth.apu_parallel_time_s + truth.apu_serial_time_s;
        for (imported, truth) in [
            (imported.hpu_time_s, truth.hpu_time_s),
            (imported.apu_parallel_time_s, apu_s),
            (imported.gap_time_s, truth.gap_time_s),
        ] {
            assert!((imported - truth).abs() < bound, "{imported} s for {truth} s +- {bound} s");
        }
        assert_eq!(imported.apu_serial_time_s, 0.0);
    }
    // Every moment of the run is in one column.
    let times = |row: &Profile| row.hpu_time_s + row.apu_parallel_time_s + row.gap_time_s;
    let time_s = report["time_s"].as_f64().expect("a number");
    approx::assert_relative_eq!(
        imported.iter().map(times).sum::<f64>(),
        time_s,
        max_relative = 1e-12
    );
}

#[test]
fn a_second_p_splits_the_time_of_the_apus_as_equation_6_does() {
    let folder = Folder::new();
    traced(&folder, "1", "1.json");
    traced(&folder, "4", "4.json");
    let unsplit = folder.mmgp(&["import-profile", "1.json", "--format", "table"]);
    assert!(unsplit.stderr.contains("give it as --at-p P FILE"), "{}", unsplit.stderr);
    let split =
        folder.mmgp(&["import-profile", "1.json", "--at-p", "4", "4.json", "--out", "p.csv"]);
    assert_eq!((split.code, split.stdout.as_str(), split.stderr.as_str()), (Some(0), "", ""));
    let split = csv::read::<Profile>(&Source::new("p.csv", &folder.read("p.csv"))).unwrap().0;
    let alone = rows(&folder, &["import-profile", "1.json"]);
    let at_4 = rows(&folder, &["import-profile", "1.json", "--at-p", "4", "4.json"]);
    assert_eq!(split, at_4);
    let profile = [&["profile", "--repetitions", "1", "--quiet"], &RUN[..]].concat();
    for ((split, alone), truth) in split.iter().zip(&alone).zip(&rows(&folder, &profile)) {
        let whole_s = split.apu_parallel_time_s + split.apu_serial_time_s;
        approx::assert_relative_eq!(whole_s, alone.apu_parallel_time_s, max_relative = 1e-12);
        // A loop that four SPEs share does not take exactly a quarter of its time: each fills and
        // drains its pipeline and its buffers.
        assert!(split.apu_serial_time_s >= truth.apu_serial_time_s, "{split:?} {truth:?}");
        approx::assert_relative_eq!(
            split.apu_parallel_time_s,
            truth.apu_parallel_time_s,
            max_relative = 0.03
        );
    }
    // What comes out is what a fit reads.
    folder.succeeds(&["fit", "--profile", "p.csv", "--apus", "16", "--out", "params.toml"]);
}

const TRACE: &str = r#"[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"ts":0,"dur":4,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"f<int>(int)","pid":0,"ts":6,"dur":10,"args":{"correlation":1}},
{"ph":"X","cat":"user_annotation","name":"step","pid":1,"ts":0,"dur":20}]"#;

#[test]
fn a_profile_is_printed_as_csv_json_or_a_table() {
    let folder = Folder::with("t.json", TRACE);
    let print = |format: &str| folder.succeeds(&["import-profile", "t.json", "--format", format]);
    assert_eq!(
        print("csv"),
        "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,apu_serial_time_s,\
         gap_time_s\nf,1,1,0,0.000004,0.00001,0,0.000006\n"
    );
    let json: Value = serde_json::from_str(&print("json")).expect("JSON");
    assert_eq!(json["profile"][0]["gap_time_s"], 6e-6);
    assert!(print("table").ends_with("    f           1          1            0      0.004             0.010             0.000     0.006\n"));
}

#[test]
fn a_trace_that_is_compressed_is_read_as_it_is() {
    use std::io::Write as _;
    let folder = Folder::with("t.json", TRACE);
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(TRACE.as_bytes()).expect("memory can be written");
    folder.write("t.json.gz", writer.finish().expect("memory can be written"));
    assert_eq!(
        rows(&folder, &["import-profile", "t.json.gz"]),
        rows(&folder, &["import-profile", "t.json"])
    );
}

#[test]
fn what_is_no_trace_is_refused() {
    let folder = Folder::with("t.json", TRACE);
    folder.write("cut.json", &TRACE[..TRACE.len() - 2]);
    folder.write("idle.json", "[]");
    folder.write("t.json.gz", [0x1f, 0x8b, 8, 0]);
    folder.refuses(
        &["import-profile", "idle.json"],
        "idle.json:1:3: found no kernel, copy or set of a device and no off-load, expected a trace \
         with at least one",
    );
    folder.refuses(
        &["import-profile", "cut.json"],
        "cut.json:4:71: found EOF while parsing an object, expected a trace of PyTorch's profiler or \
         of mmgp emulate",
    );
    folder.refuses(
        &["import-profile", "t.json.gz"],
        "t.json.gz:1:1: found gzip that cannot be expanded (unexpected end of file), expected a whole \
         file",
    );
    folder
        .write("rank.json", format!(r#"{{"distributedInfo":{{"rank":3}},"traceEvents":{TRACE}}}"#));
    folder.refuses(
        &["import-profile", "rank.json"],
        "rank.json:1:29: found missing field `world_size`, expected a trace of PyTorch's profiler or of \
         mmgp emulate",
    );
    folder.refuses(
        &["import-profile", "t.json", "--at-p", "1", "t.json"],
        "--at-p: found 1, expected a whole number from 2 to 4294967295, then a file",
    );
    folder.refuses(
        &["import-profile", "t.json", "--out", "t.json"],
        "--out: found t.json, which is read for FILE, expected another file",
    );
    let emulate = ["emulate", "--m", "2", "--trace", "2.json", "--quiet", "--generations", "2"];
    folder.succeeds(&[&emulate[..], &["--input", "sim12"]].concat());
    folder.refuses(
        &["import-profile", "2.json"],
        "2.json: 2 processes that off-load; trace a run of one (m = 1), or export one process alone",
    );
}

#[cfg(not(feature = "nsys"))]
#[test]
fn a_database_is_refused_with_the_feature_that_reads_it() {
    let folder = Folder::with("t.sqlite", b"SQLite format 3\0and more");
    folder.refuses(
        &["import-profile", "t.sqlite"],
        "cannot read t.sqlite: it is an SQLite database, as Nsight Systems exports, which this build \
         of mmgp does not read: build it with the feature nsys, as in `cargo install mmgp --features \
         nsys`",
    );
}
