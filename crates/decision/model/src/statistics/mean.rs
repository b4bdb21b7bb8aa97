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
}
