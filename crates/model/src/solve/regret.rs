//! What the draws say of the choice: who wins, and what it costs to choose another.

use std::collections::BTreeMap;

use super::best::{Candidate, optimum};
use super::constraints::Space;
use super::draws::{DrawnRow, Draws};
use super::uncertainty::{Uncertainty, spread_between};
use mmgp_base::Mapping;

/// The fastest configuration of every draw.
pub(super) struct Contest {
    /// In how many draws each configuration is the fastest; those that never are have no entry.
    pub wins: BTreeMap<Mapping, u32>,
    /// The least time of each draw \[s\].
    pub least: Vec<f64>,
}

/// What choosing one configuration costs against knowing the fastest \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Regret {
    pub expected: f64,
    /// What 95 % of the draws do not exceed.
    pub at_95: f64,
}

/// Up to so many p of a row are all asked in every draw; of more, the optimum of each draw.
const FEW: u32 = 24;

/// Lets every configuration run in every draw. Ties go to the smaller m, then the smaller p.
///
/// Configurations that have no chance are left out: see [`rivals`]. `best` is the one that wins
/// without uncertainty.
pub(super) fn contest(
    uncertainty: &Uncertainty<'_>,
    space: &Space,
    draws: &Draws<'_>,
    best: Candidate,
) -> Contest {
    let mut least = vec![f64::INFINITY; draws.count];
    let mut fastest = vec![packed(best.mapping.m(), best.mapping.p()); draws.count];
    let mut room = Vec::new();
    for (m, ps) in rivals(uncertainty, space, best, draws) {
        let row = draws.row(m, draws.count);
        let choices = space.choices(m);
        if choices.count > FEW && draws.has_rows() {
            for draw in 0..draws.count {
                let Some(form) = row.of_draw(draw) else { continue };
                let p = choices.at(optimum(&form, choices));
                let time = row.at(draw, p);
                if time < least[draw] {
                    least[draw] = time;
                    fastest[draw] = packed(m, p);
                }
            }
            continue;
        }
        for p in ps {
            let place = packed(m, p);
            for ((time, least), fastest) in
                row.times(p, &mut room).zip(&mut least).zip(&mut fastest)
            {
                // Two selections instead of a branch, for vectors.
                *fastest = if time < *least { place } else { *fastest };
                *least = if time < *least { time } else { *least };
            }
        }
    }
    let mut wins = BTreeMap::new();
    for place in fastest {
        *wins.entry(unpacked(place)).or_insert(0) += 1;
    }
    Contest { wins, least }
}

/// A configuration in one word as wide as a time.
fn packed(m: u32, p: u32) -> u64 {
    u64::from(m) << 32 | u64::from(p)
}

fn unpacked(place: u64) -> Mapping {
    Mapping::of((place >> 32) as u32, place as u32)
}

/// Beyond so many standard errors of the difference to the best, a configuration is not drawn: a
/// normal variate goes that far once in a thousand million.
const HOPELESS: f64 = 6.0;

/// The rows with a configuration that has a chance to be the fastest, and its p; of a row with
/// many p only the best is looked at. On a machine of many APUs these are few.
fn rivals(
    uncertainty: &Uncertainty<'_>,
    space: &Space,
    best: Candidate,
    draws: &Draws<'_>,
) -> Vec<(u32, Vec<u32>)> {
    let model = uncertainty.model;
    let of_best = uncertainty.deviates_of_time(best.mapping);
    let has_a_chance = |Candidate { time, mapping }: Candidate| {
        let deviates = uncertainty.deviates_of_time(mapping);
        time.0 - best.time.0 <= HOPELESS * spread_between(&deviates, &of_best)
    };
    let of_row = |m: u32| -> Vec<u32> {
        let (row, choices) = (model.row(m), space.choices(m));
        let candidate = |p: u32| {
            let mapping = Mapping::of(m, p);
            let time = row.map_or_else(|| model.time(mapping), |row| row.at(p));
            Candidate { time, mapping }
        };
        match row {
            Some(row) if choices.count > FEW && draws.has_rows() => {
                let p = choices.at(optimum(&row, choices));
                if has_a_chance(candidate(p)) { vec![p] } else { Vec::new() }
            }
            _ => choices.iter().filter(|&p| has_a_chance(candidate(p))).collect(),
        }
    };
    space.ms().map(|m| (m, of_row(m))).filter(|(_, ps)| !ps.is_empty()).collect()
}

/// The regret of a configuration, from as many draws as the row has.
pub(super) fn regret(
    row: &DrawnRow<'_>,
    p: u32,
    least: &[f64],
    (losses, room): (&mut Vec<f64>, &mut Vec<f64>),
) -> Regret {
    losses.clear();
    // A configuration without a chance may win a draw that nobody asked it for.
    losses.extend(row.times(p, room).zip(least).map(|(time, least)| (time - least).max(0.0)));
    Regret { expected: sum(losses) / losses.len() as f64, at_95: quantile(losses, 0.95) }
}

/// The sum, in eight parts that do not wait for one another.
fn sum(values: &[f64]) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, value) in sums.iter_mut().zip(eight) {
            *sum += value;
        }
    }
    sums.iter().chain(rest).sum()
}

/// The smallest value that at least `share` of the values do not exceed.
///
/// Of many values only those that are not smaller than most of a sample are looked at closely.
pub(super) fn quantile(values: &mut [f64], share: f64) -> f64 {
    let place = (share * values.len() as f64).ceil() as usize;
    let place = place.clamp(1, values.len()) - 1;
    let from_top = values.len() - place;
    if values.len() >= 16 * SAMPLE {
        let mut sample: [f64; SAMPLE] =
            std::array::from_fn(|index| values[index * (values.len() / SAMPLE)]);
        let expected = (share * SAMPLE as f64) as usize;
        // Two standard errors and more below what is looked for.
        let below = expected.saturating_sub(SAMPLE / 16);
        let least = *sample.select_nth_unstable_by(below, f64::total_cmp).1;
        let mut count = 0;
        for index in 0..values.len() {
            // To the front without a branch: it would be guessed wrong often.
            values.swap(index, count);
            count += usize::from(values[count] >= least);
        }
        if count >= from_top {
            let (place, upper) = (count - from_top, &mut values[..count]);
            return *upper.select_nth_unstable_by(place, f64::total_cmp).1;
        }
    }
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Values that a large sample is judged by.
const SAMPLE: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Parameters;
    use crate::model::published;
    use crate::model::sensitivity::Entry;
    use crate::solve::{Constraints, Sampling};

    fn check_rivals(parameters: &Parameters, expected: &[(u32, u32)]) {
        let space = Constraints::NONE.space(parameters.apus).unwrap();
        let uncertainty = Uncertainty::of(parameters);
        let draws = Draws::new(&uncertainty, Sampling::new(1, 1));
        let best = super::super::best::within(parameters, &space, 1)[0];
        let rivals = rivals(&uncertainty, &space, best, &draws);
        let found = rivals.iter().flat_map(|(m, ps)| ps.iter().map(|&p| (*m, p)));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_error_that_all_configurations_share_makes_nobody_a_rival() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.c_apu_s.std_error = Some(1.0);
        check_rivals(&parameters, &[(4, 4)]);
        // (8,2) saves 2*0.8 s of gap and pays 20000*147 us more for collectives: 1.34 s slower,
        // within six times 20000 * 12 us = 0.24 s.
        let o_col = parameters.terms.estimate_mut(Entry::Collective(7)).unwrap();
        o_col.std_error = Some(12e-6);
        check_rivals(&parameters, &[(4, 4), (8, 2)]);
    }

    #[test]
    fn a_quantile_is_the_smallest_value_that_enough_do_not_exceed() {
        let mut values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.95), 95.0);
        assert_eq!(quantile(&mut [3.0], 0.95), 3.0);
        // Many, in an order of their own, rising and falling: 7919 is prime.
        let mut many: Vec<f64> = (0..10_000).map(|i| f64::from(i * 7919 % 10_000)).collect();
        assert_eq!(quantile(&mut many.clone(), 0.95), 9499.0);
        many.sort_by(f64::total_cmp);
        assert_eq!(quantile(&mut many, 0.95), 9499.0);
        many.fill(1.0);
        assert_eq!(quantile(&mut many, 0.95), 1.0);
        // A sample that misses what matters: every 78th value is large, and a few others.
        let mut periodic: Vec<f64> =
            (0..10_000).map(|i| f64::from(u8::from(i % 78 == 0))).collect();
        assert_eq!(quantile(&mut periodic, 0.95), 0.0);
    }
}
