use super::super::held_out::{self, Truth};
use super::super::runs::Cell;
use super::*;

fn given(model: &str, parameters: usize, predictions_s: Vec<f64>) -> LeftOut {
    LeftOut { model: model.into(), parameters, predictions_s }
}

fn runs(times: &[((u32, u32), f64)]) -> Runs {
    let cell = |&(mapping, time_s): &((u32, u32), f64)| Cell::of(mapping, &[time_s]);
    Runs { file: "runs.csv".into(), cells: times.iter().map(cell).collect() }
}

#[test]
fn a_row_by_hand() {
    let runs = runs(&[((1, 1), 10.0), ((1, 2), 5.0), ((2, 1), 4.0)]);
    // Errors of 10, 20 and 0 %.
    let comparison = compare(&runs, &[given("mmgp", 8, vec![11.0, 4.0, 4.0])]).unwrap();
    let row = &comparison.rows[0];
    approx::assert_relative_eq!(row.mean_error_percent, 10.0, max_relative = 1e-12);
    approx::assert_relative_eq!(row.max_error_percent, 20.0, max_relative = 1e-12);
    assert_eq!((row.worst, row.parameters), ((1, 2), 8));
    // Left out of three configurations, two remain: of six values the laws with two are determined,
    // unless both have the same m*p.
    let names: Vec<&str> = comparison.undetermined.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["Amdahl", "Gustafson", "Universal Scalability Law", "plain regression"]);
}

#[test]
fn a_paired_difference_by_hand() {
    // Differences 1, 2, 3: mean 2, deviation 1, so t = 2*sqrt(3) with 2 degrees of freedom, beyond
    // which lies (1 - t/sqrt(2 + t^2))/2.
    let pair = Pair::of(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
    let t = 12.0f64.sqrt();
    approx::assert_relative_eq!(pair.mean, 2.0, max_relative = 1e-15);
    approx::assert_relative_eq!(pair.std_error, 3.0f64.sqrt().recip(), max_relative = 1e-12);
    approx::assert_relative_eq!(
        pair.probability,
        (1.0 - t / (2.0 + t * t).sqrt()) / 2.0,
        max_relative = 1e-9
    );
    assert!(Pair::of(&[1.0, 2.0], &[1.0, 2.0]).is_none());
}

/// Beside a larger model that is true too: a line in m, p and their inverses.
fn of_truth(truth: Truth, seed: u64) -> Comparison {
    let runs = held_out::runs(&truth.parameters(), 0.02, seed);
    let predictions = Law::Regression.left_out(&runs).unwrap();
    compare(&runs, &[given("mmgp", 8, predictions)]).unwrap()
}

#[test]
fn where_amdahl_is_true_it_is_the_one_to_use() {
    let smaller = (1..=20).filter_map(|seed| of_truth(Truth::Amdahl, seed).smaller);
    let amdahl = smaller.filter(|smaller| smaller.model == "Amdahl").count();
    assert!(amdahl >= 19, "{amdahl}");
    let text = of_truth(Truth::Amdahl, 1).to_string();
    assert!(text.contains("Amdahl predicts left-out configurations as well"), "{text}");
    assert!(text.contains("with 2 values instead of 8"), "{text}");
    assert!(text.contains("cannot choose between configurations with the same m*p"), "{text}");
}

#[test]
fn where_costs_grow_with_m_and_p_apart_no_law_does_as_well() {
    // A line that is true in everything but its noise: two values pass for it now and then.
    let smaller = (1..=20).filter_map(|seed| of_truth(Truth::InteriorOptimum, seed).smaller);
    let lines = smaller.filter(|smaller| smaller.model == "plain regression").count();
    assert!(lines >= 18, "{lines}");
    let runs = held_out::runs(&Truth::InteriorOptimum.parameters(), 0.02, 1);
    let perfect = runs.cells.iter().map(|cell| cell.mean_s).collect();
    let text = compare(&runs, &[given("mmgp", 8, perfect)]).unwrap().to_string();
    assert!(text.ends_with("No smaller model predicts left-out configurations as well as mmgp.\n"));
    assert_eq!(text.lines().count(), 8, "{text}");
}

#[test]
fn a_refined_model_stands_beside_and_is_no_smaller_one() {
    let runs = held_out::runs(&Truth::InteriorOptimum.parameters(), 0.0, 1);
    let times: Vec<f64> = runs.cells.iter().map(|cell| cell.mean_s).collect();
    let off = times.iter().map(|time| 1.1 * time).collect();
    let comparison = compare(&runs, &[given("mmgp", 8, off), given("refined", 11, times)]).unwrap();
    assert_eq!(comparison.rows[1].mean_error_percent, 0.0);
    assert!(comparison.smaller.is_none_or(|smaller| smaller.model != "refined"));
}

#[test]
fn predictions_that_are_missing_or_no_times_are_refused() {
    let runs = runs(&[((1, 1), 10.0), ((1, 2), 5.0), ((2, 1), 4.0)]);
    for predictions in [vec![10.0, 5.0], vec![10.0, 5.0, f64::NAN]] {
        assert!(compare(&runs, &[given("mmgp", 8, predictions)]).is_err());
    }
    assert!(compare(&runs, &[]).is_err());
}

#[test]
fn another_model_is_better_where_it_errs_by_a_third_less_and_a_point_of_percent() {
    let better = |of_first: f64, of_second: f64| {
        let row = |model: &str, mean_error_percent: f64| Row {
            model: model.into(),
            parameters: 2,
            mean_error_percent,
            max_error_percent: 3.0 * mean_error_percent,
            worst: (1, 1),
        };
        // One that is no worse than the first is never the best.
        let rows = vec![row("mmgp", of_first), row("Amdahl", of_second), row("plain", of_first)];
        let comparison = Comparison { rows, smaller: None, undetermined: Vec::new() };
        comparison.clearly_better().map(|row| row.model.clone())
    };
    assert_eq!(better(12.0, 7.5).as_deref(), Some("Amdahl"));
    assert_eq!(better(12.0, 8.0), None, "it is two thirds");
    assert_eq!(better(12.0, 20.0), None);
    assert_eq!(better(2.0, 1.25), None, "it is three quarters of a point");
    assert_eq!(better(2.0, 1.0), None, "it is a point and no more");
    assert_eq!(better(2.0, 0.75).as_deref(), Some("Amdahl"));
    assert_eq!(better(0.0, 0.0), None);
    let none = Comparison { rows: Vec::new(), smaller: None, undetermined: Vec::new() };
    assert_eq!(none.clearly_better(), None);
}

#[test]
fn a_model_with_as_many_values_is_no_smaller_one() {
    let runs = held_out::runs(&Truth::InteriorOptimum.parameters(), 0.02, 1);
    let times: Vec<f64> = runs.cells.iter().map(|cell| cell.mean_s).collect();
    let off = times.iter().map(|time| 1.001 * time).collect();
    let comparison = compare(&runs, &[given("mmgp", 8, off), given("other", 8, times)]).unwrap();
    assert!(comparison.smaller.is_none());
}

#[test]
fn errors_that_differ_by_the_same_everywhere_leave_no_doubt() {
    let probability = |smaller| Pair::of(&[smaller; 3], &[2.0; 3]).unwrap().probability;
    assert_eq!([1.0, 2.0, 3.0].map(probability), [1.0, 1.0, 0.0]);
}
