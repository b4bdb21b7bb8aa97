//! `collective.csv` of the user's MPI, among ranks that its launcher starts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::runner::Runner;
use crate::error::{Error, Result, Warning};
use crate::native::bench::{Repetitions, Timed, doubts_of};
use crate::native::{self, host};
use crate::probe::ranks::{Batches, Collective, environment};
use crate::probe::{self, Library};
use crate::table::{self, records};

/// The file of the rows.
const FILE: &str = "collective.csv";

/// Collectives and what a rank carries in each [B]: next to nothing, a cache's page or so, and much.
const COLLECTIVES: [(&str, &[u64]); 3] =
    [("Barrier", &[0]), ("Allreduce", &[8, 1024, 65536]), ("Bcast", &[8, 1024, 65536])];

/// Batches of each collective that the library makes in one go.
const BATCHES: u32 = 10;

/// Least rounds: what disturbs one round of all collectives is gone in another.
const LEAST_ROUNDS: u32 = 3;

/// Launchers that are looked for on the PATH.
const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];

/// The word for no launcher.
const NONE: &str = "none";

/// A launcher, and what it is to start.
pub struct Launcher {
    words: Vec<String>,
    library: Library,
    program: PathBuf,
}

/// What was measured among ranks.
pub struct Measured {
    /// Rows of `collective.csv`.
    pub rows: Vec<records::Collective>,
    /// What they are of.
    pub what: String,
    /// What is missing or doubtful.
    pub warnings: Vec<Warning>,
}

impl Launcher {
    /// The launcher of these words, or the first that is here, with all compiled; `None` where none is wanted, or, with
    /// why, where none is here.
    ///
    /// # Errors
    /// For words that name none that is here; where its MPI has no compiler.
    pub fn find(
        words: Option<&str>,
        mpicc: Option<&str>,
    ) -> Result<std::result::Result<Self, String>> {
        let words = match words {
            Some(NONE) => return Ok(Err("--mpirun none".into())),
            Some(text) => named(text)?,
            None => match LAUNCHERS.into_iter().find(|name| native::is_executable(name)) {
                Some(name) => vec![name.into()],
                None => return Ok(Err("no mpirun on the PATH; --mpirun names a launcher".into())),
            },
        };
        let library = Library::for_command(&words, mpicc)?;
        let program = library.ranks()?;
        Ok(Ok(Self { words, library, program }))
    }

    /// Times collectives among these numbers of ranks, each with a processor of its own.
    ///
    /// # Errors
    /// Why the launcher could not, with its last words.
    pub fn measure(
        &self,
        runner: &mut Runner,
        ranks: &[u32],
        repetitions: u32,
    ) -> Result<Measured> {
        let most = ranks.last().copied().unwrap_or(1);
        if most < 2 {
            return Err(self.failed("ranks beyond the one processor here are not measured".into()));
        }
        let cores = host::physical_cores() as u32;
        let among =
            |most: u32| -> Vec<u32> { ranks.iter().copied().filter(|&it| it <= most).collect() };
        match self.among(runner, &among(most), repetitions) {
            // Open MPI counts cores, unless it is told to count threads of the hardware.
            Err(error) if (2..most).contains(&cores) => {
                let mut measured = self.among(runner, &among(cores), repetitions)?;
                measured.warnings.insert(
                    0,
                    Warning::Note(format!(
                        "{FILE}: up to {cores} ranks, one to a core, as {most} could not be started: {error}"
                    )),
                );
                Ok(measured)
            }
            measured => measured,
        }
    }

    fn among(&self, runner: &mut Runner, ranks: &[u32], repetitions: u32) -> Result<Measured> {
        let most = ranks.last().copied().unwrap_or(1);
        let folder = runner.folder("ranks")?;
        let of = |&ranks: &u32| {
            COLLECTIVES.into_iter().flat_map(move |(operation, sizes)| {
                sizes.iter().map(move |&bytes| Collective { operation, bytes, ranks })
            })
        };
        let all: Vec<Collective> = ranks.iter().flat_map(of).collect();
        let rounds = repetitions.div_ceil(BATCHES).max(LEAST_ROUNDS) as usize;
        let env = environment(&self.library, &folder, &all.repeat(rounds))?;
        let mut argv = self.words.clone();
        argv.extend(["-n".into(), most.to_string()]);
        argv.push(self.program.to_string_lossy().into_owned());
        if let Some(why) = native::reason(&runner.run(&argv, env)?) {
            return Err(self.failed(format!("{why}{}", advice(&why))));
        }
        if table::names_in(&folder).is_empty() {
            return Err(self.failed("started no rank of its MPI: it takes -n and a program".into()));
        }
        let traced = probe::read(&folder, &self.words[0])?;
        if traced.ranks() != most {
            let started = traced.ranks();
            return Err(self.failed(format!("was asked for {most} ranks and started {started}")));
        }
        let first = &traced.processes[0];
        let series = series(&first.batches);
        if series.len() < all.len() {
            let (of, all) = (series.len(), all.len());
            return Err(self.failed(format!("timed {of} of {all} collectives")));
        }
        let repetitions: Vec<Repetitions> = series.values().cloned().collect();
        let words = &argv[..argv.len() - 1].join(" ");
        Ok(Measured {
            rows: rows(&series),
            what: format!("among up to {most} ranks of {} ({words})", first.mpi),
            warnings: doubts_of(FILE, &repetitions),
        })
    }

    fn failed(&self, why: String) -> Error {
        Error::Program { program: self.words.join(" "), why }
    }
}

fn named(text: &str) -> Result<Vec<String>> {
    let words = shlex::split(text).filter(|words| !words.is_empty());
    let expected = "a launcher of MPI that is here, with its options but without -n: \"mpirun --oversubscribe\"; or none";
    let is_here = |words: &Vec<String>| native::is_executable(&words[0]);
    words
        .filter(is_here)
        .ok_or_else(|| Error::out_of_range("--mpirun", format!("{text:?}"), expected))
}

/// What to do about what launchers say.
fn advice(why: &str) -> &'static str {
    let small = why.to_lowercase();
    if small.contains("as root") {
        "; as root it wants OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the environment"
    } else if small.contains("slots") {
        "; --mpirun \"mpirun --use-hwthread-cpus\" counts all processors"
    } else if small.contains("stopped after") {
        "; a larger --budget waits longer"
    } else {
        ""
    }
}

/// The repetitions of each collective, by name, ranks and bytes.
fn series(batches: &[Batches]) -> BTreeMap<(String, u32, u64), Repetitions> {
    let mut all: BTreeMap<(String, u32, u64), Repetitions> = BTreeMap::new();
    for it in batches {
        let key = (it.operation.to_lowercase(), it.ranks, it.bytes);
        let repetitions = all.entry(key).or_default();
        for &(time_s, lost_s) in &it.times {
            repetitions.push(Timed { time_s, count: it.calls, lost_s });
        }
    }
    all
}

fn rows(series: &BTreeMap<(String, u32, u64), Repetitions>) -> Vec<records::Collective> {
    let of = |((operation, ranks, bytes), repetitions): (&(String, u32, u64), &Repetitions)| {
        let (operation, ranks, bytes) = (operation.clone(), *ranks, *bytes);
        let row = move |(timed, repetition): (Timed, u32)| records::Collective {
            operation: operation.clone(),
            ranks,
            bytes,
            repetition,
            calls: timed.count,
            time_s: timed.time_s,
        };
        repetitions.rows().into_iter().zip(1..).map(row).collect::<Vec<_>>()
    };
    series.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_all_rounds_are_repetitions_and_those_that_others_disturbed_are_none() {
        let batches = |times: &[(f64, f64)]| Batches {
            operation: "Barrier".into(),
            bytes: 0,
            ranks: 2,
            calls: 10,
            times: times.into(),
        };
        let all = [batches(&[(1e-3, 0.0), (9e-3, 8e-3)]), batches(&[(2e-3, 1e-5)])];
        let rows = rows(&series(&all));
        let told: Vec<_> = rows.iter().map(|it| (it.repetition, it.calls, it.time_s)).collect();
        assert_eq!(told, [(1, 10, 1e-3), (2, 10, 2e-3)]);
        assert_eq!((&*rows[0].operation, rows[0].ranks, rows[0].bytes), ("barrier", 2, 0));
    }
}
