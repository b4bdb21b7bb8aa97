//! Repeated measurements of one quantity, and a term as one file determines it.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::shape::ShapeChoice;
use crate::models::parameters::Estimate;
use crate::models::sensitivity::Correlation;
use crate::statistics::Mean;
use mmgp_base::error::Warning;

impl Mean {
    /// Estimate of a term of the model that was measured in `file`.
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

/// A term as one file determines it.
#[derive(Debug)]
pub(crate) struct TermMeasurement<T> {
    pub value: T,
    /// Rows that went into it.
    pub observations: u64,
    /// How the shape of a term over m was chosen, for the term and for each of its parts.
    pub choices: Vec<ShapeChoice>,
    /// How the errors of the entries of a term over m go together, where they do.
    pub correlation: Option<Correlation>,
    pub warnings: Vec<Warning>,
}

impl<T> TermMeasurement<T> {
    /// Measurement of a term without a shape.
    pub fn new(value: T, observations: u64, warnings: Vec<Warning>) -> Self {
        Self { value, observations, choices: Vec::new(), correlation: None, warnings }
    }
}

/// An estimate of which only the value and the origin are known.
pub(crate) fn stated(value: f64, source: &str) -> Estimate {
    Estimate { source: Some(source.to_string()), ..Estimate::exact(value) }
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

    /// Checks that of the 95 % intervals of a thousand seeds 950 hold the truth; sqrt(1000*0.95*0.05) = 6.9
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
    fn first_repetitions_that_do_no_harm_do_none_together() {
        // Ten excesses of half a per cent, against others without any scatter.
        let one: Repetitions = (1..).zip([1.005, 1.0, 1.0]).collect();
        assert_eq!(warm_up("x.csv", &vec![one; 10]), None);
    }
}
