//! How the time of equation 11 answers to each of its parameters: the derivatives that carry the
//! standard errors of the parameters over to the prediction.

use super::parameters::{Estimate, OverM, Parameters, Terms};
use super::run::{Neighbours, Share};
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
        match self {
            Entry::HpuTime => "t_hpu_s",
            Entry::ApuTime => "t_apu_s",
            Entry::ApuSerialTime => "c_apu_s",
            Entry::Offloads => "offloads",
            Entry::OffloadOverhead => "o_offload_s",
            Entry::ContextSwitch => "t_csw_s",
            Entry::Gap => "g_s",
            Entry::Collectives => "collectives",
            Entry::Alpha(_) => "alpha",
            Entry::Collective(_) => "o_col_s",
        }
    }
}

impl Terms {
    /// Every number of these terms, in the order of [`Entry`].
    pub fn entries(&self) -> Vec<Entry> {
        use Entry::*;
        let mut entries =
            vec![HpuTime, ApuTime, ApuSerialTime, Offloads, OffloadOverhead, ContextSwitch, Gap];
        entries.extend(self.collectives.is_some().then_some(Collectives));
        entries.extend((0..self.alpha.len()).map(Alpha));
        entries.extend((0..self.o_col_s.len()).map(Collective));
        entries
    }

    /// The name of `entry` in files: its term's, and of one entry of a table its m, as in
    /// `alpha(2)`.
    pub fn name_of(&self, entry: Entry) -> String {
        let m = match entry {
            Entry::Alpha(index) => self.alpha.m_of(index),
            Entry::Collective(index) => self.o_col_s.m_of(index),
            _ => None,
        };
        m.map_or_else(|| entry.term().to_string(), |m| format!("{}({m})", entry.term()))
    }

    /// The entry of that name, as [`Self::name_of`] gives it.
    pub fn entry_named(&self, name: &str) -> Option<Entry> {
        self.entries().into_iter().find(|&entry| self.name_of(entry) == name)
    }

    /// The estimate of `entry`; `None` where these terms have no such entry.
    pub fn estimate(&self, entry: Entry) -> Option<&Estimate> {
        match entry {
            Entry::HpuTime => Some(&self.t_hpu_s),
            Entry::ApuTime => Some(&self.t_apu_s),
            Entry::ApuSerialTime => Some(&self.c_apu_s),
            Entry::Offloads => Some(&self.offloads),
            Entry::OffloadOverhead => Some(&self.o_offload_s),
            Entry::ContextSwitch => Some(&self.t_csw_s),
            Entry::Gap => Some(&self.g_s),
            Entry::Collectives => self.collectives.as_ref(),
            Entry::Alpha(index) => self.alpha.estimates().get(index),
            Entry::Collective(index) => self.o_col_s.estimates().get(index),
        }
    }

    /// As [`Self::estimate`], to change it.
    pub fn estimate_mut(&mut self, entry: Entry) -> Option<&mut Estimate> {
        match entry {
            Entry::HpuTime => Some(&mut self.t_hpu_s),
            Entry::ApuTime => Some(&mut self.t_apu_s),
            Entry::ApuSerialTime => Some(&mut self.c_apu_s),
            Entry::Offloads => Some(&mut self.offloads),
            Entry::OffloadOverhead => Some(&mut self.o_offload_s),
            Entry::ContextSwitch => Some(&mut self.t_csw_s),
            Entry::Gap => Some(&mut self.g_s),
            Entry::Collectives => self.collectives.as_mut(),
            Entry::Alpha(index) => self.alpha.estimates_mut().get_mut(index),
            Entry::Collective(index) => self.o_col_s.estimates_mut().get_mut(index),
        }
    }
}

impl OverM {
    /// Its numbers: one, or one for each m of the table.
    pub fn estimates(&self) -> &[Estimate] {
        match self {
            OverM::Constant(estimate) => std::slice::from_ref(estimate),
            OverM::Table(table) => &table.values,
        }
    }

    /// The m of the estimate with that index, where it is one of a table.
    fn m_of(&self, index: usize) -> Option<u32> {
        match self {
            OverM::Constant(_) => None,
            OverM::Table(table) => table.m.get(index).copied(),
        }
    }

    fn estimates_mut(&mut self) -> &mut [Estimate] {
        match self {
            OverM::Constant(estimate) => std::slice::from_mut(estimate),
            OverM::Table(table) => &mut table.values,
        }
    }

    fn len(&self) -> usize {
        self.estimates().len()
    }

    /// The entries that the value at m is made of, each with its weight; at most two, the
    /// neighbours of m in the table. Where they add up to less than 1, the rest is the weight of
    /// what the term is at m = 1.
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
        let uncounted_collective = if collectives.is_none() { terms.o_col_at(m) } else { 0.0 };
        let mut gradient = vec![
            (Entry::HpuTime, r * terms.alpha_at(m)),
            (Entry::ApuTime, r / pieces),
            (Entry::ApuSerialTime, r),
            (Entry::Offloads, r * (per_offload + uncounted_collective)),
            (Entry::OffloadOverhead, r * offloads),
            (Entry::ContextSwitch, r * offloads),
            (Entry::Gap, r * offloads * apus),
        ];
        if collectives.is_some() {
            gradient.push((Entry::Collectives, r * terms.o_col_at(m)));
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
    use super::super::parameters::{Decomposition, Table};
    use super::*;

    fn table(m: &[u32], values: &[f64]) -> OverM {
        OverM::Table(Table {
            m: m.to_vec(),
            values: values.iter().copied().map(Estimate::exact).collect(),
        })
    }

    fn parameters(decomposition: Decomposition, collectives: Option<f64>) -> Parameters {
        Parameters {
            name: "toy".into(),
            decomposition,
            apus: 64,
            terms: Terms {
                t_hpu_s: Estimate::exact(2.0),
                t_apu_s: Estimate::exact(32.0),
                c_apu_s: Estimate::exact(1.5),
                offloads: Estimate::exact(8.0),
                o_offload_s: Estimate::exact(0.125),
                t_csw_s: Estimate::exact(0.25),
                g_s: Estimate::exact(0.5),
                collectives: collectives.map(Estimate::exact),
                alpha: table(&[1, 2, 5], &[1.0, 1.25, 1.6]),
                o_col_s: table(&[3, 5, 9], &[0.0625, 0.5, 0.75]),
            },
            phases: vec![],
            correlation: None,
            refinements: None,
        }
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
    fn every_entry_has_an_estimate_and_absent_ones_have_none() {
        let terms = parameters(Decomposition::Data, None).terms;
        assert_eq!(terms.entries().len(), 7 + 3 + 3);
        assert!(terms.entries().iter().all(|&entry| terms.estimate(entry).is_some()));
        assert!(terms.estimate(Entry::Collectives).is_none());
        assert!(terms.estimate(Entry::Alpha(3)).is_none());
    }
}
