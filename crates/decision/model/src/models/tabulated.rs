//! Tables that go on beyond their last m, as tables that any reader knows.

use super::parameters::{Estimate, Interpolation, OverM, Parameters, Table};
use super::sensitivity::Entry;
use super::uncertainty::Correlation;

/// Beyond this m, a formula is tabulated at steps of a twentieth.
const EVERY_M: u32 = 64;

/// The m from 2 to a last one between which a formula is next to linear.
pub(crate) fn every_m(last: u32) -> Vec<u32> {
    let last = last.max(2);
    let mut m: Vec<u32> = (2..=last.min(EVERY_M)).collect();
    while let Some(&at) = m.last().filter(|&&at| at < last) {
        m.push(at.saturating_add(at.div_ceil(20)).min(last));
    }
    m
}

impl Parameters {
    /// The same with tables that are linear between their m and held beyond the last, which is no
    /// less than `last_m`: up to there both predict the same, but for a curve of logarithms, which
    /// beyond m = 64 is cut at less than 0.01 % of its height.
    ///
    /// Their own entries stay; those in between have the errors that follow, each by itself.
    pub fn tabulated(&self, last_m: u32) -> Self {
        let mut tabulated = self.clone();
        let terms = &self.terms;
        if let Some(alpha) = self.tabulated_term(&terms.alpha, 1.0, Entry::Alpha, last_m) {
            tabulated.terms.alpha = OverM::Table(alpha);
        }
        if let Some(cost) = self.tabulated_term(&terms.o_col_s, 0.0, Entry::Collective, last_m) {
            tabulated.terms.o_col_s = OverM::Table(cost);
        }
        tabulated.correlation = self.correlation.as_ref().and_then(|known| {
            let entries = known.entries().iter();
            let entries: Option<Vec<Entry>> =
                entries.map(|&entry| tabulated.terms.entry_named(&terms.name_of(entry))).collect();
            let rows = (0..known.entries().len()).flat_map(|index| known.row(index));
            Correlation::new(entries?, rows.copied().collect()).ok()
        });
        tabulated
    }

    /// One term so; `None` where it is so already.
    fn tabulated_term(
        &self,
        over: &OverM,
        at_one: f64,
        entry: fn(usize) -> Entry,
        last_m: u32,
    ) -> Option<Table> {
        let OverM::Table(table) = over else { return None };
        let further = match table.interpolation {
            Interpolation::Held => return None,
            Interpolation::Line => vec![last_m],
            Interpolation::Logarithm => every_m(last_m),
        };
        let mut ms: Vec<u32> = table.m.iter().copied().chain(further).collect();
        ms.sort_unstable();
        ms.dedup();
        let at = |&m: &u32| match table.m.binary_search(&m) {
            Ok(index) => table.values[index].clone(),
            Err(_) => self.follows(over, entry, m, over.at(m, at_one)),
        };
        let values = ms.iter().map(at).collect();
        Some(Table::new(ms, values))
    }

    /// A value at m with the error and the source of the entries that it follows from.
    fn follows(&self, over: &OverM, entry: fn(usize) -> Entry, m: u32, value: f64) -> Estimate {
        let weights = over.weights(m);
        let estimates = over.estimates();
        let is_known = |(index, _): &(usize, f64)| estimates[*index].std_error.is_some();
        let slopes: Vec<(Entry, f64)> =
            weights.iter().map(|&(index, weight)| (entry(index), weight)).collect();
        let error = weights.iter().any(is_known).then(|| self.propagated(&slopes));
        let last = weights.last().map(|(index, _)| &estimates[*index]);
        Estimate {
            value,
            std_error: error.map(|error| error.value),
            degrees_of_freedom: error.and_then(|error| error.degrees_of_freedom),
            source: last.and_then(|last| last.source.clone()),
            combined_with: last.map_or_else(Vec::new, |last| last.combined_with.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::Decomposition;
    use crate::toy;
    use mmgp_base::Mapping;

    /// alpha is a line, O_COL a logarithm.
    fn shaped() -> Parameters {
        let of = |value, std_error| toy::estimate(value, std_error);
        let alpha = vec![Estimate::exact(1.0), of(1.5, 0.125)];
        let o_col_s = vec![of(0.25, 0.0625), of(1.0, 0.125)];
        let table = |m, values, interpolation| {
            OverM::Table(Table { interpolation, ..Table::new(m, values) })
        };
        let mut parameters = toy::parameters(Decomposition::Data);
        parameters.terms.alpha = table(vec![1, 5], alpha, Interpolation::Line);
        parameters.terms.o_col_s = table(vec![2, 16], o_col_s, Interpolation::Logarithm);
        let entries = vec![Entry::Alpha(1), Entry::Collective(1)];
        parameters.correlation = Some(Correlation::new(entries, vec![1.0, 0.5, 0.5, 1.0]).unwrap());
        parameters
    }

    #[test]
    fn a_formula_is_tabulated_densely_enough() {
        assert_eq!(every_m(5), [2, 3, 4, 5]);
        let far = every_m(97_920);
        assert_eq!((far[62], far[63], far.last().copied()), (64, 68, Some(97_920)));
        assert!(far.len() < 250);
        assert_eq!(every_m(u32::MAX).last(), Some(&u32::MAX));
    }

    #[test]
    fn tabulated_terms_predict_the_same_up_to_the_last_m() {
        let parameters = shaped();
        let tabulated = parameters.tabulated(500);
        let time = |parameters: &Parameters, m| parameters.time(Mapping::of(m, 2)).0;
        for m in 1..=500 {
            let tolerance = if m <= 64 { 1e-13 } else { 1e-4 };
            approx::assert_relative_eq!(
                time(&tabulated, m),
                time(&parameters, m),
                max_relative = tolerance
            );
        }
        assert_eq!(tabulated.terms.alpha.held_beyond(), Some(500));
        assert_eq!(tabulated.tabulated(1000), tabulated);
    }

    #[test]
    fn tabulated_terms_keep_their_errors() {
        let parameters = shaped();
        let tabulated = parameters.tabulated(9);
        let OverM::Table(alpha) = &tabulated.terms.alpha else { panic!("a table") };
        assert_eq!(alpha.m, [1, 5, 9]);
        assert_eq!(alpha.values[1], parameters.terms.alpha.estimates()[1]);
        // Twice as far from m = 1.
        assert_eq!((alpha.values[2].value, alpha.values[2].std_error), (2.0, Some(0.25)));
        let names = |parameters: &Parameters| -> Vec<String> {
            let known = parameters.correlation.as_ref().unwrap().entries();
            known.iter().map(|&entry| parameters.terms.name_of(entry)).collect()
        };
        assert_eq!(names(&tabulated), ["alpha(5)", "o_col_s(16)"]);
        assert_eq!(tabulated.correlation.as_ref().unwrap().row(0), [1.0, 0.5]);
    }
}
