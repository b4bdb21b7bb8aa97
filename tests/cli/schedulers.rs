//! `mmgp schedulers`

use super::Folder;

const COMPARE: [&str; 7] =
    ["schedulers", "--app", "synthetic", "--offloads", "100", "--machine", "ps3"];

#[test]
fn a_comparison_leaves_a_row_for_each_and_says_what_is_fastest() {
    let folder = Folder::new();
    let told = folder.succeeds(&[&COMPARE[..], &["--workers", "1,6"]].concat());
    let rows = folder.read("mmgp-schedulers/schedulers.csv");
    let mut lines = rows.lines();
    assert_eq!(
        lines.next(),
        Some(
            "scheduler,workers,tasks,spes_per_task,time_s,apu_busy_percent,apu_idle_per_offload_us,\
             context_switches,offloads,seed"
        )
    );
    let places: Vec<String> =
        lines.map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    let expected = ["edtlp", "linux", "ynr", "sled", "work-stealing", "mbox", "callback"]
        .iter()
        .flat_map(|name| [format!("{name},1,1,1"), format!("{name},6,6,1")]);
    assert_eq!(places, expected.collect::<Vec<_>>());
    let of_six = told.lines().find(|line| line.trim_start().starts_with("6  "));
    assert!(of_six.expect("a line of six workers").ends_with("  edtlp"), "{told}");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&["schedulers", "--quiet"], flags].concat(), message);
    };
    let synthetic = ["--app", "synthetic", "--schedulers"];
    check(
        &[&synthetic[..], &["edtlp,fair"]].concat(),
        "there is no scheduler \"fair\"; known: edtlp, linux, ynr, sled, work-stealing, mbox, callback",
    );
    check(
        &[&synthetic[..], &["edtlp,sled:fifo"]].concat(),
        "there is no variant of a scheduler \"sled:fifo\"; known: sled:user, sled:kernel, sled:user-N, \
         sled:kernel-N",
    );
    check(
        &["--app", "synthetic", "--machine", "ps3", "--workers", "2..7"],
        "m = 7, p = 1 needs 7 APUs, but there are 6",
    );
    check(&[], "the application: found pbpi, expected one whose work is independent tasks");
}
