//! All uncertain values drawn together, many times, and the times that follow.
//!
//! A value's draws stand side by side, and so do the times of a configuration: every step is one
//! operation on all draws of a column. The times of equation 11 follow exactly, those of other
//! models to first order: `T + sum of dT/dx*(x[d] - x)`, not below 0.

mod equation_11;
mod together;

use super::Sampling;
use super::uncertainty::Uncertainty;
use crate::model::Parameters;
use crate::model::run::Row;
use equation_11::Equation11Draws;
use mmgp_base::Mapping;
pub(super) use together::factor;

/// A parameter in every draw.
#[derive(Debug, Clone)]
enum Column {
    /// The same in all.
    Same(f64),
    /// One value for each.
    Drawn(Vec<f64>),
}

impl Column {
    /// `sums[d] += weight * self[d]` for every draw d.
    fn add_to(&self, sums: &mut [f64], weight: f64) {
        match self {
            Column::Same(value) => sums.iter_mut().for_each(|sum| *sum += weight * value),
            Column::Drawn(values) => {
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += weight * value;
                }
            }
        }
    }

    /// So many values.
    fn filled(self, count: usize) -> Vec<f64> {
        match self {
            Column::Same(value) => vec![value; count],
            Column::Drawn(values) => values,
        }
    }

    /// `factors[d] *= self[d]` for every draw d.
    fn multiply(&self, factors: &mut [f64]) {
        match self {
            Column::Same(value) => factors.iter_mut().for_each(|factor| *factor *= value),
            Column::Drawn(values) => {
                for (factor, value) in factors.iter_mut().zip(values) {
                    *factor *= value;
                }
            }
        }
    }
}

/// The times of a model in every draw.
pub(super) struct Draws<'a> {
    pub count: usize,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Equation11(&'a Parameters, Box<Equation11Draws>),
    /// By how much each source differs from its value.
    FirstOrder(&'a Uncertainty<'a>, Vec<Vec<f64>>),
}

/// The times at one m in every draw.
pub(super) enum DrawnRow<'a> {
    /// Equation 11: `constant[d] + shared[d]*share/p + growing[d]*fraction*p`.
    Form {
        constant: Vec<f64>,
        /// T_APU, and the part of it that one of p APUs has.
        shared: (&'a [f64], f64),
        /// `N*g`, and the fraction of the totals that the slowest thread runs.
        growing: (&'a [f64], f64),
    },
    /// To first order, at m threads in so many draws.
    FirstOrder {
        uncertainty: &'a Uncertainty<'a>,
        deviations: &'a [Vec<f64>],
        m: u32,
        count: usize,
    },
}

impl DrawnRow<'_> {
    /// The row of the draw with that index, where the model has one.
    pub fn of_draw(&self, draw: usize) -> Option<Row> {
        let Self::Form { constant, shared, growing } = self else { return None };
        Some(Row {
            constant: constant[draw],
            shared: shared.0[draw] * shared.1,
            growing: growing.0[draw] * growing.1,
        })
    }

    /// The time with p APUs for each thread in the draw with that index.
    pub fn at(&self, draw: usize, p: u32) -> f64 {
        match self {
            Self::Form { constant, shared, growing } => {
                let p = f64::from(p);
                let (share, fraction) = (shared.1 / p, growing.1 * p);
                constant[draw] + shared.0[draw] * share + growing.0[draw] * fraction
            }
            Self::FirstOrder { uncertainty, deviations, m, .. } => {
                let mapping = Mapping::of(*m, p);
                let deviation = |(source, slope): (usize, f64)| slope * deviations[source][draw];
                let sum: f64 = uncertainty.slopes(mapping).into_iter().map(deviation).sum();
                (uncertainty.model.time(mapping).0 + sum).max(0.0)
            }
        }
    }

    /// The times with p APUs for each thread in all draws; `room` is for those that do not follow
    /// from the row.
    pub fn times<'s>(&'s self, p: u32, room: &'s mut Vec<f64>) -> impl Iterator<Item = f64> + 's {
        let (constant, shared, growing, share, fraction) = match self {
            Self::Form { constant, shared, growing } => {
                let p = f64::from(p);
                (&constant[..], shared.0, growing.0, shared.1 / p, growing.1 * p)
            }
            Self::FirstOrder { uncertainty, deviations, m, count } => {
                let mapping = Mapping::of(*m, p);
                room.clear();
                room.resize(*count, uncertainty.model.time(mapping).0);
                for (source, slope) in uncertainty.slopes(mapping) {
                    for (time, deviation) in room.iter_mut().zip(&deviations[source]) {
                        *time += slope * deviation;
                    }
                }
                room.iter_mut().for_each(|time| *time = time.max(0.0));
                (&room[..], &room[..], &room[..], 0.0, 0.0)
            }
        };
        let rows = constant.iter().zip(shared).zip(growing);
        rows.map(move |((constant, shared), growing)| {
            constant + shared * share + growing * fraction
        })
    }
}

impl<'a> Draws<'a> {
    /// Draws every uncertain value from the normal distribution of its estimate and their
    /// correlation, given that none is below its least.
    ///
    /// Values that are correlated, directly or through others, are drawn together, and again
    /// together where one of them is too small; after 100 trials in vain those that are become the
    /// least that they can be. Standard errors that were estimated with few degrees of freedom are
    /// widened so that 95 % of the draws lie in the 95 % interval of Student's distribution.
    pub fn new(uncertainty: &'a Uncertainty<'a>, sampling: Sampling) -> Self {
        let count = sampling.draws as usize;
        let mut drawn = together::columns(uncertainty, sampling);
        let kind = match uncertainty.model.equation_11() {
            Some(parameters) => {
                let draws = Equation11Draws::new(parameters, uncertainty, drawn, count);
                Kind::Equation11(parameters, Box::new(draws))
            }
            None => {
                for (column, source) in drawn.iter_mut().zip(&uncertainty.sources) {
                    column.iter_mut().for_each(|value| *value -= source.value);
                }
                Kind::FirstOrder(uncertainty, drawn)
            }
        };
        Self { count, kind }
    }

    /// Whether the times follow from rows in each draw.
    pub fn has_rows(&self) -> bool {
        matches!(self.kind, Kind::Equation11(..))
    }

    /// The times at m in the first `count` draws.
    pub fn row(&self, m: u32, count: usize) -> DrawnRow<'_> {
        match &self.kind {
            Kind::Equation11(parameters, draws) => draws.row(parameters, m, count),
            Kind::FirstOrder(uncertainty, deviations) => {
                DrawnRow::FirstOrder { uncertainty, deviations, m, count }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::Estimate;
    use crate::model::published;
    use crate::model::sensitivity::Entry;
    use crate::model::uncertainty::Correlation;

    const SAMPLING: Sampling = Sampling { draws: 100_000, seed: 3 };

    /// PBPI with these errors and correlations of T_HPU and C_APU, and nothing else uncertain.
    fn two_uncertain(
        [hpu, serial]: [(f64, f64); 2],
        correlation: f64,
        degrees_of_freedom: Option<f64>,
    ) -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (entry, (value, error)) in [(Entry::HpuTime, hpu), (Entry::ApuSerialTime, serial)] {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            *estimate =
                Estimate { std_error: Some(error), degrees_of_freedom, ..Estimate::exact(value) };
        }
        let entries = vec![Entry::HpuTime, Entry::ApuSerialTime];
        let matrix = vec![1.0, correlation, correlation, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        parameters
    }

    /// T(1,1) in all draws, less what is certain: T_HPU + C_APU.
    fn sums(parameters: &Parameters) -> Vec<f64> {
        let uncertainty = Uncertainty::of(parameters);
        let draws = Draws::new(&uncertainty, SAMPLING);
        let row = draws.row(1, draws.count);
        let terms = &parameters.terms;
        let certain =
            parameters.time(Mapping::of(1, 1)).0 - terms.t_hpu_s.value - terms.c_apu_s.value;
        (0..draws.count).map(|draw| row.at(draw, 1) - certain).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_spread_of_a_sum_is_that_of_its_correlated_parts() {
        let sums = sums(&two_uncertain([(100.0, 3.0), (200.0, 4.0)], -0.75, None));
        let mean = mean(&sums);
        let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / sums.len() as f64;
        // 9 + 16 - 2*0.75*12 = 7; four standard errors of a mean and of a variance.
        let count = sums.len() as f64;
        assert!((mean - 300.0).abs() < 4.0 * (7.0 / count).sqrt(), "{mean}");
        assert!((variance - 7.0).abs() < 4.0 * 7.0 * (2.0 / count).sqrt(), "{variance}");
    }

    #[test]
    fn a_sum_that_is_known_exactly_is_the_same_in_every_draw() {
        for sum in sums(&two_uncertain([(100.0, 3.0), (200.0, 3.0)], -1.0, None)) {
            approx::assert_relative_eq!(sum, 300.0, max_relative = 1e-12);
        }
    }

    #[test]
    fn few_degrees_of_freedom_widen_the_draws_to_the_interval_of_student() {
        let sums = sums(&two_uncertain([(100.0, 3.0), (200.0, 0.0)], 0.0, Some(4.0)));
        // 2.776445 is the 97.5 % point of Student's distribution with four degrees of freedom.
        let beyond = sums.iter().filter(|sum| **sum > 300.0 + 2.776_445 * 3.0).count() as f64;
        let expected = 0.025 * sums.len() as f64;
        assert!((beyond - expected).abs() < 4.0 * expected.sqrt(), "{beyond}");
    }

    #[test]
    fn correlated_values_near_zero_come_from_the_positive_quadrant() {
        let sums = sums(&two_uncertain([(0.0, 1.0), (0.0, 1.0)], 0.5, None));
        // Of two standard normal deviates with correlation r: P(both > 0) = 1/4 + asin(r)/(2 pi),
        // which is 1/3, and E[x; both > 0] = (1 + r)/(2 sqrt(2 pi)).
        let expected = 2.0 * 3.0 * 1.5 / (2.0 * (2.0 * std::f64::consts::PI).sqrt());
        // A sum of two has a standard deviation below 2 there.
        let bound = 4.0 * 2.0 / (sums.len() as f64).sqrt();
        assert!((mean(&sums) - expected).abs() < bound, "{} {expected}", mean(&sums));
    }
}
