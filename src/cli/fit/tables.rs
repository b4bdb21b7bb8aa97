//! The tables of `mmgp fit`: files, or what a caller has in memory in their place.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Arguments, RunTable};
use crate::cli::input;
use crate::error::{Error, Result, Warning};
use crate::fit::{FileRows, Inputs, Runs};
use crate::intake::Frame;
use crate::table::Source;
use crate::table::csv::Record;

/// All tables that the flags name.
pub(super) fn inputs(
    arguments: &Arguments,
    tables: &Tables,
    runs: Option<RunTable<'_>>,
    warnings: &mut Vec<Warning>,
) -> Result<Inputs> {
    let mut inputs = Inputs {
        alpha: tables.read(("alpha", &arguments.alpha), warnings)?,
        offload: tables.read(("offload", &arguments.offload), warnings)?,
        context_switch: tables.read(("context-switch", &arguments.context_switch), warnings)?,
        collective: tables.read(("collective", &arguments.collective), warnings)?,
        profile: tables.read(("profile", &arguments.profile), warnings)?,
        terms: tables.read(("terms", &arguments.terms), warnings)?,
        runs: None,
        prior: arguments.prior.as_deref().map(input::parameters).transpose()?,
        memory: tables.read(("memory", &arguments.counts.memory), warnings)?,
    };
    if let Some((source, read)) = runs {
        let (runs, more) = input::runs_in(source, read)?;
        inputs.runs = Some(runs);
        warnings.extend(more);
    }
    Ok(inputs)
}

/// Tables that a caller has in memory, each by the flag whose file it takes the place of.
#[derive(Debug, Default)]
pub struct Tables(pub BTreeMap<String, Frame>);

impl Tables {
    /// The table in the place of the file of a flag.
    pub fn get(&self, flag: &str) -> Option<&Frame> {
        self.0.get(flag)
    }

    /// The rows of the table of a flag, or of its file.
    fn read<R: Record>(
        &self,
        (flag, path): (&str, &Option<PathBuf>),
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<FileRows<R>>> {
        let Some(path) = path else { return Ok(None) };
        let (rows, more) = match self.get(flag) {
            Some(table) => FileRows::read(table)?,
            None => FileRows::read(&Source::read(path)?)?,
        };
        warnings.extend(more);
        Ok(Some(rows))
    }
}

/// The APUs that the flags say, else those that the largest run or micro-benchmark used.
pub(super) fn apus(arguments: &Arguments, inputs: &Inputs) -> Result<u32> {
    if let Some(name) = &arguments.machine {
        return Ok(input::machine(name)?.layout.spes());
    }
    if let Some(apus) = arguments.apus {
        return Ok(apus);
    }
    let runs = inputs.runs.as_ref().map(Runs::apus_used);
    let alpha = inputs.alpha.iter().flat_map(|file| &file.rows).map(|row| row.processes);
    let ranks = inputs.collective.iter().flat_map(|file| &file.rows).map(|row| row.ranks);
    let traced =
        inputs.terms.iter().flat_map(|file| &file.rows).map(|row| row.m.saturating_mul(row.p));
    alpha.chain(ranks).chain(runs).chain(traced).max().ok_or_else(|| {
        Error::out_of_range(
            "--apus",
            "nothing that tells how many APUs there are",
            "--apus N or --machine NAME",
        )
    })
}
