use super::*;

fn points(scale: Scale, m: &[u32], truth: impl Fn(f64) -> f64) -> Points {
    Points {
        scale,
        m: m.to_vec(),
        values: m.iter().map(|&m| truth(f64::from(m))).collect(),
        counts: vec![1.0; m.len()],
        parts: Vec::new(),
        kinds: Vec::new(),
    }
}

/// The parameters of a shape that the points follow exactly.
fn check(shape: Shape, points: &Points, expected: &[f64]) {
    let formula = Formula::fit(shape, points).unwrap();
    let found: Vec<f64> = formula.parameters().iter().map(|each| each.1).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        approx::assert_relative_eq!(found, expected, max_relative = 1e-7);
    }
    for (index, &m) in points.m.iter().enumerate() {
        let (term, gradient) = formula.term(m);
        approx::assert_relative_eq!(term, points.values[index], max_relative = 1e-9);
        check_gradient(shape, points, &gradient, |formula| formula.term(m).0);
    }
    for (index, (_, _, gradient)) in formula.parameters().iter().enumerate() {
        check_gradient(shape, points, gradient, |formula| formula.parameters()[index].1);
    }
}

/// The derivatives are those of fits to points that lie a little off.
fn check_gradient(
    shape: Shape,
    points: &Points,
    gradient: &[f64],
    quantity: impl Fn(&Formula) -> f64,
) {
    let fit = |points: &Points| quantity(&Formula::fit(shape, points).unwrap());
    for (index, slope) in gradient.iter().enumerate() {
        let moved = |factor: f64| {
            let mut points = points.clone();
            points.values[index] *= 1.0 + factor;
            fit(&points)
        };
        let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
        let found = slope * points.values[index];
        approx::assert_abs_diff_eq!(found, difference, epsilon = 1e-5 * fit(points));
    }
}

#[test]
fn points_that_follow_a_formula_give_it_back() {
    let m = [1, 2, 3, 5, 8, 16];
    let ratio = |truth: fn(f64) -> f64| points(Scale::RelativeToOne, &m, truth);
    check(Shape::Constant, &ratio(|m| if m > 1.0 { 1.28 } else { 1.0 }), &[1.28]);
    check(Shape::Linear, &ratio(|m| 1.0 + 0.08 * (m - 1.0)), &[0.08]);
    check(Shape::Curve, &ratio(|m| 1.0 + 0.3 * (m - 1.0).powf(0.6)), &[0.3, 0.6]);
    check(Shape::Curve, &ratio(|m| 1.0 + 0.02 * (m - 1.0).powf(1.7)), &[0.02, 1.7]);
    let time = |truth: fn(f64) -> f64| points(Scale::Absolute, &m[1..], truth);
    check(Shape::Constant, &time(|_| 3e-6), &[3e-6]);
    check(Shape::Linear, &time(|m| 2e-6 + 3e-6 * m), &[2e-6, 3e-6]);
    check(Shape::Logarithmic, &time(|m| 2e-6 + 5e-6 * m.log2()), &[2e-6, 5e-6]);
}

#[test]
fn an_error_of_the_time_alone_moves_the_height_and_not_the_slope() {
    // All ratios are 2 % too high, as if the time of one process had been measured too short:
    // 1.02*(1 + 0.08*(m - 1)) at five m and 1 at m = 1.
    let m = [1, 4, 8, 12, 16, 20];
    let exact = points(Scale::RelativeToOne, &m, |m| {
        if m > 1.0 { 1.02 * (1.0 + 0.08 * (m - 1.0)) } else { 1.0 }
    });
    let formula = Formula::fit(Shape::Linear, &exact).unwrap();
    let through_one = 1.02 * 2.2 - 1.0;
    // A line through 1 at m = 1 would take all of it for slope: alpha(16) = 2.244 at least.
    assert!(formula.term(16).0 - 1.0 < through_one - 0.005);
}

#[test]
fn the_height_of_all_ratios_is_no_part_of_the_term() {
    let twice = points(Scale::RelativeToOne, &[1, 4, 8, 16], |m| 2.0 + 0.16 * (m - 1.0));
    let (term, gradient) = Formula::fit(Shape::Linear, &twice).unwrap().term(16);
    approx::assert_relative_eq!(term, 2.2, max_relative = 1e-9);
    check_gradient(Shape::Linear, &twice, &gradient, |formula| formula.term(16).0);
}

#[test]
fn the_misfit_is_the_mean_square_that_the_formula_leaves() {
    // A constant is the mean by the counts, 2: relative residuals of -0.1, 0, 0.1.
    let values = vec![1.8, 2.0, 2.2];
    let counts = vec![3.0, 1.0, 3.0];
    let scattered = Points { values, counts, ..points(Scale::Absolute, &[2, 4, 8], |m| m) };
    let formula = Formula::fit(Shape::Constant, &scattered).unwrap();
    approx::assert_relative_eq!(formula.level(4), 2.0, max_relative = 1e-9);
    // 2*3*0.1^2/(3 - 1)
    approx::assert_relative_eq!(formula.misfit.unwrap(), 0.03, max_relative = 1e-9);
    assert_eq!(formula.degrees_of_freedom, 2.0);
    // A line through two points leaves nothing over.
    let line = Formula::fit(Shape::Linear, &points(Scale::Absolute, &[2, 4], |m| m)).unwrap();
    assert_eq!((line.misfit, line.degrees_of_freedom), (None, 0.0));
}

#[test]
fn the_deviance_is_that_of_a_gamma_distribution() {
    let measured = Points {
        values: vec![4.0, 1.0],
        counts: vec![1.0, 3.0],
        ..points(Scale::Absolute, &[2, 4], |m| m)
    };
    let deviance = |level: f64| {
        let formula = Formula::fit(Shape::Constant, &measured).unwrap();
        Formula { theta: DVector::from_vec(vec![level]), ..formula }.deviance(&measured)
    };
    // 2*[(4 - 2)/2 - ln 2] + 2*3*[(1 - 2)/2 + ln 2]
    let expected = 4.0 * 2.0_f64.ln() - 1.0;
    approx::assert_relative_eq!(deviance(2.0).unwrap(), expected, max_relative = 1e-12);
    assert_eq!([0.0, -1.0, f64::NAN].map(deviance), [None; 3]);
}

#[test]
fn what_the_points_cannot_tell_is_no_formula() {
    let flat = points(Scale::RelativeToOne, &[1, 2, 4, 8], |_| 1.0);
    assert!(Formula::fit(Shape::Curve, &flat).is_none());
    let two = points(Scale::RelativeToOne, &[1, 4], |m| m);
    assert!(Formula::fit(Shape::Curve, &two).is_none());
    let one = points(Scale::Absolute, &[2], |m| m);
    assert!(Formula::fit(Shape::Linear, &one).is_none());
    let next_to_one_another = points(Scale::Absolute, &[1_000_000, 1_000_001], |m| m.cos() + 2.0);
    assert!(Formula::fit(Shape::Linear, &next_to_one_another).is_none());
    let zero = points(Scale::Absolute, &[2, 4], |_| 0.0);
    assert!(Formula::fit(Shape::Constant, &zero).is_none());
}
