//! `mmgp import-profile` of profiles of ranks and threads: files whose truth is known, and files that
//! do not say enough.

use std::collections::BTreeMap;

use mmgp::table::Source;
use mmgp::table::csv;
use mmgp::table::records::TermRow;

use crate::Folder;

/// A term: rank, phase and name.
type Key = (Option<u32>, String, String);

/// The rows that a file gives, and what is said beside them.
fn imported(folder: &Folder, arguments: &[&str]) -> (Vec<TermRow>, String) {
    let run = folder.mmgp(&[&["import-profile"], arguments].concat());
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
    (csv::read(&Source::new("terms.csv", &run.stdout)).expect("terms").0, run.stderr)
}

/// The values by their keys.
fn values(rows: &[TermRow]) -> BTreeMap<Key, f64> {
    let key = |row: &TermRow| (row.rank.0, row.phase.clone(), row.term.clone());
    rows.iter().map(|row| (key(row), row.value)).collect()
}

/// That a file says these terms and no others.
fn check(rows: &[TermRow], rank: Option<u32>, phase: &str, expected: &[(&str, f64)]) {
    let values = values(rows);
    let found: Vec<&str> = (values.keys())
        .filter(|(of, in_phase, _)| *of == rank && in_phase == phase)
        .map(|(_, _, term)| term.as_str())
        .collect();
    let mut names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(found, names, "{rank:?} {phase:?}");
    for (term, value) in expected {
        let found = values[&(rank, phase.to_string(), (*term).to_string())];
        approx::assert_relative_eq!(found, value, max_relative = 1e-12);
    }
}

/// What TALP says of a rank or a run \[ns\]: time, useful, MPI, and of OpenMP load imbalance, scheduling and
/// serialization.
fn talp_times(times: [u64; 6], regions: u64) -> String {
    let [elapsed, useful, mpi, imbalance, scheduling, serialization] = times;
    format!(
        r#""numMpiCalls":10,"numOmpParallels":{regions},"elapsedTime":{elapsed},"usefulTime":{useful},
"mpiTime":{mpi},"ompLoadImbalanceTime":{imbalance},"ompSchedulingTime":{scheduling},
"ompSerializationTime":{serialization}"#
    )
}

/// A file of DLB 3.5 of 2 ranks with 4 threads each.
fn talp(parts: &str) -> String {
    format!(
        r#"{{"dlbVersion":"3.5.0","timestamp":"2025-01-01T00:00:00",
"resources":{{"numCpus":8,"numNodes":1,"numMpiRanks":2}},
{parts}}}"#
    )
}

/// In seconds: 1 in MPI, 2 of the host, 7 in regions, in which the threads work 6, 5, 5 and 4. Of rank 1 the
/// host takes 3.
const RANKS: [[u64; 6]; 2] = [
    [10_000_000_000, 22_000_000_000, 1_000_000_000, 4_000_000_000, 4_000_000_000, 9_000_000_000],
    [11_000_000_000, 23_000_000_000, 1_000_000_000, 4_000_000_000, 4_000_000_000, 12_000_000_000],
];

/// The same of each process, with a region of the user.
fn of_processes() -> String {
    let process = |(rank, times): (usize, &[u64; 6])| {
        format!(r#"{{"rank":{rank},"numCpus":4,{}}}"#, talp_times(*times, 100))
    };
    let all: Vec<String> = RANKS.iter().enumerate().map(process).collect();
    let solve = |rank| format!(r#"{{"rank":{rank},{}}}"#, talp_times([5, 5, 0, 0, 0, 0], 0));
    let solve = [solve(0), solve(1)].join(",");
    talp(&format!(r#""Process":{{"Global":[{}],"solve":[{solve}]}}"#, all.join(",\n")))
}

#[test]
fn talp_of_processes_says_the_terms_of_each_rank() {
    let folder = Folder::with("talp.json", of_processes());
    let (rows, said) = imported(&folder, &["talp.json"]);
    assert!(rows.iter().all(|row| row.run == "talp.json" && (row.m, row.p) == (2, 4)));
    let common = [("offloads", 100.0), ("c_apu", 1.0), ("gap", 1.0), ("t_apu", 20.0)];
    check(&rows, Some(0), "", &[&common[..], &[("time", 10.0), ("t_hpu", 2.0)]].concat());
    check(&rows, Some(1), "", &[&common[..], &[("time", 11.0), ("t_hpu", 3.0)]].concat());
    check(&rows, Some(1), "solve", &[("time", 5e-9)]);
    assert!(said.contains("it does not tell collectives from messages"), "{said}");
}

#[test]
fn talp_of_the_application_says_means_over_the_ranks() {
    let sums: Vec<u64> = (0..6).map(|which| RANKS[0][which] + RANKS[1][which]).collect();
    let mut sums: [u64; 6] = sums.try_into().expect("six");
    sums[0] = 11_000_000_000;
    // Since this sum stands beside it, workers that wait for MPI are none outside regions.
    let times = talp_times(sums, 200).replace("21000000000", "15000000000");
    let times = format!(r#"{times},"mpiWorkerIdleTime":6000000000,"numMpiRanks":2,"numCpus":8"#);
    let folder =
        Folder::with("t.json", talp(&format!(r#""Application":{{"Global":{{{times}}}}}"#)));
    let (rows, said) = imported(&folder, &["t.json"]);
    let expected = [("time", 11.0), ("offloads", 100.0), ("c_apu", 1.0), ("gap", 1.0)];
    let expected = [&expected[..], &[("t_hpu", 2.5), ("t_apu", 20.0)]].concat();
    check(&rows, None, "", &expected);
    assert!(said.contains("values are means over the ranks"), "{said}");
}

#[test]
fn talp_of_other_threads_than_processors_is_asked_about() {
    let folder = Folder::with("t.json", of_processes().replace("\"numCpus\":8", "\"numCpus\":16"));
    let run = folder.mmgp(&["import-profile", "t.json"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("its times add up to those of 4.00 threads of a rank, not of 8"));
    assert!(run.stderr.contains("mmgp import-profile t.json --p 4"), "{}", run.stderr);
    let (rows, _) = imported(&folder, &["t.json", "--p", "4"]);
    assert_eq!(values(&rows)[&(Some(0), String::new(), "t_hpu".into())], 2.0);
}

#[test]
fn talp_that_lacks_a_time_or_a_rank_is_refused_at_its_place() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, message: &str| {
        let text = of_processes();
        assert!(text.contains(from), "{from}");
        folder.write("t.json", text.replacen(from, to, 1));
        folder.refuses(&["import-profile", "t.json"], message);
    };
    refused(
        "\"ompSchedulingTime\"",
        "\"omp\"",
        "t.json:3:22: found an object without \"ompSchedulingTime\", expected \"ompSchedulingTime\"",
    );
    refused(
        "\"usefulTime\":22000000000",
        "\"usefulTime\":-1",
        "t.json:3:122: found the number -1, expected a number of 0 or more",
    );
    refused("\"rank\":1", "\"rank\":2", "t.json:6:9: found the number 2, expected rank 1");
    refused(
        "\"numCpus\":8",
        "\"numCpus\":7",
        "t.json:2:24: found 7 processors, expected a multiple of 2 ranks",
    );
    folder.write("t.json", of_processes().replace("\"numMpiRanks\":2", "\"numMpiRanks\":0"));
    let run = folder.mmgp(&["import-profile", "t.json"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("does not say of how many ranks the run was"), "{}", run.stderr);
    assert!(run.stderr.contains("mmgp import-profile t.json --m M"), "{}", run.stderr);
    folder.write("t.json", of_processes());
    folder.refuses(
        &["import-profile", "t.json", "--m", "4"],
        "t.json:2:53: found 2 ranks, expected 4, as was said",
    );
}

#[test]
fn talp_of_dlb_3_4_says_times_where_it_knows_the_ranks() {
    let metrics = r#""popMetrics":[{"name":"MPI Execution","elapsedTime":3000000000,
"parallelEfficiency":0.9}]"#;
    let raw = r#""popRaw":[{"name":"MPI Execution","numCpus":6,"numNodes":1,"numRanks":3,
"elapsedTime":3000000000},{"name":"solve","numCpus":6,"numRanks":3,"elapsedTime":2000000000}]"#;
    let folder = Folder::with("t.json", format!("{{{metrics},{raw}}}"));
    let (rows, _) = imported(&folder, &["t.json"]);
    check(&rows, None, "", &[("time", 3.0)]);
    check(&rows, None, "solve", &[("time", 2.0)]);
    assert!(rows.iter().all(|row| (row.m, row.p) == (3, 2)));
    folder.write("t.json", format!("{{{metrics}}}"));
    let run = folder.mmgp(&["import-profile", "t.json", "--m", "3"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("mmgp import-profile t.json --m 3 --p P"), "{}", run.stderr);
    let (rows, _) = imported(&folder, &["t.json", "--m", "3", "--p", "1"]);
    assert!(rows.iter().all(|row| (row.m, row.p) == (3, 1)));
}

/// A file of Caliper: its columns with their metadata, its rows, and what is known of the run.
fn caliper(columns: &[(&str, &str)], rows: &str, globals: &str) -> String {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("{name:?}")).collect();
    let metadata: Vec<&str> = columns.iter().map(|(_, metadata)| *metadata).collect();
    format!(
        r#"{{"data": [{rows}],
"columns": [{}],
"column_metadata": [{}],
"nodes": [{{"label":"main","column":"path"}},{{"label":"solve","column":"path","parent":0}},
{{"label":"MPI_Allreduce","column":"path","parent":1}},{{"label":"MPI_Waitall","column":"path","parent":1}},
{{"label":"MPI_Barrier","column":"path","parent":0}}]{globals}}}"#,
        names.join(","),
        metadata.join(",")
    )
}

const OF_RANKS: [(&str, &str); 3] = [
    ("sum#time.duration", r#"{"is_value":true,"attribute.unit":"msec"}"#),
    ("mpi.rank", r#"{"is_value":true}"#),
    ("path", r#"{"is_value":false}"#),
];

const ROWS: &str = "[1000,0,null],[2000,0,0],[3000,0,1],[500,0,2],[250,0,3],[40,0,4],[null,0,4],
[1000,1,null],[2000,1,0],[2500,1,1],[900,1,2],[350,1,3],[10,1,4]";

const WORLD: &str = r#","mpi.world.size":"2","omp.num.threads":"1""#;

#[test]
fn caliper_of_ranks_says_times_messages_and_collectives() {
    let folder = Folder::with("c.json", caliper(&OF_RANKS, ROWS, WORLD));
    let (rows, _) = imported(&folder, &["c.json"]);
    assert!(rows.iter().all(|row| (row.m, row.p) == (2, 1)));
    // Of the collectives the least of both ranks is theirs, for each operation.
    check(&rows, None, "", &[("t_col", 0.51)]);
    check(&rows, None, "allreduce", &[("t_col", 0.5)]);
    check(&rows, Some(0), "", &[("time", 6.79), ("p2p", 0.25), ("wait", 0.03)]);
    check(&rows, Some(1), "", &[("time", 6.76), ("p2p", 0.35), ("wait", 0.4)]);
    check(&rows, Some(1), "allreduce", &[("wait", 0.4)]);
    check(&rows, Some(0), "main", &[("time", 5.79)]);
    check(&rows, Some(0), "main/solve", &[("time", 3.75)]);
    check(&rows, Some(0), "main/solve/MPI_Allreduce", &[]);
    check(&rows, Some(0), "waitall", &[("p2p", 0.25)]);
}

#[test]
fn caliper_of_means_says_times_alone() {
    let columns = [
        ("path", r#"{"is_value":false}"#),
        ("min#inclusive#sum#time.duration", r#"{"is_value":true}"#),
        ("avg#inclusive#sum#time.duration", r#"{"is_value":true,"attribute.unit":"sec"}"#),
    ];
    let rows = "[null,0,1],[0,0,6],[1,0,4],[2,0,0.5],[3,0,0.25]";
    let folder = Folder::with("c.json", caliper(&columns, rows, r#","jobsize":"4""#));
    let (rows, said) = imported(&folder, &["c.json", "--p", "8"]);
    check(&rows, None, "", &[("time", 7.0), ("p2p", 0.25)]);
    check(&rows, None, "main", &[("time", 6.0)]);
    check(&rows, None, "main/solve", &[("time", 4.0)]);
    assert!(rows.iter().all(|row| (row.m, row.p) == (4, 8)));
    assert!(said.contains("does not tell collectives from waiting for others"), "{said}");
}

#[test]
fn caliper_that_does_not_say_units_or_ranks_is_refused_at_its_place() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, message: &str| {
        let text = caliper(&OF_RANKS, ROWS, WORLD);
        assert!(text.contains(from), "{from}");
        folder.write("c.json", text.replace(from, to));
        folder.refuses(&["import-profile", "c.json"], message);
    };
    refused(
        r#","attribute.unit":"msec""#,
        "",
        "c.json:4:21: found no unit of the column \"sum#time.duration\", expected an \"attribute.unit\", \
         such as \"sec\"",
    );
    refused(
        "\"mpi.rank\"",
        "\"thread\"",
        "c.json:3:12: found the columns sum#time.duration, thread, path, expected one of \
         avg#sum#time.duration, avg#inclusive#sum#time.duration, sum#sum#time.duration, \
         sum#inclusive#sum#time.duration; or a column mpi.rank",
    );
    refused("\"2\"", "\"3\"", "c.json:1:10: found times of 2 ranks, expected of 3");
    refused(
        "[40,0,4]",
        "[40,0,5]",
        "c.json:1:73: found the number 5, expected a place in nodes below 5",
    );
    refused(
        "[40,0,4]",
        "[-40,0,4]",
        "c.json:1:68: found the number -40, expected a number of 0 or more",
    );
    refused("[40,0,4]", "[40,0]", "c.json:1:67: found 2 values, expected 3 as in columns");
    folder.write("c.json", caliper(&OF_RANKS, ROWS, r#","mpi.world.size":"2""#));
    let run = folder.mmgp(&["import-profile", "c.json"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("mmgp import-profile c.json --p P"), "{}", run.stderr);
}

#[test]
fn files_of_several_kinds_and_flags_of_another_are_refused() {
    let folder = Folder::with("t.json", of_processes());
    folder.write("d.json", r#"[{"ph":"X","cat":"kernel","name":"f","ts":1,"dur":2}]"#);
    folder.write("x.json", r#"{"a":1}"#);
    folder.refuses(
        &["import-profile", "t.json", "d.json"],
        "FILE: found traces of devices beside profiles of ranks, expected files of one kind",
    );
    folder.refuses(
        &["import-profile", "t.json", "t.json"],
        "FILE: found t.json, expected each file once",
    );
    folder.refuses(
        &["import-profile", "t.json", "--phases", "one"],
        "--phases: found one, expected nothing, as FILE is a profile of ranks and no trace",
    );
    folder.refuses(
        &["import-profile", "d.json", "--p", "2"],
        "--p: found 2, expected nothing, as a trace of devices is of m = p = 1",
    );
    folder.refuses(
        &["import-profile", "x.json"],
        "x.json:1:1: found none of the formats, expected a trace of PyTorch's profiler or of mmgp \
         emulate, JSON of TALP (DLB 3.5), JSON of TALP (DLB 3.4), JSON of Caliper (json-split)",
    );
}
