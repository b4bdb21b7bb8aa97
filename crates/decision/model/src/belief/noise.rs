//! The noise of single runs, as far as repetitions tell.
//!
//! Beforehand the logarithm of the noise is a mixture of normal distributions about what programs
//! have: of 17 tables with repetitions, 0.2 to 26 %, 7 % in the median. The posterior given the
//! repetitions' squared deviations is cut into nodes of equal weight: one where it is well known, five
//! where nothing was repeated.

use crate::models::observations::Observations;

/// Centres of the mixture and their weights.
const BEFOREHAND: [(f64, f64); 4] = [(0.005, 0.2), (0.02, 0.3), (0.06, 0.3), (0.18, 0.2)];

/// Standard deviation of the logarithm about each.
const SPREAD: f64 = 0.5;

/// The grid: from, to, and points on it.
const GRID: (f64, f64, usize) = (1e-3, 0.6, 200);

/// Number of nodes as long as the standard deviation of the logarithm is below the first number.
const NODES: [(f64, usize); 3] = [(0.08, 1), (0.25, 3), (f64::INFINITY, 5)];

/// Standard deviations of the logarithm of a single run, equally likely, increasing.
pub(super) fn nodes(observations: &Observations) -> Vec<f64> {
    let (squares, degrees) = (observations.scatter, observations.degrees_of_freedom);
    let (from, to, count) = (GRID.0.ln(), GRID.1.ln(), GRID.2);
    let log_noises: Vec<f64> =
        (0..count).map(|it| from + (to - from) * it as f64 / (count - 1) as f64).collect();
    let log_density = |log_noise: f64| {
        let about = |(centre, weight): (f64, f64)| {
            weight * (-0.5 * ((log_noise - centre.ln()) / SPREAD).powi(2)).exp()
        };
        let beforehand: f64 = BEFOREHAND.into_iter().map(about).sum();
        beforehand.ln() - degrees * log_noise - 0.5 * squares * (-2.0 * log_noise).exp()
    };
    let logs: Vec<f64> = log_noises.iter().map(|&it| log_density(it)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean_of = |of: &dyn Fn(f64) -> f64| -> f64 {
        log_noises.iter().zip(&weights).map(|(it, weight)| weight * of(*it)).sum::<f64>() / total
    };
    let mean = mean_of(&|it| it);
    let deviation = mean_of(&|it| (it - mean).powi(2)).sqrt();
    let (_, nodes) = NODES.into_iter().find(|(below, _)| deviation < *below).unwrap_or(NODES[2]);
    if nodes == 1 {
        return vec![mean.exp()];
    }
    let quantile = |share: f64| {
        let mut sum = 0.0;
        for (index, weight) in weights.iter().enumerate() {
            let next = sum + weight / total;
            if next >= share {
                let before = log_noises[index.saturating_sub(1)];
                let part = ((share - sum) / (next - sum)).clamp(0.0, 1.0);
                return (before + part * (log_noises[index] - before)).exp();
            }
            sum = next;
        }
        to.exp()
    };
    (0..nodes).map(|node| quantile((node as f64 + 0.5) / nodes as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(noise: f64, degrees: f64) -> Vec<f64> {
        nodes(&Observations::new("runs.csv", Vec::new(), degrees * noise * noise, degrees))
    }

    #[test]
    fn nothing_repeated_leaves_five_nodes_about_what_programs_have() {
        let found = of(0.0, 0.0);
        assert_eq!(found.len(), 5);
        assert!(found.is_sorted() && found[0] < 0.01 && found[4] > 0.1, "{found:?}");
    }

    #[test]
    fn repetitions_say_how_large_it_is_and_how_well_that_is_known() {
        // The standard deviation of the logarithm is 1/sqrt(2 degrees): 0.25 at 8, 0.08 at 80.
        for (degrees, count) in [(2.0, 5), (12.0, 3), (200.0, 1)] {
            let found = of(0.033, degrees);
            assert_eq!(found.len(), count, "{degrees}");
            let middle = found[count / 2];
            assert!((0.025..0.042).contains(&middle), "{degrees}: {middle}");
        }
        approx::assert_relative_eq!(of(0.033, 2000.0)[0], 0.033, max_relative = 0.01);
    }

    #[test]
    fn equal_times_make_no_certainty() {
        assert!(of(0.0, 3.0)[0] > 1e-3 && of(0.0, 3.0)[4] < 0.02);
    }
}
