//! T_CSW, a context switch on the host, from processes that yield to one another.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::inputs::FileRows;
use super::sample::{Repetitions, TermMeasurement, repeated_once, warm_up};
use crate::models::parameters::Estimate;
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::ContextSwitch;

/// How rarely chance alone may make numbers of processes seem unlike.
const RARELY: f64 = 0.01;

/// Relative differences below this are rounding.
const NEGLIGIBLE: f64 = 1e-9;

/// Numbers of processes that differ by no more than this fraction raise no warning.
const HARMLESS: f64 = 0.01;

/// The mean time of a switch, over all rows with two processes or more.
///
/// A process that yields while it is alone comes back at once: such a row times the system call
/// and no switch, so it is left out. It is not subtracted either: the call is part of what a
/// program pays for each switch. Where a switch takes longer among more processes than the
/// repetitions explain, each number of processes counts as one value, and a warning says so.
pub(crate) fn context_switch(
    measured: &FileRows<ContextSwitch>,
) -> Result<TermMeasurement<Estimate>> {
    let file = measured.file.as_str();
    let mut by_processes: BTreeMap<u32, Repetitions> = BTreeMap::new();
    for row in measured.rows.iter().filter(|row| row.processes >= 2) {
        let times = by_processes.entry(row.processes).or_default();
        times.push((row.repetition, row.time_s / row.switches as f64));
    }
    let observations: usize = by_processes.values().map(Vec::len).sum();
    if observations == 0 {
        return Err(Error::too_little(
            file,
            "only rows with processes = 1, which never switch",
            "measure with processes = 2 or more",
        ));
    }
    let groups: Vec<Repetitions> = by_processes.into_values().collect();
    let mut warnings: Vec<Warning> = alone(measured, observations).into_iter().collect();
    warnings.extend(warm_up(file, &groups));
    let (mean, unlike) = pooled(file, &groups);
    warnings.extend(unlike);
    if mean.std_error.is_none() {
        warnings.push(repeated_once("t_csw_s", file));
    }
    Ok(TermMeasurement::new(mean.measured_in(file), observations as u64, warnings))
}

/// The warning about rows in which nobody switches.
fn alone(measured: &FileRows<ContextSwitch>, used: usize) -> Option<Warning> {
    let all = measured.rows.len();
    (used < all).then(|| {
        Warning::Note(format!(
            "{}: {} of {all} rows have processes = 1, which times a yield without a switch; they \
             were left out",
            measured.file,
            all - used,
        ))
    })
}

/// The mean of all times, or of the means of the groups where an analysis of variance tells these
/// apart: `F = [sum of n*(mean - all)^2/(k - 1)] / [sum of (time - mean)^2/(n - k)]`.
fn pooled(file: &str, groups: &[Repetitions]) -> (Mean, Option<Warning>) {
    let times = |group: &Repetitions| group.iter().map(|(_, time)| *time).collect::<Vec<_>>();
    let all = Mean::of(&groups.iter().flat_map(times).collect::<Vec<_>>());
    let means: Vec<Mean> = groups.iter().map(|group| Mean::of(&times(group))).collect();
    let (between, within) = (means.len() as f64 - 1.0, (all.count as usize - means.len()) as f64);
    if between == 0.0 || within == 0.0 {
        return (all, None);
    }
    let of_means: f64 =
        means.iter().map(|mean| mean.count as f64 * (mean.value - all.value).powi(2)).sum();
    // The squared standard error of a mean of n times is their sum of squares over n*(n - 1).
    let of_times: f64 = means
        .iter()
        .filter_map(|mean| {
            Some(mean.std_error?.powi(2) * mean.count as f64 * mean.degrees_of_freedom)
        })
        .sum();
    let test = FisherSnedecor::new(between, within).expect("invariant: both are 1 or more");
    let limit = test.inverse_cdf(1.0 - RARELY) * of_times / within;
    let negligible = all.count as f64 * (NEGLIGIBLE * all.value).powi(2);
    if of_means / between <= limit || of_means <= negligible {
        return (all, None);
    }
    let apart = Mean::of(&means.iter().map(|mean| mean.value).collect::<Vec<_>>());
    let least = means.iter().map(|mean| mean.value).fold(f64::INFINITY, f64::min);
    let most = means.iter().map(|mean| mean.value).fold(0.0, f64::max);
    if most - least <= HARMLESS * apart.value {
        return (apart, None);
    }
    let warning = Warning::Note(format!(
        "{file}: a switch takes from {least:.3e} s to {most:.3e} s with different numbers of \
         processes, more than repetitions explain; keep as many as the program has on a hardware \
         thread"
    ));
    (apart, Some(warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (processes, microseconds for 4 switches).
    fn check(rows: &[(u32, f64)]) -> Result<TermMeasurement<Estimate>> {
        let rows = rows.iter().zip(1..).map(|(&(processes, time_us), repetition)| ContextSwitch {
            processes,
            repetition,
            switches: 4,
            time_s: time_us * 1e-6,
        });
        context_switch(&FileRows { file: "context_switch.csv".into(), rows: rows.collect() })
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

    #[test]
    fn numbers_of_processes_that_differ_count_as_one_value_each() {
        // 2 and 3 us, each within 0.1 %: mean 2.5 us, standard error 0.5 us of two values.
        let rows = [(2, 8.0), (2, 8.004), (2, 7.996), (4, 12.0), (4, 12.004), (4, 11.996)];
        let result = check(&rows).unwrap();
        approx::assert_relative_eq!(result.value.std_error.unwrap(), 0.5e-6, max_relative = 1e-9);
        assert_eq!(result.value.degrees_of_freedom, Some(1.0));
        assert!(result.warnings[0].to_string().contains("from 2.000e-6 s to 3.000e-6 s"));
    }

    #[test]
    fn repetitions_that_agree_leave_no_error_and_one_leaves_it_unknown() {
        let same = check(&[(2, 8.0), (2, 8.0), (4, 8.0), (4, 8.0)]).unwrap();
        assert_eq!((same.value.std_error, same.warnings.len()), (Some(0.0), 0));
        let once = check(&[(2, 8.0)]).unwrap();
        assert_eq!(once.value.std_error, None);
        assert_eq!(
            once.warnings[0].to_string(),
            "t_csw_s: nothing in context_switch.csv was repeated, so that its standard error is \
             unknown; give three repetitions or more"
        );
    }

    #[test]
    fn intervals_cover_the_truth_in_95_of_100_files() {
        use crate::fit::sample::noise::{assert_covers, relative};
        assert_covers(|seed| {
            let mut noise = relative(seed);
            let rows = [2, 2, 2, 4, 4, 4, 8, 8, 8].map(|processes| (processes, 8.0 * noise(0.05)));
            (check(&rows).unwrap().value.interval().unwrap(), 2e-6)
        });
    }

    /// Whether numbers of processes count as one value each: three of them, each timed three times, the
    /// times of one 0.1 us apart and the means of all so much.
    fn is_apart(step: f64) -> bool {
        let rows = [2, 4, 8].into_iter().zip([-1.0, 0.0, 1.0]).flat_map(|(processes, place)| {
            [-0.1, 0.0, 0.1].map(|noise| (processes, 4.0 * (2.5 + step * place + noise)))
        });
        let value = check(&rows.collect::<Vec<_>>()).unwrap().value;
        let is_apart = value.degrees_of_freedom == Some(2.0);
        if is_apart {
            let of_means = 1e-6 * step / 3.0_f64.sqrt();
            approx::assert_relative_eq!(value.std_error.unwrap(), of_means, max_relative = 1e-9);
        }
        is_apart
    }

    #[test]
    fn numbers_of_processes_differ_where_an_analysis_of_variance_says_so() {
        // F = [3*2*step^2/2]/[3*2*0.1^2/6] with 2 and 6 degrees of freedom, of which 1 % are above
        // 10.9248: a step of 0.1*sqrt(10.9248/3) = 0.19083 us.
        assert!(!is_apart(0.1903));
        assert!(is_apart(0.1913));
    }

    #[test]
    fn numbers_of_processes_that_differ_by_less_than_a_hundredth_are_told_apart_without_a_word() {
        // 2 and 2.01 us, each within 0.01 %.
        let rows = [(2, 8.0), (2, 8.0004), (2, 7.9996), (4, 8.04), (4, 8.0404), (4, 8.0396)];
        let result = check(&rows).unwrap();
        assert_eq!(result.value.degrees_of_freedom, Some(1.0));
        assert_eq!(result.warnings, []);
    }
}
