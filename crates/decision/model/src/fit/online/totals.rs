//! The totals that equation 11 is linear in, with their coefficients, and the runs of each configuration in
//! a form that does not depend on their order.

use crate::models::Parameters;
use crate::models::run::Row;
use crate::models::sensitivity::Entry;
use crate::models::terms::Term;
use crate::statistics::{quantile_97_5, weighted_median};
use mmgp_base::Mapping;

/// T_HPU.
const HPU: usize = 0;
/// T_APU.
const APU: usize = 1;
/// C_APU.
const SERIAL: usize = 2;
/// N*O_offload.
const OFFLOAD: usize = 3;
/// N*T_CSW.
const CONTEXT_SWITCH: usize = 4;
/// N*g.
const GAP: usize = 5;
/// Number of single entries; those of table entries that are uncertain follow.
const SINGLE: usize = 6;

/// Most coefficients that are not 0: six, and two neighbours of m in each of two tables.
const MOST: usize = 10;

/// What the totals weigh at one (m, p).
#[derive(Debug, Clone, Copy)]
pub struct Coefficients {
    known: [(usize, f64); MOST],
    count: usize,
}

impl Coefficients {
    /// Index and weight of each total that counts.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.known.into_iter().take(self.count)
    }

    /// `h'P h`, P being given by its entries.
    pub fn variance(&self, covariance: impl Fn(usize, usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (row, weight) in self.iter() {
            for (column, other) in self.iter() {
                sum += weight * other * covariance(row, column);
            }
        }
        sum.max(0.0)
    }
}

/// What one m makes of the totals.
#[derive(Debug, Clone, Copy)]
pub struct CoefficientRow {
    /// Coefficients of T_HPU; of uncertain alphas and costs of collectives, with their index.
    hpu: f64,
    entries: [(usize, f64); 4],
    entry_count: usize,
    /// Coefficient of T_APU at p = 1.
    shared: f64,
    /// Coefficient of all others: R/B of a task decomposition, else 1.
    fraction: f64,
    /// What no total carries: collectives of which all is known \[s\].
    fixed: f64,
}

impl CoefficientRow {
    /// What no total carries \[s\].
    pub fn fixed(&self) -> f64 {
        self.fixed
    }

    /// What the totals weigh at p, at least 1.
    pub fn coefficients(&self, p: u32) -> Coefficients {
        let apus = f64::from(p);
        let r = self.fraction;
        let single = [
            (HPU, self.hpu),
            (APU, self.shared / apus),
            (SERIAL, r),
            (OFFLOAD, r),
            (CONTEXT_SWITCH, r),
            (GAP, r * apus),
        ];
        let mut known = [(0, 0.0); MOST];
        known[..SINGLE].copy_from_slice(&single);
        known[SINGLE..].copy_from_slice(&self.entries);
        Coefficients { known, count: SINGLE + self.entry_count }
    }

    /// Equation 11 at this m with these totals; what would be below 0 is 0.
    pub fn row(&self, values: &[f64]) -> Row {
        let entries = self.entries[..self.entry_count].iter();
        let of_entries: f64 = entries.map(|&(index, weight)| weight * values[index]).sum();
        let serial = values[SERIAL] + values[OFFLOAD] + values[CONTEXT_SWITCH];
        let constant = self.hpu * values[HPU] + of_entries + self.fraction * serial + self.fixed;
        Row {
            constant: constant.max(0.0),
            shared: (self.shared * values[APU]).max(0.0),
            growing: (self.fraction * values[GAP]).max(0.0),
        }
    }
}

/// Total of equation 11: its value, and its derivatives by the entries that it is a product of.
struct Total {
    value: f64,
    by: [(Entry, f64); 2],
}

/// Totals of a parameter set.
pub(super) struct Totals<'a> {
    parameters: &'a Parameters,
    /// Relative error of values without a standard error of their own.
    unknown_error: f64,
    totals: Vec<Total>,
    /// The index of the total of each uncertain entry of a table.
    of_entry: Vec<(Entry, usize)>,
}

impl<'a> Totals<'a> {
    pub fn new(parameters: &'a Parameters, unknown_error: f64) -> Self {
        let mut all = Self { parameters, unknown_error, totals: Vec::new(), of_entry: Vec::new() };
        let product = |one: Entry, other: Entry| {
            let (first, second) = (all.value(one), all.value(other));
            Total { value: first * second, by: [(one, second), (other, first)] }
        };
        let alone = |entry| Total { value: all.value(entry), by: [(entry, 1.0), (entry, 0.0)] };
        let mut totals = vec![
            alone(Term::HpuTime.entry(0)),
            alone(Term::ApuTime.entry(0)),
            alone(Term::ApuSerialTime.entry(0)),
            product(Term::OffloadOverhead.entry(0), Term::Offloads.entry(0)),
            product(Term::ContextSwitch.entry(0), Term::Offloads.entry(0)),
            product(Term::Gap.entry(0), Term::Offloads.entry(0)),
        ];
        let mut of_entry = Vec::new();
        for entry in parameters.terms.entries() {
            let factor = match entry.term {
                Term::Alpha => Term::HpuTime.entry(0),
                Term::CollectiveCost => all.collectives(),
                _ => continue,
            };
            // The error of T_HPU moves an alpha that is certain along; a count has no total.
            let counts_too = entry.term == Term::CollectiveCost && all.error(factor) > 0.0;
            if all.error(entry) > 0.0 || counts_too {
                of_entry.push((entry, totals.len()));
                totals.push(product(entry, factor));
            }
        }
        all.totals = totals;
        all.of_entry = of_entry;
        all
    }

    pub fn count(&self) -> usize {
        self.totals.len()
    }

    pub fn values(&self) -> Vec<f64> {
        self.totals.iter().map(|total| total.value).collect()
    }

    /// `cov(x, y) = sum over entries a, b of dx/da*dy/db * se(a)*se(b) * correlation(a,b)`.
    pub fn covariance(&self) -> Vec<f64> {
        let mut matrix = Vec::with_capacity(self.count() * self.count());
        for row in &self.totals {
            for column in &self.totals {
                let mut sum = 0.0;
                for (one, slope) in row.by {
                    for (other, of_other) in column.by {
                        let errors = self.error(one) * self.error(other);
                        sum += slope * of_other * errors * self.parameters.correlated(one, other);
                    }
                }
                matrix.push(sum);
            }
        }
        matrix
    }

    /// What each m from 1 to `last_m` makes of the totals: the derivatives of equation 11 where
    /// T_HPU and all counts are 1 and what has a total of its own is 0.
    pub fn lines(&self, last_m: u32) -> Vec<CoefficientRow> {
        let mut unit = self.parameters.clone();
        let collectives = self.value(self.collectives());
        unit.terms.t_hpu_s.value = 1.0;
        unit.terms.offloads.value = 1.0;
        if let Some(count) = &mut unit.terms.collectives {
            count.value = 1.0;
        }
        for (entry, _) in &self.of_entry {
            unit.terms
                .estimate_mut(*entry)
                .expect("invariant: the entry is one of these terms")
                .value = 0.0;
        }
        (1..=last_m).map(|m| self.line(&unit, m, collectives)).collect()
    }

    fn line(&self, unit: &Parameters, m: u32, collectives: f64) -> CoefficientRow {
        let mut line = CoefficientRow {
            hpu: 0.0,
            entries: [(0, 0.0); 4],
            entry_count: 0,
            shared: 0.0,
            fraction: 0.0,
            fixed: 0.0,
        };
        for (entry, slope) in unit.gradient(Mapping::of(m, 1)) {
            match entry.term {
                Term::HpuTime => line.hpu = slope,
                Term::ApuTime => line.shared = slope,
                Term::ApuSerialTime => line.fraction = slope,
                _ => {}
            }
            let total = self.of_entry.iter().find(|(known, _)| *known == entry);
            if let Some(&(_, index)) = total.filter(|_| slope != 0.0) {
                line.entries[line.entry_count] = (index, slope);
                line.entry_count += 1;
            }
        }
        line.fixed = line.fraction * collectives * unit.terms.linear_o_col_at(m);
        line
    }

    /// What counts the collectives.
    fn collectives(&self) -> Entry {
        let counted = self.parameters.terms.collectives.is_some();
        if counted { Term::Collectives.entry(0) } else { Term::Offloads.entry(0) }
    }

    fn value(&self, entry: Entry) -> f64 {
        self.parameters.terms.estimate(entry).map_or(0.0, |estimate| estimate.value)
    }

    /// The standard error of a normal distribution with the same 95 % interval.
    fn error(&self, entry: Entry) -> f64 {
        let terms = &self.parameters.terms;
        let Some(estimate) = terms.estimate(entry) else { return 0.0 };
        match estimate.std_error {
            Some(error) => error * quantile_97_5(estimate.degrees_of_freedom) / quantile_97_5(None),
            None if terms.is_exact_by_nature(entry) => 0.0,
            None => self.unknown_error * estimate.value,
        }
    }
}

/// The runs of one configuration, by the logarithm of their time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimedConfiguration {
    pub m: u32,
    pub p: u32,
    /// Bins of the times, increasing.
    bins: Vec<TimeBin>,
    /// Runs in all bins.
    pub count: f64,
}

/// Runs whose times differ by a small part of their noise.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TimeBin {
    index: i64,
    count: f64,
    /// Sum of the times \[s\].
    sum: f64,
}

/// What counts of the runs of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeSummary {
    /// How many runs they are worth.
    pub weight: f64,
    /// Their weighted mean \[s\].
    pub mean_s: f64,
}

/// Configurations that were run, in increasing order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SeenRuns {
    pub configurations: Vec<TimedConfiguration>,
    /// Width of a bin, in the logarithm of the time.
    width: f64,
}

/// Bins in a standard deviation of the noise.
const BINS: f64 = 4.0;

/// Number of standard deviations from the centre up to which a run counts whole; beyond twice as many it
/// counts not at all.
const USUAL: f64 = 3.0;

/// The standard deviation of a normal distribution whose median absolute deviation is 1.
pub(super) const OF_MEDIAN: f64 = 1.4826;

impl SeenRuns {
    pub fn new(noise: f64) -> Self {
        Self { configurations: Vec::new(), width: noise / BINS }
    }

    /// Takes in a run; allocates where its configuration or a time like its own is new.
    pub fn add(&mut self, m: u32, p: u32, time_s: f64) {
        let place = self.configurations.binary_search_by_key(&(m, p), |each| (each.m, each.p));
        let place = place.unwrap_or_else(|place| {
            let bins = Vec::with_capacity(32);
            self.configurations.insert(place, TimedConfiguration { m, p, bins, count: 0.0 });
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
                configuration.bins.insert(bin, TimeBin { index, count: 1.0, sum: time_s });
            }
        }
        configuration.count += 1.0;
    }
}

impl TimeBin {
    fn log_time(&self) -> f64 {
        (self.sum / self.count).ln()
    }
}

impl TimedConfiguration {
    /// The logarithm of the median time: of an even number of runs, the mean of the middle two.
    pub fn centre(&self) -> f64 {
        let at = |rank: f64| {
            let mut before = 0.0;
            let is_there = |bin: &&TimeBin| {
                before += bin.count;
                before > rank
            };
            self.bins.iter().find(is_there).map_or(0.0, TimeBin::log_time)
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
    pub fn summary(&self, centre: f64, deviation: f64) -> TimeSummary {
        let (mut weight, mut sum) = (0.0, 0.0);
        for bin in &self.bins {
            let beyond = ((bin.log_time() - centre).abs() / deviation / USUAL - 1.0).max(0.0);
            let each = (1.0 - beyond.powi(2)).max(0.0).powi(2);
            weight += each * bin.count;
            sum += each * bin.sum;
        }
        TimeSummary { weight, mean_s: if weight > 0.0 { sum / weight } else { 0.0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of one configuration.
    fn configuration(times: &[f64]) -> TimedConfiguration {
        let mut seen = SeenRuns::new(0.02);
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
        assert_eq!(none, TimeSummary { weight: 0.0, mean_s: 0.0 });
    }
}
