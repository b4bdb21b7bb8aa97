use nalgebra::DMatrix;

use super::super::shape::TermChoices;
use super::super::trials::{TERMS, exact_runs, measured, noisy_runs, only, truth};
use super::super::{Fitted, Options, Settings, fit};
use super::*;
use crate::model::parameters::{Decomposition, Estimate};

/// Runs at each of these m with several p, as a fit with this choice for alpha takes them.
fn fitted(runs: Runs, alpha: Selection) -> Fitted {
    let terms = TermChoices { alpha, ..TermChoices::default() };
    let options = Options { terms, ..Options::default() };
    let settings = Settings::new("trial", Decomposition::Data, 16).with(options);
    fit(&only(runs), &settings).unwrap()
}

fn at(m: &[u32]) -> Vec<(u32, u32)> {
    m.iter().flat_map(|&m| [1, 2, 4].map(|p| (m, p))).collect()
}

/// How alpha was chosen for a program whose host time grows so.
fn check(
    m: &[u32],
    growth: fn(u32) -> f64,
    selection: Selection,
    expected: Option<(Shape, Reason)>,
) {
    let mut truth = truth(Decomposition::Data, 0.0, TERMS);
    let alpha = (1..=16).map(|m| Estimate::exact(1.0 + growth(m)));
    truth.terms.alpha =
        OverM::Table(crate::model::parameters::Table::new((1..=16).collect(), alpha.collect()));
    let runs = noisy_runs(&truth, &at(m), 0.001, 2);
    let choice = fitted(runs, selection).report.runs.unwrap().growth;
    assert_eq!(choice.map(|choice| (choice.chosen, choice.reason)), expected);
}

#[test]
fn the_shape_of_alpha_is_chosen_for_a_reason() {
    let open = Selection::CrossValidated;
    let line = |m: u32| 0.2 * f64::from(m - 1);
    let step = |m: u32| if m > 1 { 1.0 } else { 0.0 };
    check(&[1, 2, 4, 8], line, open, Some((Shape::Linear, Reason::Simplest)));
    check(&[1, 2, 4, 8], step, open, Some((Shape::Constant, Reason::LeastError)));
    check(&[1, 4], line, open, Some((Shape::Linear, Reason::TooFew)));
    let asked = Selection::Fixed(Shape::Logarithmic);
    check(&[1, 2, 4, 8], line, asked, Some((Shape::Logarithmic, Reason::Asked)));
    check(&[1], line, open, None);
}

#[test]
fn a_shape_that_was_asked_for_has_its_own_errors_and_one_that_runs_chose_has_more() {
    let truth = truth(Decomposition::Data, 0.1, TERMS);
    let configurations = at(&[1, 2, 4, 8]);
    let mut runs = exact_runs(&truth, &configurations);
    for cell in &mut runs.cells {
        cell.squared_deviations_s2 = 2.0 * (0.01 * cell.mean_s).powi(2);
    }
    let error = |selection| {
        let fitted = fitted(runs.clone(), selection);
        fitted.parameters.terms.t_apu_s.std_error.unwrap()
    };
    // T = c + S*(m - 1) + T_APU/(m*p) + G*p. The 24 degrees of freedom of the repetitions have squares
    // of 1e-4 each, the 8 of the residuals none; each mean is of three runs.
    let basis = |row: usize, column: usize| {
        let (m, p) = configurations[row];
        let (m, p) = (f64::from(m), f64::from(p));
        [1.0, m - 1.0, 1.0 / (m * p), p][column] / runs.cells[row].mean_s
    };
    let slopes = DMatrix::from_fn(configurations.len(), 4, basis);
    let variance = 24e-4 / (24.0 + 8.0) / 3.0;
    let covariance = (slopes.transpose() * slopes).try_inverse().unwrap() * variance;
    let expected = covariance[(2, 2)].sqrt();
    let asked = error(Selection::Fixed(Shape::Linear));
    approx::assert_relative_eq!(asked, expected, max_relative = 1e-6);
    assert!(error(Selection::CrossValidated) > 1.01 * expected);
}

#[test]
fn a_host_time_of_nothing_is_nothing_where_it_does_not_grow() {
    // All that is the same for all p is a little less than nothing.
    let mut runs = exact_runs(
        &truth(Decomposition::Data, 0.0, [0.0, 120.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        &[(1, 1), (1, 2), (1, 4), (1, 8)],
    );
    runs.cells.iter_mut().for_each(|cell| cell.mean_s -= 1e-3);
    let found = fitted(runs, Selection::CrossValidated).parameters.terms.t_hpu_s.value;
    assert!((0.0..1e-6).contains(&found), "{found}");
}

#[test]
fn a_shape_that_was_asked_for_is_no_matter_where_alpha_does_not_grow() {
    // Configurations that are next to the same: 2 + 120/p s.
    let truth = truth(Decomposition::Data, 0.0, [2.0, 120.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let runs = exact_runs(&truth, &[(1, 100), (1, 101), (1, 102)]);
    let found = fitted(runs, Selection::Fixed(Shape::Constant)).parameters;
    let time = found.time(Mapping::of(1, 101)).0;
    approx::assert_relative_eq!(time, 2.0 + 120.0 / 101.0, max_relative = 1e-9);
}

#[test]
fn one_run_is_enough_where_files_tell_the_rest() {
    let truth = truth(Decomposition::Data, 0.1, TERMS);
    let runs = exact_runs(&truth, &[(2, 2)]);
    let inputs = super::super::Inputs { runs: Some(runs), ..measured(&truth) };
    let settings = Settings::new("trial", Decomposition::Data, 16);
    let found = fit(&inputs, &settings).unwrap().parameters.time(Mapping::of(8, 2)).0;
    approx::assert_relative_eq!(found, truth.time(Mapping::of(8, 2)).0, max_relative = 1e-6);
}
