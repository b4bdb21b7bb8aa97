//! What is uncertain about the parameters, together, and what it means for a time.
//!
//! *Sources* of error are the entries of the parameters that have a standard error, correlated as
//! [`Correlation`](crate::model::uncertainty::Correlation) says, and what a table may be beyond
//! its last m, where equation 11 holds it constant. Of the latter the assumption is: the table may
//! go on with its last slope, and half of what it would then have gained by m is one standard
//! error, independent of all else; so the interval about the constant just ends where the slope
//! leads.

use std::collections::BTreeMap;

use super::draws::factor;
use crate::model::Parameters;
use crate::model::parameters::OverM;
use crate::model::sensitivity::Entry;
use crate::model::uncertainty::{StandardError, quantile_97_5};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;

/// Something that is not known exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// An entry of the parameters.
    Entry(Entry),
    /// How alpha goes on beyond its table.
    AlphaBeyond,
    /// How O_COL goes on beyond its table.
    CollectiveBeyond,
}

impl Source {
    /// The name of its term in files.
    pub fn term(self) -> &'static str {
        match self {
            Source::Entry(entry) => entry.term(),
            Source::AlphaBeyond => "alpha",
            Source::CollectiveBeyond => "o_col_s",
        }
    }

    /// What people call it: an entry by its name in files, or `alpha beyond m = 4`.
    pub fn name(self, parameters: &Parameters) -> String {
        let terms = &parameters.terms;
        let beyond = |over: &OverM| {
            let last = over.last_m().unwrap_or(1);
            format!("{} beyond m = {last}", self.term())
        };
        match self {
            Source::Entry(entry) => terms.name_of(entry),
            Source::AlphaBeyond => beyond(&terms.alpha),
            Source::CollectiveBeyond => beyond(&terms.o_col_s),
        }
    }
}

/// Where a table ends, and what one standard error of its continuation is.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub last_m: u32,
    /// Standard error of the term for every m beyond the last.
    per_m: f64,
}

impl End {
    /// `at_one` is what the term is at m = 1, if the table does not say.
    fn of(over: &OverM, at_one: f64) -> Option<Self> {
        let OverM::Table(table) = over else { return None };
        let last = table.values.len() - 1;
        let (last_m, value) = (table.m[last], table.values[last].value);
        let (before_m, before) = match last.checked_sub(1) {
            Some(before) => (table.m[before], table.values[before].value),
            None => (1, at_one),
        };
        let slope =
            if last_m == before_m { 0.0 } else { (value - before) / f64::from(last_m - before_m) };
        Some(Self { last_m, per_m: slope.abs() / 2.0 })
    }

    /// One standard error of the term at m \[its unit\]; 0 within the table.
    pub fn error_at(&self, m: u32) -> f64 {
        self.per_m * f64::from(m.saturating_sub(self.last_m))
    }
}

/// All sources of error, and how they go together.
#[derive(Debug, Clone)]
pub(super) struct Uncertainty {
    pub sources: Vec<Source>,
    /// The standard error of each in its unit; those beyond a table count in standard errors.
    pub errors: Vec<f64>,
    /// The standard error of a normal distribution with the same 95 % interval: wider than
    /// `errors` where these were estimated with few degrees of freedom.
    pub spreads: Vec<f64>,
    freedoms: Vec<Option<f64>>,
    /// Row by row.
    correlation: Vec<f64>,
    /// The lower triangle of the correlation matrix, row by row.
    factor: Vec<f64>,
    indices: BTreeMap<Source, usize>,
    pub alpha_end: Option<End>,
    pub collective_end: Option<End>,
}

/// The derivatives of a quantity with respect to some sources, by their indices, increasing.
pub(super) type Slopes = Vec<(usize, f64)>;

impl Uncertainty {
    pub fn of(parameters: &Parameters) -> Self {
        let terms = &parameters.terms;
        let mut known: Vec<(Source, StandardError)> = Vec::new();
        for entry in terms.entries() {
            let error = terms.estimate(entry).and_then(|estimate| estimate.standard_error());
            known.extend(error.filter(|e| e.value > 0.0).map(|e| (Source::Entry(entry), e)));
        }
        let alpha_end = End::of(&terms.alpha, 1.0);
        let collective_end = End::of(&terms.o_col_s, 0.0);
        for (source, end) in
            [(Source::AlphaBeyond, alpha_end), (Source::CollectiveBeyond, collective_end)]
        {
            if end.is_some_and(|end| end.last_m < parameters.apus && end.per_m > 0.0) {
                known.push((source, StandardError { value: 1.0, freedom: None }));
            }
        }
        let normal = quantile_97_5(None);
        let spread = |error: &StandardError| match error.freedom {
            None => error.value,
            freedom => error.value * quantile_97_5(freedom) / normal,
        };
        let sources: Vec<Source> = known.iter().map(|(source, _)| *source).collect();
        let correlation = correlation(parameters, &sources);
        let size = sources.len();
        Self {
            factor: factor(size, |row, column| correlation[row * size + column]),
            correlation,
            indices: sources.iter().copied().zip(0..).collect(),
            errors: known.iter().map(|(_, error)| error.value).collect(),
            spreads: known.iter().map(|(_, error)| spread(error)).collect(),
            freedoms: known.iter().map(|(_, error)| error.freedom).collect(),
            sources,
            alpha_end,
            collective_end,
        }
    }

    /// Whether everything is known exactly.
    pub fn is_none(&self) -> bool {
        self.sources.is_empty()
    }

    pub fn correlation(&self, one: usize, other: usize) -> f64 {
        self.correlation[one * self.sources.len() + other]
    }

    /// The derivatives of T(m,p).
    pub fn slopes(&self, parameters: &Parameters, m: u32, p: u32) -> Slopes {
        self.of_gradient(m, parameters.gradient(Mapping::of(m, p)))
    }

    /// The derivatives of a quantity with these derivatives by entry, at so many threads.
    pub fn of_gradient(&self, m: u32, gradient: Vec<(Entry, f64)>) -> Slopes {
        let mut slopes = Slopes::with_capacity(gradient.len() + 2);
        let mut add = |source: Source, slope: f64| {
            if slope != 0.0
                && let Some(&index) = self.indices.get(&source)
            {
                slopes.push((index, slope));
            }
        };
        let (mut alpha, mut collective) = (0.0, 0.0);
        for (entry, slope) in gradient {
            add(Source::Entry(entry), slope);
            match entry {
                Entry::Alpha(_) => alpha += slope,
                Entry::Collective(_) => collective += slope,
                _ => {}
            }
        }
        let at = |end: Option<End>| end.map_or(0.0, |end| end.error_at(m));
        add(Source::AlphaBeyond, alpha * at(self.alpha_end));
        add(Source::CollectiveBeyond, collective * at(self.collective_end));
        slopes
    }

    /// The standard error of a quantity with these derivatives and its degrees of freedom, as
    /// [`Parameters::propagated`] defines them.
    pub fn standard_error(&self, slopes: &[(usize, f64)]) -> StandardError {
        let (mut variance, mut size, mut scarcity) = (0.0, 0.0, 0.0);
        for (&(index, _), share) in slopes.iter().zip(self.shares(slopes)) {
            variance += share;
            size += share.abs();
            scarcity += share.abs() * self.freedoms[index].map_or(0.0, f64::recip);
        }
        let freedom = (scarcity > 0.0).then(|| size / scarcity);
        StandardError { value: f64::max(variance, 0.0).sqrt(), freedom }
    }

    /// What each source brings into the variance of a quantity with these derivatives: its row
    /// of the double sum. They add up to the variance; with correlation one may be negative.
    pub fn shares(&self, slopes: &[(usize, f64)]) -> Vec<f64> {
        let share = |&(one, slope): &(usize, f64)| {
            let with_all: f64 = slopes
                .iter()
                .map(|&(other, of_other)| {
                    of_other * self.errors[other] * self.correlation(one, other)
                })
                .sum();
            slope * self.errors[one] * with_all
        };
        slopes.iter().map(share).collect()
    }

    /// A warning that names the term which widens the interval of (m, p) most, where one is asked
    /// beyond its table.
    pub fn extrapolated(&self, parameters: &Parameters, m: u32, p: u32) -> Option<Warning> {
        let slopes = self.slopes(parameters, m, p);
        let shares = self.shares(&slopes);
        let whole: f64 = shares.iter().sum();
        let of_ends = slopes.iter().zip(&shares).filter_map(|((index, _), share)| {
            let end = match self.sources[*index] {
                Source::AlphaBeyond => self.alpha_end,
                Source::CollectiveBeyond => self.collective_end,
                Source::Entry(_) => None,
            };
            Some((self.sources[*index].term(), end?.last_m, share / whole))
        });
        let largest = of_ends.max_by(|one, other| one.2.total_cmp(&other.2));
        largest.map(|(term, last, share)| Warning::Extrapolated { m, p, term, last, share })
    }

    /// A quantity with these derivatives in terms of independent standard normal deviates, by
    /// [`Self::spreads`]: the scalar product of two such vectors is the covariance of the two
    /// quantities.
    pub fn deviates(&self, slopes: &[(usize, f64)]) -> Vec<f64> {
        let size = self.sources.len();
        let mut deviates = vec![0.0; size];
        for &(source, slope) in slopes {
            let scale = slope * self.spreads[source];
            let row = &self.factor[source * size..=source * size + source];
            for (deviate, weight) in deviates.iter_mut().zip(row) {
                *deviate += scale * weight;
            }
        }
        deviates
    }

    /// [`Self::deviates`] of T(m,p).
    pub fn deviates_of_time(&self, parameters: &Parameters, m: u32, p: u32) -> Vec<f64> {
        self.deviates(&self.slopes(parameters, m, p))
    }
}

/// The covariance of two quantities from their deviates.
pub(super) fn covariance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The standard deviation of the difference of two quantities.
pub(super) fn spread_between(one: &[f64], other: &[f64]) -> f64 {
    // From +0: the sum of no floats would be -0, and so would its root.
    let squares = one.iter().zip(other).map(|(one, other)| (one - other).powi(2));
    squares.fold(0.0, |sum, square| sum + square).sqrt()
}

fn correlation(parameters: &Parameters, sources: &[Source]) -> Vec<f64> {
    let of = |one: Source, other: Source| match (one, other, &parameters.correlation) {
        _ if one == other => 1.0,
        (Source::Entry(one), Source::Entry(other), Some(correlation)) => correlation.of(one, other),
        _ => 0.0,
    };
    sources.iter().flat_map(|&one| sources.iter().map(move |&other| of(one, other))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::{Estimate, Table};
    use crate::model::published;
    use crate::model::uncertainty::Correlation;

    fn uncertain() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (place, entry) in parameters.terms.entries().into_iter().enumerate() {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            estimate.std_error = Some(0.01 * (1.0 + place as f64) * estimate.value);
            estimate.freedom = (place % 3 == 0).then_some(2.0 + place as f64);
        }
        let entries = vec![Entry::HpuTime, Entry::Gap, Entry::Collective(3)];
        let matrix = vec![1.0, -0.5, 0.25, -0.5, 1.0, 0.125, 0.25, 0.125, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        parameters
    }

    #[test]
    fn the_error_of_a_time_is_what_the_parameters_propagate() {
        let parameters = uncertain();
        let uncertainty = Uncertainty::of(&parameters);
        for (m, p) in [(1, 1), (4, 4), (4, 2), (16, 1)] {
            let found = uncertainty.standard_error(&uncertainty.slopes(&parameters, m, p));
            let expected = parameters.propagated(&parameters.gradient(Mapping::of(m, p)));
            approx::assert_relative_eq!(found.value, expected.value, max_relative = 1e-13);
            approx::assert_relative_eq!(
                found.freedom.unwrap(),
                expected.freedom.unwrap(),
                max_relative = 1e-13
            );
        }
    }

    #[test]
    fn deviates_hold_the_covariance_of_two_times() {
        let mut parameters = uncertain();
        for entry in parameters.terms.entries() {
            parameters.terms.estimate_mut(entry).unwrap().freedom = None;
        }
        let uncertainty = Uncertainty::of(&parameters);
        let [one, other] =
            [(4, 4), (2, 8)].map(|(m, p)| uncertainty.deviates_of_time(&parameters, m, p));
        // var(a - b) by propagation of the difference of the gradients.
        let mut gradient = parameters.gradient(Mapping::of(4, 4));
        let negative = parameters
            .gradient(Mapping::of(2, 8))
            .into_iter()
            .map(|(entry, slope)| (entry, -slope));
        for (entry, slope) in negative {
            match gradient.iter_mut().find(|(known, _)| *known == entry) {
                Some((_, sum)) => *sum += slope,
                None => gradient.push((entry, slope)),
            }
        }
        let expected = parameters.propagated(&gradient).value;
        approx::assert_relative_eq!(spread_between(&one, &other), expected, max_relative = 1e-12);
    }

    #[test]
    fn half_of_what_the_last_slope_would_bring_is_one_standard_error() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let values = [1.0, 1.25, 1.5].map(Estimate::exact).to_vec();
        parameters.terms.alpha = OverM::Table(Table { m: vec![1, 2, 4], values });
        let uncertainty = Uncertainty::of(&parameters);
        let error = |m| uncertainty.standard_error(&uncertainty.slopes(&parameters, m, 1)).value;
        // The slope is 0.125 for each m, and T_HPU = 1.3 s.
        for (m, expected) in [(4, 0.0), (5, 0.0625 * 1.3), (12, 8.0 * 0.0625 * 1.3)] {
            approx::assert_relative_eq!(error(m), expected, max_relative = 1e-13);
        }
        assert_eq!(uncertainty.sources[0].name(&parameters), "alpha beyond m = 4");
    }

    #[test]
    fn a_table_of_one_entry_goes_on_from_what_the_term_is_at_one() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let values = vec![Estimate::exact(30e-6)];
        parameters.terms.o_col_s = OverM::Table(Table { m: vec![4], values });
        let uncertainty = Uncertainty::of(&parameters);
        let slopes = uncertainty.slopes(&parameters, 6, 1);
        // From nothing at m = 1 to 30 us at m = 4, for 20,000 collectives.
        let expected = 20_000.0 * 2.0 * 10e-6 / 2.0;
        approx::assert_relative_eq!(
            uncertainty.standard_error(&slopes).value,
            expected,
            max_relative = 1e-13
        );
    }
}
