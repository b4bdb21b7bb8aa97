//! How unevenly random sublists load accelerators.

use statrs::distribution::{ContinuousCDF as _, Gamma};

/// The loads of so many accelerators in increasing order, over their mean, as expected where each is
/// drawn from a Gamma distribution of that shape: a sum of `shape` exponential lengths.
///
/// The expected order statistics by Blom's approximation (1958): the quantiles at
/// `(i - 3/8)/(count + 1/4)`, which is good to some 2 % here; their mean is made 1.
pub fn ordered(count: u32, shape: f64) -> Vec<f64> {
    let loads = Gamma::new(shape, shape).expect("invariant: a sum has a positive shape");
    let place = |rank: u32| (f64::from(rank) - 0.375) / (f64::from(count) + 0.25);
    let mut loads: Vec<f64> = (1..=count).map(|rank| loads.inverse_cdf(place(rank))).collect();
    let mean = loads.iter().sum::<f64>() / f64::from(count);
    loads.iter_mut().for_each(|load| *load /= mean);
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_load_is_that_of_simulations() {
        // Mean over random heads of the longest of 8 SPEs' loads over the average, by simulation
        // (of n = 2^20 nodes).
        for (sublists, expected) in
            [(8.0, 2.72), (16.0, 2.18), (32.0, 1.81), (64.0, 1.56), (128.0, 1.38), (256.0, 1.26)]
        {
            let found = ordered(8, sublists / 8.0)[7];
            assert!((found / expected - 1.0).abs() < 0.03, "{sublists}: {found}, {expected}");
        }
    }

    #[test]
    fn a_single_accelerator_has_it_all() {
        assert_eq!(ordered(1, 3.0), [1.0]);
    }
}
