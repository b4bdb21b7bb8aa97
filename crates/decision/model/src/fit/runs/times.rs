//! The times of one configuration, as logarithms: each by itself while they are few, then by bins.
//!
//! What is asked of them later, a median, how far each is from it, a mean of those that are near, needs
//! all times at once; a million repetitions would not fit. From some number on they are counted by bins
//! of a thousandth, with their sums, so that means lose nothing and medians a thousandth at most.

use std::collections::BTreeMap;

/// So many are kept by themselves.
const FEW: usize = 64;

/// The width of a bin of logarithms.
const WIDTH: f64 = 1e-3;

/// Bins beside those of the first times that are found by their place.
const BESIDE: i64 = 50;

/// Times, each as the logarithm of its ratio to a common one.
#[derive(Debug, Clone)]
pub(super) enum Times {
    /// In the order in which they came.
    Few(Vec<f64>),
    Many(Histogram),
}

/// The logarithm of 1 + x, to rounding; within a tenth of 0, where repetitions are, by its series over
/// x/(2 + x), which is a third of the library's time.
#[inline]
pub(super) fn ln_1p(x: f64) -> f64 {
    if x.abs() > 0.1 {
        return x.ln_1p();
    }
    let z = x / (2.0 + x);
    let square = z * z;
    let odd =
        [13.0, 11.0, 9.0, 7.0, 5.0, 3.0].iter().fold(1.0 / 15.0, |sum, n| 1.0 / n + square * sum);
    2.0 * z + 2.0 * z * square * odd
}

/// Times of the same bin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    pub count: u64,
    sum: f64,
    squares: f64,
}

/// Bins about the first times, and those farther off.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    first: i64,
    near: Vec<Bin>,
    far: BTreeMap<i64, Bin>,
}

impl Bin {
    fn of(log: f64) -> Self {
        Self { count: 1, sum: log, squares: log * log }
    }

    fn add(&mut self, log: f64) {
        self.count += 1;
        self.sum += log;
        self.squares += log * log;
    }

    /// The mean of its logarithms.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

impl Histogram {
    fn of(logs: &[f64]) -> Self {
        let places = logs.iter().map(|log| Self::place(*log));
        let (least, most) = (places.clone().min().unwrap_or(0), places.max().unwrap_or(0));
        // Where the first times are far apart, most of the bins between them would be empty.
        let most = most.min(least + 20 * BESIDE);
        let count = most - least + 2 * BESIDE + 1;
        let near = vec![Bin::default(); count as usize];
        let mut histogram = Self { first: least - BESIDE, near, far: BTreeMap::new() };
        logs.iter().for_each(|log| histogram.insert(*log));
        histogram
    }

    fn place(log: f64) -> i64 {
        // Rounded as integers are, which is a tenth of the time.
        (log * (1.0 / WIDTH) + 0.5_f64.copysign(log)) as i64
    }

    fn bin(&mut self, log: f64) -> &mut Bin {
        let place = Self::place(log);
        match usize::try_from(place - self.first) {
            Ok(index) if index < self.near.len() => &mut self.near[index],
            _ => self.far.entry(place).or_default(),
        }
    }

    fn insert(&mut self, log: f64) {
        self.bin(log).add(log);
    }

    fn remove(&mut self, log: f64) {
        let bin = self.bin(log);
        bin.count -= 1;
        bin.sum -= log;
        bin.squares -= log * log;
    }
}

impl Times {
    pub fn insert(&mut self, log: f64) {
        match self {
            Self::Few(logs) if logs.len() < FEW => logs.push(log),
            Self::Few(logs) => {
                let mut histogram = Histogram::of(logs);
                histogram.insert(log);
                *self = Self::Many(histogram);
            }
            Self::Many(histogram) => histogram.insert(log),
        }
    }

    /// Forgets one of them.
    pub fn remove(&mut self, log: f64) {
        match self {
            Self::Few(logs) => {
                if let Some(place) = logs.iter().position(|known| *known == log) {
                    logs.remove(place);
                }
            }
            Self::Many(histogram) => histogram.remove(log),
        }
    }

    /// All of them, increasing, those that are alike together.
    pub fn bins(&self) -> Vec<Bin> {
        match self {
            Self::Few(logs) => {
                let mut sorted = logs.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                sorted.into_iter().map(Bin::of).collect()
            }
            Self::Many(Histogram { first, near, far }) => {
                let of_near = (*first..).zip(near).map(|(place, bin)| (place, *bin));
                let of_far = far.iter().map(|(place, bin)| (*place, *bin));
                let mut all: Vec<(i64, Bin)> =
                    of_near.chain(of_far).filter(|(_, bin)| bin.count > 0).collect();
                all.sort_by_key(|(place, _)| *place);
                all.into_iter().map(|(_, bin)| bin).collect()
            }
        }
    }
}

/// What bins come to together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Moments {
    pub count: u64,
    pub mean: f64,
    /// Sum of squared deviations from the mean.
    pub squares: f64,
}

impl Moments {
    pub fn of<'a>(bins: impl Iterator<Item = &'a Bin>) -> Self {
        let mut all = Bin::default();
        for bin in bins {
            all.count += bin.count;
            all.sum += bin.sum;
            all.squares += bin.squares;
        }
        if all.count == 0 {
            return Self::default();
        }
        let mean = all.mean();
        Self { count: all.count, mean, squares: (all.squares - all.sum * mean).max(0.0) }
    }
}

/// The median of bins in increasing order, of at least one time.
pub(super) fn median(bins: &[Bin]) -> f64 {
    let count: u64 = bins.iter().map(|bin| bin.count).sum();
    let at = |place: u64| {
        let mut before = 0;
        let holds = |bin: &&Bin| {
            before += bin.count;
            before > place
        };
        bins.iter().find(holds).map_or(0.0, Bin::mean)
    };
    if count % 2 == 1 { at(count / 2) } else { f64::midpoint(at(count / 2 - 1), at(count / 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(logs: impl IntoIterator<Item = f64>) -> Times {
        let mut times = Times::Few(Vec::new());
        logs.into_iter().for_each(|log| times.insert(log));
        times
    }

    #[test]
    fn many_times_have_the_moments_and_nearly_the_median_of_all() {
        // Within 2 %, one a factor of e off, some far above all that came first.
        let log = |place: u32| match place % 50 {
            0 if place > 200 => 3.0 + f64::from(place) * 1e-5,
            _ => 0.02 * (f64::from(place) * 0.7).sin(),
        };
        let all: Vec<f64> = (0..1001).map(log).chain([1.0]).collect();
        let bins = times(all.iter().copied()).bins();
        assert!(bins.len() < 100, "{}", bins.len());
        let found = Moments::of(bins.iter());
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let squares: f64 = all.iter().map(|log| (log - mean).powi(2)).sum();
        assert_eq!(found.count, 1002);
        approx::assert_relative_eq!(found.mean, mean, max_relative = 1e-12);
        approx::assert_relative_eq!(found.squares, squares, max_relative = 1e-9);
        let mut sorted = all;
        sorted.sort_unstable_by(f64::total_cmp);
        let expected = f64::midpoint(sorted[500], sorted[501]);
        approx::assert_abs_diff_eq!(median(&bins), expected, epsilon = 1e-3);
    }

    #[test]
    fn what_is_forgotten_counts_for_nothing() {
        for count in [3, 200] {
            let mut few = times((0..count).map(f64::from));
            few.remove(0.0);
            let rest = Moments::of(few.bins().iter());
            let expected = Moments::of(times((1..count).map(f64::from)).bins().iter());
            assert_eq!(rest.count, expected.count);
            approx::assert_relative_eq!(rest.mean, expected.mean, max_relative = 1e-12);
        }
    }

    #[test]
    fn a_median_is_the_middle_one_or_between_both() {
        assert_eq!(median(&times([3.0, 1.0, 2.0]).bins()), 2.0);
        assert_eq!(median(&times([4.0, 1.0, 2.0, 9.0]).bins()), 3.0);
    }

    #[test]
    fn the_logarithm_near_1_is_the_library_s() {
        for place in -200..=200 {
            let x = f64::from(place) * 0.000_7;
            approx::assert_relative_eq!(ln_1p(x), x.ln_1p(), max_relative = 4e-16);
        }
    }
}
