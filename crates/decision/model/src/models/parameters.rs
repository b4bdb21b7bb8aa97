//! The parameters of the model, each with how sure it is and where it came from; and the sets that the MMGP
//! paper published, compiled in, each figure with its source.

use serde::{Deserialize, Serialize};

use super::observations::Evidence;
use super::refined::Refinements;
use super::sensitivity::{Correlation, Entry};
use super::terms::Term;
use super::traced::TracedTerms;
use mmgp_base::error::{Result, of_name};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::Source;

/// How the work is divided among the m host threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Decomposition {
    /// One job whose data is cut into m pieces; control flow is replicated on every thread.
    Data,
    /// Independent tasks, dealt to m workers; the terms are totals over all of them.
    Task {
        /// Independent tasks, at least 1.
        tasks: u32,
    },
}

/// A number with its uncertainty and origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The value, in the unit of its term; finite and not negative.
    pub value: f64,
    /// Standard error in the same unit, where it is known.
    pub std_error: Option<f64>,
    /// Degrees of freedom of that standard error; `None` where it is taken as known.
    pub degrees_of_freedom: Option<f64>,
    /// File, table or paper it comes from.
    pub source: Option<String>,
    /// The other terms of a sum that the data could not split and that this one carries whole.
    pub combined_with: Vec<String>,
}

impl Estimate {
    /// A value of which nothing else is known.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            std_error: None,
            degrees_of_freedom: None,
            source: None,
            combined_with: Vec::new(),
        }
    }
}

/// A term that depends on m: a number, or a table over m.
#[derive(Debug, Clone, PartialEq)]
pub enum OverM {
    /// The same for all m; for `alpha`, for all m > 1.
    Constant(Estimate),
    /// Known at certain m; [`Interpolation`] says what holds between and beyond them.
    Table(Table),
}

/// Values at increasing m, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The m of each value, increasing, the first at least 1.
    pub m: Vec<u32>,
    /// Estimates, one for each m.
    pub values: Vec<Estimate>,
    /// What holds between and beyond them.
    pub interpolation: Interpolation,
}

impl Table {
    /// Values that are linear between their m and held constant beyond the last.
    pub fn new(m: Vec<u32>, values: Vec<Estimate>) -> Self {
        Self { m, values, interpolation: Interpolation::Held }
    }
}

/// What a table is between its entries and beyond the last.
///
/// Below the first, it comes from what the term is at m = 1, which is also the last but one entry
/// of a table that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Linear between entries, held constant beyond the last: nothing is known there.
    #[default]
    #[serde(skip)]
    Held,
    /// Linear in m, beyond the last as between the last two.
    Line,
    /// Linear in log2(m), beyond the last as between the last two.
    Logarithm,
}

impl Interpolation {
    /// The name in files; `None` where a table needs none.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Held => None,
            Self::Line => Some("line"),
            Self::Logarithm => Some("logarithm"),
        }
    }

    /// How far m is from one entry to the next, of which it may lie beyond: 0 at `low`, 1 at `high`.
    pub(super) fn position(self, m: u32, low: u32, high: u32) -> f64 {
        match self {
            Self::Held | Self::Line => f64::from(m - low) / f64::from(high - low),
            Self::Logarithm => {
                let low = f64::from(low);
                (f64::from(m) / low).log2() / (f64::from(high) / low).log2()
            }
        }
    }
}

/// The source of a value that nothing determines.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// The terms of equation 11. Times are seconds, per run unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// T_HPU(1,1): time on the HPU in a sequential run.
    pub t_hpu_s: Estimate,
    /// T_APU(1,1): APU time of the part that p APUs can share.
    pub t_apu_s: Estimate,
    /// C_APU: APU time of the part that they cannot share.
    pub c_apu_s: Estimate,
    /// N: number of off-loads in the run.
    pub offloads: Estimate,
    /// O_offload, per off-load: signal there and back, arguments, result.
    pub o_offload_s: Estimate,
    /// T_CSW, per off-load: context switch on the HPU.
    pub t_csw_s: Estimate,
    /// g, per off-load and APU: gap between consecutive off-loads.
    pub g_s: Estimate,
    /// Collective operations in the run, each of which costs O_COL; where it is `None`, every
    /// off-load does.
    pub collectives: Option<Estimate>,
    /// alpha_m: slowdown of HPU code under m threads, 1 at m = 1.
    pub alpha: OverM,
    /// O_COL: global synchronisation, per collective or, where these are not counted, per
    /// off-load.
    pub o_col_s: OverM,
}

/// The part of the program's own terms that one phase contributes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase: the off-loaded function.
    pub name: String,
    /// Part of [`Terms::t_hpu_s`].
    pub t_hpu_s: Estimate,
    /// Part of [`Terms::t_apu_s`].
    pub t_apu_s: Estimate,
    /// Part of [`Terms::c_apu_s`].
    pub c_apu_s: Estimate,
    /// Part of [`Terms::offloads`].
    pub offloads: Estimate,
    /// Gap of the phase, as [`Terms::g_s`].
    pub g_s: Estimate,
    /// Part of [`Terms::collectives`].
    pub collectives: Option<Estimate>,
}

/// Everything a parameter file holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    /// What the parameters are of.
    pub name: String,
    /// Data or task decomposition.
    pub decomposition: Decomposition,
    /// N_APU: APUs available.
    pub apus: u32,
    /// What was measured of runs; where it is a rate, the terms are shares of the time of one unit of work,
    /// not seconds.
    pub quantity: Quantity,
    /// The terms of the whole program.
    pub terms: Terms,
    /// The program's phases, whose own terms add up to those of the whole; empty where the
    /// program is one phase.
    pub phases: Vec<Phase>,
    /// How the errors of the terms go together; `None` where each has its own.
    pub correlation: Option<Correlation>,
    /// Terms that equation 11 leaves out, for the refined model beside it.
    pub refinements: Option<Refinements>,
    /// What traced runs say of the program's parts over (m, p), for the model that stands in the place of
    /// equation 11 then.
    pub traced: Option<TracedTerms>,
    /// The runs that the terms were fitted with; `None` where they come from files alone.
    pub evidence: Option<Evidence>,
}

impl Parameters {
    /// Parameters of a program of one phase, each error its own, without refinements.
    pub fn new(
        name: impl Into<String>,
        decomposition: Decomposition,
        apus: u32,
        terms: Terms,
    ) -> Self {
        Self {
            name: name.into(),
            decomposition,
            apus,
            quantity: Quantity::Time,
            terms,
            phases: Vec::new(),
            correlation: None,
            refinements: None,
            traced: None,
            evidence: None,
        }
    }
}

/// Largest m at which a formula is tabulated at every m; beyond, at steps of a twentieth.
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
        if let Some(alpha) = self.tabulated_term(&terms.alpha, 1.0, Term::Alpha, last_m) {
            tabulated.terms.alpha = OverM::Table(alpha);
        }
        if let Some(cost) = self.tabulated_term(&terms.o_col_s, 0.0, Term::CollectiveCost, last_m) {
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

    /// Tabulates one term; `None` where it is a table already.
    fn tabulated_term(&self, over: &OverM, at_one: f64, term: Term, last_m: u32) -> Option<Table> {
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
            Err(_) => self.follows(over, term, m, over.at(m, at_one)),
        };
        let values = ms.iter().map(at).collect();
        Some(Table::new(ms, values))
    }

    /// A value at m with the error and the source of the entries that it follows from.
    fn follows(&self, over: &OverM, term: Term, m: u32, value: f64) -> Estimate {
        let weights = over.weights(m);
        let estimates = over.estimates();
        let is_known = |(index, _): &(usize, f64)| estimates[*index].std_error.is_some();
        let slopes: Vec<(Entry, f64)> =
            weights.iter().map(|&(index, weight)| (term.entry(index), weight)).collect();
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

/// Name, file name for messages, and text of every published set.
const PUBLISHED: [(&str, &str, &str); 2] = [
    (
        "pbpi-qs20",
        "models/published/pbpi-qs20.toml",
        include_str!("../../models/published/pbpi-qs20.toml"),
    ),
    (
        "raxml-qs20",
        "models/published/raxml-qs20.toml",
        include_str!("../../models/published/raxml-qs20.toml"),
    ),
];

/// The names that [`published`] knows.
pub fn published_names() -> impl Iterator<Item = &'static str> {
    PUBLISHED.iter().map(|(name, ..)| *name)
}

/// The published parameter set of that name; [`Error::UnknownName`](mmgp_base::Error::UnknownName) lists the known ones.
pub fn published(name: &str) -> Result<Parameters> {
    let (_, file, text) = of_name("parameter set", &PUBLISHED, |(name, ..)| name, name)?;
    Parameters::read(&Source::new(file, text))
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
        let entries = vec![Term::Alpha.entry(1), Term::CollectiveCost.entry(1)];
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

    /// The best of all (m, p) that 16 APUs can hold, by evaluating every one.
    fn check_optimum(name: &str, optimum: (u32, u32)) {
        let parameters = published(name).unwrap();
        assert_eq!(parameters.apus, 16);
        let feasible: Vec<(u32, u32)> =
            (1..=16).flat_map(|m| (1..=16 / m).map(move |p| (m, p))).collect();
        assert_eq!(feasible.len(), 50);
        let best = feasible.into_iter().min_by(|a, b| {
            parameters
                .time(Mapping::of(a.0, a.1))
                .0
                .total_cmp(&parameters.time(Mapping::of(b.0, b.1)).0)
        });
        assert_eq!(best, Some(optimum));
    }

    #[test]
    fn pbpi_is_fastest_with_four_threads_of_four_spes() {
        check_optimum("pbpi-qs20", (4, 4));
    }

    #[test]
    fn raxml_is_fastest_with_one_spe_for_each_of_sixteen_tasks() {
        check_optimum("raxml-qs20", (16, 1));
    }

    #[test]
    fn the_published_times_by_hand() {
        // 1.28*1.3 + 370/16 + 1.72 + 4*0.8 + 20000*118e-6, and N = 1 off-load of 2.07 us
        let pbpi = published("pbpi-qs20").unwrap().time(Mapping::of(4, 4)).0;
        approx::assert_relative_eq!(pbpi, 32.069_002_07, max_relative = 1e-12);
        // One task each: (1.28*8.8 + 118 + 157) / 16
        let raxml = published("raxml-qs20").unwrap().time(Mapping::of(16, 1)).0;
        approx::assert_relative_eq!(raxml, 286.264 / 16.0, max_relative = 1e-12);
    }

    #[test]
    fn every_published_figure_names_its_source() {
        for name in published_names() {
            let terms = published(name).unwrap().terms;
            for entry in terms.entries() {
                assert!(terms.estimate(entry).unwrap().source.is_some(), "{name} {entry:?}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        assert_eq!(
            published("pbpi-qs2").unwrap_err().to_string(),
            "there is no parameter set \"pbpi-qs2\"; did you mean \"pbpi-qs20\"? \
             known: pbpi-qs20, raxml-qs20"
        );
    }
}
