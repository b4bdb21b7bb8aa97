//! Intervals from resamples.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Around;

/// The estimates of all resamples, and 95 % intervals from them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bootstrap {
    /// The unknowns of every resample, resample by resample.
    pub samples: Vec<f64>,
    /// Resamples that had no minimum and were left out.
    pub failed: usize,
    /// Standard deviation of each unknown.
    pub deviations: Vec<f64>,
    /// From the 2.5th to the 97.5th percentile of each unknown.
    pub percentile: Vec<(f64, f64)>,
    /// The same, corrected for bias and for a scatter that changes with the unknown (BCa: Efron,
    /// J. Am. Stat. Assoc. 82 (1987) 171).
    pub corrected: Vec<(f64, f64)>,
}

impl Bootstrap {
    /// `influences` are what each row of the data moves each unknown by.
    pub fn new(samples: Vec<f64>, failed: usize, influences: &[f64], around: &Around<'_>) -> Self {
        let unknowns = around.x.len();
        let mut bootstrap = Self {
            samples,
            failed,
            deviations: Vec::new(),
            percentile: Vec::new(),
            corrected: Vec::new(),
        };
        for (unknown, estimate) in around.x.iter().enumerate() {
            let mut values: Vec<f64> =
                bootstrap.samples.iter().skip(unknown).step_by(unknowns).copied().collect();
            values.sort_by(f64::total_cmp);
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            bootstrap.deviations.push((squares / (count - 1.0)).sqrt());
            bootstrap.percentile.push((quantile(&values, 0.025), quantile(&values, 0.975)));
            let acceleration = acceleration(influences.iter().skip(unknown).step_by(unknowns));
            let [low, high] = corrected_levels(&values, *estimate, acceleration);
            bootstrap.corrected.push((quantile(&values, low), quantile(&values, high)));
        }
        bootstrap
    }
}

/// Between the two order statistics that surround it.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level * (sorted.len() + 1) as f64 - 1.0;
    let place = place.clamp(0.0, (sorted.len() - 1) as f64);
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + part * (sorted[above] - sorted[below])
}

/// A sixth of the skewness of what the rows do.
fn acceleration<'a>(influences: impl Iterator<Item = &'a f64>) -> f64 {
    let (squares, cubes) = influences
        .fold((0.0, 0.0), |(squares, cubes), each| (squares + each * each, cubes + each.powi(3)));
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

fn corrected_levels(sorted: &[f64], estimate: f64, acceleration: f64) -> [f64; 2] {
    let normal = Normal::standard();
    let count = sorted.len() as f64;
    let below = sorted.partition_point(|value| *value < estimate);
    let up_to = sorted.partition_point(|value| *value <= estimate);
    // Values at the estimate, which a bound may hold there, count half.
    let fraction = 0.5 * (below + up_to) as f64 / count;
    let bias = normal.inverse_cdf(fraction.clamp(0.5 / count, 1.0 - 0.5 / count));
    [0.025, 0.975].map(|level| {
        let shifted = bias + normal.inverse_cdf(level);
        normal.cdf(bias + shifted / (1.0 - acceleration * shifted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_order_statistics() {
        let sorted: Vec<f64> = (1..=39).map(f64::from).collect();
        // 0.025*40 = 1 and 0.975*40 = 39.
        assert_eq!([0.025, 0.5, 0.975].map(|level| quantile(&sorted, level)), [1.0, 20.0, 39.0]);
        assert_eq!(quantile(&sorted, 0.26875), 10.75);
        assert_eq!([0.0, 1.0].map(|level| quantile(&sorted, level)), [1.0, 39.0]);
    }

    #[test]
    fn without_bias_and_skewness_the_levels_stay() {
        let sorted: Vec<f64> = (-500..=500).map(f64::from).collect();
        let [low, high] = corrected_levels(&sorted, 0.0, 0.0);
        approx::assert_relative_eq!(low, 0.025, max_relative = 1e-9);
        approx::assert_relative_eq!(high, 0.975, max_relative = 1e-9);
        // Efron and Tibshirani, An Introduction to the Bootstrap, equation 14.10, by hand with
        // z0 = 0.1 (54 % below) and a = 0.05: Phi(0.1 + (0.1 - 1.96)/(1 + 0.093)) = Phi(-1.6017).
        let below = normal_place(&sorted, 0.1);
        let [low, _] = corrected_levels(&sorted, below, 0.05);
        approx::assert_relative_eq!(low, 0.0546, max_relative = 5e-3);
    }

    /// The value below which `Phi(z)` of the numbers lie.
    fn normal_place(sorted: &[f64], z: f64) -> f64 {
        let count = Normal::standard().cdf(z) * sorted.len() as f64;
        sorted[count.round() as usize]
    }

    #[test]
    fn symmetric_influences_have_no_acceleration() {
        assert_eq!(acceleration([1.0, -1.0, 2.0, -2.0].iter()), 0.0);
        // (8 - 2)/(6*(4 + 1 + 1)^1.5)
        approx::assert_relative_eq!(
            acceleration([2.0, -1.0, -1.0].iter()),
            1.0 / 6.0_f64.powf(1.5)
        );
    }

    #[test]
    fn an_estimate_beyond_all_resamples_counts_as_half_a_resample_from_the_end() {
        // Half of 20 is 2.5 %, where the normal quantile is -1.96: Phi(-3*1.96) and Phi(-1.96).
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        let [low, high] = corrected_levels(&sorted, 0.0, 0.0);
        assert!(0.0 < low && low < 1e-8, "{low}");
        approx::assert_relative_eq!(high, 0.025, max_relative = 1e-9);
        let [low, high] = corrected_levels(&sorted, 21.0, 0.0);
        approx::assert_relative_eq!(low, 0.975, max_relative = 1e-9);
        assert!(1.0 - 1e-8 < high && high < 1.0, "{high}");
        // Two of twenty: z0 = -1.2816, Phi(2*z0 - 1.96) = Phi(-4.5231) = 3.0e-6.
        let [low, _] = corrected_levels(&sorted, 2.5, 0.0);
        approx::assert_relative_eq!(low, 3.05e-6, max_relative = 0.02);
        assert_eq!(acceleration([0.0, 0.0].iter()), 0.0, "nothing moves it");
    }
}
