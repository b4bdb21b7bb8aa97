use super::super::points::Part;
use super::*;

const FILE: &str = "alpha.csv";

/// Times of 2 s at each m, uncertain by 10 %, as four repetitions each show.
fn points(scale: Scale, m: &[u32]) -> Points {
    let part = |index| Part {
        variance: Some(0.04),
        degrees_of_freedom: 16.0,
        loadings: vec![(index, 1.0)],
    };
    Points {
        scale,
        m: m.to_vec(),
        values: vec![2.0; m.len()],
        counts: vec![4.0; m.len()],
        parts: (0..m.len()).map(part).collect(),
        kinds: Vec::new(),
    }
}

/// A shape that errs so where a point is left out.
fn candidate(shape: Shape, left_out: &[f64]) -> Candidate {
    let rising = Points { values: vec![1.0, 1.5, 2.1, 2.5], ..times(&[1, 2, 3, 4]) };
    let formula = (shape != Shape::Table).then(|| Formula::fit(shape, &rising).unwrap());
    Candidate { shape, formula, spread: None, left_out: Some(left_out.to_vec()) }
}

fn times(m: &[u32]) -> Points {
    points(Scale::RelativeToOne, m)
}

/// What is taken of such squares of errors where 2 of 10 m were measured.
fn check(candidates: &[(Shape, f64)], expected: (usize, Reason)) {
    let of = |&(shape, square): &(Shape, f64)| candidate(shape, &[f64::sqrt(square); 2]);
    let candidates: Vec<Candidate> = candidates.iter().map(of).collect();
    assert_eq!(compared(&candidates, &times(&[1, 2, 4]), 11), expected);
}

#[test]
fn a_table_errs_by_its_noise_at_the_m_that_were_measured_and_by_interpolation_elsewhere() {
    // A fifth of 2*0.01 and four fifths of 0.09 are 0.076; chance explains two standard errors of the
    // mean of two squares, 2*0.01*sqrt(2/2) = 0.02.
    let table = (Shape::Table, 0.09);
    check(&[(Shape::Linear, 0.0955), table], (0, Reason::Simplest));
    check(&[(Shape::Linear, 0.0965), table], (1, Reason::FormulasMiss));
    check(&[(Shape::Linear, 0.0755), table], (0, Reason::LeastError));
    check(&[table], (0, Reason::TooFew));
}

#[test]
fn of_formulas_that_chance_alone_parts_the_one_with_fewer_numbers_is_taken() {
    let table = (Shape::Table, 1.0);
    check(&[(Shape::Linear, 0.06), (Shape::Curve, 0.05), table], (0, Reason::Simplest));
    check(&[(Shape::Linear, 0.08), (Shape::Curve, 0.05), table], (1, Reason::LeastError));
    // A constant and a line have one number each.
    check(&[(Shape::Constant, 0.06), (Shape::Linear, 0.05), table], (1, Reason::LeastError));
}

#[test]
fn chance_explains_two_standard_errors_of_a_mean_square_or_one_of_the_differences() {
    // A square of mean 0.03 has a standard deviation of 0.03*sqrt(2): 2*0.03*sqrt(2/8).
    let noise = [0.02, 0.04, 0.02, 0.04, 0.02, 0.04, 0.02, 0.04];
    let known = by_chance(&[1.0; 8], &[1.0; 8], Some(&noise));
    approx::assert_relative_eq!(known, 0.03, max_relative = 1e-12);
    // Differences of 2 and 3.
    assert_eq!(by_chance(&[3.0, 5.0], &[1.0, 2.0], None), 0.5);
}

#[test]
fn the_noise_is_that_of_the_repetitions_or_else_of_what_the_table_knows() {
    let repeated = times(&[1, 2, 4]);
    let table = Candidate::new(Shape::Table, &repeated).unwrap();
    for square in noise(&repeated, &table).unwrap() {
        approx::assert_relative_eq!(square, 0.01, max_relative = 1e-12);
    }
    // Two kinds 0.3 above and below, over two of them: a standard error of 0.3.
    let kinds = [0.15, -0.15].map(|each| vec![None, Some(each), Some(each)]);
    let once = Points { parts: Vec::new(), kinds: kinds.to_vec(), ..repeated };
    let table = Candidate::new(Shape::Table, &once).unwrap();
    for square in noise(&once, &table).unwrap() {
        approx::assert_relative_eq!(square, 0.0225, max_relative = 1e-12);
    }
}

#[test]
fn the_error_of_a_shape_is_the_root_of_the_mean_square_of_its_errors() {
    let trial = candidate(Shape::Table, &[0.3, -0.1]).trial(&times(&[1, 2, 4]), FILE);
    approx::assert_relative_eq!(trial.error.unwrap(), 0.05_f64.sqrt(), max_relative = 1e-12);
}

#[test]
fn a_term_is_what_the_formula_says_or_the_table_holds() {
    let points = Points { values: vec![1.0, 3.0, 7.0], ..times(&[1, 2, 4]) };
    let term = |shape, m| Candidate::new(shape, &points).unwrap().term(m, &points);
    assert_eq!([1, 2, 4].map(|m| term(Shape::Table, m)), points.values[..]);
    // 1 + 2*(m - 1)
    approx::assert_relative_eq!(term(Shape::Linear, 6), 11.0, max_relative = 1e-9);
}

#[test]
fn a_table_is_interpolated_from_nothing_at_one_and_held_beyond_its_last_m() {
    let values = vec![3.0, 5.0, 6.0];
    let table = Points { values, ..points(Scale::Absolute, &[4, 8, 10]) };
    let found = [2, 5, 9, 20].map(|m| interpolated(&table, m));
    assert_eq!(found, [1.0, 3.5, 5.5, 6.0].map(Some));
}

#[test]
fn nothing_errs_in_proportion_to_a_value_of_nothing() {
    let values = vec![1.0, 0.0, 1.0];
    let points = Points { values, ..points(Scale::Absolute, &[2, 4, 8]) };
    let table = Candidate::new(Shape::Table, &points).unwrap();
    assert_eq!(table.trial(&points, FILE).error, None);
}

/// Whether the misfit counts, a relative variance of one observation with 16 degrees of freedom.
fn is_missed(misfit: f64, points: &Points) -> Option<bool> {
    let mut formula = Formula::fit(Shape::Constant, points).unwrap();
    (formula.misfit, formula.degrees_of_freedom) = (Some(misfit), 16.0);
    let gradients: Vec<Vec<f64>> = points.above_one().map(|index| points.unit(index)).collect();
    spread(&formula, points, &gradients).map(|it| matches!(it, Spread::Misfit { .. }))
}

#[test]
fn a_formula_misses_its_points_where_their_own_errors_do_not_explain_it() {
    // Each point has a variance of 0.04 with 16 degrees of freedom; a misfit of v adds 2^2*v/4. The two
    // differ by chance up to a ratio of 1 + 3*sqrt(2*(1/16 + 1/16)) = 2.5.
    let repeated = points(Scale::Absolute, &[2, 4]);
    assert_eq!(is_missed(0.04 * 2.45, &repeated), Some(false));
    assert_eq!(is_missed(0.04 * 2.55, &repeated), Some(true));
    // Where nothing was repeated, the misfit is all that tells, unless it is rounding.
    let once = Points { parts: Vec::new(), ..repeated };
    assert_eq!(is_missed(1e-6, &once), Some(true));
    assert_eq!(is_missed(1e-20, &once), None);
}
