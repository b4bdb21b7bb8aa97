//! Equation 11 as a [`TimeModel`]: its values are the entries of the parameters, and what its tables
//! may be beyond their last m, where they are held constant.
//!
//! Of the latter the assumption is: the table may go on with its last slope, and half of what it
//! would then have gained by m is one standard error, independent of all else; so the interval
//! about the constant just ends where the slope leads.
//!
//! [`HostShared`] is a model whose host's own work is divided among the processes. Equation 11 has every process repeat the control flow of the whole program, `alpha_m*T_HPU`. A
//! profile of one process says how long that takes and not whether m processes repeat or share it:
//! this is the other answer, `alpha_m*T_HPU/m`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::parameters::{OverM, Parameters, Terms};
use super::run::Row;
use super::sensitivity::Entry;
use super::terms::Term;
use super::time_model::{EQUATION_11, Part, TableEnd, TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

impl TimeModel for Parameters {
    fn name(&self) -> &str {
        EQUATION_11
    }

    fn apus(&self) -> u32 {
        self.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        self.time(mapping)
    }

    fn values(&self) -> Vec<Value> {
        let terms = &self.terms;
        let of = |entry: Entry| {
            Some(Value {
                least: entry.term.least(),
                ..Value::new(terms.name_of(entry), terms.estimate(entry)?)
            })
        };
        let of_terms = terms.entries().into_iter().filter_map(of);
        of_terms.chain(self.ends().into_iter().flatten().map(|end| Value::beyond(end.at))).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        self.by_place(self.gradient(mapping), [mapping.m(); 2])
    }

    fn correlation(&self, one: usize, other: usize) -> f64 {
        match (entry(&self.terms, one), entry(&self.terms, other)) {
            (Some(one), Some(other)) => self.correlated(one, other),
            _ => f64::from(u8::from(one == other)),
        }
    }

    fn row(&self, m: u32) -> Option<Row> {
        Some(self.row(m))
    }

    fn parts(&self, mapping: Mapping) -> Vec<Part> {
        self.breakdown(mapping).parts().to_vec()
    }

    fn warnings(&self, ms: RangeInclusive<u32>) -> Vec<Warning> {
        self.warnings_with(ms, &[])
    }

    fn equation_11(&self) -> Option<&Parameters> {
        Some(self)
    }
}

/// End of a table, and one standard error of its continuation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableTail {
    at: TableEnd,
    /// Standard error of the term for every m beyond the last.
    per_m: f64,
}

impl TableTail {
    /// `at_one` is what the term is at m = 1, if the table does not say.
    fn of(over: &OverM, at_one: f64, term: &'static str) -> Option<Self> {
        let OverM::Table(table) = over else { return None };
        over.held_beyond()?;
        let last = table.values.len() - 1;
        let (last_m, value) = (table.m[last], table.values[last].value);
        let (before_m, before) = match last.checked_sub(1) {
            Some(before) => (table.m[before], table.values[before].value),
            None => (1, at_one),
        };
        let slope =
            if last_m == before_m { 0.0 } else { (value - before) / f64::from(last_m - before_m) };
        Some(Self { at: TableEnd { term, last_m }, per_m: slope.abs() / 2.0 })
    }

    /// Standard error of the term at m \[its unit\]; 0 within the table.
    pub(crate) fn error_at(&self, m: u32) -> f64 {
        self.per_m * f64::from(m.saturating_sub(self.at.last_m))
    }
}

/// The place of an entry among the values: that in [`Terms::entries`].
fn place(terms: &Terms, entry: Entry) -> usize {
    let before = Term::all().take_while(|term| *term != entry.term);
    before.map(|term| terms.value(term).estimates.len()).sum::<usize>() + entry.index
}

/// The entry at a place; `None` for what lies beyond a table.
fn entry(terms: &Terms, mut place: usize) -> Option<Entry> {
    Term::all().find_map(|term| {
        let count = terms.value(term).estimates.len();
        let found = (place < count).then(|| term.entry(place));
        place = place.saturating_sub(count);
        found
    })
}

impl Parameters {
    /// The ends of alpha and O_COL, where some m lies beyond them and something would change there.
    pub(crate) fn ends(&self) -> [Option<TableTail>; 2] {
        let matters = |end: &TableTail| end.at.last_m < self.apus && end.per_m > 0.0;
        let terms = &self.terms;
        [TableTail::of(&terms.alpha, 1.0, "alpha"), TableTail::of(&terms.o_col_s, 0.0, "o_col_s")]
            .map(|end| end.filter(matters))
    }

    /// Derivatives by entry as those by place, with those by what alpha and O_COL may be beyond
    /// their tables, asked for this many threads each.
    pub(super) fn by_place(&self, gradient: Vec<(Entry, f64)>, ms: [u32; 2]) -> Vec<(usize, f64)> {
        let mut by_place = Vec::with_capacity(gradient.len() + 2);
        let mut of_tables = [0.0; 2];
        for (entry, slope) in gradient {
            match entry.term {
                Term::Alpha => of_tables[0] += slope,
                Term::CollectiveCost => of_tables[1] += slope,
                _ => {}
            }
            by_place.push((place(&self.terms, entry), slope));
        }
        let terms = &self.terms;
        let beyond = place(terms, Term::CollectiveCost.entry(terms.o_col_s.estimates().len()));
        let ends = self.ends().into_iter().zip(ms).zip(of_tables);
        let known = ends.filter_map(|((end, m), slope)| Some(slope * end?.error_at(m)));
        by_place.extend(known.zip(beyond..).map(|(slope, place)| (place, slope)));
        by_place.retain(|(place, slope)| *place < beyond || *slope != 0.0);
        by_place
    }

    /// The warnings for m in a range: tables that end before, and values without a standard error,
    /// among which are these terms of another model.
    pub(super) fn warnings_with(
        &self,
        ms: RangeInclusive<u32>,
        further: &[&'static str],
    ) -> Vec<Warning> {
        let terms = &self.terms;
        let (first_m, last_m) = (*ms.start(), *ms.end());
        let mut warnings = Vec::new();
        for (term, over) in [("alpha", &terms.alpha), ("o_col_s", &terms.o_col_s)] {
            if let Some(last) = over.held_beyond()
                && last < last_m
            {
                warnings.push(Warning::BeyondTable { term, last, m: first_m.max(last + 1) });
            }
        }
        // The gradient at p = 1 holds every entry that some p makes the time depend on, and between the
        // entries of a table it holds the same.
        let tables = [&terms.alpha, &terms.o_col_s].into_iter();
        let entries = tables.filter_map(|over| match over {
            OverM::Table(table) => Some(table.m.iter().flat_map(|&m| [m, m.saturating_add(1)])),
            OverM::Constant(_) => None,
        });
        let beside = entries.flatten().filter(|m| ms.contains(m));
        let asked: BTreeSet<Entry> = beside
            .chain([first_m, last_m])
            .flat_map(|m| self.gradient(Mapping::of(m, 1)))
            .filter(|(_, slope)| *slope != 0.0)
            .map(|(entry, _)| entry)
            .collect();
        let mut unknown: Vec<&str> = asked
            .into_iter()
            .filter(|&entry| !terms.is_exact_by_nature(entry))
            .filter(|&entry| terms.estimate(entry).is_some_and(|known| known.std_error.is_none()))
            .map(|entry| entry.term.name())
            .collect();
        unknown.dedup();
        unknown.extend(further);
        if !unknown.is_empty() {
            warnings.push(Warning::NoStandardError { terms: unknown });
        }
        warnings
    }
}

impl Terms {
    /// Whether an entry is a count, or alpha at m = 1, which is 1 by definition.
    pub(crate) fn is_exact_by_nature(&self, entry: Entry) -> bool {
        match &self.alpha {
            OverM::Table(table) if entry.term == Term::Alpha => table.m[entry.index] == 1,
            _ => entry.term.is_count(),
        }
    }
}

/// The model with `T_HPU/m` in the place of `T_HPU`.
pub(crate) struct HostShared {
    model: Arc<dyn TimeModel>,
    name: String,
    /// The place of T_HPU among the values, and its value \[s\].
    host: (usize, f64),
}

impl HostShared {
    /// Model that shares the host's own work, of one that has such a value above nothing.
    pub fn of(model: Arc<dyn TimeModel>) -> Option<Self> {
        let values = model.values();
        let place = values.iter().position(|value| value.name == Term::HpuTime.name())?;
        let host = (place, values[place].value);
        let name = format!("{} with T_HPU/m", model.name());
        (host.1 > 0.0).then_some(Self { model, name, host })
    }

    /// What is left of the host's time.
    fn left(mapping: Mapping) -> f64 {
        1.0 / f64::from(mapping.m())
    }
}

impl TimeModel for HostShared {
    fn name(&self) -> &str {
        &self.name
    }

    fn apus(&self) -> u32 {
        self.model.apus()
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        let (host, value) = self.host;
        let gradient = self.model.gradient(mapping);
        let slope = gradient.iter().find(|(place, _)| *place == host).map_or(0.0, |it| it.1);
        Seconds(self.model.time(mapping).0 - slope * value * (1.0 - Self::left(mapping)))
    }

    fn values(&self) -> Vec<Value> {
        self.model.values()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let mut gradient = self.model.gradient(mapping);
        let of_host = gradient.iter_mut().filter(|(place, _)| *place == self.host.0);
        of_host.for_each(|(_, slope)| *slope *= Self::left(mapping));
        gradient
    }

    fn correlation(&self, one: usize, other: usize) -> f64 {
        self.model.correlation(one, other)
    }

    fn warnings(&self, ms: RangeInclusive<u32>) -> Vec<Warning> {
        self.model.warnings(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::{Estimate, Table};
    use crate::models::published;

    #[test]
    fn every_entry_has_the_place_that_it_has_among_the_entries() {
        let with_tables = crate::toy::parameters(crate::models::parameters::Decomposition::Data);
        let published = ["pbpi-qs20", "raxml-qs20"].map(|name| published(name).unwrap());
        for terms in published.into_iter().chain([with_tables]).map(|it| it.terms) {
            for (index, known) in terms.entries().into_iter().enumerate() {
                assert_eq!(place(&terms, known), index);
                assert_eq!(entry(&terms, index), Some(known));
            }
            assert_eq!(entry(&terms, terms.entries().len()), None);
        }
    }

    #[test]
    fn what_lies_beyond_each_table_is_a_value_after_the_entries() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let values = || [1.0, 1.5].map(Estimate::exact).to_vec();
        parameters.terms.alpha = OverM::Table(Table::new(vec![1, 2], values()));
        parameters.terms.o_col_s = OverM::Table(Table::new(vec![1, 4], values()));
        let names: Vec<String> = parameters.values().into_iter().map(|value| value.name).collect();
        let last = names.len() - 1;
        assert_eq!(names[last - 1..], ["alpha beyond m = 2", "o_col_s beyond m = 4"]);
        let places = |m: u32| -> Vec<usize> {
            let gradient = TimeModel::gradient(&parameters, Mapping::of(m, 1));
            gradient.into_iter().map(|(place, _)| place).filter(|&it| it >= last - 1).collect()
        };
        assert_eq!(
            [places(2), places(4), places(8)],
            [vec![], vec![last - 1], vec![last - 1, last]]
        );
        // A slope of 0.5, of which half is a standard error, for each of six further threads.
        let gradient = TimeModel::gradient(&parameters, Mapping::of(8, 1));
        let of_alpha = gradient.iter().find(|(place, _)| *place == last - 1).unwrap().1;
        let expected = parameters.terms.t_hpu_s.value * 6.0 * 0.25;
        approx::assert_relative_eq!(of_alpha, expected, max_relative = 1e-13);
        // Without room beyond alpha's end, the other one moves up.
        parameters.terms.alpha = OverM::Constant(Estimate::exact(1.5));
        let last = parameters.values().len() - 1;
        let gradient = TimeModel::gradient(&parameters, Mapping::of(8, 1));
        // Half of 0.5/3 for each of four further threads, and 20,000 collectives.
        let expected = 20_000.0 * 4.0 * 0.5 / 3.0 / 2.0;
        assert_eq!(gradient.last().unwrap().0, last);
        approx::assert_relative_eq!(gradient.last().unwrap().1, expected, max_relative = 1e-13);
    }

    #[test]
    fn a_table_has_an_end_only_where_some_m_lies_beyond_it_and_it_had_a_slope() {
        let mut parameters = crate::toy::parameters(crate::models::parameters::Decomposition::Data);
        let is_there = |parameters: &Parameters| parameters.ends().map(|end| end.is_some());
        // Both tables end at m = 4.
        assert_eq!(is_there(&parameters), [true, true]);
        parameters.apus = 5;
        assert_eq!(is_there(&parameters), [true, true]);
        parameters.apus = 4;
        assert_eq!(is_there(&parameters), [false, false]);
        parameters.apus = 16;
        parameters.terms.alpha = crate::toy::table(&[1, 2, 4], &[1.0, 1.5, 1.5]);
        assert_eq!(is_there(&parameters), [false, true]);
    }

    #[test]
    fn whoever_asks_beyond_a_table_is_told_from_which_m_on() {
        let parameters = crate::toy::parameters(crate::models::parameters::Decomposition::Data);
        let beyond = |ms| {
            let all = parameters.warnings_with(ms, &[]);
            let of = |warning| match warning {
                Warning::BeyondTable { last, m, .. } => Some((last, m)),
                _ => None,
            };
            all.into_iter().filter_map(of).collect::<Vec<_>>()
        };
        assert_eq!(beyond(1..=4), []);
        assert_eq!(beyond(1..=5), [(4, 5), (4, 5)]);
        assert_eq!(beyond(7..=8), [(4, 7), (4, 7)]);
    }

    #[test]
    fn only_the_hosts_time_is_divided() {
        let parameters = crate::models::published("pbpi-qs20").unwrap();
        let shared = HostShared::of(Arc::new(parameters.clone())).unwrap();
        for (m, p) in [(1, 1), (4, 4), (8, 1)] {
            let mapping = Mapping::of(m, p);
            let host = parameters.terms.alpha_at(m) * 1.3;
            let expected = parameters.time(mapping).0 - host * (1.0 - 1.0 / f64::from(m));
            approx::assert_relative_eq!(shared.time(mapping).0, expected, max_relative = 1e-12);
        }
        let slope = |model: &dyn TimeModel| model.gradient(Mapping::of(4, 1))[0];
        assert_eq!(slope(&shared), (0, slope(&parameters).1 / 4.0));
    }
}
