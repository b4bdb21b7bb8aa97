//! O_offload, what one off-load costs whatever it carries, from a ping-pong.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::inputs::{FileRows, Repetitions, TermMeasurement, repeated_once, warm_up};
use crate::models::parameters::Estimate;
use crate::statistics::{Design, Mean};
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::Offload;

/// The time of an empty round trip: the intercept of a line through time against bytes, of the
/// first where the protocol changes with the size.
///
/// The part that grows with the size is not part of the term, because data accesses inside an
/// off-load are streamed and overlapped.
pub(crate) fn offload(measured: &FileRows<Offload>) -> Result<TermMeasurement<Estimate>> {
    let file = measured.file.as_str();
    let by_bytes = times(measured)?;
    let mut warnings: Vec<Warning> = warm_up(file, &repetitions(measured)).into_iter().collect();
    let mut intercept = match by_bytes.len() {
        1 => {
            // Launches without a message have no such part.
            let has_message = by_bytes.keys().any(|&bytes| bytes > 0);
            warnings.extend(has_message.then(|| {
                Warning::Note(format!(
                    "{file}: with one message size only, o_offload_s cannot be separated from the \
                     part that grows with the size; measure several sizes"
                ))
            }));
            Mean::of(&by_bytes.into_values().flatten().collect::<Vec<_>>())
        }
        _ => {
            let lines = Lines::through(&by_bytes);
            warnings.extend(lines.change.map(|(last, _)| {
                Warning::Note(format!(
                    "{file}: round trips change their protocol above {last} bytes; o_offload_s \
                     is of those up to there"
                ))
            }));
            lines.first.intercept
        }
    };
    if intercept.value < 0.0 {
        intercept.value = 0.0;
        warnings.push(Warning::AtBound { term: "o_offload_s", bound: 0.0 });
    }
    if intercept.std_error.is_none() {
        warnings.push(repeated_once("o_offload_s", file));
    }
    Ok(TermMeasurement::new(intercept.measured_in(file), intercept.count, warnings))
}

/// The times of each measurement, with the repetition that they are of.
fn repetitions(measured: &FileRows<Offload>) -> Vec<Repetitions> {
    let mut all: BTreeMap<u64, Repetitions> = BTreeMap::new();
    for row in &measured.rows {
        let time = row.time_s / row.round_trips as f64;
        all.entry(row.bytes).or_default().push((row.repetition, time));
    }
    all.into_values().collect()
}

/// The times of one round trip, by size.
fn times(measured: &FileRows<Offload>) -> Result<BySize> {
    let mut by_bytes = BySize::new();
    for row in &measured.rows {
        by_bytes.entry(row.bytes).or_default().push(row.time_s / row.round_trips as f64);
    }
    if let Some((bytes, _)) = by_bytes.iter().find(|(_, times)| Mean::of(times).value <= 0.0) {
        return Err(Error::too_little(
            measured.file.clone(),
            format!("a time of 0 s for round trips of {bytes} bytes"),
            "measure more round trips, so that the clock can see them",
        ));
    }
    Ok(by_bytes)
}

/// Times by size in bytes; at least one of each, all above 0 on average.
type BySize = BTreeMap<u64, Vec<f64>>;

/// `t(bytes) = intercept + bytes*slope`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SizeLine {
    intercept: Mean,
    slope: Mean,
    /// Sum of squared relative residuals.
    squares: f64,
}

/// Line, or one up to a size and another above it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lines {
    /// Line from an empty message on.
    first: SizeLine,
    /// The largest size of the first line, and the line above.
    change: Option<(u64, SizeLine)>,
}

/// Sizes that a line needs.
const SIZES_OF_A_LINE: usize = 2;

/// Left-out sizes that a judgement needs.
const LEAST_GAINS: usize = 4;

/// Two lines must be better by more than the square of this relative error.
const WORTH_IT: f64 = 1e-3;

impl SizeLine {
    /// Line by least squares with weight `1/t^2`: clocks and machines err in proportion, and the large
    /// messages must not drown the intercept. The t of the weights is the line's own, found by repetition
    /// from the measured one, because weights from measured times favour those that are short by chance.
    /// Needs two sizes.
    fn through(times: &BySize) -> Self {
        let mut levels: Vec<f64> = times.values().map(|times| Mean::of(times).value).collect();
        let mut line = Self::weighted(times, &levels);
        for _ in 0..MOST_PASSES {
            let next: Vec<f64> = times.keys().map(|&bytes| line.at(bytes)).collect();
            // No weights follow from a line that is not above 0 at every size.
            if next.iter().any(|&level| level <= 0.0) {
                break;
            }
            let change = next.iter().zip(&levels).map(|(next, level)| (next / level - 1.0).abs());
            let change = change.fold(0.0, f64::max);
            levels = next;
            line = Self::weighted(times, &levels);
            if change < ROUNDING {
                break;
            }
        }
        line
    }

    /// Line by weights that follow from these times of each size.
    ///
    /// The variance of a time is the weighted sum of squared residuals over n - 2. Where the line misses
    /// the mean of the sizes by more than their repetitions explain, these alone count, as if each had been
    /// measured once.
    fn weighted(times: &BySize, levels: &[f64]) -> Self {
        let points: Vec<(f64, f64, f64)> = times
            .iter()
            .zip(levels)
            .flat_map(|((&bytes, times), level)| {
                times.iter().map(move |&time| (level.powi(-2), bytes as f64, time))
            })
            .collect();
        let of = |part: fn(&(f64, f64, f64)) -> f64| points.iter().map(part).collect::<Vec<f64>>();
        let (weights, sizes, observed) = (of(|it| it.0), of(|it| it.1), of(|it| it.2));
        let mean_size = weights.iter().zip(&sizes).map(|(weight, size)| weight * size).sum::<f64>()
            / weights.iter().sum::<f64>();
        // About their mean, sizes are told from the intercept however large they are.
        let columns = DMatrix::from_fn(points.len(), 2, |row, column| {
            if column == 0 { 1.0 } else { sizes[row] - mean_size }
        });
        let design = Design::new(columns, weights.into_iter());
        let design = design.expect("invariant: there are two sizes");
        let (solution, unscaled) = (design.solve(&observed), design.variances());
        let (slope, all) = (solution.coefficients[1], solution.squares());
        let intercept = solution.coefficients[0] - slope * mean_size;
        let (variance, degrees_of_freedom) = variance(all, times, levels);
        let term = |value, of_variance: f64| Mean {
            value,
            std_error: variance.map(|variance| (variance * of_variance).sqrt()),
            degrees_of_freedom,
            count: points.len() as u64,
        };
        Self {
            intercept: term(intercept, unscaled[0] + mean_size.powi(2) * unscaled[1]),
            slope: term(slope, unscaled[1]),
            squares: all,
        }
    }

    fn at(&self, bytes: u64) -> f64 {
        self.intercept.value + self.slope.value * bytes as f64
    }
}

/// The relative variance of one time around a line that leaves `all` weighted squares, and its
/// degrees of freedom.
fn variance(all: f64, times: &BySize, levels: &[f64]) -> (Option<f64>, f64) {
    let rows: usize = times.values().map(Vec::len).sum();
    let (rows, sizes) = (rows as f64, times.len() as f64);
    let within: f64 = times
        .values()
        .zip(levels)
        .map(|(times, level)| {
            let mean = Mean::of(times).value;
            times.iter().map(|time| ((time - mean) / level).powi(2)).sum::<f64>()
        })
        .sum();
    let (missed, repeated) = (sizes - 2.0, rows - sizes);
    if missed > 0.0 && repeated > 0.0 {
        let (by_line, by_chance) = ((all - within).max(0.0) / missed, within / repeated);
        let test = FisherSnedecor::new(missed, repeated).expect("invariant: both are 1 or more");
        let limit = by_chance * test.inverse_cdf(1.0 - RARELY);
        if by_line > limit && by_line > ROUNDING.powi(2) {
            return (Some(by_line), missed);
        }
    }
    let degrees_of_freedom = rows - 2.0;
    let all = if all > ROUNDING.powi(2) * rows { all } else { 0.0 };
    ((degrees_of_freedom > 0.0).then(|| all / degrees_of_freedom), degrees_of_freedom)
}

/// How rarely chance alone may make a line seem to miss its sizes.
const RARELY: f64 = 0.01;

/// How rarely chance alone may make one line seem two.
const NEARLY_NEVER: f64 = 0.001;

/// Weights settle within a few.
const MOST_PASSES: u32 = 30;

/// Relative residuals below this are none.
const ROUNDING: f64 = 1e-12;

impl Lines {
    /// Fits one line, unless two err clearly less at sizes that they do not know, by more than the standard
    /// error of the difference in squares, and meet those that they know better than chance explains. Where
    /// they part is found anew each time.
    fn through(times: &BySize) -> Self {
        let line = || Self { first: SizeLine::through(times), change: None };
        let Some(two) = Self::two(times) else { return line() };
        let mut gains = Vec::new();
        for (&left_out, values) in times {
            let mut rest = times.clone();
            rest.remove(&left_out);
            let Some(two) = Self::two(&rest) else { continue };
            if two.is_open_at(left_out, &rest) {
                continue;
            }
            let time = Mean::of(values).value;
            let square = |predicted: f64| (predicted / time - 1.0).powi(2);
            gains.push(square(SizeLine::through(&rest).at(left_out)) - square(two.at(left_out)));
        }
        if gains.len() < LEAST_GAINS {
            return line();
        }
        let gain = Mean::of(&gains);
        let by_chance = gain.std_error.unwrap_or(f64::INFINITY);
        let is_better = gain.value > by_chance && gain.value > WORTH_IT.powi(2);
        if is_better && two.is_significant(times) { two } else { line() }
    }

    /// The two lines that leave the least weighted squares.
    fn two(times: &BySize) -> Option<Self> {
        let sizes: Vec<u64> = times.keys().copied().collect();
        let split = |count: usize| {
            let (mut low, mut high) = (times.clone(), times.clone());
            low.retain(|&bytes, _| bytes <= sizes[count - 1]);
            high.retain(|&bytes, _| bytes > sizes[count - 1]);
            let (first, above) = (SizeLine::through(&low), SizeLine::through(&high));
            let squares = |times: &BySize, line: &SizeLine| -> f64 {
                let of_size = |(&bytes, times): (&u64, &Vec<f64>)| {
                    let time = Mean::of(times).value;
                    times.len() as f64 * (line.at(bytes) / time - 1.0).powi(2)
                };
                times.iter().map(of_size).sum()
            };
            let left = squares(&low, &first) + squares(&high, &above);
            (left, Self { first, change: Some((sizes[count - 1], above)) })
        };
        let splits = SIZES_OF_A_LINE..=sizes.len().saturating_sub(SIZES_OF_A_LINE);
        splits.map(split).min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, two)| two)
    }

    /// Whether the three numbers more than of one line (two of a line, and where they part) take
    /// away more squares than noise would: `F = [(S_1 - S_2)/3] / [S_2/(n - 5)]`.
    fn is_significant(&self, times: &BySize) -> bool {
        let degrees_of_freedom = times.values().map(Vec::len).sum::<usize>() as f64 - 5.0;
        let Some((_, above)) = self.change.filter(|_| degrees_of_freedom > 0.0) else {
            return false;
        };
        let left = self.first.squares + above.squares;
        let taken = SizeLine::through(times).squares - left;
        let test =
            FisherSnedecor::new(3.0, degrees_of_freedom).expect("invariant: both are above 0");
        taken / 3.0 > test.inverse_cdf(1.0 - NEARLY_NEVER) * left / degrees_of_freedom
    }

    /// Whether the size lies between the last of the first line and the first of the second, so
    /// that nothing tells which of them it belongs to.
    fn is_open_at(&self, bytes: u64, times: &BySize) -> bool {
        self.change.is_some_and(|(last, _)| {
            let next = times.range(last + 1..).next().map_or(u64::MAX, |(&next, _)| next);
            last < bytes && bytes < next
        })
    }

    fn at(&self, bytes: u64) -> f64 {
        match &self.change {
            Some((last, above)) if bytes > *last => above.at(bytes),
            _ => self.first.at(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::inputs::noise::{assert_covers, relative};
    use mmgp_base::table::records::OffloadMode;

    /// Rows of (bytes, repetition, microseconds for 10 round trips).
    fn check(rows: &[(u64, u32, f64)]) -> Result<TermMeasurement<Estimate>> {
        let rows = rows.iter().map(|&(bytes, repetition, time_us)| Offload {
            bytes,
            repetition,
            round_trips: 10,
            time_s: time_us * 1e-6,
            mode: OffloadMode::PingPong,
        });
        offload(&FileRows { file: "offload.csv".into(), rows: rows.collect() })
    }

    #[test]
    fn the_intercept_of_an_exact_line_comes_back() {
        // 2 us + 1 ns per byte for one round trip.
        let result = check(&[(0, 1, 20.0), (1000, 1, 30.0), (16_000, 1, 180.0)]).unwrap();
        approx::assert_relative_eq!(result.value.value, 2e-6, max_relative = 1e-12);
        assert!(result.value.std_error.unwrap() < 1e-15);
        assert_eq!((result.observations, result.warnings.len()), (3, 0));
    }

    #[test]
    fn long_round_trips_weigh_less() {
        // Times 1, 1, 1.5 at 0, 1, 2 bytes: of the line a + b*x, the residuals over its own square
        // add up to 0, as do these times x. Of a line without weights, a would be 0.9167.
        let estimate = check(&[(0, 1, 10.0), (1, 1, 10.0), (2, 1, 15.0)]).unwrap().value;
        let a = estimate.value * 1e6;
        let sums = |b: f64| {
            let over_square = |x: f64, t: f64| (t - a - b * x) / (a + b * x).powi(2);
            let all = [over_square(0.0, 1.0), over_square(1.0, 1.0), over_square(2.0, 1.5)];
            (all.iter().sum::<f64>(), all[1] + 2.0 * all[2])
        };
        // The slope at which the first sum is 0, by halving; the second must be 0 there too.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sums(middle).0 > 0.0 { low = middle } else { high = middle }
        }
        approx::assert_abs_diff_eq!(sums(low).1, 0.0, epsilon = 1e-9);
        assert!(a > 0.9167 + 0.01, "{a}");
    }

    #[test]
    fn scatter_widens_the_standard_error_by_the_formula_of_equal_weights() {
        // Bytes 0 and 8, twice each, weights all 1/(10 us)^2: the slope is 0, s = 1 us times
        // sqrt(4/2), x = 4, S_xx = 4 * 16 w: var = s^2 * (1/4 + 16/64) = s^2/2 = (1 us)^2.
        let rows = [(0, 1, 90.0), (0, 2, 110.0), (8, 1, 90.0), (8, 2, 110.0)];
        let estimate = check(&rows).unwrap().value;
        approx::assert_relative_eq!(estimate.value, 10e-6, max_relative = 1e-12);
        approx::assert_relative_eq!(estimate.std_error.unwrap(), 1e-6, max_relative = 1e-9);
    }

    #[test]
    fn one_size_gives_its_mean_and_a_doubt() {
        let result = check(&[(64, 1, 20.0), (64, 2, 40.0)]).unwrap();
        approx::assert_relative_eq!(result.value.value, 3e-6, max_relative = 1e-12);
        assert!(matches!(&result.warnings[..], [Warning::Note(_)]));
    }

    #[test]
    fn launches_without_a_message_are_what_an_off_load_costs() {
        let result = check(&[(0, 1, 20.0), (0, 2, 40.0)]).unwrap();
        approx::assert_relative_eq!(result.value.value, 3e-6, max_relative = 1e-12);
        assert!(result.warnings.is_empty(), "{:?}", result.warnings);
    }

    #[test]
    fn a_negative_intercept_is_held_at_zero() {
        let result = check(&[(1000, 1, 10.0), (2000, 1, 30.0)]).unwrap();
        assert_eq!(result.value.value, 0.0);
        assert_eq!(result.warnings[0], Warning::AtBound { term: "o_offload_s", bound: 0.0 });
    }

    #[test]
    fn round_trips_must_take_some_time() {
        assert_eq!(
            check(&[(8, 1, 0.0)]).unwrap_err().to_string(),
            "offload.csv: a time of 0 s for round trips of 8 bytes; measure more round trips, so \
             that the clock can see them"
        );
    }

    #[test]
    fn intervals_cover_the_truth_in_95_of_100_files() {
        assert_covers(|seed| {
            let mut noise = relative(seed);
            let sizes = [8, 16, 32, 64, 128];
            let all = sizes.iter().flat_map(|&bytes| (1..=4).map(move |each| (bytes, each)));
            let row =
                |(bytes, each)| (bytes, each, 10.0 * (0.3 + 0.03 * bytes as f64) * noise(0.02));
            let rows: Vec<(u64, u32, f64)> = all.map(row).collect();
            (check(&rows).unwrap().value.interval().unwrap(), 0.3e-6)
        });
    }

    #[test]
    fn a_slow_first_round_trip_raises_a_doubt_whatever_number_of_them_was_timed() {
        // 1.3 us each of ten, then 1 us each of twenty.
        let rows = [(1, 10, 13.0), (2, 20, 20.0), (3, 20, 20.2), (4, 20, 19.8)];
        let rows = rows.map(|(repetition, round_trips, time_us)| Offload {
            bytes: 8,
            repetition,
            round_trips,
            time_s: time_us * 1e-6,
            mode: OffloadMode::PingPong,
        });
        let measured = FileRows { file: "offload.csv".into(), rows: rows.into() };
        let warning = offload(&measured).unwrap().warnings[0].to_string();
        assert!(warning.contains("the first repetition takes +30.0 %"), "{warning}");
    }

    const SIZES: [u64; 8] = [0, 256, 1024, 2048, 4096, 8192, 16_384, 32_768];

    /// How many of 100 noisy files are given two lines that part after a size in this range.
    fn changes(truth: impl Fn(f64) -> f64, after: std::ops::RangeInclusive<u64>) -> usize {
        let file = |seed: u64| -> BySize {
            let mut noise = relative(seed);
            let mut times =
                |&bytes: &u64| (0..4).map(|_| truth(bytes as f64) * noise(0.01)).collect();
            SIZES.iter().map(|bytes| (*bytes, times(bytes))).collect()
        };
        let found = |&seed: &u64| {
            let change = Lines::through(&file(seed)).change;
            change.is_some_and(|(last, _)| after.contains(&last))
        };
        (1..=100).filter(found).count()
    }

    #[test]
    fn a_change_of_protocol_is_found_where_there_is_one() {
        let rendezvous = |bytes: f64| {
            if bytes <= 4096.0 { 2e-6 + 1e-9 * bytes } else { 9e-6 + 0.4e-9 * bytes }
        };
        let found = changes(rendezvous, 4096..=4096);
        assert!(found >= 90, "{found} of 100");
        assert!(changes(|bytes| 2e-6 + 1e-9 * bytes, 0..=u64::MAX) <= 2);
    }

    #[test]
    fn the_standard_error_of_a_slope_by_hand() {
        // Weights all 1: bytes 0 and 8, twice each, 1 +- 0.1: s^2 = 0.04/2, S_xx = 4*16.
        let times = BySize::from([(0, vec![0.9, 1.1]), (8, vec![0.9, 1.1])]);
        let slope = SizeLine::through(&times).slope;
        approx::assert_abs_diff_eq!(slope.value, 0.0, epsilon = 1e-15);
        let by_hand = (0.02_f64 / 64.0).sqrt();
        approx::assert_relative_eq!(slope.std_error.unwrap(), by_hand, max_relative = 1e-9);
    }

    #[test]
    fn a_bent_line_is_as_uncertain_as_its_sizes_make_it() {
        // Exact repetitions of 1, 2, 5 at 0, 1, 2 bytes: residuals count as three values, not 300.
        let times: BySize =
            [(0, 1.0), (1, 2.0), (2, 5.0)].map(|(bytes, time)| (bytes, vec![time; 100])).into();
        let once: BySize = times.iter().map(|(&bytes, times)| (bytes, vec![times[0]])).collect();
        let (many, one) = (SizeLine::through(&times).intercept, SizeLine::through(&once).intercept);
        assert_eq!((many.degrees_of_freedom, one.degrees_of_freedom), (1.0, 1.0));
        approx::assert_relative_eq!(many.value, one.value, max_relative = 1e-12);
        let (many, one) = (many.std_error.unwrap(), one.std_error.unwrap());
        approx::assert_relative_eq!(many, one, max_relative = 1e-9);
    }

    /// Times so many times over, at the sizes 0, 1, 2...
    fn at_sizes(times: &[f64], repetitions: usize) -> BySize {
        (0..).zip(times).map(|(bytes, &time)| (bytes, vec![time; repetitions])).collect()
    }

    /// A line of these numbers that leaves so many squares.
    fn line(intercept: f64, slope: f64, squares: f64) -> SizeLine {
        let exactly = |value| Mean { value, std_error: None, degrees_of_freedom: 0.0, count: 0 };
        SizeLine { intercept: exactly(intercept), slope: exactly(slope), squares }
    }

    #[test]
    fn a_line_misses_its_sizes_where_these_err_more_than_repetitions_by_the_f_test() {
        // Three sizes, twice each, off by 2 at level 2: squares of 6 within, F(1, 3) = 34.116 at 1 %,
        // so that the limit is 34.116*6/3 = 68.2.
        let times = BySize::from([0, 1, 2].map(|bytes| (bytes, vec![7.0, 11.0])));
        let check = |beyond: f64, expected: (Option<f64>, f64)| {
            assert_eq!(variance(6.0 + beyond, &times, &[2.0; 3]), expected);
        };
        check(68.0, (Some(18.5), 4.0));
        check(69.0, (Some(69.0), 1.0));
    }

    #[test]
    fn two_sizes_measured_once_leave_nothing_to_judge_a_line_by() {
        let variance =
            |all, repetitions| variance(all, &at_sizes(&[1.0, 2.0], repetitions), &[1.0; 2]);
        assert_eq!(variance(1.0, 1), (None, 0.0));
        assert_eq!(variance(1.0, 2), (Some(0.5), 2.0));
        // Residuals of 1e-12 are rounding: four squares of 1e-24.
        assert_eq!(variance(3.9e-24, 2), (Some(0.0), 2.0));
        assert_eq!(variance(4.1e-24, 2), (Some(2.05e-24), 2.0));
    }

    #[test]
    fn the_two_lines_that_fit_are_found_wherever_they_part() {
        let check = |first: u64, count: u64| {
            let truth = |bytes: u64| {
                let bytes_f = bytes as f64;
                if bytes < first { 3.0 + 0.5 * bytes_f } else { 9.0 + 0.25 * bytes_f }
            };
            let times: Vec<f64> = (0..count).map(truth).collect();
            let lines = Lines::two(&at_sizes(&times, 2)).unwrap();
            let (last, above) = lines.change.unwrap();
            assert_eq!(last, first - 1, "{count} sizes");
            approx::assert_relative_eq!(lines.first.intercept.value, 3.0, max_relative = 1e-12);
            approx::assert_relative_eq!(lines.first.slope.value, 0.5, max_relative = 1e-12);
            approx::assert_relative_eq!(above.intercept.value, 9.0, max_relative = 1e-12);
            approx::assert_relative_eq!(above.slope.value, 0.25, max_relative = 1e-12);
        };
        (2..=6).for_each(|first| check(first, 8));
        check(2, 4);
        assert_eq!(Lines::two(&at_sizes(&[1.0, 2.0, 4.0], 2)), None);
    }

    #[test]
    fn a_size_between_two_lines_belongs_to_neither() {
        let times = BySize::from([0, 4, 8, 9].map(|bytes| (bytes, vec![1.0])));
        let check = |last: Option<u64>, open: &[u64]| {
            let change = last.map(|last| (last, line(2.0, 1.0, 0.0)));
            let lines = Lines { first: line(1.0, 0.5, 0.0), change };
            let found = (0..=10).filter(|&bytes| lines.is_open_at(bytes, &times));
            assert_eq!(found.collect::<Vec<u64>>(), open);
        };
        check(Some(4), &[5, 6, 7]);
        check(Some(8), &[]);
        check(Some(9), &[10]);
        check(None, &[]);
    }

    #[test]
    fn the_first_line_holds_up_to_its_last_size() {
        let times =
            |change| [0, 4, 5].map(|bytes| Lines { first: line(1.0, 0.5, 0.0), change }.at(bytes));
        assert_eq!(times(Some((4, line(7.0, 2.0, 0.0)))), [1.0, 3.0, 17.0]);
        assert_eq!(times(None), [1.0, 3.0, 3.5]);
    }

    #[test]
    fn three_numbers_more_must_pass_the_f_test() {
        // Eight times 0.9 or 1.1 leave 0.08 around 1. F(3, 3) at 0.1 % is 141.1, so two lines pass
        // that leave less than 0.08/142.1 = 5.63e-4.
        let check = |repetitions: usize, squares: [f64; 2], passes| {
            let mixed: Vec<f64> = [0.9, 1.1].repeat(repetitions);
            let times = BySize::from([(0, mixed.clone()), (8, mixed)]);
            let change = Some((0, line(1.0, 0.0, squares[1])));
            let two = Lines { first: line(1.0, 0.0, squares[0]), change };
            assert_eq!(two.is_significant(&times), passes, "{squares:?}");
            assert!(!Lines { change: None, ..two }.is_significant(&times));
        };
        check(2, [3.0e-4, 2.6e-4], true);
        check(2, [3.0e-4, 2.66e-4], false);
        check(2, [2.6e-4, 3.0e-4], true);
        // Four times cannot tell five numbers.
        check(1, [0.0, 0.0], false);
    }

    #[test]
    fn as_many_times_as_numbers_cannot_tell_two_lines_from_one() {
        let times = at_sizes(&[1.0, 2.0, 5.0, 5.0, 5.0], 1);
        let two = Lines { first: line(1.0, 0.0, 0.0), change: Some((1, line(5.0, 0.0, 0.0))) };
        assert!(!two.is_significant(&times));
    }

    #[test]
    fn two_lines_are_taken_where_they_err_clearly_less_at_sizes_they_do_not_know() {
        let check = |times: &[f64], change: Option<u64>| {
            let found = Lines::through(&at_sizes(times, 20));
            assert_eq!(found.change.map(|(last, _)| last), change, "{times:?}");
        };
        // Exactly two lines; the last of the first and the first of the last are open when left out.
        check(&[1.0, 2.0, 3.0, 14.0, 15.0, 16.0], Some(2));
        check(&[1.0, 2.0, 3.0, 4.0, 8.0, 8.0, 8.0, 8.0], Some(3));
        check(&[9.0, 8.5, 8.0, 7.5, 1.0, 1.5, 2.0, 2.5], Some(3));
        // Four judgements need six sizes.
        check(&[1.0, 2.0, 13.0, 14.0, 15.0], None);
        // A step of less than a thousandth is not worth a second line, however exact it is.
        check(&[1.0, 1.0, 1.0, 1.0, 1.0009, 1.0009, 1.0009, 1.0009], None);
        // Every other time is 20 % longer: neither one line nor two know of it.
        check(&[1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2], None);
    }

    #[test]
    fn a_size_weighs_by_its_times_where_two_lines_are_sought() {
        // Three sizes of a hundred times each, that bend by 0.1, and two of one time each: a line through
        // the last three misses these by less than a hundred times the square of 0.1/11/sqrt(6), though
        // by more than once that.
        let times: BySize =
            [(0, 10.0, 100), (1, 11.0, 100), (2, 12.1, 100), (3, 30.0, 1), (4, 47.5, 1)]
                .map(|(bytes, time, count)| (bytes, vec![time; count]))
                .into();
        let last = |times: &BySize| Lines::two(times).unwrap().change.unwrap().0;
        assert_eq!(last(&times), 1);
        let once = times.iter().map(|(&bytes, times)| (bytes, vec![times[0]])).collect();
        assert_eq!(last(&once), 2);
    }
}
