//! How the time of equation 11 answers to each of its parameters: the derivatives that carry the
//! standard errors of the parameters over to the prediction.

use super::parameters::{Estimate, OverM, Parameters, Terms};
use super::run::{Neighbours, Share};
use super::terms::{Term, Value};
use mmgp_base::Mapping;

/// One number of a parameter set: a scalar term, or one entry of a term over m.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    /// [`Terms::t_hpu_s`].
    HpuTime,
    /// [`Terms::t_apu_s`].
    ApuTime,
    /// [`Terms::c_apu_s`].
    ApuSerialTime,
    /// [`Terms::offloads`].
    Offloads,
    /// [`Terms::o_offload_s`].
    OffloadOverhead,
    /// [`Terms::t_csw_s`].
    ContextSwitch,
    /// [`Terms::g_s`].
    Gap,
    /// [`Terms::collectives`].
    Collectives,
    /// The entry of [`Terms::alpha`] with that index; 0 where it is a number.
    Alpha(usize),
    /// The entry of [`Terms::o_col_s`] with that index; 0 where it is a number.
    Collective(usize),
}

impl Entry {
    /// The name of its term in files.
    pub fn term(self) -> &'static str {
        Term::of(self).0.name()
    }
}

impl Terms {
    /// Every number of these terms, in the order of [`Entry`].
    pub fn entries(&self) -> Vec<Entry> {
        let of_term = |(term, value): (Term, Value<'_>)| {
            (0..value.estimates.len()).map(move |index| term.entry(index))
        };
        self.values().flat_map(of_term).collect()
    }

    /// The name of `entry` in files: its term's, and of one entry of a table its m, as in
    /// `alpha(2)`.
    pub fn name_of(&self, entry: Entry) -> String {
        let (term, index) = Term::of(entry);
        let m = self.value(term).m.and_then(|m| m.get(index));
        m.map_or_else(|| term.name().to_string(), |m| format!("{}({m})", term.name()))
    }

    /// The entry of that name, as [`Self::name_of`] gives it.
    pub fn entry_named(&self, name: &str) -> Option<Entry> {
        self.entries().into_iter().find(|&entry| self.name_of(entry) == name)
    }

    /// The estimate of `entry`; `None` where these terms have no such entry.
    pub fn estimate(&self, entry: Entry) -> Option<&Estimate> {
        let (term, index) = Term::of(entry);
        self.value(term).estimates.get(index)
    }

    /// As [`Self::estimate`], to change it.
    pub fn estimate_mut(&mut self, entry: Entry) -> Option<&mut Estimate> {
        let (term, index) = Term::of(entry);
        self.value_mut(term).estimates().get_mut(index)
    }
}

impl OverM {
    /// Its numbers: one, or one for each m of the table.
    pub fn estimates(&self) -> &[Estimate] {
        Value::from(self).estimates
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
            (Entry::HpuTime, r * terms.linear_alpha_at(m)),
            (Entry::ApuTime, r / pieces),
            (Entry::ApuSerialTime, r),
            (Entry::Offloads, r * (per_offload + uncounted_collective)),
            (Entry::OffloadOverhead, r * offloads),
            (Entry::ContextSwitch, r * offloads),
            (Entry::Gap, r * offloads * apus),
        ];
        if collectives.is_some() {
            gradient.push((Entry::Collectives, r * o_col_s));
        }
        // alpha is 1 at m = 1 by definition, whatever the table says.
        let alpha = if m == 1 { Vec::new() } else { terms.alpha.weights(m) };
        gradient.extend(
            alpha
                .into_iter()
                .map(|(index, weight)| (Entry::Alpha(index), r * weight * terms.t_hpu_s.value)),
        );
        gradient.extend(terms.o_col_s.weights(m).into_iter().map(|(index, weight)| {
            (Entry::Collective(index), r * weight * collectives.unwrap_or(offloads))
        }));
        gradient
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::{Decomposition, Interpolation};
    use super::*;
    use crate::toy;

    /// With tables that go on beyond m = 5 and m = 9.
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
            gradient.into_iter().filter(|(entry, _)| entry.term() == "alpha").collect();
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
        assert!(terms.estimate(Entry::Collectives).is_none());
        assert!(terms.estimate(Entry::Alpha(3)).is_none());
    }
}
