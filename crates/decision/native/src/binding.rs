//! Launchers of MPI, and how each is told to give every rank the processors of its threads.
//!
//! Open MPI binds a rank to one core where there are one or two, and to a socket or a NUMA domain from three
//! on, however many threads it has (`mpirun(1)`, "Mapping, Ranking, and Binding"); MPICH and Slurm bind
//! to what they are told. Options are those of the manuals: Open MPI 4.1 and 5.0, Hydra's
//! `-bind-to` (MPICH 4), `srun(1)`.

use std::path::Path;
use std::process::{Command, Stdio};

use mmgp_base::Mapping;

use crate::host;

/// A launcher of MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MpiLauncher {
    /// `mpirun` of Open MPI up to version 4
    OpenMpi4,
    /// `mpirun` of Open MPI from version 5 on
    OpenMpi5,
    /// `mpiexec` of MPICH: Hydra
    Hydra,
    /// `srun` of Slurm
    Srun,
}

/// Names under which launchers are installed.
const LAUNCHERS: [&str; 7] =
    ["mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi", "orterun", "prterun", "srun"];

/// Processes by which launchers start ranks on each node, as the system calls them.
const ON_NODES: [&str; 4] = ["orted", "prted", "hydra_pmi_proxy", "slurmstepd"];

/// Programs that run the one behind them.
const WRAPPERS: [&str; 7] = ["env", "nice", "numactl", "setarch", "stdbuf", "time", "timeout"];

/// Options of all launchers by which users say where ranks go.
const OPTIONS: [&str; 16] = [
    "--bind-to",
    "-bind-to",
    "--bind-to-core",
    "--bind-to-socket",
    "--map-by",
    "-map-by",
    "--cpus-per-proc",
    "--cpus-per-rank",
    "--cpu-set",
    "--cpu-list",
    "--rankfile",
    "-rf",
    "--cpu-bind",
    "--cpu_bind",
    "--cpus-per-task",
    "-binding",
];

/// The place of the launcher in a command, which it begins but for programs that run another.
pub(crate) fn launcher_in(argv: &[String]) -> Option<usize> {
    let name = |word: &str| Path::new(word).file_name()?.to_str().map(String::from);
    let first = name(argv.first()?)?;
    let is_launcher = |word: &String| name(word).is_some_and(|it| LAUNCHERS.contains(&&*it));
    let is_wrapped = WRAPPERS.contains(&&*first);
    argv.iter().take(if is_wrapped { argv.len() } else { 1 }).position(is_launcher)
}

/// Whether a process of that name, of which the system keeps fifteen letters, starts ranks.
pub(crate) fn starts_ranks(name: &str) -> bool {
    LAUNCHERS.iter().chain(&ON_NODES).any(|it| it[..it.len().min(15)] == *name)
}

/// Whether options of the command say where ranks go already.
pub(crate) fn is_bound(argv: &[String]) -> bool {
    let is_one = |word: &String| {
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        OPTIONS.contains(&option)
            || word.contains("_binding_policy")
            || word == "rmaps_base_mapping"
    };
    // srun's -c, which is something else to others.
    let is_srun = |at: usize| argv[at].ends_with("srun");
    let has_cpus = || {
        let cpus = |it: &String| it.strip_prefix("-c").is_some_and(|it| !it.starts_with('-'));
        argv.iter().any(cpus)
    };
    argv.iter().any(is_one) || launcher_in(argv).is_some_and(is_srun) && has_cpus()
}

impl MpiLauncher {
    /// The launcher of a command, asked for its version.
    pub fn of(argv: &[String]) -> Option<Self> {
        let program = &argv[launcher_in(argv)?];
        if Path::new(program).file_name().is_some_and(|it| it == "srun") {
            // Scripts for a cluster are also written where it is not.
            return Some(Self::Srun);
        }
        let asked = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
        let told = String::from_utf8_lossy(&asked.stdout) + String::from_utf8_lossy(&asked.stderr);
        Self::told(&told)
    }

    /// The launcher that says so of its version.
    fn told(version: &str) -> Option<Self> {
        if version.contains("HYDRA") {
            return Some(Self::Hydra);
        }
        let first = version.lines().find(|line| !line.trim().is_empty())?;
        let number = first
            .split(|it: char| it.is_whitespace())
            .find_map(|word| word.split_once('.').and_then(|(major, _)| major.parse::<u32>().ok()));
        match first.trim() {
            it if it.starts_with("slurm") => Some(Self::Srun),
            it if it.contains("PRRTE") => Some(Self::OpenMpi5),
            it if it.contains("Open MPI") || it.contains("OpenRTE") => {
                Some(if number? >= 5 { Self::OpenMpi5 } else { Self::OpenMpi4 })
            }
            _ => None,
        }
    }

    /// The options that give each rank the cores of its threads, with `{p}` for these.
    pub fn advice(self) -> &'static str {
        match self {
            Self::OpenMpi4 | Self::OpenMpi5 => "--map-by slot:PE={p} --bind-to core",
            Self::Hydra => "-bind-to core:{p}",
            Self::Srun => "-c {p} --cpu-bind=cores",
        }
    }
}

/// The launcher in a script of a shell that does not say where its ranks go, and the options that do; `None`
/// where there is no such launcher, or one that is not known.
pub fn unbound_launcher(script: &str) -> Option<(String, &'static str)> {
    let words: Vec<String> = script
        .split(|it: char| it.is_whitespace() || ";&|()`".contains(it))
        .filter(|word| !word.is_empty())
        .map(String::from)
        .collect();
    let command = (0..words.len()).map(|at| &words[at..]).find(|it| launcher_in(it) == Some(0))?;
    let launcher = MpiLauncher::of(command).filter(|_| !is_bound(command))?;
    Some((command[0].clone(), launcher.advice()))
}

/// Options that bind ranks, put into a command behind its launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    launcher: MpiLauncher,
    /// Place of the launcher in the command.
    place: usize,
    /// Cores of a node.
    cores: u64,
    /// Hardware threads of a node.
    threads: u64,
}

/// What a rank gets of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// A core for each thread.
    Cores,
    /// A hardware thread for each thread: there are not so many cores.
    HardwareThreads,
    /// Whatever is free: there are more threads than places.
    Anything,
}

impl Binding {
    /// The binding of a command's launcher on nodes like this computer; `None` where the command has
    /// no launcher that is known, or says itself where ranks go.
    pub fn of(argv: &[String]) -> Option<Self> {
        let place = launcher_in(argv).filter(|_| !is_bound(argv))?;
        let launcher = MpiLauncher::of(argv)?;
        let (cores, threads) = (host::physical_cores() as u64, host::processors().len() as u64);
        Some(Self { launcher, place, cores, threads })
    }

    /// The same on nodes of which nothing is known here: Slurm gives a step no more than there is.
    #[must_use]
    pub fn elsewhere(self) -> Self {
        match self.launcher {
            MpiLauncher::Srun => Self { cores: u64::MAX, threads: u64::MAX, ..self },
            _ => self,
        }
    }

    fn share(&self, mapping: Mapping, nodes: u32) -> Share {
        match mapping.apus().div_ceil(u64::from(nodes)) {
            places if places <= self.cores => Share::Cores,
            places if places <= self.threads => Share::HardwareThreads,
            _ => Share::Anything,
        }
    }

    /// The command with the options of a mapping on so many nodes.
    pub(crate) fn put_into(&self, argv: &mut Vec<String>, mapping: Mapping, nodes: u32) {
        let p = mapping.p();
        let options = match (self.launcher, self.share(mapping, nodes)) {
            (MpiLauncher::OpenMpi4 | MpiLauncher::OpenMpi5, Share::Cores) => {
                format!("--map-by slot:PE={p} --bind-to core")
            }
            (MpiLauncher::OpenMpi4, Share::HardwareThreads) => {
                format!("--use-hwthread-cpus --map-by slot:PE={p} --bind-to hwthread")
            }
            (MpiLauncher::OpenMpi5, Share::HardwareThreads) => {
                format!("--map-by slot:PE={p}:HWTCPUS --bind-to hwthread")
            }
            (MpiLauncher::OpenMpi4 | MpiLauncher::OpenMpi5, Share::Anything) => {
                "--bind-to none".into()
            }
            (MpiLauncher::Hydra, Share::Cores) => format!("-bind-to core:{p}"),
            (MpiLauncher::Hydra, Share::HardwareThreads) => format!("-bind-to hwthread:{p}"),
            (MpiLauncher::Hydra, Share::Anything) => "-bind-to none".into(),
            (MpiLauncher::Srun, Share::Cores) => format!("-c {p} --cpu-bind=cores"),
            (MpiLauncher::Srun, Share::HardwareThreads) => format!("-c {p} --cpu-bind=threads"),
            (MpiLauncher::Srun, Share::Anything) => "--cpu-bind=none".into(),
        };
        let words = options.split(' ').map(String::from);
        argv.splice(self.place + 1..self.place + 1, words);
    }

    /// Variables that keep each thread of OpenMP on a core of its rank's; none where ranks have less than
    /// a core for each.
    pub(crate) fn variables(
        &self,
        mapping: Mapping,
        nodes: u32,
    ) -> &'static [(&'static str, &'static str)] {
        match self.share(mapping, nodes) {
            Share::Cores => &[("OMP_PLACES", "cores"), ("OMP_PROC_BIND", "close")],
            Share::HardwareThreads | Share::Anything => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn a_launcher_is_known_by_what_it_says_of_its_version() {
        let check = |told: &str, launcher| assert_eq!(MpiLauncher::told(told), launcher, "{told}");
        check("mpirun (Open MPI) 4.1.4\n\nReport bugs to", Some(MpiLauncher::OpenMpi4));
        check("mpirun (Open MPI) 5.0.3\n", Some(MpiLauncher::OpenMpi5));
        check("mpirun (OpenRTE) 3.1.3\n", Some(MpiLauncher::OpenMpi4));
        check("prterun (PRRTE) 3.0.2\n", Some(MpiLauncher::OpenMpi5));
        let hydra = "HYDRA build details:\n    Version:                                 4.0.2\n";
        check(hydra, Some(MpiLauncher::Hydra));
        check("slurm 22.05.8\n", Some(MpiLauncher::Srun));
        check("Intel(R) MPI Library for Linux* OS, Version 2021.5 Build 20211102", None);
        check("", None);
    }

    #[test]
    fn a_launcher_begins_the_command_or_stands_behind_what_runs_it() {
        let check = |text: &str, place| assert_eq!(launcher_in(&words(text)), place, "{text}");
        check("mpirun -n 4 ./app", Some(0));
        check("/opt/mpi/bin/mpiexec -n 4 ./app", Some(0));
        check("env A=b timeout 5 srun ./app", Some(4));
        check("./app --launcher mpirun", None);
        check("env A=b ./app", None);
    }

    #[test]
    fn a_launcher_in_a_script_that_binds_nothing_is_found() {
        let check = |script: &str, launcher: Option<&str>| {
            let expected = launcher.map(|it| (it.to_string(), "-c {p} --cpu-bind=cores"));
            assert_eq!(unbound_launcher(script), expected, "{script}");
        };
        check("cd run && srun -n {m} ./app > out", Some("srun"));
        check("t=$(/opt/bin/srun -n {m} ./app); echo $t", Some("/opt/bin/srun"));
        check("export A=b; srun -n {m} -c {p} --cpu-bind=cores ./app", None);
        check("./app --threads {p}", None);
    }

    #[test]
    fn what_the_user_says_of_binding_is_seen() {
        for text in [
            "mpirun --bind-to none ./app",
            "mpirun --map-by=socket ./app",
            "mpirun --mca hwloc_base_binding_policy core ./app",
            "mpiexec -bind-to core:2 ./app",
            "srun -c4 ./app",
            "srun -c 4 ./app",
            "srun --cpu-bind=cores ./app",
        ] {
            assert!(is_bound(&words(text)), "{text}");
        }
        for text in ["mpirun -n 4 ./app -c 4", "srun -n 4 ./app", "mpirun ./app --threads 4"] {
            assert!(!is_bound(&words(text)), "{text}");
        }
    }

    #[test]
    fn every_rank_gets_the_places_of_its_threads_as_long_as_there_are_some() {
        let check = |launcher, (m, p): (u32, u32), expected: &str| {
            let binding = Binding { launcher, place: 1, cores: 4, threads: 8 };
            let mut argv = words("env mpirun -n M ./app");
            binding.put_into(&mut argv, Mapping::of(m, p), 1);
            let options = argv.join(" ");
            assert_eq!(options, format!("env mpirun {expected} -n M ./app"));
            let is_placed = !binding.variables(Mapping::of(m, p), 1).is_empty();
            assert_eq!(is_placed, m * p <= 4);
        };
        use MpiLauncher::{Hydra, OpenMpi4, OpenMpi5, Srun};
        check(OpenMpi4, (2, 2), "--map-by slot:PE=2 --bind-to core");
        check(OpenMpi4, (2, 4), "--use-hwthread-cpus --map-by slot:PE=4 --bind-to hwthread");
        check(OpenMpi4, (3, 3), "--bind-to none");
        check(OpenMpi5, (1, 4), "--map-by slot:PE=4 --bind-to core");
        check(OpenMpi5, (8, 1), "--map-by slot:PE=1:HWTCPUS --bind-to hwthread");
        check(Hydra, (2, 2), "-bind-to core:2");
        check(Hydra, (2, 3), "-bind-to hwthread:3");
        check(Srun, (4, 1), "-c 1 --cpu-bind=cores");
        check(Srun, (9, 1), "--cpu-bind=none");
        // Of other nodes it is not known what is too much.
        let binding = Binding { launcher: Srun, place: 0, cores: 4, threads: 4 }.elsewhere();
        assert_eq!(binding.share(Mapping::of(16, 4), 1), Share::Cores);
        // Nodes share the ranks.
        let binding = Binding { launcher: OpenMpi4, place: 0, cores: 4, threads: 4 };
        assert_eq!(binding.share(Mapping::of(4, 4), 4), Share::Cores);
    }
}
