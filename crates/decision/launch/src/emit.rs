//! Runs for others' engines: a list of them, and words as a shell reads them.
//!
//! Every run finds which it is in its environment ([`Run::variables`]), and none runs beside
//! another, which would spoil the times of both.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mmgp_base::Mapping;
use mmgp_base::attempt::Order;

/// A run, with every placeholder filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The configuration.
    pub mapping: Mapping,
    /// What it answers.
    pub order: Order,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What is set in its environment; what [`Self::variables`] names is added.
    pub env: BTreeMap<String, String>,
    /// The working directory, which is made if it is missing; that of the caller if none.
    pub dir: Option<String>,
}

impl Run {
    /// What it always finds in its environment: `MMGP_ID`, `MMGP_M`, `MMGP_P`, `MMGP_NODES`,
    /// `MMGP_REP`, and where there is a limit `MMGP_LIMIT` \[s\].
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let Order { id, nodes, repetition, limit, .. } = &self.order;
        let mut variables = vec![
            ("MMGP_ID", id.to_string()),
            ("MMGP_M", self.mapping.m().to_string()),
            ("MMGP_P", self.mapping.p().to_string()),
            ("MMGP_NODES", nodes.to_string()),
            ("MMGP_REP", repetition.to_string()),
        ];
        variables.extend(limit.map(|limit| ("MMGP_LIMIT", limit.0.to_string())));
        variables
    }

    /// What is set in its environment: [`Self::variables`] first, which nothing replaces.
    pub(crate) fn environment(&self) -> Vec<(&str, String)> {
        let mut all: Vec<(&str, String)> = self.variables();
        for (name, value) in &self.env {
            if all.iter().all(|(known, _)| known != name) {
                all.push((name, value.clone()));
            }
        }
        all
    }

    /// The command that sets its environment and becomes `launcher` followed by the program.
    pub(crate) fn words(&self, launcher: Vec<String>) -> Vec<String> {
        let mut words = vec!["env".to_string()];
        words.extend(self.environment().iter().map(|(name, value)| format!("{name}={value}")));
        let command = [launcher, self.argv.clone()].concat();
        if command.first().is_some_and(|program| program.contains('=')) {
            // `env` would take it for one more variable.
            words.extend(["sh", "-c", r#"exec "$0" "$@""#].map(String::from));
        }
        words.extend(command);
        words
    }
}

/// A bash script that runs one after the other and adds a line for each to the file `results`, as
/// it ends: `id,m,p,nodes,repetition,time_s,exit`, with the time on the wall clock \[s\] and the
/// exit status, which is `timeout` where the run was stopped at its limit, the time then being
/// that limit. What a run prints is kept beside it: for `results.csv` in `results.output/ID`.
///
/// A run that has a line is not run again: a script that was interrupted goes on. Needs bash, and
/// coreutils for runs with a limit.
pub fn script(runs: &[Run], results: &str) -> String {
    let mut text = String::from("#!/usr/bin/env bash\n") + &runner(results);
    for run in runs {
        text += &line(run, Vec::new());
        text.push('\n');
    }
    text
}

/// A bash script that has GNU parallel run one after the other; what is given to the script is
/// further options. Its `--joblog` goes to `results`.
///
/// In that log ids come back in the column `Command`, where each command sets `MMGP_ID`
/// (`parallel(1)`; the number in the column `Seq` is the place in the list). Its times are to the
/// millisecond, and hold the start of a shell.
pub fn parallel(runs: &[Run], results: &str) -> String {
    let mut text = format!(
        "#!/usr/bin/env bash\nPARALLEL_SHELL=$(command -v bash)\nexport PARALLEL_SHELL\n\
         exec parallel --jobs 1 --joblog {} \"$@\" << 'END_OF_RUNS'\n",
        quoted(results)
    );
    for run in runs {
        let words = [timeout(run), run.words(Vec::new())].concat();
        let command = command_line(&words);
        text += &match &run.dir {
            Some(dir) => {
                let dir = quoted(dir);
                format!("mkdir -p -- {dir} && cd -- {dir} && {command}\n")
            }
            None => command + "\n",
        };
    }
    text + "END_OF_RUNS\n"
}

/// Stops a run at its limit, with all that it started; 10 seconds later without asking.
fn timeout(run: &Run) -> Vec<String> {
    let Some(limit) = run.order.limit else { return Vec::new() };
    ["timeout", "-k", "10", &limit.0.to_string()].map(String::from).to_vec()
}

/// What a script needs to run and time what [`line`] gives.
pub(crate) fn runner(results: &str) -> String {
    format!("results={}\n{RUNNER}", quoted(results))
}

/// A call of the function `run` in [`RUNNER`]; `launcher` is what the command is started with: `srun` and its
/// options, or nothing.
pub(crate) fn line(run: &Run, launcher: Vec<String>) -> String {
    let order = &run.order;
    // bash counts in whole numbers.
    let limit = order.limit.map_or(String::new(), |it| format!("{:.0}", it.0 * 1e6));
    let mut words: Vec<String> = vec!["run".into(), order.id.to_string()];
    words.extend([run.mapping.m(), run.mapping.p()].map(|count| count.to_string()));
    words.extend([order.nodes, order.repetition].map(|count| count.to_string()));
    words.extend([limit, run.dir.clone().unwrap_or_else(|| ".".into())]);
    words.extend(timeout(run));
    words.extend(run.words(launcher));
    command_line(&words)
}

/// Functions of the script. Before bash 5 the time is what `date` says; its separator of decimals is that
/// of the language.
const RUNNER: &str = r#"outputs=${results%.*}.output
mkdir -p -- "$outputs" || exit
[ -s "$results" ] || echo id,m,p,nodes,repetition,time_s,exit >> "$results" || exit
child=
# An interrupted run leaves no line.
trap '[ -z "$child" ] || kill "$child"; wait; exit 130' INT TERM
now() {
    if [ -n "${EPOCHREALTIME:-}" ]; then now=${EPOCHREALTIME/[^0-9]/}; else now=$(date +%s%6N); fi
}
# run ID M P NODES REPETITION LIMIT_US FOLDER COMMAND...
run() {
    local row=$1,$2,$3,$4,$5 limit=$6 dir=$7 output=$outputs/$1 exit=0 start time
    ! grep -qs "^$1," "$results" || return 0
    shift 7
    now; start=$now
    (mkdir -p -- "$dir" && cd -- "$dir" && exec "$@") > "$output" 2>&1 < /dev/null & child=$!
    wait "$child" || exit=$?
    now; time=$((now - start)); child=
    if [ -n "$limit" ] && [ "$exit" != 0 ] && [ "$time" -ge "$limit" ]; then
        exit=timeout time=$limit
    fi
    printf '%s,%d.%06d,%s\n' "$row" $((time / 1000000)) $((time % 1000000)) "$exit" |
        tee -a -- "$results"
}
"#;

/// A job definition file of HyperQueue (`hq job submit-file`): one task for each run, of the same
/// id, that has its nodes to itself. Its results come from `hq --output-mode=json task list`.
///
/// A JSON array (`hq submit --from-json`) would give all tasks the same resources and limit, and
/// hand them the rest in one variable; a definition file gives each its own. See
/// <https://it4innovations.github.io/hyperqueue/stable/jobs/jobfile/>. Its times hold the way of
/// the messages from worker to server.
pub fn hyperqueue(runs: &[Run], name: &str) -> String {
    let mut text = format!("name = {}\n", toml(name));
    for run in runs {
        let mut line = |line: String| writeln!(text, "{line}").expect("invariant: a string grows");
        line(format!("\n[[task]]\nid = {}", run.order.id));
        let command: Vec<String> = run.argv.iter().map(|word| toml(word)).collect();
        line(format!("command = [{}]", command.join(", ")));
        let env = run.environment();
        let env: Vec<String> =
            env.iter().map(|(name, value)| format!("{} = {}", toml(name), toml(value))).collect();
        line(format!("env = {{ {} }}", env.join(", ")));
        if let Some(dir) = &run.dir {
            line(format!("cwd = {}", toml(dir)));
        }
        if let Some(limit) = run.order.limit {
            line(format!("time_limit = \"{:.0}ms\"", (limit.0 * 1e3).ceil()));
        }
        line("[[task.request]]".into());
        line(match run.order.nodes {
            1 => "resources = { \"cpus\" = \"all\" }".into(),
            nodes => format!("n_nodes = {nodes}"),
        });
    }
    text
}

/// A text in TOML: as in JSON, which may hold one more character.
fn toml(text: &str) -> String {
    let text = serde_json::to_string(text).expect("invariant: text can be written");
    text.replace('\u{7f}', "\\u007f")
}

/// A word so that bash reads it as it is. Without control characters any POSIX shell does: those
/// are written as in `$'\n'`, so that a command stays on one line.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    if !word.contains(|letter: char| letter.is_ascii_control()) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str(r"\n"),
            '\t' => text.push_str(r"\t"),
            _ if letter.is_ascii_control() => {
                write!(text, r"\x{:02x}", u32::from(letter)).expect("invariant: a string grows");
            }
            _ => text.push(letter),
        }
    }
    text + "'"
}

/// The words of a command on one line.
pub fn command_line<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use mmgp_base::table::Source;

    use mmgp_base::units::Seconds;

    use super::*;
    use crate::results::read;
    use mmgp_intake::{Claims, Outcome, RunReport};

    /// What `commands` print in an empty folder with `text` in the file `script`; nothing where there is no
    /// bash, or not all that they call beside it.
    pub(crate) fn in_folder(text: &str, called: &[&str], commands: &str) -> Option<String> {
        let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        for name in ["bash"].iter().chain(called) {
            if !is_there(name) {
                testing::skipped(name);
                return None;
            }
        }
        let commands = format!(
            "cd \"$(mktemp -d)\" && trap 'rm -rf \"$PWD\"' EXIT && cat > script && {commands}"
        );
        let mut bash = Command::new("bash")
            .args(["-c", &commands])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash runs");
        let mut stdin = bash.stdin.take().expect("it is piped");
        stdin.write_all(text.as_bytes()).expect("bash reads");
        drop(stdin);
        let output = bash.wait_with_output().expect("bash ends");
        Some(String::from_utf8(output.stdout).expect("bash prints text"))
    }

    /// One that tells what came of the other; in each, something is easily lost.
    fn awkward() -> Vec<Run> {
        let mut first =
            run(7, 4, 2, &["bash", "-c", "sleep 0.2; printf %s \"$A,$MMGP_P,$1,$PWD\""]);
        first.argv.extend(["bash", "it's {} {1} \"$HOME\"\n\t`id`"].map(String::from));
        first.env = BTreeMap::from([("A".to_string(), "x  y=z\n'$HOME'".to_string())]);
        first.dir = Some("a b".into());
        let failed = run(8, 1, 1, &["bash", "-c", "exit 3"]);
        let endless = ["bash", "-c", "sleep 100 & wait"];
        vec![
            first,
            failed,
            limited(run(9, 2, 1, &endless), 0.3),
            run(10, 3, 1, &["./no such=file"]),
        ]
    }

    /// Asserts what the runs of [`awkward`] come to.
    fn check(told: &[RunReport]) {
        assert_eq!(told.iter().map(|it| it.id).collect::<Vec<_>>(), [7, 8, 9, 10].map(Some));
        let Outcome::Time(time_s) = told[0].outcome else { panic!("{:?}", told[0]) };
        assert!((0.2..5.0).contains(&time_s), "{time_s}");
        let exits = |told: &RunReport, code| matches!(told.outcome, Outcome::Failed { exit, .. } if exit == Some(code));
        assert!(exits(&told[1], 3), "{:?}", told[1]);
        assert_eq!(told[2].outcome, Outcome::Longer(0.3));
        assert!(exits(&told[3], 127), "{:?}", told[3]);
        assert!(told[0].mapping.is_some_and(|it| (it.m(), it.p()) == (4, 2)));
        assert_eq!(told[0].repetition, Some(1));
    }

    #[test]
    fn the_script_runs_every_word_as_it_is_and_its_results_can_be_read() {
        let text = script(&awkward(), "the results.csv");
        let printed = in_folder(
            &text,
            &[],
            "bash script > printed; cat 'the results.csv'; echo =; cat 'the results.output/7'; echo =; \
             echo \"$PWD\"",
        );
        let Some(printed) = printed else { return };
        let (results, rest) = printed.split_once("=\n").expect("both parts");
        check(
            &read(&Source::new("results.csv", results), &Claims::default())
                .expect("as it was written"),
        );
        let (output, folder) = rest.rsplit_once("=\n").expect("both parts");
        let folder = folder.trim();
        let argument = "it's {} {1} \"$HOME\"\n\t`id`";
        assert_eq!(output, format!("x  y=z\n'$HOME',2,{argument},{folder}/a b"));
    }

    #[test]
    fn what_has_a_line_is_not_run_again() {
        let runs: Vec<Run> = [1, 11].map(|id| run(id, 1, 1, &["true"])).into();
        let lines = in_folder(
            &script(&runs, "r.csv"),
            &["sed"],
            "bash script; sed -i /^11,/d r.csv; bash script > again; cat again",
        );
        let Some(lines) = lines else { return };
        let lines: Vec<&str> = lines.lines().map(|line| &line[..line.len().min(3)]).collect();
        assert_eq!(lines, ["1,1", "11,", "11,"]);
    }

    #[test]
    fn an_interrupted_run_leaves_no_line_and_no_process() {
        let runs = [run(1, 1, 1, &["true"]), run(2, 1, 1, &["sleep", "1234.5"])];
        let printed = in_folder(
            &script(&runs, "r.csv"),
            &["grep"],
            "{ bash script > lines & sleep 0.5; kill -TERM $!; wait $!; echo $?; \
             grep -al '^sleep.1234[.]5' /proc/[0-9]*/cmdline 2> /dev/null; wc -l < r.csv; }",
        );
        let Some(printed) = printed else { return };
        assert_eq!(printed.split_whitespace().collect::<Vec<_>>(), ["130", "2"]);
    }

    #[test]
    fn every_command_for_parallel_stands_on_a_line_of_its_own() {
        let text = parallel(&awkward(), "a b.joblog");
        if let Some(checked) = in_folder(&text, &[], "bash -n script && echo right") {
            assert_eq!(checked, "right\n");
        }
        let lines: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            lines[0],
            "exec parallel --jobs 1 --joblog 'a b.joblog' \"$@\" << 'END_OF_RUNS'"
        );
        assert_eq!(
            lines[2],
            "env MMGP_ID=8 MMGP_M=1 MMGP_P=1 MMGP_NODES=1 MMGP_REP=1 bash -c 'exit 3'"
        );
        assert_eq!((lines.len(), lines[5]), (6, "END_OF_RUNS"));
    }

    #[test]
    fn parallel_runs_every_word_as_it_is_and_its_log_can_be_read() {
        let text = parallel(&awkward(), "log");
        let commands = "bash script > out 2> err; cat log; echo =; cat out";
        let Some(printed) = in_folder(&text, &["parallel"], commands) else { return };
        let (log, output) = printed.split_once("=\n").expect("both parts");
        check(&read(&Source::new("log", log), &Claims::default()).expect("as parallel wrote it"));
        assert!(output.contains("x  y=z\n'$HOME',2,it's {} {1} \"$HOME\"\n\t`id`,"), "{output}");
    }

    #[test]
    fn a_job_of_hyperqueue_has_every_word_as_it_is() {
        let mut runs = awkward();
        runs[1].order.nodes = 2;
        let text = hyperqueue(&runs, "a \"b\"");
        let job: toml::Table = toml::from_str(&text).expect("it is TOML");
        assert_eq!(job["name"].as_str(), Some("a \"b\""));
        let tasks = job["task"].as_array().expect("tasks");
        assert_eq!(tasks[0]["id"].as_integer(), Some(7));
        assert_eq!(tasks[0]["command"].as_array().expect("words").len(), 5);
        assert_eq!(tasks[0]["command"][4].as_str(), Some(runs[0].argv[4].as_str()));
        assert_eq!(tasks[0]["env"]["A"].as_str(), Some("x  y=z\n'$HOME'"));
        assert_eq!(tasks[0]["request"][0]["resources"]["cpus"].as_str(), Some("all"));
        assert_eq!(tasks[1]["request"][0]["n_nodes"].as_integer(), Some(2));
        assert_eq!(tasks[2]["time_limit"].as_str(), Some("300ms"));
    }

    #[test]
    fn bash_reads_every_word_as_it_was() {
        let words = [
            "",
            "plain",
            "a b",
            "it's",
            "\"q\"",
            "$HOME `id` $(id)",
            "a\nb\t\u{1}f\u{7f}'\\",
            "~",
            "*?[x]{a,b}",
            "!x;&|<>()#",
            "\\n",
            "é \u{1F600}",
            "-n",
            "a=b",
            "\n'",
            "{} {1}",
        ];
        let line = format!("printf '%s\\0' {}", command_line(&words));
        assert_eq!(line.lines().count(), 1);
        let Ok(output) = Command::new("bash").args(["-c", &line]).output() else {
            return testing::skipped("bash");
        };
        let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
        assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), expected);
    }

    /// The first repetition at (m, p) of a command.
    pub(crate) fn run(id: u64, m: u32, p: u32, argv: &[&str]) -> Run {
        let mapping = Mapping::of(m, p);
        let order = Order { id, nodes: 1, factors: [].into(), repetition: 1, limit: None };
        let argv = argv.iter().map(|word| word.to_string()).collect();
        Run { mapping, order, argv, env: BTreeMap::new(), dir: None }
    }

    /// The same, stopped after `limit_s`.
    pub(crate) fn limited(run: Run, limit_s: f64) -> Run {
        let order = Order { limit: Some(Seconds(limit_s)), ..run.order };
        Run { order, ..run }
    }

    #[test]
    fn nothing_replaces_the_variables_that_say_which_run_it_is() {
        let mut run = run(3, 4, 2, &["x=y"]);
        run.env = [("MMGP_ID", "9"), ("A", "1 2")].map(|(k, v)| (k.into(), v.into())).into();
        let words = run.words(Vec::new());
        let expected = ["env", "MMGP_ID=3", "MMGP_M=4", "MMGP_P=2", "MMGP_NODES=1", "MMGP_REP=1"];
        assert_eq!(words[..6], expected);
        assert_eq!(words[6..], ["A=1 2", "sh", "-c", r#"exec "$0" "$@""#, "x=y"]);
    }
}
