//! How the command is run, and how its time is taken.

mod times;

use std::path::Path;

use clap::{Args, ValueEnum};

use super::declare::Declaration;
use super::sample;
use crate::cli::choice::one_of;
use crate::error::{Error, Result, Warning};
use crate::intake::{self, Comma};
use crate::native::{self, Command, Pin};
use crate::tune::engine::{Discipline, Timeout};
use crate::units::Seconds;

/// How the command is run.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "How it is run")]
pub struct ProgramArguments {
    /// Take the time from its output: a regular expression whose first group is a time (75.9, 1m15.9s,
    /// 1:15.9), in the unit that it says, or the group's name, (?<ms>[0-9]+), a second group or the
    /// words around it, else in seconds; the last match counts. Or the name of a program that prints
    /// it: gromacs, lammps, cp2k, qe, vasp, namd, hpcg, hpl, gnu-time. Given once, all of it is the
    /// expression; given several times, each is NAME=REGEX, as total='Total: ([0-9.]+) s' and
    /// io='I/O: ([0-9.]+) s': the first counts, or that which --objective names, and all are kept and
    /// shown [default: the wall clock]
    #[arg(long, value_name = "REGEX|NAME", conflicts_with_all = ["time_json", "rate_from"])]
    time_from: Vec<String>,
    /// Take a rate from its output, of which more is better, in the same way: ns/day, GFLOP/s; or the
    /// name of a program that prints one: gromacs, lammps, namd, hpcg, hpl
    #[arg(long, value_name = "REGEX|NAME", conflicts_with = "time_json")]
    rate_from: Option<String>,
    /// Take the time from JSON that it prints: the keys that lead to it, as in timing.total_s; the
    /// end of the last key is the unit
    #[arg(long, value_name = "KEY.KEY...")]
    time_json: Option<String>,
    /// Take a further quantity from its output, by a regular expression whose first group is its
    /// number, for --objective: joules='Energy: ([0-9.]+) J'; may be given several times
    #[arg(long, value_name = "NAME=REGEX", value_parser = variable)]
    capture: Vec<(String, String)>,
    /// A run is right only if its output matches this
    #[arg(long, value_name = "REGEX")]
    check: Option<String>,
    /// Set in its environment, with placeholders; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Run it by the shell (sh -c), its words joined by blanks. What is filled in is quoted as it must
    /// be where it stands; $MMGP_DIR and the like are words that the shell splits
    #[arg(long)]
    shell: bool,
    /// Runs before each run, untimed; a run that it fails for fails
    #[arg(long, value_name = "COMMAND")]
    prepare: Option<String>,
    /// Runs after each run, however that ended
    #[arg(long, value_name = "COMMAND")]
    conclude: Option<String>,
    /// Where it runs, with placeholders [default: here, or the fresh folder]
    #[arg(long, value_name = "DIR")]
    workdir: Option<String>,
    /// A fresh folder for each run, {dir}; removed after runs that went well
    #[arg(long)]
    fresh_dir: bool,
    /// Keep the fresh folders
    #[arg(long, requires = "fresh_dir")]
    keep_dirs: bool,
    /// Keep the end of the output of all runs, in DIR/output; without it, of those alone that did not
    /// go well
    #[arg(long)]
    keep_output: bool,
    /// On which processors: as the program and its launcher say, or m*p cores, next to each other
    /// (MMGP_PROCESSORS in its environment has p of them for each process: 0,1;2,3)
    #[arg(long, value_parser = one_of(&PINS), default_value = "launcher")]
    pin: Pin,
    /// Whether the launcher of --as mpi+openmp (mpirun of Open MPI or MPICH, srun) is told to bind
    /// ranks to the cores of their threads, and these to one each: --dry-run shows how; what the
    /// command says of binding is left as it is
    #[arg(long, value_enum, default_value = "auto")]
    binding: BindingFlag,
    /// Runs of each configuration before its first timed one
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u32,
    /// Stop a run after this: 60s, 5m, so many times the shortest run so far (3x, a second at
    /// least), or none; its processes end with it [default: 30x in tune, none in measure]
    #[arg(long, value_name = "TIME|Nx|none", value_parser = timeout)]
    timeout: Option<TimeoutFlag>,
    /// Run a program that is in mmgp itself, processes of several threads, for a first look
    #[arg(long, conflicts_with = "command")]
    sample: bool,
    /// The program and its arguments, with the placeholders {m} {p} {nodes} {rep} {dir}, those of
    /// --names and of --param; the environment has the same as MMGP_M, MMGP_P, ...
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The ways in which the processors of a run are chosen.
const PINS: [(Pin, &str, &str); 2] = [
    (Pin::Launcher, "launcher", "The program, its launcher, or the operating system"),
    (Pin::Cores, "cores", "m*p cores"),
];

/// Whether ranks are bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BindingFlag {
    /// With --as mpi+openmp, unless the command says where ranks go
    #[default]
    Auto,
    /// As the launcher does by itself
    None,
}

/// Whether ranks are to be bound to the cores of their threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// By whatever starts them
    Bound,
    /// As it is by itself
    Free,
}

/// A timeout that [`clap`] can hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeoutFlag(Option<Timeout>);

/// The folder of the outputs that are kept.
pub const OUTPUT: &str = "output";

/// The folder of the runs' fresh folders.
const FRESH: &str = "runs";

impl ProgramArguments {
    /// The same with the command of the sample, where that is to run.
    ///
    /// # Errors
    /// Those of [`sample::command`].
    pub fn with_sample(&self) -> Result<Self> {
        let mut program = self.clone();
        if self.sample {
            program.command = sample::command()?;
        }
        Ok(program)
    }

    /// Whether the sample is to run.
    pub fn is_of_sample(&self) -> bool {
        self.sample
    }

    /// The program and its arguments as they were given.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// How it is run, checked as far as can be before it runs; of several times the `counted` one counts.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a command, a regular expression or a list of keys that cannot be.
    pub fn settings(
        &self,
        declared: &Declaration,
        folder: &Path,
        counted: Option<&str>,
    ) -> Result<native::Settings> {
        let of_kind = declared
            .env
            .iter()
            .filter(|(name, _)| !self.env.iter().any(|(given, _)| given == name));
        let split = |flag: &'static str, text: &Option<String>| -> Result<Option<Vec<String>>> {
            text.as_deref().map(|text| self.words_of(flag, text)).transpose()
        };
        let argv = if self.shell { shell(&self.command.join(" ")) } else { self.command.clone() };
        let binding = self.binding(declared, &argv);
        let command = Command {
            argv,
            env: of_kind.chain(&self.env).cloned().collect(),
            folder: self.workdir.clone(),
            prepare: split("--prepare", &self.prepare)?,
            conclude: split("--conclude", &self.conclude)?,
            without: Vec::new(),
            is_script: self.shell,
        };
        check_is_found(&command, self.workdir.is_some())?;
        if let Some(check) = &self.check {
            native::check_pattern(check).map_err(|error| error.renamed(|_| "--check"))?;
        }
        let captures = self.captures()?;
        Ok(native::Settings {
            command,
            time: self.time_source(counted, &captures)?,
            captures,
            measurand: None,
            check: self.check.clone(),
            pin: self.pin,
            folders: self.fresh_dir.then(|| folder.join(FRESH)),
            keeps_folders: self.keep_dirs,
            outputs: Some(folder.join(OUTPUT)),
            keeps_output: self.keep_output,
            launcher: None,
            binding,
            names: Some(declared.words.pair()),
        })
    }

    /// What binds the ranks of a program that is said to be of MPI and OpenMP.
    fn binding(&self, declared: &Declaration, argv: &[String]) -> Option<native::Binding> {
        (self.ranks(declared) == Ranks::Bound).then(|| native::Binding::of(argv)).flatten()
    }

    /// Whether ranks are to be bound.
    pub fn ranks(&self, declared: &Declaration) -> Ranks {
        match declared.has_bound_ranks && self.binding == BindingFlag::Auto {
            true => Ranks::Bound,
            false => Ranks::Free,
        }
    }

    /// The launcher in a script that nothing tells where ranks go, though they are to be bound.
    pub fn unbound(&self, declared: &Declaration) -> Option<Warning> {
        if !self.shell || self.ranks(declared) == Ranks::Free {
            return None;
        }
        let (launcher, options) = native::unbound_launcher(&self.command.join(" "))?;
        Some(Warning::Note(format!(
            "nothing binds ranks in a script: put {options} behind {launcher} in it, or leave --shell out; \
             --binding none is silent"
        )))
    }

    /// How runs are made.
    pub fn discipline(&self, declared: &Declaration) -> Discipline {
        Discipline::new(self.warmup, self.timeout(None), declared.nodes.clone())
    }

    /// When a run is stopped, as the flag says or else as is usual.
    pub fn timeout(&self, usual: Option<Timeout>) -> Option<Timeout> {
        self.timeout.map_or(usual, |it| it.0)
    }

    /// What says whether a log is of the same runs: whatever changes a time.
    pub fn identity(&self) -> Vec<(&'static str, String)> {
        let pairs = |all: &[(String, String)]| {
            let pairs: Vec<String> =
                all.iter().map(|(name, value)| format!("{name}={value}")).collect();
            pairs.join(" ")
        };
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        vec![
            ("command", self.command.join(" ")),
            ("--env", pairs(&self.env)),
            ("--shell", self.shell.to_string()),
            ("--time-from", self.time_from.join(" ")),
            ("--rate-from", text(&self.rate_from)),
            ("--time-json", text(&self.time_json)),
            ("--capture", pairs(&self.capture)),
            ("--check", text(&self.check)),
            ("--prepare", text(&self.prepare)),
            ("--workdir", text(&self.workdir)),
            ("--pin", format!("{:?}", self.pin)),
        ]
    }

    fn words_of(&self, flag: &'static str, text: &str) -> Result<Vec<String>> {
        if self.shell {
            return Ok(shell(text));
        }
        let words = shlex::split(text).filter(|words| !words.is_empty());
        words.ok_or_else(|| {
            Error::out_of_range(flag, format!("{text:?}"), "a command, its quotes closed")
        })
    }
}

fn shell(text: &str) -> Vec<String> {
    ["sh", "-c", text].map(String::from).to_vec()
}

/// A program that is on no path shows before anything runs.
fn check_is_found(command: &Command, moves: bool) -> Result<()> {
    let all = [Some(&command.argv), command.prepare.as_ref(), command.conclude.as_ref()];
    for program in all.into_iter().flatten().filter_map(|words| words.first()) {
        // What is filled in, or lies where the runs will be, is seen when it runs.
        let is_relative = program.contains('/') && !program.starts_with('/');
        if program.contains('{') || (moves && is_relative) || native::is_executable(program) {
            continue;
        }
        return Err(Error::out_of_range(
            "command",
            format!("{program:?}, which is no program here"),
            if program.contains(char::is_whitespace) {
                "a program and its arguments as words of their own, or --shell"
            } else {
                "a program on the PATH or a path to one"
            },
        ));
    }
    Ok(())
}

/// Refuses to pin where nobody can, and what has no room.
pub fn check_room(settings: &native::Settings, declared: &Declaration) -> Result<()> {
    if settings.pin == Pin::Cores && !Pin::CORES_ARE_POSSIBLE {
        return Err(Error::out_of_range(
            "--pin",
            "cores",
            "launcher: only Linux lets processors be chosen",
        ));
    }
    let there = native::host::processors().len() as u64;
    let too_large = declared.space.iter().find(|it| it.apus() > there);
    match too_large.filter(|_| settings.pin == Pin::Cores) {
        None => Ok(()),
        Some(mapping) => Err(Error::out_of_range(
            "--pin",
            format!("{mapping} among the configurations, and {there} processors"),
            "configurations that have room, as by --where 'm*p <= cores'",
        )),
    }
}

fn variable(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err("expected NAME=VALUE with a name of a variable".into());
    }
    Ok((name.into(), value.into()))
}

fn timeout(text: &str) -> std::result::Result<TimeoutFlag, String> {
    let expected =
        || format!("{text:?} is neither a time, as in 90s or 5m, a factor, as in 3x, nor none");
    if text == "none" {
        return Ok(TimeoutFlag(None));
    }
    if let Some(factor) = text.strip_suffix('x') {
        let factor = factor.parse::<f64>().ok().filter(|it| *it >= 1.0 && it.is_finite());
        return factor.map(|it| TimeoutFlag(Some(Timeout::Times(it)))).ok_or_else(expected);
    }
    duration(text).map(|time| TimeoutFlag(Some(Timeout::After(time)))).map_err(|_| expected())
}

/// A time above 0, as in `90s`, `1h 30m`, `1:15.9`; a bare number is seconds, and a lone `m` minutes.
pub fn duration(text: &str) -> std::result::Result<Seconds, String> {
    let read = |text: &str| intake::duration(text, Comma::Thousands);
    let found = read(text).or_else(|| read(&format!("{text}in")).filter(|_| text.ends_with('m')));
    let time_s = found.map(|it| it.seconds).filter(|it| *it > 0.0 && it.is_finite());
    time_s
        .map(Seconds)
        .ok_or_else(|| format!("{text:?} is no time above 0, as in 90s, 30m, 1h 30m or 1:15.9"))
}
