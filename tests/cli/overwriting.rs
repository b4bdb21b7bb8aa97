//! No command writes over what it reads, nor over what it has written.

use crate::{Folder, shipped};

const RUNS: &str = "m,p,repetition,time_s\n1,1,1,8.5\n1,1,2,8.25\n2,4,1,1.5\n2,4,2,1.75\n";

/// The command is refused for that flag and path, and `file` is as it was.
fn check(folder: &Folder, arguments: &[&str], file: &str, message: &str) {
    let before = folder.path(file).exists().then(|| folder.read(file));
    folder.refuses(arguments, &format!("{message}, expected another file"));
    assert_eq!(folder.path(file).exists().then(|| folder.read(file)), before, "{arguments:?}");
}

#[test]
fn a_fit_writes_over_none_of_its_tables_and_no_file_twice() {
    let folder = Folder::with("f", RUNS);
    let fit = |arguments: &[&str], message: &str| {
        check(&folder, &[&["fit"], arguments].concat(), "f", message);
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
    check(&folder, &prior, "p.toml", "--refined-out: found ./p.toml, which is read for --prior");
    fit(&["--runs", "f", "--report", "f"], "--report: found f, which is read for --runs");
    fit(
        &["--runs", "f", "--out", "new", "--report", "new"],
        "--out: found new, which is written for --report",
    );
}

#[cfg(unix)]
#[test]
fn a_file_is_known_by_every_spelling_of_its_path() {
    let folder = Folder::with("runs.csv", RUNS);
    std::os::unix::fs::symlink("runs.csv", folder.path("link")).expect("a link");
    std::os::unix::fs::symlink("new", folder.path("dangling")).expect("a link");
    let absolute = folder.path("runs.csv");
    for out in ["./runs.csv", "link", absolute.to_str().expect("its name is UTF-8")] {
        let message = format!("--out: found {out}, which is read for --runs");
        check(&folder, &["fit", "--runs", "runs.csv", "--out", out], "runs.csv", &message);
    }
    let twice = ["fit", "--runs", "runs.csv", "--out", "dangling", "--report", "new"];
    check(&folder, &twice, "new", "--out: found dangling, which is written for --report");
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
    folder.write("runs.csv", RUNS);
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
        check(&folder, &arguments, file, &format!("--out: found {file}, which is read for {flag}"));
    }
    let emulate = ["emulate", "--input", "a.phy", "--samples", "s", "--trace", "t"];
    let consensus = [&emulate[..], &["--consensus", "s"]].concat();
    check(&folder, &consensus, "s", "--consensus: found s, which is written for --samples");
    let trace = [&emulate[..], &["--out", "./t"]].concat();
    check(&folder, &trace, "t", "--out: found ./t, which is written for --trace");
    let tree = ["simulate-alignment", "--taxa", "3", "--sites", "4", "--out", "s"];
    let tree = [&tree[..], &["--tree-out", "s"]].concat();
    check(&folder, &tree, "s", "--tree-out: found s, which is written for --out");
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
        check(
            &folder,
            &arguments,
            file,
            &format!("--out: found ./{file}, which is read for {flag}"),
        );
    }
    let page = ["report", ".", "--out", "params.toml"];
    check(&folder, &page, "params.toml", "--out: found params.toml, which is read for DIR");
    folder.succeeds(&["predict", "--params", "params.toml", "--out", "p.csv"]);
}
