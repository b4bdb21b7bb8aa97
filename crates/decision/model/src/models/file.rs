//! The parameter file: TOML that people read and write by hand, checked to the last value.
//!
//! ```toml
//! schema = 1
//! name = "PBPI on QS20"
//! decomposition = "data"            # or: decomposition = "task", tasks = 16
//! apus = 16
//! [terms]
//! t_hpu_s     = { value = 1.3, std_error = 0.02, source = "profile.csv" }
//! t_apu_s     = 370.0               # a bare number is a value of which nothing else is known
//! c_apu_s     = { value = 1.72 }
//! offloads    = { value = 1 }
//! o_offload_s = { value = 70e-9 }
//! t_csw_s     = { value = 2e-6 }
//! g_s         = { value = 0.8, combined_with = ["t_csw_s"] }
//! collectives = { value = 20000 }   # optional: without it every off-load pays O_COL
//! alpha       = 1.28                # a number, or a table over m:
//! o_col_s     = { m = [1, 2, 4], value = [0.0, 16e-6, 118e-6] }
//! ```
//!
//! Such a table is linear between its m and held constant beyond the last. With
//! `interpolation = "line"` it goes on beyond it as it came; with `"logarithm"` so, too, and linear in
//! log2(m): `alpha = { m = [1, 8], value = [1.0, 1.7], interpolation = "line" }`.
//!
//! A table over m may give `std_error` as an array of the same length and one `source`. Where its
//! entries differ in what is known of them, each is a table of its own:
//! `alpha = [{ m = 1, value = 1.0 }, { m = 2, value = 1.28, std_error = 0.01 }]`; `interpolation` then
//! stands in the first.
//!
//! `degrees_of_freedom` beside `std_error` are those that it was estimated with, an array beside an
//! array (older files call them `freedom`). Where the errors of terms go together, `[correlation]`
//! says how:
//!
//! ```toml
//! [correlation]
//! entries = ["t_hpu_s", "alpha(2)"]  # alpha at m = 2
//! t_hpu_s = [1.0, -0.4]
//! "alpha(2)" = [-0.4, 1.0]
//! ```
//!
//! `[[phases]]` tables, each with `name` and the program's own terms (`t_hpu_s`, `t_apu_s`,
//! `c_apu_s`, `offloads`, `g_s`, `collectives`), split the whole and must add up to it.
//!
//! Where runs are rates, `[objective]` with `rate = "ns/day"` says so: the terms, and the times of
//! `[runs]`, are those of one unit of work then, in the inverse of that unit.
//!
//! `[runs]` and `[before_runs]` hold what the terms were fitted with, and what files said of them before:
//!
//! ```toml
//! [runs]                            # a number for each configuration
//! source = "runs.csv"
//! m = [1, 1, 2]
//! p = [1, 2, 1]
//! time_s = [14.5, 9.0, 8.5]         # the mean of its runs
//! equation_11_s = [14.4, 9.0, 8.6]  # what equation 11 makes of [terms]; another time tells of an edit
//! repetitions = [3, 3, 3]
//! scatter = 1.2e-3                  # sum of squared deviations of logarithms from their mean
//! degrees_of_freedom = 6
//!
//! [before_runs]                     # only where files knew anything
//! unknown = ["c_apu_s"]             # of which the runs alone tell
//! [before_runs.terms]               # as [terms]
//! t_hpu_s = 1.3
//! # ...
//! [before_runs.correlation]         # as [correlation]
//! ```
//!
//! `[refined]` holds terms of the refined model, which stands beside equation 11 ([`super::refined`]); each
//! may be absent:
//!
//! ```toml
//! [refined]
//! iterations = 2499                 # whole numbers
//! hardware_contexts = 4
//! exposed_transfer_s = 9e-8         # numbers, or tables with value, std_error, source
//! memory_demand_bytes_per_s = 2.1e9 # these four together
//! memory_bandwidth_bytes_per_s = { value = 22.8e9, source = "memory.csv" }
//! memories = 2
//! memory_of = "process"             # or "apu"
//! work_growth_s = 0.01
//! ```

mod json;
mod term;
mod writing;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;

use super::observations::{Before, Evidence, Observation, Observations};
use super::parameters::{Decomposition, Estimate, Interpolation, Parameters, Phase, Terms};
use super::refined::Refinements;
use super::sensitivity::Correlation;
use super::terms::{Per, Term, TermValue};
use super::traced::TracedTerms;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::Source;
use mmgp_base::table::toml::{Document, Table};
use mmgp_base::units::Seconds;
use term::NonNegative;

/// The versions of the format that this module reads: 2 has `[runs]`, `[before_runs]` and tables with
/// an `interpolation`. Each file is written in the first that holds it.
const SCHEMAS: [u32; 2] = [1, 2];

/// A parameter file, key by key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterFile {
    #[serde(rename = "schema")]
    _schema: u32,
    name: String,
    decomposition: DecompositionKind,
    tasks: Option<NonZeroU32>,
    apus: NonZeroU32,
    #[serde(default)]
    objective: Quantity,
    terms: Terms,
    #[serde(default)]
    phases: Vec<Phase>,
    correlation: Option<CorrelationTable>,
    refined: Option<Refinements>,
    traced: Option<TracedTerms>,
    runs: Option<RunsTable>,
    before_runs: Option<BeforeRuns>,
}

/// The name of a [`Decomposition`].
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum DecompositionKind {
    Data,
    Task,
}

/// A correlation matrix: the names of its entries, and under each name its row.
#[derive(Deserialize)]
struct CorrelationTable {
    entries: Vec<String>,
    #[serde(flatten)]
    rows: BTreeMap<String, Vec<f64>>,
}

/// The runs, column by column.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsTable {
    #[serde(default = "unnamed")]
    source: String,
    m: Vec<u32>,
    p: Vec<u32>,
    time_s: Vec<f64>,
    equation_11_s: Option<Vec<f64>>,
    repetitions: Vec<f64>,
    scatter: NonNegative,
    degrees_of_freedom: NonNegative,
}

fn unnamed() -> String {
    "runs".into()
}

/// The terms before the runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeforeRuns {
    unknown: Vec<String>,
    terms: Terms,
    correlation: Option<CorrelationTable>,
}

impl Parameters {
    /// Reads and checks a parameter file; an error names file, line, column, what was found and what was
    /// expected.
    pub fn read(source: &Source) -> Result<Self> {
        if source.text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            let expected =
                "a parameter file in TOML; JSON is written for other tools, and not read";
            return Err(source.error(0, "JSON", expected));
        }
        let document = Document::parse(source)?;
        let root = document.root();
        let schema = root.count("schema", 1)?;
        if !SCHEMAS.contains(&schema) {
            return Err(root.error("schema", format!("schema {schema}"), "1 or 2"));
        }
        let file: ParameterFile = document.read()?;
        let decomposition = match (file.decomposition, file.tasks) {
            (DecompositionKind::Data, None) => Decomposition::Data,
            (DecompositionKind::Task, Some(tasks)) => Decomposition::Task { tasks: tasks.get() },
            (DecompositionKind::Data, Some(_)) => {
                let expected = "none, or decomposition = \"task\"";
                return Err(root.error("tasks", "tasks for a data decomposition", expected));
            }
            (DecompositionKind::Task, None) => {
                let found = "a task decomposition without tasks";
                return Err(root.error("decomposition", found, "tasks = .. beside it"));
            }
        };
        if file.objective.unit() == Some("") {
            let expected = "the unit of what was measured, as \"ns/day\"";
            return Err(root.error("objective", "no unit", expected));
        }
        check_slowdowns(&root.table("terms")?, &file.terms)?;
        check_phases(&root, &file.terms, &file.phases)?;
        let mut parameters = Self {
            name: file.name,
            decomposition,
            apus: file.apus.get(),
            quantity: file.objective,
            phases: file.phases,
            correlation: file.correlation.map(|rows| rows.of(&file.terms, &root)).transpose()?,
            refinements: file.refined,
            traced: file.traced,
            evidence: None,
            terms: file.terms,
        };
        match (file.runs, file.before_runs) {
            (Some(runs), before) => {
                let table = root.table("runs")?;
                let mut observations = runs.observations(&table)?;
                observations.quantity = parameters.quantity.clone();
                runs.check_terms(&table, &parameters)?;
                let before = before.map(|before| before.of(&root.table("before_runs")?));
                parameters.evidence = Some(Evidence { observations, before: before.transpose()? });
            }
            (None, Some(_)) => {
                return Err(root.error("before_runs", "no [runs]", "the runs that came after"));
            }
            (None, None) => {}
        }
        Ok(parameters)
    }

    /// The text of a parameter file from which [`Self::read`] gives back exactly `self`.
    pub fn to_toml(&self) -> String {
        writing::parameters(self)
    }

    /// Whether a reader of the first version would go wrong.
    fn needs_schema_2(&self) -> bool {
        let is_held = |(_, value): (_, TermValue<'_>)| value.interpolation == Interpolation::Held;
        self.evidence.is_some()
            || self.traced.is_some()
            || !self.quantity.is_time()
            || !self.terms.values().all(is_held)
    }
}

fn check_slowdowns(table: &Table<'_>, terms: &Terms) -> Result<()> {
    match terms.alpha.estimates().iter().any(|estimate| estimate.value == 0.0) {
        true => Err(table.error("alpha", "0 for \"terms.alpha\"", "a slowdown above 0")),
        false => Ok(()),
    }
}

/// How far the sum over the phases may lie from the whole, of the larger of the two: what
/// rounding to six digits by hand does, and no more.
const TOLERANCE: f64 = 1e-6;

/// Refuses phases that do not add up to the whole: every term but the gap is a total; of the gap, which
/// is per off-load, `N*g` is. A phase counts its collectives if, and only if, the whole does.
fn check_phases(root: &Table<'_>, terms: &Terms, phases: &[Phase]) -> Result<()> {
    let total = |value: TermValue<'_>, offloads: &Estimate, per: Per| {
        let value = value.estimates.first().map_or(0.0, |estimate| estimate.value);
        if per == Per::Run { value } else { offloads.value * value }
    };
    if phases.is_empty() {
        return Ok(());
    }
    let counts = |phase: &&Phase| phase.collectives.is_some() != terms.collectives.is_some();
    if let Some(phase) = phases.iter().find(counts) {
        let (found, expected) = match terms.collectives {
            Some(_) => ("no collectives", "collectives = .., as in [terms]"),
            None => ("collectives", "none, as in [terms]"),
        };
        return Err(root.error("phases", format!("{found} in phase {:?}", phase.name), expected));
    }
    for term in Term::of_phases() {
        let per = terms.per(term);
        let of_phase = |phase: &Phase| total(phase.value(term), &phase.offloads, per);
        let sum: f64 = phases.iter().map(of_phase).sum();
        let whole = total(terms.value(term), &terms.offloads, per);
        if (sum - whole).abs() > TOLERANCE * sum.max(whole) {
            let factor = if per == Per::Run { "" } else { "offloads * " };
            let found = format!("phases whose {factor}{} add up to {sum:?}", term.name());
            return Err(root.error("phases", found, format!("{whole:?} as in [terms]")));
        }
    }
    Ok(())
}

impl CorrelationTable {
    /// The correlation of these terms, which stands in `parent`.
    fn of(mut self, terms: &Terms, parent: &Table<'_>) -> Result<Correlation> {
        let table = parent.table("correlation")?;
        let mut entries = Vec::new();
        let mut matrix = Vec::new();
        for name in &self.entries {
            let Some(entry) = terms.entry_named(name) else {
                let known = terms.entries().into_iter().map(|entry| terms.name_of(entry));
                let expected = format!("one of {}", known.collect::<Vec<_>>().join(", "));
                return Err(table.error("entries", format!("the entry {name:?}"), expected));
            };
            let Some(row) = self.rows.remove(name) else {
                let found = format!("no row for {name:?}");
                return Err(table.error("entries", found, "one for each entry"));
            };
            entries.push(entry);
            matrix.extend(row);
        }
        if let Some(name) = self.rows.keys().next() {
            return Err(table.error(name, format!("a row {name:?}"), "an entry of that name"));
        }
        Correlation::new(entries, matrix).map_err(|error| match error {
            Error::OutOfRange { found, expected, .. } => table.error("entries", found, expected),
            other => other,
        })
    }
}

impl RunsTable {
    fn observations(&self, table: &Table<'_>) -> Result<Observations> {
        let count = self.m.len();
        if count == 0 || self.p.len() != count {
            let found = format!("{count} values of m and {} of p", self.p.len());
            return Err(table.error("p", found, "as many of each, at least one"));
        }
        for (key, column) in [("time_s", &self.time_s), ("repetitions", &self.repetitions)] {
            if column.len() != count {
                let found = format!("{} numbers for \"runs.{key}\"", column.len());
                return Err(table.error(key, found, format!("{count}, one for each m")));
            }
            if let Some(bad) = column.iter().find(|it| !(it.is_finite() && **it > 0.0)) {
                return Err(table.error(key, format!("{bad:?}"), "above 0"));
            }
        }
        let mut configurations = Vec::with_capacity(count);
        for (index, (&m, &p)) in self.m.iter().zip(&self.p).enumerate() {
            let Ok(mapping) = Mapping::new(m, p) else {
                return Err(table.error("m", format!("({m}, {p})"), "m and p of at least 1"));
            };
            let (time, repetitions) = (Seconds(self.time_s[index]), self.repetitions[index]);
            configurations.push(Observation { mapping, level: 0, time, repetitions });
        }
        let (scatter, degrees_of_freedom) = (self.scatter.into(), self.degrees_of_freedom.into());
        Ok(Observations::new(&self.source, configurations, scatter, degrees_of_freedom))
    }

    /// Refuses terms that were changed after they were fitted to the runs beside them: predictions rest
    /// on the runs, and would pass over the change.
    fn check_terms(&self, table: &Table<'_>, parameters: &Parameters) -> Result<()> {
        let mappings = self.m.iter().zip(&self.p).map(|(&m, &p)| Mapping::of(m, p));
        let now: Vec<f64> = mappings.map(|mapping| parameters.time(mapping).0).collect();
        if !now.iter().all(|time| time.is_finite()) {
            let found = "runs of which the terms make no finite time";
            return Err(table.error(
                "time_s",
                found,
                "terms that add up to a finite time of each run",
            ));
        }
        let Some(fitted) = &self.equation_11_s else { return Ok(()) };
        let is_same = |(now, then): (&f64, &f64)| (now - then).abs() <= ROUNDING * then.abs();
        if fitted.len() != now.len() || now.iter().zip(fitted).all(is_same) {
            return Ok(());
        }
        let expected = "the [terms] that were fitted to these runs; where the new ones are to count as \
                        they stand, take [runs] and [before_runs] away, where they are to be beside the \
                        runs, write them into [before_runs.terms]";
        Err(table.error("equation_11_s", "terms that were changed since", expected))
    }
}

/// Times that differ by less than this fraction are the same, by rounding of terms written by hand.
const ROUNDING: f64 = 1e-6;

impl BeforeRuns {
    fn of(self, table: &Table<'_>) -> Result<Before> {
        check_slowdowns(&table.table("terms")?, &self.terms)?;
        let term = |name: &String| {
            Term::named(name).ok_or_else(|| {
                let known: Vec<&str> = Term::all().map(Term::name).collect();
                let expected = format!("one of {}", known.join(", "));
                table.error("unknown", format!("the term {name:?}"), expected)
            })
        };
        let unknown = self.unknown.iter().map(term).collect::<Result<_>>()?;
        let correlation = self.correlation.map(|rows| rows.of(&self.terms, table)).transpose()?;
        Ok(Before { terms: self.terms, correlation, unknown })
    }
}

#[cfg(test)]
mod tests;
