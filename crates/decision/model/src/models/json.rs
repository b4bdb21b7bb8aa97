//! The parameters in JSON (`schema/parameters-1.json`, `schema/parameters-2.json`).
//!
//! The same rules hold as for a parameter file in TOML. `low` and `high` follow from the standard
//! errors and are passed over.

mod evidence;
mod refined;
mod writing;

use super::file::{AMOUNT, INTERPOLATION, OBJECTIVE, RATE};
use super::parameters::{
    Decomposition, Estimate, Interpolation, OverM, Parameters, Phase, Table, Terms,
};
use super::terms::Term;
use super::terms::reading::{self, Named};
use super::uncertainty::Correlation;
use mmgp_base::error::{Error, Result};
use mmgp_base::quantity::{Direction, Quantity};
use mmgp_base::table::Source;
use mmgp_base::table::json::{Object, Value};

/// The versions of the layout: 2 has `refined`, `runs` and `before_runs`. Each set is written in the
/// first that holds it.
const SCHEMAS: [u32; 2] = [1, 2];

/// Reads and checks the whole text.
pub(super) fn read(source: &Source) -> Result<Parameters> {
    let root = Value::parse(source)?.object()?;
    let schema = root.required("schema")?;
    if !SCHEMAS.contains(&schema.count(1)?) {
        return Err(schema.error("1 or 2"));
    }
    root.expect_keys(&[
        "schema",
        "name",
        "decomposition",
        "apus",
        OBJECTIVE,
        "terms",
        "phases",
        "correlation",
        "refined",
        "runs",
        "before_runs",
    ])?;
    let terms = read_terms(&root.required("terms")?.object()?)?;
    let phases = match root.get("phases") {
        None => Vec::new(),
        Some(phases) => phases.array()?.iter().map(read_phase).collect::<Result<_>>()?,
    };
    let correlation = root.get("correlation");
    let mut parameters = Parameters {
        name: root.required("name")?.text()?,
        decomposition: read_decomposition(&root.required("decomposition")?.object()?)?,
        apus: root.required("apus")?.count(1)?,
        quantity: root.get(OBJECTIVE).map_or(Ok(Quantity::Time), |it| read_quantity(&it))?,
        correlation: correlation.map(|known| read_correlation(&known, &terms)).transpose()?,
        refinements: root.get("refined").map(|terms| refined::read(&terms)).transpose()?,
        evidence: evidence::read(&root)?,
        terms,
        phases,
    };
    parameters.share_quantity();
    check_together(&root, parameters)
}

/// What several values must be to one another, by the rules of the parameter file.
fn check_together(root: &Object<'_>, parameters: Parameters) -> Result<Parameters> {
    let text = Source::new("parameters", &parameters.to_toml());
    match Parameters::read(&text) {
        Ok(_) => Ok(parameters),
        Err(Error::Input { found, expected, .. }) => Err(root.whole.error_found(found, expected)),
        Err(other) => Err(other),
    }
}

fn read_quantity(value: &Value<'_>) -> Result<Quantity> {
    let objective = value.object()?;
    let (key, direction) = match objective.get(AMOUNT) {
        Some(_) => (AMOUNT, Direction::Least),
        None => (RATE, Direction::Most),
    };
    objective.expect_keys(&[key])?;
    let unit = objective.required(key)?;
    match unit.text()? {
        text if text.is_empty() => Err(unit.error("the unit of what was measured, as \"ns/day\"")),
        text => Ok(Quantity::of(direction, text)),
    }
}

fn read_decomposition(object: &Object<'_>) -> Result<Decomposition> {
    let kind = object.required("kind")?;
    match kind.text()?.as_str() {
        "data" => {
            object.expect_keys(&["kind"])?;
            Ok(Decomposition::Data)
        }
        "task" => {
            object.expect_keys(&["kind", "tasks"])?;
            Ok(Decomposition::Task { tasks: object.required("tasks")?.count(1)? })
        }
        _ => Err(kind.error("\"data\" or \"task\"")),
    }
}

fn read_terms(terms: &Object<'_>) -> Result<Terms> {
    terms.expect_keys(&Term::all().map(Term::name).collect::<Vec<_>>())?;
    reading::terms(terms)
}

fn read_phase(value: &Value<'_>) -> Result<Phase> {
    let phase = value.object()?;
    phase.expect_keys(&["name", "terms"])?;
    let terms = phase.required("terms")?.object()?;
    terms.expect_keys(&Term::of_phases().map(Term::name).collect::<Vec<_>>())?;
    reading::phase(&phase.required("name")?.text()?, &terms)
}

impl Named for Object<'_> {
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn estimate(&self, name: &str) -> Result<Estimate> {
        read_estimate(&self.required(name)?)
    }

    fn over_m(&self, name: &str) -> Result<OverM> {
        read_over_m(&self.required(name)?)
    }

    fn refused(&self, name: &str, found: &str, expected: &str) -> Error {
        self.get(name).unwrap_or(self.whole).error_found(found, expected)
    }
}

/// Checks what stands beside a value, and gives the key of the degrees of freedom.
fn expect_beside(object: &Object<'_>, own: &[&str]) -> Result<&'static str> {
    let degrees = reading::degrees_of_freedom(|key| object.get(key).is_some());
    let beside = ["std_error", degrees, "low", "high", "source", "combined_with"];
    object.expect_keys(&[own, &beside].concat())?;
    Ok(degrees)
}

fn read_estimate(value: &Value<'_>) -> Result<Estimate> {
    let object = value.object()?;
    let degrees = expect_beside(&object, &["value"])?;
    let optional = |key: &str| object.get(key).map(|value| not_negative(&value)).transpose();
    Ok(Estimate {
        value: not_negative(&object.required("value")?)?,
        std_error: optional("std_error")?,
        degrees_of_freedom: optional(degrees)?,
        source: object.get("source").map(|value| value.text()).transpose()?,
        combined_with: match object.get("combined_with") {
            Some(list) => texts(&list)?,
            None => Vec::new(),
        },
    })
}

/// One value, or lists beside `m`.
fn read_over_m(value: &Value<'_>) -> Result<OverM> {
    let object = value.object()?;
    let Some(place) = object.get("m") else {
        return read_estimate(value).map(OverM::Constant);
    };
    let degrees = expect_beside(&object, &["m", "value", INTERPOLATION])?;
    let m: Vec<u32> = place.array()?.iter().map(|m| m.count(1)).collect::<Result<_>>()?;
    if m.is_empty() || !m.is_sorted_by(|a, b| a < b) {
        let found = format!("m = {m:?}");
        return Err(place.error_found(found, "increasing whole numbers, the first at least 1"));
    }
    object.required("value")?;
    let values = column(&object, "value", m.len())?.unwrap_or_default();
    let column = |key: &str| column(&object, key, m.len());
    let (std_errors, degrees_of_freedom) = (column("std_error")?, column(degrees)?);
    let (sources, sums) = (column("source")?, column("combined_with")?);
    let known = |column: &Option<Vec<Value<'_>>>, index: usize| -> Result<Option<f64>> {
        let value = column.as_ref().map(|column| column[index]).filter(|value| !value.is_null());
        value.map(|value| not_negative(&value)).transpose()
    };
    let estimate = |(index, value): (usize, &Value<'_>)| -> Result<Estimate> {
        let source = sources.as_ref().map(|column| column[index]).filter(|text| !text.is_null());
        Ok(Estimate {
            value: not_negative(value)?,
            std_error: known(&std_errors, index)?,
            degrees_of_freedom: known(&degrees_of_freedom, index)?,
            source: source.map(|text| text.text()).transpose()?,
            combined_with: match &sums {
                Some(column) => texts(&column[index])?,
                None => Vec::new(),
            },
        })
    };
    let values = values.iter().enumerate().map(estimate).collect::<Result<_>>()?;
    let interpolation =
        object.get(INTERPOLATION).map(|name| read_interpolation(&name)).transpose()?;
    Ok(OverM::Table(Table { m, values, interpolation: interpolation.unwrap_or_default() }))
}

fn read_interpolation(name: &Value<'_>) -> Result<Interpolation> {
    Interpolation::named(&name.text()?).ok_or_else(|| name.error("\"line\" or \"logarithm\""))
}

/// The list at `key`, with an item for each m.
fn column<'a>(object: &Object<'a>, key: &str, count: usize) -> Result<Option<Vec<Value<'a>>>> {
    let Some(list) = object.get(key) else { return Ok(None) };
    let items = list.array()?;
    if items.len() != count {
        let expected = format!("{count}, one for each m");
        return Err(list.error_found(format!("{} items for {key:?}", items.len()), expected));
    }
    Ok(Some(items))
}

fn read_correlation(value: &Value<'_>, terms: &Terms) -> Result<Correlation> {
    let object = value.object()?;
    object.expect_keys(&["entries", "matrix"])?;
    let mut entries = Vec::new();
    for item in object.required("entries")?.array()? {
        let name = item.text()?;
        let entry = terms.entry_named(&name);
        entries.push(entry.ok_or_else(|| item.error("the name of an entry of the terms"))?);
    }
    let place = object.required("matrix")?;
    let mut matrix = Vec::new();
    for row in place.array()? {
        let numbers = row.array()?;
        if numbers.len() != entries.len() {
            let found = format!("{} numbers", numbers.len());
            return Err(row.error_found(found, format!("{}, one for each entry", entries.len())));
        }
        for number in numbers {
            matrix.push(number.number()?);
        }
    }
    match Correlation::new(entries, matrix) {
        Err(Error::OutOfRange { found, expected, .. }) => Err(place.error_found(found, expected)),
        other => other,
    }
}

fn texts(list: &Value<'_>) -> Result<Vec<String>> {
    list.array()?.iter().map(Value::text).collect()
}

fn not_negative(value: &Value<'_>) -> Result<f64> {
    match value.number()? {
        number if number >= 0.0 => Ok(number),
        _ => Err(value.error("0 or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With everything that may stand there.
    const TEXT: &str = r#"{"schema": 1, "name": "a \"b\" µ",
        "decomposition": {"kind": "task", "tasks": 16}, "apus": 16,
        "terms": {
            "t_hpu_s": {"value": 1.5, "std_error": 0.25, "degrees_of_freedom": 4, "low": 1, "high": 2},
            "t_apu_s": {"value": 0.30000000000000004}, "c_apu_s": {"value": 1},
            "offloads": {"value": 8}, "o_offload_s": {"value": 1e-7, "combined_with": ["t_csw_s"]},
            "t_csw_s": {"value": 0}, "g_s": {"value": 0, "source": "profile.csv"},
            "collectives": {"value": 3},
            "alpha": {"m": [1, 2], "value": [1, 1.25], "std_error": [null, 0.5],
                "combined_with": [[], ["t_hpu_s"]]},
            "o_col_s": {"value": 0}},
        "correlation": {"entries": ["t_hpu_s", "alpha(2)"], "matrix": [[1, -0.5], [-0.5, 1]]}}"#;

    fn parse(text: &str) -> Result<Parameters> {
        Parameters::read(&Source::new("p.json", text))
    }

    #[test]
    fn the_same_parameters_come_from_json_and_from_toml() {
        let parameters = parse(TEXT).unwrap();
        let toml = Source::new("p.toml", &parameters.to_toml());
        assert_eq!(Parameters::read(&toml).unwrap(), parameters);
        assert_eq!(parameters.terms.t_hpu_s.degrees_of_freedom, Some(4.0));
        assert_eq!(parameters.terms.alpha.estimates()[1].combined_with, ["t_hpu_s"]);
        assert_eq!(parameters.correlation.as_ref().unwrap().row(1), [-0.5, 1.0]);
    }

    #[test]
    fn degrees_of_freedom_are_read_by_their_old_name_too() {
        let old = TEXT.replace("degrees_of_freedom", "freedom");
        assert_ne!(old, TEXT);
        assert_eq!(parse(&old).unwrap(), parse(TEXT).unwrap());
        let both = TEXT.replace("\"low\"", "\"freedom\": 4, \"low\"");
        assert!(parse(&both).is_err());
    }

    #[test]
    fn each_mistake_is_refused_at_its_place() {
        let check = |old: &str, new: &str, message: &str| {
            assert!(TEXT.contains(old), "{old}");
            let error = parse(&TEXT.replacen(old, new, 1)).expect_err("must be refused");
            assert_eq!(error.to_string(), message, "{new}");
        };
        check("\"schema\": 1", "\"schema\": 3", "p.json:1:12: found the number 3, expected 1 or 2");
        check("1.5", "-1.5", "p.json:4:34: found the number -1.5, expected 0 or more");
        check("1.5", "1e999", "p.json:4:34: found the number 1e999, expected a finite number");
        check("1.5", "null", "p.json:4:24: found an object without \"value\", expected \"value\"");
        check(
            "\"t_csw_s\": {",
            "\"t_csw\": {",
            "p.json:7:22: found a value for \"t_csw\", expected one of t_hpu_s, t_apu_s, c_apu_s, offloads, o_offload_s, t_csw_s, g_s, collectives, alpha, o_col_s; did you mean \"t_csw_s\"?",
        );
        check(
            "[1, 2]",
            "[2, 2]",
            "p.json:9:28: found m = [2, 2], expected increasing whole numbers, the first at least 1",
        );
        check(
            "[1, 1.25]",
            "[1]",
            "p.json:9:45: found 1 items for \"value\", expected 2, one for each m",
        );
        check(
            "[1, 1.25]",
            "[1, 0]",
            "p.json:9:22: found 0 for \"terms.alpha\", expected a slowdown above 0",
        );
        check(
            "\"alpha(2)\"",
            "\"alpha(3)\"",
            "p.json:12:48: found the text \"alpha(3)\", expected the name of an entry of the terms",
        );
        check(
            "[-0.5, 1]",
            "[-0.25, 1]",
            "p.json:12:71: found -0.25 in row 2, expected a symmetric matrix, 1 on the diagonal, from -1 to 1 elsewhere",
        );
        check(
            "\"task\", \"tasks\": 16",
            "\"task\", \"tasks\": 0",
            "p.json:2:52: found the number 0, expected a whole number from 1 to 4294967295",
        );
    }

    #[test]
    fn how_a_table_goes_on_survives() {
        let good = TEXT.replacen("[1, 1.25],", "[1, 1.25], \"interpolation\": \"line\",", 1);
        let parameters = parse(&good).unwrap();
        let OverM::Table(alpha) = &parameters.terms.alpha else { panic!("a table") };
        assert_eq!(alpha.interpolation, Interpolation::Line);
        let text = serde_json::to_string(&parameters).unwrap();
        assert_eq!(parse(&text).unwrap(), parameters);
        let error = parse(&good.replacen("\"line\"", "\"held\"", 1)).expect_err("no such name");
        assert!(error.to_string().ends_with("expected \"line\" or \"logarithm\""), "{error}");
    }

    #[test]
    fn phases_add_up_to_the_whole() {
        let phase = r#""apus": 16, "phases": [{"name": "a", "terms": {"t_hpu_s": {"value": 1.5},
            "t_apu_s": {"value": 0.3}, "c_apu_s": {"value": 1}, "offloads": {"value": 8},
            "g_s": {"value": 0}, "collectives": {"value": 3}}}]"#;
        let good = TEXT.replacen("\"apus\": 16", phase, 1);
        assert_eq!(parse(&good).unwrap().phases.len(), 1);
        let error = parse(&good.replacen("0.3}", "0.4}", 1)).expect_err("too much").to_string();
        assert!(
            error.starts_with("p.json:1:1: found phases whose t_apu_s add up to 0.4"),
            "{error}"
        );
    }
    /// With refined terms and runs, after which nothing of the old layout is lost.
    fn with_all() -> String {
        let terms =
            TEXT.split_once("\"terms\": ").unwrap().1.split_once(",\n        \"corr").unwrap().0;
        let further = format!(
            r#""apus": 16, "refined": {{"iterations": 2499, "hardware_contexts": 4,
            "exposed_transfer_s": {{"value": 9e-8, "std_error": 1e-9}},
            "memory_demand_bytes_per_s": {{"value": 2e9}},
            "memory_bandwidth_bytes_per_s": {{"value": 2e10, "source": "memory.csv"}},
            "memories": 2, "memory_of": "apu", "work_growth_s": {{"value": 0.01}}}},
            "runs": {{"source": "my \"runs\"", "m": [1, 4], "p": [2, 2], "time_s": [0.1, 7.25],
            "repetitions": [3, 1], "scatter": 1e-4, "degrees_of_freedom": 2}},
            "before_runs": {{"unknown": ["c_apu_s"], "terms": {terms},
            "correlation": {{"entries": ["t_hpu_s", "g_s"], "matrix": [[1, 0.5], [0.5, 1]]}}}}"#
        );
        TEXT.replacen("\"schema\": 1", "\"schema\": 2", 1).replacen("\"apus\": 16", &further, 1)
    }

    #[test]
    fn refined_terms_and_runs_are_the_same_in_json_and_in_toml() {
        let parameters = parse(&with_all()).unwrap();
        let refined = parameters.refinements.as_ref().unwrap();
        assert_eq!(refined.names().len(), 5);
        let evidence = parameters.evidence.as_ref().unwrap();
        assert_eq!(evidence.observations.configurations[1].time.0, 7.25);
        assert!(evidence.before.as_ref().unwrap().correlation.is_some());
        let toml = Source::new("p.toml", &parameters.to_toml());
        assert_eq!(Parameters::read(&toml).unwrap(), parameters);
        let json = serde_json::to_string(&parameters).unwrap();
        assert!(json.starts_with("{\"schema\":2,"), "{json}");
        assert_eq!(parse(&json).unwrap(), parameters);
    }

    #[test]
    fn a_mistake_in_refined_terms_or_runs_is_refused_at_its_place() {
        let text = with_all();
        let check = |old: &str, new: &str, message: &str| {
            assert!(text.contains(old), "{old}");
            let error = parse(&text.replacen(old, new, 1)).expect_err("must be refused");
            assert_eq!(error.to_string(), message, "{new}");
        };
        check("7.25", "0", "p.json:7:89: found the number 0, expected above 0");
        check("[3, 1]", "[3, 0]", "p.json:8:32: found the number 0, expected above 0");
        check(
            "[0.1, 7.25]",
            "[0.1]",
            "p.json:7:83: found 1 items for \"time_s\" and 2 for \"m\", expected as many of each, at least one",
        );
        check(
            "[\"c_apu_s\"]",
            "[\"c_apu\"]",
            "p.json:9:41: found the text \"c_apu\", expected the name of a term",
        );
        check(
            "\"apu\"",
            "\"node\"",
            "p.json:6:41: found the text \"node\", expected \"process\" or \"apu\"",
        );
        check(
            "\"memories\": 2, ",
            "",
            "p.json:2:80: found an object without \"memories\", expected \"memories\"",
        );
        check("2e10", "0", "p.json:1:1: found no bandwidth, expected more than 0 byte/s");
        let without_runs = text.replacen("\"runs\": {", "\"run\": {", 1);
        assert!(parse(&without_runs).is_err());
    }

    #[test]
    fn a_data_decomposition_needs_no_tasks_and_collectives_need_not_be_counted() {
        let task = r#"{"kind": "task", "tasks": 16}"#;
        let data = parse(&TEXT.replacen(task, r#"{"kind": "data"}"#, 1)).unwrap();
        assert_eq!(data.decomposition, Decomposition::Data);
        assert_eq!(data.terms.collectives, Some(Estimate::exact(3.0)));
        let uncounted = parse(&TEXT.replacen("\"collectives\": {\"value\": 3},", "", 1)).unwrap();
        assert_eq!(uncounted.terms.collectives, None);
    }

    #[test]
    fn an_entry_of_a_table_may_be_without_a_source() {
        let text = TEXT.replacen("[1, 1.25],", "[1, 1.25], \"source\": [\"a.csv\", null],", 1);
        let alpha = parse(&text).unwrap().terms.alpha;
        let sources: Vec<_> = alpha.estimates().iter().map(|it| it.source.as_deref()).collect();
        assert_eq!(sources, [Some("a.csv"), None]);
    }

    #[test]
    fn refined_terms_alone_need_the_second_layout() {
        let refined = "\"apus\": 16, \"refined\": {\"iterations\": 2499}";
        let text = TEXT.replacen("\"schema\": 1", "\"schema\": 2", 1);
        let parameters = parse(&text.replacen("\"apus\": 16", refined, 1)).unwrap();
        assert_eq!(parameters.refinements.as_ref().unwrap().iterations, Some(2499));
        let json = serde_json::to_string(&parameters).unwrap();
        assert!(json.starts_with("{\"schema\":2,"), "{json}");
        let plain = serde_json::to_string(&parse(TEXT).unwrap()).unwrap();
        assert!(plain.starts_with("{\"schema\":1,"), "{plain}");
    }
}
