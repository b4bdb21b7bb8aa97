//! What Slurm is given: one job in whose allocation a whole search runs, the launcher of each of
//! its runs, and arrays where every number of nodes is a job of its own.
//!
//! Sources: `sbatch(1)` and `srun(1)` of Slurm 22.05, their input environment variables, and the
//! release notes of 22.05: since then srun no longer takes `-c` from the job around it, and a step
//! that does not ask has one CPU a task. It is therefore always given.
//!
//! **Times.** srun takes some tenths of a second to start and end a step, and waits while one before
//! it is cleaned up: on the wall clock that belongs to a run. Where runs are short, the time is
//! better read from the program's output.
//!
//! **The time limit.** 60 seconds before its end, or up to 60 seconds earlier, a job is sent
//! SIGTERM ([`job`]). It becomes the command itself, so that this is what the signal reaches: what
//! ended cleanly goes on when the same script is submitted again.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

use crate::emit::{self, Run, command_line};

/// What a job asks of Slurm.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The name.
    pub name: &'a str,
    /// Path of its output: `tune/slurm-%j.out` has the job's number in it.
    pub output: &'a str,
    /// Options of sbatch in its own syntax, on one or several lines: they outweigh ours. Where
    /// none says how many CPUs, a job is given whole nodes.
    pub options: &'a str,
    /// What starts each run of an array: [`step`] or [`bound_step`].
    pub step: fn(Mapping, u32) -> Vec<String>,
}

/// Names of variables that a step must not inherit from the job around it: they are options of
/// srun (or of sbatch, which a program may call itself) that hold for the allocation and not for
/// the step, or contradict those of [`step`].
const LEAKING: [&str; 6] = [
    "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",
    "SLURM_TRES_PER_TASK",
    "SLURM_CPUS_PER_GPU",
    "SLURM_EXCLUSIVE",
    "SLURM_EXPORT_ENV",
];

/// How further such names begin.
const LEAKING_PREFIXES: [&str; 4] =
    ["SBATCH_", "SLURM_CPU_BIND", "SLURM_MEM_PER_", "SLURM_NTASKS_PER_"];

/// Whether the variable of that name must be taken out of the environment of a [`step`].
pub fn leaks(name: &str) -> bool {
    LEAKING.contains(&name) || LEAKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The start of a command that runs a program as a step of the job around it: m tasks of p CPUs on
/// `nodes` nodes, with all memory of the job, and with the environment of the caller even where
/// the site's default is none. [`leaks`] says what must not be in that environment, and
/// [`step_variable`] what must.
///
/// srun ends with the highest exit code of its tasks; that of a step that asks for more CPUs than
/// the job has is 1. To stop a step, send srun SIGTERM, at which it kills its tasks, and wait for
/// it: killed itself, it leaves them behind until Slurm notices.
pub fn step(mapping: Mapping, nodes: u32) -> Vec<String> {
    let (m, p) = (mapping.m().to_string(), mapping.p().to_string());
    let nodes = nodes.to_string();
    ["srun", "-n", &m, "-c", &p, "--exact", "-N", &nodes, "--mem=0", "--export=ALL"]
        .map(String::from)
        .to_vec()
}

/// A [`step`] whose tasks are bound to the cores of their CPUs, whatever the site does by default.
pub fn bound_step(mapping: Mapping, nodes: u32) -> Vec<String> {
    let mut words = step(mapping, nodes);
    words.push("--cpu-bind=cores".into());
    words
}

/// The variable with which a step that itself calls srun passes on `-c`, and its value.
pub fn step_variable(mapping: Mapping) -> (&'static str, String) {
    ("SRUN_CPUS_PER_TASK", mapping.p().to_string())
}

/// A batch script that becomes `command`, which starts its runs as [`step`]s, on `nodes` nodes.
///
/// # Errors
/// [`Error::OutOfRange`] for a name or a file of the output that does not fit in a line.
pub fn job(settings: &Settings<'_>, nodes: u32, command: &[String]) -> Result<String> {
    let mut text = head(settings, nodes, "--signal=B:TERM@60")?;
    text += &options(settings);
    // Its steps would have one CPU among them.
    if !asks_for_cpus(settings.options) {
        text += "#SBATCH --exclusive\n";
    }
    text += &format!("\n{}\nexec {}\n", unset(), command_line(command));
    Ok(text)
}

/// The first lines of a batch script, with one further option.
fn head(settings: &Settings<'_>, nodes: u32, option: &str) -> Result<String> {
    for (name, word) in [("name", settings.name), ("output", settings.output)] {
        // What comes behind would be a line of the script.
        if word.contains(|letter: char| letter.is_control()) {
            let expected = "one without control characters, for a line of a job script";
            return Err(Error::out_of_range(name, format!("{word:?}"), expected));
        }
    }
    Ok(format!(
        "#!/usr/bin/env bash\n#SBATCH --job-name={}\n#SBATCH --output={}\n#SBATCH --nodes={nodes}\n\
         #SBATCH {option}\n",
        sbatch_word(settings.name),
        sbatch_word(settings.output),
    ))
}

/// The user's options: a later line outweighs an earlier one.
fn options(settings: &Settings<'_>) -> String {
    let lines = settings.options.lines().map(|line| line.trim().trim_start_matches("#SBATCH"));
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("#SBATCH {line}\n")).collect()
}

/// Whether options of sbatch say how many CPUs a job has.
fn asks_for_cpus(options: &str) -> bool {
    let cpus = ["-n", "-c", "--ntasks", "--cpus-per-task", "--exclusive", "--mincpus"];
    options.split_whitespace().any(|word| cpus.iter().any(|option| word.starts_with(option)))
}

/// Takes out what [`leaks`].
fn unset() -> String {
    let prefixes: Vec<String> =
        LEAKING_PREFIXES.iter().map(|prefix| format!("\"${{!{prefix}@}}\"")).collect();
    format!(
        "# What holds for the whole allocation is no option of the steps in it.\n\
         unset {} {}",
        LEAKING.join(" "),
        prefixes.join(" ")
    )
}

/// A word as sbatch reads it in a script.
fn sbatch_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_%+=:,./-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\""))
}

/// Elements that an array may have: sites allow 1001 indices, 0 among them, unless they say more
/// (`MaxArraySize` in `slurm.conf(5)`).
const MOST_ELEMENTS: usize = 1000;

/// A bash script that submits `runs` as arrays of jobs, for configurations that take different numbers of
/// nodes: an allocation of the most would keep nodes idle. Each adds its line to `results` as those of
/// [`emit::script`] do.
///
/// All elements of an array have the same number of nodes. There is thus one array for each, the
/// fewest nodes first, and each waits until all before it have ended, well or not
/// (`--dependency=afterany`); within an array one element runs at a time (`%1`). No run disturbs
/// another, nor is disturbed by others' jobs on its nodes (`--exclusive`).
///
/// # Errors
/// As [`job`].
pub fn array(settings: &Settings<'_>, runs: &[Run], results: &str) -> Result<String> {
    let mut by_nodes: BTreeMap<u32, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        by_nodes.entry(run.order.nodes).or_default().push(run);
    }
    let arrays: Vec<(u32, &[&Run])> = by_nodes
        .iter()
        .flat_map(|(nodes, runs)| runs.chunks(MOST_ELEMENTS).map(|runs| (*nodes, runs)))
        .collect();
    let mut text = format!(
        "#!/usr/bin/env bash\n# Submits {} runs as arrays of jobs, one at a time: {}.\nset -eu\n\
         previous=\n\
         submit() {{\n\
         \x20   # Some sites add the name of the cluster.\n\
         \x20   previous=$(sbatch --parsable ${{previous:+--dependency=afterany:$previous}})\n\
         \x20   previous=${{previous%%;*}}\n\
         \x20   echo \"$previous\"\n\
         }}\n",
        runs.len(),
        arrays.len(),
    );
    for (nodes, runs) in arrays {
        let job = array_job(settings, nodes, runs, results)?;
        text += &format!("submit << '{END}'\n{job}{END}\n");
    }
    Ok(text)
}

/// Ends a script within the script: every line of ours that begins with a word of the user's
/// begins with another one of ours.
const END: &str = "END_OF_JOB";

/// The batch script of one array.
fn array_job(settings: &Settings<'_>, nodes: u32, runs: &[&Run], results: &str) -> Result<String> {
    let mut text = head(settings, nodes, "--signal=B:TERM@60")?;
    text += &options(settings);
    // These are not up to the user: where there are two, the last counts.
    text += &format!("#SBATCH --exclusive\n#SBATCH --nodes={nodes}\n");
    text += &format!("#SBATCH --array=1-{}%1\n\n{}\n", runs.len(), unset());
    text += &emit::runner(results);
    text += "case $SLURM_ARRAY_TASK_ID in\n";
    for (index, run) in runs.iter().enumerate() {
        let mut run = (*run).clone();
        let (name, value) = step_variable(run.mapping);
        run.env.insert(name.into(), value);
        let launcher = (settings.step)(run.mapping, nodes);
        text += &format!("{}) {} ;;\n", index + 1, emit::line(&run, launcher));
    }
    Ok(text + "esac\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::tests::{in_folder, run};

    const SETTINGS: Settings<'static> =
        Settings { name: "tune", output: "a b/slurm-%j.out", options: "", step };

    #[test]
    fn a_step_always_says_how_many_cpus_a_task_has() {
        let words = step(Mapping::of(4, 2), 3);
        assert_eq!(words.join(" "), "srun -n 4 -c 2 --exact -N 3 --mem=0 --export=ALL");
        assert_eq!(step_variable(Mapping::of(4, 2)), ("SRUN_CPUS_PER_TASK", "2".to_string()));
    }

    #[test]
    fn options_of_the_job_leak_and_what_describes_it_does_not() {
        let leaking = ["SBATCH_PARTITION", "SLURM_CPUS_PER_TASK", "SLURM_CPU_BIND_LIST"];
        assert!(leaking.iter().all(|name| leaks(name)));
        let kept = ["SLURM_JOB_ID", "SLURM_CPUS_ON_NODE", "SLURM_JOB_NUM_NODES", "PATH"];
        assert!(!kept.iter().any(|name| leaks(name)));
    }

    #[test]
    fn a_job_becomes_the_command_with_nothing_that_leaks() {
        let command = ["bash", "-c", "env | grep -c ^S; echo \"$0\"", "it's"].map(String::from);
        let text = job(&SETTINGS, 2, &command).expect("a line each");
        let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(
            lines[1..],
            [
                "#SBATCH --job-name=tune",
                "#SBATCH --output=\"a b/slurm-%j.out\"",
                "#SBATCH --nodes=2",
                "#SBATCH --signal=B:TERM@60",
                "#SBATCH --exclusive"
            ]
        );
        let printed = in_folder(
            &text,
            &["grep"],
            "env -i PATH=\"$PATH\" SBATCH_A=1 SLURM_CPUS_PER_TASK=2 SLURM_CPU_BIND_TYPE=x \
             SLURM_JOB_ID=7 bash script",
        );
        let Some(printed) = printed else { return };
        // SHLVL and the number of the job are left.
        assert_eq!(printed, "2\nit's\n");
    }

    #[test]
    fn what_would_begin_a_line_of_its_own_is_refused() {
        let wrong = Settings { output: "a\n#SBATCH --wrap=id\nb", ..SETTINGS };
        assert!(
            job(&wrong, 1, &[]).is_err() && array(&wrong, &[run(1, 1, 1, &["true"])], "r").is_err()
        );
        // Elsewhere it is a part of a word.
        let command = ["true".to_string(), "a\nid".to_string()];
        let text = job(&SETTINGS, 1, &command).expect("a line each");
        assert!(text.ends_with("exec true $'a\\nid'\n"), "{text}");
    }

    #[test]
    fn the_user_has_the_last_word() {
        let text = |options| {
            let settings = Settings { options, ..SETTINGS };
            job(&settings, 1, &["true".to_string()]).expect("a line each")
        };
        let both = text("--time=5\n#SBATCH -n 4 -c 4\n\n");
        assert!(both.contains("@60\n#SBATCH --time=5\n#SBATCH -n 4 -c 4\n\n# What"), "{both}");
        let time = text("--time=5 --nodes=2");
        assert!(time.contains("@60\n#SBATCH --time=5 --nodes=2\n#SBATCH --exclusive\n"), "{time}");
    }

    /// What is submitted, by an sbatch that prints its arguments and what matters of its input.
    #[test]
    fn every_number_of_nodes_is_an_array_that_waits_for_those_before() {
        let mut runs: Vec<_> = (1..=5).map(|id| run(id, 4, 2, &["./app", "it's"])).collect();
        runs[1].order.nodes = 2;
        let text = array(&Settings { options: "-p x --nodes=9", ..SETTINGS }, &runs, "r.csv")
            .expect("a line each");
        let printed = in_folder(
            &text,
            &["grep"],
            "mkdir bin && cat > bin/sbatch << 'E'\n\
             #!/bin/bash\n\
             n=$(($(cat n 2> /dev/null || echo 40) + 1)); echo $n > n; echo \"$n;cluster\"\n\
             { echo \"$@\"; tee job | grep -E '^#SBATCH (-p|--nodes|--array)|^[0-9]+\\)'; bash -n job; } >> log\n\
             E\nchmod +x bin/sbatch; PATH=$PWD/bin:$PATH bash script; cat log",
        );
        let Some(printed) = printed else { return };
        let call = "run 1 4 2 1 1 '' . env MMGP_ID=1 MMGP_M=4 MMGP_P=2 MMGP_NODES=1 MMGP_REP=1 \
                    SRUN_CPUS_PER_TASK=2 srun -n 4 -c 2 --exact -N 1 --mem=0 --export=ALL ./app \
                    'it'\\''s' ;;";
        let lines: Vec<&str> = printed.lines().collect();
        let options = "#SBATCH -p x --nodes=9";
        let expected =
            ["41", "42", "--parsable", "#SBATCH --nodes=1", options, "#SBATCH --nodes=1"];
        assert_eq!(lines[..6], expected);
        assert_eq!(lines[6..8], ["#SBATCH --array=1-4%1", &format!("1) {call}")]);
        assert_eq!(lines[11], "--parsable --dependency=afterany:41");
        assert_eq!(lines[14..16], ["#SBATCH --nodes=2", "#SBATCH --array=1-1%1"]);
        assert!(lines[16].starts_with("1) run 2 4 2 2 1 "), "{}", lines[16]);
        assert_eq!(lines.len(), 17);
    }
}
