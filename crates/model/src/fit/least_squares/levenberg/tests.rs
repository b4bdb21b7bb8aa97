use super::*;

/// At x, where the residuals are of this length and the columns of the Jacobian (5, 0) and (0, 2).
fn at(x: [f64; 2], length: f64) -> LevenbergMarquardt {
    let plan = Plan { damping: 1e-3, accelerated: false, patience: 500 };
    let (lower, upper) = (DVector::from_vec(vec![0.0; 2]), DVector::from_vec(vec![10.0; 2]));
    let mut solver = LevenbergMarquardt::new(lower, upper, plan);
    solver.x = DVector::from_row_slice(&x);
    solver.cost = 0.5 * length * length;
    set_columns(&mut solver, [5.0, 2.0], length);
    solver
}

fn set_columns(solver: &mut LevenbergMarquardt, norms: [f64; 2], length: f64) {
    let jacobian = DMatrix::from_diagonal(&DVector::from_row_slice(&norms));
    solver.linear.set(&jacobian, &[length, 0.0]);
    solver.set_limits();
}

#[test]
fn limits_and_sizes_are_in_units_of_the_columns() {
    let solver = at([3.0, 4.0], 1.0);
    assert_eq!(
        (solver.low.as_slice(), solver.high.as_slice()),
        (&[-15.0, -8.0][..], &[35.0, 12.0][..])
    );
    assert_eq!(solver.size(), 15.0);
}

#[test]
fn an_unknown_without_effect_left_the_search_astray() {
    assert!(!at([3.0, 4.0], 1.0).is_astray());
    // Of residuals of 1e3, what makes up 4e-6 * 2 is nothing; an unknown at 0 makes up nothing.
    let mut idle = at([3.0, 4e-6], 1e3);
    assert!(idle.is_astray());
    idle.at_bound[1] = true;
    assert!(!idle.is_astray(), "a bound holds it there");
    assert!(!at([3.0, 0.0], 1e3).is_astray());
    assert!(!at([3.0, 0.05], 1e3).is_astray());
    // 3e-7 * 5 is more than a millionth of 1, and 4e-7 * 2 of a thousandth.
    assert!(!at([3e-7, 4.0], 1.0).is_astray() && !at([3.0, 4e-7], 1e-3).is_astray());
    let faded = |norm: f64| {
        let mut solver = at([3.0, 4.0], 1e-9);
        set_columns(&mut solver, [5.0, norm], 1e-9);
        solver.is_astray()
    };
    // Its column was 2 once: a millionth of that is too little.
    assert!(faded(1e-6) && !faded(3e-6) && faded(0.0));
}

#[test]
fn damping_falls_by_how_well_a_step_was_predicted() {
    let check = |ratio: f64, factor: f64| {
        let mut solver = at([3.0, 4.0], 1.0);
        (solver.damping, solver.growth) = (1.0, 16.0);
        solver.relax(ratio);
        approx::assert_relative_eq!(solver.damping, factor, max_relative = 1e-12);
        assert_eq!(solver.growth, 2.0);
    };
    check(1.005, 1e-4);
    check(0.95, 1e-2);
    // Nielsen's 1 - (2*ratio - 1)^3, at least a third.
    check(0.75, 0.875);
    check(0.5, 1.0);
    check(1.5, 1.0 / 3.0);
}

#[test]
fn damping_rises_ever_faster_and_in_the_end_ends_the_search() {
    let mut solver = at([3.0, 4.0], 1.0);
    solver.tighten();
    solver.tighten();
    assert_eq!((solver.damping, solver.growth), (1e-3 * 2.0 * 4.0, 8.0));
    solver.damping = 1e-10;
    solver.tighten();
    approx::assert_relative_eq!(solver.damping, 1e-10 * 80.0, max_relative = 1e-12);
    assert!(solver.end.is_none() && !solver.lost);
    // The residuals lie along the first column: the sum falls along it, but no step finds how.
    let beyond = |at_bound: bool, slope: f64| {
        let mut solver = at([3.0, 4.0], 1e-3);
        solver.linear.set(&DMatrix::from_row_slice(2, 2, &[5.0, 0.0, 0.0, 0.0]), &[slope, 1e-3]);
        solver.at_bound[0] = at_bound;
        solver.damping = 1e20;
        solver.tighten();
        (solver.end, solver.lost)
    };
    assert_eq!(beyond(false, 1e-3), (None, true));
    assert_eq!(beyond(false, 1e-8), (None, true));
    assert_eq!(beyond(false, 1e-11), (Some(End::SumIsRounding), false));
    assert_eq!(beyond(true, 1e-3), (Some(End::SumIsRounding), false));
}

#[test]
fn a_search_ends_where_a_step_is_rounding_or_nothing_is_left() {
    let check = |length: f64, damping: f64, is_rounding: bool, expected: Option<End>| {
        let mut solver = at([3.0, 4.0], length);
        solver.damping = damping;
        solver.finish(is_rounding, false);
        assert_eq!(solver.end, expected);
    };
    check(1.0, 1e-4, false, None);
    check(1.0, 1e-4, true, Some(End::StepIsRounding));
    check(1.0, 1e-2, true, None);
    // The largest summand is 15.
    check(15.0 * f64::EPSILON, 1e-4, false, Some(End::NothingLeft));
    check(17.0 * f64::EPSILON, 1e-4, false, None);
}

#[test]
fn quiet_steps_end_a_search_once_they_grow_no_shorter_or_are_many() {
    let steps = |lengths: &mut dyn Iterator<Item = f64>| {
        let mut solver = at([3.0, 4.0], 1.0);
        solver.damping = 1.0;
        let ended = lengths.take(100).position(|length| {
            solver.z = vec![length, 0.0];
            solver.finish(false, true);
            solver.end == Some(End::SumIsRounding)
        });
        ended.map(|before| before + 1)
    };
    let halves = || (0..).map(|step: i32| 0.5_f64.powi(step));
    assert_eq!(steps(&mut halves()), Some(51));
    assert_eq!(steps(&mut std::iter::repeat(1.0)), Some(3));
    assert_eq!(steps(&mut halves().take(5).chain(std::iter::once(1.0))), Some(6));
    let mut disturbed = at([3.0, 4.0], 1.0);
    for quiet in [true, true, false, true, true] {
        disturbed.finish(false, quiet);
    }
    assert_eq!(disturbed.end, None);
}
