//! The sample programs to tune.

#[cfg(target_os = "linux")]
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Stdio;
use std::process::{Command, Output};

use testing::skipped;

use crate::Folder;
#[cfg(target_os = "linux")]
use crate::signals::{Signal, send};

/// A folder with the hybrid program compiled, unless there is no C compiler.
fn compiled() -> Option<Folder> {
    let folder = Folder::new();
    folder.succeeds(&["example", "hybrid", "--out", "."]);
    let flags = "-std=c11 -O2 -pthread -Wall -Wextra -Wpedantic -Werror hybrid.c -o hybrid";
    let mut compiler = Command::new("cc");
    let Ok(output) = compiler.args(flags.split(' ')).current_dir(folder.path("")).output() else {
        skipped("cc");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(folder)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it prints UTF-8")
}

fn hybrid(folder: &Folder, arguments: &str) -> Output {
    let mut command = Command::new(folder.path("hybrid"));
    command.args(arguments.split_whitespace()).output().expect("it starts")
}

/// What stands behind `name` in the output of a run that must succeed.
fn printed(folder: &Folder, arguments: &str, name: &str) -> String {
    let output = hybrid(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    let printed = text(&output.stdout);
    let found = printed.lines().find_map(|line| line.strip_prefix(name));
    found.unwrap_or_else(|| panic!("{arguments}: no {name} in {printed}")).to_string()
}

fn checksum(folder: &Folder, arguments: &str) -> String {
    printed(folder, arguments, "Checksum: ")
}

/// The same heat by one loop over the whole plate: the hash of its points.
fn checksum_of_a_plain_loop(size: usize, sweeps: usize) -> String {
    let mut plate = vec![vec![300.0_f64; size + 2]; size + 2];
    plate[0][1..=size].fill(400.0);
    for _ in 0..sweeps {
        for row in &mut plate[1..=size] {
            let heron = |root: f64, _| 0.5 * (root + row[1] * 273.0 / root);
            row[0] = (0..12).fold(273.0, heron);
        }
        let old = plate.clone();
        for (row, column) in (1..=size).flat_map(|row| (1..=size).map(move |column| (row, column)))
        {
            let vertical = old[row - 1][column] + old[row + 1][column];
            let horizontal = old[row][column - 1] + old[row][column + 1];
            plate[row][column] = 0.25 * (vertical + horizontal);
        }
    }
    let points = plate[1..=size].iter().flat_map(|row| &row[1..=size]);
    let mix = |hash: u64, point: &f64| (hash ^ point.to_bits()).wrapping_mul(1_099_511_628_211);
    format!("{:016x}", points.fold(14_695_981_039_346_656_037, mix))
}

#[test]
fn the_hybrid_program_computes_the_same_however_it_is_divided() {
    let Some(folder) = compiled() else { return };
    for (size, sweeps) in [(1, 1), (7, 5), (50, 30)] {
        let expected = checksum_of_a_plain_loop(size, sweeps);
        for (m, p) in [(1, 1), (1, 4), (2, 2), (3, 5), (7, 9), (50, 1)] {
            if m > size {
                continue;
            }
            let arguments =
                format!("--processes {m} --threads {p} --size {size} --sweeps {sweeps}");
            assert_eq!(checksum(&folder, &arguments), expected, "{arguments}");
        }
    }
}

#[test]
fn what_tunes_the_hybrid_program_knows_its_checksum_and_finds_its_time() {
    let Some(folder) = compiled() else { return };
    let script = folder.read("tune.sh");
    let checksum = checksum(&folder, "--processes 2 --threads 1");
    assert!(script.contains(&format!("--check 'Checksum: {checksum}'")), "{checksum}\n{script}");
    assert!(script.contains("--time-from 'Total time: +([0-9.]+) s'"), "{script}");
    let time = printed(&folder, "--processes 1 --threads 2", "Total time: ");
    let seconds = time.strip_suffix(" s").and_then(|time| time.parse::<f64>().ok());
    assert!(seconds.is_some_and(|seconds| seconds > 0.0), "{time}");
}

#[test]
fn the_hybrid_program_says_what_it_does_not_take() {
    let Some(folder) = compiled() else { return };
    for (arguments, message) in [
        ("", "--processes and --threads are needed: found nothing"),
        ("--processes 1", "--processes and --threads are needed: found nothing"),
        ("--processes 0 --threads 1", "--processes: found 0"),
        ("--processes 1 --threads 1x", "--threads: found 1x"),
        ("--processes 1 --threads", "--threads: found nothing"),
        ("--processes 1 --threads 1 --size 99999", "--size: found 99999"),
        ("--processes 3 --threads 1 --size 2", "--processes: found more than rows"),
        ("--ranks 3", "unknown argument: found --ranks"),
    ] {
        let output = hybrid(&folder, arguments);
        let first = text(&output.stderr).lines().next().map(String::from);
        assert_eq!(first, Some(format!("hybrid: {message}")), "{arguments}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments}");
    }
}

#[test]
fn a_thread_that_the_system_refuses_is_told() {
    let Some(folder) = compiled() else { return };
    // 64 stacks of 8 MiB do not fit.
    let limited = "ulimit -s 8192 && ulimit -v 200000 && exec ./hybrid --processes 3 --threads 64";
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", limited]).current_dir(folder.path("")).output();
    let output = output.expect("there is a shell");
    let message = text(&output.stderr);
    if message.contains("ulimit") {
        return skipped("ulimit");
    }
    assert!(message.starts_with("hybrid: no thread "), "{message}");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), String::new()), "{message}");
}

/// What `found` gives, asked again until it does or a minute is over.
#[cfg(target_os = "linux")]
fn soon<T>(mut found: impl FnMut() -> Option<T>) -> Option<T> {
    (0..600).find_map(|_| {
        let found = found();
        if found.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        found
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_dies_ends_all_others() {
    let Some(folder) = compiled() else { return };
    let mut command = Command::new(folder.path("hybrid"));
    command.args("--processes 3 --threads 2 --sweeps 1000000".split(' '));
    let mut hybrid = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let children = format!("/proc/{0}/task/{0}/children", hybrid.id());
    let started = soon(|| {
        let children = std::fs::read_to_string(&children).ok()?;
        let children: Vec<String> = children.split_whitespace().map(String::from).collect();
        (children.len() == 3).then_some(children)
    });
    let Some(started) = started else {
        hybrid.kill().expect("it runs");
        hybrid.wait().expect("it was started");
        return skipped("/proc/PID/task/PID/children");
    };
    let kill = |process: &str| send(Signal::SIGKILL, process.parse().expect("a number"));
    kill(&started[1]);
    let ended = soon(|| hybrid.try_wait().expect("it is a child"));
    let left = started.iter().filter(|child| Path::new("/proc").join(child).exists());
    let left: Vec<&String> = left.collect();
    for process in &left {
        kill(process);
    }
    assert_eq!(ended.and_then(|status| status.code()), Some(3));
    assert_eq!(left, Vec::<&String>::new(), "still there");
    let output = hybrid.wait_with_output().expect("it has ended");
    assert_eq!(text(&output.stderr), "hybrid: a process was ended by signal 9\n");
}

/// What a script of a sample prints.
fn script(folder: &Folder, words: &[&str]) -> String {
    let mut shell = Command::new("sh");
    shell.args(words).current_dir(folder.path("")).env("MMGP", env!("CARGO_BIN_EXE_mmgp"));
    let output = shell.output().expect("there is a shell");
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn tables_to_estimate_from_lead_to_the_fastest_and_are_those_that_their_script_measures() {
    let folder = Folder::new();
    folder.succeeds(&["example", "estimate"]);
    let chosen = script(&folder, &["estimate/estimate.sh"]);
    // 0.3 % slower than the fastest, as `mmgp validate` finds by running all of them.
    assert!(chosen.contains("Run (2, 8): it takes about 66.60 ms"), "{chosen}");
    assert!(folder.read("estimate/README.md").contains("the choice: (2, 8), about 67 ms"));
    let explained = script(&folder, &["estimate/estimate.sh", "--explain"]);
    assert!(explained.contains("T_APU"), "{explained}");
    script(&folder, &["estimate/measure.sh", "again"]);
    for name in ["alpha", "offload", "context_switch", "collective", "profile"] {
        let [shipped, again] =
            ["estimate", "estimate/again"].map(|it| folder.read(&format!("{it}/{name}.csv")));
        assert_eq!(shipped, again, "data/examples/estimate/{name}.csv: run measure.sh there");
    }
}

#[test]
fn samples_are_listed_and_written_where_nothing_is_replaced() {
    let folder = Folder::new();
    let list = folder.succeeds(&["example"]);
    assert!(list.starts_with("hybrid    a program to tune"), "{list}");
    let told = folder.succeeds(&["example", "hybrid"]);
    assert!(told.contains("\n  sh hybrid/tune.sh  "), "{told}");
    assert_eq!(folder.read("hybrid/tune.sh"), crate::shipped("data/examples/hybrid/tune.sh"));
    assert!(folder.read("hybrid/README.md").starts_with("# A hybrid program"));
    folder.write("hybrid/tune.sh", "mine");
    folder.refuses(
        &["example", "hybrid"],
        "cannot write hybrid/hybrid.c: it exists; --out names a folder",
    );
    std::fs::remove_file(folder.path("hybrid/hybrid.c")).expect("it is there");
    folder.refuses(
        &["example", "hybrid"],
        "cannot write hybrid/tune.sh: it exists; --out names a folder",
    );
    assert_eq!(folder.read("hybrid/tune.sh"), "mine");
    assert!(!folder.path("hybrid/hybrid.c").exists());
    folder.refuses(
        &["example", "hibrid"],
        "there is no sample \"hibrid\"; did you mean \"hybrid\"? known: hybrid, estimate",
    );
}
