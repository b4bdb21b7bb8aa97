//! O_offload, what one off-load costs whatever it carries, from a ping-pong.

use std::collections::BTreeMap;

use super::inputs::Measured;
use super::loggp::line::Lines;
use super::loggp::times;
use super::measurement::Measurement;
use super::sample::{Repetitions, repeated_once, warm_up};
use crate::models::parameters::Estimate;
use crate::statistics::Mean;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::{Offload, OffloadMode};

/// The time of an empty round trip: the intercept of a line through time against bytes, of the
/// first where the protocol changes with the size.
///
/// The part that grows with the size is not part of the term, because data accesses inside an
/// off-load are streamed and overlapped.
pub(crate) fn offload(measured: &Measured<Offload>) -> Result<Measurement<Estimate>> {
    let file = measured.file.as_str();
    let by_bytes = times(measured, OffloadMode::PingPong)?;
    let mut warnings: Vec<Warning> = warm_up(file, &repetitions(measured)).into_iter().collect();
    let mut intercept = match by_bytes.len() {
        0 => {
            return Err(Error::TooLittleData {
                file: file.to_string(),
                found: "no row of mode \"pingpong\"".into(),
                advice: "measure round trips too".into(),
            });
        }
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
    let mut all: BTreeMap<(OffloadMode, u64), Repetitions> = BTreeMap::new();
    for row in &measured.rows {
        let time = row.time_s / row.round_trips as f64;
        all.entry((row.mode, row.bytes)).or_default().push((row.repetition, time));
    }
    all.into_values().collect()
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
            mode: OffloadMode::PingPong,
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
        use crate::fit::sample::noise::{assert_covers, relative};
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
    fn messages_one_way_alone_tell_of_no_round_trip() {
        let (bytes, repetition, round_trips, time_s) = (8, 1, 10, 1e-5);
        let rows =
            vec![Offload { bytes, repetition, round_trips, time_s, mode: OffloadMode::Stream }];
        let error = offload(&Measured { file: "offload.csv".into(), rows }).unwrap_err();
        assert!(error.to_string().contains("no row of mode \"pingpong\""), "{error}");
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
        let measured = Measured { file: "offload.csv".into(), rows: rows.into() };
        let warning = offload(&measured).unwrap().warnings[0].to_string();
        assert!(warning.contains("the first repetition takes +30.0 %"), "{warning}");
    }
}
