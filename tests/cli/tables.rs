//! CSV files that are not what their format asks for, and files that no command writes over.

use crate::{Folder, shipped};

const RUNS: &str = "m,p,repetition,time_s\n";

/// `mmgp fit` with one file refuses it with the message, which follows the file's name.
fn check(flag: &str, content: impl AsRef<[u8]>, message: &str) {
    let name = format!("{}.csv", flag.trim_start_matches('-').replace('-', "_"));
    let folder = Folder::with(&name, content);
    folder.refuses(
        &["fit", flag, &name, "--apus", "16", "--out", "params.toml"],
        &format!("{name}{message}"),
    );
}

/// A row below the header of `runs.csv`.
fn check_run(row: &str, message: &str) {
    check("--runs", format!("{RUNS}{row}\n"), message);
}

#[test]
fn a_number_must_be_one_and_in_its_range() {
    let time = "expected a finite time of 0 s or more";
    check_run("1,1,1,fast", &format!(":2:7: found \"fast\" in column \"time_s\", {time}"));
    check_run("1,1,1,-3", &format!(":2:7: found \"-3\" in column \"time_s\", {time}"));
    check_run("1,1,1,-inf", &format!(":2:7: found \"-inf\" in column \"time_s\", {time}"));
    check_run("1,1,1,1e999", &format!(":2:7: found \"1e999\" in column \"time_s\", {time}"));
    check_run("1,1,1,3\0", &format!(":2:7: found \"3\\0\" in column \"time_s\", {time}"));
    for failed in ["", "NaN", "timeout"] {
        let none_left = "and no run that did not fail, expected at least one time";
        let found = format!(":2:7: found {failed:?} in column \"time_s\", {none_left}");
        check_run(&format!("1,1,1,{failed}"), &found);
    }
    let count = "expected a whole number from 1 to 4294967295";
    check_run("0,1,1,3", &format!(":2:1: found \"0\" in column \"m\", {count}"));
    check_run("1,0,1,3", &format!(":2:3: found \"0\" in column \"p\", {count}"));
    check_run("1,1,0,3", &format!(":2:5: found \"0\" in column \"repetition\", {count}"));
    check_run("1.5,1,1,3", &format!(":2:1: found \"1.5\" in column \"m\", {count}"));
    check_run(
        "99999999999999999999,1,1,3",
        &format!(":2:1: found \"99999999999999999999\" in column \"m\", {count}"),
    );
}

#[test]
fn a_file_needs_its_columns_and_rows_of_their_length() {
    check(
        "--offload",
        "bytes,repetition,time_s\n1,1,2\n",
        ":1:1: found the columns bytes, repetition, time_s, expected a column \"round_trips\"",
    );
    check(
        "--runs",
        "m,p,m,repetition,time_s\n",
        ":1:5: found a second column \"m\", expected only one",
    );
    check_run("1,1,1", ":2:1: found 3 fields, expected 4 as in the header");
    check_run(
        "1,1,1,3,4",
        ":2:1: found 5 fields, expected 4 as in the header; write decimals with a point, or separate \
         columns by ;",
    );
    check("--runs", RUNS, ":2:1: found no rows, expected at least one row below the header");
    check(
        "--runs",
        "",
        ":1:1: found an empty file, expected a header with the columns m, p, repetition, time_s",
    );
}

#[test]
fn an_optional_column_that_is_misspelt_is_refused() {
    check(
        "--offload",
        "bytes,repetition,round_trips,time_s,Mode\n8,1,10,3,stream\n",
        ":1:37: found the column \"Mode\", expected \"mode\" if that is meant, else a name less like \
         it",
    );
}

#[test]
fn two_rows_may_not_share_their_key() {
    check_run(
        "1,1,1,3\n# the same again\n1,1,1,4",
        ":4:1: found a second row for m = 1, p = 1, repetition = 1, expected one row for each",
    );
    check(
        "--offload",
        "bytes,repetition,round_trips,time_s\n8,1,10,3\n8,2,10,3\n8,1,10,3\n",
        ":4:1: found a second row for bytes = 8, repetition = 1, expected one row for each",
    );
    check(
        "--collective",
        "operation,ranks,bytes,repetition,calls,time_s\nallreduce,2,8,1,5,1\nallreduce,2,8,1,5,1\n",
        ":3:1: found a second row for operation = allreduce, ranks = 2, bytes = 8, repetition = 1, \
         expected one row for each",
    );
}

#[test]
fn a_file_is_utf_8() {
    let text = "bytes,repetition,round_trips,time_s\n8,1,10,3\n";
    let utf_16: Vec<u8> =
        std::iter::once(0xfeff_u16).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    check("--offload", utf_16, ":1:1: found the byte 0xff, expected text encoded as UTF-8");
    let latin_1 = b"bytes,repetition,round_trips,time_s,host\n8,1,10,3,M\xfcnchen\n";
    check("--offload", latin_1, ":2:11: found the byte 0xfc, expected text encoded as UTF-8");
}

#[test]
fn the_micro_benchmarks_and_the_profile_are_held_to_the_same_rules() {
    let count = "expected a whole number from 1 to 4294967295";
    check(
        "--alpha",
        "matrix_size,processes,repetition,time_s\n100,0,1,3\n",
        &format!(":2:5: found \"0\" in column \"processes\", {count}"),
    );
    check(
        "--alpha",
        "processes,repetition,time_s\n",
        ":1:1: found the columns processes, repetition, time_s, expected a column \"matrix_size\"",
    );
    check(
        "--offload",
        "bytes,repetition,round_trips,time_s\n8,1,0,3\n",
        ":2:5: found \"0\" in column \"round_trips\", expected a whole number of at least 1",
    );
    check(
        "--context-switch",
        "processes,repetition,switches,time_s\n2,1,1000,-0.5\n",
        ":2:10: found \"-0.5\" in column \"time_s\", expected a finite time of 0 s or more",
    );
    check(
        "--collective",
        "operation,ranks,bytes,repetition,calls,time_s\n,2,8,1,5,1\n",
        ":2:1: found \"\" in column \"operation\", expected a name",
    );
    check(
        "--profile",
        "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,apu_serial_time_s,\
         gap_time_s\nnode,1,-4,0,1,1,1,1\n",
        ":2:8: found \"-4\" in column \"offloads\", expected a whole number of at least 0",
    );
}

#[test]
fn a_plot_is_held_to_the_same_rules() {
    let columns = "m,p,measured_s,predicted_s,error_percent\n";
    let folder = Folder::with("validation.csv", format!("{columns}1,1,1,x,0\n"));
    folder.refuses(
        &["plot", "--validation", "validation.csv", "--out", "a.svg"],
        "validation.csv:2:7: found \"x\" in column \"predicted_s\", expected a finite time of 0 s \
         or more",
    );
    folder.refuses(
        &["plot", "--validation", "validation.csv", "--out", "a.pdf"],
        "there is no picture format \"pdf\"; known: svg, png",
    );
}

#[test]
fn a_plot_says_which_file_it_lacks_and_the_flag_that_gives_it() {
    let folder = Folder::new();
    let check = |kind: &str, file: &str, flag: &str| {
        let expected = format!(
            "plot --kind {kind}: no {file}; give it with {flag}, or the folder of a study with \
             --study DIR"
        );
        folder.refuses(&["plot", "--kind", kind, "--out", "a.svg"], &expected);
    };
    check("parity", "validation.csv", "--validation FILE");
    check("heat-map", "predictions.csv", "--predictions FILE");
    check("breakdown", "parameters", "--params NAME|FILE");
    check("gantt", "trace", "--trace FILE");
}

#[test]
fn a_column_that_says_nothing_of_the_program_is_passed_over_and_said() {
    let mut rows = String::from("time_s,host,repetition,p,m\n");
    for (m, p) in [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1), (4, 4)] {
        let (m, p) = (f64::from(m), f64::from(p));
        rows += &format!("{},a,1,{p},{m}\n", 1.0 + 8.0 / (m * p) + 0.1 * p);
    }
    let folder = Folder::with("runs.csv", rows);
    let run = folder.mmgp(&["fit", "--runs", "runs.csv", "--out", "params.toml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("passed over \"host\""), "{}", run.stderr);
    assert!(folder.read("params.toml").contains("t_apu_s = { value = "));
}

#[test]
fn runs_that_do_not_tell_the_terms_say_what_else_to_time_and_tell_of_times() {
    let folder = Folder::with("runs.csv", format!("{RUNS}1,1,1,3\n1,2,1,2\n"));
    let run = folder.mmgp(&["fit", "--runs", "runs.csv", "--verbose", "--out", "params.toml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let warning = "runs at (m, p) = (1, 1), (1, 2) cannot tell apart t_hpu_s, t_apu_s, \
                   offloads*p*g_s; also time (m, p) = (2, 1), or give --profile FILE";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    let predicted = folder.succeeds(&["predict", "--params", "params.toml"]);
    assert!(predicted.contains("Run (1, 2): it takes about 1.99"), "{predicted}");
    // Whoever needs a term is told that it is not known.
    let required = ["fit", "--runs", "runs.csv", "--require", "t_apu_s"];
    let run = folder.mmgp(&required);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

/// The commonest question there is: a node's cores, divided among ranks and threads.
#[test]
fn runs_that_all_use_the_same_number_of_cores_are_answered() {
    let times = [(1, 64, 30.0), (2, 32, 22.0), (4, 16, 17.0), (16, 4, 16.0), (64, 1, 25.0)];
    let rows = times.map(|(m, p, time)| format!("{m},{p},1,{time}\n")).concat();
    let folder = Folder::with("runs.csv", format!("{RUNS}{rows}"));
    folder.succeeds(&["fit", "--runs", "runs.csv", "--out", "params.toml"]);
    let table = folder.succeeds(&["predict", "--params", "params.toml"]);
    assert!(table.contains("Run (16, 4): it takes about 1"), "{table}");
    // All that use 64 cores, and nothing that uses fewer: (8, 8) and (32, 2) beside those that ran.
    let rows = table.lines().skip_while(|line| !line.starts_with("rank")).count();
    assert_eq!(rows, 1 + times.len() + 2, "{table}");
}

const TIMES: &str = "m,p,repetition,time_s\n1,1,1,8.5\n1,1,2,8.25\n2,4,1,1.5\n2,4,2,1.75\n";

/// The command is refused for that flag and path, and `file` is as it was.
fn check_kept(folder: &Folder, arguments: &[&str], file: &str, message: &str) {
    let before = folder.path(file).exists().then(|| folder.read(file));
    folder.refuses(arguments, &format!("{message}, expected another file"));
    assert_eq!(folder.path(file).exists().then(|| folder.read(file)), before, "{arguments:?}");
}

#[test]
fn a_fit_writes_over_none_of_its_tables_and_no_file_twice() {
    let folder = Folder::with("f", TIMES);
    let fit = |arguments: &[&str], message: &str| {
        check_kept(&folder, &[&["fit"], arguments].concat(), "f", message);
    };
    for table in [
        "--runs",
        "--alpha",
        "--offload",
        "--context-switch",
        "--collective",
        "--profile",
        "--memory",
    ] {
        let message = format!("--out: found f, which is read for {table}");
        fit(&[table, "f", "--out", "f"], &message);
    }
    folder.write("p.toml", shipped("models/published/pbpi-qs20.toml"));
    let prior = ["fit", "--runs", "f", "--prior", "p.toml", "--refined-out", "./p.toml"];
    check_kept(
        &folder,
        &prior,
        "p.toml",
        "--refined-out: found ./p.toml, which is read for --prior",
    );
    fit(&["--runs", "f", "--report", "f"], "--report: found f, which is read for --runs");
    fit(
        &["--runs", "f", "--out", "new", "--report", "new"],
        "--out: found new, which is written for --report",
    );
}

#[cfg(unix)]
#[test]
fn a_file_is_known_by_every_spelling_of_its_path() {
    let folder = Folder::with("runs.csv", TIMES);
    std::os::unix::fs::symlink("runs.csv", folder.path("link")).expect("a link");
    std::os::unix::fs::symlink("new", folder.path("dangling")).expect("a link");
    let absolute = folder.path("runs.csv");
    for out in ["./runs.csv", "link", absolute.to_str().expect("its name is UTF-8")] {
        let message = format!("--out: found {out}, which is read for --runs");
        check_kept(&folder, &["fit", "--runs", "runs.csv", "--out", out], "runs.csv", &message);
    }
    let twice = ["fit", "--runs", "runs.csv", "--out", "dangling", "--report", "new"];
    check_kept(&folder, &twice, "new", "--out: found dangling, which is written for --report");
}

#[cfg(unix)]
#[test]
fn a_device_takes_everything_that_is_written() {
    let folder = Folder::new();
    let twice = |device| {
        let simulate = ["simulate-alignment", "--taxa", "3", "--sites", "4"];
        folder.succeeds(&[&simulate[..], &["--out", device, "--tree-out", device]].concat())
    };
    assert_eq!(twice("/dev/null"), "");
    let both = twice("/dev/stdout");
    assert_eq!(both.lines().count(), 5, "four lines of alignment and a tree: {both}");
}

#[test]
fn no_command_writes_over_its_input() {
    let folder = Folder::with("p.toml", shipped("models/published/pbpi-qs20.toml"));
    folder.write("qs.toml", shipped("models/machines/qs20.toml"));
    folder.write("a.phy", shipped("data/sim12.phy"));
    folder.write("runs.csv", TIMES);
    folder.write("v.svg", "");
    folder.write("k.s", "nop\n");
    folder.write("a.nwk", "(a:1,b:1,c:1);\n");
    for (command, file, flag) in [
        ("predict --params p.toml --out p.toml", "p.toml", "--params"),
        ("predict --params p.toml --machine qs.toml --out qs.toml", "qs.toml", "--machine"),
        ("export --params p.toml --to json --out p.toml", "p.toml", "--params"),
        ("export --runs runs.csv --to extra-p --out runs.csv", "runs.csv", "--runs"),
        ("plot --validation v.svg --out v.svg", "v.svg", "--validation"),
        ("report p.toml --out p.toml", "p.toml", "FILE"),
        ("simulate-alignment --tree a.nwk --sites 4 --out a.nwk", "a.nwk", "--tree"),
        ("spu-timing k.s --out k.s", "k.s", "FILE.s"),
        ("profile --input a.phy --out a.phy", "a.phy", "--input"),
        ("profile --machine qs.toml --out qs.toml", "qs.toml", "--machine"),
        ("emulate --input a.phy --out a.phy", "a.phy", "--input"),
        ("emulate --input sim12 --tree a.nwk --out a.nwk", "a.nwk", "--tree"),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        check_kept(
            &folder,
            &arguments,
            file,
            &format!("--out: found {file}, which is read for {flag}"),
        );
    }
    let emulate = ["emulate", "--input", "a.phy", "--samples", "s", "--trace", "t"];
    let consensus = [&emulate[..], &["--consensus", "s"]].concat();
    check_kept(&folder, &consensus, "s", "--consensus: found s, which is written for --samples");
    let trace = [&emulate[..], &["--out", "./t"]].concat();
    check_kept(&folder, &trace, "t", "--out: found ./t, which is written for --trace");
    let tree = ["simulate-alignment", "--taxa", "3", "--sites", "4", "--out", "s"];
    let tree = [&tree[..], &["--tree-out", "s"]].concat();
    check_kept(&folder, &tree, "s", "--tree-out: found s, which is written for --out");
}

#[test]
fn a_folder_may_hold_what_a_command_reads_but_not_where_it_writes() {
    let folder = Folder::with("params.toml", shipped("models/published/pbpi-qs20.toml"));
    folder.write("best_tree.nwk", "(a:1,b:1,c:1);\n");
    // Whatever a file is called, it has parameters.
    folder.write("summary.json", shipped("models/published/pbpi-qs20.toml"));
    folder.write("refined.toml", shipped("models/machines/qs20.toml"));
    for (command, file, flag) in [
        ("emulate --app raxml --start best_tree.nwk --out .", "best_tree.nwk", "--start"),
        ("validate --params summary.json --out .", "summary.json", "--params"),
        ("study --machine refined.toml --out .", "refined.toml", "--machine"),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        check_kept(
            &folder,
            &arguments,
            file,
            &format!("--out: found ./{file}, which is read for {flag}"),
        );
    }
    let page = ["report", ".", "--out", "params.toml"];
    check_kept(&folder, &page, "params.toml", "--out: found params.toml, which is read for DIR");
    folder.succeeds(&["predict", "--params", "params.toml", "--out", "p.csv"]);
}

#[test]
fn a_picture_says_m_and_p_in_the_users_words() {
    let folder = Folder::new();
    folder.write("runs.csv", "m,p,time_s\n1,1,9\n1,2,5\n2,1,6\n2,2,4\n4,1,5\n4,2,3.5\n");
    folder.succeeds(&["fit", "--runs", "runs.csv", "--out", "params.toml"]);
    let plot = ["plot", "--params", "params.toml", "--names", "ranks,threads", "--out", "p.svg"];
    for kind in ["combined", "heat-map", "residuals"] {
        folder.succeeds(&[&plot[..], &["--kind", kind]].concat());
        let picture = folder.read("p.svg");
        assert!(picture.contains("ranks") && picture.contains("threads"), "{kind}");
        assert!(!picture.contains("host thread") && !picture.contains("APU"), "{kind}");
    }
    let refused = folder.mmgp(&[&plot[..], &["--kind", "pareto"]].concat());
    assert!(refused.code == Some(2) && refused.stderr.contains("--names"), "{}", refused.stderr);
}
