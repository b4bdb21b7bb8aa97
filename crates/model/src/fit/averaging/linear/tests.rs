use super::super::super::likelihood::Point;
use super::super::super::noise::Repetitions;
use super::super::super::trials::truth;
use super::super::super::unknowns::Unknown;
use super::*;
use crate::model::parameters::{Decomposition, Estimate, Interpolation, Table};
use crate::model::terms::Term;

#[test]
fn the_sines_make_up_a_random_walk_over_the_logarithm_of_m() {
    // min(ln m, ln n)/ln 16; of the variance of a walk that ends there, 16 sines leave out 1.3 %.
    for (m, n, expected) in [(16, 16, 1.0), (4, 16, 0.5), (2, 4, 0.25), (1, 7, 0.0)] {
        let covariance: f64 = sines(m, 16).zip(sines(n, 16)).map(|(a, b)| a * b).sum();
        approx::assert_abs_diff_eq!(covariance, expected, epsilon = 0.015);
    }
}

/// Ten rows of two unknowns and the sines of m = 1, 2, 3 and so on.
fn linear() -> (Linear, Scatter) {
    let last = 10;
    let slope = |row: usize, column: usize| match column {
        0 => 1.0,
        1 => (row as f64).sin(),
        column => 0.1 * sines(row as u32 + 1, last).nth(column - 2).unwrap(),
    };
    let linear = Linear {
        slopes: DMatrix::from_fn(10, 2 + SINES, slope),
        missed: DVector::from_fn(10, |row, _| 0.01 * ((row * row) as f64).cos()),
        values: DVector::zeros(0),
        derivatives: DMatrix::zeros(0, 2 + SINES),
        unknowns: 2,
    };
    let variances = (0..10).map(|row| 1e-4 / f64::from(row % 3 + 1)).collect();
    (linear, Scatter { variances, repetitions: (3.0, 5.0) })
}

#[test]
fn the_likelihood_is_that_of_a_covariance_over_all_runs() {
    let (linear, scatter) = linear();
    let reduced = linear.reduced(&scatter);
    let x = linear.slopes.columns(0, 2).into_owned();
    // V = noise + size^2*Z*Z'; -(ln|V| + ln|X'*V^-1*X| + (n - 2 + 5)*ln(r'*V^-1*r + 3))/2.
    let direct = |size: f64| {
        let z = linear.slopes.columns(2, SINES) * size;
        let noise = DMatrix::from_diagonal(&DVector::from_vec(scatter.variances.clone()));
        let inverse = (&noise + &z * z.transpose()).try_inverse().unwrap();
        let information = x.transpose() * &inverse * &x;
        let unknowns = information.clone().try_inverse().unwrap()
            * (x.transpose() * &inverse * &linear.missed);
        let left = &linear.missed - &x * &unknowns;
        let squares = (left.transpose() * &inverse * &left)[(0, 0)] + 3.0;
        let logs = -inverse.determinant().ln() + information.determinant().ln();
        (-0.5 * (logs + 13.0 * squares.ln()), unknowns, squares / 13.0)
    };
    let solved = |size: f64| linear.solved(&reduced, size, &scatter).unwrap();
    for size in [0.03, 0.5, 20.0] {
        let (found, expected) = (solved(size), direct(size));
        let gain = found.log_evidence - solved(0.0).log_evidence;
        approx::assert_relative_eq!(gain, expected.0 - direct(0.0).0, max_relative = 1e-8);
        approx::assert_relative_eq!(found.variance, expected.2, max_relative = 1e-8);
        for index in 0..2 {
            approx::assert_relative_eq!(found.step[index], expected.1[index], max_relative = 1e-6);
        }
    }
}

#[test]
fn walks_go_from_what_noise_hides_to_whole_times() {
    let (linear, scatter) = linear();
    let sizes = linear.sizes(&scatter, 10);
    let of_walk = linear.slopes.columns(2, SINES);
    let mean = |size: f64, in_noise: bool| {
        let of = |row: usize| {
            let unit = if in_noise { scatter.variances[row] } else { 1.0 };
            (of_walk.row(row) * size).norm_squared() / unit
        };
        (0..10).map(of).sum::<f64>() / 10.0
    };
    approx::assert_relative_eq!(mean(sizes[0], true), 0.1, max_relative = 1e-12);
    assert!((0.1..1.0).contains(&mean(sizes[sizes.len() - 1], false)));
    assert!(sizes.windows(2).all(|pair| (pair[1] / pair[0] - 10.0_f64.sqrt()).abs() < 1e-12));
}

#[test]
fn shapes_with_one_number_grow_from_nothing_at_one_thread() {
    let grown = |shape| w(shape).map(|w| [1, 2, 8].map(w));
    assert_eq!(grown(Shape::Linear), Some([0.0, 1.0, 7.0]));
    assert_eq!(grown(Shape::Constant), Some([0.0, 1.0, 1.0]));
    assert_eq!(grown(Shape::Logarithmic), Some([0.0, 1.0, 3.0]));
    assert_eq!([Shape::Curve, Shape::Table].map(grown), [None, None]);
}

/// T = alpha*8 + 120/(m*p) s, where each further thread adds 0.8 s up to m = 4.
fn growing() -> (Unknowns, DVector<f64>) {
    let terms = [8.0, 120.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut base = truth(Decomposition::Data, 0.0, terms);
    base.terms.alpha = OverM::Table(Table {
        interpolation: Interpolation::Line,
        ..Table::new(vec![1, 4], vec![Estimate::exact(1.0); 2])
    });
    let unknown = |kind| Unknown { term: Term::HpuTime, kind, prior: None, lower: 0.0 };
    let kinds = [Kind::Growth(vec![0.0, 3.0]), Kind::Entry(Entry::HpuTime)];
    (Unknowns::new(&base, kinds.map(unknown).into()), DVector::from_vec(vec![0.8, 8.0]))
}

#[test]
fn in_place_of_alpha_its_growth_is_asked_for() {
    let (unknowns, x) = growing();
    let mut at = unknowns.parameters(x.as_slice());
    let asked = [Entry::Alpha(1), Entry::HpuTime].map(|entry| Asked::of(entry, &at, 16));
    assert_eq!(asked.each_ref().map(|it| (it.m, it.least)), [(Some(4), 0.0), (None, 0.0)]);
    for (asked, expected) in asked.iter().zip([2.4, 8.0]) {
        approx::assert_relative_eq!(asked.value(&at), expected, max_relative = 1e-12);
    }
    // alpha = 1 + growth/T_HPU: 1/8 by the growth, -2.4/8^2 by T_HPU.
    let expected = DMatrix::from_row_slice(2, 2, &[0.125, -0.0375, 0.0, 1.0]);
    approx::assert_relative_eq!(to_entries(&asked, &at), expected, max_relative = 1e-12);
    let others = [Entry::Alpha(0), Entry::Alpha(1)].map(|entry| Asked::of(entry, &at, 16));
    let apart = DMatrix::from_diagonal_element(2, 2, 0.125);
    approx::assert_relative_eq!(to_entries(&others, &at), apart, max_relative = 1e-12);
    // One number for all m is asked for at the last.
    at.terms.alpha = OverM::Constant(Estimate::exact(1.5));
    let constant = Asked::of(Entry::Alpha(0), &at, 16);
    assert_eq!((constant.m, constant.value(&at)), (Some(16), 4.0));
}

#[test]
fn a_shape_and_its_walk_move_the_logarithms_of_times_as_seconds_of_growth_do() {
    let (unknowns, x) = growing();
    let times = [(1, 1, 128.0), (2, 1, 68.8), (4, 2, 25.4_f64)];
    let point = |(m, p, time): (u32, u32, f64)| Point {
        m,
        p,
        log_time: time.ln() + 0.01 * f64::from(m),
        count: 1.0,
    };
    let repetitions = Repetitions { squares: 0.0, degrees_of_freedom: 0.0 };
    let data = Data { points: times.map(point).into(), repetitions };
    let at = unknowns.parameters(x.as_slice());
    let asked = [Entry::Alpha(1), Entry::HpuTime, Entry::ApuTime];
    let asked = asked.map(|entry| Asked::of(entry, &at, 4));
    let linear = Linear::of(w(Shape::Linear).unwrap(), (&unknowns, &x), &data, &asked, 4);
    let close = |found: f64, expected: f64| {
        approx::assert_relative_eq!(found, expected, max_relative = 1e-10, epsilon = 1e-15);
    };
    for (row, (m, _, time)) in times.into_iter().enumerate() {
        close(linear.missed[row], 0.01 * f64::from(m));
        // A third of what the line adds at m = 4 for each thread, a second of T_HPU for each.
        close(linear.slopes[(row, 0)], (f64::from(m) - 1.0) / 3.0 / time);
        close(linear.slopes[(row, 1)], 1.0 / time);
        for (column, sine) in sines(m, 4).enumerate() {
            close(linear.slopes[(row, 2 + column)], sine / time);
        }
    }
    for (row, (value, by_growth, by_host)) in
        [(2.4, 1.0, 0.0), (8.0, 0.0, 1.0), (120.0, 0.0, 0.0)].into_iter().enumerate()
    {
        close(linear.values[row], value);
        close(linear.derivatives[(row, 0)], by_growth);
        close(linear.derivatives[(row, 1)], by_host);
        for (column, sine) in sines(4, 4).enumerate() {
            let expected = if row == 0 { sine } else { 0.0 };
            close(linear.derivatives[(row, 2 + column)], expected);
        }
    }
}
