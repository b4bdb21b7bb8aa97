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
    KnownProgram {
        name: "gromacs",
        time: Some(r"^\s*Time:\s+\S+\s+(\S+)"),
        rate: Some((r"^Performance:\s+([0-9.]+)", "ns/day")),
    },
    KnownProgram {
        name: "lammps",
        time: Some(r"^Loop time of (\S+) on"),
        rate: Some((r"^Performance: (\S+) ([a-z]+/day|timesteps/s)", "")),
    },
    KnownProgram { name: "cp2k", time: Some(r"^ CP2K +\d+(?: +[\d.]+){4} +([\d.]+)"), rate: None },
    KnownProgram { name: "qe", time: Some(r"^\s*PWSCF\s*:.*CPU\s+(.*\S)\s*WALL"), rate: None },
    KnownProgram { name: "vasp", time: Some(r"Elapsed time \(sec\):\s+([\d.]+)"), rate: None },
    KnownProgram {
        name: "namd",
        time: Some(r"^WallClock:\s+(\S+)"),
        rate: Some((r"^Info: Benchmark time: \d+ CPUs \S+ s/step (\S+) (ns/day)", "")),
    },
    KnownProgram {
        name: "hpcg",
        time: None,
        rate: Some((r"VALID with a GFLOP/s rating of\s*=\s*(\S+)", "GFLOP/s")),
    },
    KnownProgram {
        name: "hpl",
        time: Some(r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+(\S+)\s+\S+"),
        rate: Some((r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+\S+\s+(\S+)", "GFLOP/s")),
    },
    KnownProgram {
        name: "gnu-time",
        time: Some(r"Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): (\S+)"),
        rate: None,
    },
];

impl KnownProgram {
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
