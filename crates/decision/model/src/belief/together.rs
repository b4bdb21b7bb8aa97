//! The runs that enter the covariance together, where they are many.

use super::scatter::LENGTH;
use crate::models::observations::{Observations, Observed};
use crate::statistics::kernel;

/// Runs that enter the covariance together; of more configurations the rest enter where they are asked
/// for.
const MOST_TOGETHER: usize = 100;

/// The configurations that enter the covariance together, and the rest: the fastest, which decide,
/// and of the others those that lie farthest from all that are taken.
pub(super) fn together(observations: &Observations) -> (Observations, Vec<Observed>) {
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
