//! A rate for each pattern (CAT, Stamatakis 2006b): likelihoods over a grid of rates, then at most
//! 25 categories.

use crate::phylogeny::substitution::{Model, SiteRates};
use crate::raxml::engine::{Engine, Z_MAX, Z_MIN};
use crate::raxml::search::climber::{Climber, is_better};
use crate::raxml::search::host::Step;

/// Categories at most.
const CATEGORIES: usize = 25;
/// The grid reaches from 2^-8 to 2^5 = 32.
const OCTAVES: [i32; 2] = [-8, 5];

impl<E: Engine> Climber<'_, E> {
    /// Gives each pattern the rate of a grid under which it is likeliest on the tree. Rates that
    /// fewest columns have are dropped, until 25 are left, and their patterns take the likeliest of
    /// those. Rates are then divided by their mean over columns and branches multiplied by it,
    /// which changes no likelihood.
    ///
    /// If that makes the tree less likely than the rates of before, these stay. Gives ln
    /// likelihood.
    pub async fn fit_categories(&mut self, rates_per_octave: u32) -> f64 {
        let log_likelihood = self.log_likelihood().await;
        let (old_model, old_tree) = (self.model.clone(), self.tree.clone());
        let grid = grid(rates_per_octave);
        let mut table = Vec::new();
        for &rate in &grid {
            let of_pattern = vec![0; self.weights.len()];
            let rates = SiteRates::Categories { rates: vec![rate], of_pattern };
            self.set_model(Model { rates, ..old_model.clone() }).await;
            table.push(self.log_likelihoods().await);
            self.host.count(Step::Pattern, self.weights.len() as u64);
        }
        let (rates, mean) = assign(&grid, &table, &self.weights);
        self.host.count(Step::Pattern, (CATEGORIES * self.weights.len()) as u64);
        self.set_model(Model { rates, ..old_model.clone() }).await;
        self.stretch(mean);
        let fitted = self.log_likelihood().await;
        if is_better(fitted, log_likelihood) {
            return fitted;
        }
        self.set_model(old_model).await;
        self.set_tree(&old_tree);
        log_likelihood
    }

    /// Multiplies all branch lengths.
    fn stretch(&mut self, factor: f64) {
        for (one, other) in self.tree.branches() {
            self.host.count(Step::Transcendental, 2);
            self.host.count(Step::SetBranch, 1);
            // t factor, with z = exp(-t)
            let z = self.tree.z(one, other).powf(factor).clamp(Z_MIN, Z_MAX);
            self.tree.set_z(one, other, z);
        }
    }
}

fn grid(rates_per_octave: u32) -> Vec<f64> {
    let [first, last] = OCTAVES.map(|octave| octave * rates_per_octave as i32);
    (first..=last).map(|k| (f64::from(k) / f64::from(rates_per_octave)).exp2()).collect()
}

/// Categories from the log likelihoods `table[rate][pattern]`, and the mean rate that theirs were
/// divided by.
fn assign(grid: &[f64], table: &[Vec<f64>], weights: &[u32]) -> (SiteRates, f64) {
    let all: Vec<usize> = (0..grid.len()).collect();
    let mut chosen = columns_by_rate(&all, table, weights);
    // The most columns first, ties by rate.
    chosen.sort_by_key(|&(rate, columns)| (std::cmp::Reverse(columns), rate));
    let mut kept: Vec<usize> =
        chosen.into_iter().filter(|&(_, columns)| columns > 0).map(|(rate, _)| rate).collect();
    kept.truncate(CATEGORIES);
    kept.sort_unstable();
    let of_pattern: Vec<u32> =
        (0..weights.len()).map(|pattern| likeliest(&kept, table, pattern) as u32).collect();
    let columns: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let of_columns = weights.iter().zip(&of_pattern);
    let sum: f64 =
        of_columns.map(|(&weight, &rate)| f64::from(weight) * grid[kept[rate as usize]]).sum();
    let mean = sum / columns;
    let rates = kept.iter().map(|&rate| grid[rate] / mean).collect();
    (SiteRates::Categories { rates, of_pattern }, mean)
}

/// For each of `rates` the columns that are likeliest under it.
fn columns_by_rate(rates: &[usize], table: &[Vec<f64>], weights: &[u32]) -> Vec<(usize, u64)> {
    let mut columns: Vec<(usize, u64)> = rates.iter().map(|&rate| (rate, 0)).collect();
    for (pattern, &weight) in weights.iter().enumerate() {
        columns[likeliest(rates, table, pattern)].1 += u64::from(weight);
    }
    columns
}

/// The place in `rates` of the first under which the pattern is likeliest. What patterns without
/// weight show is not specified; they get the first.
fn likeliest(rates: &[usize], table: &[Vec<f64>], pattern: usize) -> usize {
    let mut best = 0;
    for (place, &rate) in rates.iter().enumerate() {
        if is_better(table[rate][pattern], table[rates[best]][pattern]) {
            best = place;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_their_likeliest_rate_and_the_mean_is_one() {
        let grid = [0.5, 1.0, 2.0];
        // Rows by rate; the third pattern is the same under all, the fourth has no weight.
        let table = [
            vec![-1.0, -9.0, -2.0, f64::NAN],
            vec![-2.0, -8.0, -2.0, 0.0],
            vec![-3.0, -7.0, -2.0, 0.0],
        ];
        let (rates, mean) = assign(&grid, &table, &[3, 1, 1, 0]);
        assert_eq!(mean, (3.0 * 0.5 + 2.0 + 0.5) / 5.0);
        let expected = SiteRates::Categories {
            rates: vec![0.5 / mean, 2.0 / mean],
            of_pattern: vec![0, 1, 0, 0],
        };
        assert_eq!(rates, expected);
    }

    #[test]
    fn the_rates_of_fewest_columns_are_dropped() {
        let grid: Vec<f64> = (0..30).map(f64::from).map(f64::exp2).collect();
        // Pattern i is likeliest under rate i, and the nearer the likelier; 5 patterns are rare.
        let weights: Vec<u32> =
            (0..30).map(|pattern| if pattern % 6 == 3 { 1 } else { 5 }).collect();
        let row = |rate: usize| (0..30).map(|p| -(rate as f64 - 0.1 - p as f64).abs()).collect();
        let table: Vec<Vec<f64>> = (0..30).map(row).collect();
        let (rates, _) = assign(&grid, &table, &weights);
        let SiteRates::Categories { rates, of_pattern } = rates else { panic!() };
        assert_eq!(rates.len(), 25);
        assert_eq!(of_pattern[3], of_pattern[4], "the rate above is nearer");
        assert_ne!(of_pattern[2], of_pattern[3]);
    }
}
