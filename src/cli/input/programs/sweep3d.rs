//! Sweep3D on the command line.

use std::ffi::OsString;
use std::path::Path;
use std::str::FromStr;

use clap::Args;

use super::{Entry, Program, Size, Way};
use crate::Mapping;
use crate::apps::Application;
use crate::apps::sweep3d::{NAME, Programming, Sweep3d};
use crate::cli::choice::one_of;
use crate::cli::emulate::{self, Once, ProgramReport, plain_sweep};
use crate::cli::input::{SeedArguments, input_file, is_file, source};
use crate::cli::output::progress;
use crate::cli::{Answer, study};
use crate::complexity::Sizes;
use crate::error::{Error, Result};
use crate::lab::study::SweepChoices;
use crate::sweep::{Decomposition, Fields, Input, Octant, Problem, solve};

/// The program on the command line.
pub const ENTRY: Entry = Entry {
    runs: &[Way::Plainly],
    flags: &[
        ("processes along i", "--processes"),
        ("processes along j", "--processes"),
        ("planes of a block", "--mk"),
        ("angles of a block", "--mmi"),
        ("cells along i", "--cells"),
        ("cells along j", "--cells"),
        ("cells along k", "--cells"),
        ("cells to solve", "--cells"),
        ("angles of an octant", "--mm"),
        ("order of scattering", "--isct"),
        ("error to reach", "--epsi"),
        ("low boundary of i", "--boundaries"),
        ("low boundary of j", "--boundaries"),
        ("low boundary of k", "--boundaries"),
        ("fix-ups", "--ifixups"),
        ("ranks of sweep3d", "--p"),
        ("processes of sweep3d", "--m"),
    ],
    ..Entry::of::<Sweep3dArguments>(
        NAME,
        "Transport of neutrons on a grid: a wavefront of ranks",
        Size::new("cells along each axis", &[8, 16, 24, 32]),
    )
};

/// Parses the low boundaries of i, j and k.
fn boundaries(text: &str) -> std::result::Result<[i64; 3], String> {
    let numbers: std::result::Result<Vec<i64>, _> =
        text.split(',').map(str::trim).map(str::parse).collect();
    let three = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    three.ok_or_else(|| "expected three numbers as in 1,0,0".to_string())
}

/// Parses the angles of a block, of six.
pub fn angles_of_block(text: &str) -> std::result::Result<u32, String> {
    let angles = text.parse().ok().filter(|angles| [1, 2, 3, 6].contains(angles));
    angles.ok_or_else(|| "expected 1, 2, 3 or 6".to_string())
}

/// Flags of Sweep3D: the problem, and its division.
#[derive(Args)]
pub struct Sweep3dArguments {
    /// Side that runs the program: the host, which hands lines of cells to the SPEs (accelerator), or the
    /// SPEs, which pass messages (reverse)
    #[arg(long, value_parser = one_of(&PROGRAMMINGS), default_value = "reverse")]
    pub programming: Programming,
    /// A file as the benchmark reads it, which the other flags change
    #[arg(long, value_name = "FILE")]
    pub input: Option<String>,
    /// Cells along i, j and k: N or IxJxK [default: 50]
    #[arg(long, value_name = "IxJxK")]
    pub cells: Option<Extents<3>>,
    /// Processes along i and j [default: 2x3, or as many as --p says]
    #[arg(long, value_name = "IxJ")]
    pub processes: Option<Extents<2>>,
    /// Planes of k of a block [default: 10]
    #[arg(long, value_name = "N")]
    pub mk: Option<u32>,
    /// Angles of a block, which divide those of an octant [default: 3]
    #[arg(long, value_name = "N")]
    pub mmi: Option<u32>,
    /// Angles of an octant: 3 (S4) or 6 (S6) [default: 6]
    #[arg(long, value_name = "N")]
    pub mm: Option<u32>,
    /// Order of scattering: 0 or 1 [default: 1]
    #[arg(long, value_name = "N")]
    pub isct: Option<u32>,
    /// Error to reach, or minus a number of iterations [default: -12]
    #[arg(long, value_name = "EPSI", allow_negative_numbers = true)]
    pub epsi: Option<f64>,
    /// Fix-ups of negative fluxes: 1 always, 0 never, -N after N iterations [default: -7]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub ifixups: Option<i64>,
    /// Low boundaries of i, j and k: 0 vacuum, 1 reflective [default: 0,0,0]
    #[arg(long, value_name = "I,J,K", value_parser = boundaries)]
    pub boundaries: Option<[i64; 3]>,
    #[command(flatten)]
    seed: SeedArguments,
}

/// The sides that may run the program.
const PROGRAMMINGS: [(Programming, &str, &str); 2] = [
    (Programming::Accelerator, "accelerator", "The host runs it and off-loads lines"),
    (Programming::Reverse, "reverse", "The SPEs run it and pass messages"),
];

/// Numbers along axes, as in `50x50x20`; a single one is that along each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extents<const N: usize>(pub [u32; N]);

impl<const N: usize> FromStr for Extents<N> {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || format!("expected whole numbers as in {}", ["50"; N].join("x"));
        let numbers: std::result::Result<Vec<u32>, _> =
            text.split('x').map(str::trim).map(str::parse).collect();
        let numbers = numbers.map_err(|_| expected())?;
        match numbers[..] {
            [all] if N == 3 => Ok(Self([all; N])),
            _ => numbers.try_into().map(Self).map_err(|_| expected()),
        }
    }
}

impl Sweep3dArguments {
    /// The input, from a file where one is named, changed as the flags say.
    pub fn problem(&self) -> Result<Input> {
        let mut fields = match self.input.as_deref() {
            None => Fields::BENCHMARK,
            Some(name) if is_file(name) => *Input::read(&*source(Path::new(name))?)?.fields(),
            Some(name) => {
                return Err(Error::out_of_range(
                    "--input",
                    name,
                    "the file of a problem, as the benchmark has it",
                ));
            }
        };
        let set = |field: &mut i64, value: Option<u32>| {
            *field = value.map_or(*field, i64::from);
        };
        set(&mut fields.planes_of_block, self.mk);
        set(&mut fields.angles_of_block, self.mmi);
        set(&mut fields.angles, self.mm);
        set(&mut fields.scattering, self.isct);
        fields.fix_ups = self.ifixups.unwrap_or(fields.fix_ups);
        fields.convergence = self.epsi.unwrap_or(fields.convergence);
        if let Some(Extents(cells)) = self.cells {
            fields.cells = cells.map(i64::from);
        }
        if let Some(Extents(processes)) = self.processes {
            fields.processes = processes.map(i64::from);
        }
        fields.boundaries = self.boundaries.unwrap_or(fields.boundaries);
        Input::new(fields)
    }
}

impl Program for Sweep3dArguments {
    fn seed(&self) -> u64 {
        self.seed.seed
    }

    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.sweep()?))
    }

    fn once(&self, _: &emulate::Arguments) -> Result<Box<dyn Once>> {
        Ok(Box::new(self.sweep()?))
    }

    /// The program with n cells along each axis.
    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        let mut fields = *self.problem()?.fields();
        if let Some(n) = sizes.of("n") {
            fields.cells = [n as i64; 3];
        }
        Ok(Box::new(Sweep3d::new(Input::new(fields)?, self.programming)?))
    }

    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        vec![("--input", input_file(self.input.as_deref()))]
    }

    fn has_input(&self) -> bool {
        self.input.is_some()
    }

    /// The mapping with as many SPEs as ranks, or those of a Cell, where p is not given.
    fn mapping(&self, m: Option<u32>, p: Option<u32>) -> Result<Mapping> {
        let own = self.sweep()?;
        Mapping::new(m.unwrap_or(1), p.unwrap_or_else(|| own.usual_spes()))
    }

    fn study(&self, arguments: &study::Arguments, words: &[OsString]) -> Result<Answer> {
        let machine = arguments.plain_machine()?;
        let grows = self.input.is_none() && self.cells.is_none();
        let subject = SweepChoices::new(&machine, *self.problem()?.fields(), grows)?;
        study::sweep(&subject, arguments, words)
    }

    fn plainly(&self, emulate: &emulate::Arguments) -> Option<Result<ProgramReport>> {
        Some(self.solved(emulate))
    }
}

impl Sweep3dArguments {
    fn sweep(&self) -> Result<Sweep3d> {
        Sweep3d::new(self.problem()?, self.programming)
    }

    /// Solves the problem plainly, divided as its input says.
    fn solved(&self, emulate: &emulate::Arguments) -> Result<ProgramReport> {
        let input = self.problem()?;
        let problem = Problem::new(&input);
        let decomposition = Decomposition::new(&problem, input.processes())?;
        let octants =
            Sweep3d::new(input, Programming::Reverse)?.iterations() * Octant::COUNT as u64;
        let bar = progress("sweeping", octants, emulate.is_quiet().into());
        let outcome = solve(&problem, &decomposition, &mut |_| bar.inc(1));
        bar.finish_and_clear();
        Ok(plain_sweep(&problem, input.processes(), &outcome?))
    }
}
