//! What well-known programs print of their time or their rate, by name.
//!
//! The forms are what their sources write or their manuals show; what stands in a group is read as any
//! printed time is.

use super::PrintedKind;

/// A program that prints its time or its rate.
pub(super) struct KnownProgram {
    pub name: &'static str,
    /// The line of its time.
    time: Option<&'static str>,
    /// The line of its rate, and its unit where the line does not say it.
    rate: Option<(&'static str, &'static str)>,
}

pub(super) const PROGRAMS: [KnownProgram; 9] = [
    program("gromacs", Some(r"^\s*Time:\s+\S+\s+(\S+)"))
        .with_rate(r"^Performance:\s+([0-9.]+)", "ns/day"),
    program("lammps", Some(r"^Loop time of (\S+) on"))
        .with_rate(r"^Performance: (\S+) ([a-z]+/day|timesteps/s)", ""),
    program("cp2k", Some(r"^ CP2K +\d+(?: +[\d.]+){4} +([\d.]+)")),
    program("qe", Some(r"^\s*PWSCF\s*:.*CPU\s+(.*\S)\s*WALL")),
    program("vasp", Some(r"Elapsed time \(sec\):\s+([\d.]+)")),
    program("namd", Some(r"^WallClock:\s+(\S+)"))
        .with_rate(r"^Info: Benchmark time: \d+ CPUs \S+ s/step (\S+) (ns/day)", ""),
    program("hpcg", None).with_rate(r"VALID with a GFLOP/s rating of\s*=\s*(\S+)", "GFLOP/s"),
    program("hpl", Some(r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+(\S+)\s+\S+"))
        .with_rate(r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+\S+\s+(\S+)", "GFLOP/s"),
    program("gnu-time", Some(r"Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): (\S+)")),
];

/// A program that prints its time in such a line, if it does.
const fn program(name: &'static str, time: Option<&'static str>) -> KnownProgram {
    KnownProgram { name, time, rate: None }
}

impl KnownProgram {
    /// The same program, which prints its rate in such a line.
    const fn with_rate(self, line: &'static str, unit: &'static str) -> Self {
        Self { rate: Some((line, unit)), ..self }
    }

    /// The line, what it prints and the unit that it does not say; of a program that prints no time, that of
    /// its rate.
    pub fn line(&self, wanted: PrintedKind) -> Option<(&'static str, PrintedKind, &'static str)> {
        let time = || self.time.map(|line| (line, PrintedKind::Time, ""));
        let rate = || self.rate.map(|(line, unit)| (line, PrintedKind::Rate, unit));
        match wanted {
            PrintedKind::Time => time().or_else(rate),
            PrintedKind::Rate => rate(),
        }
    }
}
