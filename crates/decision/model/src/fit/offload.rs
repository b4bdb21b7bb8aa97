//! O_offload, what one off-load costs whatever it carries, from a ping-pong.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::inputs::Measured;
use super::measurement::Measurement;
use super::sample::{Repetitions, repeated_once, warm_up};
use crate::models::parameters::Estimate;
use crate::statistics::{Design, Mean};
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::Offload;

/// The time of an empty round trip: the intercept of a line through time against bytes, of the
/// first where the protocol changes with the size.
///
/// The part that grows with the size is not part of the term, because data accesses inside an
/// off-load are streamed and overlapped.
pub(crate) fn offload(measured: &Measured<Offload>) -> Result<Measurement<Estimate>> {
    let file = measured.file.as_str();
    let by_bytes = times(measured)?;
    let mut warnings: Vec<Warning> = warm_up(file, &repetitions(measured)).into_iter().collect();
    let mut intercept = match by_bytes.len() {
        1 => {
            warnings.push(Warning::Note(format!(
                "{file}: with one message size only, o_offload_s cannot be separated from the \
                 part that grows with the size; measure several sizes"
            )));
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
    Ok(Measurement::new(intercept.measured_in(file), intercept.count, warnings))
}

/// The times of each measurement, with the repetition that they are of.
fn repetitions(measured: &Measured<Offload>) -> Vec<Repetitions> {
    let mut all: BTreeMap<u64, Repetitions> = BTreeMap::new();
    for row in &measured.rows {
        let time = row.time_s / row.round_trips as f64;
        all.entry(row.bytes).or_default().push((row.repetition, time));
    }
    all.into_values().collect()
}

/// The times of one round trip, by size.
fn times(measured: &Measured<Offload>) -> Result<BySize> {
    let mut by_bytes = BySize::new();
    for row in &measured.rows {
        by_bytes.entry(row.bytes).or_default().push(row.time_s / row.round_trips as f64);
    }
    if let Some((bytes, _)) = by_bytes.iter().find(|(_, times)| Mean::of(times).value <= 0.0) {
        return Err(Error::TooLittleData {
            file: measured.file.clone(),
            found: format!("a time of 0 s for round trips of {bytes} bytes"),
            advice: "measure more round trips, so that the clock can see them".into(),
        });
    }
    Ok(by_bytes)
}

/// Times by size in bytes; at least one of each, all above 0 on average.
type BySize = BTreeMap<u64, Vec<f64>>;

/// `t(bytes) = intercept + bytes*slope`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    intercept: Mean,
    slope: Mean,
    /// Sum of squared relative residuals.
    squares: f64,
}

/// One line, or one up to a size and another above it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lines {
    /// From an empty message on.
    first: Line,
    /// The largest size of the first line, and the line above.
    change: Option<(u64, Line)>,
}

/// Sizes that a line needs.
const SIZES_OF_A_LINE: usize = 2;

/// Left-out sizes that a judgement needs.
const LEAST_GAINS: usize = 4;

/// Two lines must be better by more than the square of this relative error.
const WORTH_IT: f64 = 1e-3;

impl Line {
    /// By least squares with weight `1/t^2`: clocks and machines err in proportion, and the large
    /// messages must not drown the intercept. The t of the weights is the line's own, found by
    /// repetition from the measured one, because weights from measured times favour those that
    /// are short by chance. Needs two sizes.
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

    /// With the time of each size that its weight follows from.
    ///
    /// The variance of a time is the weighted sum of squared residuals over n - 2. Where the line misses the mean of the sizes by more than
    /// their repetitions explain, these alone count, as if each had been measured once.
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
    /// One line, unless two err clearly less at sizes that they do not know, by more than the
    /// standard error of the difference in squares, and meet those that they know better than
    /// chance explains. Where they part is found anew each time.
    fn through(times: &BySize) -> Self {
        let line = || Self { first: Line::through(times), change: None };
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
            gains.push(square(Line::through(&rest).at(left_out)) - square(two.at(left_out)));
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
            let (first, above) = (Line::through(&low), Line::through(&high));
            let squares = |times: &BySize, line: &Line| -> f64 {
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
        let taken = Line::through(times).squares - left;
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
mod tests;
