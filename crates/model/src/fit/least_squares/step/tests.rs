use nalgebra::DVector;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// A problem of four unknowns, its bounds, and where its minimum is: of all ways to hold
/// unknowns at bounds, the one that stays within them and has the least sum of squares.
pub(crate) fn problem(seed: u64) -> (DMatrix<f64>, DVector<f64>, [[f64; 4]; 2], DVector<f64>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let a = DMatrix::from_fn(7, 4, |_, _| random.random_range(-1.0..1.0));
    let r = DVector::from_fn(7, |_, _| random.random_range(-1.0..1.0));
    let mut bound = || if random.random_bool(0.3) { 0.0 } else { random.random_range(0.0..0.5) };
    let (low, high) = ([0; 4].map(|_| -bound()), [0; 4].map(|_| bound()));
    let mut best = (f64::INFINITY, DVector::zeros(4));
    for way in 0..81_u32 {
        let hold = |index: usize| way / 3_u32.pow(index as u32) % 3;
        let mut z =
            DVector::from_fn(4, |index, _| [0.0, low[index], high[index]][hold(index) as usize]);
        let free: Vec<usize> = (0..4).filter(|&index| hold(index) == 0).collect();
        if !free.is_empty() {
            let part = a.select_columns(&free);
            let right = part.transpose() * -(&r + &a * &z);
            let solved = (part.transpose() * &part).lu().solve(&right).unwrap();
            free.iter().zip(solved.iter()).for_each(|(&index, value)| z[index] = *value);
        }
        let inside = (0..4).all(|index| low[index] <= z[index] && z[index] <= high[index]);
        let sum = (&a * &z + &r).norm_squared();
        if inside && sum < best.0 {
            best = (sum, z);
        }
    }
    (a, r, [low, high], best.1)
}

#[test]
fn a_step_is_the_best_of_all_ways_to_hold_unknowns() {
    for seed in 0..500 {
        let (a, r, [low, high], expected) = problem(seed);
        let mut linear = Linear::new(4);
        linear.set(&a, r.as_slice());
        let in_units = |bounds: [f64; 4]| {
            let mut bounds = bounds.to_vec();
            bounds.iter_mut().zip(&linear.norms).for_each(|(bound, norm)| *bound *= norm);
            bounds
        };
        let (low, high) = (in_units(low), in_units(high));
        let limits = Limits { low: &low, high: &high, weights: &[1.0; 4], damping: 1e-26 };
        let (mut z, mut held) = ([0.0; 4], [false; 4]);
        linear.solve(&limits, &mut z, &mut held);
        for index in 0..4 {
            let found = z[index] / linear.norms[index];
            approx::assert_abs_diff_eq!(found, expected[index], epsilon = 1e-10);
            assert!(!held[index] || z[index] == low[index] || z[index] == high[index]);
        }
    }
}

#[test]
fn a_damped_step_is_flat_where_it_is_free_and_falls_outwards_at_bounds() {
    let weights = [1.0, 2.0, 0.5, 1.5];
    let damping = 0.3;
    for seed in 0..200 {
        let (a, r, [low, high], _) = problem(seed);
        let mut linear = Linear::new(4);
        linear.set(&a, r.as_slice());
        let unit = DMatrix::from_fn(7, 4, |row, column| a[(row, column)] / linear.norms[column]);
        let limits = Limits { low: &low, high: &high, weights: &weights, damping };
        let (mut z, mut held) = ([0.0; 4], [false; 4]);
        linear.solve(&limits, &mut z, &mut held);
        let damped = DVector::from_fn(4, |index, _| damping * weights[index].powi(2) * z[index]);
        let slopes = unit.transpose() * (&r + &unit * DVector::from_row_slice(&z)) + damped;
        for (index, &slope) in slopes.iter().enumerate() {
            let outwards = if z[index] == low[index] { slope } else { -slope };
            if held[index] && low[index] < high[index] {
                assert!(outwards > -1e-12, "{seed}: {slope}");
            } else if !held[index] {
                assert!(slope.abs() < 1e-12, "{seed}: {slope}");
            }
        }
        // What the free components answer to other slopes, by the same equations.
        let slopes = [1.0, -2.0, 0.5, 3.0];
        let response = DVector::from_vec(linear.respond(&slopes, &held));
        let product = unit.transpose() * (&unit * &response);
        for index in 0..4 {
            if held[index] {
                assert_eq!(response[index], 0.0);
            } else {
                let sum = product[index] + damping * weights[index].powi(2) * response[index];
                approx::assert_abs_diff_eq!(sum, -slopes[index], epsilon = 1e-10);
            }
        }
    }
}

#[test]
fn a_slope_is_the_residuals_part_along_a_column() {
    // (3, 4)/5 times (1, 2), and a column without effect.
    let mut linear = Linear::new(2);
    linear.set(&DMatrix::from_row_slice(2, 2, &[3.0, 0.0, 4.0, 0.0]), &[1.0, 2.0]);
    approx::assert_relative_eq!(linear.slope_at_start(0), 2.2, max_relative = 1e-12);
    assert_eq!((linear.slope_at_start(1), linear.is_empty(1)), (0.0, true));
}

#[test]
fn a_step_ends_at_the_first_bound_on_its_way() {
    let limits = Limits { low: &[-1.0; 3], high: &[1.0; 3], weights: &[1.0; 3], damping: 1.0 };
    let check = |goal: [f64; 3], end: [f64; 3], first: Option<usize>| {
        let mut z = [0.5, 0.0, 0.0];
        assert_eq!(advance(&mut z, &goal, &[0, 1, 2], &limits), first);
        assert_eq!(z, end);
    };
    check([0.75, -0.5, 0.25], [0.75, -0.5, 0.25], None);
    // Half of the way to 1.5, a quarter of that to -4, all of that to 1.
    check([1.5, -4.0, 1.0], [0.75, -1.0, 0.25], Some(1));
    check([1.5, -1.0, 0.5], [1.0, -0.5, 0.25], Some(0));
    check([0.5, -1.25, 2.0], [0.5, -0.625, 1.0], Some(2));
}

#[test]
fn what_is_held_at_a_bound_is_let_go_once_the_others_have_turned_its_slope() {
    // Columns (1, 0) and (-0.6, 0.8), residuals (-2, -1.4): the second slope is 0.08 at the start, where 0
    // is its bound, and 0.8 - 1.12 once the first has gone to 2/3.
    let mut linear = Linear::new(2);
    linear.set(&DMatrix::from_row_slice(2, 2, &[1.0, -0.6, 0.0, 0.8]), &[-2.0, -1.4]);
    let limits = Limits { low: &[-9.0, 0.0], high: &[9.0; 2], weights: &[1.0, 2.0], damping: 2.0 };
    let (mut z, mut held) = ([0.0; 2], [false; 2]);
    linear.solve(&limits, &mut z, &mut held);
    // [3, -0.6; -0.6, 9]*z = [2, -0.08], whose determinant is 26.64.
    approx::assert_relative_eq!(z[0], 17.952 / 26.64, max_relative = 1e-12);
    approx::assert_relative_eq!(z[1], 0.96 / 26.64, max_relative = 1e-12);
    assert_eq!(held, [false; 2]);
}
