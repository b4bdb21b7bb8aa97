//! The mean of repeated measurements of one quantity.

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
}
