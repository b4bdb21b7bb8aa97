//! Repetitions that say nothing of their configuration: a time of three times the others'.
//!
//! How far repetitions usually lie from the median of their configuration is known from all of them
//! together. Of three or more, those much farther are left out; of two that disagree nobody knows which
//! is wrong, but interference only lengthens: the shorter counts, and for little.

use super::times::{Bin, median};

/// To be told from usual scatter, a time must be so many standard deviations off.
const FAR: f64 = 5.0;

/// And at least by this, in the logarithm.
const LEAST: f64 = 0.05;

/// Two that disagree are farther apart by this factor.
const APART: f64 = 1.5;

/// Fewer deviations than these tell nothing.
const ENOUGH: u64 = 4;

/// The standard deviation of a normal quantity over its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// What is usual for repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usual {
    /// Standard deviation of the logarithm of a time.
    pub deviation: f64,
}

/// What is left of the times of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Left {
    /// The bins that count.
    pub bins: Vec<usize>,
    /// How many times were left out.
    pub wild: u64,
    /// The variance that the logarithm of what is left has beside the noise.
    pub doubt: f64,
}

impl Usual {
    /// Of the repetitions of all configurations, each the bins of its times; `None` of too few.
    pub fn of<'a>(all: impl Iterator<Item = &'a [Bin]>) -> Option<Self> {
        let mut deviations: Vec<(f64, u64)> = Vec::new();
        for bins in all {
            let count: u64 = bins.iter().map(|bin| bin.count).sum();
            if count < 2 {
                continue;
            }
            let (middle, scale) = (median(bins), (count as f64 / (count as f64 - 1.0)).sqrt());
            let of = |bin: &Bin| ((bin.mean() - middle).abs() * scale, bin.count);
            let mut own: Vec<(f64, u64)> = bins.iter().map(of).collect();
            own.sort_by(|one, other| one.0.total_cmp(&other.0));
            if count % 2 == 1 {
                // The median itself.
                own[0].1 -= 1;
            }
            deviations.extend(own);
        }
        let count: u64 = deviations.iter().map(|(_, count)| count).sum();
        if count < ENOUGH {
            return None;
        }
        deviations.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut before = 0;
        let middle = deviations.iter().find(|(_, own)| {
            before += own;
            2 * before >= count
        });
        Some(Self { deviation: NORMAL * middle?.0 })
    }

    /// What is left of a configuration with these times.
    pub fn left(&self, bins: &[Bin]) -> Left {
        let far = LEAST.max(FAR * self.deviation);
        let count: u64 = bins.iter().map(|bin| bin.count).sum();
        let all = || Left { bins: (0..bins.len()).collect(), wild: 0, doubt: 0.0 };
        if count == 2 && bins.len() == 2 {
            let apart = bins[1].mean() - bins[0].mean();
            let doubt = 0.25 * apart * apart;
            return match apart > APART * far {
                true => Left { bins: vec![0], wild: 1, doubt },
                false => all(),
            };
        }
        if count < 3 {
            return all();
        }
        let middle = median(bins);
        let near: Vec<usize> =
            (0..bins.len()).filter(|&place| (bins[place].mean() - middle).abs() <= far).collect();
        let kept: u64 = near.iter().map(|&place| bins[place].count).sum();
        // The median of an even number may be near none of them.
        if kept == 0 { all() } else { Left { bins: near, wild: count - kept, doubt: 0.0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::super::times::Times;
    use super::*;

    fn bins(logs: &[f64]) -> Vec<Bin> {
        let mut times = Times::Few(Vec::new());
        logs.iter().for_each(|log| times.insert(*log));
        times.bins()
    }

    #[test]
    fn what_is_usual_is_known_from_all_configurations() {
        let three = bins(&[0.0, 0.01, -0.02]);
        assert_eq!(Usual::of([&three[..]].into_iter()), None);
        // Deviations of 0.01 and 0.02 times sqrt(3/2), and of 0.03 twice times sqrt(2).
        let two = bins(&[0.0, 0.06]);
        let found = Usual::of([&three[..], &two[..]].into_iter()).unwrap().deviation;
        approx::assert_relative_eq!(found, 1.4826 * 0.02 * 1.5_f64.sqrt(), max_relative = 1e-9);
    }

    #[test]
    fn of_three_the_far_one_is_left_out_and_of_two_the_shorter_counts_for_little() {
        let usual = Usual { deviation: 0.02 };
        let left = |logs: &[f64]| {
            let Left { bins, wild, doubt } = usual.left(&bins(logs));
            (bins, wild, (1e9 * doubt).round() / 1e9)
        };
        assert_eq!(left(&[0.0, 0.09, -0.09]), (vec![0, 1, 2], 0, 0.0));
        assert_eq!(left(&[0.0, 0.01, 1.0]), (vec![0, 1], 1, 0.0));
        assert_eq!(left(&[0.0, 0.14]), (vec![0, 1], 0, 0.0));
        assert_eq!(left(&[0.4, 0.0]), (vec![0], 1, 0.04));
        assert_eq!(left(&[0.3]), (vec![0], 0, 0.0));
        // Two and two: nobody is near the middle.
        assert_eq!(left(&[0.0, 0.0, 1.0, 1.0]).1, 0);
        // Where times hardly scatter, what is within 5 % is no wild run.
        let exact = Usual { deviation: 0.0 };
        assert_eq!(exact.left(&bins(&[0.0, 0.0, 0.04])).wild, 0);
    }
}
