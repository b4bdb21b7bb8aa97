//! alpha_m, the slowdown of host code under m threads, from concurrent matrix products.

use std::collections::BTreeMap;

use super::sample::Mean;
use super::shape::Selection;
use super::{Measured, Measurement};
use crate::error::{Error, Result};
use crate::model::parameters::{Estimate, OverM, Table};
use crate::table::records::Alpha;

/// The slowdown at every number of processes, relative to one process with the same matrix.
///
/// `alpha_m = mean over sizes of [time of m concurrent products / time of one product]`, where a
/// time is the mean over its repetitions; `alpha_1 = 1` by definition. The standard error is the
/// larger of two: what the repetitions leave, and what the sizes differ by, because a program
/// has no matrix size and the spread over sizes is part of not knowing its alpha.
pub(crate) fn alpha(
    measured: &Measured<Alpha>,
    _selection: Selection,
    _last_m: u32,
) -> Result<Measurement<OverM>> {
    let times = times_by_size(measured);
    let mut ratios: BTreeMap<u32, Vec<Ratio>> = BTreeMap::new();
    for (&size, by_processes) in &times {
        let alone = mean_alone(&measured.file, size, by_processes)?;
        for (&processes, values) in by_processes.range(2..) {
            ratios.entry(processes).or_default().push(Ratio::of(Mean::of(values), alone));
        }
    }
    let one = Estimate { source: Some(measured.file.clone()), ..Estimate::exact(1.0) };
    let mut table = Table { m: vec![1], values: vec![one] };
    for (processes, ratios) in ratios {
        table.m.push(processes);
        table.values.push(pooled(&ratios).measured_in(&measured.file));
    }
    Ok(Measurement::new(OverM::Table(table), measured.rows.len() as u64, Vec::new()))
}

type Times = BTreeMap<u32, Vec<f64>>;

/// Times of each matrix size and number of processes.
fn times_by_size(measured: &Measured<Alpha>) -> BTreeMap<u32, Times> {
    let mut times: BTreeMap<u32, Times> = BTreeMap::new();
    for row in &measured.rows {
        let by_processes = times.entry(row.matrix_size).or_default();
        by_processes.entry(row.processes).or_default().push(row.time_s);
    }
    times
}

/// The mean time of one process alone, which every ratio needs.
fn mean_alone(file: &str, size: u32, times: &Times) -> Result<Mean> {
    let too_little = |found: String, advice: String| Error::TooLittleData {
        file: file.to_string(),
        found,
        advice,
    };
    let Some(values) = times.get(&1) else {
        let processes: Vec<String> = times.keys().map(u32::to_string).collect();
        return Err(too_little(
            format!("matrix_size {size} only with processes = {}", processes.join(", ")),
            format!(
                "measure matrix_size {size} with processes = 1 too, which alpha is relative to"
            ),
        ));
    };
    let alone = Mean::of(values);
    if alone.value > 0.0 {
        return Ok(alone);
    }
    Err(too_little(
        format!("a time of 0 s for matrix_size {size} with processes = 1"),
        "measure a larger matrix, so that the clock can see it".into(),
    ))
}

/// The slowdown of one matrix size.
struct Ratio {
    value: f64,
    variance: Option<f64>,
    observations: u64,
}

impl Ratio {
    /// `r = t_m/t_1`, and `var(r) = r^2 * [var(t_m)/t_m^2 + var(t_1)/t_1^2]` to first order.
    fn of(together: Mean, alone: Mean) -> Self {
        let value = together.value / alone.value;
        let variance = together.std_error.zip(alone.std_error).map(|(of_m, of_1)| {
            (of_m / alone.value).powi(2) + (value * of_1 / alone.value).powi(2)
        });
        Self { value, variance, observations: together.count }
    }
}

fn pooled(ratios: &[Ratio]) -> Mean {
    let sizes = ratios.len() as f64;
    let over_sizes = Mean::of(&ratios.iter().map(|ratio| ratio.value).collect::<Vec<_>>());
    let within: Option<f64> = ratios.iter().map(|ratio| ratio.variance).sum();
    let from_repetitions = within.map(|sum| sum.sqrt() / sizes);
    Mean {
        value: over_sizes.value,
        std_error: [over_sizes.std_error, from_repetitions].into_iter().flatten().reduce(f64::max),
        count: ratios.iter().map(|ratio| ratio.observations).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (matrix size, processes, repetition, time).
    fn check(rows: &[(u32, u32, u32, f64)]) -> Result<Vec<(u32, f64, Option<f64>)>> {
        let rows = rows.iter().map(|&(matrix_size, processes, repetition, time_s)| Alpha {
            matrix_size,
            processes,
            repetition,
            time_s,
        });
        let measured = Measured { file: "alpha.csv".into(), rows: rows.collect() };
        let OverM::Table(table) = alpha(&measured, Selection::CrossValidated, 16)?.value else {
            panic!("a table")
        };
        let values = table.m.iter().zip(&table.values);
        Ok(values.map(|(&m, estimate)| (m, estimate.value, estimate.std_error)).collect())
    }

    #[test]
    fn alpha_is_the_mean_ratio_over_the_sizes() {
        // Ratios 1.2 and 1.4 at two processes: mean 1.3, standard error 0.1.
        let table =
            check(&[(64, 1, 1, 1.0), (64, 2, 1, 1.2), (128, 1, 1, 10.0), (128, 2, 1, 14.0)]);
        let [one, two] = table.unwrap().try_into().unwrap();
        assert_eq!(one, (1, 1.0, None));
        approx::assert_relative_eq!(two.1, 1.3, max_relative = 1e-14);
        approx::assert_relative_eq!(two.2.unwrap(), 0.1, max_relative = 1e-12);
    }

    #[test]
    fn one_size_propagates_the_error_of_its_repetitions() {
        // Means 2 and 3 with standard errors 0.1 each: 1.5 * sqrt((0.1/2)^2 + (0.1/3)^2).
        let table = check(&[(8, 1, 1, 1.9), (8, 1, 2, 2.1), (8, 2, 1, 2.9), (8, 2, 2, 3.1)]);
        let (m, value, error) = table.unwrap()[1];
        assert_eq!(m, 2);
        approx::assert_relative_eq!(value, 1.5, max_relative = 1e-14);
        let by_hand = 1.5 * (0.05_f64.powi(2) + (0.1_f64 / 3.0).powi(2)).sqrt();
        approx::assert_relative_eq!(error.unwrap(), by_hand, max_relative = 1e-12);
    }

    #[test]
    fn the_larger_of_both_errors_counts() {
        // Repetitions agree: the sizes' 0.1 stays. Sizes agree: the repetitions' error stays,
        // that of one size by the root of two.
        let agreeing = |size, ratio| {
            [(size, 1, 1, 1.0), (size, 1, 2, 1.0), (size, 2, 1, ratio), (size, 2, 2, ratio)]
        };
        let differing =
            |size| [(size, 1, 1, 1.9), (size, 1, 2, 2.1), (size, 2, 1, 2.9), (size, 2, 2, 3.1)];
        let error = |rows: Vec<_>| check(&rows).unwrap()[1].2.unwrap();
        let sizes = error([agreeing(8, 1.2), agreeing(16, 1.4)].concat());
        approx::assert_relative_eq!(sizes, 0.1, max_relative = 1e-12);
        let repetitions = error([differing(8), differing(16)].concat());
        let by_hand = 1.5 * (0.05_f64.powi(2) + (0.1_f64 / 3.0).powi(2)).sqrt() / 2.0_f64.sqrt();
        approx::assert_relative_eq!(repetitions, by_hand, max_relative = 1e-12);
    }

    #[test]
    fn one_row_each_leaves_the_error_unknown() {
        assert_eq!(check(&[(8, 1, 1, 2.0), (8, 4, 1, 5.0)]).unwrap()[1], (4, 2.5, None));
    }

    #[test]
    fn without_a_process_alone_there_is_nothing_to_compare_with() {
        assert_eq!(
            check(&[(8, 1, 1, 1.0), (16, 2, 1, 1.0), (16, 4, 1, 1.0)]).unwrap_err().to_string(),
            "alpha.csv: matrix_size 16 only with processes = 2, 4; measure matrix_size 16 with \
             processes = 1 too, which alpha is relative to"
        );
    }

    #[test]
    fn a_process_alone_must_take_some_time() {
        let error = check(&[(8, 1, 1, 0.0), (8, 2, 1, 1.0)]).unwrap_err().to_string();
        assert_eq!(
            error,
            "alpha.csv: a time of 0 s for matrix_size 8 with processes = 1; measure a larger \
             matrix, so that the clock can see it"
        );
    }
}
