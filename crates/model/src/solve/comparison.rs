//! Which configurations cannot be told from the best: multiple comparisons with the best (Hsu,
//! Multiple Comparisons, 1996, chapter 4), with critical values from the draws.
//!
//! A configuration c is told from the best where, for some j, `T(c) - T(j) > d_c * s(c,j)`: T are
//! the predicted times, s the standard error of their difference, and d_c the 95 % point of the
//! largest of all the differences to c, each in its own standard errors and about its own mean.
//! If c is the true best, every `T(c) - T(j)` is error alone or less, and with 95 % none of them is
//! beyond `d_c * s(c,j)`: so the configurations that are left hold the true best with at least
//! 95 %, however many there are.

use statrs::distribution::{ContinuousCDF, Normal};

use super::best::Candidate;
use super::draws::Draws;
use super::regret::quantile;
use super::uncertainty::{Uncertainty, spread_between};

/// So many of the best configurations are compared with one another. The rest are compared with
/// the very best, with a critical value that holds for any correlation (Bonferroni's).
const FAMILY: usize = 100;

/// Draws behind a critical value: its standard error is some 2 %.
const MOST_DRAWS: usize = 2_000;

/// How sure the comparison is.
const CONFIDENCE: f64 = 0.95;

/// Whether each of `ranked`, in the order of their times, cannot be told from the best.
pub(super) fn indistinguishable(
    uncertainty: &Uncertainty<'_>,
    draws: &Draws<'_>,
    ranked: &[Candidate],
) -> Vec<bool> {
    let deviates = |c: &Candidate| uncertainty.deviates_of_time(c.mapping);
    let in_family = &ranked[..ranked.len().min(FAMILY)];
    let family: Vec<Vec<f64>> = in_family.iter().map(deviates).collect();
    let [one, any] = [1, ranked.len().saturating_sub(1)].map(bonferroni);
    let mut undecided = Vec::new();
    let mut answers = Vec::with_capacity(ranked.len());
    for (index, candidate) in ranked.iter().enumerate() {
        if index >= FAMILY {
            let spread = spread_between(&deviates(candidate), &family[0]);
            answers.push(candidate.time.0 - ranked[0].time.0 <= any * spread);
            continue;
        }
        let farthest = farthest(index, in_family, &family);
        if farthest > one && farthest <= any {
            undecided.push((index, farthest));
        }
        answers.push(farthest <= one);
    }
    if !undecided.is_empty() {
        let errors = errors(draws, in_family);
        for (index, farthest) in undecided {
            answers[index] = farthest <= critical_value(index, &family, &errors);
        }
    }
    answers
}

/// The point that the largest of so many standard normal deviates exceeds with at most 5 %,
/// however they are correlated.
fn bonferroni(count: usize) -> f64 {
    let each = (1.0 - CONFIDENCE) / count.max(1) as f64;
    Normal::standard().inverse_cdf(1.0 - each)
}

/// How much slower than any other it is predicted to be, in standard errors of the difference.
fn farthest(index: usize, family: &[Candidate], deviates: &[Vec<f64>]) -> f64 {
    let time = family[index].time.0;
    family.iter().zip(deviates).fold(f64::NEG_INFINITY, |farthest, (other, of_other)| {
        let difference = time - other.time.0;
        if difference <= 0.0 {
            return farthest.max(0.0);
        }
        farthest.max(difference / spread_between(&deviates[index], of_other))
    })
}

/// The error of the time of each of the family in every draw \[s\].
fn errors(draws: &Draws<'_>, family: &[Candidate]) -> Vec<Vec<f64>> {
    let count = draws.count.min(MOST_DRAWS);
    let mut errors = vec![Vec::with_capacity(count); family.len()];
    let mut ms: Vec<u32> = family.iter().map(|candidate| candidate.mapping.m()).collect();
    ms.sort_unstable();
    ms.dedup();
    let mut room = Vec::new();
    for m in ms {
        let row = draws.row(m, count);
        let of_row = family.iter().zip(&mut errors).filter(|(c, _)| c.mapping.m() == m);
        for (candidate, errors) in of_row {
            let times = row.times(candidate.mapping.p(), &mut room);
            errors.extend(times.map(|time| time - candidate.time.0));
        }
    }
    errors
}

/// The 95 % point of the largest difference to that of the family.
fn critical_value(index: usize, deviates: &[Vec<f64>], errors: &[Vec<f64>]) -> f64 {
    let own = &errors[index];
    let mut largest = vec![f64::NEG_INFINITY; own.len()];
    for (of_other, errors) in deviates.iter().zip(errors) {
        let spread = spread_between(&deviates[index], of_other);
        if spread > 0.0 {
            let scale = 1.0 / spread;
            for ((largest, own), other) in largest.iter_mut().zip(own).zip(errors) {
                let difference = (own - other) * scale;
                *largest = if difference > *largest { difference } else { *largest };
            }
        }
    }
    quantile(&mut largest, CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::model::sensitivity::Entry;
    use crate::model::{Parameters, published};
    use crate::solve::{Constraints, Sampling};
    use mmgp_base::Mapping;

    /// The configurations that cannot be told from the best.
    fn set(parameters: &Parameters, draws: u32, constraints: &Constraints) -> Vec<Mapping> {
        let space = constraints.space(parameters.apus).unwrap();
        let uncertainty = Uncertainty::of(parameters);
        let draws = Draws::new(&uncertainty, Sampling::new(draws, 1));
        let ranked = crate::solve::best::within(parameters, &space, usize::MAX);
        let answers = indistinguishable(&uncertainty, &draws, &ranked);
        let is_in = ranked.iter().zip(answers).filter(|(_, answer)| *answer);
        is_in.map(|(candidate, _)| candidate.mapping).collect()
    }

    #[test]
    fn of_two_the_slower_is_told_by_a_difference_of_1_645_standard_errors() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let two = Constraints::NONE.max_m(1).max_p(2);
        // T(1,1) - T(1,2) = 185 s - 0.8 s, of which T_APU/2 is uncertain.
        for (error, expected) in [(184.2 / 1.644, true), (184.2 / 1.646, false)] {
            parameters.terms.t_apu_s.std_error = Some(2.0 * error);
            assert_eq!(set(&parameters, 100, &two).contains(&Mapping::of(1, 1)), expected);
        }
    }

    #[test]
    fn without_uncertainty_only_ties_cannot_be_told_apart() {
        let mut parameters = published("pbpi-qs20").unwrap();
        assert_eq!(set(&parameters, 1, &Constraints::NONE), [Mapping::of(4, 4)]);
        parameters.terms.g_s.value = 0.0;
        parameters.terms.t_apu_s.value = 0.0;
        let one_thread: Vec<Mapping> = (1..=16).map(|p| Mapping::of(1, p)).collect();
        assert_eq!(set(&parameters, 1, &Constraints::NONE), one_thread);
    }

    #[test]
    fn the_critical_value_of_independent_times_is_that_of_dunnett() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(4);
        // One-sided 5 % points for comparisons with a control (Dunnett 1964), without limit to
        // the degrees of freedom; the root of P(max <= d) = integral of Phi(d sqrt(2) + z)^k.
        for (others, expected) in [(1, 1.645), (4, 2.16), (9, 2.42)] {
            let unit =
                |place: usize| (0..=others).map(|k| f64::from(u8::from(k == place))).collect();
            let deviates: Vec<Vec<f64>> = (0..=others).map(unit).collect();
            let errors: Vec<Vec<f64>> = (0..=others)
                .map(|_| (0..50_000).map(|_| StandardNormal.sample(random)).collect())
                .collect();
            // The density there is about 0.1: four standard errors of a quantile are 0.04.
            let found = critical_value(0, &deviates, &errors);
            assert!((found - expected).abs() < 0.04, "{others}: {found}");
        }
    }

    #[test]
    fn between_one_comparison_and_all_of_them_the_draws_decide() {
        use crate::model::parameters::{Estimate, OverM, Table};
        // Ten times of independent errors of 1 s, nine of them equal.
        let mut parameters = published("pbpi-qs20").unwrap();
        let terms = &mut parameters.terms;
        for term in [&mut terms.t_hpu_s, &mut terms.t_apu_s] {
            term.value = 0.0;
        }
        terms.collectives = Some(Estimate::exact(1.0));
        let ten = Constraints::NONE.max_m(10).max_p(1);
        // Dunnett's 2.42 for nine others lies between 1.645 for one and Bonferroni's 2.54.
        for (standard_errors, expected) in [(2.2, true), (2.53, false)] {
            let time = |m: u32| {
                let slower = if m == 7 { standard_errors * 2.0f64.sqrt() } else { 0.0 };
                Estimate { std_error: Some(1.0), ..Estimate::exact(100.0 + slower) }
            };
            let values = (1..=10).map(time).collect();
            parameters.terms.o_col_s = OverM::Table(Table { m: (1..=10).collect(), values });
            let set = set(&parameters, 2000, &ten);
            assert_eq!(
                (set.contains(&Mapping::of(7, 1)), set.contains(&Mapping::of(3, 1))),
                (expected, true)
            );
        }
    }

    /// The truth, and a scatter of what is measured of it in which several come close.
    fn truth() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (entry, relative) in [
            (Entry::HpuTime, 0.1),
            (Entry::ApuTime, 0.05),
            (Entry::Gap, 0.5),
            (Entry::Collective(3), 0.3),
            (Entry::Collective(7), 0.1),
            (Entry::Alpha(0), 0.05),
        ] {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            estimate.std_error = Some(relative * estimate.value);
        }
        parameters
    }

    #[test]
    fn the_true_best_is_among_them_in_at_least_95_of_100_cases() {
        let truth = truth();
        let best = crate::solve::best::within(&truth, &Constraints::NONE.space(16).unwrap(), 1)[0];
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(95);
        let cases = 400;
        let (mut held, mut size) = (0, 0);
        for _ in 0..cases {
            let mut measured = truth.clone();
            for entry in truth.terms.entries() {
                let estimate = measured.terms.estimate_mut(entry).unwrap();
                let deviate: f64 = StandardNormal.sample(random);
                let error = estimate.std_error.unwrap_or(0.0);
                estimate.value = (estimate.value + error * deviate).max(0.0);
            }
            let set = set(&measured, 1000, &Constraints::NONE);
            held += u32::from(set.contains(&best.mapping));
            size += set.len();
        }
        // Three standard errors of 0.95 over so many cases below it.
        assert!(f64::from(held) >= 0.95 * 400.0 - 3.0 * (400.0 * 0.95 * 0.05f64).sqrt(), "{held}");
        // The set says something: on average it leaves out four of five.
        assert!(size < cases * 10, "{size}");
    }
}
