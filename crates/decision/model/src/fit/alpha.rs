//! alpha_m, the slowdown of host code under m threads, from concurrent matrix products.

use std::collections::BTreeMap;

use super::inputs::FileRows;
use super::sample::{Repetitions, TermMeasurement, repeated_once, warm_up};
use super::shape::{
    ErrorSource, PointScale, Points, Question, Selection, Shape, choose, correlation, knots,
};
use crate::models::parameters::{Estimate, OverM, Table};
use crate::models::terms::Term;
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::Alpha;

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

fn mean(repetitions: &Repetitions) -> Mean {
    Mean::of(&repetitions.iter().map(|(_, time)| *time).collect::<Vec<_>>())
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
    let alone = mean(values);
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
            let together = mean(values);
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
            points.parts.push(part(together, vec![(index, per_time)]));
            of_alone.entry(size).or_default().push((index, -ratio * per_time));
        }
        for (kind, size) in points.kinds.iter_mut().zip(times.keys()) {
            kind.push(of_sizes.get(size).map(|(_, ratio)| (ratio - value) / sizes));
        }
    }
    points.parts.extend(of_alone.into_iter().map(|(size, loadings)| part(alone[&size], loadings)));
    Ok(points)
}

fn part(mean: Mean, loadings: Vec<(usize, f64)>) -> ErrorSource {
    ErrorSource {
        variance: mean.std_error.map(|error| error.powi(2)),
        degrees_of_freedom: mean.degrees_of_freedom,
        loadings,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::Reason;
    use super::*;
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

    use crate::fit::sample::noise::{assert_covers, relative};

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
}
