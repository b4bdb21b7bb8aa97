//! Where the threads of runs are: what is seen, what is said of it, what binds them, and what
//! disturbs them.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;
use testing::skipped;

use crate::tune::{log, run};
use crate::{Folder, Run};

/// Processors that this computer lets the tests use.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A launcher that says it is of that version, and otherwise runs the program behind its options.
fn launcher(folder: &Folder, name: &str, version: &str) {
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] || {{ echo '{version}'; exit; }}\necho \"$@\"\n"
    );
    folder.write(name, &script);
    set_permissions(folder.path(name), Permissions::from_mode(0o755)).expect("it is ours");
}

/// What would run of two ranks of so many threads.
fn shown(folder: &Folder, flags: &str, p: usize, command: &str) -> String {
    let p = p.to_string();
    let mut words = vec!["measure", "--m", "1", "--p", &p, "--dry-run", "--out", "out"];
    words.extend(flags.split_whitespace().chain(["--"]).chain(command.split(' ')));
    let run: Run = folder.mmgp(&words);
    run.stdout.lines().next().unwrap_or("").to_string()
}

#[test]
fn a_launcher_of_mpi_and_openmp_is_told_to_bind_and_the_user_may_say_otherwise() {
    let folder = Folder::new();
    launcher(&folder, "mpirun", "mpirun (Open MPI) 4.1.4");
    launcher(&folder, "mpiexec", "HYDRA build details:");
    launcher(&folder, "srun", "slurm 22.05.8");
    launcher(&folder, "prterun", "mpirun of nobody");
    let omp = "OMP_NUM_THREADS=1 OMP_PLACES=cores OMP_PROC_BIND=close";
    let check = |flags: &str, command: &str, expected: &str| {
        assert_eq!(shown(&folder, flags, 1, command), expected, "{flags} {command}");
    };
    let kind = "--as mpi+openmp";
    let bound = format!("{omp} ./mpirun --map-by slot:PE=1 --bind-to core -n 1 ./app");
    check(kind, "./mpirun -n {m} ./app", &bound);
    check(kind, "./mpiexec -n {m} ./app", &format!("{omp} ./mpiexec -bind-to core:1 -n 1 ./app"));
    let bound = format!("{omp} ./srun -c 1 --cpu-bind=cores -n 1 ./app");
    check(kind, "./srun -n {m} ./app", &bound);
    // What the user says, and what is not known, stays.
    let own = "OMP_NUM_THREADS=1 ./mpirun --bind-to socket ./app";
    check(kind, "./mpirun --bind-to socket ./app", own);
    let unbound = "--as mpi+openmp --binding none";
    check(unbound, "./mpirun -n {m} ./app", "OMP_NUM_THREADS=1 ./mpirun -n 1 ./app");
    check(kind, "./prterun -n {m} ./app", "OMP_NUM_THREADS=1 ./prterun -n 1 ./app");
    check("", "./mpirun -n {m} ./app", "./mpirun -n 1 ./app");
    // Runs that are bound are no runs of the same log as others.
    let words = [
        "measure",
        "--m",
        "1",
        "--p",
        "1",
        "--repetitions",
        "1",
        "--out",
        "mixed",
        "--as",
        "mpi+openmp",
    ];
    let command = ["--", "./mpirun", "-n", "{m}", "true"];
    folder.succeeds(&[&words[..], &command].concat());
    let other = folder.mmgp(&[&words[..], &["--binding", "none"], &command].concat());
    let told = "--binding was \"auto\", and is none";
    assert!(other.code == Some(2) && other.stderr.contains(told), "{}", other.stderr);
    // Without a core for each there is nothing to bind to.
    let many = shown(&folder, kind, 2 * processors() + 1, "./mpirun -n {m} ./app");
    assert!(many.ends_with("./mpirun --bind-to none -n 1 ./app"), "{many}");
    assert!(!many.contains("OMP_PLACES"), "{many}");
}

/// Threads of a program that is confined to one processor, and of one that is not.
#[test]
fn threads_on_one_processor_are_told_where_others_are_free() {
    if processors() < 2 {
        return skipped("second processor");
    }
    if Command::new("taskset").arg("--version").output().is_err() {
        return skipped("taskset");
    }
    let folder = Folder::new();
    // The looks at a half, one and two seconds may be late where other tests run beside.
    let busy = "(while :; do :; done) & a=$!; (while :; do :; done) & sleep 3; kill $a $!";
    let measured = |out: &str, command: &[&str]| {
        let words = [
            "measure",
            "--m",
            "2",
            "--p",
            "1",
            "--repetitions",
            "1",
            "--quiet",
            "--out",
            out,
            "--env",
            "A=b",
            "--",
        ];
        let run = folder.mmgp(&[&words[..], command].concat());
        let placement = log(&folder, out)[0]["placement"].clone();
        let at_once = placement["at_once"].as_f64().expect("a number");
        assert!((1.5..2.6).contains(&at_once), "{placement}");
        (run.stdout, placement["processes"].clone())
    };
    let (said, seen) = measured("one", &["taskset", "-c", "0", "sh", "-c", busy]);
    assert_eq!(seen[0]["processors"], "0", "{seen}");
    assert!(
        said.contains("(2, 1): 2 threads of 2 processes share processor 0: give each"),
        "{said}"
    );
    let (said, seen) = measured("free", &["sh", "-c", busy]);
    assert_eq!(
        (seen[0]["count"].as_u64(), seen[0]["working"].as_u64()),
        (Some(2), Some(1)),
        "{seen}"
    );
    assert!(!said.contains("share"), "{said}");
    let page = folder.read("one/report.html");
    assert!(page.contains("A=b taskset -c 0 sh"), "{page}");
    assert!(page.contains("(2, 1): 2 processes of 1 thread on 0<"), "{page}");
}

#[test]
fn a_list_that_was_written_is_never_cut() {
    let folder = Folder::new();
    let runs = |flags: &str| {
        let words = ["measure", "--dry-run", "--repetitions", "1", "--out", "out"];
        let words = words.into_iter().chain(flags.split_whitespace());
        let words: Vec<&str> = words.chain(["--", "echo", "{m}", "{p}"]).collect();
        let mut lines: Vec<String> = folder
            .mmgp(&words)
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("echo ").map(String::from))
            .collect();
        lines.sort();
        lines
    };
    let alone = ["1 1", "16 1", "2 1", "32 1", "4 1", "64 1", "8 1"];
    assert_eq!(runs("--m 1,2,4,8,16,32,64"), alone);
    assert_eq!(runs("--p 1,64"), ["1 1", "1 64"]);
    let condition = format!("--m 1,64 --where m*p<=64 --constant cores={}", processors());
    assert_eq!(runs(&condition).iter().filter(|it| it.starts_with("64 ")).count(), 1);
    let known = "--m 1 --p 1 --where physical_cores<=cores&&sockets>=1&&numa>=1";
    assert_eq!(runs(known), ["1 1"]);
}

/// Ranks of MPI, each of several threads of OpenMP, that share some work.
const HYBRID: &str = r#"
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0, all, begin = MPI_Wtime();
    do {
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < 10000000 / ranks; i++) sum += 1.0 / (1 + i * (double)i);
    } while (MPI_Wtime() < begin + 2.5);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d threads: %g\n", omp_get_max_threads(), all);
    return MPI_Finalize();
}
"#;

/// Open MPI binds a rank to one core where there are one or two, however many threads it has.
#[test]
fn the_trap_of_open_mpi_is_told_and_avoided() {
    if processors() < 2 {
        return skipped("second processor");
    }
    let told = Command::new("mpirun").arg("--version").output();
    let is_open = told.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("Open MPI"));
    if !is_open || Command::new("mpicc").arg("--version").output().is_err() {
        return skipped("mpirun of Open MPI with mpicc");
    }
    let folder = Folder::with("hybrid.c", HYBRID);
    let mut compiler = Command::new("mpicc");
    let compiled =
        compiler.args(["-fopenmp", "hybrid.c", "-o", "hybrid"]).current_dir(folder.path(""));
    assert!(compiled.status().is_ok_and(|it| it.success()));
    let run = |out: &str, flags: &[&str]| {
        let words =
            ["measure", "--m", "1", "--p", "2", "--repetitions", "1", "--quiet", "--out", out];
        // It runs as root in a container.
        let root = ["OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"];
        let root = ["--env", root[0], "--env", root[1]];
        let command = ["--", "mpirun", "-n", "{m}", "./hybrid"];
        let run = folder.mmgp(&[&words[..], &root, flags, &command].concat());
        let attempt = log(&folder, out).remove(0);
        assert_eq!(attempt["status"], "ok", "{attempt}");
        let processes = attempt["placement"]["processes"].clone();
        assert_eq!(processes.as_array().map(Vec::len), Some(1), "{attempt}");
        assert_eq!(processes[0]["working"], 2, "{attempt}");
        (run.stdout, processes[0]["processors"].as_str().expect("a list").to_string())
    };
    let (said, list) = run("trap", &["--env", "OMP_NUM_THREADS={p}"]);
    assert!(list.parse::<usize>().is_ok(), "{list}");
    let advice = format!(
        "(1, 2): the 2 threads of a process share processor {list}: add --map-by slot:PE={{p}} --bind-to \
         core to mpirun, or --as mpi+openmp here."
    );
    assert!(said.contains(&advice), "{said}");
    let (said, list) = run("bound", &["--as", "mpi+openmp"]);
    assert!(!said.contains("share") && list.parse::<usize>().is_err(), "{list}: {said}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_disturbed_a_run_is_in_the_log_and_is_told_where_it_is_much() {
    let folder = Folder::new();
    run(&folder, "measure --m 1 --p 1 --repetitions 2 --out out", "sleep 0.05");
    let attempts = log(&folder, "out");
    for attempt in &attempts {
        let (some, all) = (&attempt["involuntary_switches"], &attempt["context_switches"]);
        assert!(some.as_u64().is_some_and(|it| it <= all.as_u64().expect("a count")), "{attempt}");
        assert!(attempt["steal"].as_f64().is_some_and(|it| (0.0..=1.0).contains(&it)), "{attempt}");
    }
    let with = |steal: Option<f64>| {
        let line = |attempt: &Value| {
            let mut attempt = attempt.clone();
            let fields = attempt.as_object_mut().expect("an object");
            fields.remove("involuntary_switches");
            fields.remove("steal");
            fields.insert("wall_s".into(), 2.0.into());
            fields.extend(steal.map(|steal| ("steal".into(), steal.into())));
            format!("{attempt}\n")
        };
        folder.write("out/log.jsonl", attempts.iter().map(line).collect::<String>());
        folder.succeeds(&["show", "out"])
    };
    let told = "Other virtual machines took 50 % of the processors' time during a run of (1, 1)";
    assert!(with(Some(0.5)).contains(told));
    // A log of an earlier version.
    assert!(!with(None).contains("Other virtual machines"));
}

#[test]
fn steps_of_slurm_are_bound_and_scripts_of_a_shell_are_told_what_to_put_in() {
    let folder = Folder::new();
    launcher(&folder, "mpirun", "mpirun (Open MPI) 4.1.4");
    let out = |flags: &str, command: &[&str]| {
        let words = format!("tune --m 1,64 --p 2 --as mpi+openmp {flags} --");
        folder.mmgp(
            &words
                .split(' ')
                .filter(|it| !it.is_empty())
                .chain(command.iter().copied())
                .collect::<Vec<_>>(),
        )
    };
    // Each number of nodes is an array of steps.
    let steps = "--via slurm --per-node 32 --dry-run";
    let bound = "--mem=0 --export=ALL --cpu-bind=cores true";
    assert!(out(steps, &["true"]).stdout.contains(bound));
    let free = out(&format!("{steps} --binding none"), &["true"]).stdout;
    assert!(free.contains("--export=ALL true") && !free.contains("--cpu-bind"), "{free}");
    // Where srun need not be, for nodes that are larger than this computer.
    let script = out("--emit script --out out", &["env", "srun", "-n", "{m}", "true"]).stdout;
    assert!(script.contains("srun -c 2 --cpu-bind=cores -n 64 true"), "{script}");
    // Nothing is put into a script.
    let told = "put --map-by slot:PE={p} --bind-to core behind ./mpirun in it";
    let shell = ["./mpirun -n {m} true > out"];
    let said = |flags: &str, command: &[&str]| {
        out(&format!("--shell --dry-run {flags}"), command)
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(said("", &shell).contains(told), "{}", said("", &shell));
    assert!(!said("--binding none", &shell).contains("binds ranks"));
    assert!(!said("", &["./mpirun --bind-to core -n {m} true"]).contains("binds ranks"));
}
