//! All uncertain parameters drawn together, many times, and the times that follow.
//!
//! A parameter's draws stand side by side, and so do the times of a configuration: every step is
//! one operation on all draws of a column.

mod together;

use std::mem::take;

use super::Sampling;
use super::uncertainty::{End, Source, Uncertainty};
use crate::model::Parameters;
use crate::model::parameters::OverM;
use crate::model::run::Row;
use crate::model::sensitivity::Entry;
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

/// The parameters in every draw.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    pub count: usize,
    hpu: Column,
    alpha: Vec<Column>,
    collective: Vec<Column>,
    collectives: Column,
    /// `C_APU + N*(O_offload + T_CSW)` \[s\].
    serial: Vec<f64>,
    /// T_APU \[s\].
    shared: Vec<f64>,
    /// `N*g` \[s\].
    growing: Vec<f64>,
    beyond: [(Option<End>, Column); 2],
}

/// Equation 11 at one m in every draw:
/// `constant[d] + shared[d]*share/p + growing[d]*fraction*p`.
#[derive(Debug, Clone)]
pub(super) struct DrawnRow<'a> {
    constant: Vec<f64>,
    /// T_APU, and the part of it that one of p APUs has.
    shared: (&'a [f64], f64),
    /// `N*g`, and the fraction of the totals that the slowest thread runs.
    growing: (&'a [f64], f64),
}

impl DrawnRow<'_> {
    /// Equation 11 at this m in the draw with that index.
    pub fn of_draw(&self, draw: usize) -> Row {
        Row {
            constant: self.constant[draw],
            shared: self.shared.0[draw] * self.shared.1,
            growing: self.growing.0[draw] * self.growing.1,
        }
    }

    /// The time with p APUs for each thread in the draw with that index.
    pub fn at(&self, draw: usize, p: u32) -> f64 {
        let p = f64::from(p);
        let (share, fraction) = (self.shared.1 / p, self.growing.1 * p);
        self.constant[draw] + self.shared.0[draw] * share + self.growing.0[draw] * fraction
    }

    /// The times with p APUs for each thread in all draws.
    pub fn times(&self, p: u32) -> impl Iterator<Item = f64> + '_ {
        let p = f64::from(p);
        let (share, fraction) = (self.shared.1 / p, self.growing.1 * p);
        let rows = self.constant.iter().zip(self.shared.0).zip(self.growing.0);
        rows.map(move |((constant, shared), growing)| {
            constant + shared * share + growing * fraction
        })
    }
}

impl Draws {
    /// Draws every uncertain value from the normal distribution of its estimate and their
    /// correlation, given that none is negative.
    ///
    /// Values that are correlated, directly or through others, are drawn together, and again
    /// together where one of them is negative; after 100 trials in vain those that are negative
    /// are set to 0. Standard errors that were estimated with few degrees of freedom are widened
    /// so that 95 % of the draws lie in the 95 % interval of Student's distribution.
    pub fn new(parameters: &Parameters, uncertainty: &Uncertainty, sampling: Sampling) -> Self {
        let count = sampling.draws as usize;
        let terms = &parameters.terms;
        let mut drawn = together::columns(parameters, uncertainty, sampling);
        let mut column = |source: Source, value: f64| {
            let index = uncertainty.sources.iter().position(|&known| known == source);
            // Every column is asked for once.
            index.map_or(Column::Same(value), |index| Column::Drawn(take(&mut drawn[index])))
        };
        let beyond = [
            (uncertainty.alpha_end, column(Source::AlphaBeyond, 0.0)),
            (uncertainty.collective_end, column(Source::CollectiveBeyond, 0.0)),
        ];
        let mut of = |entry: Entry| {
            let value = terms.estimate(entry).map_or(0.0, |estimate| estimate.value);
            column(Source::Entry(entry), value)
        };
        let mut table = |over: &OverM, entry: fn(usize) -> Entry| -> Vec<Column> {
            (0..over.estimates().len()).map(|index| of(entry(index))).collect()
        };
        let alpha = table(&terms.alpha, Entry::Alpha);
        let collective = table(&terms.o_col_s, Entry::Collective);
        let offloads = of(Entry::Offloads);
        let mut serial = vec![0.0; count];
        of(Entry::OffloadOverhead).add_to(&mut serial, 1.0);
        of(Entry::ContextSwitch).add_to(&mut serial, 1.0);
        offloads.multiply(&mut serial);
        of(Entry::ApuSerialTime).add_to(&mut serial, 1.0);
        let mut growing = of(Entry::Gap).filled(count);
        offloads.multiply(&mut growing);
        let is_counted = terms.collectives.is_some();
        Self {
            count,
            hpu: of(Entry::HpuTime),
            alpha,
            collective,
            collectives: if is_counted { of(Entry::Collectives) } else { offloads },
            serial,
            shared: of(Entry::ApuTime).filled(count),
            growing,
            beyond,
        }
    }

    /// Equation 11 at m in the first `count` draws.
    pub fn row(&self, parameters: &Parameters, m: u32, count: usize) -> DrawnRow<'_> {
        let terms = &parameters.terms;
        let slope = |wanted: Entry| {
            let gradient = parameters.gradient(Mapping::of(m, 1));
            gradient.iter().find(|(entry, _)| *entry == wanted).map_or(0.0, |(_, slope)| *slope)
        };
        // The fraction of the totals that falls to the slowest thread.
        let fraction = slope(Entry::ApuSerialTime);
        let mut constant = vec![1.0; count];
        if m > 1 {
            self.over_m((&terms.alpha, 1.0), (&self.alpha, &self.beyond[0]), m, &mut constant);
        }
        self.hpu.multiply(&mut constant);
        let mut collective = vec![0.0; count];
        let columns = (&self.collective[..], &self.beyond[1]);
        self.over_m((&terms.o_col_s, 0.0), columns, m, &mut collective);
        self.collectives.multiply(&mut collective);
        for ((constant, collective), serial) in
            constant.iter_mut().zip(&collective).zip(&self.serial)
        {
            *constant = fraction * (*constant + collective + serial);
        }
        DrawnRow {
            constant,
            shared: (&self.shared[..count], slope(Entry::ApuTime)),
            growing: (&self.growing[..count], fraction),
        }
    }

    /// A term over m, with what it is at m = 1, in every draw.
    fn over_m(
        &self,
        (over, at_one): (&OverM, f64),
        (columns, (end, beyond)): (&[Column], &(Option<End>, Column)),
        m: u32,
        values: &mut [f64],
    ) {
        let weights = over.weights(m);
        let known: f64 = weights.iter().map(|(_, weight)| weight).sum();
        values.fill(at_one * (1.0 - known));
        for (index, weight) in weights {
            columns[index].add_to(values, weight);
        }
        let error = end.map_or(0.0, |end| end.error_at(m));
        if error > 0.0 {
            beyond.add_to(values, error);
            values.iter_mut().for_each(|value| *value = value.max(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::Estimate;
    use crate::model::published;
    use crate::model::uncertainty::Correlation;

    const SAMPLING: Sampling = Sampling { draws: 100_000, seed: 3 };

    /// PBPI with these errors and correlations of T_HPU and C_APU, and nothing else uncertain.
    fn two_uncertain(
        [hpu, serial]: [(f64, f64); 2],
        correlation: f64,
        freedom: Option<f64>,
    ) -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        for (entry, (value, error)) in [(Entry::HpuTime, hpu), (Entry::ApuSerialTime, serial)] {
            let estimate = parameters.terms.estimate_mut(entry).unwrap();
            *estimate = Estimate { std_error: Some(error), freedom, ..Estimate::exact(value) };
        }
        let entries = vec![Entry::HpuTime, Entry::ApuSerialTime];
        let matrix = vec![1.0, correlation, correlation, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        parameters
    }

    /// T(1,1) in all draws, less what is certain: T_HPU + C_APU.
    fn sums(parameters: &Parameters) -> Vec<f64> {
        let uncertainty = Uncertainty::of(parameters);
        let draws = Draws::new(parameters, &uncertainty, SAMPLING);
        let row = draws.row(parameters, 1, draws.count);
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
