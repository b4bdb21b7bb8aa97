//! What a process wrote of itself.

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

use crate::ranks::Batches;

/// How a process ended, in the library's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ended {
    /// By itself: at its exit or in `MPI_Finalize`.
    #[default]
    Well,
    /// By a signal or `MPI_Abort`: what it says is of a part of the run.
    Early(String),
}

/// A process of the program. Times in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Process {
    /// The file of the program.
    pub program: String,
    /// How it ended.
    pub ended: Ended,
    /// Its rank, and how many there are, in `MPI_COMM_WORLD`; 0 of 0 without MPI.
    pub rank: u32,
    /// How many ranks there are; 0 without MPI.
    pub ranks: u32,
    /// Name and version of its MPI.
    pub mpi: String,
    /// The computer it ran on, and how many processors that has.
    pub host: (String, u32),
    /// From `MPI_Init` to `MPI_Finalize`, or from start to exit \[s\].
    pub time: f64,
    /// CPU time in that of all its threads \[s\].
    pub cpu: f64,
    /// Context switches that were not its own wish.
    pub switches: u64,
    /// The most threads that a region had.
    pub threads: u32,
    /// Whether several threads of its own entered regions.
    pub has_several_hosts: bool,
    /// Threads that others than a runtime of OpenMP or MPI started, and who started the first.
    pub other_threads: (u64, String),
    /// Its regions.
    pub regions: Vec<Region>,
    /// The operations of MPI that it called.
    pub operations: Vec<Operation>,
    /// Times of an empty region, by its threads.
    pub empty: Vec<Calibrated>,
    /// Times of collectives, by ranks: what rank 0 says.
    pub collectives: Vec<Calibrated>,
    /// Batches of the collectives that it was asked to time: what rank 0 says.
    pub batches: Vec<Batches>,
    /// Kernels and copies of its devices: name, how often, and time \[s\].
    pub devices: Vec<(String, u64, f64)>,
    /// Time in which a device of its was busy \[s\].
    pub device_time: f64,
    /// What it says that it could not see.
    pub notes: Vec<String>,
    /// What the library itself takes of a region, and of a call of MPI \[s\].
    pub cost: [f64; 2],
}

/// A region, all its calls together. Times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// File in which its code is, address there, and the name of that as far as the loader knows it.
    pub code: (String, u64, String),
    /// How often it was entered.
    pub calls: u64,
    /// The most threads that it had.
    pub threads: u32,
    /// From its begin to its end.
    pub time: f64,
    /// Work of all threads; waits left out.
    pub work: f64,
    /// Work of the thread that worked longest in each call.
    pub slowest: f64,
    /// From its begin until the first other thread began.
    pub first: f64,
}

impl Region {
    /// What the slowest thread worked beyond an equal share for each of p threads \[s\].
    pub fn uneven(&self, p: u32) -> f64 {
        (self.slowest - self.work / f64::from(p)).max(0.0)
    }
}

/// An operation of MPI, all its calls together. Times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its name in C, without `MPI_`.
    pub name: String,
    /// Whether it is a collective.
    pub is_collective: bool,
    /// How often it was called.
    pub calls: u64,
    /// What it carried from this rank \[B\].
    pub bytes: u64,
    /// Time in it, and as much of that as lies outside regions.
    pub time: f64,
    /// Time outside regions.
    pub outside: f64,
    /// Time in it of the last rank to arrive, summed over calls, where that is known.
    pub last: Option<f64>,
}

impl Operation {
    /// Time of the last rank to arrive; all of it where that is not known \[s\].
    pub fn of_last(&self) -> f64 {
        self.last.unwrap_or(self.time).min(self.time)
    }
}

/// What was timed by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// The operation; empty of a region.
    pub name: String,
    /// Ranks, or threads.
    pub count: u32,
    /// What a rank carries \[B\].
    pub bytes: u64,
    /// Time of one \[s\].
    pub time: f64,
    /// Standard error of that \[s\].
    pub std_error: f64,
}

/// The fields of a line, from left to right.
struct Fields<'a> {
    fields: std::str::Split<'a, char>,
    line: (&'a str, usize),
}

impl<'a> Fields<'a> {
    fn text(&mut self) -> Result<&'a str> {
        let (file, line) = self.line;
        self.fields.next().ok_or_else(|| damaged(file, line))
    }

    fn number(&mut self) -> Result<f64> {
        let (file, line) = self.line;
        self.text()?.parse().map_err(|_| damaged(file, line))
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.number()? as u64)
    }

    fn small(&mut self) -> Result<u32> {
        Ok(self.number()? as u32)
    }

    /// Nanoseconds as seconds.
    fn time(&mut self) -> Result<f64> {
        Ok(self.number()? * 1e-9)
    }
}

fn damaged(file: &str, line: usize) -> Error {
    let why = format!("line {line} is not what a probe of this version writes");
    Error::Program { program: file.to_string(), why }
}

impl Process {
    /// Reads what a process wrote.
    ///
    /// # Errors
    /// [`Error::Program`] for a file of another version, or one that is not whole.
    pub fn read(source: &Source) -> Result<Self> {
        let file = &source.name;
        let mut process = Self { threads: 1, ..Self::default() };
        let mut is_whole = false;
        for (number, line) in (1..).zip(source.text.lines()) {
            let mut fields = Fields { fields: line.split('\t'), line: (file, number) };
            match fields.text()? {
                "probe" if number == 1 && fields.text()? == "1" => {}
                "whole" => is_whole = true,
                what if number > 1 => process.take(what, &mut fields)?,
                _ => return Err(damaged(file, number)),
            }
        }
        let end = source.text.lines().count();
        if is_whole { Ok(process) } else { Err(damaged(file, end)) }
    }

    fn take(&mut self, what: &str, fields: &mut Fields<'_>) -> Result<()> {
        match what {
            "program" => self.program = fields.text()?.into(),
            "end" => {
                self.ended = match fields.text()? {
                    "exit" | "finalize" => Ended::Well,
                    how => Ended::Early(how.into()),
                }
            }
            "rank" => {
                (self.rank, self.ranks) = (fields.small()?, fields.small()?);
                self.mpi = fields.text()?.into();
            }
            "time" => {
                (self.time, self.cpu, self.switches) =
                    (fields.time()?, fields.time()?, fields.count()?);
            }
            "host" => self.host = (fields.text()?.into(), fields.small()?),
            "threads" => {
                self.threads = fields.small()?;
                self.has_several_hosts = fields.count()? > 0;
                self.other_threads = (fields.count()?, fields.text()?.into());
            }
            "region" => self.regions.push(region(fields)?),
            "mpi" => self.operations.push(operation(fields)?),
            "empty" => {
                let (count, time, std_error) = (fields.small()?, fields.time()?, fields.time()?);
                self.empty.push(Calibrated {
                    name: String::new(),
                    count,
                    bytes: 0,
                    time,
                    std_error,
                });
            }
            "collective" => self.collectives.push(Calibrated {
                name: fields.text()?.into(),
                count: fields.small()?,
                bytes: fields.count()?,
                time: fields.time()?,
                std_error: fields.time()?,
            }),
            "batches" => self.batches.push(batches(fields)?),
            "devices" => self.device_time = fields.time()?,
            "device" => {
                self.devices.push((fields.text()?.into(), fields.count()?, fields.time()?));
            }
            "note" => self.notes.push(fields.text()?.into()),
            "cost" => {
                let place = usize::from(fields.text()? == "mpi");
                self.cost[place] = fields.time()?;
            }
            _ => return Err(damaged(fields.line.0, fields.line.1)),
        }
        Ok(())
    }

    /// What the library itself took of the run, about \[s\].
    pub fn own_cost(&self) -> f64 {
        let calls = |count: u64| count as f64;
        let regions: u64 = self.regions.iter().map(|it| it.calls).sum();
        let operations: u64 = self.operations.iter().map(|it| it.calls).sum();
        calls(regions) * self.cost[0] + calls(operations) * self.cost[1]
    }

    /// The regions whose threads are its accelerators: none where it has devices, beside which threads are the host's.
    pub fn off_loads(&self) -> &[Region] {
        if self.devices.is_empty() { &self.regions } else { &[] }
    }

    /// The host's own time: outside off-loads and MPI, and while no device works \[s\].
    pub fn host_time(&self) -> f64 {
        let regions: f64 = self.off_loads().iter().map(|it| it.time).sum();
        let messages: f64 = self.operations.iter().map(|it| it.outside).sum();
        (self.time - regions - messages - self.device_time).max(0.0)
    }
}

fn batches(fields: &mut Fields<'_>) -> Result<Batches> {
    let (operation, ranks) = (fields.text()?.into(), fields.small()?);
    let (bytes, calls) = (fields.count()?, fields.count()?);
    let mut times = Vec::new();
    while fields.fields.clone().next().is_some() {
        times.push((fields.time()?, fields.time()?));
    }
    Ok(Batches { operation, bytes, ranks, calls, times })
}

fn region(fields: &mut Fields<'_>) -> Result<Region> {
    let code = (fields.text()?.into(), fields.count()?, fields.text()?.into());
    Ok(Region {
        code,
        calls: fields.count()?,
        threads: fields.small()?,
        time: fields.time()?,
        work: fields.time()?,
        slowest: fields.time()?,
        first: fields.time()?,
    })
}

fn operation(fields: &mut Fields<'_>) -> Result<Operation> {
    let name = fields.text()?.into();
    let is_collective = fields.count()? > 0;
    Ok(Operation {
        name,
        is_collective,
        calls: fields.count()?,
        bytes: fields.count()?,
        time: fields.time()?,
        outside: fields.time()?,
        last: Some(fields.time()?).filter(|time| *time >= 0.0),
    })
}
