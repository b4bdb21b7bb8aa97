use super::*;
use crate::model::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use crate::model::sensitivity::Entry;
use crate::model::time_model::Value;
use crate::model::uncertainty::Correlation;
use crate::model::{published, published_names};

const SAMPLING: Sampling = Sampling::new(40_000, 7);

fn estimate(value: f64, std_error: f64) -> Estimate {
    Estimate { std_error: Some(std_error), ..Estimate::exact(value) }
}

/// Two APUs and a second thread so slow that only (1, 1) and (1, 2) can win. With one
/// off-load, `T(1,1) - T(1,2) = T_APU/2 - g`.
fn two_rivals(t_apu_s: Estimate, g_s: Estimate) -> Parameters {
    Parameters {
        name: "rivals".into(),
        decomposition: Decomposition::Data,
        apus: 2,
        terms: Terms {
            t_hpu_s: estimate(2.0, 0.0),
            t_apu_s,
            c_apu_s: estimate(0.0, 0.0),
            offloads: Estimate::exact(1.0),
            o_offload_s: estimate(0.0, 0.0),
            t_csw_s: estimate(0.0, 0.0),
            g_s,
            collectives: None,
            alpha: OverM::Constant(estimate(1000.0, 0.0)),
            o_col_s: OverM::Constant(estimate(0.0, 0.0)),
        },
        phases: vec![],
        correlation: None,
        refinements: None,
    }
}

/// Draws are independent, so four standard errors of the share that wins are a safe bound.
fn check_probability(parameters: &Parameters, (m, p): (u32, u32), expected: f64) {
    let ranking = rank(parameters, SAMPLING).unwrap();
    let of = |c: &&Configuration| c.mapping == Mapping::of(m, p);
    let found = ranking.configurations.iter().find(of).unwrap().probability_best;
    let bound = 4.0 * (expected * (1.0 - expected) / f64::from(SAMPLING.draws)).sqrt();
    assert!((found - expected).abs() < bound, "{found} is not {expected} +- {bound}");
    let sum: f64 = ranking.configurations.iter().map(|c| c.probability_best).sum();
    approx::assert_relative_eq!(sum, 1.0, max_relative = 1e-12);
}

#[test]
fn the_probability_of_two_rivals_is_the_normal_distribution_of_their_difference() {
    // T_APU/2 - g is normal with mean 0.5 and variance (0.8/2)^2 + 0.3^2 = 0.5^2.
    let parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
    check_probability(&parameters, (1, 2), 0.841_344_746_1); // Phi(1)
    check_probability(&parameters, (1, 1), 1.0 - 0.841_344_746_1);
}

#[test]
fn regret_is_the_mean_loss_to_a_rival_that_may_be_faster() {
    // D = T(1,1) - T(1,2) is normal with mean 0.5 and standard deviation 0.5.
    let ranking = rank(&two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3)), SAMPLING).unwrap();
    // (1,2) loses max(0, -D): 0.5 (phi(1) - Phi(-1)), and 0.5*1.644854 - 0.5 at 95 %.
    // (1,1) loses max(0, D): 0.5 (phi(1) + Phi(1)), and 0.5 + 0.5*1.644854.
    let expected = [((1, 2), 0.041_658, 0.322_427), ((1, 1), 0.541_658, 1.322_427)];
    for ((m, p), mean, at_95) in expected {
        let of = |c: &&Configuration| c.mapping == Mapping::of(m, p);
        let found = ranking.configurations.iter().find(of).unwrap();
        // Losses spread by at most 0.5, and the density at the 95 % point is phi(1.645)/0.5.
        let draws = f64::from(SAMPLING.draws);
        let bound = 4.0 * 0.5 / draws.sqrt();
        assert!((found.expected_regret.0 - mean).abs() < bound, "{found:?}");
        let bound = 4.0 * (0.95 * 0.05 / draws).sqrt() / 0.206;
        assert!((found.regret_95.0 - at_95).abs() < bound, "{found:?}");
    }
    let best = ranking.configurations[0];
    let least = best.time.0 - 0.041_658;
    assert!((ranking.expected_least.0 - least).abs() < 4.0 * 1.0 / 200.0);
}

#[test]
fn correlated_errors_change_the_odds() {
    let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
    let entries = vec![Entry::Gap, Entry::ApuTime];
    let matrix = vec![1.0, 0.5, 0.5, 1.0];
    parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
    // The variance of T_APU/2 - g is 0.4^2 + 0.3^2 - 2*0.5*0.4*0.3 = 0.13:
    // Phi(0.5/sqrt(0.13)) = Phi(1.386750).
    check_probability(&parameters, (1, 2), 0.917_238);
}

#[test]
fn constraints_leave_fewer_rivals() {
    let parameters = published("pbpi-qs20").unwrap();
    let constraints = Constraints::NONE.m_divides(6).p_divides(8);
    let ranking = rank_within(&parameters, &constraints, SAMPLING).unwrap();
    let places: Vec<_> =
        ranking.configurations.iter().map(|c| (c.mapping.m(), c.mapping.p())).collect();
    assert_eq!(places.len(), 4 + 4 + 3 + 2);
    assert!(places.iter().all(|(m, p)| 6 % m == 0 && 8 % p == 0));
    assert_eq!(places[0], (2, 8));
    assert_eq!(ranking.configurations[0].expected_regret, Seconds(0.0));
    let efficiency = ranking.configurations[0].speedup / 16.0;
    assert_eq!(ranking.configurations[0].efficiency, efficiency);
}

#[test]
fn rivals_with_different_numbers_of_threads_are_weighed_alike() {
    // With g = 100 a second APU is hopeless; T(1,1) - T(2,1) = T_APU/2 - (alpha - 1) T_HPU is
    // normal with mean 5 - 4.5 and variance (0.8/2)^2 + (2*0.15)^2 = 0.5^2. The error of
    // C_APU is common to both.
    let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(100.0, 0.0));
    parameters.terms.alpha = OverM::Constant(estimate(3.25, 0.15));
    parameters.terms.c_apu_s = estimate(200.0, 10.0);
    check_probability(&parameters, (2, 1), 0.841_344_746_1); // Phi(1)
}

#[test]
fn a_value_near_zero_is_drawn_from_the_positive_half_of_its_distribution() {
    // (1, 2) wins where g < T_APU/2 = 0.5, and g is half-normal with sigma 0.5.
    let parameters = two_rivals(estimate(1.0, 0.0), estimate(0.0, 0.5));
    check_probability(&parameters, (1, 2), 0.682_689_492_1); // 2 Phi(1) - 1
}

#[test]
fn the_interval_adds_the_independent_errors_of_the_terms() {
    let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
    parameters.terms.t_hpu_s = estimate(2.0, 1.0);
    let ranking = rank(&parameters, SAMPLING).unwrap();
    let best = ranking.configurations[0];
    assert_eq!((best.rank, best.mapping, best.time), (1, Mapping::of(1, 2), Seconds(16.0)));
    // T(1,2) = T_HPU + T_APU/2 + 2 g: the variance is 1.0^2 + 0.4^2 + 0.6^2 = 1.52.
    let half_width = 1.959_963_985 * 1.52f64.sqrt();
    approx::assert_relative_eq!(best.low.0, 16.0 - half_width, max_relative = 1e-9);
    approx::assert_relative_eq!(best.high.0, 16.0 + half_width, max_relative = 1e-9);
    approx::assert_relative_eq!(best.speedup, 16.5 / 16.0, max_relative = 1e-15);
}

#[test]
fn an_interval_does_not_reach_below_zero() {
    let parameters = two_rivals(estimate(1.0, 5.0), estimate(0.0, 0.0));
    assert!(rank(&parameters, SAMPLING).unwrap().configurations[0].low == Seconds(0.0));
}

#[test]
fn the_published_sets_rank_their_published_optimum_first_and_in_order() {
    for (name, best) in published_names().zip([(4, 4), (16, 1)]) {
        let parameters = published(name).unwrap();
        let configurations = rank(&parameters, SAMPLING).unwrap().configurations;
        assert_eq!(configurations.len(), 50);
        assert_eq!(configurations[0].mapping, Mapping::of(best.0, best.1), "{name}");
        assert_eq!(configurations[0].probability_best, 1.0);
        assert!(configurations.is_sorted_by(|a, b| (a.time.0, a.mapping) < (b.time.0, b.mapping)));
        assert!(configurations.iter().map(|c| c.rank).eq(1..=50));
    }
}

#[test]
fn tasks_do_not_limit_how_many_workers_are_feasible() {
    let mut parameters = published("raxml-qs20").unwrap();
    parameters.decomposition = Decomposition::Task { tasks: 3 };
    assert_eq!(rank(&parameters, SAMPLING).unwrap().configurations.len(), 50);
    assert_eq!(feasible(16).count(), 50);
    let expected = [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)].map(|(m, p)| Mapping::of(m, p));
    assert_eq!(feasible(3).collect::<Vec<_>>(), expected);
}

#[test]
fn the_same_seed_gives_the_same_ranking_and_another_seed_another() {
    let parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
    let with = |seed| rank(&parameters, Sampling::new(1000, seed)).unwrap();
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn one_configuration_stands_as_it_does_among_all() {
    let parameters = published("pbpi-qs20").unwrap();
    let all = rank(&parameters, SAMPLING).unwrap();
    let one = predict_one(&parameters, Mapping::of(2, 8), SAMPLING).unwrap();
    assert_eq!(one.configurations.len(), 1);
    assert!(all.configurations.contains(&one.configurations[0]));
    let error = predict_one(&parameters, Mapping::of(5, 4), SAMPLING).unwrap_err().to_string();
    assert_eq!(error, "m = 5, p = 4 needs 20 APUs, but there are 16");
}

fn check_warnings(parameters: &Parameters, m: Option<u32>, expected: &[&str]) {
    let ranking = match m {
        Some(m) => predict_one(parameters, Mapping::of(m, 1), SAMPLING),
        None => rank(parameters, SAMPLING),
    };
    let warnings: Vec<String> = ranking.unwrap().warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, expected);
}

#[test]
fn a_table_that_ends_too_early_and_values_without_errors_are_warned_of() {
    let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
    check_warnings(&parameters, None, &[]);
    let values = vec![Estimate::exact(1.0), estimate(1.5, 0.1)];
    parameters.apus = 9;
    parameters.terms.alpha = OverM::Table(Table { m: vec![1, 4], values });
    let beyond = "alpha is known up to m = 4; its last value was used for m = ";
    // The entry of alpha at m = 1 needs no standard error: alpha is 1 there by definition.
    // Half the last slope of 1/6 for five more threads is 5/12, which doubles with T_HPU; the
    // rest is 0.1 of alpha(4), 0.3 of g and 0.8/9 of T_APU.
    let widened = "the interval of (9, 1) rests to 83 % on what alpha may be beyond m = 4; \
                   measure it at m = 9";
    check_warnings(&parameters, None, &[&format!("{beyond}5 and above"), widened]);
    let widened = "the interval of (7, 1) rests to 64 % on what alpha may be beyond m = 4; \
                   measure it at m = 7";
    check_warnings(&parameters, Some(7), &[&format!("{beyond}7 and above"), widened]);
    check_warnings(&parameters, Some(3), &[]);
    parameters.terms.t_apu_s.std_error = None;
    check_warnings(
        &parameters,
        Some(1),
        &["intervals and probabilities know nothing of the uncertainty of t_apu_s: no standard \
           error is given"],
    );
}

#[test]
fn published_values_have_no_standard_errors_and_a_warning_says_so() {
    check_warnings(
        &published("raxml-qs20").unwrap(),
        None,
        &["intervals and probabilities know nothing of the uncertainty of t_hpu_s, t_apu_s, \
           c_apu_s, alpha: no standard error is given"],
    );
}

#[test]
fn no_draws_and_numbers_of_apus_that_cannot_be_ranked_are_refused() {
    let mut parameters = published("pbpi-qs20").unwrap();
    let error = rank(&parameters, Sampling::new(0, 1)).unwrap_err().to_string();
    assert_eq!(error, "draws: found 0, expected at least 1");
    for apus in [0, 200_001] {
        parameters.apus = apus;
        assert_eq!(
            rank(&parameters, SAMPLING).unwrap_err().to_string(),
            format!(
                "apus: found {apus}, expected from 1 to 200000 where every configuration is \
                 ranked"
            )
        );
    }
}

/// Equation 11 as a model of which nothing is known but times and derivatives.
struct Plain(Parameters);

impl TimeModel for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn apus(&self) -> u32 {
        self.0.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        self.0.time(mapping)
    }

    fn values(&self) -> Vec<Value> {
        self.0.values()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        TimeModel::gradient(&self.0, mapping)
    }
}

#[test]
fn a_model_without_rows_is_ranked_alike() {
    // Linear in what is uncertain, so that draws to first order are those of the equation.
    let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
    parameters.apus = 40;
    parameters.terms.alpha = OverM::Constant(Estimate::exact(1.01));
    let expected = rank(&parameters, SAMPLING).unwrap();
    let found = rank(&Plain(parameters.clone()), SAMPLING).unwrap();
    assert_eq!(found.configurations.len(), expected.configurations.len());
    for (found, expected) in found.configurations.iter().zip(&expected.configurations) {
        assert_eq!((found.rank, found.mapping), (expected.rank, expected.mapping));
        assert_eq!((found.low, found.high), (expected.low, expected.high));
        assert_eq!(found.indistinguishable, expected.indistinguishable);
        let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(close(found.probability_best, expected.probability_best), "{found:?}");
        assert!(close(found.expected_regret.0, expected.expected_regret.0), "{found:?}");
        assert!(close(found.regret_95.0, expected.regret_95.0), "{found:?}");
    }
    let best = explain(&Plain(parameters), found.configurations[0].mapping).unwrap();
    assert_eq!(best.parts.len(), 1);
}

#[test]
fn a_question_about_terms_is_not_asked_of_a_model_without_them() {
    let model = Plain(published("pbpi-qs20").unwrap());
    assert_eq!(
        break_even(&model, &Constraints::NONE, 1.0).unwrap_err().to_string(),
        "model: found plain, expected mmgp: what off-loading costs follows from the terms of \
         equation 11 alone"
    );
    let changes = Changes { cost: Seconds(0.0), rounds: 1 };
    assert!(plan_phases(&model, &Constraints::NONE, changes).is_err());
    let mut many = published("pbpi-qs20").unwrap();
    many.apus = 2049;
    assert!(rank(&Plain(many.clone()), SAMPLING).is_err());
    assert!(rank_within(&many, &Constraints::NONE.max_m(2), SAMPLING).is_ok());
}
