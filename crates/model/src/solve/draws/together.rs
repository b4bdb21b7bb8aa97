//! Normal deviates that go together as a correlation matrix says, and stay above their least.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::time_model::Value;
use crate::solve::Sampling;
use crate::solve::uncertainty::Uncertainty;

/// How often values are drawn again that would be below the least that they can be, before they are
/// set to that.
const MOST_TRIALS: usize = 100;

/// Draws that go through a correlation matrix at a time.
const LANES: usize = 8;

/// The draws of every source, in their order.
pub fn columns(uncertainty: &Uncertainty<'_>, sampling: Sampling) -> Vec<Vec<f64>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(sampling.seed);
    let mut columns = vec![Vec::new(); uncertainty.sources.len()];
    for block in blocks(uncertainty) {
        let members: Vec<Normal> = block
            .iter()
            .map(|&index| {
                let &Value { value, least, .. } = &uncertainty.sources[index];
                Normal { mean: value, least, spread: uncertainty.spreads[index] }
            })
            .collect();
        let factor =
            factor(block.len(), |row, column| uncertainty.correlation(block[row], block[column]));
        let drawn = draw_together(&members, &factor, sampling.draws as usize, &mut random);
        for (index, column) in block.into_iter().zip(drawn) {
            columns[index] = column;
        }
    }
    columns
}

/// A source to draw: around a mean and not below the least that it can be.
struct Normal {
    mean: f64,
    least: f64,
    spread: f64,
}

impl Normal {
    /// One draw. The mean is not below the least, so at least every second trial ends the loop;
    /// where a model says otherwise, the bound does.
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        for _ in 0..MOST_TRIALS {
            let deviate: f64 = StandardNormal.sample(random);
            let value = self.mean + self.spread * deviate;
            if value >= self.least {
                return value;
            }
        }
        self.least
    }
}

/// Draws of sources that go together, a column for each; `factor` is the lower triangle of their
/// correlation, row by row.
fn draw_together(
    members: &[Normal],
    factor: &[f64],
    count: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Vec<f64>> {
    if let [alone] = members {
        return vec![(0..count).map(|_| alone.draw(random)).collect()];
    }
    let size = members.len();
    let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(count); size];
    let mut deviates = vec![[0.0; LANES]; size];
    let mut values = vec![[0.0; LANES]; size];
    let mut in_vain = 0;
    while columns[0].len() < count {
        for lanes in &mut deviates {
            lanes.fill_with(|| StandardNormal.sample(random));
        }
        for (row, (member, lanes)) in members.iter().zip(&mut values).enumerate() {
            let mut sums = [0.0; LANES];
            for (weight, deviates) in factor[row * size..=row * size + row].iter().zip(&deviates) {
                for lane in 0..LANES {
                    sums[lane] += weight * deviates[lane];
                }
            }
            *lanes = sums.map(|sum| member.mean + member.spread * sum);
        }
        for lane in 0..LANES.min(count - columns[0].len()) {
            let is_too_small =
                |(member, lanes): (&Normal, &[f64; LANES])| lanes[lane] < member.least;
            let is_feasible = !members.iter().zip(&values).any(is_too_small);
            in_vain = if is_feasible { 0 } else { in_vain + 1 };
            if is_feasible || in_vain >= MOST_TRIALS {
                for ((member, lanes), column) in members.iter().zip(&values).zip(&mut columns) {
                    column.push(lanes[lane].max(member.least));
                }
                in_vain = 0;
            }
        }
    }
    columns
}

/// The sources, those together that are correlated, directly or through others.
fn blocks(uncertainty: &Uncertainty<'_>) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..uncertainty.sources.len()).collect();
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    while !left.is_empty() {
        let mut block = vec![left.remove(0)];
        let mut looked_at = 0;
        while let Some(&member) = block.get(looked_at) {
            looked_at += 1;
            let is_apart = |other: &usize| uncertainty.correlation(member, *other) == 0.0;
            let (apart, together): (Vec<usize>, Vec<usize>) =
                left.iter().partition(|x| is_apart(x));
            left = apart;
            block.extend(together);
        }
        block.sort_unstable();
        blocks.push(block);
    }
    blocks
}

/// What is left of a variance of 1 counts as nothing below this: a matrix from a text, or of terms
/// of which only the sum is known, is singular but for rounding.
const SINGULAR: f64 = 1e-9;

/// The lower triangular L with `L L^T` equal to a correlation matrix that may be singular, row by
/// row (Cholesky). Every row has length 1, so that a matrix that is none keeps its variances.
pub(crate) fn factor(size: usize, correlation: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut factor = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..row {
            let product: f64 =
                (0..column).map(|k| factor[row * size + k] * factor[column * size + k]).sum();
            let pivot = factor[column * size + column];
            factor[row * size + column] =
                if pivot > 0.0 { (correlation(row, column) - product) / pivot } else { 0.0 };
        }
        let known: f64 = factor[row * size..row * size + row].iter().map(|x| x * x).sum();
        if known < 1.0 - SINGULAR {
            factor[row * size + row] = (1.0 - known).sqrt();
        } else {
            let length = known.sqrt();
            factor[row * size..row * size + row].iter_mut().for_each(|x| *x /= length);
        }
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_all_be_positive_end_at_zero() {
        let members = [0.0, 0.0].map(|mean| Normal { mean, least: 0.0, spread: 1.0 });
        let factor = factor(2, |row, column| if row == column { 1.0 } else { -1.0 });
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let columns = draw_together(&members, &factor, 50, random);
        for (one, other) in columns[0].iter().zip(&columns[1]) {
            assert!(*one >= 0.0 && *other >= 0.0 && one.min(*other) == 0.0);
        }
    }

    fn check_factor(size: usize, matrix: &[f64], expected: &[f64]) {
        let factor = factor(size, |row, column| matrix[row * size + column]);
        for row in 0..size {
            for column in 0..size {
                let product: f64 =
                    (0..size).map(|k| factor[row * size + k] * factor[column * size + k]).sum();
                approx::assert_relative_eq!(
                    product,
                    expected[row * size + column],
                    epsilon = 1e-12
                );
            }
        }
    }

    #[test]
    fn a_factor_multiplies_back_to_its_matrix() {
        let regular = [1.0, 0.5, -0.25, 0.5, 1.0, 0.25, -0.25, 0.25, 1.0];
        check_factor(3, &regular, &regular);
        // The third is the sum of the first two, over sqrt(2).
        let half = 0.5f64.sqrt();
        let singular = [1.0, 0.0, half, 0.0, 1.0, half, half, half, 1.0];
        check_factor(3, &singular, &singular);
        let same = [1.0; 9];
        check_factor(3, &same, &same);
    }
}
