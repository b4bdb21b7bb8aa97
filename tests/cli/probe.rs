//! `mmgp probe`, and what `mmgp fit` makes of what it saw. Programs sleep in place of work, so that they have known
//! parts however busy this computer is.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use testing::skipped;

use crate::{Folder, Run};

/// Steps of host code and regions of known parts, by their threads.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <omp.h>
static void rest(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}
__attribute__((noinline)) void shared_work(void) {
#pragma omp parallel
    {
        rest(120 / omp_get_num_threads());
        if (omp_get_thread_num() == 0 && omp_get_num_threads() > 1) rest(20);
#pragma omp barrier
    }
}
__attribute__((noinline)) void dynamic_loop(void) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < 4; i++) rest(10);
}
__attribute__((noinline)) void tasks(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i)
        rest(10);
    }
}
__attribute__((noinline)) void nested(void) {
#pragma omp parallel num_threads(1)
    {
#pragma omp parallel num_threads(2)
        rest(20);
    }
}
int main(int count, char **words) {
    for (int i = 0; i < 3; i++) {
        rest(30);
        shared_work();
        dynamic_loop();
        tasks();
        nested();
        // A child that shares its parent's memory, and ends at once.
        if (vfork() == 0) _exit(1);
        wait(NULL);
    }
    return count > 1 ? atoi(words[1]) : 0;
}
"#;

/// A folder with a program, as a compiler makes it; `None` where that is not here.
fn compiled(compiler: &str, source: &str) -> Option<Folder> {
    let folder = Folder::with("program.c", source);
    let mut command = Command::new(compiler);
    command.args(["-O1", "-fopenmp", "program.c", "-o", "program"]).current_dir(folder.path(""));
    match command.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Some(folder),
        _ => {
            skipped(compiler);
            None
        }
    }
}

fn probe(folder: &Folder, threads: u32, words: &[&str]) -> Run {
    let mut command = folder.command(&[&["probe", "--"], words].concat());
    command.env("OMP_NUM_THREADS", threads.to_string()).env("XDG_CACHE_HOME", folder.path("cache"));
    // Threads that wait take no processor from those that sleep.
    command.env("OMP_WAIT_POLICY", "passive");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Run::of(&mut command)
}

/// Sums over the ranks of the terms of a run, by phase and term.
fn terms(folder: &Folder, run: &str) -> BTreeMap<(String, String), f64> {
    let mut terms = BTreeMap::new();
    for line in folder.read("probe/terms.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let is_of_run = cells[0] == run && !["g", "o_col"].contains(&cells[5]);
        if is_of_run {
            let key = (cells[4].to_string(), cells[5].to_string());
            *terms.entry(key).or_insert(0.0) += cells[6].parse::<f64>().expect("a number");
        }
    }
    terms
}

/// Sleeps are never shorter than they are asked for, and somewhat longer; where others wait for one, what that one was
/// late by is no wait.
#[track_caller]
fn check(terms: &BTreeMap<(String, String), f64>, phase: &str, term: &str, expected: f64) {
    let found = terms.get(&(phase.into(), term.into())).copied().unwrap_or(0.0);
    let room = 0.5 * expected + 0.03;
    assert!(
        (0.8 * expected - 0.01..expected + room).contains(&found),
        "{phase} {term}: {found} for {expected}"
    );
}

fn parts_come_out(compiler: &str) {
    let Some(folder) = compiled(compiler, PROGRAM) else { return };
    for (threads, run) in [(1, "1"), (2, "2")] {
        let ran = probe(&folder, threads, &["./program"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let terms = terms(&folder, run);
        let several = f64::from(threads - 1);
        check(&terms, "", "t_hpu", 0.09);
        check(&terms, "shared_work", "t_apu", 0.36 + 0.06 * several);
        check(&terms, "shared_work", "c_apu", 0.03 * several);
        check(&terms, "dynamic_loop", "t_apu", 0.12);
        check(&terms, "dynamic_loop", "c_apu", 0.0);
        check(&terms, "tasks", "t_apu", 0.12);
        check(&terms, "tasks", "c_apu", 0.0);
        // It has one thread where there are two.
        check(&terms, "nested", "t_apu", 0.06);
        check(&terms, "nested", "c_apu", 0.03 * several);
        for name in ["shared_work", "dynamic_loop", "tasks", "nested"] {
            assert_eq!(terms[&(name.into(), "offloads".into())], 3.0, "{name}");
        }
    }
    assert_eq!(folder.files().iter().filter(|it| it.contains("ranks")).count(), 0);
    assert!(
        folder.read("probe/profile.csv").lines().nth(1).expect("a row").starts_with("all,1,12,0,")
    );
}

#[test]
fn known_parts_of_a_program_of_gcc_come_out_of_the_probe() {
    parts_come_out("gcc");
}

#[test]
fn known_parts_of_a_program_of_clang_come_out_of_the_probe() {
    parts_come_out("clang");
}

#[test]
fn what_fails_or_cannot_be_seen_into_is_said_and_adds_nothing() {
    let Some(folder) = compiled("gcc", PROGRAM) else { return };
    let ran = probe(&folder, 1, &["./program", "7"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("./program: ended with exit code 7"), "{}", ran.stderr);
    let ran = probe(&folder, 1, &["true"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("true: entered no region of OpenMP and called no MPI"),
        "{}",
        ran.stderr
    );
    let ran = probe(&folder, 1, &["sh", "-c", "kill -SEGV $$"]);
    assert!(ran.stderr.contains("was ended by signal 11"), "{}", ran.stderr);
    let left: Vec<String> = folder.files();
    assert!(!folder.path("probe").exists(), "{left:?}");
    // What a program says and how it ends stays what it is.
    let ran = probe(&folder, 1, &["sh", "-c", "echo said; ./program"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "said\n"));
}

#[test]
fn one_traced_configuration_is_not_enough_and_none_of_one_thread_is_too_little() {
    let header = "run,m,p,rank,phase,term,value,std_error,unit\n";
    let run = |run: u32, m: u32, p: u32, host: f64, work: f64| {
        let mut rows = String::new();
        for rank in 0..m {
            let time = host + work / f64::from(p);
            for (phase, term, value) in [
                ("", "time", time),
                ("", "t_hpu", host),
                ("f", "t_apu", work),
                ("f", "offloads", 10.0),
            ] {
                let unit = if term == "offloads" { "1" } else { "s" };
                rows += &format!("{run},{m},{p},{rank},{phase},{term},{value},,{unit}\n");
            }
        }
        rows
    };
    // T = 1 + 0.6/m + 8/(m p), of which each rank has 8/m to do.
    let (one, inside) = (run(1, 1, 1, 1.6, 8.0), run(2, 4, 4, 1.15, 2.0));
    let folder = Folder::with("inside.csv", format!("{header}{inside}"));
    let advice = "trace one into the same folder: OMP_NUM_THREADS=1 mmgp probe --out DIR -- mpirun -n 1 ./app";
    let refused = format!("inside.csv: no traced run of one rank and one thread; {advice}");
    folder.refuses(&["fit", "--terms", "inside.csv"], &refused);
    folder.write("one.csv", format!("{header}{one}"));
    let ran = folder.mmgp(&["fit", "--terms", "one.csv", "--apus", "16", "--out", "one.toml"]);
    assert!(
        ran.code == Some(0) && ran.stderr.contains("one configuration was traced"),
        "{}",
        ran.stderr
    );
    assert!(!folder.read("one.toml").contains("[traced]"));
    folder.write("side.csv", format!("{header}{one}{}", run(2, 1, 4, 1.6, 8.0)));
    let ran = folder.mmgp(&["fit", "--terms", "side.csv", "--apus", "16", "--out", "side.toml"]);
    assert!(ran.stderr.contains("no traced run has several ranks"), "{}", ran.stderr);
    let side = folder.json(&[
        "predict",
        "--params",
        "side.toml",
        "--m",
        "4",
        "--p",
        "1",
        "--format",
        "json",
    ]);
    let ends =
        ["low_s", "high_s"].map(|name| side["configurations"][0][name].as_f64().expect("an end"));
    assert!(ends[1] > 2.0 * ends[0], "{side}");
    folder.write("both.csv", format!("{header}{one}{inside}"));
    let ran = folder.mmgp(&["fit", "--terms", "both.csv", "--apus", "16", "--out", "both.toml"]);
    assert!(ran.stderr.contains("Region f takes 30 % at (4, 4)"), "{}", ran.stderr);
    // Whole times beside the traced ones say more of the same parts.
    folder.write("runs.csv", "m,p,time_s\n1,4,3.6\n4,1,3.15\n2,2,3.3\n");
    let words = ["fit", "--terms", "both.csv", "--runs", "runs.csv", "--apus", "16"];
    let ran = folder.mmgp(&[&words[..], &["--out", "more.toml"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    near_the_truth(&folder, "both.toml");
    near_the_truth(&folder, "more.toml");
}

/// That all times that parameters predict are near 1 + 0.6/m + 8/(m p), and it within their intervals.
#[track_caller]
fn near_the_truth(folder: &Folder, parameters: &str) {
    let predicted = folder.json(&["predict", "--params", parameters, "--format", "json"]);
    for row in predicted["configurations"].as_array().expect("rows") {
        let of = |name: &str| row[name].as_f64().expect("a number");
        let truth = 1.0 + 0.6 / of("m") + 8.0 / (of("m") * of("p"));
        assert!((of("time_s") / truth - 1.0).abs() < 0.03, "{row}");
        assert!((of("low_s")..of("high_s")).contains(&truth), "{row}");
    }
}

#[test]
fn a_study_of_this_computer_has_a_help_of_its_own_and_wants_a_run_of_one() {
    let folder = Folder::new();
    let help = folder.succeeds(&["study", "--machine", "host", "--help"]);
    assert!(help.contains("mmgp study --machine host --probe --m 1,2,4"), "{help}");
    let ran = folder.mmgp(&["study", "--machine=host", "--m", "2,4", "--p", "1", "--sample"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("(1, 1) and another among the configurations"), "{}", ran.stderr);
    // What `--` ends is the program's.
    let ran = folder.mmgp(&["study", "--", "--machine", "host"]);
    assert!(ran.code == Some(2) && !ran.stderr.contains("(1, 1)"), "{}", ran.stderr);
}

#[test]
fn the_sample_tells_a_probe_where_its_time_goes() {
    let folder = Folder::new();
    let command = env!("CARGO_BIN_EXE_mmgp");
    let ran = probe(&folder, 1, &[command, "run-sample", "2", "2"]);
    if ran.stderr.contains("is not here") {
        return skipped("a C compiler");
    }
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("checksum: "), "{}", ran.stdout);
    let terms = terms(&folder, "1");
    assert_eq!(terms[&("sweep".into(), "offloads".into())], 300.0);
    let time = terms[&(String::new(), "time".into())];
    let told = terms[&(String::new(), "t_hpu".into())] + terms[&("exchange".into(), "p2p".into())];
    assert!(told < time && terms[&("sweep".into(), "t_apu".into())] > 0.0, "{terms:?}");
    let (cpu, there) = ("cpu".to_string(), "processors".to_string());
    assert!(terms[&(String::new(), cpu)] > 0.0 && terms[&(String::new(), there)] >= 1.0);
}

#[test]
fn a_search_that_probes_traces_its_first_runs_and_says_by_them_what_limits() {
    let Some(folder) = compiled("gcc", PROGRAM) else { return };
    let words =
        ["tune", "--probe", "--m", "1", "--p", "1,2,4", "--as", "mpi+openmp", "--binding", "none"];
    let mut command = folder.command(&[&words[..], &["--out", "tune", "--", "./program"]].concat());
    command.env("XDG_CACHE_HOME", folder.path("cache")).env("OMP_WAIT_POLICY", "passive");
    let ran = Run::of(&mut command);
    assert!(matches!(ran.code, Some(0 | 1)), "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("hat was traced"), "{} {}", ran.stdout, ran.stderr);
    let terms = folder.read("tune/terms.csv");
    assert!(terms.contains("\n1,1,1,0,,t_hpu,") && terms.contains("\n2,1,2,0,,t_hpu,"), "{terms}");
    assert!(folder.read("tune/params.toml").contains("\n[traced.sizes]\nhost_repeated_s = "));
    let log = folder.read("tune/log.jsonl");
    let traced = log.lines().filter(|line| line.contains("LD_PRELOAD")).count();
    assert_eq!(
        (traced, folder.files().iter().any(|file| file.contains("traces"))),
        (2, false),
        "{log}"
    );
    // Whoever asks again is told the same.
    let again = folder.succeeds(&["show", "tune"]);
    assert_eq!(again.lines().next(), ran.stdout.lines().next());
}

/// Ranks of MPI, one of them with more to do, that share some of their host code.
const OF_RANKS: &str = r#"
#include <mpi.h>
#include <time.h>
static void rest(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}
int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 5; i++) {
        rest(20 + 40 / ranks);
#pragma omp parallel
        rest(10);
        double one[64] = {0}, other[64];
        MPI_Sendrecv(one, 64, MPI_DOUBLE, (rank + 1) % ranks, 0, other, 64, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) rest(20);
        MPI_Allreduce(one, other, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"#;

fn ranks_come_out(compiler: &str, launcher: &str) {
    let Some(folder) = compiled(compiler, OF_RANKS) else { return };
    let words = [launcher, "-n", "2", "./program"];
    let ran = probe(&folder, 1, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // Drivers of devices that an MPI looks for start some.
    assert!(!ran.stderr.contains("that are not OpenMP's"), "{}", ran.stderr);
    let terms = terms(&folder, "1");
    // Of both ranks; the second waits for the first.
    check(&terms, "", "t_hpu", 0.4 + 0.1);
    check(&terms, "f", "t_apu", 0.0);
    check(&terms, "main", "t_apu", 0.1);
    check(&terms, "Allreduce", "wait", 0.1);
    assert_eq!(terms[&("Allreduce".into(), "collectives".into())], 10.0);
    assert_eq!(terms[&("Allreduce".into(), "bytes".into())], 5120.0);
    assert_eq!(terms[&("Sendrecv".into(), "messages".into())], 10.0);
    let all = folder.read("probe/terms.csv");
    assert!(
        all.contains("1,1,1,,Allreduce,o_col,") && all.contains("1,2,1,,Allreduce,o_col,"),
        "{all}"
    );
}

#[test]
fn ranks_of_open_mpi_and_their_waits_come_out_of_the_probe() {
    ranks_come_out("mpicc.openmpi", "mpirun.openmpi");
}

#[test]
fn ranks_of_mpich_and_their_waits_come_out_of_the_probe() {
    ranks_come_out("mpicc.mpich", "mpirun.mpich");
}

/// As much of CUPTI's interface as the probe asks for.
const CUPTI: &str = r#"
#include <stddef.h>
#include <stdint.h>
#define CUPTIAPI
typedef enum { CUPTI_SUCCESS = 0, CUPTI_ERROR_MAX_LIMIT_REACHED = 12 } CUptiResult;
typedef enum { CUPTI_ACTIVITY_KIND_MEMCPY = 1, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10 } CUpti_ActivityKind;
enum { CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2 };
typedef void *CUcontext;
typedef struct { CUpti_ActivityKind kind; } CUpti_Activity;
typedef struct { CUpti_ActivityKind kind; uint64_t start, end; const char *name; } CUpti_ActivityKernel4;
typedef struct { CUpti_ActivityKind kind; uint8_t copyKind; uint64_t start, end; } CUpti_ActivityMemcpy;
typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **, size_t *, size_t *);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext, uint32_t, uint8_t *, size_t, size_t);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind);
CUptiResult cuptiActivityGetNextRecord(uint8_t *, size_t, CUpti_Activity **);
CUptiResult cuptiActivityFlushAll(uint32_t);
"#;

/// A CUPTI of a device that ran two kernels, one beside the other, and copied once.
const STUB: &str = r#"
#include "cupti.h"
static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc filled;
typedef union { CUpti_ActivityKernel4 kernel; CUpti_ActivityMemcpy copy; } record;
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc a, CUpti_BuffersCallbackCompleteFunc b) {
    wanted = a;
    filled = b;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) { (void) kind; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityGetNextRecord(uint8_t *at, size_t size, CUpti_Activity **it) {
    uint8_t *next = *it ? (uint8_t *) *it + sizeof(record) : at;
    if (next >= at + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *it = (CUpti_Activity *) next;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    uint8_t *buffer;
    size_t size, most;
    (void) flag;
    wanted(&buffer, &size, &most);
    record *all = (record *) buffer;
    all[0].kernel = (CUpti_ActivityKernel4) {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1000000, 3000000, "_Z4workPf"};
    all[1].kernel = (CUpti_ActivityKernel4) {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 2000000, 5000000, "_Z4workPf"};
    all[2].copy = (CUpti_ActivityMemcpy) {CUPTI_ACTIVITY_KIND_MEMCPY, 1, 6000000, 7000000};
    filled(NULL, 0, buffer, size, 3 * sizeof(record));
    return CUPTI_SUCCESS;
}
"#;

/// A program that begins as libcuda does where it is asked to load a library.
const WITH_A_DEVICE: &str = r#"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
int main(void) {
    // The process that uses the device is another's child, and ends at once.
    if (fork() == 0) {
        void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_LAZY);
        int (*begin)(void) = (int (*)(void)) dlsym(library, "InitializeInjection");
        begin();
#pragma omp parallel num_threads(2)
        usleep(30000);
        _Exit(0);
    }
    wait(NULL);
    return 0;
}
"#;

#[test]
fn kernels_and_copies_of_a_device_come_out_of_the_probe_and_a_device_without_cupti_is_said() {
    let Some(folder) = compiled("gcc", WITH_A_DEVICE) else { return };
    let traced = |cuda: &str| {
        let mut command = folder.command(&["probe", "--", "./program"]);
        command.env("XDG_CACHE_HOME", folder.path("cache")).env("CUDA_HOME", folder.path(cuda));
        Run::of(&mut command)
    };
    if std::path::Path::new("/usr/local/cuda").exists() {
        return skipped("computer without CUDA");
    }
    let ran = traced("none");
    assert!(ran.stderr.contains("there was no CUPTI"), "{}", ran.stderr);
    for place in ["cuda/extras/CUPTI/include", "cuda/extras/CUPTI/lib64"] {
        std::fs::create_dir_all(folder.path(place)).expect("a folder");
    }
    folder.write("cuda/extras/CUPTI/include/cupti.h", CUPTI);
    folder.write("cuda/extras/CUPTI/include/stub.c", STUB);
    let mut stub = Command::new("gcc");
    stub.args(["-shared", "-fPIC", "include/stub.c", "-o", "lib64/libcupti.so"]);
    assert!(stub.current_dir(folder.path("cuda/extras/CUPTI")).status().expect("gcc").success());
    let ran = traced("cuda");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let terms = terms(&folder, "2");
    let of = |phase: &str, term: &str| terms[&(phase.to_string(), term.to_string())];
    // Its threads are the host's.
    assert!(folder.read("probe/terms.csv").contains("\n2,1,1,0,,time,"));
    assert!(!terms.keys().any(|(phase, _)| phase == "main"), "{terms:?}");
    assert_eq!((of("work", "offloads"), of("copy to the device", "offloads")), (2.0, 1.0));
    approx::assert_relative_eq!(of("work", "t_apu"), 0.005, max_relative = 1e-9);
    // Of kernels beside one another the device is busy once.
    approx::assert_relative_eq!(of("", "t_apu"), 0.005, max_relative = 1e-9);
    approx::assert_relative_eq!(of("", "t_hpu"), of("", "time") - 0.005, max_relative = 1e-9);
}
