//! `mmgp run --machine host` and `mmgp bench --machine host`

use super::Folder;

const RUN: [&str; 5] = ["run", "--app", "list-ranking", "--nodes", "5000"];
const ON_HOST: [&str; 4] = ["--machine", "host", "--format", "json"];

fn json(flags: &[&[&str]]) -> serde_json::Value {
    Folder::new().json(&flags.concat())
}

#[test]
fn this_computer_finds_the_prefixes_of_the_emulated_one() {
    for flags in [
        ["--order", "random", "--operation", "last", "--values", "sparse"],
        ["--order", "ordered", "--operation", "sum", "--values", "random"],
    ] {
        let threads = ["--p", "2", "--sublists", "16", "--buffers", "4", "--repetitions", "3"];
        let host = json(&[&RUN, &flags, &ON_HOST, &threads]);
        let emulated = json(&[&RUN, &flags, &["--p", "2", "--format", "json"]]);
        assert_eq!((&host["machine"], &host["wrong"]), (&"host".into(), &0.into()));
        assert_eq!(host["checksum"], emulated["checksum"]);
        assert_eq!((&host["nodes"], &host["repetitions"]), (&5000.into(), &3.into()));
        let time = |name: &str| host[name].as_f64().expect("a time");
        assert!(0.0 < time("time_least_s") && time("time_least_s") <= time("time_s"));
        assert!(time("time_s") <= time("time_most_s") && time("sequential_s") > 0.0);
        assert_eq!(host["steps_s"].as_array().map(Vec::len), Some(4));
        let load = host["load"].as_array().expect("a load for each thread");
        let nodes: u64 = load.iter().map(|load| load.as_u64().expect("a count")).sum();
        assert_eq!((load.len(), nodes), (2, 5000));
    }
}

#[test]
fn what_runs_on_this_computer_prints_a_table_and_a_file_of_values() {
    let folder = Folder::new();
    let run = [&RUN[..], &["--machine", "host"]].concat();
    let table = folder.succeeds(&run);
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(lines.any(|words| words == ["wrong", "0"]), "{table}");
    folder.succeeds(&[&run[..], &["--format", "csv", "--out", "x.csv"]].concat());
    let csv = folder.read("x.csv");
    let names = csv.lines().next().expect("a header");
    assert!(names.starts_with("app,machine,m,p,seed,nodes,order,"), "{names}");
    assert_eq!(csv.lines().count(), 2);
}

#[test]
fn what_this_computer_cannot_do_is_named_by_its_flag() {
    let check = |flags: &[&[&str]], message: &str| Folder::new().refuses(&flags.concat(), message);
    check(
        &[&["run", "--app", "sgemm"], &ON_HOST],
        "--machine: found host for sgemm, expected an emulated machine, or one of the \
         programs that can: list-ranking",
    );
    check(
        &[&RUN, &ON_HOST, &["--m", "2"]],
        "--m: found 2, expected 1: the threads of one process rank the list, and --p is how many",
    );
    check(&[&RUN, &ON_HOST, &["--p", "1025"]], "--p: found 1025, expected 1 to 1024");
    check(&[&RUN, &ON_HOST, &["--buffers", "65"]], "--buffers: found 65, expected 1 to 64");
    check(
        &[&RUN, &ON_HOST, &["--check-hazards"]],
        "--check-hazards: found --machine host, expected an emulated machine, which has such a thing",
    );
    check(
        &[&RUN, &["--repetitions", "3"]],
        "--repetitions: found --machine qs20, expected --machine host; on an emulated machine every \
         run takes the same time",
    );
}

#[cfg(target_os = "linux")]
mod bench {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    use crate::{Folder, Run};

    const BENCH: [&str; 7] = ["bench", "--machine", "host", "--budget", "1s", "--out", "measured"];

    /// Measures as a user may who has so many processors of those that there are.
    fn measured(folder: &Folder, processors: usize) -> Run {
        let all = sched_getaffinity(Pid::from_raw(0)).expect("it is known");
        let mut some = CpuSet::new();
        let allowed = (0..CpuSet::count()).filter(|&it| all.is_set(it).unwrap_or(false));
        for processor in allowed.take(processors) {
            some.set(processor).expect("it is one");
        }
        // Of a thread of its own, which hands it down.
        std::thread::scope(|scope| {
            let run = || {
                sched_setaffinity(Pid::from_raw(0), &some).expect("these are ours");
                folder.mmgp(&BENCH)
            };
            scope.spawn(run).join().expect("it runs")
        })
    }

    /// The values of a column, in the order of the rows.
    fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
        let text = folder.read(file);
        let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|it| it.split(','));
        let place = lines.next().and_then(|mut it| it.position(|it| it == name)).expect("a column");
        lines.map(|mut it| it.nth(place).expect("a field").to_string()).collect()
    }

    #[test]
    fn this_computer_is_measured_as_files_that_a_fit_reads() {
        let folder = Folder::new();
        let run = measured(&folder, 2);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
        let said = run.stderr.lines().last().expect("what it was measured on");
        for word in [": processors ", "frequency", "load", "a reading of the clock takes"] {
            assert!(said.contains(word), "{said}");
            assert!(folder.read("measured/alpha.csv").contains(word));
        }
        folder.write(
            "profile.csv",
            "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,\
             apu_serial_time_s,gap_time_s\nmain,1,100,100,1,10,0.1,0.01\n",
        );
        let m = column(&folder, "measured/alpha.csv", "processes");
        let processors = if m.contains(&"4".into()) { 2 } else { 1 };
        let mut fit =
            ["fit", "--profile", "profile.csv", "--apus", "2", "--out", "p.toml"].to_vec();
        fit.extend(["--alpha", "measured/alpha.csv", "--collective", "measured/collective.csv"]);
        fit.extend(["--context-switch", "measured/context_switch.csv"]);
        if processors == 2 {
            fit.extend(["--offload", "measured/offload.csv"]);
        }
        folder.succeeds(&fit);
        let twice = (2 * processors).to_string();
        assert!(
            m.contains(&twice)
                && column(&folder, "measured/collective.csv", "ranks").contains(&twice)
        );
        let modes = column(&folder, "measured/context_switch.csv", "mode");
        assert!(modes.contains(&"futex".into()), "{modes:?}");
        assert!(!column(&folder, "measured/memory.csv", "accelerators").contains(&twice));
    }

    #[test]
    fn a_single_processor_has_no_worker_and_no_file_of_one() {
        let folder = Folder::new();
        let run = measured(&folder, 1);
        let why = "warning: offload.csv: a worker needs a processor beside that of its host, and there is one";
        assert!(run.code == Some(0) && run.stderr.contains(why), "{}", run.stderr);
        assert!(run.stderr.contains(": processors 1, cores 1; "), "{}", run.stderr);
        assert!(!folder.path("measured/offload.csv").exists());
        assert!(folder.path("measured/alpha.csv").exists());
    }

    #[test]
    fn an_emulated_machine_needs_no_time_to_settle() {
        Folder::new().refuses(
            &["bench", "--budget", "1s", "--out", "measured"],
            "--budget: found --machine qs20, expected --machine host; an emulated machine is measured \
             --repetitions times",
        );
    }
}
