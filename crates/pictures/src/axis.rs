//! Axes: their ranges and spacing, the ticks that divide them, and the words for these. Plotters maps
//! values and finds the ticks of linear axes; its logarithmic ones have powers of ten alone.

use std::ops::Range;

use plotters::coord::ranged1d::{
    BoldPoints, KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter,
};
use plotters::coord::types::{RangedCoordf64, RangedCoordi64};
use plotters::prelude::{IntoLogRange, LogCoord};

/// An axis is logarithmic where its largest value is more than this many times its smallest: on a
/// linear one, the fast configurations of a 1:16 range would lie on top of one another.
const LINEAR_UP_TO: f64 = 4.0;

/// What is smaller than this part of the largest value is drawn at the lower end.
const NEGLIGIBLE: f64 = 1e-30;

/// No linear axis is shorter: plotters finds no ticks between numbers that are so near.
const SHORTEST: f64 = 1e-12;

/// The most labels that an axis of time carries.
const TIME_LABELS: usize = 9;

/// The most labels that an axis of m or p carries, and the most digits in all of them.
const COUNT_LABELS: usize = 20;
const COUNT_DIGITS: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Spacing {
    Linear,
    Logarithmic,
}

/// A range of values with the ticks that divide it.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    spacing: Spacing,
    low: f64,
    high: f64,
    /// Values with a grid line and a label.
    pub ticks: Vec<f64>,
    /// Values with a grid line only.
    pub minor: Vec<f64>,
}

impl Axis {
    /// An axis of times in their unit, each at least 0: logarithmic, or linear from 0.
    pub fn of_times(times: impl Iterator<Item = f64> + Clone) -> Self {
        let low = times.clone().fold(f64::INFINITY, f64::min);
        let high = times.fold(0.0, f64::max);
        if low <= 0.0 || high <= LINEAR_UP_TO * low {
            let high = if high > SHORTEST { high * 1.08 } else { 1.0 };
            return Self::linear(0.0, high, TIME_LABELS);
        }
        Self::logarithmic(low, high)
    }

    /// An axis of values above 0, logarithmic however near they are.
    pub fn of_ratios(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(NEGLIGIBLE, f64::max);
        // A ratio that is 1, or nearly, still has a range.
        let low = low.min(high / 1.3);
        Self::logarithmic(low, high)
    }

    fn logarithmic(low: f64, high: f64) -> Self {
        let low = low.max(high * NEGLIGIBLE);
        let margin = (high / low).powf(0.06);
        let (low, high) = (low / margin, high * margin);
        let (ticks, minor) = logarithmic_ticks(low, high, TIME_LABELS);
        Self { spacing: Spacing::Logarithmic, low, high, ticks, minor }
    }

    /// An axis of differences, linear and with 0 on it.
    pub fn of_differences(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(0.0, f64::min);
        let high = values.fold(0.0, f64::max);
        let margin = if high - low > SHORTEST { 0.08 * (high - low) } else { 1.0 };
        Self::linear(low - margin, high + margin, TIME_LABELS)
    }

    /// An axis of a part of something longer, linear and without margins.
    pub fn of_window(low: f64, high: f64) -> Self {
        Self::linear(low, high, TIME_LABELS)
    }

    /// An axis of m or p, increasing and at least 1: linear, or logarithmic with powers of two.
    pub fn of_counts(counts: &[u32]) -> Self {
        let first = counts.first().copied().map_or(1.0, f64::from);
        let last = counts.last().copied().map_or(1.0, f64::from);
        let most = COUNT_LABELS.min(COUNT_DIGITS / last.to_string().len());
        if last <= 32.0 * first {
            let margin = (0.04 * (last - first)).max(0.5);
            let whole = RangedCoordi64::from(first as i64..last as i64);
            let ticks = whole.key_points(BoldPoints(most)).into_iter().map(|tick| tick as f64);
            let (low, high) = (first - margin, last + margin);
            return Self::with_ticks(Spacing::Linear, [low, high], ticks.collect());
        }
        Self::of_doublings(counts)
    }

    /// An axis of m or p that is logarithmic however near the values are.
    pub fn of_doublings(counts: &[u32]) -> Self {
        let first = counts.first().copied().map_or(1.0, f64::from);
        let last = counts.last().copied().map_or(1.0, f64::from);
        let most = COUNT_LABELS.min(COUNT_DIGITS / last.to_string().len());
        let margin = (last / first).powf(0.04);
        let (low, high) = (first / margin, last * margin);
        let powers = (0..32).map(|exponent| f64::from(1_u32 << exponent));
        let powers: Vec<f64> = powers.filter(|power| (low..=high).contains(power)).collect();
        let stride = powers.len().div_ceil(most);
        let ticks = powers.into_iter().step_by(stride).collect();
        Self::with_ticks(Spacing::Logarithmic, [low, high], ticks)
    }

    /// An axis of ratios from one to another, with these ticks.
    pub fn of_marked_ratios(low: f64, high: f64, ticks: &[f64]) -> Self {
        Self::with_ticks(Spacing::Logarithmic, [low, high], ticks.to_vec())
    }

    /// An axis of places without labels.
    pub fn of_places(low: f64, high: f64) -> Self {
        Self::with_ticks(Spacing::Linear, [low, high], Vec::new())
    }

    /// Whether equal differences are equally far.
    pub fn is_linear(&self) -> bool {
        self.spacing == Spacing::Linear
    }

    /// Lower and upper end of the axis.
    pub fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    fn linear(low: f64, high: f64, most: usize) -> Self {
        let ticks = RangedCoordf64::from(low..high).key_points(BoldPoints(most));
        Self::with_ticks(Spacing::Linear, [low, high], ticks)
    }

    fn with_ticks(spacing: Spacing, [low, high]: [f64; 2], ticks: Vec<f64>) -> Self {
        Self { spacing, low, high, ticks, minor: Vec::new() }
    }

    /// The place of a value between the lower end, 0, and the upper one, 1.
    pub fn fraction(&self, value: f64) -> f64 {
        const WHOLE: i32 = 1 << 30;
        f64::from(self.map(&value, (0, WHOLE))) / f64::from(WHOLE)
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    /// What lies beyond an end is drawn there.
    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let value = value.clamp(self.low, self.high);
        match self.spacing {
            Spacing::Linear => RangedCoordf64::from(self.range()).map(&value, pixels),
            Spacing::Logarithmic => LogCoord::from(self.range().log_scale()).map(&value, pixels),
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { self.minor.clone() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        label(*value)
    }
}

/// The words at a tick: `0.5`, `200`, `1e-9`.
pub(super) fn label(value: f64) -> String {
    let value = rounded(value);
    let words = if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    };
    // The sign for minus is as wide as that for plus; a hyphen is not.
    words.strip_prefix('-').map_or(words.clone(), |size| format!("−{size}"))
}

/// Six significant digits: drops the last bits that a multiple of 0.1 carries.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("invariant: a formatted number is a number")
}

/// Ticks at multiples of powers of ten, as many as `most` allows, and grid lines between them.
fn logarithmic_ticks(low: f64, high: f64, most: usize) -> (Vec<f64>, Vec<f64>) {
    const MULTIPLES: [&[f64]; 5] = [
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0],
        &[1.0, 2.0, 3.0, 5.0],
        &[1.0, 2.0, 5.0],
        &[1.0],
    ];
    let first = low.log10().floor() as i32;
    let last = high.log10().floor() as i32;
    let inside = |multiples: &[f64], stride: i32| -> Vec<f64> {
        (first..=last)
            .filter(|exponent| exponent.rem_euclid(stride) == 0)
            .flat_map(|exponent| multiples.iter().map(move |m| m * 10_f64.powi(exponent)))
            .filter(|value| (low..=high).contains(value))
            .collect()
    };
    let every_decade = MULTIPLES.iter().map(|multiples| inside(multiples, 1));
    let some_decades = (2..).map(|stride| inside(&[1.0], stride));
    let ticks = every_decade
        .chain(some_decades)
        .find(|ticks| ticks.len() <= most)
        .expect("invariant: a stride beyond the range leaves at most one tick");
    let minor = if last - first <= 3 {
        inside(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1)
    } else {
        Vec::new()
    };
    (ticks, minor)
}

/// `12.3`, `0.456`, `1.2e-9`: what tells cells apart in little room.
pub(super) fn three_digits(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if !(1e-3..1e5).contains(&value) => format!("{value:.1e}"),
        value => {
            let decimals = (2 - value.log10().floor() as i32).max(0) as usize;
            format!("{value:.decimals$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    fn check_labels(axis: &Axis, expected: &[&str]) {
        let labels: Vec<String> = axis.ticks.iter().map(|&tick| label(tick)).collect();
        assert_eq!(labels, expected);
    }

    fn of_times(times: &[f64]) -> Axis {
        Axis::of_times(times.iter().copied())
    }

    #[test]
    fn equal_ratios_are_equal_distances_where_times_span_a_wide_range() {
        let axis = of_times(&[1.0, 100.0]);
        assert_relative_eq!(axis.fraction(10.0), 0.5, epsilon = 1e-6);
    }

    #[test]
    fn equal_differences_are_equal_distances_where_they_do_not() {
        let axis = of_times(&[1.0, 4.0]);
        assert_relative_eq!(axis.fraction(2.0), 2.0 * axis.fraction(1.0), epsilon = 1e-6);
        assert_relative_eq!(axis.fraction(0.0), 0.0);
    }

    #[test]
    fn a_linear_axis_has_round_labels_from_zero() {
        check_labels(&of_times(&[2.0, 2.1]), &["0", "0.5", "1", "1.5", "2"]);
        check_labels(&of_times(&[0.3]), &["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"]);
    }

    #[test]
    fn a_logarithmic_axis_has_as_many_round_labels_as_fit() {
        check_labels(&of_times(&[1.0, 16.0]), &["1", "2", "3", "4", "6", "8", "10"]);
        check_labels(&of_times(&[0.1, 100.0]), &["0.1", "1", "10", "100"]);
        check_labels(
            &of_times(&[1e-9, 1e6]),
            &["1e-8", "1e-6", "1e-4", "0.01", "1", "100", "10000", "1e6"],
        );
    }

    #[test]
    fn counts_have_whole_labels() {
        check_labels(&Axis::of_counts(&[1, 2, 3, 4]), &["1", "2", "3", "4"]);
        check_labels(&Axis::of_counts(&[7]), &["7"]);
        check_labels(&Axis::of_counts(&[1, 64]), &["1", "2", "4", "8", "16", "32", "64"]);
    }

    #[test]
    fn times_that_a_logarithm_cannot_show_still_have_an_axis() {
        for times in [&[0.0, 0.0][..], &[0.0, 5.0], &[5e-324, 5e-324], &[5e-324, 1e15]] {
            let axis = of_times(times);
            assert!(times.iter().all(|&time| (0.0..=1.0).contains(&axis.fraction(time))));
            assert!((2..=TIME_LABELS + 1).contains(&axis.ticks.len()), "{axis:?}");
        }
    }
}
