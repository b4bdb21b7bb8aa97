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
fn a_sum_of_caliper_is_of_a_rank_beside_one_and_else_of_all() {
    let columns = [("sum#sum#time.duration.ns", "{}"), OF_RANKS[1], OF_RANKS[2]];
    let folder = Folder::with("c.json", caliper(&columns, "[2e9,0,0],[3e9,1,0]", WORLD));
    let (rows, _) = imported(&folder, &["c.json"]);
    check(&rows, Some(1), "main", &[("time", 3.0)]);
    folder.write("c.json", caliper(&[columns[0], columns[2]], "[2e9,0],[3e9,0]", WORLD));
    let (rows, _) = imported(&folder, &["c.json"]);
    check(&rows, None, "main", &[("time", 2.5)]);
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
        "\"2\"",
        "\"4000000\"",
        "c.json:1:10: found 13 rows, expected one of each of 4000000 ranks",
    );
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

/// An archive of `tar` with these files.
fn tar(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[257..263].copy_from_slice(b"ustar\0");
        archive.extend(header);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

const REGIONS: [&str; 6] = [
    "main",
    "!$omp parallel @a.c:1",
    "!$omp for @a.c:2",
    "!$omp implicit barrier @a.c:3",
    "MPI_Allreduce",
    "step",
];

/// Two ranks with two threads each. Call paths 0 to 6: main, in it a region (with a loop and its barrier),
/// a collective, and a step with another call of the region.
fn anchor() -> String {
    let region = |(id, name)| format!("<region id=\"{id}\"><name>{name}</name></region>\n");
    let regions: String = REGIONS.iter().enumerate().map(region).collect();
    let thread = |id| {
        format!("<location Id=\"{id}\"><name>t</name><rank>0</rank><type>thread</type></location>")
    };
    let process = |rank: u32| {
        let threads = [2 * rank, 2 * rank + 1].map(thread).concat();
        format!("<locationgroup Id=\"{rank}\"><rank>{rank}</rank>{threads}</locationgroup>\n")
    };
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.7"><metrics>
<metric id="0" type="EXCLUSIVE"><uniq_name>visits</uniq_name><dtype>UINT64</dtype><uom>occ</uom></metric>
<metric id="1" type="INCLUSIVE"><uniq_name>time</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom></metric>
</metrics><program>
{regions}<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"><cnode id="2" calleeId="2">
<cnode id="3" calleeId="3"/></cnode></cnode><cnode id="4" calleeId="4"/>
<cnode id="5" calleeId="5"><cnode id="6" calleeId="1"/></cnode></cnode>
</program><system><systemtreenode Id="0">{}</systemtreenode></system></cube>"#,
        [0, 1].map(process).concat()
    )
}

/// Times of the call paths in the order of an inclusive metric: 0, 1, 4, 5, 2, 3, 6 \[s\].
const TIMES: [[f64; 4]; 7] = [
    [10.0, 6.5, 10.0, 6.5],
    [6.0, 5.5, 6.0, 5.5],
    [1.0, 0.0, 0.5, 0.0],
    [1.5, 1.0, 1.5, 1.0],
    [6.0, 5.5, 6.0, 5.5],
    [2.0, 0.5, 2.0, 0.5],
    [1.0; 4],
];

/// The archive: times as they are, the smallest byte first; visits of the call paths 0, 1, 4 and 6 compressed
/// in two blocks, the largest first.
fn cubex(anchor: &str) -> Vec<u8> {
    use std::io::Write as _;
    let times = TIMES.as_flattened().iter().flat_map(|time| time.to_le_bytes());
    let small = |calls: u32| {
        let head = [b"CUBEX.INDEX".as_slice(), &1_u32.to_le_bytes(), &[0, 0, 1]].concat();
        [head, calls.to_le_bytes().to_vec(), (0..calls).flat_map(u32::to_le_bytes).collect()]
            .concat()
    };
    let index = [b"CUBEX.INDEX".as_slice(), &1_u32.to_be_bytes(), &[0, 0, 1]].concat();
    let listed = [4, 0, 1, 4, 6_u32].into_iter().flat_map(u32::to_be_bytes).collect();
    let visits = [[1, 0, 1, 0_u64], [100; 4], [7, 0, 7, 0], [1; 4]];
    let block = |rows: &[[u64; 4]]| {
        let mut writer =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        let bytes: Vec<u8> = rows.as_flattened().iter().flat_map(|it| it.to_be_bytes()).collect();
        writer.write_all(&bytes).and_then(|()| writer.finish()).expect("memory can be written")
    };
    let blocks = [block(&visits[..1]), block(&visits[1..])];
    let [first, second] = [blocks[0].len() as u64, blocks[1].len() as u64];
    let sizes =
        [2, 0, 0, first, 32, first, second].into_iter().flat_map(u64::to_be_bytes).collect();
    tar(&[
        ("anchor.xml", anchor.into()),
        ("0.index", [index, listed].concat()),
        ("0.data", [b"ZCUBEX.DATA".to_vec(), sizes, blocks.concat()].concat()),
        ("1.index", small(7)),
        ("1.data", b"CUBEX.DATA".iter().copied().chain(times).collect()),
    ])
}

#[test]
fn a_profile_of_score_p_says_the_terms_of_ranks_and_threads() {
    let folder = Folder::with("p.cubex", cubex(&anchor()));
    let (rows, said) = imported(&folder, &["p.cubex"]);
    assert!(rows.iter().all(|row| row.run == "p.cubex" && (row.m, row.p) == (2, 2)));
    // Work is 4 and 5 s in 100 calls that take 6 s, and 1 and 1 s in one of 1 s; the rest of 10 s is the
    // host's, but for 1 s, or 0.5 s on the other rank, in MPI.
    let region = [("offloads", 101.0), ("t_apu", 11.0), ("c_apu", 0.5), ("gap", 1.0)];
    check(&rows, Some(0), REGIONS[1], &region);
    let common = [&region[..], &[("time", 10.0), ("collectives", 7.0)]].concat();
    check(&rows, Some(0), "", &[&common[..], &[("t_hpu", 2.0), ("wait", 0.5)]].concat());
    check(&rows, Some(1), "", &[&common[..], &[("t_hpu", 2.5), ("wait", 0.0)]].concat());
    check(&rows, Some(1), "allreduce", &[("collectives", 7.0), ("wait", 0.0)]);
    check(&rows, None, "", &[("t_col", 0.5)]);
    check(&rows, Some(0), "main/step", &[("time", 1.5)]);
    assert!(said.contains("sums over all calls of a region"), "{said}");
}

#[test]
fn streams_of_devices_in_a_profile_of_score_p_are_no_threads() {
    let thread = |id| format!("<location Id=\"{id}\"><name>t</name><rank>0</rank><type>thread<");
    let stream = |id| thread(id).replace("thread", "stream");
    let text = anchor().replace(&thread(1), &stream(1));
    let folder = Folder::with("p.cubex", cubex(&text));
    folder.refuses(
        &["import-profile", "p.cubex"],
        "p.cubex/anchor.xml:1:1: found ranks of different numbers of threads, expected as many of each",
    );
    folder.write("p.cubex", cubex(&text.replace(&thread(3), &stream(3))));
    let (rows, said) = imported(&folder, &["p.cubex"]);
    assert!(rows.iter().all(|row| (row.m, row.p) == (2, 1)));
    assert_eq!(values(&rows)[&(Some(0), String::new(), "t_apu".into())], 5.0);
    assert!(said.contains("what is no thread"), "{said}");
}

#[test]
fn a_damaged_profile_of_score_p_is_refused_with_its_part() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, message: &str| {
        assert!(anchor().contains(from), "{from}");
        folder.write("p.cubex", cubex(&anchor().replacen(from, to, 1)));
        folder.refuses(&["import-profile", "p.cubex"], message);
    };
    refused(
        "<uom>sec</uom>",
        "<uom>usec</uom>",
        "p.cubex/anchor.xml:4:1: found time in \"usec\", expected \"sec\"",
    );
    refused(
        "<cnode id=\"4\" calleeId=\"4\"/>",
        "",
        "p.cubex/1.index:1:1: found an unknown call path, expected a whole file of CUBE 4",
    );
    refused(
        "<rank>1</rank>",
        "<rank>2</rank>",
        "p.cubex/anchor.xml:15:11: found the ranks [0, 2], expected ranks from 0 without a gap, each \
         with a thread",
    );
    refused(
        "</system>",
        "",
        "p.cubex/anchor.xml:17:18: found expected 'system' tag, not 'cube', expected XML",
    );
    let whole = cubex(&anchor());
    folder.write("p.cubex", &whole[..whole.len() - 1400]);
    folder.refuses(
        &["import-profile", "p.cubex"],
        "p.cubex:1:1: found an archive whose file \"1.data\" is cut off, expected a whole one",
    );
    folder.write("p.cubex", cubex(&anchor()));
    folder.refuses(
        &["import-profile", "p.cubex", "--m", "4"],
        "p.cubex/anchor.xml:1:1: found 2 ranks, expected 4, as was said",
    );
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
         emulate, a .cubex of Score-P, JSON of TALP (DLB 3.5), JSON of TALP (DLB 3.4), JSON of Caliper (json-split)",
    );
}
