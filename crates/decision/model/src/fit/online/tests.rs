use mmgp_base::Mapping;
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::models::parameters::{Decomposition, Estimate, Interpolation, OverM, Table, Terms};
use crate::models::published;
use crate::models::sensitivity::{Correlation, Entry};
use crate::models::terms::Term;
use crate::toy::{self, estimate};

/// Two tables, some of whose entries are certain, and collectives of their own count.
fn parameters(decomposition: Decomposition) -> Parameters {
    let alpha = vec![Estimate::exact(1.0), estimate(1.25, 0.05), estimate(1.5, 0.1)];
    let o_col = vec![estimate(0.01, 0.002), Estimate::exact(0.03)];
    let terms = Terms {
        t_hpu_s: estimate(2.0, 0.2),
        t_apu_s: estimate(32.0, 1.0),
        c_apu_s: estimate(1.5, 0.2),
        o_offload_s: estimate(0.05, 0.01),
        t_csw_s: estimate(0.02, 0.0),
        g_s: estimate(0.03, 0.004),
        collectives: Some(Estimate::exact(5.0)),
        alpha: OverM::Table(Table::new(vec![1, 2, 6], alpha)),
        o_col_s: OverM::Table(Table::new(vec![2, 5], o_col)),
        ..toy::parameters(decomposition).terms
    };
    Parameters::new("toy", decomposition, 16, terms)
}

const BEFOREHAND: Beforehand = Beforehand { noise: 0.02, unknown_error: 0.0 };

fn every(apus: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=apus).flat_map(move |m| (1..=apus / m).map(move |p| (m, p)))
}

#[test]
fn before_the_first_run_time_and_error_are_those_of_the_parameters() {
    for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 7 }] {
        let mut parameters = parameters(decomposition);
        let entries =
            vec![Term::HpuTime.entry(0), Term::Alpha.entry(2), Term::CollectiveCost.entry(0)];
        let matrix = vec![1.0, -0.5, 0.25, -0.5, 1.0, 0.0, 0.25, 0.0, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        for counted in [true, false] {
            if !counted {
                parameters.terms.collectives = None;
                parameters.terms.offloads = estimate(8.0, 0.5);
            }
            let online = Online::new(&parameters, BEFOREHAND, 16).unwrap();
            for (m, p) in every(16) {
                let (time, error) = (parameters.time(Mapping::of(m, p)).0, online.std_error(m, p));
                approx::assert_relative_eq!(online.time(m, p).0, time, max_relative = 1e-14);
                let expected = parameters.propagated(&parameters.gradient(Mapping::of(m, p))).value;
                approx::assert_relative_eq!(error, expected, max_relative = 1e-12);
            }
        }
    }
    for name in ["pbpi-qs20", "raxml-qs20"] {
        let parameters = published(name).unwrap();
        let online = Online::new(&parameters, BEFOREHAND, 16).unwrap();
        for (m, p) in every(16) {
            let time = parameters.time(Mapping::of(m, p)).0;
            approx::assert_relative_eq!(online.time(m, p).0, time, max_relative = 1e-14);
            assert_eq!(online.std_error(m, p), 0.0);
        }
    }
}

#[test]
fn a_table_that_goes_on_weighs_as_in_the_parameters() {
    let mut parameters = parameters(Decomposition::Data);
    // The entries before the last two are certain, and weigh less than nothing beyond these.
    let going_on = |m: [u32; 2], values: [Estimate; 2], interpolation| {
        OverM::Table(Table { interpolation, ..Table::new(m.to_vec(), values.to_vec()) })
    };
    let alpha = [Estimate::exact(1.0), estimate(1.5, 0.1)];
    parameters.terms.alpha = going_on([1, 6], alpha, Interpolation::Line);
    let o_col = [Estimate::exact(0.01), estimate(0.03, 0.002)];
    parameters.terms.o_col_s = going_on([2, 5], o_col, Interpolation::Logarithm);
    let online = Online::new(&parameters, BEFOREHAND, 16).unwrap();
    for (m, p) in every(16) {
        let time = parameters.time(Mapping::of(m, p)).0;
        approx::assert_relative_eq!(online.time(m, p).0, time, max_relative = 1e-13);
        let expected = parameters.propagated(&parameters.gradient(Mapping::of(m, p))).value;
        approx::assert_relative_eq!(online.std_error(m, p), expected, max_relative = 1e-12);
    }
}

/// The minimum of `(x - x0)' P0^-1 (x - x0) + sum of ((t - c - h'x)/(s*T))^2` over the totals that are
/// uncertain, T being the time there, and its inverse Hessian, from normal equations.
#[test]
fn runs_one_by_one_give_the_batch_solution() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 7 }] {
        let parameters = parameters(decomposition);
        let mut online = Online::new(&parameters, BEFOREHAND, 16).unwrap();
        let first = online.clone();
        let count = first.values().len();
        let uncertain: Vec<usize> =
            (0..count).filter(|&index| first.covariance()[index * count + index] > 0.0).collect();
        assert_eq!((count, uncertain.len()), (6 + 2 + 1, 8), "T_CSW is certain");
        let covariance = DMatrix::from_row_slice(count, count, first.covariance());
        let prior = covariance.select_rows(&uncertain).select_columns(&uncertain);
        let mut normal = prior.try_inverse().expect("no two totals are the same");
        let mut right = DVector::zeros(uncertain.len());
        let runs: Vec<(u32, u32, f64)> = every(16)
            .chain(every(16))
            .map(|(m, p)| {
                let factor = random.random_range(0.97..1.03);
                (m, p, parameters.time(Mapping::of(m, p)).0 * factor)
            })
            .collect();
        for &(m, p, time) in &runs {
            online.learn(m, p, time).unwrap();
        }
        for &(m, p, time) in &runs {
            let weight = (BEFOREHAND.noise * linear(&online, m, p)).powi(-2);
            let mut h = DVector::zeros(count);
            for (index, coefficient) in first.lines()[m as usize - 1].coefficients(p).iter() {
                h[index] = coefficient;
            }
            let h = h.select_rows(&uncertain);
            normal += &h * h.transpose() * weight;
            right += h * (weight * (time - linear(&first, m, p)));
        }
        let inverse = normal.clone().try_inverse().expect("the prior is not singular");
        let step = normal.lu().solve(&right).expect("the prior is not singular");
        for (place, &index) in uncertain.iter().enumerate() {
            let batch = first.values()[index] + step[place];
            approx::assert_relative_eq!(online.values()[index], batch, max_relative = 1e-8);
            let variance = online.covariance()[index * count + index];
            approx::assert_relative_eq!(variance, inverse[(place, place)], max_relative = 1e-7);
        }
        assert_eq!(online.samples(), 100);
    }
}

/// Runs of a program that is 30 % slower than its parameters say, with 2 % of noise.
fn noisy(
    parameters: &Parameters,
    random: &mut Xoshiro256PlusPlus,
    rounds: u32,
) -> Vec<(u32, u32, f64)> {
    use rand_distr::{Distribution, Normal};
    let noise = Normal::new(1.3, 1.3 * BEFOREHAND.noise).unwrap();
    let all = (0..rounds).flat_map(|_| every(8));
    all.map(|(m, p)| (m, p, parameters.time(Mapping::of(m, p)).0 * noise.sample(random))).collect()
}

fn learnt(parameters: &Parameters, runs: &[(u32, u32, f64)]) -> Online {
    let mut online = Online::new(parameters, BEFOREHAND, 8).unwrap();
    for &(m, p, time) in runs {
        online.add(m, p, time).unwrap();
    }
    online.settle();
    online
}

fn check_alike(one: &Online, other: &Online, max_relative: f64) {
    for (m, p) in every(8) {
        approx::assert_relative_eq!(
            one.time(m, p).0,
            other.time(m, p).0,
            max_relative = max_relative
        );
    }
}

#[test]
fn the_order_of_runs_does_not_matter() {
    let parameters = parameters(Decomposition::Data);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    for rounds in [1, 2, 5] {
        let mut runs = noisy(&parameters, &mut random, rounds);
        // Milliseconds for seconds, a disturbance, and a clock that stood still.
        let last = runs.len() - 1;
        (runs[0].2, runs[3].2, runs[last].2) = (1000.0 * runs[0].2, 3.0 * runs[3].2, 1e-9);
        let first = learnt(&parameters, &runs);
        for _ in 0..20 {
            for place in (1..runs.len()).rev() {
                runs.swap(place, random.random_range(0..=place));
            }
            let shuffled = learnt(&parameters, &runs);
            check_alike(&first, &shuffled, 1e-9);
            for (one, other) in first.covariance().iter().zip(shuffled.covariance()) {
                approx::assert_abs_diff_eq!(one, other, epsilon = 1e-9);
            }
        }
    }
}

#[test]
fn one_wild_run_among_twenty_costs_less_than_a_hundredth() {
    let parameters = parameters(Decomposition::Data);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let spread_out: Vec<(u32, u32, f64)> = noisy(&parameters, &mut random, 1);
    let in_one_place: Vec<(u32, u32, f64)> = noisy(&parameters, &mut random, 20)
        .into_iter()
        .filter(|run| (run.0, run.1) == (2, 2))
        .collect();
    for runs in [spread_out, in_one_place] {
        assert_eq!(runs.len(), 20);
        let clean = learnt(&parameters, &runs);
        for factor in [1000.0, 10.0, 2.0, 1e-3] {
            for place in [0, 7, 19] {
                let mut wild = runs.clone();
                wild[place].2 *= factor;
                let learnt = learnt(&parameters, &wild);
                let cost = |(m, p)| (learnt.time(m, p).0 / clean.time(m, p).0 - 1.0).abs();
                let costs: Vec<f64> = every(8).map(cost).collect();
                let mean = costs.iter().sum::<f64>() / costs.len() as f64;
                assert!(mean < 0.01, "{factor} at {place}: {costs:?}");
            }
        }
    }
}

#[test]
fn a_first_run_in_the_wrong_unit_is_outvoted_and_a_truth_far_off_is_not() {
    let parameters = parameters(Decomposition::Data);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let good = noisy(&parameters, &mut random, 50);
    let mut runs = vec![(4, 2, 32_000.0)];
    runs.extend(&good);
    check_alike(&learnt(&parameters, &runs), &learnt(&parameters, &good), 1e-3);
    // Twice as slow, twenty of its standard errors, and every run says so.
    let slow: Vec<(u32, u32, f64)> = good.iter().map(|&(m, p, time)| (m, p, 2.0 * time)).collect();
    let online = learnt(&parameters, &slow);
    for (m, p) in every(8) {
        let truth = 2.6 * parameters.time(Mapping::of(m, p)).0;
        approx::assert_relative_eq!(online.time(m, p).0, truth, max_relative = 0.05);
    }
}

/// The time without the bounds at 0.
fn linear(online: &Online, m: u32, p: u32) -> f64 {
    let line = &online.lines()[m as usize - 1];
    let weighed = |(index, weight): (usize, f64)| weight * online.values()[index];
    line.fixed() + line.coefficients(p).iter().map(weighed).sum::<f64>()
}

/// A tenth of a relative noise of 2 % over the square root of 20 repetitions would be 0.04 %.
#[test]
fn a_known_truth_comes_back_from_exact_runs() {
    let prior = parameters(Decomposition::Data);
    let mut truth = prior.clone();
    truth.terms.t_hpu_s.value = 2.3;
    truth.terms.t_apu_s.value = 30.0;
    truth.terms.g_s.value = 0.025;
    let mut online = Online::new(&prior, BEFOREHAND, 16).unwrap();
    for _ in 0..400 {
        for (m, p) in every(16) {
            online.learn(m, p, truth.time(Mapping::of(m, p)).0).unwrap();
        }
    }
    for (m, p) in every(16) {
        let (time, expected) = (online.time(m, p).0, truth.time(Mapping::of(m, p)).0);
        approx::assert_relative_eq!(time, expected, max_relative = 1e-3);
    }
}

#[test]
fn the_surprise_of_an_expected_run_is_standard_normal() {
    use rand_distr::{Distribution, Normal};
    let truth = parameters(Decomposition::Data);
    let mut online = Online::new(&truth, BEFOREHAND, 16).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let noise = Normal::new(1.0, BEFOREHAND.noise).unwrap();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (m, p) in std::iter::repeat_n(0, 40).flat_map(|_| every(16)) {
        let time = truth.time(Mapping::of(m, p)).0 * noise.sample(&mut random);
        let surprise = online.learn(m, p, time).unwrap();
        (count, sum, squares) = (count + 1.0, sum + surprise, squares + surprise * surprise);
    }
    let bound = 4.0 / f64::sqrt(count);
    assert!((sum / count).abs() < bound, "{}", sum / count);
    // The truth is the prior's mean, so the beforehand's share of the variance is too much at first.
    let variance: f64 = squares / count;
    assert!(variance < 1.0 + bound * 2f64.sqrt() && variance > 0.8, "{variance}");
}

#[test]
fn what_is_not_a_run_is_refused_and_changes_nothing() {
    let mut online = Online::new(&parameters(Decomposition::Data), BEFOREHAND, 4).unwrap();
    let before = online.values().to_vec();
    for (m, p, time, message) in [
        (0, 1, 1.0, "m: found 0, expected from 1 to 4"),
        (5, 1, 1.0, "m: found 5, expected from 1 to 4"),
        (1, 0, 1.0, "p: found 0, expected at least 1"),
        (1, 1, 0.0, "time: found 0.0, expected a finite time above 0 s"),
        (1, 1, -1.0, "time: found -1.0, expected a finite time above 0 s"),
        (1, 1, f64::NAN, "time: found NaN, expected a finite time above 0 s"),
        (1, 1, f64::INFINITY, "time: found inf, expected a finite time above 0 s"),
    ] {
        assert_eq!(online.learn(m, p, time).unwrap_err().to_string(), message);
    }
    assert_eq!((online.values(), online.samples()), (before.as_slice(), 0));
    let bad = |noise, unknown_error| {
        let beforehand = Beforehand { noise, unknown_error };
        Online::new(&parameters(Decomposition::Data), beforehand, 4).is_err()
    };
    assert!(bad(0.0, 0.0) && bad(f64::NAN, 0.0) && bad(0.1, -1.0) && bad(0.1, f64::INFINITY));
}

#[test]
fn a_standard_error_from_few_repetitions_counts_as_wide_as_its_interval() {
    let mut parameters = parameters(Decomposition::Data);
    for entry in parameters.terms.entries() {
        parameters.terms.estimate_mut(entry).unwrap().std_error = Some(0.0);
    }
    parameters.terms.c_apu_s.std_error = Some(0.1);
    parameters.terms.c_apu_s.degrees_of_freedom = Some(2.0);
    let online = Online::new(&parameters, BEFOREHAND, 4).unwrap();
    // Two-sided 5 % points of Student's distribution with 2 degrees of freedom and of the normal.
    let expected = 0.1 * 4.302_653 / 1.959_964;
    approx::assert_relative_eq!(online.std_error(2, 1), expected, max_relative = 1e-6);
}

#[test]
fn before_any_run_an_error_is_the_largest_of_the_configurations_that_are_to_be_judged() {
    let parameters = parameters(Decomposition::Data);
    let online = Online::new(&parameters, BEFOREHAND, 16).unwrap();
    let relative = |(m, p): (u32, u32)| {
        let mapping = Mapping::of(m, p);
        parameters.propagated(&parameters.gradient(mapping)).value / parameters.time(mapping).0
    };
    let mut seen = SeenRuns::new(BEFOREHAND.noise);
    assert_eq!(online.judged(&seen).before, BEFOREHAND.noise);
    let mut largest = BEFOREHAND.noise;
    for (m, p) in [(1, 16), (4, 4), (16, 1)] {
        seen.add(m, p, 10.0);
        largest = largest.max(relative((m, p)));
        approx::assert_relative_eq!(online.judged(&seen).before, largest, max_relative = 1e-12);
    }
    assert!(largest > BEFOREHAND.noise, "{largest}");
}

#[test]
fn the_surprise_of_a_first_run_by_hand() {
    // 1.25*2 + 32/4 + 3.25 + 8*(0.125 + 0.25 + 2*0.5) + 4*0.0625 = 25 s with a noise of 0.5 s, where
    // the parameters are off by 1.2 s: 1.3 s together.
    let mut parameters = toy::parameters(Decomposition::Data);
    parameters.terms.c_apu_s = estimate(3.25, 1.2);
    let mut online = Online::new(&parameters, BEFOREHAND, 4).unwrap();
    let surprise = online.learn(2, 2, 27.6).unwrap();
    approx::assert_relative_eq!(surprise, 2.0, max_relative = 1e-12);
}

#[test]
fn no_run_of_a_program_that_takes_no_time_for_certain_is_a_surprise() {
    let mut parameters = toy::parameters(Decomposition::Data);
    for entry in parameters.terms.entries() {
        *parameters.terms.estimate_mut(entry).unwrap() = Estimate::exact(0.0);
    }
    let mut online = Online::new(&parameters, BEFOREHAND, 4).unwrap();
    assert_eq!(online.learn(1, 1, 1.0).unwrap(), 0.0);
}

#[test]
fn runs_wait_until_they_are_an_eighth_part_of_all() {
    let parameters = parameters(Decomposition::Data);
    let mut online = Online::new(&parameters, BEFOREHAND, 4).unwrap();
    let mut settled = 0;
    for run in 1..=800 {
        online.add(2, 2, 25.0).unwrap();
        assert!(online.waiting <= 1 + run / 8, "{} of {run}", online.waiting);
        settled += u32::from(online.waiting == 1);
    }
    // Each of the first eight, then with 8/7 times as many: ln(800/8)/ln(8/7) = 34.
    assert!((34..50).contains(&settled), "{settled}");
}

#[test]
fn times_of_next_to_nothing_are_followed_like_those_of_seconds() {
    let in_seconds = parameters(Decomposition::Data);
    let runs = noisy(&in_seconds, &mut Xoshiro256PlusPlus::seed_from_u64(6), 1);
    let scale = 2f64.powi(-60);
    let mut scaled = in_seconds.clone();
    let is_time = |entry: &Entry| entry.term != Term::Alpha && !entry.term.is_count();
    for entry in in_seconds.terms.entries().into_iter().filter(is_time) {
        let estimate = scaled.terms.estimate_mut(entry).unwrap();
        estimate.value *= scale;
        estimate.std_error = estimate.std_error.map(|error| scale * error);
    }
    let scaled_runs: Vec<_> = runs.iter().map(|&(m, p, time)| (m, p, scale * time)).collect();
    let (one, other) = (learnt(&in_seconds, &runs), learnt(&scaled, &scaled_runs));
    for (m, p) in every(8) {
        let in_seconds = other.time(m, p).0 / scale;
        approx::assert_relative_eq!(in_seconds, one.time(m, p).0, max_relative = 1e-9);
    }
}

#[test]
fn values_of_which_no_error_is_known_have_the_stated_one_but_for_what_is_exact_by_nature() {
    let mut parameters = toy::parameters(Decomposition::Data);
    parameters.terms.alpha = toy::table(&[1, 3], &[1.0, 1.5]);
    let beforehand = Beforehand { unknown_error: 0.1, ..BEFOREHAND };
    let online = Online::new(&parameters, beforehand, 4).unwrap();
    // A tenth of T_HPU, T_APU/(m p), C_APU, N*O_offload, N*T_CSW and N*p*g each, no count being
    // uncertain.
    let expected = 0.1 * f64::sqrt(4.0 + 256.0 + 1.0 + 1.0 + 4.0 + 64.0);
    approx::assert_relative_eq!(online.std_error(1, 2), expected, max_relative = 1e-12);
    // alpha is 1.25, half of it by the entry at m = 1, which is certain, and half by that at m = 3:
    // 1.25*0.2 by T_HPU and 2*0.5*0.15 by alpha. Collectives take 4*0.0625.
    let of_others: f64 = 64.0 + 1.0 + 1.0 + 4.0 + 64.0 + 0.25 * 0.25;
    let expected = (0.25_f64.powi(2) + 0.15_f64.powi(2) + 0.01 * of_others).sqrt();
    approx::assert_relative_eq!(online.std_error(2, 2), expected, max_relative = 1e-12);
}

/// What is seen of runs, each at (1, p) with this logarithm of its time.
fn seen(runs: &[(u32, f64)]) -> SeenRuns {
    let mut seen = SeenRuns::new(BEFOREHAND.noise);
    for &(p, log_time) in runs {
        seen.add(1, p, log_time.exp());
    }
    seen
}

#[test]
fn only_configurations_with_a_median_of_their_own_say_how_far_runs_scatter() {
    let online = Online::new(&parameters(Decomposition::Data), BEFOREHAND, 16).unwrap();
    // A median distance of 0.1 is a deviation of 0.14826, so that 0.6 is 1.349 times what is usual.
    // The two runs at p = 2 are 2 apart.
    let runs = [(1, 3.0), (1, 2.9), (1, 3.1), (1, 3.6), (1, 2.4), (2, 1.0), (2, 3.0)];
    let judged = online.judged(&seen(&runs));
    let weight = (1.0 - (0.6 / 0.14826 / 3.0 - 1.0_f64).powi(2)).powi(2);
    let summary = judged.summaries[0].unwrap();
    approx::assert_relative_eq!(summary.weight, 3.0 + 2.0 * weight, max_relative = 1e-9);
    assert_eq!(judged.summaries[1], None);
    approx::assert_relative_eq!(judged.centres[1], 2.0, max_relative = 1e-12);
}

#[test]
fn a_single_run_is_judged_by_what_the_parameters_say_of_their_own_error() {
    let online = Online::new(&parameters(Decomposition::Data), BEFOREHAND, 16).unwrap();
    let seen = seen(&[(1, 2.0)]);
    let judged = RunMedians { summaries: vec![None], centres: vec![2.0], before: 3.0 };
    // Three to one by weight, a deviation of 3 in the logarithm. An expected time below nothing counts
    // as a millionth of what was measured: ln(10^6)/9 = 1.535 times what is usual.
    let found = online.summaries(&seen, &judged, &[-1.0]);
    let weight = (1.0 - (1e6_f64.ln() / 9.0 - 1.0).powi(2)).powi(2);
    approx::assert_relative_eq!(found[0].weight, weight, max_relative = 1e-9);
}
