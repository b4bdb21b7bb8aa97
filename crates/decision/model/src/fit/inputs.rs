//! What was measured, as a fit takes it.

use super::runs::Runs;
use crate::models::Parameters;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::csv::{self, Record};
use mmgp_base::table::{Source, records};

/// The rows of a file, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured<R> {
    /// The file's name as the user gave it.
    pub file: String,
    /// Its rows; at least one.
    pub rows: Vec<R>,
}

impl<R: Record> Measured<R> {
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
    pub alpha: Option<Measured<records::Alpha>>,
    /// `offload.csv`, which determines O_offload.
    pub offload: Option<Measured<records::Offload>>,
    /// `context_switch.csv`, which determines T_CSW.
    pub context_switch: Option<Measured<records::ContextSwitch>>,
    /// `collective.csv`, which determines O_COL.
    pub collective: Option<Measured<records::Collective>>,
    /// `profile.csv`, which determines T_HPU, T_APU, C_APU, N, g and the number of collectives.
    pub profile: Option<Measured<records::Profile>>,
    /// `runs.csv`: timed runs, which correct what the others say and estimate what they leave
    /// open.
    pub runs: Option<Runs>,
    /// What is believed of terms that no file measures: each value with its standard error, as a
    /// fit of earlier runs or of a similar program left it. A value without one is believed to
    /// 10 %.
    pub prior: Option<Parameters>,
    /// `memory.csv`, which a refined model's terms of memory need.
    pub memory: Option<Measured<records::MemoryStream>>,
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
