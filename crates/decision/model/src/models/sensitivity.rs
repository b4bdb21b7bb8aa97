//! The entries of the parameters, how sure they are together (correlated errors, intervals from few
//! repetitions), and the derivatives of equation 11 that carry their standard errors over to the
//! prediction.

use super::parameters::{Estimate, OverM, Parameters, Terms};
use super::run::{Neighbours, Share};
use super::terms::{Term, TermValue};
use crate::statistics::quantile_97_5;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

/// Number of a parameter set: a scalar term, or one entry of a term over m.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The term that it belongs to.
    pub term: Term,
    /// Its place among the numbers of the term; 0 where the term is one number.
    pub index: usize,
}

impl Terms {
    /// Every number of these terms, in the order of [`Entry`].
    pub fn entries(&self) -> Vec<Entry> {
        let of_term = |(term, value): (Term, TermValue<'_>)| {
            (0..value.estimates.len()).map(move |index| term.entry(index))
        };
        self.values().flat_map(of_term).collect()
    }

    /// The name of `entry` in files: its term's, and of one entry of a table its m, as in
    /// `alpha(2)`.
    pub fn name_of(&self, entry: Entry) -> String {
        let Entry { term, index } = entry;
        let m = self.value(term).m.and_then(|m| m.get(index));
        m.map_or_else(|| term.name().to_string(), |m| format!("{}({m})", term.name()))
    }

    /// The entry of that name, as [`Self::name_of`] gives it.
    pub fn entry_named(&self, name: &str) -> Option<Entry> {
        self.entries().into_iter().find(|&entry| self.name_of(entry) == name)
    }

    /// The estimate of `entry`; `None` where these terms have no such entry.
    pub fn estimate(&self, entry: Entry) -> Option<&Estimate> {
        self.value(entry.term).estimates.get(entry.index)
    }

    /// Estimate of an entry, to change it.
    pub fn estimate_mut(&mut self, entry: Entry) -> Option<&mut Estimate> {
        self.value_mut(entry.term).estimates().get_mut(entry.index)
    }
}

impl OverM {
    /// Numbers of the term: one, or one for each m of the table.
    pub fn estimates(&self) -> &[Estimate] {
        TermValue::from(self).estimates
    }

    /// The entries that the value at m is made of, each with its weight; at most two, the
    /// neighbours of m in the table; beyond a table that goes on, the last two, the lower with a
    /// weight below 0. What they differ from 1 by is the weight of what the term is at m = 1.
    pub fn weights(&self, m: u32) -> Vec<(usize, f64)> {
        let OverM::Table(table) = self else { return vec![(0, 1.0)] };
        let Neighbours { low, high, position } = table.neighbours(m);
        let low = low.map(|low| (low, 1.0 - position));
        low.into_iter().chain([(high, position)]).collect()
    }
}

impl Parameters {
    /// The derivative of T(m,p) with respect to every entry that it depends on, in the order of
    /// [`Entry`]; for an entry x in the unit [s / unit of x].
    ///
    /// With N_COL collectives (N, where they are not counted) and r the fraction of the totals
    /// that the slowest thread runs (1 for data decomposition, R/B for task decomposition),
    ///
    /// `T(m,p) = r * [alpha_m*T_HPU + T_APU/pieces + C_APU + N*(O_offload + T_CSW + p*g)
    /// + N_COL*O_COL]` (eq. 11),
    ///
    /// which is linear in each of its parameters alone.
    pub fn gradient(&self, mapping: Mapping) -> Vec<(Entry, f64)> {
        let terms = &self.terms;
        let (m, p) = (mapping.m(), mapping.p());
        let apus = f64::from(p);
        let Share { fraction: r, pieces } = self.share(m, p);
        let offloads = terms.offloads.value;
        let per_offload = terms.o_offload_s.value + terms.t_csw_s.value + apus * terms.g_s.value;
        let collectives = terms.collectives.as_ref().map(|estimate| estimate.value);
        let o_col_s = terms.linear_o_col_at(m);
        let uncounted_collective = if collectives.is_none() { o_col_s } else { 0.0 };
        let mut gradient = vec![
            (Term::HpuTime.entry(0), r * terms.linear_alpha_at(m)),
            (Term::ApuTime.entry(0), r / pieces),
            (Term::ApuSerialTime.entry(0), r),
            (Term::Offloads.entry(0), r * (per_offload + uncounted_collective)),
            (Term::OffloadOverhead.entry(0), r * offloads),
            (Term::ContextSwitch.entry(0), r * offloads),
            (Term::Gap.entry(0), r * offloads * apus),
        ];
        if collectives.is_some() {
            gradient.push((Term::Collectives.entry(0), r * o_col_s));
        }
        // alpha is 1 at m = 1 by definition, whatever the table says.
        let alpha = if m == 1 { Vec::new() } else { terms.alpha.weights(m) };
        gradient.extend(
            alpha.into_iter().map(|(index, weight)| {
                (Term::Alpha.entry(index), r * weight * terms.t_hpu_s.value)
            }),
        );
        gradient.extend(terms.o_col_s.weights(m).into_iter().map(|(index, weight)| {
            (Term::CollectiveCost.entry(index), r * weight * collectives.unwrap_or(offloads))
        }));
        gradient
    }
}

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
    /// Standard error in the unit of its quantity.
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
            return error(format!("{} twice", entries[entry].term.name()), "each entry once");
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
    /// Standard error with its degrees of freedom, where it is known.
    pub fn standard_error(&self) -> Option<StandardError> {
        let degrees_of_freedom = self.degrees_of_freedom;
        self.std_error.map(|value| StandardError { value, degrees_of_freedom })
    }

    /// Interval of 95 %, which ends at 0, where the standard error is known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half_width = self.standard_error()?.half_width();
        Some(((self.value - half_width).max(0.0), self.value + half_width))
    }
}

impl Parameters {
    /// The correlation of the errors of two entries.
    pub(crate) fn correlated(&self, one: Entry, other: Entry) -> f64 {
        match &self.correlation {
            Some(correlation) => correlation.of(one, other),
            None => f64::from(u8::from(one == other)),
        }
    }

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
        let (mut variance, mut size, mut scarcity) = (0.0, 0.0, 0.0);
        for &(entry, error, degrees_of_freedom) in &known {
            let with_all =
                known.iter().map(|&(other, of_other, _)| of_other * self.correlated(entry, other));
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
    use super::super::parameters::{Decomposition, Interpolation};
    use super::super::published;
    use super::*;
    use crate::toy;

    /// Parameters with tables that go on beyond m = 5 and m = 9.
    fn going_on(parameters: &Parameters, interpolation: Interpolation) -> Parameters {
        let mut parameters = parameters.clone();
        for term in [&mut parameters.terms.alpha, &mut parameters.terms.o_col_s] {
            let OverM::Table(table) = term else { panic!("a table") };
            table.interpolation = interpolation;
        }
        parameters
    }

    fn parameters(decomposition: Decomposition, collectives: Option<f64>) -> Parameters {
        let mut parameters = toy::parameters(decomposition);
        parameters.terms.collectives = collectives.map(Estimate::exact);
        parameters.terms.alpha = toy::table(&[1, 2, 5], &[1.0, 1.25, 1.6]);
        parameters.terms.o_col_s = toy::table(&[3, 5, 9], &[0.0625, 0.5, 0.75]);
        parameters
    }

    /// T is linear in each entry alone, so the central difference is exact but for rounding.
    fn check(parameters: &Parameters, m: u32, p: u32) {
        let gradient = parameters.gradient(Mapping::of(m, p));
        for entry in parameters.terms.entries() {
            let at = |shift: f64| {
                let mut moved = parameters.clone();
                moved.terms.estimate_mut(entry).unwrap().value += shift;
                moved.time(Mapping::of(m, p)).0
            };
            let difference = (at(0.03125) - at(-0.03125)) / 0.0625;
            let derivative =
                gradient.iter().find(|(known, _)| *known == entry).map_or(0.0, |(_, slope)| *slope);
            approx::assert_relative_eq!(
                derivative,
                difference,
                max_relative = 1e-11,
                epsilon = 1e-11
            );
        }
    }

    #[test]
    fn every_derivative_is_the_central_difference_of_the_time() {
        for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 7 }] {
            for collectives in [None, Some(40.0)] {
                let mut parameters = parameters(decomposition, collectives);
                for (m, p) in [(1, 1), (1, 6), (2, 3), (3, 2), (4, 5), (9, 1), (12, 4)] {
                    check(&parameters, m, p);
                    check(&going_on(&parameters, Interpolation::Line), m, p);
                    check(&going_on(&parameters, Interpolation::Logarithm), m, p);
                }
                parameters.terms.alpha = OverM::Constant(Estimate::exact(1.28));
                parameters.terms.o_col_s = OverM::Constant(Estimate::exact(0.01));
                check(&parameters, 1, 2);
                check(&parameters, 6, 2);
            }
        }
    }

    #[test]
    fn an_interpolated_value_answers_to_its_two_neighbours() {
        let gradient = parameters(Decomposition::Data, Some(40.0)).gradient(Mapping::of(4, 1));
        // alpha_4 stands two thirds of the way from m = 2 to m = 5; T_HPU is 2 s.
        let alpha: Vec<_> =
            gradient.into_iter().filter(|(entry, _)| entry.term == Term::Alpha).collect();
        assert_eq!(alpha.len(), 2);
        approx::assert_relative_eq!(alpha[0].1, 2.0 / 3.0, max_relative = 1e-15);
        approx::assert_relative_eq!(alpha[1].1, 4.0 / 3.0, max_relative = 1e-15);
    }

    #[test]
    fn beyond_a_line_the_last_entry_weighs_more_than_all_and_the_one_before_less_than_nothing() {
        let parameters = parameters(Decomposition::Data, None);
        let line = going_on(&parameters, Interpolation::Line).terms;
        assert_eq!(line.alpha.weights(11), [(1, -2.0), (2, 3.0)]);
        let logarithm = going_on(&parameters, Interpolation::Logarithm).terms;
        let weights = logarithm.alpha.weights(13);
        // From 2 to 13 it is log2(6.5)/log2(2.5) times as far as from 2 to 5.
        approx::assert_relative_eq!(
            weights[1].1,
            6.5_f64.ln() / 2.5_f64.ln(),
            max_relative = 1e-14
        );
        assert_eq!(weights[0].1, 1.0 - weights[1].1);
    }

    #[test]
    fn every_entry_has_an_estimate_and_absent_ones_have_none() {
        let terms = parameters(Decomposition::Data, None).terms;
        assert_eq!(terms.entries().len(), 7 + 3 + 3);
        assert!(terms.entries().iter().all(|&entry| terms.estimate(entry).is_some()));
        assert!(terms.estimate(Term::Collectives.entry(0)).is_none());
        assert!(terms.estimate(Term::Alpha.entry(3)).is_none());
    }

    #[test]
    fn opposite_errors_cancel_in_a_sum() {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (entry, error, degrees_of_freedom) in
            [(Term::HpuTime.entry(0), 3.0, Some(4.0)), (Term::ApuSerialTime.entry(0), 4.0, None)]
        {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            (estimate.std_error, estimate.degrees_of_freedom) = (Some(error), degrees_of_freedom);
        }
        let gradient = [
            (Term::HpuTime.entry(0), 1.0),
            (Term::ApuSerialTime.entry(0), 1.0),
            (Term::Gap.entry(0), 5.0),
        ];
        // 3^2 + 4^2, of which 9/25 have four degrees of freedom.
        let apart = parameters.propagated(&gradient);
        approx::assert_relative_eq!(apart.value, 5.0, max_relative = 1e-15);
        approx::assert_relative_eq!(
            apart.degrees_of_freedom.unwrap(),
            100.0 / 9.0,
            max_relative = 1e-15
        );
        let entries = vec![Term::HpuTime.entry(0), Term::ApuSerialTime.entry(0)];
        parameters.correlation =
            Some(Correlation::new(entries, vec![1.0, -0.75, -0.75, 1.0]).unwrap());
        // 25 - 2*0.75*3*4
        let together = parameters.propagated(&gradient).value;
        approx::assert_relative_eq!(together, 7.0f64.sqrt(), max_relative = 1e-15);
    }

    #[test]
    fn only_a_correlation_matrix_is_one() {
        let entries = || vec![Term::HpuTime.entry(0), Term::Alpha.entry(1)];
        for matrix in [vec![1.0], vec![1.0, 0.5, 0.4, 1.0], vec![1.0, 1.5, 1.5, 1.0]] {
            assert!(Correlation::new(entries(), matrix).is_err());
        }
        let twice = vec![Term::HpuTime.entry(0), Term::HpuTime.entry(0)];
        assert!(Correlation::new(twice, vec![1.0, 0.0, 0.0, 1.0]).is_err());
        assert!(Correlation::new(entries(), vec![1.0, 0.5, 0.5, 1.0]).is_ok());
    }

    #[test]
    fn errors_without_degrees_of_freedom_have_none_together() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.t_hpu_s.std_error = Some(3.0);
        let found = parameters.propagated(&[(Term::HpuTime.entry(0), 2.0)]);
        assert_eq!((found.value, found.degrees_of_freedom), (6.0, None));
        let found = parameters.propagated(&[(Term::Gap.entry(0), 2.0)]);
        assert_eq!((found.value, found.degrees_of_freedom), (0.0, None));
    }
}
