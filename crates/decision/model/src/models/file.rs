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
//! `[runs]` and `[before_runs]` hold what the terms were fitted with: see `evidence`.
//!
//! `[refined]` holds terms of the refined model, which stands beside equation 11: see
//! [`super::refined`].

mod evidence;
mod phases;
mod refined;
mod terms;
mod writing;

use super::parameters::{Decomposition, Estimate, Interpolation, OverM, Parameters, Table, Terms};
use super::terms::{Term, Value};
use super::uncertainty::Correlation;
use mmgp_base::error::{Error, Result};
use mmgp_base::quantity::{Direction, Quantity};
use mmgp_base::table::Source;
use mmgp_base::table::toml::{self, Document};

/// The versions of the format that this module reads: 2 has `[runs]`, `[before_runs]` and tables with
/// an `interpolation`. Each file is written in the first that holds it.
const SCHEMAS: [u32; 2] = [1, 2];

/// The table that says what was measured, and its key.
pub(in crate::models) const OBJECTIVE: &str = "objective";
pub(in crate::models) const RATE: &str = "rate";
pub(in crate::models) const AMOUNT: &str = "amount";

/// The key of a table's [`Interpolation`].
pub(in crate::models) const INTERPOLATION: &str = "interpolation";

impl Parameters {
    /// Reads and checks a parameter file; an error names file, line, column, what was found and what was
    /// expected.
    pub fn read(source: &Source) -> Result<Self> {
        if source.text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            return Err(Error::Input {
                at: source.position(0),
                found: "JSON".into(),
                expected: "a parameter file in TOML; JSON is written for other tools, and not read"
                    .into(),
            });
        }
        let document = Document::parse(source)?;
        let root = document.root();
        let schema = root.count("schema", 1)?;
        if !SCHEMAS.contains(&schema) {
            return Err(root.error("schema", format!("schema {schema}"), "1 or 2"));
        }
        let keys = [
            "schema",
            "name",
            "decomposition",
            "tasks",
            "apus",
            OBJECTIVE,
            "terms",
            "phases",
            "correlation",
            "refined",
        ];
        root.expect_keys(&[&keys[..], &evidence::KEYS[..]].concat())?;
        let terms = read_terms(&root.table("terms")?)?;
        let mut parameters = Self {
            name: root.text("name")?.to_string(),
            decomposition: read_decomposition(&root)?,
            apus: root.count("apus", 1)?,
            quantity: read_quantity(&root)?,
            phases: phases::read(&root, &terms)?,
            correlation: read_correlation(&root, &terms)?,
            refinements: refined::read(&root)?,
            evidence: evidence::read(&root)?,
            terms,
        };
        parameters.share_quantity();
        evidence::check(&root, &parameters)?;
        Ok(parameters)
    }

    /// The text of a parameter file from which [`Self::read`] gives back exactly `self`.
    pub fn to_toml(&self) -> String {
        writing::parameters(self)
    }

    /// Whether a reader of the first version would go wrong.
    pub(in crate::models) fn needs_schema_2(&self) -> bool {
        let is_held = |(_, value): (_, Value<'_>)| value.interpolation == Interpolation::Held;
        self.evidence.is_some() || !self.quantity.is_time() || !self.terms.values().all(is_held)
    }
}

fn read_quantity(root: &toml::Table<'_>) -> Result<Quantity> {
    let Some(objective) = root.optional_table(OBJECTIVE)? else { return Ok(Quantity::Time) };
    let (key, direction) = match objective.has(AMOUNT) {
        true => (AMOUNT, Direction::Least),
        false => (RATE, Direction::Most),
    };
    objective.expect_keys(&[key])?;
    match objective.text(key)? {
        "" => Err(objective.error(key, "no unit", "the unit of what was measured, as \"ns/day\"")),
        unit => Ok(Quantity::of(direction, unit)),
    }
}

fn read_decomposition(root: &toml::Table<'_>) -> Result<Decomposition> {
    match root.text("decomposition")? {
        "data" if root.has("tasks") => Err(root.error(
            "tasks",
            "tasks for a data decomposition",
            "none, or decomposition = \"task\"",
        )),
        "data" => Ok(Decomposition::Data),
        "task" => Ok(Decomposition::Task { tasks: root.count("tasks", 1)? }),
        other => Err(root.error("decomposition", format!("{other:?}"), "\"data\" or \"task\"")),
    }
}

/// The correlation matrix, a row under the name of each of its entries.
fn read_correlation(root: &toml::Table<'_>, terms: &Terms) -> Result<Option<Correlation>> {
    let Some(table) = root.optional_table("correlation")? else { return Ok(None) };
    let names = table.texts("entries")?;
    let mut entries = Vec::new();
    let mut matrix = Vec::new();
    for name in &names {
        let Some(entry) = terms.entry_named(name) else {
            let known = terms.entries().into_iter().map(|entry| terms.name_of(entry));
            let expected = format!("one of {}", known.collect::<Vec<_>>().join(", "));
            return Err(table.error("entries", format!("the entry {name:?}"), expected));
        };
        entries.push(entry);
        let Some(row) = table.optional_numbers(name)? else {
            return Err(table.error(
                "entries",
                format!("no row for {name:?}"),
                "one for each entry",
            ));
        };
        matrix.extend(row);
    }
    let keys: Vec<&str> = ["entries"].into_iter().chain(names.iter().map(String::as_str)).collect();
    table.expect_keys(&keys)?;
    match Correlation::new(entries, matrix) {
        Ok(correlation) => Ok(Some(correlation)),
        Err(Error::OutOfRange { found, expected, .. }) => {
            Err(table.error("entries", found, expected))
        }
        Err(other) => Err(other),
    }
}

fn read_terms(terms: &toml::Table<'_>) -> Result<Terms> {
    terms.expect_keys(&Term::all().map(Term::name).collect::<Vec<_>>())?;
    terms::terms(terms)
}

/// A bare number or a table with `value`.
fn read_estimate(parent: &toml::Table<'_>, key: &str) -> Result<Estimate> {
    match parent.optional_table(key) {
        Ok(Some(entry)) => read_estimate_table(&entry, &[]),
        _ => read_number(parent, key, "a number or { value = .. }"),
    }
}

/// A bare number; the error for anything else names all that would have been `expected`.
fn read_number(parent: &toml::Table<'_>, key: &str, expected: &str) -> Result<Estimate> {
    match parent.number(key) {
        Ok(value) => not_negative(parent, key, value).map(Estimate::exact),
        Err(Error::Input { at, found, .. }) => {
            Err(Error::Input { at, found, expected: expected.into() })
        }
        Err(other) => Err(other),
    }
}

/// A table with `value`, what may stand beside it, and the keys that the caller reads itself.
fn read_estimate_table(entry: &toml::Table<'_>, further_keys: &[&str]) -> Result<Estimate> {
    let degrees = terms::degrees_of_freedom(|key| entry.has(key));
    let own_keys = ["value", "std_error", degrees, "source", "combined_with"];
    entry.expect_keys(&[further_keys, &own_keys].concat())?;
    let optional = |key| -> Result<Option<f64>> {
        let number = entry.optional_number(key)?;
        number.map(|number| not_negative(entry, key, number)).transpose()
    };
    let std_error = optional("std_error")?;
    Ok(Estimate {
        value: not_negative(entry, "value", entry.number("value")?)?,
        std_error,
        degrees_of_freedom: optional(degrees)?,
        source: entry.optional_text("source")?.map(str::to_string),
        combined_with: entry.texts("combined_with")?,
    })
}

/// A number, a table with `value`, or a table over m in either of its two forms.
fn read_over_m(parent: &toml::Table<'_>, key: &str) -> Result<OverM> {
    if let Ok(Some(entry)) = parent.optional_table(key) {
        return if entry.has("m") {
            read_columns(&entry).map(OverM::Table)
        } else {
            read_estimate_table(&entry, &["m"]).map(OverM::Constant)
        };
    }
    match parent.tables(key) {
        Ok(entries) if !entries.is_empty() => read_rows(parent, key, &entries).map(OverM::Table),
        _ => {
            let expected = "a number, { value = .. } or a table over m";
            read_number(parent, key, expected).map(OverM::Constant)
        }
    }
}

/// `{ m = [..], value = [..], std_error = [..], source = ".." }`
fn read_columns(entry: &toml::Table<'_>) -> Result<Table> {
    let degrees = terms::degrees_of_freedom(|key| entry.has(key));
    entry.expect_keys(&["m", "value", "std_error", degrees, "source", INTERPOLATION])?;
    let m = entry.counts("m")?;
    check_increasing(entry, "m", &m)?;
    let column = |key: &str| -> Result<Option<Vec<f64>>> {
        let Some(values) = entry.optional_numbers(key)? else { return Ok(None) };
        if values.len() != m.len() {
            let found = format!("{} numbers for \"{}.{key}\"", values.len(), entry.name());
            return Err(entry.error(key, found, format!("{}, one for each m", m.len())));
        }
        for &value in &values {
            not_negative(entry, key, value)?;
        }
        Ok(Some(values))
    };
    let Some(values) = column("value")? else {
        let found = format!("no value for \"{}.value\"", entry.name());
        return Err(entry.error("value", found, "an array of finite numbers"));
    };
    let std_errors = column("std_error")?;
    let degrees_of_freedom = column(degrees)?;
    let source = entry.optional_text("source")?;
    let estimate = |(index, &value): (usize, &f64)| Estimate {
        value,
        std_error: std_errors.as_ref().map(|column| column[index]),
        degrees_of_freedom: degrees_of_freedom.as_ref().map(|column| column[index]),
        source: source.map(str::to_string),
        combined_with: Vec::new(),
    };
    let values = values.iter().enumerate().map(estimate).collect();
    Ok(Table { m, values, interpolation: read_interpolation(entry)? })
}

fn read_interpolation(entry: &toml::Table<'_>) -> Result<Interpolation> {
    let Some(name) = entry.optional_text(INTERPOLATION)? else { return Ok(Interpolation::Held) };
    Interpolation::named(name).ok_or_else(|| {
        let expected = Interpolation::NAMES.map(|(known, _)| format!("{known:?}")).join(" or ");
        entry.error(INTERPOLATION, format!("{name:?}"), expected)
    })
}

/// `[{ m = .., value = .., .. }, ..]`
fn read_rows(parent: &toml::Table<'_>, key: &str, entries: &[toml::Table<'_>]) -> Result<Table> {
    let m = entries.iter().map(|entry| entry.count("m", 1)).collect::<Result<Vec<_>>>()?;
    check_increasing(parent, key, &m)?;
    let mut own_keys = vec!["m", INTERPOLATION];
    let mut values = Vec::new();
    for entry in entries {
        values.push(read_estimate_table(entry, &own_keys)?);
        own_keys.truncate(1);
    }
    let interpolation = entries.first().map(read_interpolation).transpose()?.unwrap_or_default();
    Ok(Table { m, values, interpolation })
}

/// At least one m, the first at least 1, each larger than the one before.
fn check_increasing(table: &toml::Table<'_>, key: &str, m: &[u32]) -> Result<()> {
    if m.first().is_some_and(|&first| first >= 1) && m.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(table.error(key, format!("m = {m:?}"), "increasing whole numbers, the first at least 1"))
}

fn not_negative(table: &toml::Table<'_>, key: &str, value: f64) -> Result<f64> {
    if value >= 0.0 {
        return Ok(value);
    }
    let found = format!("the number {value:?} for \"{}.{key}\"", table.name());
    Err(table.error(key, found, "0 or more"))
}

#[cfg(test)]
mod tests;
