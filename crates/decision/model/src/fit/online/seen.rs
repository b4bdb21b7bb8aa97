//! The runs of each configuration, in a form that does not depend on their order.

use crate::statistics::weighted_median;

/// The runs of one configuration, by the logarithm of their time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Configuration {
    pub m: u32,
    pub p: u32,
    /// In increasing order.
    bins: Vec<Bin>,
    /// Runs in all bins.
    pub count: f64,
}

/// Runs whose times differ by a small part of their noise.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bin {
    index: i64,
    count: f64,
    /// Of the times \[s\].
    sum: f64,
}

/// What counts of the runs of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    /// How many runs they are worth.
    pub weight: f64,
    /// Their weighted mean \[s\].
    pub mean_s: f64,
}

/// All configurations that were run, in increasing order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub configurations: Vec<Configuration>,
    /// Of a bin, in the logarithm of the time.
    width: f64,
}

/// Bins in a standard deviation of the noise.
const BINS: f64 = 4.0;

/// Up to so many standard deviations from the centre a run counts whole, and beyond twice as many
/// not at all.
const USUAL: f64 = 3.0;

/// The standard deviation of a normal distribution whose median absolute deviation is 1.
pub(super) const OF_MEDIAN: f64 = 1.4826;

impl Seen {
    pub fn new(noise: f64) -> Self {
        Self { configurations: Vec::new(), width: noise / BINS }
    }

    /// Takes in a run; allocates where its configuration or a time like its own is new.
    pub fn add(&mut self, m: u32, p: u32, time_s: f64) {
        let place = self.configurations.binary_search_by_key(&(m, p), |each| (each.m, each.p));
        let place = place.unwrap_or_else(|place| {
            let bins = Vec::with_capacity(32);
            self.configurations.insert(place, Configuration { m, p, bins, count: 0.0 });
            place
        });
        let configuration = &mut self.configurations[place];
        // A width of next to nothing makes every time its own bin, by the bits of the quotient.
        let index = (time_s.ln() / self.width).floor() as i64;
        match configuration.bins.binary_search_by_key(&index, |bin| bin.index) {
            Ok(bin) => {
                configuration.bins[bin].count += 1.0;
                configuration.bins[bin].sum += time_s;
            }
            Err(bin) => {
                configuration.bins.insert(bin, Bin { index, count: 1.0, sum: time_s });
            }
        }
        configuration.count += 1.0;
    }
}

impl Bin {
    fn log_time(&self) -> f64 {
        (self.sum / self.count).ln()
    }
}

impl Configuration {
    /// The logarithm of the median time: of an even number of runs, the mean of the middle two.
    pub fn centre(&self) -> f64 {
        let at = |rank: f64| {
            let mut before = 0.0;
            let is_there = |bin: &&Bin| {
                before += bin.count;
                before > rank
            };
            self.bins.iter().find(is_there).map_or(0.0, Bin::log_time)
        };
        let last = self.count - 1.0;
        0.5 * (at((last / 2.0).floor()) + at((last / 2.0).ceil()))
    }

    /// The median distance of the logarithms from `centre`.
    pub fn spread(&self, centre: f64) -> f64 {
        weighted_median(
            self.bins.iter().map(|bin| ((bin.log_time() - centre).abs(), bin.count)).collect(),
        )
    }

    /// The runs, each by its distance from `centre` in units of `deviation`: the farther from what is
    /// usual, the less.
    pub fn summary(&self, centre: f64, deviation: f64) -> Summary {
        let (mut weight, mut sum) = (0.0, 0.0);
        for bin in &self.bins {
            let beyond = ((bin.log_time() - centre).abs() / deviation / USUAL - 1.0).max(0.0);
            let each = (1.0 - beyond.powi(2)).max(0.0).powi(2);
            weight += each * bin.count;
            sum += each * bin.sum;
        }
        Summary { weight, mean_s: if weight > 0.0 { sum / weight } else { 0.0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of one configuration.
    fn configuration(times: &[f64]) -> Configuration {
        let mut seen = Seen::new(0.02);
        for &time in times {
            seen.add(2, 3, time);
        }
        seen.configurations.remove(0)
    }

    #[track_caller]
    fn check_centre(times: &[f64], expected: f64) {
        approx::assert_relative_eq!(
            configuration(times).centre(),
            expected.ln(),
            max_relative = 1e-12
        );
    }

    #[test]
    fn the_centre_is_the_median_and_of_an_even_number_the_mean_of_the_middle_two_logarithms() {
        check_centre(&[8.0], 8.0);
        check_centre(&[2.0, 16.0, 4.0], 4.0);
        check_centre(&[2.0, 16.0, 4.0, 64.0], 8.0);
        check_centre(&[2.0, 2.0, 2.0, 16.0], 2.0);
        check_centre(&[64.0, 2.0, 16.0, 4.0, 2.0], 4.0);
    }

    #[test]
    fn the_spread_is_the_median_distance_of_all_runs() {
        let spread = |times: &[f64]| configuration(times).spread(1.0);
        let [near, far, farther] = [1.1_f64, 1.3, 0.2].map(f64::exp);
        approx::assert_relative_eq!(spread(&[farther, near, far]), 0.3, max_relative = 1e-9);
        approx::assert_relative_eq!(spread(&[farther, near, near, far]), 0.1, max_relative = 1e-9);
    }

    #[test]
    fn usual_runs_count_whole_and_those_twice_as_far_not_at_all() {
        let times = [2.0, 2.0, 2.0, 2.0 * 0.45_f64.exp(), 200.0];
        let found = configuration(&times).summary(2.0_f64.ln(), 0.1);
        // 0.45 is one and a half times what is usual: (1 - 0.5^2)^2.
        let weight = 0.5625;
        approx::assert_relative_eq!(found.weight, 3.0 + weight, max_relative = 1e-9);
        let sum = 6.0 + weight * times[3];
        approx::assert_relative_eq!(found.mean_s, sum / (3.0 + weight), max_relative = 1e-9);
        let none = configuration(&times).summary(1e3, 0.1);
        assert_eq!(none, Summary { weight: 0.0, mean_s: 0.0 });
    }
}
