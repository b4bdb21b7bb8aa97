//! What the standard errors of the parameters mean for a prediction and for the choice of the
//! best.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::best::{Candidate, optimum};
use crate::model::Parameters;
use crate::model::sensitivity::Entry;

/// How the probability of being the best is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// How often all parameters are drawn, at least 1. The standard error of a probability q is
    /// `sqrt(q (1 - q) / draws)`: at most 0.005 for 10,000.
    pub draws: u32,
    /// Seed of the generator; the same seed gives the same probabilities.
    pub seed: u64,
}

impl Sampling {
    /// Draws that give probabilities to two digits.
    pub const USUAL_DRAWS: u32 = 10_000;
}

/// The 97.5 % quantile of the standard normal distribution: the half-width of a 95 % interval in
/// standard errors.
const QUANTILE_97_5: f64 = 1.959_963_984_540_054;

/// Half the width of the 95 % interval of T(m,p) \[s\]:
/// `se(T)^2 = sum over x of (dT/dx * se(x))^2`, to first order and for independent x.
pub(super) fn half_width(parameters: &Parameters, m: u32, p: u32) -> f64 {
    QUANTILE_97_5 * propagated(parameters, parameters.gradient(m, p).into_iter())
}

/// The standard error of a quantity with these derivatives.
fn propagated(parameters: &Parameters, gradient: impl Iterator<Item = (Entry, f64)>) -> f64 {
    let variance = |(entry, slope): (Entry, f64)| (slope * std_error(parameters, entry)).powi(2);
    gradient.map(variance).sum::<f64>().sqrt()
}

/// A value whose standard error is not known counts as exact.
fn std_error(parameters: &Parameters, entry: Entry) -> f64 {
    parameters.terms.estimate(entry).and_then(|estimate| estimate.std_error).unwrap_or(0.0)
}

/// In how many draws each configuration is the fastest; those that never are have no entry.
///
/// Every draw takes each uncertain value from the normal distribution of its estimate, drawn
/// again where it is negative, and asks every row that has a chance for its best p. `best` is the
/// configuration that wins without uncertainty. Draws follow one another on one generator, so
/// the result depends on nothing but the arguments.
pub(super) fn wins(
    parameters: &Parameters,
    sampling: Sampling,
    best: Candidate,
) -> BTreeMap<(u32, u32), u32> {
    let uncertain = uncertain_entries(parameters);
    if uncertain.is_empty() {
        return BTreeMap::from([((best.m, best.p), sampling.draws)]);
    }
    let rivals = rivals(parameters, best);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(sampling.seed);
    let mut drawn = parameters.clone();
    let mut wins = BTreeMap::new();
    for _ in 0..sampling.draws {
        for &(entry, value, std_error) in &uncertain {
            let estimate = drawn.terms.estimate_mut(entry);
            estimate.expect("invariant: the entry is one of these terms").value =
                draw(&mut random, value, std_error);
        }
        let fastest = rivals.iter().map(|&m| best_of_row(&drawn, m)).min();
        let fastest = fastest.expect("invariant: the best is its own rival");
        *wins.entry((fastest.m, fastest.p)).or_insert(0) += 1;
    }
    wins
}

/// Every entry with a standard error above 0: the entry, its value, its standard error.
fn uncertain_entries(parameters: &Parameters) -> Vec<(Entry, f64, f64)> {
    let terms = &parameters.terms;
    terms
        .entries()
        .into_iter()
        .filter_map(|entry| {
            let estimate = terms.estimate(entry)?;
            let std_error = estimate.std_error.filter(|&std_error| std_error > 0.0)?;
            Some((entry, estimate.value, std_error))
        })
        .collect()
}

/// A normal variate, truncated at 0. The mean is not negative, so at least every second trial
/// ends the loop.
fn draw(random: &mut Xoshiro256PlusPlus, mean: f64, std_error: f64) -> f64 {
    loop {
        let deviate: f64 = StandardNormal.sample(random);
        let value = mean + std_error * deviate;
        if value >= 0.0 {
            return value;
        }
    }
}

/// Beyond so many standard errors of the difference to the best, a row is not drawn: a normal
/// variate goes that far once in a thousand million.
const HOPELESS: f64 = 6.0;

/// The m of every row that has a chance to hold the fastest configuration. On a machine of many
/// APUs these are few.
fn rivals(parameters: &Parameters, best: Candidate) -> Vec<u32> {
    let of_best = parameters.gradient(best.m, best.p);
    let has_a_chance = |m: &u32| {
        let row_best = best_of_row(parameters, *m);
        let mut difference: BTreeMap<Entry, f64> = of_best.iter().copied().collect();
        for (entry, slope) in parameters.gradient(row_best.m, row_best.p) {
            *difference.entry(entry).or_insert(0.0) -= slope;
        }
        let std_error = propagated(parameters, difference.into_iter());
        row_best.time.0 - best.time.0 <= HOPELESS * std_error
    };
    (1..=parameters.apus).filter(has_a_chance).collect()
}

fn best_of_row(parameters: &Parameters, m: u32) -> Candidate {
    let row = parameters.row(m);
    let p = optimum(&row, parameters.apus / m);
    Candidate { time: row.at(p), m, p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::published;

    #[test]
    fn an_error_that_all_configurations_share_makes_nobody_a_rival() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let best = best_of_row(&parameters, 4);
        parameters.terms.c_apu_s.std_error = Some(1.0);
        assert_eq!(rivals(&parameters, best), [4]);
        // (8,2) saves 2*0.8 s of gap and pays 20000*147 us more for collectives: 1.34 s slower,
        // within six times 20000 * 12 us = 0.24 s.
        let o_col = parameters.terms.estimate_mut(Entry::Collective(7)).unwrap();
        o_col.std_error = Some(12e-6);
        assert_eq!(rivals(&parameters, best), [4, 8]);
    }
}
