//! How alpha grows with m where only runs tell of it: the shapes that are tried, and the choice.

use std::collections::BTreeSet;

use super::estimate::INDISPENSABLE;
use super::joint_fit::Trial;
use super::likelihood::NEGLIGIBLE;
use super::runs::Runs;
use super::shape::Shape;
use crate::model::parameters::{Estimate, Interpolation, OverM, Table};

/// The shapes that runs are held against, in this order: the first stays where no other is
/// clearly better.
pub(crate) const SHAPES: [Shape; 4] =
    [Shape::Linear, Shape::Constant, Shape::Logarithmic, Shape::Table];

/// alpha in this shape, and for each number of the shape the weights of
/// [`super::unknowns::Kind::Growth`]; `None` where the runs cannot tell the shape from a simpler
/// one.
pub(crate) fn alpha(shape: Shape, runs: &Runs) -> Option<(OverM, Vec<Vec<f64>>)> {
    let timed: BTreeSet<u32> = runs.cells.iter().map(|cell| cell.m).collect();
    let last = timed.last().copied().unwrap_or(1).max(2);
    // Shapes with one number are the same where only one m was timed beside 1.
    if shape != Shape::Linear && timed.iter().filter(|&&m| m > 1).count() < 2 {
        return None;
    }
    let from_one_to_last = |interpolation, growth: f64| {
        let table = Table { interpolation, ..over([1, last].into()) };
        Some((OverM::Table(table), vec![vec![0.0, growth]]))
    };
    match shape {
        Shape::Linear => from_one_to_last(Interpolation::Line, f64::from(last) - 1.0),
        Shape::Logarithmic => from_one_to_last(Interpolation::Logarithm, f64::from(last).log2()),
        Shape::Constant => Some((OverM::Constant(Estimate::exact(1.0)), vec![vec![1.0]])),
        Shape::Table => own_values(&timed, runs),
        Shape::Curve => None,
    }
}

/// A number for every m > 1 that at least two configurations have: one of them can be left out.
fn own_values(timed: &BTreeSet<u32>, runs: &Runs) -> Option<(OverM, Vec<Vec<f64>>)> {
    let configurations = |m: u32| runs.cells.iter().filter(|cell| cell.m == m).count();
    let knots: BTreeSet<u32> =
        timed.iter().copied().filter(|&m| m > 1 && configurations(m) > 1).collect();
    if knots.len() < 2 {
        return None;
    }
    let one_hot =
        |knot: usize| (0..=knots.len()).map(move |at| f64::from(u8::from(at == knot + 1)));
    let weights = (0..knots.len()).map(|knot| one_hot(knot).collect()).collect();
    Some((OverM::Table(over(knots.into_iter().chain([1]).collect())), weights))
}

fn over(ms: BTreeSet<u32>) -> Table {
    Table::new(ms.iter().copied().collect(), vec![Estimate::exact(1.0); ms.len()])
}

/// The errors of every trial at the configurations that each of them can be judged by, because it
/// can do without them; empty where there is none.
pub(crate) fn spared(trials: &[Trial]) -> Vec<Vec<f64>> {
    let is_spared = |index: usize| {
        trials
            .iter()
            .all(|trial| trial.within.estimated.minimum.leverages[index] < 1.0 - INDISPENSABLE)
    };
    let of = |trial: &Trial| {
        let errors = trial.within.estimated.left_out().into_iter().enumerate();
        errors.filter(|(index, _)| is_spared(*index)).map(|(_, error)| error).collect()
    };
    trials.iter().map(of).collect()
}

/// The trial to take: the first, unless another's squared errors are smaller by more than one
/// standard error of the difference over the configurations; of several such, the smallest.
pub(crate) fn choose(left_out: &[Vec<f64>]) -> usize {
    let squares = |trial: usize| left_out[trial].iter().map(|each| each.powi(2));
    let mean = |trial: usize| squares(trial).sum::<f64>() / left_out[trial].len() as f64;
    let clearly_better = |&trial: &usize| {
        let differences: Vec<f64> = squares(0).zip(squares(trial)).map(|(a, b)| a - b).collect();
        let count = differences.len() as f64;
        if count < 2.0 {
            return false;
        }
        let gain = differences.iter().sum::<f64>() / count;
        let variance = differences.iter().map(|each| (each - gain).powi(2)).sum::<f64>();
        let std_error = (variance / (count - 1.0) / count).sqrt();
        gain > std_error && gain > NEGLIGIBLE.powi(2)
    };
    (1..left_out.len())
        .filter(clearly_better)
        .min_by(|&one, &other| mean(one).total_cmp(&mean(other)))
        .unwrap_or(0)
}

/// Root mean square.
pub(crate) fn size(errors: &[f64]) -> f64 {
    (errors.iter().map(|each| each.powi(2)).sum::<f64>() / errors.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::trials::{
        TERMS, ended_at, exact_runs, feasible, fitted, noisy_runs, only, trial_of, truth,
    };
    use super::super::unknowns::Unknowns;
    use super::*;
    use crate::model::parameters::Decomposition;

    #[test]
    fn the_first_stays_unless_another_is_clearly_better() {
        let first = vec![0.02, -0.01, 0.03, -0.02];
        let slightly = vec![0.019, -0.012, 0.029, -0.021];
        let clearly = vec![0.002, -0.001, 0.003, -0.002];
        assert_eq!(choose(&[first.clone(), slightly.clone()]), 0);
        assert_eq!(choose(&[first.clone(), slightly, clearly]), 2);
        assert_eq!(choose(&[vec![1e-14; 4], vec![1e-16; 4]]), 0);
    }

    #[test]
    fn a_table_has_a_number_where_one_configuration_can_be_spared() {
        let runs = exact_runs(&truth(Decomposition::Data, 0.1, TERMS), &feasible());
        let (OverM::Table(alpha), weights) = alpha(Shape::Table, &runs).unwrap() else {
            panic!("a table")
        };
        assert_eq!(alpha.m, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(weights.len(), 7);
        assert_eq!(weights[0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn one_further_m_has_but_one_shape() {
        let runs = exact_runs(&truth(Decomposition::Data, 0.1, TERMS), &[(1, 1), (4, 1), (4, 2)]);
        let shapes = SHAPES.map(|shape| alpha(shape, &runs).is_some());
        assert_eq!(shapes, [true, false, false, false]);
    }

    #[test]
    fn errors_are_compared_where_every_trial_can_do_without_the_configuration() {
        // A shape with one number for each m needs the only configuration of 4 threads; a line does not.
        let configurations = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1)];
        let parameters =
            truth(Decomposition::Data, 0.1, [8.0, 120.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let runs = noisy_runs(&parameters, &configurations, 0.01, 3);
        let fitted = fitted(&only(runs), Decomposition::Data).unwrap();
        let choice = fitted.report.runs.unwrap().growth.unwrap();
        for trial in &choice.tried {
            let error = trial.error.unwrap();
            assert!((0.001..0.05).contains(&error), "{:?}: {error}", trial.shape);
        }
        assert!(choice.tried.len() > 2, "{:?}", choice.tried);
    }

    #[test]
    fn a_shape_is_better_by_more_than_a_standard_error_worked_out_by_hand() {
        let ones = vec![1.0, 1.0];
        // Squares 4 and 16 less 1 and 1: 9 in the mean, of which the standard error is
        // sqrt((6^2 + 6^2)/(2 - 1)/2) = 6.
        assert_eq!(choose(&[vec![2.0, 4.0], ones.clone()]), 1);
        // 1 and 9 less 1 and 1: 4 in the mean, and a standard error of sqrt(2*4^2/1/2) = 4.
        assert_eq!(choose(&[vec![1.0, 3.0], ones.clone()]), 0);
        // Of two that are better the smallest, wherever it stands.
        let half = vec![0.5, 0.5];
        assert_eq!(choose(&[vec![2.0, 4.0], ones.clone(), half.clone()]), 2);
        assert_eq!(choose(&[vec![2.0, 4.0], half, ones]), 1);
        // One configuration has no standard error.
        assert_eq!(choose(&[vec![2.0], vec![0.0]]), 0);
    }

    #[test]
    fn the_size_of_errors_is_the_root_of_their_mean_square() {
        assert_eq!(size(&[3.0, 4.0]), 12.5_f64.sqrt());
        assert_eq!(size(&[-2.0]), 2.0);
    }

    #[test]
    fn a_shape_takes_two_further_m_and_a_table_two_that_can_be_spared() {
        let shapes = |configurations: &[(u32, u32)]| {
            let runs = exact_runs(&truth(Decomposition::Data, 0.1, TERMS), configurations);
            SHAPES.map(|shape| alpha(shape, &runs).is_some())
        };
        assert_eq!(shapes(&[(1, 1), (2, 1), (2, 2), (4, 1)]), [true, true, true, false]);
        assert_eq!(shapes(&[(1, 1), (2, 1), (2, 2), (4, 1), (4, 2)]), [true; 4]);
    }

    #[test]
    fn the_number_of_a_line_is_what_each_further_thread_adds() {
        let runs = exact_runs(&truth(Decomposition::Data, 0.1, TERMS), &[(1, 1), (5, 1)]);
        let (_, weights) = alpha(Shape::Linear, &runs).unwrap();
        assert_eq!(weights, [[0.0, 4.0]]);
    }

    #[test]
    fn a_configuration_that_any_trial_rests_on_judges_none() {
        let base = truth(Decomposition::Data, 0.1, TERMS);
        let trial = |residuals: [f64; 3], leverages: [f64; 3]| {
            let mut estimated = ended_at(Unknowns::new(&base, Vec::new()), &[]);
            estimated.minimum.residuals = residuals.into();
            estimated.minimum.leverages = leverages.into();
            trial_of(&base, estimated)
        };
        let trials = [
            trial([0.1, 0.2, 0.3], [0.0, 0.5, 0.5]),
            trial([0.5, 0.5, 0.0], [0.5, 0.75, 1.0 - 1e-9]),
        ];
        assert_eq!(spared(&trials), [[0.1, 0.4], [1.0, 2.0]]);
    }
}
