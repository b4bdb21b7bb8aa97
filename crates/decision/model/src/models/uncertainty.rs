//! How sure the parameters are together: correlated errors, and intervals from few repetitions.

use super::parameters::{Estimate, Parameters};
use super::sensitivity::Entry;
use crate::statistics::quantile_97_5;
use mmgp_base::error::{Error, Result};

/// How the errors of some entries go together: their correlation matrix.
///
/// Entries that it does not name have errors of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlation {
    entries: Vec<Entry>,
    /// Row by row.
    matrix: Vec<f64>,
}

/// A standard error, and the degrees of freedom that it was estimated with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardError {
    /// In the unit of its quantity.
    pub value: f64,
    /// Degrees of freedom; `None` where the error is taken as known.
    pub degrees_of_freedom: Option<f64>,
}

/// Rounding allowed where a matrix is read back from text.
const ROUNDING: f64 = 1e-9;

impl Correlation {
    /// The correlations of `entries`, `matrix` row by row.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] where an entry is repeated or the matrix is not square, symmetric,
    /// with ones on its diagonal and nothing beyond 1 elsewhere.
    pub fn new(entries: Vec<Entry>, matrix: Vec<f64>) -> Result<Self> {
        let size = entries.len();
        let error = |found: String, expected: &str| {
            Err(Error::out_of_range("correlation", found, expected))
        };
        if matrix.len() != size * size {
            let expected = "a row and a column for each entry";
            return error(format!("{} numbers for {size} entries", matrix.len()), expected);
        }
        if let Some(entry) = (1..size).find(|&index| entries[..index].contains(&entries[index])) {
            return error(format!("{} twice", entries[entry].term()), "each entry once");
        }
        for row in 0..size {
            for column in 0..=row {
                let [one, other] = [matrix[row * size + column], matrix[column * size + row]];
                let is_right = match row == column {
                    true => (one - 1.0).abs() <= ROUNDING,
                    false => one.abs() <= 1.0 + ROUNDING && (one - other).abs() <= ROUNDING,
                };
                if !is_right {
                    let expected = "a symmetric matrix, 1 on the diagonal, from -1 to 1 elsewhere";
                    return error(format!("{one} in row {}", row + 1), expected);
                }
            }
        }
        Ok(Self { entries, matrix })
    }

    /// The entries that it knows, in the order of its rows.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The correlations of the entry with that index, in the order of the entries.
    pub fn row(&self, index: usize) -> &[f64] {
        let size = self.entries.len();
        &self.matrix[index * size..(index + 1) * size]
    }

    /// The correlation of the errors of two entries.
    pub fn of(&self, one: Entry, other: Entry) -> f64 {
        let index = |entry| self.entries.iter().position(|&known| known == entry);
        match (index(one), index(other)) {
            _ if one == other => 1.0,
            (Some(row), Some(column)) => self.row(row)[column],
            _ => 0.0,
        }
    }
}

impl StandardError {
    /// Half the width of the 95 % interval around the quantity.
    pub fn half_width(&self) -> f64 {
        quantile_97_5(self.degrees_of_freedom) * self.value
    }
}

impl Estimate {
    /// Its standard error, where that is known.
    pub fn standard_error(&self) -> Option<StandardError> {
        let degrees_of_freedom = self.degrees_of_freedom;
        self.std_error.map(|value| StandardError { value, degrees_of_freedom })
    }

    /// Its 95 % interval, which ends at 0, where its standard error is known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half_width = self.standard_error()?.half_width();
        Some(((self.value - half_width).max(0.0), self.value + half_width))
    }
}

impl Parameters {
    /// The standard error of a quantity with these derivatives, to first order.
    ///
    /// `var = sum over x, y of dT/dx*dT/dy * se(x)*se(y) * correlation(x,y)`; a value without a
    /// standard error counts as exact. Its degrees of freedom are the mean of those of the values,
    /// `1/f = sum of share(x)/f(x)`, `share(x)` being the part of the variance that x
    /// brings in (its row of the sum), without its sign.
    pub fn propagated(&self, gradient: &[(Entry, f64)]) -> StandardError {
        let known: Vec<(Entry, f64, Option<f64>)> = gradient
            .iter()
            .filter_map(|&(entry, slope)| {
                let error = self.terms.estimate(entry)?.standard_error()?;
                Some((entry, slope * error.value, error.degrees_of_freedom))
            })
            .filter(|(_, error, _)| *error != 0.0)
            .collect();
        let correlation = |one, other| match &self.correlation {
            Some(correlation) => correlation.of(one, other),
            None => f64::from(u8::from(one == other)),
        };
        let (mut variance, mut size, mut scarcity) = (0.0, 0.0, 0.0);
        for &(entry, error, degrees_of_freedom) in &known {
            let with_all =
                known.iter().map(|&(other, of_other, _)| of_other * correlation(entry, other));
            let share = error * with_all.sum::<f64>();
            variance += share;
            size += share.abs();
            scarcity += share.abs() * degrees_of_freedom.map_or(0.0, f64::recip);
        }
        let degrees_of_freedom = (scarcity > 0.0).then(|| size / scarcity);
        StandardError { value: variance.max(0.0).sqrt(), degrees_of_freedom }
    }
}

#[cfg(test)]
mod tests {
    use super::super::published;
    use super::*;

    #[test]
    fn opposite_errors_cancel_in_a_sum() {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (entry, error, degrees_of_freedom) in
            [(Entry::HpuTime, 3.0, Some(4.0)), (Entry::ApuSerialTime, 4.0, None)]
        {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            (estimate.std_error, estimate.degrees_of_freedom) = (Some(error), degrees_of_freedom);
        }
        let gradient = [(Entry::HpuTime, 1.0), (Entry::ApuSerialTime, 1.0), (Entry::Gap, 5.0)];
        // 3^2 + 4^2, of which 9/25 have four degrees of freedom.
        let apart = parameters.propagated(&gradient);
        approx::assert_relative_eq!(apart.value, 5.0, max_relative = 1e-15);
        approx::assert_relative_eq!(
            apart.degrees_of_freedom.unwrap(),
            100.0 / 9.0,
            max_relative = 1e-15
        );
        let entries = vec![Entry::HpuTime, Entry::ApuSerialTime];
        parameters.correlation =
            Some(Correlation::new(entries, vec![1.0, -0.75, -0.75, 1.0]).unwrap());
        // 25 - 2*0.75*3*4
        let together = parameters.propagated(&gradient).value;
        approx::assert_relative_eq!(together, 7.0f64.sqrt(), max_relative = 1e-15);
    }

    #[test]
    fn only_a_correlation_matrix_is_one() {
        let entries = || vec![Entry::HpuTime, Entry::Alpha(1)];
        for matrix in [vec![1.0], vec![1.0, 0.5, 0.4, 1.0], vec![1.0, 1.5, 1.5, 1.0]] {
            assert!(Correlation::new(entries(), matrix).is_err());
        }
        let twice = vec![Entry::HpuTime, Entry::HpuTime];
        assert!(Correlation::new(twice, vec![1.0, 0.0, 0.0, 1.0]).is_err());
        assert!(Correlation::new(entries(), vec![1.0, 0.5, 0.5, 1.0]).is_ok());
    }

    #[test]
    fn errors_without_degrees_of_freedom_have_none_together() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.t_hpu_s.std_error = Some(3.0);
        let found = parameters.propagated(&[(Entry::HpuTime, 2.0)]);
        assert_eq!((found.value, found.degrees_of_freedom), (6.0, None));
        let found = parameters.propagated(&[(Entry::Gap, 2.0)]);
        assert_eq!((found.value, found.degrees_of_freedom), (0.0, None));
    }
}
