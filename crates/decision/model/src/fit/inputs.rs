//! Inputs of a fit, what was measured, and its settings.
//!
//! Times have bounds: residuals are squared, and squares of squares are added up, and beyond what any clock
//! reaches floating-point numbers would overflow or vanish.

use super::refined::RefinedCounts;
use super::runs::Runs;
use super::shape::TermChoices;
use crate::models::Parameters;
use crate::models::parameters::Decomposition;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::csv::Record;
use mmgp_base::table::{Source, csv, records};

/// The rows of a file, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRows<R> {
    /// The file's name as the user gave it.
    pub file: String,
    /// Rows of the file; at least one.
    pub rows: Vec<R>,
}

impl<R: Record> FileRows<R> {
    /// Reads and checks all rows.
    pub fn read(source: &Source) -> Result<(Self, Vec<Warning>)> {
        let (rows, warnings) = csv::read(source)?;
        Ok((Self { file: source.name.clone(), rows }, warnings))
    }
}

/// Everything that may have been measured; each is optional, but a profile or runs must be there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// `alpha.csv`, which determines alpha.
    pub alpha: Option<FileRows<records::Alpha>>,
    /// `offload.csv`, which determines O_offload.
    pub offload: Option<FileRows<records::Offload>>,
    /// `context_switch.csv`, which determines T_CSW.
    pub context_switch: Option<FileRows<records::ContextSwitch>>,
    /// `collective.csv`, which determines O_COL.
    pub collective: Option<FileRows<records::Collective>>,
    /// `profile.csv`, which determines T_HPU, T_APU, C_APU, N, g and the number of collectives.
    pub profile: Option<FileRows<records::Profile>>,
    /// `runs.csv`: timed runs, which correct what the others say and estimate what they leave
    /// open.
    pub runs: Option<Runs>,
    /// What is believed of terms that no file measures: each value with its standard error, as a
    /// fit of earlier runs or of a similar program left it. A value without one is believed to
    /// 10 %.
    pub prior: Option<Parameters>,
    /// `memory.csv`, which a refined model's terms of memory need.
    pub memory: Option<FileRows<records::MemoryStream>>,
}

impl Inputs {
    /// What runs are of. Of rates, other files and an earlier fit must not speak of seconds.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where they do.
    pub(crate) fn quantity(&self) -> Result<Quantity> {
        let of_prior = self.prior.as_ref().map(|prior| &prior.quantity);
        let quantity = match (&self.runs, of_prior) {
            (Some(runs), Some(prior)) => {
                prior.check_same(&runs.quantity)?;
                runs.quantity.clone()
            }
            (Some(runs), None) => runs.quantity.clone(),
            (None, prior) => prior.cloned().unwrap_or_default(),
        };
        match self.in_seconds() {
            Some(file) if !quantity.is_time() => Err(Error::out_of_range(
                "runs",
                format!("{quantity}, beside {file}, which is in seconds"),
                "times, or the runs alone",
            )),
            _ => Ok(quantity),
        }
    }

    /// The first file that says how many seconds something takes.
    fn in_seconds(&self) -> Option<&str> {
        let Self { offload, context_switch, collective, profile, memory, .. } = self;
        let all = [
            offload.as_ref().map(|it| &it.file),
            context_switch.as_ref().map(|it| &it.file),
            collective.as_ref().map(|it| &it.file),
            profile.as_ref().map(|it| &it.file),
            memory.as_ref().map(|it| &it.file),
        ];
        all.into_iter().flatten().next().map(String::as_str)
    }
}

/// What the parameters are of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Name of the parameter set.
    pub name: String,
    /// How the program divides its work among host threads.
    pub decomposition: Decomposition,
    /// N_APU: APUs available.
    pub apus: u32,
    /// How to estimate.
    pub options: Options,
}

impl Settings {
    /// Settings with the options that most data ask for.
    pub fn new(name: impl Into<String>, decomposition: Decomposition, apus: u32) -> Self {
        Self { name: name.into(), decomposition, apus, options: Options::default() }
    }

    /// Takes other options.
    pub fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }
}

/// How to estimate; the default is what most data ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The shapes of the terms over m, and the collective that the program calls.
    pub terms: TermChoices,
    /// What is counted of the program for the refined model, which is fitted beside equation 11
    /// where this is given.
    pub counts: Option<RefinedCounts>,
}

/// The least and the largest time \[s\] beside 0.
const TIMES: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// Refuses times and believed values that cannot be computed with.
///
/// # Errors
///
/// [`Error::OutOfRange`], which names the file.
pub(crate) fn check(inputs: &Inputs) -> Result<()> {
    let Inputs { alpha, offload, context_switch, collective, profile, memory, .. } = inputs;
    times(alpha.as_ref(), |row| vec![row.time_s])?;
    times(offload.as_ref(), |row| vec![row.time_s])?;
    times(context_switch.as_ref(), |row| vec![row.time_s])?;
    times(collective.as_ref(), |row| vec![row.time_s])?;
    times(memory.as_ref(), |row| vec![row.time_s])?;
    times(profile.as_ref(), |row| {
        vec![row.hpu_time_s, row.apu_parallel_time_s, row.apu_serial_time_s, row.gap_time_s]
    })?;
    if let Some(runs) = &inputs.runs {
        for cell in &runs.cells {
            check_one(cell.mean_s, || {
                format!("(m, p) = ({}, {}) in {}", cell.m, cell.p, runs.file)
            })?;
        }
    }
    if let Some(prior) = &inputs.prior {
        for entry in prior.terms.entries() {
            let Some(estimate) = prior.terms.estimate(entry) else { continue };
            let error = estimate.std_error.unwrap_or(0.0).min(f64::MAX);
            // An error may be as small as it likes: it is never taken for less than rounding.
            for number in [estimate.value, error.max(*TIMES.start())] {
                check_one(number, || format!("{} of {}", prior.terms.name_of(entry), prior.name))?;
            }
        }
    }
    Ok(())
}

fn times<R>(file: Option<&FileRows<R>>, of_row: impl Fn(&R) -> Vec<f64>) -> Result<()> {
    if let Some(FileRows { file, rows }) = file {
        for time in rows.iter().flat_map(&of_row) {
            check_one(time, || file.clone())?;
        }
    }
    Ok(())
}

fn check_one(number: f64, place: impl Fn() -> String) -> Result<()> {
    if number == 0.0 || TIMES.contains(&number) {
        return Ok(());
    }
    Err(Error::out_of_range(
        "size",
        format!("{number:e} for {}", place()),
        format!("0, or from {:e} to {:e}", TIMES.start(), TIMES.end()),
    ))
}
