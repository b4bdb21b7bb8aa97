//! Passes over all runs.

use super::{HUBER, Loss, TUKEY};
use crate::fit::runs::LogTimes;

/// Sums over the runs of a configuration, with `u = (ln(time) - ln T)/s`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    /// Of `w = psi(u)/u`.
    pub weights: f64,
    /// Of `w*(ln(time) - ln T)`.
    pub pulls: f64,
    /// Of `psi^2`.
    pub squares: f64,
    /// Of `psi'`.
    pub slopes: f64,
    /// Of `psi'^2`.
    pub slope_squares: f64,
}

/// From so many runs on, two threads share a pass.
const WORTH_A_THREAD: usize = 100_000;

/// The sums of every configuration. Each is made by one thread in the order of its runs, so they
/// do not depend on how many threads there are.
pub(super) fn moments(times: &LogTimes, log_times: &[f64], loss: Loss, scale: f64) -> Vec<Moments> {
    let mut moments = vec![Moments::default(); log_times.len()];
    let runs: usize = times.cells.iter().map(|cell| cell.logs().len()).sum();
    let mut half = 0;
    let middle = times.cells.iter().position(|cell| {
        half += cell.logs().len();
        2 * half >= runs
    });
    let middle = middle.map_or(0, |middle| middle + 1);
    let (first, second) = moments.split_at_mut(middle);
    let fill = |part: &mut [Moments], from: usize| {
        for (index, sums) in part.iter_mut().enumerate() {
            let logs = times.cells[from + index].logs();
            *sums = match loss {
                Loss::Huber => sum(logs, log_times[from + index], scale, huber),
                Loss::Tukey => sum(logs, log_times[from + index], scale, tukey),
            };
        }
    };
    if runs < WORTH_A_THREAD {
        fill(first, 0);
        fill(second, middle);
    } else {
        std::thread::scope(|scope| {
            scope.spawn(|| fill(first, 0));
            fill(second, middle);
        });
    }
    moments
}

/// Weight and derivative of psi.
#[inline(always)]
fn huber(u: f64) -> (f64, f64) {
    let far = u.abs() > HUBER;
    (if far { HUBER / u.abs() } else { 1.0 }, if far { 0.0 } else { 1.0 })
}

#[inline(always)]
fn tukey(u: f64) -> (f64, f64) {
    let square = u * u * (1.0 / (TUKEY * TUKEY));
    let left = (1.0 - square).max(0.0);
    (left * left, left * (1.0 - 5.0 * square))
}

const LANES: usize = 4;

/// In lanes that a processor adds side by side.
#[inline(always)]
fn sum(logs: &[f64], log_time: f64, scale: f64, psi: impl Fn(f64) -> (f64, f64)) -> Moments {
    let inverse = 1.0 / scale;
    let mut lanes = [[0.0; LANES]; 5];
    let mut add = |lane: usize, log: f64| {
        let difference = log - log_time;
        let u = difference * inverse;
        let (weight, slope) = psi(u);
        let terms =
            [weight, weight * difference, (weight * u) * (weight * u), slope, slope * slope];
        for (lanes, term) in lanes.iter_mut().zip(terms) {
            lanes[lane] += term;
        }
    };
    let chunks = logs.chunks_exact(LANES);
    for &log in chunks.remainder() {
        add(0, log);
    }
    for chunk in chunks {
        for (lane, &log) in chunk.iter().enumerate() {
            add(lane, log);
        }
    }
    let [weights, pulls, squares, slopes, slope_squares] =
        lanes.map(|lane| (lane[0] + lane[2]) + (lane[1] + lane[3]));
    Moments { weights, pulls, squares, slopes, slope_squares }
}

/// So many runs of a configuration tell its median well enough to start from.
const ENOUGH: usize = 1000;

/// Every so many runs, at most [`ENOUGH`] in all.
fn some(logs: &[f64]) -> impl Iterator<Item = f64> {
    logs.iter().copied().step_by(logs.len().div_ceil(ENOUGH).max(1))
}

/// The median, for many runs that of some of them.
pub(super) fn median(logs: &[f64]) -> f64 {
    middle(some(logs).collect())
}

/// The median absolute residual over that of the standard normal distribution.
pub(super) fn median_deviation(times: &LogTimes, log_times: &[f64]) -> f64 {
    let cells = times.cells.iter().zip(log_times);
    let all =
        cells.flat_map(|(cell, log_time)| some(cell.logs()).map(move |log| (log - log_time).abs()));
    middle(all.collect()) / 0.674_489_750_196_081_7
}

fn middle(mut values: Vec<f64>) -> f64 {
    let half = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let is_even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if is_even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return 0.5 * (lower + upper);
    }
    upper
}
