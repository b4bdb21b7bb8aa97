//! What host threads cost each other: alpha_m, the slowdown of host code under m threads, from concurrent
//! matrix products; and T_CSW, a context switch, from processes that yield to one another.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::inputs::{
    FileRows, Repetitions, TermMeasurement, correlation, mean, repeated_once, warm_up,
};
use super::shape::{ErrorSource, PointScale, Points, Question, Selection, Shape, choose, knots};
use crate::models::parameters::{Estimate, OverM, Table};
use crate::models::terms::Term;
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::{Alpha, ContextSwitch};

/// The slowdown relative to one process with the same matrix, as it will be asked for up to
/// `last_m`.
///
/// `alpha_m = mean over sizes of [time of m concurrent products / time of one product]`, where a
/// time is the mean over its repetitions; `alpha_1 = 1` by definition. The standard error is the
/// larger of two: what the repetitions leave, and what the sizes differ by, because a program
/// has no matrix size and the spread over sizes is part of not knowing its alpha. The shape over
/// m is chosen as [`choose`] says.
pub(crate) fn alpha(
    measured: &FileRows<Alpha>,
    selection: Selection,
    last_m: u32,
) -> Result<TermMeasurement<OverM>> {
    let file = measured.file.as_str();
    let times = times_by_size(measured);
    let observations = measured.rows.len() as u64;
    let mut warnings: Vec<Warning> =
        warm_up(file, &times.values().flat_map(BTreeMap::values).cloned().collect::<Vec<_>>())
            .into_iter()
            .collect();
    let points = points(file, &times)?;
    if points.m.len() == 1 {
        let table = Table::new(vec![1], vec![one(file)]);
        return Ok(TermMeasurement::new(OverM::Table(table), observations, warnings));
    }
    let question = Question { term: "alpha".into(), file, selection, last_m };
    let (candidate, choice) = choose(&points, &question)?;
    let (m, interpolation) = knots(choice.chosen, &points, last_m);
    let (values, together) = candidate.tabulated(&m, &points, file);
    if values.iter().all(|estimate| estimate.std_error.is_none()) {
        warnings.push(repeated_once("alpha", file));
    }
    // The entry at m = 1 comes before the others.
    let correlation = correlation(together, |index| Term::Alpha.entry(index + 1));
    let value = match choice.chosen {
        Shape::Constant => OverM::Constant(values[0].clone()),
        _ => OverM::Table(Table {
            m: [1].into_iter().chain(m).collect(),
            values: [one(file)].into_iter().chain(values).collect(),
            interpolation,
        }),
    };
    let correlation = correlation.filter(|_| choice.chosen != Shape::Constant);
    Ok(TermMeasurement {
        choices: vec![choice],
        correlation,
        ..TermMeasurement::new(value, observations, warnings)
    })
}

/// alpha at m = 1.
fn one(file: &str) -> Estimate {
    Estimate { source: Some(file.to_string()), ..Estimate::exact(1.0) }
}

type AlphaTimes = BTreeMap<u32, Repetitions>;

/// Times of each matrix size and number of processes.
fn times_by_size(measured: &FileRows<Alpha>) -> BTreeMap<u32, AlphaTimes> {
    let mut times: BTreeMap<u32, AlphaTimes> = BTreeMap::new();
    for row in &measured.rows {
        let by_processes = times.entry(row.matrix_size).or_default();
        by_processes.entry(row.processes).or_default().push((row.repetition, row.time_s));
    }
    times
}

/// The mean time of one process alone, which every ratio needs.
fn mean_alone(file: &str, size: u32, times: &AlphaTimes) -> Result<Mean> {
    let too_little = |found: String, advice: String| Error::too_little(file, found, advice);
    let Some(values) = times.get(&1) else {
        let processes: Vec<String> = times.keys().map(u32::to_string).collect();
        return Err(too_little(
            format!("matrix_size {size} only with processes = {}", processes.join(", ")),
            format!(
                "measure matrix_size {size} with processes = 1 too, which alpha is relative to"
            ),
        ));
    };
    let alone = mean([values]);
    if alone.value > 0.0 {
        return Ok(alone);
    }
    Err(too_little(
        format!("a time of 0 s for matrix_size {size} with processes = 1"),
        "measure a larger matrix, so that the clock can see it".into(),
    ))
}

/// The mean ratios, and where their errors come from: with `r = t_m/t_1` of one of S sizes, an
/// error of `t_m` moves the mean by `1/(S*t_1)`, and one of `t_1` by `-r/(S*t_1)` at every m.
fn points(file: &str, times: &BTreeMap<u32, AlphaTimes>) -> Result<Points> {
    let mut alone = BTreeMap::new();
    for (&size, by_processes) in times {
        alone.insert(size, mean_alone(file, size, by_processes)?);
    }
    let mut ratios: BTreeMap<u32, BTreeMap<u32, (Mean, f64)>> = BTreeMap::new();
    for (size, by_processes) in times {
        for (&processes, values) in by_processes.range(2..) {
            let together = mean([values]);
            let ratio = together.value / alone[size].value;
            ratios.entry(processes).or_default().insert(*size, (together, ratio));
        }
    }
    let mut points = Points {
        scale: PointScale::RelativeToOne,
        m: vec![1],
        values: vec![1.0],
        counts: vec![alone.values().map(|mean| mean.count as f64).sum()],
        parts: Vec::new(),
        kinds: vec![vec![None]; times.len()],
    };
    let mut of_alone: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    for (processes, of_sizes) in &ratios {
        let index = points.m.len();
        let sizes = of_sizes.len() as f64;
        let value = of_sizes.values().map(|(_, ratio)| ratio).sum::<f64>() / sizes;
        points.m.push(*processes);
        points.values.push(value);
        points.counts.push(of_sizes.values().map(|(mean, _)| mean.count as f64).sum());
        for (&size, &(together, ratio)) in of_sizes {
            let per_time = 1.0 / (sizes * alone[&size].value);
            points.parts.push(ErrorSource::of(&together, vec![(index, per_time)]));
            of_alone.entry(size).or_default().push((index, -ratio * per_time));
        }
        for (kind, size) in points.kinds.iter_mut().zip(times.keys()) {
            kind.push(of_sizes.get(size).map(|(_, ratio)| (ratio - value) / sizes));
        }
    }
    points.parts.extend(
        of_alone.into_iter().map(|(size, loadings)| ErrorSource::of(&alone[&size], loadings)),
    );
    Ok(points)
}

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
/// program pays for each switch. Where a switch takes longer among more processes, or in one mode, than
/// the repetitions explain, each number of processes in each mode counts as one value, and a warning says so.
pub(crate) fn context_switch(
    measured: &FileRows<ContextSwitch>,
) -> Result<TermMeasurement<Estimate>> {
    let file = measured.file.as_str();
    let mut by_processes: BTreeMap<(&str, u32), Repetitions> = BTreeMap::new();
    for row in measured.rows.iter().filter(|row| row.processes >= 2) {
        let times = by_processes.entry((&row.mode, row.processes)).or_default();
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
    let all = mean(groups);
    let means: Vec<Mean> = groups.iter().map(|group| mean([group])).collect();
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
         processes or in different modes, more than repetitions explain; keep the rows of as many as the \
         program has on a hardware thread, in the mode in which it waits"
    ));
    (apart, Some(warning))
}

#[cfg(test)]
mod tests {
    use super::super::shape::Reason;
    use super::*;
    use crate::fit::inputs::noise::{assert_covers, relative};
    use crate::models::parameters::Interpolation;

    /// Rows of (matrix size, processes, repetition, time).
    fn check(rows: &[(u32, u32, u32, f64)]) -> Result<Vec<(u32, f64, Option<f64>)>> {
        let rows = rows.iter().map(|&(matrix_size, processes, repetition, time_s)| Alpha {
            matrix_size,
            processes,
            repetition,
            time_s,
        });
        let measured = FileRows { file: "alpha.csv".into(), rows: rows.collect() };
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

    /// Rows of one matrix size: two repetitions, 0.1 s apart on either side of each time.
    fn around(times: &[(u32, f64)]) -> FileRows<Alpha> {
        let row = |&(processes, time): &(u32, f64)| {
            [(1, time - 0.1), (2, time + 0.1)].map(|(repetition, time_s)| Alpha {
                matrix_size: 8,
                processes,
                repetition,
                time_s,
            })
        };
        FileRows { file: "alpha.csv".into(), rows: times.iter().flat_map(row).collect() }
    }

    #[test]
    fn ratios_share_the_error_of_the_time_alone() {
        let measured = around(&[(1, 2.0), (2, 3.0), (4, 4.0)]);
        let result = alpha(&measured, Selection::Fixed(Shape::Table), 4).unwrap();
        // Errors of 0.1/2 of each time over that of one process: variances 0.0025*(1 + 1.5^2) and
        // 0.0025*(1 + 2^2), covariance 0.0025*1.5*2.
        let correlation = result.correlation.unwrap();
        let by_hand = 3.0 / (3.25_f64 * 5.0).sqrt();
        let found = correlation.of(Term::Alpha.entry(1), Term::Alpha.entry(2));
        approx::assert_relative_eq!(found, by_hand, max_relative = 1e-12);
        // Two variances of one degree each: (1 + 1.5^2)^2/(1 + 1.5^4).
        let OverM::Table(table) = result.value else { panic!("a table") };
        let degrees_of_freedom = table.values[1].degrees_of_freedom.unwrap();
        approx::assert_relative_eq!(degrees_of_freedom, 10.5625 / 6.0625, max_relative = 1e-12);
    }

    #[test]
    fn a_forced_shape_is_taken_or_refused() {
        let measured = around(&[(1, 2.0), (2, 3.0), (4, 4.0)]);
        let forced = |shape| alpha(&measured, Selection::Fixed(shape), 16);
        let OverM::Constant(constant) = forced(Shape::Constant).unwrap().value else {
            panic!("a number")
        };
        approx::assert_relative_eq!(constant.value, 1.75, max_relative = 0.03);
        let linear = forced(Shape::Linear).unwrap();
        let OverM::Table(line) = &linear.value else { panic!("a table") };
        assert_eq!((&line.m[..], line.interpolation), (&[1, 4][..], Interpolation::Line));
        assert_eq!(linear.choices[0].reason, Reason::Asked);
        assert!(line.values.iter().all(|it| it.source.as_deref() == Some("alpha.csv")));
        assert_eq!(
            forced(Shape::Logarithmic).unwrap_err().to_string(),
            "shape of alpha: found logarithmic, expected constant, linear, curve, table"
        );
        let few = alpha(&around(&[(1, 2.0), (4, 4.0)]), Selection::Fixed(Shape::Curve), 4);
        assert_eq!(
            few.unwrap_err().to_string(),
            "alpha.csv: alpha at m = 1, 4, which no curve fits; measure more m, or let the shape \
             be a table"
        );
    }

    /// What is chosen for times that repetitions agree on to the last bit, up to m = 16.
    fn check_exact(m: &[u32], truth: fn(u32) -> f64) -> Shape {
        let twice = m.iter().flat_map(|&processes| {
            [1, 2].map(|repetition| Alpha {
                matrix_size: 64,
                processes,
                repetition,
                time_s: truth(processes),
            })
        });
        let measured = FileRows { file: "alpha.csv".into(), rows: twice.collect() };
        let result = alpha(&measured, Selection::CrossValidated, 16).unwrap();
        assert_eq!(result.value.at(16, 1.0), truth(16));
        result.choices[0].chosen
    }

    #[test]
    fn times_without_noise_are_kept_as_they_are_unless_a_formula_meets_them() {
        let every: Vec<u32> = (1..=16).collect();
        assert_eq!(check_exact(&every, |m| 1.0 + 0.125 * f64::from(m - 1)), Shape::Linear);
        // 1 % off a line at every other m: no repetition would call that chance.
        let uneven = |m: u32| {
            (1.0 + 0.125 * f64::from(m - 1)) * if m.is_multiple_of(2) { 1.01 } else { 1.0 }
        };
        assert_eq!(check_exact(&every, uneven), Shape::Table);
        assert_eq!(check_exact(&[1, 2, 16], |m| f64::from(m.isqrt())), Shape::Table);
    }

    /// A file of `sizes` sizes and five repetitions with relative noise, the sizes too.
    fn noisy(
        truth: impl Fn(u32) -> f64,
        m: &[u32],
        (sizes, of_sizes): (u32, f64),
        seed: u64,
    ) -> FileRows<Alpha> {
        let mut noise = relative(seed);
        let mut rows = Vec::new();
        for matrix_size in 1..=sizes {
            let own = noise(of_sizes);
            for &processes in m {
                let slowdown = 1.0 + (truth(processes) - 1.0) * own;
                let time = f64::from(matrix_size).powi(3) * slowdown;
                rows.extend((1..=5).map(|repetition| Alpha {
                    matrix_size,
                    processes,
                    repetition,
                    time_s: time * noise(0.02),
                }));
            }
        }
        FileRows { file: "alpha.csv".into(), rows }
    }

    /// Checks in how many of 100 files this shape is chosen.
    fn check_chosen(truth: impl Fn(u32) -> f64 + Copy, m: &[u32], shape: Shape) {
        let is_chosen = |&seed: &u64| {
            let measured = noisy(truth, m, (3, 0.0), seed);
            let result = alpha(&measured, Selection::CrossValidated, 16).unwrap();
            result.choices[0].chosen == shape
        };
        let chosen = (1..=100).filter(is_chosen).count();
        assert!(chosen >= 90, "{shape}: {chosen} of 100");
    }

    #[test]
    fn cross_validation_finds_the_shape_of_the_truth() {
        let every: Vec<u32> = (1..=16).collect();
        for m in [&every, &vec![1, 2, 3, 4, 6, 8, 12, 16]] {
            check_chosen(|m| if m > 1 { 1.28 } else { 1.0 }, m, Shape::Constant);
            check_chosen(|m| 1.0 + 0.08 * f64::from(m - 1), m, Shape::Linear);
            check_chosen(|m| 1.0 + 0.4 * f64::from(m - 1).powf(0.5), m, Shape::Curve);
            check_chosen(|m| 1.0 + 0.01 * f64::from(m - 1).powf(1.8), m, Shape::Curve);
        }
        check_chosen(|m| f64::from(m.div_ceil(4)) * 1.28, &every, Shape::Table);
    }

    /// The 95 % interval at m = 16 of a thousand files holds the truth in 950 of them.
    fn check_covers(selection: Selection, sizes: (u32, f64)) {
        let truth = |m: u32| 1.0 + 0.08 * f64::from(m - 1);
        assert_covers(|seed| {
            let measured = noisy(truth, &[1, 2, 4, 8, 16], sizes, seed);
            let result = alpha(&measured, selection, 16).unwrap();
            let OverM::Table(table) = result.value else { panic!("a table") };
            let last = table.values.last().unwrap();
            (last.interval().unwrap(), truth(16))
        });
    }

    #[test]
    fn intervals_cover_the_truth_in_95_of_100_files() {
        check_covers(Selection::Fixed(Shape::Table), (1, 0.0));
        check_covers(Selection::Fixed(Shape::Table), (5, 0.2));
        check_covers(Selection::Fixed(Shape::Linear), (1, 0.0));
        check_covers(Selection::Fixed(Shape::Linear), (5, 0.2));
        check_covers(Selection::Fixed(Shape::Table), (5, 0.0));
        check_covers(Selection::Fixed(Shape::Linear), (5, 0.0));
        check_covers(Selection::Fixed(Shape::Curve), (3, 0.0));
    }

    /// Rows of (processes, microseconds for 4 switches).
    fn check_switch(rows: &[(u32, f64)]) -> Result<TermMeasurement<Estimate>> {
        let rows = rows.iter().zip(1..).map(|(&(processes, time_us), repetition)| ContextSwitch {
            processes,
            repetition,
            switches: 4,
            time_s: time_us * 1e-6,
            mode: "yield".into(),
        });
        context_switch(&FileRows { file: "context_switch.csv".into(), rows: rows.collect() })
    }

    #[test]
    fn a_switch_is_the_mean_over_two_processes_or_more() {
        let result = check_switch(&[(2, 8.0), (4, 12.0)]).unwrap();
        approx::assert_relative_eq!(result.value.value, 2.5e-6, max_relative = 1e-12);
        approx::assert_relative_eq!(result.value.std_error.unwrap(), 0.5e-6, max_relative = 1e-12);
        assert!(result.warnings.is_empty());
    }

    #[test]
    fn a_process_alone_does_not_switch() {
        let result = check_switch(&[(1, 0.4), (2, 8.0)]).unwrap();
        assert_eq!((result.value.value, result.observations), (2e-6, 1));
        assert!(result.warnings[0].to_string().contains("1 of 2 rows"));
        assert_eq!(
            check_switch(&[(1, 0.4)]).unwrap_err().to_string(),
            "context_switch.csv: only rows with processes = 1, which never switch; measure with \
             processes = 2 or more"
        );
    }

    #[test]
    fn modes_that_differ_count_as_one_value_each() {
        let row = |(mode, repetition, time_s): (&str, u32, f64)| ContextSwitch {
            processes: 2,
            repetition,
            switches: 1,
            time_s,
            mode: mode.into(),
        };
        // As many yields as there are would drown the other mode.
        let yields = (1..=9).map(|it| ("yield", it, 1e-6 + 1e-10 * f64::from(it % 3)));
        let rows = yields.chain([("futex", 1, 2e-6), ("futex", 2, 2.0002e-6)]).map(row).collect();
        let result = context_switch(&FileRows { file: "context_switch.csv".into(), rows }).unwrap();
        approx::assert_relative_eq!(result.value.value, 1.5e-6, max_relative = 1e-3);
        let said = result.warnings[0].to_string();
        assert!(said.contains("or in different modes"), "{said}");
    }

    #[test]
    fn numbers_of_processes_that_differ_count_as_one_value_each() {
        // 2 and 3 us, each within 0.1 %: mean 2.5 us, standard error 0.5 us of two values.
        let rows = [(2, 8.0), (2, 8.004), (2, 7.996), (4, 12.0), (4, 12.004), (4, 11.996)];
        let result = check_switch(&rows).unwrap();
        approx::assert_relative_eq!(result.value.std_error.unwrap(), 0.5e-6, max_relative = 1e-9);
        assert_eq!(result.value.degrees_of_freedom, Some(1.0));
        assert!(result.warnings[0].to_string().contains("from 2.000e-6 s to 3.000e-6 s"));
    }

    #[test]
    fn repetitions_that_agree_leave_no_error_and_one_leaves_it_unknown() {
        let same = check_switch(&[(2, 8.0), (2, 8.0), (4, 8.0), (4, 8.0)]).unwrap();
        assert_eq!((same.value.std_error, same.warnings.len()), (Some(0.0), 0));
        let once = check_switch(&[(2, 8.0)]).unwrap();
        assert_eq!(once.value.std_error, None);
        assert_eq!(
            once.warnings[0].to_string(),
            "t_csw_s: nothing in context_switch.csv was repeated, so that its standard error is \
             unknown; give three repetitions or more"
        );
    }

    #[test]
    fn intervals_of_a_switch_cover_the_truth_in_95_of_100_files() {
        assert_covers(|seed| {
            let mut noise = relative(seed);
            let rows = [2, 2, 2, 4, 4, 4, 8, 8, 8].map(|processes| (processes, 8.0 * noise(0.05)));
            (check_switch(&rows).unwrap().value.interval().unwrap(), 2e-6)
        });
    }

    /// Whether numbers of processes count as one value each: three of them, each timed three times, the
    /// times of one 0.1 us apart and the means of all so much.
    fn is_apart(step: f64) -> bool {
        let rows = [2, 4, 8].into_iter().zip([-1.0, 0.0, 1.0]).flat_map(|(processes, place)| {
            [-0.1, 0.0, 0.1].map(|noise| (processes, 4.0 * (2.5 + step * place + noise)))
        });
        let value = check_switch(&rows.collect::<Vec<_>>()).unwrap().value;
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
        let result = check_switch(&rows).unwrap();
        assert_eq!(result.value.degrees_of_freedom, Some(1.0));
        assert_eq!(result.warnings, []);
    }
}
