//! O_COL, a global synchronisation among m processes, from collective operations of MPI.

use std::collections::BTreeMap;

use super::inputs::{
    FileRows, Repetitions, TermMeasurement, correlation, mean, repeated_once, warm_up,
};
use super::shape::{
    ErrorSource, PointScale, Points, Question, Selection, Shape, ShapeChoice, TermChoices, choose,
    knots,
};
use crate::models::parameters::{OverM, Table};
use crate::models::terms::Term;
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning, shortened};
use mmgp_base::table::records::Collective;

/// Operations of one rank count that differ by more than this factor should not be pooled.
const ALIKE: f64 = 1.5;

/// An operation with its message size.
type CollectiveKind = (String, u64);

/// The times of a call of each kind at each number of ranks.
type CollectiveTimes = BTreeMap<u32, BTreeMap<CollectiveKind, Repetitions>>;

/// The time of a call among up to `last_m` ranks, of the operation and message size that the
/// program calls.
///
/// The profile counts collectives without their kind. Where no operation is named and the file
/// holds several, their mean is taken, what they differ by is part of its error, and a warning
/// says so where that is much. The shape over the ranks is chosen as [`choose`] says, for the
/// term and, for the report, for each kind; one rank, which waits for nobody, is as measured.
pub(crate) fn collective(
    measured: &FileRows<Collective>,
    choices: &TermChoices,
    last_m: u32,
) -> Result<TermMeasurement<OverM>> {
    let file = measured.file.as_str();
    let (times, observations) = wanted(measured, choices)?;
    let all: Vec<Repetitions> = times.values().flat_map(BTreeMap::values).cloned().collect();
    let mut warnings: Vec<Warning> = warm_up(file, &all).into_iter().collect();
    warnings.extend(times.iter().filter_map(|(&ranks, kinds)| unlike(file, ranks, kinds)));
    let asked = |term: String, selection| Question { term, file, selection, last_m };
    let at_one = times.get(&1).map(|kinds| mean(kinds.values()).measured_in(file));
    let points = points(&times);
    let mut table = Table::new(Vec::new(), Vec::new());
    table.m.extend(at_one.iter().map(|_| 1));
    table.values.extend(at_one);
    let first = table.m.len();
    let mut shapes = Vec::new();
    let mut together = None;
    if !points.m.is_empty() {
        let (candidate, choice) = choose(&points, &asked("o_col_s".into(), choices.collective))?;
        let (m, interpolation) = knots(choice.chosen, &points, last_m);
        table.interpolation = interpolation;
        let (values, covariance) = candidate.tabulated(&m, &points, file);
        let far = (choice.chosen != Shape::Table).then_some(last_m);
        let lowest = m.iter().copied().chain(far).map(|m| candidate.term(m, &points));
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        warnings.extend((lowest < 0.0).then_some(Warning::AtBound { term: "o_col_s", bound: 0.0 }));
        together = covariance;
        table.m.extend(m);
        table.values.extend(values);
        shapes.push(choice);
        shapes.extend(of_each_kind(&times, &asked)?);
    }
    if table.values.iter().all(|estimate| estimate.std_error.is_none()) {
        warnings.push(repeated_once("o_col_s", file));
    }
    let correlation = correlation(together, |index| Term::CollectiveCost.entry(first + index));
    let value = OverM::Table(table);
    Ok(TermMeasurement {
        choices: shapes,
        correlation,
        ..TermMeasurement::new(value, observations, warnings)
    })
}

/// The rows of what the program calls, and how many they are.
fn wanted(
    measured: &FileRows<Collective>,
    choices: &TermChoices,
) -> Result<(CollectiveTimes, u64)> {
    let is_operation = |row: &&Collective| {
        choices.operation.as_ref().is_none_or(|operation| *operation == row.operation)
    };
    let of_operation: Vec<&Collective> = measured.rows.iter().filter(is_operation).collect();
    if of_operation.is_empty() {
        let mut known: Vec<String> =
            measured.rows.iter().map(|row| row.operation.clone()).collect();
        known.sort();
        known.dedup();
        let name = choices.operation.clone().unwrap_or_default();
        return Err(Error::unknown_name("collective operation", name, known));
    }
    let is_size =
        |row: &&&Collective| choices.operation_bytes.is_none_or(|bytes| bytes == row.bytes);
    let mut times = CollectiveTimes::new();
    let mut count = 0;
    for row in of_operation.iter().filter(is_size) {
        let kinds = times.entry(row.ranks).or_default();
        let repetitions = kinds.entry((row.operation.clone(), row.bytes)).or_default();
        repetitions.push((row.repetition, row.time_s / row.calls as f64));
        count += 1;
    }
    if count == 0 {
        let mut sizes: Vec<u64> = of_operation.iter().map(|row| row.bytes).collect();
        sizes.sort();
        sizes.dedup();
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        return Err(Error::too_little(
            measured.file.clone(),
            format!(
                "{} only with bytes = {}",
                choices.operation.as_deref().map_or("collectives".into(), shortened),
                sizes.join(", ")
            ),
            "measure the size that the program uses, or name one of these",
        ));
    }
    Ok((times, count))
}

/// The mean over the kinds at each number of ranks above 1.
fn points(times: &CollectiveTimes) -> Points {
    let mut all: Vec<&CollectiveKind> = times.values().flat_map(BTreeMap::keys).collect();
    all.sort();
    all.dedup();
    let mut points = Points {
        scale: PointScale::Absolute,
        m: Vec::new(),
        values: Vec::new(),
        counts: Vec::new(),
        parts: Vec::new(),
        kinds: vec![Vec::new(); all.len()],
    };
    for (index, (&ranks, kinds)) in times.range(2..).enumerate() {
        let means: BTreeMap<&CollectiveKind, Mean> =
            kinds.iter().map(|(kind, repetitions)| (kind, mean([repetitions]))).collect();
        let count = means.len() as f64;
        let value = means.values().map(|mean| mean.value).sum::<f64>() / count;
        points.m.push(ranks);
        points.values.push(value);
        points.counts.push(means.values().map(|mean| mean.count as f64).sum());
        let part = |mean| ErrorSource::of(mean, vec![(index, 1.0 / count)]);
        points.parts.extend(means.values().map(part));
        for (deviations, kind) in points.kinds.iter_mut().zip(&all) {
            deviations.push(means.get(kind).map(|mean| (mean.value - value) / count));
        }
    }
    points
}

/// How each kind by itself would be described, where there are several.
fn of_each_kind<'a>(
    times: &CollectiveTimes,
    asked: &impl Fn(String, Selection) -> Question<'a>,
) -> Result<Vec<ShapeChoice>> {
    let mut kinds: Vec<&CollectiveKind> = times.values().flat_map(BTreeMap::keys).collect();
    kinds.sort();
    kinds.dedup();
    let mut choices = Vec::new();
    for kind in kinds.iter().filter(|_| kinds.len() > 1) {
        let only = |(&ranks, of_ranks): (&u32, &BTreeMap<CollectiveKind, Repetitions>)| {
            let (kind, repetitions) = of_ranks.get_key_value(*kind)?;
            Some((ranks, BTreeMap::from([(kind.clone(), repetitions.clone())])))
        };
        let points = points(&times.iter().filter_map(only).collect());
        if !points.m.is_empty() {
            let term = format!("o_col_s of {} of {} bytes", kind.0, kind.1);
            choices.push(choose(&points, &asked(term, Selection::CrossValidated))?.1);
        }
    }
    Ok(choices)
}

/// A warning where the cheapest and the dearest kind of collective are far apart.
fn unlike(
    file: &str,
    ranks: u32,
    kinds: &BTreeMap<CollectiveKind, Repetitions>,
) -> Option<Warning> {
    let value = |kind: &(&CollectiveKind, &Repetitions)| mean([kind.1]).value;
    let by_value = |a: &_, b: &_| value(a).total_cmp(&value(b));
    let cheapest = kinds.iter().min_by(by_value)?;
    let dearest = kinds.iter().max_by(by_value)?;
    let name = |((operation, bytes), _): (&CollectiveKind, _)| {
        format!("{} of {bytes} bytes", shortened(operation))
    };
    (value(&dearest) > ALIKE * value(&cheapest)).then(|| {
        Warning::Note(format!(
            "{file}: with {ranks} ranks, {} takes {:.1} times as long as {}; their mean was used, \
             name what the program calls",
            name(dearest),
            value(&dearest) / value(&cheapest),
            name(cheapest),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::Interpolation;

    /// Rows of (operation, ranks, microseconds for 2 calls).
    fn check(rows: &[(&str, u32, f64)]) -> (Table, Vec<String>) {
        let rows = rows.iter().zip(1..).map(|(&(operation, ranks, time_us), repetition)| {
            let (bytes, calls, time_s) = (8, 2, time_us * 1e-6);
            Collective { operation: operation.into(), ranks, bytes, repetition, calls, time_s }
        });
        let measured = FileRows { file: "collective.csv".into(), rows: rows.collect() };
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
              of 8 bytes; their mean was used, name what the program calls"]
        );
    }

    /// The time of a call among so many ranks.
    type Truth = fn(f64) -> f64;

    /// A file of three repetitions with 3 % noise, of each operation with the time of a call.
    fn noisy(operations: &[(&str, Truth)], ranks: &[u32], seed: u64) -> FileRows<Collective> {
        let mut noise = crate::fit::inputs::noise::relative(seed);
        let mut rows = Vec::new();
        for &(operation, truth) in operations {
            for &ranks in ranks {
                rows.extend((1..=3).map(|repetition| Collective {
                    operation: operation.into(),
                    ranks,
                    bytes: 8,
                    repetition,
                    calls: 100,
                    time_s: 100.0 * truth(f64::from(ranks)) * noise(0.03),
                }));
            }
        }
        FileRows { file: "collective.csv".into(), rows }
    }

    const LINEAR: Truth = |ranks| 4e-6 + 3e-6 * ranks;
    const TREE: Truth = |ranks| 5e-6 + 8e-6 * ranks.log2();
    /// Every fourth rank adds a larger step.
    const STEPS: Truth = |ranks| 5e-6 * (ranks / 4.0).ceil().powi(2);

    #[test]
    fn cross_validation_finds_the_shape_of_each_operation() {
        let every: Vec<u32> = (1..=16).collect();
        let truths: [(Truth, Shape); 4] = [
            (|_| 20e-6, Shape::Constant),
            (LINEAR, Shape::Linear),
            (TREE, Shape::Logarithmic),
            (STEPS, Shape::Table),
        ];
        for (truth, shape) in truths {
            let is_chosen = |&seed: &u64| {
                let measured = noisy(&[("barrier", truth)], &every, seed);
                let result = collective(&measured, &TermChoices::default(), 16).unwrap();
                result.choices[0].chosen == shape
            };
            let chosen = (1..=100).filter(is_chosen).count();
            assert!(chosen >= 90, "{shape}: {chosen} of 100");
        }
    }

    #[test]
    fn the_operation_that_the_program_calls_can_be_named() {
        let measured = noisy(&[("bcast", TREE), ("alltoall", LINEAR)], &[2, 4, 8, 16], 1);
        let named = |operation: &str, bytes| TermChoices {
            operation: Some(operation.into()),
            operation_bytes: bytes,
            ..TermChoices::default()
        };
        let result = collective(&measured, &named("alltoall", Some(8)), 16).unwrap();
        approx::assert_relative_eq!(result.value.at(8, 0.0), 28e-6, max_relative = 0.05);
        assert_eq!((result.observations, result.choices.len(), result.warnings.len()), (12, 1, 0));
        let mixed = collective(&measured, &TermChoices::default(), 16).unwrap();
        let terms: Vec<&str> = mixed.choices.iter().map(|choice| choice.term.as_str()).collect();
        assert_eq!(
            terms,
            ["o_col_s", "o_col_s of alltoall of 8 bytes", "o_col_s of bcast of 8 bytes"]
        );
        let error = |choices| collective(&measured, &choices, 16).unwrap_err().to_string();
        assert_eq!(
            error(named("bcas", None)),
            "there is no collective operation \"bcas\"; did you mean \"bcast\"? known: \
             alltoall, bcast"
        );
        assert_eq!(
            error(named("bcast", Some(64))),
            "collective.csv: bcast only with bytes = 8; measure the size that the program uses, or \
             name one of these"
        );
    }

    #[test]
    fn a_line_is_known_at_its_ends_whose_errors_go_together() {
        let measured = noisy(&[("barrier", LINEAR)], &[2, 4, 8, 12, 16], 3);
        let shape = Selection::Fixed(Shape::Linear);
        let choices = TermChoices { collective: shape, ..TermChoices::default() };
        let result = collective(&measured, &choices, 32).unwrap();
        let OverM::Table(table) = &result.value else { panic!("a table") };
        assert_eq!((&table.m[..], table.interpolation), (&[2, 16][..], Interpolation::Line));
        let correlation = result.correlation.unwrap();
        assert_eq!(
            correlation.entries(),
            [Term::CollectiveCost.entry(0), Term::CollectiveCost.entry(1)]
        );
        // A slope that is too high lifts the far end and lowers the near one.
        assert!(correlation.of(Term::CollectiveCost.entry(0), Term::CollectiveCost.entry(1)) < 0.0);
    }

    #[test]
    fn intervals_cover_the_truth_in_95_of_100_files() {
        use crate::fit::inputs::noise::assert_covers;
        for shape in [Shape::Linear, Shape::Table] {
            let collective_shape = Selection::Fixed(shape);
            let choices = TermChoices { collective: collective_shape, ..TermChoices::default() };
            assert_covers(|seed| {
                let measured = noisy(&[("barrier", LINEAR)], &[2, 4, 8, 16], seed);
                let OverM::Table(table) = collective(&measured, &choices, 16).unwrap().value else {
                    panic!("a table")
                };
                (table.values.last().unwrap().interval().unwrap(), LINEAR(16.0))
            });
        }
    }

    #[test]
    fn a_line_that_falls_below_nothing_is_held_there_and_told() {
        // -3 + m microseconds at 4, 8 and 16 ranks: -1 at 2, where the line is stored.
        let rows = [4, 8, 16].map(|ranks: u32| Collective {
            operation: "barrier".into(),
            ranks,
            bytes: 8,
            repetition: 1,
            calls: 1,
            time_s: 1e-6 * (f64::from(ranks) - 3.0),
        });
        let measured = FileRows { file: "collective.csv".into(), rows: rows.into() };
        let line = Selection::Fixed(Shape::Linear);
        let choices = TermChoices { collective: line, ..TermChoices::default() };
        let result = collective(&measured, &choices, 16).unwrap();
        assert_eq!(result.value.at(2, 1.0), 0.0);
        let told = Warning::AtBound { term: "o_col_s", bound: 0.0 };
        assert!(result.warnings.contains(&told), "{:?}", result.warnings);
    }
}
