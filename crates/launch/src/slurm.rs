//! What Slurm is given: one job in whose allocation a whole search runs, the launcher of each of
//! its runs, and arrays where every number of nodes is a job of its own.
//!
//! Sources: `sbatch(1)` and `srun(1)` of Slurm 22.05, their input environment variables, and the
//! release notes of 22.05: since then srun no longer takes `-c` from the job around it, and a step
//! that does not ask has one CPU a task. It is therefore always given.
//!
//! **The time limit.** 60 seconds before its end, or up to 60 seconds earlier, a job is sent
//! SIGTERM ([`job`]). It becomes the command itself, so that this is what the signal reaches: what
//! ended cleanly goes on when the same script is submitted again.

mod array;

use mmgp_base::Mapping;

use crate::quote::command_line;
pub use array::array;

/// What a job asks of Slurm.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its output goes: `tune/slurm-%j.out` has the job's number in it.
    pub output: &'a str,
    /// Options of sbatch in its own syntax, on one or several lines: they outweigh ours. Without
    /// any a job is given whole nodes.
    pub options: &'a str,
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
/// srun ends with the highest exit code of its tasks. To stop a step, send srun SIGTERM and leave
/// it a few seconds: killed at once, it leaves its tasks behind.
pub fn step(mapping: Mapping, nodes: u32) -> Vec<String> {
    let (m, p) = (mapping.m().to_string(), mapping.p().to_string());
    let nodes = nodes.to_string();
    ["srun", "-n", &m, "-c", &p, "--exact", "-N", &nodes, "--mem=0", "--export=ALL"]
        .map(String::from)
        .to_vec()
}

/// The variable with which a step that itself calls srun passes on `-c`, and its value.
pub fn step_variable(mapping: Mapping) -> (&'static str, String) {
    ("SRUN_CPUS_PER_TASK", mapping.p().to_string())
}

/// A batch script that becomes `command`, which starts its runs as [`step`]s, on `nodes` nodes.
pub fn job(settings: &Settings<'_>, nodes: u32, command: &[String]) -> String {
    let mut text = head(settings, nodes, "--signal=B:TERM@60");
    if settings.options.trim().is_empty() {
        text += "#SBATCH --exclusive\n";
    }
    text += &options(settings);
    text += &format!("\n{}\nexec {}\n", unset(), command_line(command));
    text
}

/// The first lines of a batch script, with one further option.
fn head(settings: &Settings<'_>, nodes: u32, option: &str) -> String {
    format!(
        "#!/usr/bin/env bash\n#SBATCH --job-name={}\n#SBATCH --output={}\n#SBATCH --nodes={nodes}\n\
         #SBATCH {option}\n",
        sbatch_word(settings.name),
        sbatch_word(settings.output),
    )
}

/// The user's options: a later line outweighs an earlier one.
fn options(settings: &Settings<'_>) -> String {
    let lines = settings.options.lines().map(|line| line.trim().trim_start_matches("#SBATCH"));
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("#SBATCH {line}\n")).collect()
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
