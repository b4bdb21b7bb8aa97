//! Timed runs, as the few numbers of each configuration that everything else is about.
//!
//! The rows are added up as they are read and not held, so that memory does not grow with them. What is
//! left of a configuration is the mean of the logarithms of its times: a median of three would throw a
//! quarter of what they say away. What would spoil a mean is left out before, and said: a warm-up, and
//! wild runs.
//!
//! While they are added up, two signs of a machine that was not in a steady state are watched:
//! *warm-up*, the first repetition of the configurations against the others, and *drift*, the
//! slope of time over the repetitions after the first. Both are relative to the mean of each
//! configuration and pooled over all; each is a warning where it is larger than half a per cent
//! and such a difference or larger would come by chance once in a thousand files
//! ([`Warning::WarmUp`], [`Warning::Drift`]). First repetitions that are a warm-up are left out of the
//! sums, unless they are to be kept ([`WarmUp`]).
//!
//! Logarithms of times are held each by itself while they are few, then by bins. What is asked of them later, a median, how far each is from it, a mean of those that are near, needs
//! all times at once; a million repetitions would not fit. From some number on they are counted by bins
//! of a thousandth, with their sums, so that means lose nothing and medians a thousandth at most.

mod collector;
mod steadiness;

use std::collections::BTreeMap;

use collector::Collector;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::Source;
use mmgp_base::table::records::Run;
use mmgp_intake::sheet::Origin;
use mmgp_intake::{Claims, Entry, Plan, formats};

/// Timed runs of a program, summed up for each configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The file they came from.
    pub file: String,
    /// What was measured; of a rate, the times are those of one unit of work.
    pub quantity: Quantity,
    /// Cells, one for each (m, p) that was run, in increasing order.
    pub cells: Vec<Cell>,
}

/// The runs of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// How often the configuration was run, at least once.
    pub count: u64,
    /// Mean time of these runs \[s\].
    pub mean_s: f64,
    /// Mean of the logarithms of the times in seconds; minus infinity where half of them or more are
    /// nothing.
    pub log_time: f64,
    /// Sum of their squared deviations from it.
    pub log_squares: f64,
    /// How many runs were left out as wild; they do not count in all other numbers.
    pub wild: u64,
    /// Variance that the logarithm has beside the noise: of two runs that disagree one is wrong.
    pub doubt: f64,
}

impl Cell {
    /// The runs of (m, p) with these times \[s\], at least one, none of them wild.
    pub fn of((m, p): (u32, u32), times_s: &[f64]) -> Self {
        let count = times_s.len() as f64;
        let log_time = times_s.iter().map(|time| time.ln()).sum::<f64>() / count;
        Self {
            m,
            p,
            count: times_s.len() as u64,
            mean_s: times_s.iter().sum::<f64>() / count,
            log_time,
            log_squares: times_s.iter().map(|time| (time.ln() - log_time).powi(2)).sum(),
            wild: 0,
            doubt: 0.0,
        }
    }
}

impl Runs {
    /// Times of these configurations, in increasing order.
    pub fn new(file: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { file: file.into(), quantity: Quantity::Time, cells }
    }

    /// The same runs, all times of each configuration multiplied by its factor.
    pub(crate) fn scaled(&self, factors: &[f64]) -> Self {
        let mut scaled = self.clone();
        for (cell, factor) in scaled.cells.iter_mut().zip(factors) {
            cell.mean_s *= factor;
            cell.log_time += factor.ln();
        }
        scaled
    }

    /// Reads timed runs as is usual: [`Reading::runs`].
    ///
    /// # Errors
    /// As there.
    pub fn read(source: &Source) -> Result<(Self, Vec<Warning>)> {
        Reading::default().runs(source)
    }

    /// Adds up rows from elsewhere, which `file` names; where they show a warm-up, it is left out.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for two rows of the same (m, p, repetition), one of which is zero, or
    /// a time that is not finite or negative; [`Error::TooLittleData`] for no rows.
    pub fn from_rows(file: &str, rows: &[Run]) -> Result<(Self, Vec<Warning>)> {
        collect_rows(file, rows, WarmUp::LeaveOut)
    }

    /// Number of runs.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(|cell| cell.count).sum()
    }

    /// The largest number of APUs that any of the runs used.
    pub fn apus_used(&self) -> u32 {
        self.cells.iter().map(|cell| cell.m.saturating_mul(cell.p)).max().unwrap_or(0)
    }
}

/// How timed runs are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// What is said of the file beyond what it says itself.
    pub claims: Claims,
    /// What becomes of first repetitions that took longer than the others.
    pub warm_up: WarmUp,
}

/// What becomes of the first repetition of each configuration where they take longer than the
/// others, more than chance explains ([`Warning::WarmUp`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WarmUp {
    /// Leave the first run out where the configuration has others: it would shift the mean, and pass for
    /// noise that hides how far a model is off.
    #[default]
    LeaveOut,
    /// Count the first run as the others.
    Keep,
}

impl Reading {
    /// Reads timed runs of a file of any format that is known or of a data frame ([`Frame`](mmgp_intake::Frame)),
    /// without holding the rows of what has lines.
    ///
    /// # Errors
    /// As [`Plan::of`] and [`Plan::read`].
    pub fn runs<'a>(&self, origin: impl Into<Origin<'a>>) -> Result<(Runs, Vec<Warning>)> {
        let sheet = formats::sheet(origin, &self.claims.columns)?;
        let plan = Plan::of(&sheet, &self.claims)?;
        let mut collector = Collector::new();
        let reading = plan.read(&sheet, &mut |entry: Entry| collector.insert_entry(entry))?;
        let mut warnings: Vec<Warning> =
            plan.line(&sheet).map(Warning::Understood).into_iter().collect();
        warnings.extend(reading.warnings);
        let (mut runs, more) = collector.finish(sheet.origin.name(), self.warm_up);
        runs.quantity = plan.quantity();
        warnings.extend(more);
        Ok((runs, warnings))
    }
}

fn collect_rows(file: &str, rows: &[Run], warm_up: WarmUp) -> Result<(Runs, Vec<Warning>)> {
    let mut collector = Collector::new();
    for run in rows {
        let refuse = |name, found: String, expected: &str| {
            let place = format!("{found} for (m, p) = ({}, {}) in {file}", run.m, run.p);
            Err(Error::out_of_range(name, place, expected))
        };
        if !(run.time_s.is_finite() && run.time_s >= 0.0) {
            return refuse("time_s", run.time_s.to_string(), "a finite time of at least 0 s");
        }
        if run.m == 0 || run.p == 0 || run.repetition == 0 {
            let found = format!("repetition {}", run.repetition);
            return refuse("m, p, repetition", found, "whole numbers of at least 1");
        }
        if !collector.insert(run.clone()) {
            let found = format!("{} twice", run.repetition);
            return refuse("repetition", found, "a number of its own for each run");
        }
    }
    if rows.is_empty() {
        return Err(Error::too_little(file, "no runs", "time the program at several (m, p)"));
    }
    Ok(collector.finish(file, warm_up))
}

/// Number of times that are kept by themselves.
const FEW: usize = 64;

/// The width of a bin of logarithms.
const WIDTH: f64 = 1e-3;

/// Bins beside those of the first times that are found by their place.
const BESIDE: i64 = 50;

/// Times, each as the logarithm of its ratio to a common one.
#[derive(Debug, Clone)]
enum Times {
    /// Times in the order in which they came.
    Few(Vec<f64>),
    Many(Histogram),
}

/// The logarithm of 1 + x, to rounding; within a tenth of 0, where repetitions are, by its series over
/// x/(2 + x), which is a third of the library's time.
#[inline]
fn ln_1p(x: f64) -> f64 {
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
struct Bin {
    pub count: u64,
    sum: f64,
    squares: f64,
}

/// Bins about the first times, and those farther off.
#[derive(Debug, Clone)]
struct Histogram {
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

    /// Bins of the times, increasing, equal times together.
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
struct Moments {
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
fn median(bins: &[Bin]) -> f64 {
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
    use mmgp_intake::{Column, Frame};
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn run(m: u32, p: u32, repetition: u32, time_s: f64) -> Run {
        Run { m, p, repetition, time_s }
    }

    fn read(text: &str) -> Result<Runs> {
        Runs::read(&Source::new("runs.csv", text)).map(|(runs, _)| runs)
    }

    #[test]
    fn a_cell_holds_mean_and_scatter_of_its_runs() {
        let runs = read("m,p,repetition,time_s\n2,1,1,8\n1,1,1,5\n2,1,2,10\n2,1,3,12\n").unwrap();
        let one = Cell::of((1, 1), &[5.0]);
        assert_eq!(runs.cells[0], one);
        for two in [runs.cells[1], Cell::of((2, 1), &[8.0, 10.0, 12.0])] {
            assert_eq!((two.count, two.mean_s), (3, 10.0));
            // The cube root of 960.
            approx::assert_relative_eq!(two.log_time.exp(), 9.864_848, max_relative = 1e-6);
            approx::assert_relative_eq!(two.log_squares, 0.082_478_716, max_relative = 1e-6);
        }
        assert_eq!((runs.count(), runs.apus_used()), (4, 2));
    }

    #[test]
    fn small_scatter_around_a_large_time_is_not_lost() {
        // Deviations -1, 0, 1 us around 10^6 s, in steps of the last digit.
        let text =
            "m,p,repetition,time_s\n1,1,1,999999.999999\n1,1,2,1000000\n1,1,3,1000000.000001\n";
        let squares = read(text).unwrap().cells[0].log_squares;
        approx::assert_relative_eq!(squares, 2e-24, max_relative = 1e-3);
    }

    #[test]
    fn large_and_small_configurations_have_cells_of_their_own() {
        let text =
            "m,p,repetition,time_s\n65,1,1,1\n1,65,1,2\n64,64,1,3\n65,1,2,1\n4294967295,1,1,4\n";
        let cells: Vec<_> =
            read(text).unwrap().cells.iter().map(|cell| (cell.m, cell.p, cell.count)).collect();
        assert_eq!(cells, [(1, 65, 1), (64, 64, 1), (65, 1, 2), (u32::MAX, 1, 1)]);
    }

    #[test]
    fn rows_add_up_as_the_file_does() {
        let text = "m,p,repetition,time_s\n2,1,1,8\n1,1,1,5\n2,1,2,10\n2,1,7,12\n";
        let rows = [run(2, 1, 1, 8.0), run(1, 1, 1, 5.0), run(2, 1, 2, 10.0), run(2, 1, 7, 12.0)];
        let source = Source::new("runs.csv", text);
        assert_eq!(Runs::from_rows("runs.csv", &rows).unwrap(), Runs::read(&source).unwrap());
    }

    /// 56 configurations of CP2K's sizes, five runs of each at 0.4 % of noise, the first of which
    /// takes 13 % longer and stands amid the others in the file.
    fn warming_up() -> Vec<Run> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let noise = Normal::new(1.0, 0.004).unwrap();
        let mut rows = Vec::new();
        for repetition in [4, 1, 5, 3, 2] {
            for (m, p) in (1..=14).flat_map(|m| [1, 2, 4, 8].map(|p| (m, p))) {
                let longer = if repetition == 1 { 1.13 } else { 1.0 };
                let time_s = longer * (20.0 + 100.0 / f64::from(m * p));
                rows.push(run(m, p, repetition, time_s * noise.sample(&mut random)));
            }
        }
        rows.push(run(99, 1, 1, 30.0));
        rows
    }

    fn text_of(rows: &[Run]) -> Source {
        Source::new("runs.csv", &mmgp_base::table::csv::write(rows))
    }

    /// Relative noise of single runs, pooled over the cells.
    fn noise(runs: &Runs) -> f64 {
        let squares: f64 = runs.cells.iter().map(|cell| cell.log_squares).sum();
        (squares / (runs.count() - runs.cells.len() as u64) as f64).sqrt()
    }

    #[test]
    fn a_warm_up_is_left_out_of_means_and_scatter() {
        let rows = warming_up();
        let (runs, warnings) = Runs::read(&text_of(&rows)).unwrap();
        let later: Vec<Run> =
            rows.iter().filter(|run| run.repetition > 1 || run.m == 99).cloned().collect();
        let (expected, none) = Runs::from_rows("runs.csv", &later).unwrap();
        assert_eq!((none, runs.count()), (Vec::new(), expected.count()));
        for (found, expected) in runs.cells.iter().zip(&expected.cells) {
            assert_eq!((found.m, found.p, found.count), (expected.m, expected.p, expected.count));
            approx::assert_relative_eq!(found.log_time, expected.log_time, max_relative = 1e-12);
            approx::assert_relative_eq!(found.log_squares, expected.log_squares, epsilon = 1e-9);
            approx::assert_relative_eq!(found.mean_s, expected.mean_s, max_relative = 1e-14);
        }
        assert!((noise(&runs) - 0.004).abs() < 0.0006, "{}", noise(&runs));
        let [Warning::WarmUp { percent, left_out: 56, .. }] = warnings[..] else {
            panic!("{warnings:?}")
        };
        assert!((percent - 13.0).abs() < 0.3, "{percent}");
        let message = warnings[0].to_string();
        assert!(message.ends_with("56 runs, the first of their configurations, were left out"));
    }

    #[test]
    fn a_warm_up_is_kept_where_that_is_asked_for() {
        let rows = warming_up();
        let keep = Reading { warm_up: WarmUp::Keep, ..Reading::default() };
        let (runs, warnings) = keep.runs(&text_of(&rows)).unwrap();
        assert_eq!(runs.count() as usize, rows.len());
        assert!(noise(&runs) > 0.04, "{}", noise(&runs));
        assert!(warnings[0].to_string().ends_with("run it once before the clock starts"));
    }

    #[test]
    fn a_first_repetition_that_is_faster_is_kept() {
        let mut rows = warming_up();
        for run in rows.iter_mut().filter(|run| run.repetition == 1) {
            run.time_s /= 1.13 * 1.13;
        }
        let (runs, warnings) = Runs::read(&text_of(&rows)).unwrap();
        assert_eq!(runs.count() as usize, rows.len());
        assert!(matches!(warnings[..], [Warning::WarmUp { left_out: 0, .. }]), "{warnings:?}");
    }

    #[test]
    fn rows_that_cannot_be_are_refused() {
        let refused = |rows: &[Run]| Runs::from_rows("bench.json", rows).unwrap_err().to_string();
        assert_eq!(
            refused(&[run(1, 2, 3, 1.0), run(1, 2, 3, 1.0)]),
            "repetition: found 3 twice for (m, p) = (1, 2) in bench.json, expected a number of its \
             own for each run"
        );
        for time in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(refused(&[run(1, 1, 1, time)]).starts_with("time_s: found"));
        }
        assert!(refused(&[run(0, 1, 1, 1.0)]).starts_with("m, p, repetition: found"));
        assert!(refused(&[]).starts_with("bench.json: no runs"));
    }

    #[test]
    fn scaled_runs_scatter_as_before_relative_to_their_time() {
        let runs = Runs::new("f", vec![Cell::of((1, 1), &[2.0, 4.0])]);
        let cell = runs.scaled(&[3.0]).cells[0];
        assert_eq!((cell.mean_s, cell.log_squares), (9.0, runs.cells[0].log_squares));
        approx::assert_relative_eq!(cell.log_time, 72_f64.sqrt().ln(), max_relative = 1e-12);
    }

    #[test]
    fn a_row_of_no_apu_and_one_of_no_repetition_are_refused() {
        for row in [run(1, 0, 1, 1.0), run(1, 1, 0, 1.0)] {
            let message = Runs::from_rows("bench.json", &[row]).unwrap_err().to_string();
            assert!(message.starts_with("m, p, repetition: found"), "{message}");
        }
    }

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

    #[test]
    fn the_runs_of_a_data_frame_are_those_of_the_file_of_it() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let noise = Normal::new(1.0, 0.01).unwrap();
        let rows = 20_000_u32;
        let m: Vec<i64> = (0..rows).map(|row| i64::from(row % 8 + 1)).collect();
        let p: Vec<i64> = (0..rows).map(|row| i64::from(row / 8 % 8 + 1)).collect();
        // The first of each configuration is a warm-up, the last row is none of a run.
        let time = |row: u32| match row {
            0..64 => 3.0,
            19_999 => f64::NAN,
            _ => noise.sample(&mut random),
        };
        let times: Vec<f64> = (0..rows).map(time).collect();
        let line = |((m, p), time): ((&i64, &i64), &f64)| match time.is_nan() {
            true => format!("{m},{p},\n"),
            false => format!("{m},{p},{time}\n"),
        };
        let lines: String = m.iter().zip(&p).zip(&times).map(line).collect();
        let source = Source::new("the frame", &format!("m,p,time_s\n{lines}"));
        let columns = [
            ("m", Column::Integers(m)),
            ("p", Column::Integers(p)),
            ("time_s", Column::Floats(times)),
        ];
        let columns = columns.map(|(name, values)| (name.to_string(), values));
        let frame = Frame::new("the frame", columns.into()).unwrap();
        for filter in [None, Some("m < 8")] {
            let claims = Claims { filter: filter.map(Into::into), ..Claims::default() };
            let reading = Reading { claims, ..Reading::default() };
            let (of_file, _) = reading.runs(&source).unwrap();
            let (of_frame, warnings) = reading.runs(&frame).unwrap();
            assert_eq!(of_frame, of_file);
            assert_eq!(of_frame.cells.len(), if filter.is_some() { 56 } else { 64 });
            let said: Vec<String> = warnings.iter().map(Warning::to_string).collect();
            assert!(
                said.iter().any(|it| it.starts_with("the frame: the first repetition")),
                "{said:?}"
            );
            let failed = "1 run failed and was left out, in row 19999 (from 0)";
            assert_eq!(said.iter().any(|it| it.contains(failed)), filter.is_none(), "{said:?}");
        }
    }
}
