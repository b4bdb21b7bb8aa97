//! `mmgp schedulers`

use super::Folder;

const COMPARE: [&str; 7] =
    ["schedulers", "--app", "synthetic", "--offloads", "100", "--machine", "ps3"];

/// The file of the rows.
const ROWS: &str = "mmgp-schedulers/schedulers.csv";

fn compare<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&COMPARE[..], flags].concat()
}

#[test]
fn a_comparison_leaves_a_row_for_each_and_says_what_is_fastest() {
    let folder = Folder::new();
    let told = folder.succeeds(&compare(&["--workers", "1,6"]));
    let rows = folder.read(ROWS);
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
    for name in ["edtlp", "linux", "mgps", "sled", "mbox", "mmgp-guided"] {
        let first = places.iter().position(|place| *place == format!("{name},1,1,1"));
        let first = first.unwrap_or_else(|| panic!("{name} is not in {places:?}"));
        assert_eq!(places[first + 1], format!("{name},6,6,1"));
    }
    let of_six = told.lines().find(|line| line.trim_start().starts_with("6  "));
    let of_six = of_six.expect("a line of six workers");
    assert!(of_six.contains("... linux 3.0 times"), "{told}");
}

#[test]
fn a_comparison_may_leave_its_rows_alone_and_its_pictures_later() {
    let folder = Folder::new();
    let flags = ["--schedulers", "edtlp,linux", "--workers", "2", "--out", "x"];
    let told = folder.succeeds(&[&compare(&flags)[..], &["--rows-only"]].concat());
    assert!(told.ends_with("open x/schedulers.csv to look at it.\n"), "{told}");
    let has = |name: &str| folder.path(&format!("x/{name}")).exists();
    assert!(has("schedulers.csv") && !has("report.html") && !has("time.svg") && !has("gantt.svg"));
    let told = folder.succeeds(&compare(&flags));
    assert!(told.ends_with("All rows were there before.\n") && has("report.html"), "{told}");
}

#[test]
fn a_comparison_leaves_pictures_and_a_page_that_says_where_it_comes_from() {
    let folder = Folder::new();
    let flags = ["--schedulers", "edtlp,edtlp:ready,linux", "--workers", "2..6*2", "--seed", "5"];
    let told = folder.succeeds(&compare(&[&flags[..], &["--out", "x"]].concat()));
    assert!(told.ends_with("Everything is in x; open x/report.html to look at it.\n"), "{told}");
    for (name, words) in [
        ("time", ["synthetic on ps3: time", "time [ms]"]),
        ("slowdown", ["edtlp:ready", "time over that of the fastest"]),
        ("idle", ["A task for each worker", "APU idle for each off-load [µs]"]),
        ("gantt", ["time since the start [ms]", "PPE thread 1"]),
    ] {
        let svg = folder.read(&format!("x/{name}.svg"));
        assert!(words.iter().all(|words| svg.contains(words)), "{name}");
    }
    let page = folder.read("x/report.html");
    for words in [
        "The fastest of 3 schedulers, by number of workers: ",
        "<dt>Seed</dt><dd>5</dd>",
        "<dt>Machine</dt><dd>ps3: ",
        "<dd>mmgp schedulers synthetic --offloads 100 --machine ps3 --schedulers \
         edtlp,edtlp:ready,linux --workers 2..6*2 --seed 5</dd>",
        "with the seed 5: nothing here says how far another input",
    ] {
        assert!(page.contains(words), "{words} is not in the page");
    }
    assert_eq!(page.matches("<svg ").count(), 4);
}

#[test]
fn an_interrupted_comparison_goes_on_and_runs_nothing_twice() {
    let folder = Folder::new();
    let flags = compare(&["--workers", "1..3", "--schedulers", "edtlp,ynr"]);
    folder.succeeds(&flags);
    let whole = folder.read(ROWS);
    let page = folder.read("mmgp-schedulers/report.html");
    // Cut off in the fourth row; the second has a time that no run would have.
    let mut lines: Vec<&str> = whole.lines().collect();
    let time = lines[2].split(',').nth(4).expect("a time");
    let other = lines[2].replace(time, "0.5");
    lines[2] = &other;
    folder.write(ROWS, format!("{}\n{}", lines[..4].join("\n"), &lines[4][..12]));
    let told = folder.succeeds(&flags);
    assert!(told.contains(" Of its 6 rows, 3 were there before."), "{told}");
    assert_eq!(folder.read(ROWS), lines.join("\n") + "\n");
    // What was not changed comes out as if nothing had happened.
    let cut = whole.len() * 2 / 3;
    folder.write(ROWS, &whole[..cut]);
    folder.succeeds(&flags);
    assert_eq!(folder.read(ROWS), whole);
    assert_eq!(folder.read("mmgp-schedulers/report.html"), page);
    let told = folder.succeeds(&flags);
    assert!(told.contains(" All rows were there before."), "{told}");
}

#[test]
fn a_folder_grows_with_what_is_asked_of_it() {
    let folder = Folder::new();
    let ask = |schedulers: &str, workers: &str| {
        folder.succeeds(&compare(&["--schedulers", schedulers, "--workers", workers]));
        let places = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(" ");
        folder.read(ROWS).lines().skip(1).map(places).collect::<Vec<_>>()
    };
    assert_eq!(ask("mbox", "2"), ["mbox 2"]);
    assert_eq!(ask("edtlp,mbox,edtlp", "1,2"), ["edtlp 1", "edtlp 2", "mbox 1", "mbox 2"]);
    assert_eq!(ask("mbox", "3"), ["mbox 1", "mbox 2", "mbox 3", "edtlp 1", "edtlp 2"]);
}

#[test]
fn no_picture_of_fewer_rows_stands_beside_more() {
    let folder = Folder::new();
    let ask =
        |more: &[&str]| folder.succeeds(&compare(&[&["--schedulers", "mbox"], more].concat()));
    let names = ["time", "slowdown", "idle", "gantt"];
    let pictures = names.iter().flat_map(|name| [format!("{name}.svg"), format!("{name}.png")]);
    let all: Vec<String> = pictures.chain(["report.html".into()]).collect();
    let path = |file: &String| folder.path(&format!("mmgp-schedulers/{file}"));
    let files = || all.iter().filter(|file| path(file).exists()).count();
    ask(&["--workers", "2"]);
    assert_eq!(files(), 9);
    ask(&["--workers", "2", "--rows-only"]);
    assert_eq!(files(), 9, "they show all rows");
    ask(&["--workers", "3", "--rows-only"]);
    assert_eq!(files(), 0);
}

#[test]
fn rows_of_another_question_are_kept_from_harm() {
    let folder = Folder::new();
    let of_two = ["--workers", "2", "--schedulers", "ynr", "--quiet"];
    folder.succeeds(&compare(&of_two));
    let rows = folder.read(ROWS);
    let refused = |flags: &[&str], difference: &str| {
        let message = format!(
            "--out: found mmgp-schedulers, whose rows are of another question: {difference}, \
             expected another folder, or --force to discard the rows"
        );
        folder.refuses(&[&compare(&of_two)[..], flags].concat(), &message);
        assert_eq!(folder.read(ROWS), rows);
    };
    refused(&["--seed", "2"], "--seed was \"1\", and is \"2\"");
    refused(&["--task-us", "50"], "--task-us was \"96\", and is \"50\"");
    refused(&["--spes-per-task", "2"], "--spes-per-task was \"1\", and is \"2\"");
    folder.write("turns.csv", "turn,ppe_us,task_us\n1,10,90\n");
    let traced = ["--distribution", "trace:turns.csv", "--force"];
    folder.succeeds(&[&compare(&of_two)[..], &traced].concat());
    assert_ne!(folder.read(ROWS), rows);
    // The same name, and another content.
    folder.write("turns.csv", "turn,ppe_us,task_us\n1,10,91\n");
    let run = folder.mmgp(&[&compare(&of_two)[..], &traced[..2]].concat());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("the file of --distribution was"), "{}", run.stderr);
    // Rows without what they are of.
    std::fs::remove_file(folder.path("mmgp-schedulers/schedulers.json")).expect("it was there");
    let run = folder.mmgp(&compare(&of_two));
    assert!(run.stderr.contains("there is no schedulers.json to say which"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&["schedulers", "--quiet"], flags].concat(), message);
    };
    let unknown = folder.mmgp(&["schedulers", "--app", "synthetic", "--schedulers", "edtlp,fair"]);
    let message = "error: there is no scheduler \"fair\"; known: edtlp, llp, ";
    assert!(unknown.stderr.starts_with(message), "{}", unknown.stderr);
    assert_eq!((unknown.code, folder.files()), (Some(2), Vec::new()));
    check(
        &["--app", "synthetic", "--machine", "ps3", "--workers", "2..7"],
        "m = 7, p = 1 needs 7 APUs, but there are 6",
    );
    check(
        &["--app", "pbpi", "--tasks", "4"],
        "the application: found pbpi, which is one job, expected one whose work is independent tasks, or \
         no number of tasks",
    );
}

#[test]
fn the_help_says_what_is_left_in_the_folder_and_how_to_go_on() {
    let help = Folder::new().succeeds(&["schedulers", "--help"]);
    for words in ["schedulers.csv", "schedulers.json", "report.html", "where it was"] {
        assert!(help.contains(words), "{words} is not in {help}");
    }
    assert!(Folder::new().succeeds(&["schedulers", "raxml", "--help"]).contains("--force"));
}

#[test]
fn who_asks_for_an_unknown_variant_is_told_those_there_are() {
    let run = Folder::new().mmgp(&["emulate", "--scheduler", "edtlp:x"]);
    let told = "error: invalid value 'edtlp:x' for '--scheduler <SCHEDULER>'\n  \
                [possible values: edtlp:ready,";
    assert!(run.stderr.starts_with(told), "{}", run.stderr);
    assert_eq!(run.code, Some(2));
}
