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
use crate::model::Parameters;

/// So many of the best configurations are compared with one another. The rest are compared with
/// the very best, with a critical value that holds for any correlation (Bonferroni's).
const FAMILY: usize = 100;

/// Draws behind a critical value: its standard error is some 2 %.
const MOST_DRAWS: usize = 2_000;

/// How sure the comparison is.
const CONFIDENCE: f64 = 0.95;

/// Whether each of `ranked`, in the order of their times, cannot be told from the best.
pub(super) fn indistinguishable(
    parameters: &Parameters,
    uncertainty: &Uncertainty,
    draws: &Draws,
    ranked: &[Candidate],
) -> Vec<bool> {
    let deviates = |c: &Candidate| uncertainty.deviates_of_time(parameters, c.m, c.p);
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
        let errors = errors(parameters, draws, in_family);
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
fn errors(parameters: &Parameters, draws: &Draws, family: &[Candidate]) -> Vec<Vec<f64>> {
    let count = draws.count.min(MOST_DRAWS);
    let mut errors = vec![Vec::with_capacity(count); family.len()];
    let mut ms: Vec<u32> = family.iter().map(|candidate| candidate.m).collect();
    ms.sort_unstable();
    ms.dedup();
    for m in ms {
        let row = draws.row(parameters, m, count);
        for (candidate, errors) in family.iter().zip(&mut errors).filter(|(c, _)| c.m == m) {
            row.times(candidate.p, errors);
            errors.iter_mut().for_each(|error| *error -= candidate.time.0);
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
