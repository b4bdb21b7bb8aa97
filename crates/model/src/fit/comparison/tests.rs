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
fn a_refined_model_stands_beside() {
    let runs = held_out::runs(&Truth::InteriorOptimum.parameters(), 0.0, 1);
    let times: Vec<f64> = runs.cells.iter().map(|cell| cell.mean_s).collect();
    let off = times.iter().map(|time| 1.1 * time).collect();
    let comparison = compare(&runs, &[given("mmgp", 8, off), given("refined", 11, times)]).unwrap();
    assert_eq!(comparison.rows[1].mean_error_percent, 0.0);
}

#[test]
fn predictions_that_are_missing_or_no_times_are_refused() {
    let runs = runs(&[((1, 1), 10.0), ((1, 2), 5.0), ((2, 1), 4.0)]);
    for predictions in [vec![10.0, 5.0], vec![10.0, 5.0, f64::NAN]] {
        assert!(compare(&runs, &[given("mmgp", 8, predictions)]).is_err());
    }
    assert!(compare(&runs, &[]).is_err());
}
