//! Repeated measurements of one quantity.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::model::parameters::Estimate;
use mmgp_base::error::Warning;

/// Mean of a sample, with its standard error where there are two values or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mean {
    pub value: f64,
    pub std_error: Option<f64>,
    /// Degrees of freedom of the standard error.
    pub degrees_of_freedom: f64,
    /// Values in the sample.
    pub count: u64,
}

impl Mean {
    /// Of at least one value. Values that are all the same have themselves as the mean and a
    /// standard error of exactly 0, without rounding.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let first = values[0];
        let value = first + values.iter().map(|each| each - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|each| (each - value).powi(2)).sum();
        let std_error = (values.len() >= 2).then(|| (squares / (count - 1.0) / count).sqrt());
        Self { value, std_error, degrees_of_freedom: count - 1.0, count: values.len() as u64 }
    }

    /// The same quantity in a unit that is `divisor` times as large.
    pub fn per(self, divisor: f64) -> Self {
        let std_error = self.std_error.map(|error| error / divisor);
        Self { value: self.value / divisor, std_error, ..self }
    }

    /// So many times the quantity.
    pub fn times(self, factor: f64) -> Self {
        self.per(1.0 / factor)
    }

    /// Less another quantity whose errors are independent; degrees of freedom after Welch and
    /// Satterthwaite.
    pub fn minus(self, other: Self) -> Self {
        let errors = self.std_error.zip(other.std_error);
        let variances = errors.map(|(one, other)| (one.powi(2), other.powi(2)));
        let degrees_of_freedom = variances.map_or(0.0, |(one, two)| {
            let scarcity =
                one.powi(2) / self.degrees_of_freedom + two.powi(2) / other.degrees_of_freedom;
            if scarcity > 0.0 {
                (one + two).powi(2) / scarcity
            } else {
                self.degrees_of_freedom + other.degrees_of_freedom
            }
        });
        Self {
            value: self.value - other.value,
            std_error: variances.map(|(one, two)| (one + two).sqrt()),
            degrees_of_freedom,
            count: self.count + other.count,
        }
    }

    /// As a term of the model that was measured in `file`.
    pub fn measured_in(&self, file: &str) -> Estimate {
        Estimate {
            value: self.value,
            std_error: self.std_error,
            degrees_of_freedom: self.std_error.map(|_| self.degrees_of_freedom),
            source: Some(file.to_string()),
            combined_with: Vec::new(),
        }
    }
}

/// What one measurement gave in each of its repetitions, in their order.
pub(crate) type Repetitions = Vec<(u32, f64)>;

/// A first repetition that is slower by less than this fraction does no harm.
const HARMLESS: f64 = 0.01;

/// How rarely chance alone may raise the warning.
const RARELY: f64 = 0.001;

/// A warning where the first repetitions are slower than the others, over all measurements of a
/// file: caches, branch predictors and page tables that were still cold.
///
/// With r measurements of n repetitions, each over the mean of its own others, the excess of the
/// first is 0 on average and `s^2*[1 + 1/(n - 1)]` is its variance, `s^2` being the pooled
/// relative variance of the others; the mean of the r excesses is held against Student's
/// distribution.
pub(crate) fn warm_up(file: &str, measurements: &[Repetitions]) -> Option<Warning> {
    let (mut excess, mut variance, mut squares, mut degrees_of_freedom) = (0.0, 0.0, 0.0, 0.0);
    let mut compared = 0.0;
    for repetitions in measurements.iter().filter(|repetitions| repetitions.len() >= 3) {
        let first = repetitions.iter().min_by_key(|(repetition, _)| *repetition)?;
        let others: Vec<f64> =
            repetitions.iter().filter(|each| each.0 != first.0).map(|each| each.1).collect();
        let mean = Mean::of(&others);
        if mean.value <= 0.0 {
            continue;
        }
        compared += 1.0;
        excess += first.1 / mean.value - 1.0;
        variance += 1.0 + 1.0 / others.len() as f64;
        squares +=
            others.iter().map(|each| ((each - mean.value) / mean.value).powi(2)).sum::<f64>();
        degrees_of_freedom += mean.degrees_of_freedom;
    }
    if compared == 0.0 || excess / compared <= HARMLESS {
        return None;
    }
    let student =
        StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("invariant: others are two or more");
    let deviation = (squares / degrees_of_freedom * variance).sqrt();
    (excess > student.inverse_cdf(1.0 - RARELY) * deviation).then(|| Warning::WarmUp {
        file: file.to_string(),
        percent: 100.0 * excess / compared,
        deviations: excess / deviation,
        left_out: 0,
    })
}

/// A warning where a term has a value but no standard error.
pub(crate) fn repeated_once(term: &'static str, file: &str) -> Warning {
    Warning::MeasuredOnce { term, file: file.to_string() }
}

/// Noise for tests of what repetitions leave unknown.
#[cfg(test)]
pub(crate) mod noise {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Draws factors of mean 1 and the standard deviation that it is given.
    pub fn relative(seed: u64) -> impl FnMut(f64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        move |deviation| {
            let normal: f64 = StandardNormal.sample(&mut random);
            1.0 + deviation * normal
        }
    }

    /// Of the 95 % intervals of a thousand seeds, 950 hold the truth; sqrt(1000*0.95*0.05) = 6.9
    /// is the standard error of their number, of which less than three are allowed.
    pub fn assert_covers(interval_and_truth: impl Fn(u64) -> ((f64, f64), f64)) {
        let holds = |&seed: &u64| {
            let ((low, high), truth) = interval_and_truth(seed);
            low <= truth && truth <= high
        };
        let covered = (1..=1000).filter(holds).count();
        assert!((930..=970).contains(&covered), "{covered} of 1000 intervals hold the truth");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_of_a_mean_by_hand() {
        // Deviations -1, 0, 1: variance 1, standard error sqrt(1/3).
        let mean = Mean::of(&[2.0, 3.0, 4.0]);
        assert_eq!((mean.value, mean.degrees_of_freedom, mean.count), (3.0, 2.0, 3));
        approx::assert_relative_eq!(mean.std_error.unwrap(), (1.0_f64 / 3.0).sqrt());
        assert_eq!(Mean::of(&[5.0]).std_error, None);
    }

    #[test]
    fn values_that_agree_leave_no_error_at_all() {
        let mean = Mean::of(&[0.1; 7]);
        assert_eq!((mean.value, mean.std_error), (0.1, Some(0.0)));
        assert_eq!(mean.measured_in("x.csv").interval(), Some((0.1, 0.1)));
    }

    /// Whether a file of two measurements with these repetitions raises a warning.
    fn check(repetitions: &[f64], warning: Option<&str>) {
        let measurement: Repetitions = (1..).zip(repetitions.iter().copied()).collect();
        let found = warm_up("x.csv", &[measurement.clone(), measurement]);
        assert_eq!(found.map(|warning| warning.to_string()).as_deref(), warning);
    }

    #[test]
    fn a_slow_first_repetition_raises_a_doubt() {
        let slower = "x.csv: the first repetition takes +20.0 % against the others, more than chance \
                      explains: what is measured warms up; run it once before the clock starts";
        check(&[1.2, 1.0, 1.0, 1.0], Some(slower));
        check(&[1.2, 0.99, 1.0, 1.01, 0.99, 1.01], Some(slower));
        // By 0.5 %: harmless. By 20 %, but the others differ by as much. Faster. Too few.
        check(&[1.005, 1.0, 1.0, 1.0], None);
        check(&[1.2, 1.2, 0.8, 1.1, 0.9], None);
        check(&[0.8, 1.0, 1.0, 1.0], None);
        check(&[1.2, 1.0], None);
    }

    #[test]
    fn how_far_the_first_repetitions_are_off_by_hand() {
        // Ten excesses of 0.5, each of variance 0.02*(1 + 1/2): 5/sqrt(0.3).
        let one: Repetitions = [(1, 1.5), (2, 0.9), (3, 1.1)].into_iter().collect();
        let warning = warm_up("alpha.csv", &vec![one; 10]);
        let Some(Warning::WarmUp { percent, deviations, .. }) = warning else {
            panic!("{warning:?}")
        };
        approx::assert_relative_eq!(percent, 50.0, max_relative = 1e-12);
        approx::assert_relative_eq!(deviations, 5.0 / 0.3_f64.sqrt(), max_relative = 1e-12);
    }

    #[test]
    fn the_errors_of_a_difference_add_by_their_squares_and_freedom_by_welch_and_satterthwaite() {
        let of = |value, std_error, degrees_of_freedom, count| Mean {
            value,
            std_error,
            degrees_of_freedom,
            count,
        };
        // Variances 9 and 16: an error of 5, and 25^2/(9^2/4 + 16^2/8) = 625/52.25.
        let (one, two) = (of(10.0, Some(3.0), 4.0, 5), of(4.0, Some(4.0), 8.0, 9));
        assert_eq!(one.minus(two), of(6.0, Some(5.0), 625.0 / 52.25, 14));
        // What has no error at all leaves nothing to weigh the degrees of freedom by.
        let (one, two) = (of(10.0, Some(0.0), 4.0, 5), of(4.0, Some(0.0), 8.0, 9));
        assert_eq!(one.minus(two), of(6.0, Some(0.0), 12.0, 14));
        let once = of(4.0, None, 0.0, 1);
        assert_eq!(one.minus(once), of(6.0, None, 0.0, 6));
    }

    #[test]
    fn first_repetitions_that_do_no_harm_do_none_together() {
        // Ten excesses of half a per cent, against others without any scatter.
        let one: Repetitions = (1..).zip([1.005, 1.0, 1.0]).collect();
        assert_eq!(warm_up("x.csv", &vec![one; 10]), None);
    }
}
