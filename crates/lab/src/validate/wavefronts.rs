//! What was chosen of ranks and blocks beside what was swept.

use serde::Serialize;

use super::percent;
use mmgp_base::table::records::{Maybe, WavefrontChoice};

/// How well the model of wavefronts met what was emulated or simulated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WavefrontSummary {
    /// Its name.
    pub model: &'static str,
    /// Mean over the choices of |predicted - measured|/measured \[%\].
    pub mean_error_percent: f64,
    /// Standard deviation of the same \[%\].
    pub sd_error_percent: f64,
    /// The largest of them \[%\].
    pub max_error_percent: f64,
    /// What it chooses for each number of ranks: px, py, mk, mmi.
    pub predicted_best: Vec<[u32; 4]>,
    /// What was the fastest for each.
    pub measured_best: Vec<[u32; 4]>,
    /// How much longer its choice takes than the fastest of as many ranks, the most of all numbers
    /// \[%\].
    pub regret_percent: f64,
}

/// Sets predictions, the fastest first and at least one, beside times of all of them in the same order.
pub fn compare(
    predictions: &[WavefrontChoice],
    measured: &[f64],
) -> (Vec<WavefrontChoice>, WavefrontSummary) {
    let beside = |(row, &measured_s): (&WavefrontChoice, &f64)| WavefrontChoice {
        measured_s: Maybe(Some(measured_s)),
        error_percent: Maybe(Some(percent(row.time_s, measured_s))),
        ..row.clone()
    };
    let rows: Vec<WavefrontChoice> = predictions.iter().zip(measured).map(beside).collect();
    let errors: Vec<f64> =
        rows.iter().filter_map(|row| row.error_percent.0).map(f64::abs).collect();
    let [mean_error_percent, sd_error_percent, max_error_percent] = super::spread(&errors);
    let mut counts: Vec<u32> = rows.iter().map(|row| row.px * row.py).collect();
    counts.sort_unstable();
    counts.dedup();
    let (mut predicted_best, mut measured_best, mut regret_percent) = (vec![], vec![], 0.0_f64);
    for ranks in counts {
        let of_count = rows.iter().zip(measured).filter(|(row, _)| row.px * row.py == ranks);
        let choice = |row: &WavefrontChoice| [row.px, row.py, row.mk, row.mmi];
        let first = of_count.clone().next();
        let fastest = of_count.min_by(|one, other| one.1.total_cmp(other.1));
        let (Some((first, taken)), Some((fastest, least))) = (first, fastest) else { continue };
        predicted_best.push(choice(first));
        measured_best.push(choice(fastest));
        regret_percent = regret_percent.max(percent(*taken, *least));
    }
    let summary = WavefrontSummary {
        model: "wavefront",
        mean_error_percent,
        sd_error_percent,
        max_error_percent,
        predicted_best,
        measured_best,
        regret_percent,
    };
    (rows, summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regret_is_that_of_each_number_of_ranks() {
        let row = |[px, py, mk]: [u32; 3], time_s| WavefrontChoice {
            rank: 1,
            it: 50,
            jt: 50,
            kt: 50,
            px,
            py,
            mk,
            mmi: 3,
            tx: px,
            ty: py,
            time_s,
            low_s: 0.0,
            high_s: 1.0,
            measured_s: Maybe(None),
            error_percent: Maybe(None),
        };
        let rows =
            [row([2, 4, 5], 1.0), row([2, 4, 10], 2.0), row([2, 2, 5], 4.0), row([2, 2, 10], 5.0)];
        // Of eight ranks the choice is a quarter slower than the best, of four it is the best.
        let (rows, summary) = compare(&rows, &[2.5, 2.0, 4.0, 5.0]);
        assert_eq!(rows[0].error_percent, Maybe(Some(-60.0)));
        assert_eq!(summary.predicted_best, [[2, 2, 5, 3], [2, 4, 5, 3]]);
        assert_eq!(summary.measured_best, [[2, 2, 5, 3], [2, 4, 10, 3]]);
        assert_eq!((summary.regret_percent, summary.max_error_percent), (25.0, 60.0));
        assert_eq!(summary.mean_error_percent, 15.0);
    }
}
