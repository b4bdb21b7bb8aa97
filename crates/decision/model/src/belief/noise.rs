//! The noise of single runs as far as repetitions tell, and which runs are wild or enter together.
//!
//! Beforehand the logarithm of the noise is a mixture of normal distributions about what programs
//! have: of 17 tables with repetitions, 0.2 to 26 %, 7 % in the median. The posterior given the
//! repetitions' squared deviations is cut into nodes of equal weight: one where it is well known, five
//! where nothing was repeated.
//!
//! A configuration that ran once is wild or is not, a priori with [`PROBABILITY`]. Whether it is
//! is judged by the evidence of all components with and without a variance of 1 more for that run,
//! by an update of rank one; the most likely is marked, everything is fitted again, and so on while
//! one is likely enough. A run at the edge of what was timed, as (1, 1) often is, may be what no
//! other tells, and is never marked.
//!
//! Of many configurations some enter the covariance together, and the rest where they are asked for.

use super::components::{Component, Data};
use super::scatter::LENGTH;
use crate::models::observations::{Observation, Observations};
use crate::statistics::{kernel, log_sum};
use mmgp_base::Mapping;

/// Centres of the mixture and their weights.
const BEFOREHAND: [(f64, f64); 4] = [(0.005, 0.2), (0.02, 0.3), (0.06, 0.3), (0.18, 0.2)];

/// Standard deviation of the logarithm about each.
const SPREAD: f64 = 0.5;

/// The grid: from, to, and points on it.
const GRID: (f64, f64, usize) = (1e-3, 0.6, 200);

/// Number of nodes as long as the standard deviation of the logarithm is below the first number.
const NODES: [(f64, usize); 3] = [(0.08, 1), (0.25, 3), (f64::INFINITY, 5)];

/// Standard deviations of the logarithm of a single run, equally likely, increasing.
pub(super) fn nodes(observations: &Observations) -> Vec<f64> {
    let (squares, degrees) = (observations.scatter, observations.degrees_of_freedom);
    let (from, to, count) = (GRID.0.ln(), GRID.1.ln(), GRID.2);
    let log_noises: Vec<f64> =
        (0..count).map(|it| from + (to - from) * it as f64 / (count - 1) as f64).collect();
    let log_density = |log_noise: f64| {
        let about = |(centre, weight): (f64, f64)| {
            weight * (-0.5 * ((log_noise - centre.ln()) / SPREAD).powi(2)).exp()
        };
        let beforehand: f64 = BEFOREHAND.into_iter().map(about).sum();
        beforehand.ln() - degrees * log_noise - 0.5 * squares * (-2.0 * log_noise).exp()
    };
    let logs: Vec<f64> = log_noises.iter().map(|&it| log_density(it)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean_of = |of: &dyn Fn(f64) -> f64| -> f64 {
        log_noises.iter().zip(&weights).map(|(it, weight)| weight * of(*it)).sum::<f64>() / total
    };
    let mean = mean_of(&|it| it);
    let deviation = mean_of(&|it| (it - mean).powi(2)).sqrt();
    let (_, nodes) = NODES.into_iter().find(|(below, _)| deviation < *below).unwrap_or(NODES[2]);
    if nodes == 1 {
        return vec![mean.exp()];
    }
    let quantile = |share: f64| {
        let mut sum = 0.0;
        for (index, weight) in weights.iter().enumerate() {
            let next = sum + weight / total;
            if next >= share {
                let before = log_noises[index.saturating_sub(1)];
                let part = ((share - sum) / (next - sum)).clamp(0.0, 1.0);
                return (before + part * (log_noises[index] - before)).exp();
            }
            sum = next;
        }
        to.exp()
    };
    (0..nodes).map(|node| quantile((node as f64 + 0.5) / nodes as f64)).collect()
}

/// How likely a single run is wild beforehand.
const PROBABILITY: f64 = 0.01;

/// How likely it must be for a run to be marked.
const ENOUGH: f64 = 0.9;

/// Components below this part of the heaviest say nothing of it.
const HEAVY: f64 = 1e-2;

/// The further variance of the logarithm of a wild run: a factor of e either way.
pub(super) const WILD_VARIANCE: f64 = 1.0;

/// Number of runs among which at most one is marked as wild.
pub(super) const FEWEST_FOR_ONE: usize = 5;

/// The place of the run that is wild, where one is likely enough to be.
pub(super) fn wildest(data: &Data, components: &[Component], temper: f64) -> Option<usize> {
    let may_be = |place: usize| {
        data.repetitions[place] < 2.0 && data.wildness[place] == 0.0 && is_surrounded(data, place)
    };
    let places: Vec<usize> = (0..data.timed()).filter(|&place| may_be(place)).collect();
    if places.is_empty() {
        return None;
    }
    let weights = components.iter().map(|component| component.log_weight);
    let largest = weights.fold(f64::NEG_INFINITY, f64::max);
    let is_heavy = |component: &&Component| component.log_weight > largest + HEAVY.ln();
    let components: Vec<&Component> = components.iter().filter(is_heavy).collect();
    // Logarithms of the evidence of each component, and with each run wild.
    let usual: Vec<f64> =
        components.iter().map(|component| component.log_weight / temper).collect();
    let mut with_wild = vec![Vec::with_capacity(components.len()); places.len()];
    for (component, usual) in components.iter().zip(&usual) {
        let by_the_others: Vec<(f64, f64)> = component.given.each_by_the_others().collect();
        for (with_wild, &place) in with_wild.iter_mut().zip(&places) {
            let (error, variance) = by_the_others[place];
            let wide = variance + WILD_VARIANCE;
            let gain =
                0.5 * error * error * (1.0 / variance - 1.0 / wide) - 0.5 * (wide / variance).ln();
            with_wild.push(usual + gain);
        }
    }
    let without = log_sum(&usual);
    let factors = with_wild.iter().map(|with_wild| log_sum(with_wild) - without);
    let (best, factor) = factors.enumerate().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let odds = (1.0 - PROBABILITY) / PROBABILITY * ENOUGH / (1.0 - ENOUGH);
    (factor >= odds.ln()).then_some(places[best])
}

/// Whether others say what a run should take without going beyond what they are: in m, p and m p.
fn is_surrounded(data: &Data, place: usize) -> bool {
    let measures: [fn(Mapping) -> u64; 3] =
        [|it| u64::from(it.m()), |it| u64::from(it.p()), Mapping::apus];
    measures.into_iter().all(|of| {
        let own = of(data.mappings[place]);
        let others = || {
            let others = data.mappings.iter().enumerate().filter(|(other, _)| *other != place);
            others.map(|(_, &mapping)| of(mapping))
        };
        others().any(|other| other <= own) && others().any(|other| other >= own)
    })
}

/// Runs that enter the covariance together; of more configurations the rest enter where they are asked
/// for.
const MOST_TOGETHER: usize = 100;

/// The configurations that enter the covariance together, and the rest: the fastest, which decide,
/// and of the others those that lie farthest from all that are taken.
pub(super) fn together(observations: &Observations) -> (Observations, Vec<Observation>) {
    let all = &observations.configurations;
    if all.len() <= MOST_TOGETHER {
        return (observations.clone(), Vec::new());
    }
    let mut by_time: Vec<usize> = (0..all.len()).collect();
    by_time.sort_by(|&one, &other| all[one].time.0.total_cmp(&all[other].time.0));
    let mut taken = vec![false; all.len()];
    let mut nearest = vec![0.0_f64; all.len()];
    let mut take = |index: usize, taken: &mut Vec<bool>| {
        taken[index] = true;
        for (nearest, other) in nearest.iter_mut().zip(all) {
            *nearest = nearest.max(kernel(all[index].mapping, other.mapping, LENGTH));
        }
        let left = (0..taken.len()).filter(|&other| !taken[other]);
        left.min_by(|&one, &other| nearest[one].total_cmp(&nearest[other]))
    };
    let mut farthest = None;
    for &index in &by_time[..MOST_TOGETHER / 2] {
        farthest = take(index, &mut taken);
    }
    for _ in MOST_TOGETHER / 2..MOST_TOGETHER {
        let Some(index) = farthest else { break };
        farthest = take(index, &mut taken);
    }
    let pick = |wanted: bool| {
        all.iter().zip(&taken).filter(move |(_, taken)| **taken == wanted).map(|(it, _)| *it)
    };
    let mut part = observations.clone();
    part.configurations = pick(true).collect();
    (part, pick(false).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(noise: f64, degrees: f64) -> Vec<f64> {
        nodes(&Observations::new("runs.csv", Vec::new(), degrees * noise * noise, degrees))
    }

    #[test]
    fn nothing_repeated_leaves_five_nodes_about_what_programs_have() {
        let found = of(0.0, 0.0);
        assert_eq!(found.len(), 5);
        assert!(found.is_sorted() && found[0] < 0.01 && found[4] > 0.1, "{found:?}");
    }

    #[test]
    fn repetitions_say_how_large_it_is_and_how_well_that_is_known() {
        // The standard deviation of the logarithm is 1/sqrt(2 degrees): 0.25 at 8, 0.08 at 80.
        for (degrees, count) in [(2.0, 5), (12.0, 3), (200.0, 1)] {
            let found = of(0.033, degrees);
            assert_eq!(found.len(), count, "{degrees}");
            let middle = found[count / 2];
            assert!((0.025..0.042).contains(&middle), "{degrees}: {middle}");
        }
        approx::assert_relative_eq!(of(0.033, 2000.0)[0], 0.033, max_relative = 0.01);
    }

    #[test]
    fn equal_times_make_no_certainty() {
        assert!(of(0.0, 3.0)[0] > 1e-3 && of(0.0, 3.0)[4] < 0.02);
    }
}
