//! The sizes of numbers that a fit takes.
//!
//! Residuals are squared, and squares of squares are added up: beyond these bounds, which no clock
//! reaches, floating-point numbers would overflow or vanish.

use super::inputs::{Inputs, Measured};
use mmgp_base::error::{Error, Result};

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

fn times<R>(file: Option<&Measured<R>>, of_row: impl Fn(&R) -> Vec<f64>) -> Result<()> {
    if let Some(Measured { file, rows }) = file {
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
