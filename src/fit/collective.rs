//! O_COL, a global synchronisation among m processes, from collective operations of MPI.

use std::collections::BTreeMap;

use super::sample::Mean;
use super::shape::TermChoices;
use super::{Measured, Measurement};
use crate::error::{Result, Warning};
use crate::model::parameters::{OverM, Table};
use crate::table::records::Collective;

/// Operations of one rank count that differ by more than this factor should not be pooled.
const ALIKE: f64 = 1.5;

/// The mean time of a call at every number of ranks, over all operations and sizes in the file.
///
/// The profile counts collectives without their kind, so the file should hold the operation and
/// the size that the program uses; where it holds several that differ much, a warning says so.
pub(crate) fn collective(
    measured: &Measured<Collective>,
    _choices: &TermChoices,
    _last_m: u32,
) -> Result<Measurement<OverM>> {
    let mut by_ranks: BTreeMap<u32, BTreeMap<(&str, u64), Vec<f64>>> = BTreeMap::new();
    for row in &measured.rows {
        let kinds = by_ranks.entry(row.ranks).or_default();
        let times = kinds.entry((&row.operation, row.bytes)).or_default();
        times.push(row.time_s / row.calls as f64);
    }
    let mut table = Table { m: Vec::new(), values: Vec::new() };
    let mut warnings = Vec::new();
    for (ranks, kinds) in by_ranks {
        warnings.extend(unlike(&measured.file, ranks, &kinds));
        let pooled = Mean::of(&kinds.into_values().flatten().collect::<Vec<_>>());
        table.m.push(ranks);
        table.values.push(pooled.measured_in(&measured.file));
    }
    let observations = measured.rows.len() as u64;
    Ok(Measurement::new(OverM::Table(table), observations, warnings))
}

/// A warning where the cheapest and the dearest kind of collective are far apart.
fn unlike(file: &str, ranks: u32, kinds: &BTreeMap<(&str, u64), Vec<f64>>) -> Option<Warning> {
    let mean = |kind: &(&(&str, u64), &Vec<f64>)| Mean::of(kind.1).value;
    let by_mean = |a: &_, b: &_| mean(a).total_cmp(&mean(b));
    let cheapest = kinds.iter().min_by(by_mean)?;
    let dearest = kinds.iter().max_by(by_mean)?;
    let name = |((operation, bytes), _): (&(&str, u64), _)| format!("{operation} of {bytes} bytes");
    (mean(&dearest) > ALIKE * mean(&cheapest)).then(|| {
        Warning::Note(format!(
            "{file}: with {ranks} ranks, {} takes {:.1} times as long as {}; their mean was used, \
             keep only what the program calls",
            name(dearest),
            mean(&dearest) / mean(&cheapest),
            name(cheapest),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (operation, ranks, microseconds for 2 calls).
    fn check(rows: &[(&str, u32, f64)]) -> (Table, Vec<String>) {
        let rows = rows.iter().zip(1..).map(|(&(operation, ranks, time_us), repetition)| {
            let (bytes, calls, time_s) = (8, 2, time_us * 1e-6);
            Collective { operation: operation.into(), ranks, bytes, repetition, calls, time_s }
        });
        let measured = Measured { file: "collective.csv".into(), rows: rows.collect() };
        let result = collective(&measured, &TermChoices::default(), 16).unwrap();
        let OverM::Table(table) = result.value else { panic!("a table") };
        (table, result.warnings.iter().map(Warning::to_string).collect())
    }

    #[test]
    fn a_call_is_the_mean_at_its_number_of_ranks() {
        let rows = [("allreduce", 4, 20.0), ("allreduce", 1, 1.0), ("barrier", 4, 24.0)];
        let (table, warnings) = check(&rows);
        assert_eq!(table.m, [1, 4]);
        approx::assert_relative_eq!(table.values[0].value, 0.5e-6, max_relative = 1e-12);
        approx::assert_relative_eq!(table.values[1].value, 11e-6, max_relative = 1e-12);
        approx::assert_relative_eq!(table.values[1].std_error.unwrap(), 1e-6, max_relative = 1e-9);
        assert!(warnings.is_empty());
    }

    #[test]
    fn unlike_operations_raise_a_doubt() {
        let (_, warnings) = check(&[("bcast", 2, 10.0), ("alltoall", 2, 40.0)]);
        assert_eq!(
            warnings,
            ["collective.csv: with 2 ranks, alltoall of 8 bytes takes 4.0 times as long as bcast \
              of 8 bytes; their mean was used, keep only what the program calls"]
        );
    }
}
