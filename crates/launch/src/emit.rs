//! A list of runs for others' engines.
//!
//! Every run finds which it is in its environment ([`Run::variables`]), and none runs beside
//! another, which would spoil the times of both.

mod hyperqueue;

use crate::quote::{command_line, quoted};
use crate::run::Run;
pub use hyperqueue::hyperqueue;

/// What a command is started with: `srun` and its options, or nothing.
pub(crate) struct Launcher(pub(crate) Vec<String>);

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
        text += &line(run, Launcher(Vec::new()));
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

/// A call of the function `run` in [`RUNNER`].
pub(crate) fn line(run: &Run, launcher: Launcher) -> String {
    let order = &run.order;
    // bash counts in whole numbers.
    let limit = order.limit.map_or(String::new(), |it| format!("{:.0}", it.0 * 1e6));
    let mut words: Vec<String> = vec!["run".into(), order.id.to_string()];
    words.extend([order.mapping.m(), order.mapping.p()].map(|count| count.to_string()));
    words.extend([order.nodes, order.repetition].map(|count| count.to_string()));
    words.extend([limit, run.dir.clone().unwrap_or_else(|| ".".into())]);
    words.extend(timeout(run));
    words.extend(run.words(launcher.0));
    command_line(&words)
}

/// Before bash 5 the time is what `date` says. Its separator of decimals is that of the language.
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
