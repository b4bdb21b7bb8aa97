//! Tables as people might have them, of random names, units, signs and forms: each is read rightly, or
//! refused with something to say that then reads it rightly.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mmgp_base::error::Error;
use mmgp_base::table::Source;
use mmgp_intake::{Claims, runs, values};
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const TABLES: u64 = 200;

/// Other than those that the dictionary lists side by side: as headers of public tables have them.
const M: [&str; 16] = [
    "m",
    "np",
    "nprocs",
    "ranks",
    "MPI ranks",
    "mpi_ranks",
    "NTASKS",
    "tasks",
    "Processes",
    "num_procs",
    "n_ranks",
    "#ranks",
    "MPI processes",
    "world_size",
    "nranks",
    "Prozesse",
];

const P: [&str; 14] = [
    "p",
    "threads",
    "OMP_NUM_THREADS",
    "omp_threads",
    "nthreads",
    "Threads per rank",
    "threads/rank",
    "cpus-per-task",
    "OpenMP threads",
    "num_threads",
    "n_threads",
    "threads_per_process",
    "Thread count",
    "numThreads",
];

/// Names of a time, with what is written of one second.
const TIMES: [(&str, f64); 24] = [
    ("time_s", 1.0),
    ("time", 1.0),
    ("time (s)", 1.0),
    ("Time [sec]", 1.0),
    ("elapsed", 1.0),
    ("wall_clock_seconds", 1.0),
    ("runtime", 1.0),
    ("Elapsed Time", 1.0),
    ("walltime", 1.0),
    ("TIME_MS", 1e3),
    ("elapsed_msec", 1e3),
    ("wall_ms", 1e3),
    ("runtime [ms]", 1e3),
    ("time in milliseconds", 1e3),
    ("time_ms_mean", 1e3),
    ("time_usec", 1e6),
    ("duration_us", 1e6),
    ("elapsed (\u{b5}s)", 1e6),
    ("time_ns", 1e9),
    ("real_time_ns", 1e9),
    ("runtime (minutes)", 1.0 / 60.0),
    ("wall [min]", 1.0 / 60.0),
    ("hours elapsed [h]", 1.0 / 3600.0),
    ("ms_per_iter", 1e3),
];

/// Names of a time in what may be anything, and the unit to say.
const UNKNOWN: [(&str, &str, f64); 4] = [
    ("time_foo", "s", 1.0),
    ("wall_kcycles", "ms", 1e3),
    ("total", "s", 1.0),
    ("T (arb)", "s", 1.0),
];

const FACTORS: [(&str, [&str; 2]); 6] = [
    ("N", ["1000", "10000"]),
    ("dataset", ["small", "large"]),
    ("mode", ["hybrid", "pure"]),
    ("kernel", ["dot", "gemm"]),
    ("Problem size", ["64", "128"]),
    ("compiler", ["gcc 12", "icx"]),
];

/// Names of a column that says whether a run was good, and how it says yes and no.
const ENDS: [(&str, &str, &str); 14] = [
    ("exit_code", "0", "137"),
    ("rc", "0", "1"),
    ("Exitval", "0", "9"),
    ("exit", "0", "139"),
    ("Success", "True", "False"),
    ("success", "1", "0"),
    ("State", "COMPLETED", "OUT_OF_MEMORY"),
    ("status", "ok", "failed"),
    ("converged", "yes", "no"),
    ("failed", "False", "True"),
    ("error", "", "segfault"),
    ("result", "PASS", "FAIL"),
    ("valid", "true", "false"),
    ("timed_out", "0", "1"),
];

const NO_TIMES: [&str; 8] = ["nan", "-", "", "FAILED", "timeout", "N/A", "OOM", "> 600"];

/// A run as it is written and as it is.
struct Run {
    m: u32,
    p: u32,
    time_s: f64,
    factor: Option<usize>,
    is_good: bool,
}

/// A table, what it says, and how.
struct Trial {
    source: Source,
    runs: Vec<Run>,
    factor: Option<(&'static str, [&'static str; 2])>,
}

/// The times of each (m, p), in increasing order.
type Times = BTreeMap<(u32, u32), Vec<f64>>;

fn number(value: f64, comma: bool, random: &mut Xoshiro256PlusPlus) -> String {
    let text = match value {
        it if it >= 1e5 => format!("{it:.1}"),
        it if random.random_bool(0.1) => format!("{it:.9e}"),
        it => format!("{it:.9}"),
    };
    if comma { text.replace('.', ",") } else { text }
}

fn duration(time_s: f64, form: u32) -> String {
    let (minutes, rest) = ((time_s / 60.0).floor(), time_s % 60.0);
    match form {
        0 => format!("{minutes:.0}m{rest:.6}s"),
        1 => format!("{:02.0}:{:02.0}:{rest:09.6}", (minutes / 60.0).floor(), minutes % 60.0),
        _ => format!("{time_s:.6} s"),
    }
}

/// A table of that seed.
fn trial(seed: u64) -> Trial {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let form = random.random_range(0..8_u32);
    let separator = [",", ";", "\t", "|", ";"].get(form as usize).copied().unwrap_or(" | ");
    let comma = form != 0 && form < 5 && random.random_bool(0.3);
    let factor = random.random_bool(0.3).then(|| *FACTORS.choose(&mut random).expect("some"));
    let ends = random.random_bool(0.35).then(|| *ENDS.choose(&mut random).expect("some"));
    let has_no_times = ends.is_none() && random.random_bool(0.25);
    let repetitions = random.random_range(1..4_u32);
    let mut runs = Vec::new();
    for m in [1, 2, 4, 8] {
        for p in [1, 2, 4] {
            for which in 0..if factor.is_some() { 2 } else { 1 } {
                for _ in 0..repetitions {
                    let noise = 1.0 + 0.01 * random.random::<f64>();
                    let work = if which == 0 { 100.0 } else { 1000.0 };
                    let time_s = (3.0 + 0.2 * f64::from(m) + work / f64::from(m * p)) * noise;
                    let is_good =
                        (ends.is_none() && !has_no_times) || m * p == 1 || random.random_bool(0.9);
                    let factor = factor.map(|_| which);
                    runs.push(Run { m, p, time_s, factor, is_good });
                }
            }
        }
    }
    if random.random_bool(0.5) {
        runs.shuffle(&mut random);
    }
    let is_unknown = random.random_bool(0.08);
    let is_duration = !is_unknown && random.random_bool(0.12);
    let (time_name, unit) = if is_unknown {
        let (name, _, unit) = UNKNOWN.choose(&mut random).expect("some");
        (*name, *unit)
    } else if is_duration {
        (["time", "Elapsed", "wall time"][random.random_range(0..3_usize)], 1.0)
    } else {
        *TIMES.choose(&mut random).expect("some")
    };
    let shape = random.random_range(0..3_u32);
    let m_name = *M.choose(&mut random).expect("some");
    let p_name = *P.choose(&mut random).expect("some");
    let is_split = random.random_bool(0.08);
    let is_all_cores = !is_split && random.random_bool(0.1);
    let as_float = random.random_bool(0.1);
    let has_hosts = random.random_bool(0.3);
    let count =
        |count: u32| if as_float && !comma { format!("{count}.0") } else { count.to_string() };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for run in &runs {
        let mut row = Vec::new();
        if is_split {
            row.push(format!("{}x{}", run.m, run.p));
        } else if is_all_cores {
            row.extend([count(run.m), count(run.m * run.p)]);
        } else {
            row.extend([count(run.m), count(run.p)]);
        }
        let time = match is_duration {
            true => duration(run.time_s, shape),
            false => number(run.time_s * unit, comma, &mut random),
        };
        row.push(match run.is_good || !has_no_times {
            true => time,
            false => (*NO_TIMES.choose(&mut random).expect("some")).to_string(),
        });
        row.extend(factor.map(|(_, values)| values[run.factor.unwrap_or(0)].to_string()));
        row.extend(ends.map(|(_, yes, no)| if run.is_good { yes } else { no }.to_string()));
        if has_hosts {
            row.push(format!("node{}", random.random_range(1..9_u32)));
        }
        rows.push(row);
    }
    let mut names: Vec<&str> = match (is_split, is_all_cores) {
        (true, _) => vec!["config"],
        (_, true) => vec![m_name, "total_cores"],
        _ => vec![m_name, p_name],
    };
    names.push(time_name);
    names.extend(factor.map(|(name, _)| name));
    names.extend(ends.map(|(name, ..)| name));
    names.extend(has_hosts.then_some("hostname"));
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.shuffle(&mut random);
    let arranged = |row: &[&str]| order.iter().map(|&at| row[at].to_string()).collect();
    let names: Vec<String> = arranged(&names);
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| arranged(&row.iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    let text = match form {
        5 => markdown(&names, &rows),
        6 => records(&names, &rows),
        7 if names
            .iter()
            .all(|name| name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')) =>
        {
            keyed(&names, &rows)
        }
        _ => separated(separator, &names, &rows, &mut random),
    };
    let source = encoded(seed, &text, &mut random);
    Trial { source, runs, factor }
}

fn separated(
    separator: &str,
    names: &[String],
    rows: &[Vec<String>],
    random: &mut Xoshiro256PlusPlus,
) -> String {
    let newline = if random.random_bool(0.2) { "\r\n" } else { "\n" };
    let quoted = random.random_bool(0.2);
    let field = |text: &String| match quoted || text.contains(separator.trim()) && separator != "\t"
    {
        true => format!("\"{text}\""),
        false => text.clone(),
    };
    let line = |row: &[String]| row.iter().map(field).collect::<Vec<_>>().join(separator);
    let mut text = if random.random_bool(0.2) { format!("# runs{newline}") } else { String::new() };
    for row in std::iter::once(names).chain(rows.iter().map(Vec::as_slice)) {
        text += &(line(row) + newline);
    }
    text
}

fn markdown(names: &[String], rows: &[Vec<String>]) -> String {
    let rule = vec!["---".to_string(); names.len()];
    let all = std::iter::once(names).chain([rule.as_slice()]).chain(rows.iter().map(Vec::as_slice));
    let escaped = |row: &[String]| row.join(" | ");
    all.map(|row| format!("| {} |\n", escaped(row))).collect()
}

fn records(names: &[String], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in rows {
        let fields: Vec<String> = names
            .iter()
            .zip(row)
            .map(|(name, field)| match field.parse::<f64>() {
                Ok(it) if it.is_finite() => format!("{name:?}: {field}"),
                _ => format!("{name:?}: {field:?}"),
            })
            .collect();
        writeln!(text, "{{{}}}", fields.join(", ")).expect("to memory");
    }
    text
}

fn keyed(names: &[String], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in rows {
        let fields: Vec<String> =
            names.iter().zip(row).map(|(name, field)| format!("{name}={field}")).collect();
        text += &(fields.join(";") + "\n");
    }
    text
}

/// The text as a file of another encoding is read.
fn encoded(seed: u64, text: &str, random: &mut Xoshiro256PlusPlus) -> Source {
    let bytes: Vec<u8> = match random.random_range(0..6_u32) {
        0 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        1 if text.chars().all(|it| u32::from(it) < 256) => {
            text.chars().map(|it| u32::from(it) as u8).collect()
        }
        2 => format!("\u{feff}{text}").into_bytes(),
        _ => text.as_bytes().to_vec(),
    };
    let path = std::env::temp_dir().join(format!("mmgp-random-{}-{seed}.csv", std::process::id()));
    #[allow(clippy::disallowed_methods)] // It is read as a user's file is.
    std::fs::write(&path, bytes).expect("there is room");
    let source = Source::read_any(&path).expect("it is text");
    #[allow(clippy::disallowed_methods)]
    std::fs::remove_file(&path).expect("it is there");
    source
}

/// What the table says, of one value of its factor where one was chosen.
fn expected(trial: &Trial, value: Option<usize>) -> Times {
    let mut times = Times::new();
    for run in trial.runs.iter().filter(|run| run.is_good) {
        if value.is_none() || run.factor == value {
            times.entry((run.m, run.p)).or_default().push(run.time_s);
        }
    }
    sorted(times)
}

fn sorted(mut times: Times) -> Times {
    times.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

fn is_right(found: &Times, expected: &Times) -> bool {
    found.keys().eq(expected.keys())
        && found.values().zip(expected.values()).all(|(found, expected)| {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 2e-6 * b;
            found.len() == expected.len() && found.iter().zip(expected).all(close)
        })
}

/// How a table was read.
#[derive(Debug, PartialEq)]
enum End {
    /// Read by itself, or after so many things were said.
    Right(u32),
    Wrong(String),
    /// Refused, with nothing to say.
    Refused(String),
}

/// Reads a table, and says what the error offers first.
fn end(trial: &Trial) -> End {
    let mut claims = Claims::default();
    let mut value = None;
    for said in 0..4 {
        let error = match runs(&trial.source, &claims) {
            Ok((runs, _)) => {
                let mut found = Times::new();
                for run in &runs {
                    found.entry((run.m, run.p)).or_default().push(run.time_s);
                }
                let (found, expected) = (sorted(found), expected(trial, value));
                return match is_right(&found, &expected) {
                    true => End::Right(said),
                    false => End::Wrong(format!("{found:?}, expected {expected:?}, {claims:?}")),
                };
            }
            Err(error) => error,
        };
        let Error::Ambiguous { answers, .. } = &error else {
            return End::Refused(error.to_string());
        };
        let Some(answer) = answers.iter().find(|it| is_true(trial, it.key, &it.value)) else {
            return End::Refused(error.to_string());
        };
        match answer.key {
            "columns" => match answer.value.parse() {
                Ok(columns) => claims.columns = columns,
                Err(error) => return End::Refused(format!("{}: {error}", answer.value)),
            },
            "by" => {
                let all = values(&trial.source, &answer.value, &claims).expect("it was there");
                let (_, names) = trial.factor.expect("only a factor varies");
                value = names.iter().position(|name| *name == all[0]);
                claims.only = Some((answer.value.clone(), all[0].clone()));
            }
            key => panic!("{key}"),
        }
    }
    End::Refused("four times".into())
}

/// Whether an answer says what is true of the table: of several units, the user knows which.
fn is_true(trial: &Trial, key: &str, value: &str) -> bool {
    let unknown = UNKNOWN.iter().find(|(name, ..)| value.contains(&format!("time={name} [")));
    match (key, unknown) {
        ("by", _) => trial.factor.is_some_and(|(name, _)| name == value),
        ("columns", Some((name, unit, _))) => value.ends_with(&format!("time={name} [{unit}]")),
        ("columns", None) => !value.contains("p=total_cores,") && !value.contains('['),
        _ => false,
    }
}

#[test]
fn a_random_table_is_read_rightly_or_refused_with_what_then_reads_it() {
    let mut ends = BTreeMap::<String, Vec<u64>>::new();
    let mut texts = Vec::new();
    for seed in 1..=TABLES {
        let trial = trial(seed);
        let end = end(&trial);
        let kind = match &end {
            End::Right(said) => format!("right after {said}"),
            End::Wrong(_) => "wrong".into(),
            End::Refused(_) => "refused".into(),
        };
        if let End::Wrong(why) | End::Refused(why) = &end {
            let first: Vec<&str> = trial.source.text.lines().take(4).collect();
            let why: String = why.chars().take(400).collect();
            texts.push(format!("seed {seed}: {kind}: {why}\n{}", first.join("\n")));
        }
        ends.entry(kind).or_default().push(seed);
    }
    let counts: Vec<String> =
        ends.iter().map(|(kind, seeds)| format!("{kind}: {}", seeds.len())).collect();
    println!("{}", counts.join(", "));
    assert!(texts.is_empty(), "{}\n{}", counts.join(", "), texts.join("\n\n"));
    assert!(ends["right after 0"].len() as u64 > TABLES / 2, "{counts:?}");
}
