//! O_offload, what one off-load costs whatever it carries, from a ping-pong.

use std::collections::BTreeMap;

use super::sample::Mean;
use super::{Measured, Measurement};
use crate::error::{Error, Result, Warning};
use crate::model::parameters::Estimate;
use crate::table::records::Offload;

/// The time of an empty round trip: the intercept of a line through time against bytes.
///
/// `t(bytes) = O_offload + bytes*s`, by least squares with weight `1/t^2`: clocks and machines err
/// in proportion, and the large messages must not drown the intercept. The part that grows with
/// the size is not part of the term, because data accesses inside an off-load are streamed and
/// overlapped.
pub(crate) fn offload(measured: &Measured<Offload>) -> Result<Measurement<Estimate>> {
    let mut by_bytes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for row in &measured.rows {
        by_bytes.entry(row.bytes).or_default().push(row.time_s / row.round_trips as f64);
    }
    if let Some(bytes) = by_bytes.iter().find(|(_, times)| Mean::of(times).value <= 0.0) {
        return Err(Error::TooLittleData {
            file: measured.file.clone(),
            found: format!("a time of 0 s for round trips of {} bytes", bytes.0),
            advice: "measure more round trips, so that the clock can see them".into(),
        });
    }
    let mut warnings = Vec::new();
    let mut intercept = if by_bytes.len() == 1 {
        warnings.push(Warning::Note(format!(
            "{}: with one message size only, o_offload_s cannot be separated from the part that \
             grows with the size; measure several sizes",
            measured.file
        )));
        Mean::of(&by_bytes.into_values().flatten().collect::<Vec<_>>())
    } else {
        intercept(&by_bytes)
    };
    if intercept.value < 0.0 {
        intercept.value = 0.0;
        warnings.push(Warning::AtBound { term: "o_offload_s", bound: 0.0 });
    }
    Ok(Measurement::new(intercept.measured_in(&measured.file), intercept.count, warnings))
}

/// The weighted line's value at zero bytes, and its standard error from the scatter around it.
///
/// With weights `w = 1/t^2`, weighted means `x`, `y` and the slope `b = S_xy/S_xx`:
/// `a = y - b*x` and `var(a) = s^2 * (1/S_w + x^2/S_xx)`, `s^2` being the weighted sum of squared
/// residuals over n - 2.
fn intercept(by_bytes: &BTreeMap<u64, Vec<f64>>) -> Mean {
    let points: Vec<(f64, f64, f64)> = by_bytes
        .iter()
        .flat_map(|(&bytes, times)| {
            let weight = Mean::of(times).value.powi(-2);
            times.iter().map(move |&time| (weight, bytes as f64, time))
        })
        .collect();
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|&(weight, x, y)| weight * term(x, y)).sum()
    };
    let s_w = sum(&|_, _| 1.0);
    let (mean_x, mean_y) = (sum(&|x, _| x) / s_w, sum(&|_, y| y) / s_w);
    let s_xx = sum(&|x, _| (x - mean_x).powi(2));
    let slope = sum(&|x, y| (x - mean_x) * (y - mean_y)) / s_xx;
    let value = mean_y - slope * mean_x;
    let residual = sum(&|x, y| (y - value - slope * x).powi(2));
    let freedom = points.len() as f64 - 2.0;
    let std_error =
        (freedom > 0.0).then(|| (residual / freedom * (1.0 / s_w + mean_x.powi(2) / s_xx)).sqrt());
    Mean { value, std_error, count: points.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (bytes, repetition, microseconds for 10 round trips).
    fn check(rows: &[(u64, u32, f64)]) -> Result<Measurement<Estimate>> {
        let rows = rows.iter().map(|&(bytes, repetition, time_us)| Offload {
            bytes,
            repetition,
            round_trips: 10,
            time_s: time_us * 1e-6,
        });
        offload(&Measured { file: "offload.csv".into(), rows: rows.collect() })
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
        // (0, 1), (1, 1), (2, 4) with weights 1, 1, 1/16: means 6/11 and 12/11, slope 3/7.
        let estimate = check(&[(0, 1, 10.0), (1, 1, 10.0), (2, 1, 40.0)]).unwrap().value;
        approx::assert_relative_eq!(estimate.value, 6e-6 / 7.0, max_relative = 1e-12);
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
    fn a_negative_intercept_is_held_at_zero() {
        let result = check(&[(1000, 1, 10.0), (2000, 1, 30.0)]).unwrap();
        assert_eq!(result.value.value, 0.0);
        assert_eq!(result.warnings, [Warning::AtBound { term: "o_offload_s", bound: 0.0 }]);
    }

    #[test]
    fn round_trips_must_take_some_time() {
        assert_eq!(
            check(&[(8, 1, 0.0)]).unwrap_err().to_string(),
            "offload.csv: a time of 0 s for round trips of 8 bytes; measure more round trips, so \
             that the clock can see them"
        );
    }
}
