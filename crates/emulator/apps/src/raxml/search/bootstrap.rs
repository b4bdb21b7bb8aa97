//! Weights of a bootstrap (Felsenstein 1985).

use super::host::{Step, Tally};
use crate::phylogeny::Stream;

/// As many columns as there are, drawn with replacement: for each pattern how often one of its
/// columns was drawn.
pub fn resample(weights: &[u32], stream: &mut Stream, host: &mut Tally) -> Vec<u32> {
    let mut before = Vec::with_capacity(weights.len());
    let mut columns = 0;
    for &weight in weights {
        before.push(columns);
        columns += weight as usize;
    }
    let mut drawn = vec![0; weights.len()];
    for _ in 0..columns {
        let column = stream.index(columns);
        // The last pattern that does not begin behind the column.
        drawn[before.partition_point(|&first| first <= column) - 1] += 1;
    }
    // The pattern of each column is looked up by bisection.
    let halves = u64::from(usize::BITS - weights.len().leading_zeros());
    host.count(Step::Draw, columns as u64);
    host.count(Step::Look, columns as u64 * halves);
    host.count(Step::Pattern, 2 * weights.len() as u64);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_drawn_once_in_the_mean() {
        let weights = [1, 4, 0, 15];
        let mut stream = Stream::new(1, 0);
        let (mut sums, mut without_first) = ([0_u32; 4], 0_u32);
        let replicates = 20_000;
        for _ in 0..replicates {
            let drawn = resample(&weights, &mut stream, &mut Tally::default());
            assert_eq!(drawn.iter().sum::<u32>(), 20);
            sums.iter_mut().zip(&drawn).for_each(|(sum, drawn)| *sum += drawn);
            without_first += u32::from(drawn[0] == 0);
        }
        let replicates = f64::from(replicates);
        for (&weight, &sum) in weights.iter().zip(&sums) {
            // Binomial: 20 draws, each with the odds weight / 20.
            let odds = f64::from(weight) / 20.0;
            let error = (20.0 * odds * (1.0 - odds) / replicates).sqrt();
            let mean = f64::from(sum) / replicates;
            assert!((mean - f64::from(weight)).abs() <= 4.0 * error, "{weight}: {mean}");
        }
        let odds = 0.95_f64.powi(20);
        let error = (odds * (1.0 - odds) / replicates).sqrt();
        assert!((f64::from(without_first) / replicates - odds).abs() < 4.0 * error);
    }
}
