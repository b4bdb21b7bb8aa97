//! The runs of each configuration, in a form that does not depend on their order.

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
        median(self.bins.iter().map(|bin| ((bin.log_time() - centre).abs(), bin.count)).collect())
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

/// The weighted median: the least value that half of the weight does not exceed.
pub(super) fn median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut before = 0.0;
    let is_there = |(_, weight): &&(f64, f64)| {
        before += weight;
        before >= half
    };
    values.iter().find(is_there).map_or(0.0, |(value, _)| *value)
}
