//! Commands that run programs: how these are run, and what is kept.

use serde_json::Value;

use crate::{Folder, Run};

/// Runs a command on a script of a shell.
pub fn run(folder: &Folder, arguments: &str, script: &str) -> Run {
    folder.mmgp(&words(arguments, script))
}

/// The words of such a command.
pub fn words<'a>(arguments: &'a str, script: &'a str) -> Vec<&'a str> {
    arguments.split_whitespace().chain(["--quiet", "--", "sh", "-c", script]).collect()
}

/// All attempts of a log.
pub fn log(folder: &Folder, out: &str) -> Vec<Value> {
    let text = folder.read(&format!("{out}/log.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// A field of all of them.
pub fn of<'a>(log: &'a [Value], field: &str) -> Vec<&'a Value> {
    log.iter().map(|attempt| &attempt[field]).collect()
}

const ONE: &str = "measure --m 1 --p 1 --repetitions 1 --out out";
const FOUR: &str = "--m 1,2 --p 1,2 --out out";

#[test]
fn a_search_answers_in_the_users_words_and_leaves_its_files() {
    let folder = Folder::new();
    let search = format!("tune {FOUR} --names ranks,threads --runs 4 --time-from t=(.*)");
    let script = "echo t=$((20 - 4 * MMGP_RANKS - {threads}))";
    let found = run(&folder, &search, script);
    assert!(found.stdout.starts_with("2 ranks of 2 threads: "), "{}", found.stdout);
    assert!(found.stdout.ends_with("Everything is in out.\n"), "{}", found.stdout);
    let summary = folder.read_json("out/summary.json");
    assert_eq!(summary["best"], serde_json::json!([2, 2]));
    assert!(found.stdout.starts_with(summary["sentence"].as_str().expect("a sentence")));
    for file in ["hyperfine.json", "t4.json", "tune.json"] {
        let _ = folder.read_json(&format!("out/{file}"));
    }
    assert!(folder.read("out/runs.csv").lines().any(|line| line == "2,2,1,10"));
}

/// 72 configurations: scheme and block change what p gains.
#[test]
fn further_factors_are_chosen_with_m_and_p_in_one_search() {
    let folder = Folder::new();
    let search = "tune --m 1,2,4 --p 1,2,4,8 --param scheme=static,dynamic --param block=64..256*2 --time-from \
                  t=(.*) --until-regret 5% --out out";
    let script = "case {scheme} in static) s=100;; dynamic) s=$((110 - 5 * MMGP_P));; esac; \
                  case {block} in 64) b=100;; 128) b=90;; 256) b=130;; esac; \
                  echo t=$((s * b * (1200 / (MMGP_M * MMGP_P) + 40 * MMGP_M + 10 * MMGP_P) / 10000))";
    let found = run(&folder, search, script);
    assert!(
        found.stdout.starts_with("(2, 8) with block=128, scheme=dynamic: "),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("At best with other values: "), "{}", found.stdout);
    let log = log(&folder, "out");
    assert!((6..=36).contains(&log.len()), "{}", log.len());
    // The first values run first.
    assert!(
        of(&log, "params")[..4].iter().all(|it| it["scheme"] == "static" && it["block"] == "64")
    );
    let summary = folder.read_json("out/summary.json");
    assert_eq!(summary["best"], serde_json::json!([2, 8]));
    assert_eq!(summary["params"], serde_json::json!({"block": "128", "scheme": "dynamic"}));
    let levels = summary["levels"].as_array().expect("levels");
    let tried: u64 = levels.iter().map(|it| it["tried"].as_u64().expect("a count")).sum();
    assert_eq!((levels.len(), tried), (6, summary["tried"].as_u64().expect("a count")));
    let page = folder.read("out/report.html");
    assert!(
        page.contains("With block=128, scheme=dynamic.")
            && page.contains("block=256, scheme=static</td>")
    );
    assert!(
        folder.read("out/runs-block=64-scheme=static.csv").starts_with("m,p,repetition,time_s")
    );
    // Told by a driver, the same log says the same; another value was not declared.
    let shown = folder.succeeds(&["show", "out"]);
    assert!(shown.starts_with("(2, 8) with block=128, scheme=dynamic: "), "{shown}");
    let tell =
        ["tell", "--out", "out", "--m", "1", "--p", "1", "--time", "1", "--param", "block=32"];
    assert_eq!(folder.mmgp(&tell).code, Some(2));
}

#[test]
fn the_page_of_a_search_of_rates_has_its_course_and_every_rate() {
    let folder = Folder::new();
    let search = format!("tune {FOUR} --runs 4 --rate-from ([0-9]+).ns/day");
    run(&folder, &search, "echo Performance: $((10 * MMGP_M + MMGP_P)) ns/day");
    let page = folder.read("out/report.html");
    for part in
        ["The course of the search", "<th scope=\"col\">rate [ns/day]</th>", "<td>22.00</td>"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("time [s]"), "{page}");
}

/// Nothing but what was declared is on the page, in the user's words; what failed is there with its reason.
#[test]
fn a_page_is_of_its_search_and_is_written_whatever_came_of_it() {
    let folder = Folder::new();
    let search = "tune --m 1,4 --p 1,2,8 --names ranks,threads --time-from t=(.*) --out out";
    let script = "test $((MMGP_RANKS * MMGP_THREADS)) -gt 8 && { echo error: no room >&2; exit 3; }; \
                  echo t=$((90 / MMGP_RANKS / MMGP_THREADS + MMGP_RANKS + MMGP_REP))";
    run(&folder, &format!("{search} --until-regret 1% --runs 14"), script);
    let page = folder.read("out/report.html");
    let rows = page.split("Table: every configuration").nth(1).expect("a table");
    let rows = rows.split("</table>").next().unwrap_or_default();
    assert_eq!(rows.matches("<tr><td>").count(), 6, "{rows}");
    for part in [
        "exit status 3: error: no room",
        ">ranks</text>",
        ">threads</text>",
        "Speed-up and efficiency",
        "<dt>Processors</dt>",
        "<dt>Command</dt><dd>mmgp tune --m 1,4",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("APUs for each host thread"));
    // Nothing ran well: there is a page, which says what it lacks.
    run(&folder, "tune --m 1,2 --p 1 --out none", "exit 1");
    let page = folder.read("none/report.html");
    for part in ["nothing ran well", "params.toml is not here: no run ended well"] {
        assert!(page.contains(part), "{part}");
    }
}

/// A program that fails, says so, and ends as if it had not.
#[test]
fn runs_that_print_an_error_and_end_well_are_counted_and_said() {
    let folder = Folder::new();
    let search = format!("tune {FOUR} --runs 4 --time-from t=(.*)");
    let script =
        "echo 'Error norm: 1e-9'; [ $MMGP_M = 1 ] || echo 'ERROR: lost rank 1'; echo t=$MMGP_P";
    let found = run(&folder, &search, script);
    let answer = found.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "): \"ERROR: lost rank 1\". They count as good; --check REGEX tells good runs";
    let begin = " 2 of 4 runs that ended well printed an error, first (2, ";
    assert!(answer.contains(said) && answer.contains(begin), "{answer}");
    for attempt in log(&folder, "out") {
        let line = (attempt["m"] == 2).then_some("ERROR: lost rank 1");
        assert_eq!((&attempt["status"], attempt["complaint"].as_str()), (&"ok".into(), line));
    }
    // Who says what good runs print is told nothing of it.
    let checked = search.replace("--out out", "--check t= --out checked");
    let found = run(&folder, &checked, script);
    assert!(!found.stdout.contains("ended well"), "{}", found.stdout);
    let quiet =
        run(&folder, &search.replace("--out out", "--out quiet"), "echo error = 3; echo t=1");
    assert!(!quiet.stdout.contains("ended well"), "{}", quiet.stdout);
}

#[test]
fn the_exit_code_tells_whether_the_regret_was_reached_before_the_budget() {
    let folder = Folder::new();
    assert_eq!(run(&folder, "tune --m 2 --p 1 --out one", "true").code, Some(0));
    assert_eq!(run(&folder, &format!("tune {FOUR} --runs 2"), "true").code, Some(1));
    assert_eq!(log(&folder, "out").len(), 2);
    let measure = "measure --m 1..9 --p 1 --budget 50ms --out timed";
    for _ in 0..2 {
        assert_eq!(run(&folder, measure, "sleep 0.06").code, Some(1));
        // The budget is that of the folder.
        assert_eq!(log(&folder, "timed").len(), 1);
    }
}

#[test]
fn every_configuration_is_measured_once_before_any_again_and_none_twice_as_much() {
    let folder = Folder::new();
    let measure = format!("measure {FOUR} --repetitions 2");
    assert_eq!(run(&folder, &format!("{measure} --runs 3"), "true").code, Some(1));
    assert_eq!(run(&folder, &measure, "true").code, Some(0));
    let log = log(&folder, "out");
    assert_eq!(of(&log, "repetition"), [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(folder.read("out/runs.csv").lines().count(), 9);
    run(&folder, &measure, "true");
    assert_eq!(self::log(&folder, "out"), log);
}

#[test]
fn a_program_finds_what_it_is_to_run_with() {
    let folder = Folder::new();
    folder.succeeds(&[
        "measure", "--m", "3", "--p", "2", "--per-node", "4", "--names", "ranks,threads", "--param",
        "scheme=dynamic", "--env", "BOTH={ranks}x{p}", "--fresh-dir", "--keep-dirs", "--repetitions",
        "1", "--out", "out", "--", "sh", "-c",
        "echo {m} {p} {nodes} {rep} {ranks} {threads} {scheme} $BOTH {print} > found; \
         echo $MMGP_M $MMGP_P $MMGP_NODES $MMGP_REP $MMGP_RANKS $MMGP_THREADS $MMGP_SCHEME >> found; \
         [ {dir} = $MMGP_DIR ] && [ {dir} = $PWD ] && echo here >> found",
    ]);
    let expected = "3 2 2 1 3 2 dynamic 3x2 {print}\n3 2 2 1 3 2 dynamic\nhere\n";
    assert_eq!(folder.read("out/runs/1/found"), expected);
    let attempt = &log(&folder, "out")[0];
    assert_eq!((&attempt["env"]["BOTH"], &attempt["nodes"]), (&"3x2".into(), &2.into()));
    assert_eq!(attempt["params"]["scheme"], "dynamic");
    assert!(folder.path("out/runs-scheme=dynamic.csv").exists());
}

#[test]
fn an_environment_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    let words = words("measure --m 1 --p 1 --out out", "env > found");
    let mut command = folder.command(&words);
    // The first is not for a shell to hand on.
    command.env(OsStr::from_bytes(b"NO\xffTEXT"), "").env("VALUE", OsStr::from_bytes(b"\xfe="));
    assert!(command.output().expect("it starts").status.success());
    let found = std::fs::read(folder.path("found")).expect("it ran");
    assert!(found.windows(9).any(|bytes| bytes == b"VALUE=\xfe=\n"));
}

#[test]
fn a_fresh_folder_goes_after_what_went_well_and_stays_after_what_did_not() {
    let folder = Folder::new();
    let measure = "measure --m 1,2 --p 1 --repetitions 1 --fresh-dir --out out";
    run(&folder, measure, "touch {m}; exit $((MMGP_M - 1))");
    let failed = log(&folder, "out").into_iter().find(|it| it["m"] == 2).expect("it ran");
    let left: Vec<_> = std::fs::read_dir(folder.path("out/runs")).expect("it is there").collect();
    assert_eq!(left.len(), 1);
    assert!(folder.path(&format!("out/runs/{}/2", failed["id"])).exists());
}

#[test]
fn warm_ups_are_in_the_log_and_not_among_the_runs() {
    let folder = Folder::new();
    run(&folder, &format!("{ONE} --warmup 2 --time-from t=(.*)"), "echo t=$((9 - MMGP_REP))");
    assert_eq!(of(&log(&folder, "out"), "repetition"), [0, 0, 1]);
    assert_eq!(folder.read("out/runs.csv"), "m,p,repetition,time_s\n1,1,1,8\n");
}

/// The time that is kept of a program that prints this.
fn time(flags: &str, printed: &str) -> Value {
    let folder = Folder::with("printed", printed);
    let measured = run(&folder, &format!("{ONE} {flags}"), "cat printed");
    assert_eq!(measured.code, Some(0), "{}", measured.stderr);
    log(&folder, "out")[0]["time_s"].clone()
}

#[test]
fn a_time_is_found_in_the_output_and_its_unit_with_it() {
    assert_eq!(time(r"--time-from took=(\S+)", "took=9\ntook=2.5\n"), 2.5);
    assert_eq!(time(r"--time-from took=(?<ms>\S+)", "took=250"), 0.25);
    assert_eq!(time(r"--time-from (\d+)(us|ms)", "took 250us\n"), 250e-6);
    assert_eq!(time("--time-json a.total_ms", "x\n{\"a\": {\"total_ms\": 1500}}\n"), 1.5);
    // However much is printed beside it.
    assert_eq!(time("--time-from took=(.*)", &("\0\n".repeat(2_000_000) + "took=3\n")), 3.0);
}

/// Runs a script that does not go well; the log must tell how it ended and why.
fn check(flags: &str, script: &str, status: &str, reason: &str) {
    let folder = Folder::new();
    let measured = run(&folder, &format!("{ONE} {flags}"), script);
    assert_eq!(measured.code, Some(0), "{}", measured.stderr);
    let attempt = &log(&folder, "out")[0];
    assert_eq!((&attempt["status"], &attempt["reason"]), (&status.into(), &reason.into()));
    assert_eq!(attempt["time_s"].is_null(), status != "ok");
}

#[test]
fn what_does_not_go_well_has_a_reason_and_no_time() {
    check("", "exit 3", "failed", "exit status 3");
    check("", "echo a; echo no memory >&2; exit 3", "failed", "exit status 3: no memory");
    check(
        "",
        "kill -9 $$",
        "failed",
        "ended by signal 9 (killed, as the system does where memory is short: dmesg says so)",
    );
    check("--check right", "echo wrong", "wrong", "its output does not match \"right\"");
    let no_time = "its output has no time (the time was looked for with \"t=(.)\")";
    check("--time-from t=(.)", "echo t=", "wrong", no_time);
    check("--time-json t", "echo t=1", "wrong", "its output has no JSON");
    check("--prepare false", "true", "failed", "what prepares it: exit status 1");
    check("--conclude false", "true", "failed", "what concludes it: exit status 1");
    let folder = "the folder none/1 to run it in is not there";
    check("--workdir none/{m}", "true", "failed", folder);
}

#[test]
fn what_is_late_is_stopped_and_its_bound_is_the_limit() {
    let folder = Folder::new();
    run(&folder, &format!("{ONE} --timeout 0.1s"), "sleep 60 & sleep 60");
    let attempt = &log(&folder, "out")[0];
    assert_eq!((&attempt["status"], &attempt["limit_s"]), (&"timeout".into(), &0.1.into()));
    let wall = attempt["wall_s"].as_f64().expect("a time");
    assert!((0.1..4.0).contains(&wall), "{wall}");
    assert!(!folder.path("out/runs.csv").exists());
}

#[test]
fn what_stays_behind_is_ended_and_told_of() {
    if std::process::Command::new("setsid").arg("--version").output().is_ok() {
        let left = "left 2 processes behind";
        check("", "setsid sleep 60 & sleep 60 > /dev/null & echo", "ok", left);
    } else {
        testing::skipped("setsid");
    }
    // Unless it ends by itself at once.
    let folder = Folder::new();
    run(&folder, ONE, "for i in 1 2 3 4 5 6 7 8 9; do true & done");
    assert!(log(&folder, "out")[0]["reason"].is_null());
}

#[test]
fn prepare_and_conclude_run_around_each_run_and_take_none_of_its_time() {
    let folder = Folder::with("steps", "");
    let words: Vec<&str> = ONE.split_whitespace().collect();
    let around = ["--shell", "--prepare", "sleep 0.3; echo a{m} >> steps", "--conclude"];
    let rest = ["echo c{p} >> steps", "--", "echo b >> steps"];
    folder.succeeds(&[&words[..], &around, &rest].concat());
    assert_eq!(folder.read("steps"), "a1\nb\nc1\n");
    assert!(log(&folder, "out")[0]["wall_s"].as_f64().expect("a time") < 0.3);
}

#[test]
fn the_output_is_kept_of_what_went_wrong_and_of_all_where_that_is_asked_for() {
    let folder = Folder::new();
    run(&folder, ONE, "echo fine; echo well >&2");
    assert!(!folder.path("out/output").exists());
    let other = ONE.replace("out out", "out kept") + " --keep-output";
    run(&folder, &other, "echo fine; echo well >&2");
    let read = |end: &str| folder.read(&format!("kept/output/1.{end}"));
    assert_eq!((read("out"), read("err")), ("fine\n".into(), "well\n".into()));
}

#[test]
fn a_dry_run_prints_commands_and_leaves_nothing() {
    let folder = Folder::new();
    for command in ["measure", "tune"] {
        let arguments = format!("{command} {FOUR} --timeout 2s --dry-run --env A={{m}}");
        let printed = run(&folder, &arguments, "touch ran; echo {p}");
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        assert!(printed.stdout.contains("A=2 sh -c 'touch ran; echo 1'\n"), "{}", printed.stdout);
        assert!(folder.files().is_empty());
    }
}

/// Nothing may run, and the message must say so much.
fn misuse(arguments: &[&str], message: &str) {
    let folder = Folder::new();
    for command in ["tune", "measure"] {
        let run = folder.mmgp(&[&[command], arguments, &["--", "touch", "ran"]].concat());
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(folder.files().is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_flag_that_makes_no_sense_is_named_and_nothing_runs() {
    misuse(&["--m", "0"], "--m");
    misuse(&["--p", "4..1"], "--p");
    misuse(&["--m", "1", "--configurations", "x"], "--configurations");
    misuse(&["--configurations", "none.csv"], "none.csv");
    misuse(&["--m", "1", "--p", "1", "--where", "m > 1"], "--where");
    misuse(&["--m", "1", "--p", "1", "--where", "m >"], "--where");
    misuse(&["--param", "m=1,2"], "--param");
    misuse(&["--param", "a=1,1"], "--param");
    misuse(&["--per-node", "0"], "--per-node");
    misuse(&["--tasks", "0"], "--tasks");
    misuse(&["--names", "ranks"], "--names");
    misuse(&["--as", "mpi"], "--as");
    misuse(&["--time-from", "t="], "--time-from");
    misuse(&["--time-from", "t=("], "--time-from");
    misuse(&["--time-json", "a..b"], "--time-json");
    misuse(&["--time-json", "a", "--time-from", "(a)"], "--time-json");
    misuse(&["--check", "("], "--check");
    misuse(&["--env", "=1"], "--env");
    misuse(&["--prepare", "none-such"], "none-such");
    misuse(&["--conclude", "'a"], "--conclude");
    misuse(&["--keep-dirs"], "--fresh-dir");
    misuse(&["--pin", "all"], "--pin");
    misuse(&["--warmup", "x"], "--warmup");
    misuse(&["--timeout", "0.5x"], "--timeout");
    misuse(&["--budget", "soon"], "--budget");
    misuse(&["--runs", "0"], "--runs");
    misuse(&["--until-regret", "0"], "--until-regret");
    misuse(&["--seed", "x"], "--seed");
}

#[test]
fn a_program_that_is_not_there_shows_before_anything_runs() {
    let folder = Folder::new();
    let refused = |command: &[&str], why: &str| {
        let run = folder.mmgp(&[&["tune", "--m", "1", "--p", "1"], command].concat());
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(why), "{}", run.stderr);
        assert!(folder.files().is_empty());
    };
    refused(&["--", "none-such"], "\"none-such\", which is no program here");
    refused(&["--", "echo a"], "--shell");
    refused(&[], "the program to run after --");
}

#[test]
fn flags_stand_in_a_file_in_the_same_words() {
    let folder = Folder::new();
    folder.write("app.sh", "echo time: 0.$1$2 s\n");
    let flags = ["--m", "1,2", "--p", "1,2", "--time-from", "time: ([0-9.]+)", "--env", "A=\"b\""];
    let typed = [&["tune", "--save-as", "t.toml", "--dry-run"], &flags[..]].concat();
    let typed = [&typed[..], &["--env", "B=2", "--", "sh", "app.sh", "{m}", "{p}"]].concat();
    let first = folder.succeeds(&typed);
    let file = folder.read("t.toml");
    for line in ["m = \"1,2\"", "env = [\"A=\\\"b\\\"\", \"B=2\"]", "command = [\"sh\", \"app.sh\""]
    {
        assert!(file.contains(line), "{file}");
    }
    assert_eq!(folder.succeeds(&["tune", "t.toml", "--dry-run"]), first);
    // What is typed takes the place of what stands there.
    let other = folder.succeeds(&["tune", "t.toml", "--m", "7", "--p", "1", "--dry-run"]);
    assert!(other.starts_with("A='\"b\"' B=2 sh app.sh 7 1\n"), "{other}");
    folder.write("wrong.toml", "m = \"1,2\"\nbugdet = \"3s\"\n");
    let refused = folder.mmgp(&["tune", "wrong.toml"]);
    assert!(
        refused.stderr.contains("wrong.toml:2:10: found \"bugdet\"")
            && refused.stderr.contains("budget"),
        "{}",
        refused.stderr
    );
    folder.write("kind.toml", "m = { a = 1 }\n");
    let refused = folder.mmgp(&["tune", "kind.toml"]);
    assert!(refused.stderr.contains("kind.toml:1:5: found another kind"), "{}", refused.stderr);
}

#[test]
fn a_folder_is_shown_again_and_compared_with_another() {
    let folder = Folder::new();
    folder.write("app.sh", "echo time: $(( $1 * $2 * ${F:-10} + $MMGP_REP )) ms\n");
    let measure = |out: &str, factor: &str| {
        let all = ["measure", "--m", "1,2", "--p", "1,3", "--time-from", "time: ([0-9]+) ms"];
        let factor = format!("F={factor}");
        let of = ["--out", out, "--env", &factor, "--quiet", "--", "sh", "app.sh", "{m}", "{p}"];
        folder.succeeds(&[&all[..], &of].concat())
    };
    let said = measure("old", "1000");
    let shown = folder.succeeds(&["show", "old"]);
    assert!(said.starts_with(&shown), "{said} {shown}");
    measure("same", "1000");
    measure("slow", "1200");
    let compared = |new: &str| folder.mmgp(&["compare", "old", new, "--fail-above", "5%"]);
    let same = compared("same");
    assert!(same.code == Some(0) && same.stdout.contains("cannot be told"), "{}", same.stdout);
    let slow = compared("slow");
    assert!(
        slow.code == Some(1) && slow.stdout.starts_with("The fastest: slower"),
        "{}",
        slow.stdout
    );
    let json = folder.mmgp(&["compare", "slow", "old", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&json["best"]["verdict"], &json["fails"]), (&"faster".into(), &false.into()));
    assert_eq!(json["configurations"].as_array().map(Vec::len), Some(4));
    assert_eq!(folder.mmgp(&["show", "none"]).code, Some(2));
}

/// Processes, which pass rows on, and threads: the same numbers to the bit.
#[test]
fn the_sample_is_tuned_without_anything_else() {
    let folder = Folder::new();
    let found = folder.mmgp(&["tune", "--sample", "--runs", "4", "--quiet", "--keep-output"]);
    assert!(
        found.stdout.contains(" process") && found.stdout.contains(" thread"),
        "{}",
        found.stdout
    );
    let log = log(&folder, "mmgp-tune");
    let outputs: Vec<String> =
        log.iter().map(|it| folder.read(&format!("mmgp-tune/output/{}.out", it["id"]))).collect();
    assert!(outputs[0].starts_with("checksum: ") && outputs.iter().all(|it| *it == outputs[0]));
    assert!(
        log.iter().any(|it| it["m"] != 1) && log.iter().all(|it| it["status"] == "ok"),
        "{log:?}"
    );
    let both = folder.mmgp(&["tune", "--sample", "--", "true"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

/// What many said, those that differ in a number alone together, and the end of what the first one said.
#[test]
fn failures_are_told_in_words() {
    let folder = Folder::new();
    let script = "printf '\\033[31mrank %s of {m} is lost\\033[0m\\n' {p} >&2; echo see the log >&2; \
                  echo ----- >&2; exit 3";
    let search = format!("tune {FOUR} --runs 3");
    let found = run(&folder, &search, script);
    let said = &found.stdout;
    assert!(said.contains("\nfailed: exit status 3: see the log: ("), "{said}");
    let first = &log(&folder, "out")[0];
    let (m, p) = (&first["m"], &first["p"]);
    let told = format!(
        "The first to fail, ({m}, {p}), said last (all of it: out/output/1.err):\n  rank {p} of {m} is lost\n  \
         see the log\n  -----\n"
    );
    assert!(said.contains(&told), "{said}");
    let numbers = run(
        &folder,
        &search.replace("--out out", "--out numbers"),
        "echo rank $MMGP_P of $MMGP_M is lost >&2; exit 1",
    );
    assert_eq!(
        numbers.stdout.matches("failed: exit status 1: rank").count(),
        1,
        "{}",
        numbers.stdout
    );
    for printed in [said, &numbers.stdout, &found.stderr, &folder.read("out/log.jsonl")] {
        assert!(!printed.contains('\u{1b}'), "{printed:?}");
    }
}

#[test]
fn a_script_reads_what_is_filled_in_as_it_is() {
    let folder = Folder::new();
    folder.succeeds(&[
        "measure",
        "--m",
        "1",
        "--p",
        "1",
        "--repetitions",
        "1",
        "--shell",
        "--param",
        "x=a b;$HOME",
        "--fresh-dir",
        "--keep-output",
        "--out",
        "it's out",
        "--quiet",
        "--",
        "cd {dir} && printf %s. {x} \"{x}\"",
    ]);
    assert_eq!(folder.read("it's out/output/1.out"), "a b;$HOME.a b;$HOME.");
    folder.refuses(
        &["tune", "--via", "slurm", "--dry-run", "--out", "a\n#SBATCH --wrap=id", "--m", "1", "--p", "1", "--", "true"],
        "--out: found \"a\\n#SBATCH --wrap=id/slurm-%j.out\", expected one without control characters, for a line of a job script",
    );
}

#[test]
fn a_choice_is_compared_with_what_is_run_today_where_that_is_sure() {
    let folder = Folder::new();
    let search = "tune --m 1,2,4 --p 1,2 --time-from t=(.*) --baseline 1,1 --out";
    let script = "echo t=$((S / MMGP_M / MMGP_P + 1000))";
    let fast = run(&folder, &format!("{search} fast --env S=9000"), script);
    assert!(fast.stdout.contains(" times as fast as (1, 1) ("), "{}", fast.stdout);
    assert!(folder.read("fast/report.html").contains("run today"));
    let flat = run(&folder, &format!("{search} flat --env S=1"), script);
    assert!(!flat.stdout.contains("times as fast"), "{}", flat.stdout);
    let none = run(&folder, "tune --m 2 --p 1,2 --baseline 1,1 --out none", script);
    assert!(none.code == Some(2) && none.stderr.contains("--baseline: found (1, 1)"));
}

#[test]
fn a_command_that_reads_its_variables_is_believed_to_and_another_is_doubted() {
    let folder = Folder::new();
    let doubts = |out: &str, script: &str| {
        let all = ["tune", "--m", "1,2", "--p", "1", "--runs", "1", "--out", out];
        folder.mmgp(&[&all[..], &["--", "sh", "-c", script]].concat()).stderr
    };
    assert!(!doubts("reads", "sleep 0.00$MMGP_M").contains("neither the command"));
    assert!(doubts("does-not", "true").contains("neither the command nor its environment has {m}"));
}

/// Runs that scatter by a tenth: the terms of a formula would change with the next one.
#[test]
fn what_limits_is_not_told_by_runs_that_scatter() {
    let folder = Folder::new();
    let search = "tune --m 1,2,4 --p 1,2 --time-from t=(.*) --until-regret 1% --runs 12 --out out";
    let script = "echo t=$(((4000 / MMGP_M / MMGP_P + 900) * (90 + 20 * (MMGP_REP % 2))))";
    let noisy = run(&folder, search, script).stdout;
    assert!(noisy.contains("What limits is not told by runs that scatter so."), "{noisy}");
    assert!(noisy.contains("Runs of the same configuration differ by"), "{noisy}");
}
