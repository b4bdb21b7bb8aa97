//! T_CSW, a context switch on the host, from processes that yield to one another.

use super::sample::Mean;
use super::{Measured, Measurement};
use crate::error::{Error, Result, Warning};
use crate::model::parameters::Estimate;
use crate::table::records::ContextSwitch;

/// The mean time of a switch, over all rows with two processes or more.
///
/// A process that yields while it is alone comes back at once: such a row times the system call
/// and no switch, so it is left out. It is not subtracted either: the call is part of what a
/// program pays for each switch.
pub(crate) fn context_switch(measured: &Measured<ContextSwitch>) -> Result<Measurement<Estimate>> {
    let switching = measured.rows.iter().filter(|row| row.processes >= 2);
    let times: Vec<f64> = switching.map(|row| row.time_s / row.switches as f64).collect();
    if times.is_empty() {
        return Err(Error::TooLittleData {
            file: measured.file.clone(),
            found: "only rows with processes = 1, which never switch".into(),
            advice: "measure with processes = 2 or more".into(),
        });
    }
    let alone = measured.rows.len() - times.len();
    let warnings = (alone > 0).then(|| {
        Warning::Note(format!(
            "{}: {alone} of {} rows have processes = 1, which times a yield without a switch; \
             they were left out",
            measured.file,
            measured.rows.len()
        ))
    });
    let mean = Mean::of(&times);
    let estimate = mean.measured_in(&measured.file);
    Ok(Measurement::new(estimate, mean.count, warnings.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (processes, microseconds for 4 switches).
    fn check(rows: &[(u32, f64)]) -> Result<Measurement<Estimate>> {
        let rows = rows.iter().zip(1..).map(|(&(processes, time_us), repetition)| ContextSwitch {
            processes,
            repetition,
            switches: 4,
            time_s: time_us * 1e-6,
        });
        context_switch(&Measured { file: "context_switch.csv".into(), rows: rows.collect() })
    }

    #[test]
    fn a_switch_is_the_mean_over_two_processes_or_more() {
        let result = check(&[(2, 8.0), (4, 12.0)]).unwrap();
        approx::assert_relative_eq!(result.value.value, 2.5e-6, max_relative = 1e-12);
        approx::assert_relative_eq!(result.value.std_error.unwrap(), 0.5e-6, max_relative = 1e-12);
        assert!(result.warnings.is_empty());
    }

    #[test]
    fn a_process_alone_does_not_switch() {
        let result = check(&[(1, 0.4), (2, 8.0)]).unwrap();
        assert_eq!((result.value.value, result.observations), (2e-6, 1));
        assert!(result.warnings[0].to_string().contains("1 of 2 rows"));
        assert_eq!(
            check(&[(1, 0.4)]).unwrap_err().to_string(),
            "context_switch.csv: only rows with processes = 1, which never switch; measure with \
             processes = 2 or more"
        );
    }
}
