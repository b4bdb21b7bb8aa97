//! The JSON Schema in the repository holds what the writer writes, and refuses what it never would.

use mmgp::export::Target;
use mmgp::models::parameters::{Decomposition, Parameters};
use mmgp::models::{published, published_names};
use serde_json::{Value, json};

/// Every keyword that the schema may use, checked or known to be a remark.
const KNOWN: [&str; 19] = [
    "$schema",
    "$id",
    "title",
    "description",
    "$defs",
    "$ref",
    "type",
    "const",
    "required",
    "additionalProperties",
    "properties",
    "items",
    "minItems",
    "minimum",
    "maximum",
    "oneOf",
    "anyOf",
    "allOf",
    "enum",
];

/// What of `value` breaks `schema`, by the rules of draft 2020-12 for the keywords known here.
fn broken(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let schema = schema.as_object().expect("every schema here is an object");
    let mut found = Vec::new();
    for (keyword, rule) in schema {
        assert!(KNOWN.contains(&keyword.as_str()), "the test does not know {keyword}");
        let mut refuse = |what: String| found.push(format!("{place}: {what}"));
        match (keyword.as_str(), value) {
            ("type", _) => {
                let is_right = match rule.as_str().expect("one type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "null" => value.is_null(),
                    "number" => value.is_number(),
                    "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
                    other => panic!("the test does not know the type {other}"),
                };
                if !is_right {
                    refuse(format!("{value} is no {rule}"));
                }
            }
            ("enum", _) if !rule.as_array().expect("a list").contains(value) => {
                refuse(format!("{value} is none of {rule}"));
            }
            ("const", _) if value != rule => refuse(format!("{value} is not {rule}")),
            ("minimum", Value::Number(number)) if number.as_f64() < rule.as_f64() => {
                refuse(format!("{value} is below {rule}"));
            }
            ("maximum", Value::Number(number)) if number.as_f64() > rule.as_f64() => {
                refuse(format!("{value} is above {rule}"));
            }
            ("minItems", Value::Array(items))
                if (items.len() as u64) < rule.as_u64().unwrap_or(0) =>
            {
                refuse("too few items".into());
            }
            ("required", Value::Object(object)) => {
                for key in rule.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    if !object.contains_key(key) {
                        refuse(format!("no {key}"));
                    }
                }
            }
            ("additionalProperties", Value::Object(object)) => {
                assert_eq!(rule, &json!(false));
                for key in object.keys().filter(|key| schema["properties"].get(key).is_none()) {
                    refuse(format!("{key} is not known"));
                }
            }
            ("properties", Value::Object(object)) => {
                for (key, value) in object {
                    if let Some(rule) = rule.get(key) {
                        found.extend(broken(root, rule, value, &format!("{place}/{key}")));
                    }
                }
            }
            ("items", Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    found.extend(broken(root, rule, item, &format!("{place}/{index}")));
                }
            }
            ("$ref", _) => {
                let pointer = rule.as_str().and_then(|rule| rule.strip_prefix('#'));
                let target = root.pointer(pointer.expect("a reference within the schema"));
                found.extend(broken(root, target.expect("it leads somewhere"), value, place));
            }
            ("oneOf" | "anyOf", _) => {
                let choices = rule.as_array().expect("a list");
                let right =
                    choices.iter().filter(|rule| broken(root, rule, value, place).is_empty());
                let right = right.count();
                if right == 0 || keyword == "oneOf" && right > 1 {
                    refuse(format!("{right} of the choices"));
                }
            }
            _ => {}
        }
    }
    found
}

/// The schema of a version of the layout.
fn schema(version: u32) -> Value {
    let text = match version {
        1 => include_str!("../../schema/parameters-1.json"),
        _ => include_str!("../../schema/parameters-2.json"),
    };
    serde_json::from_str(text).expect("the schema is JSON")
}

fn exported(parameters: &Parameters) -> Value {
    serde_json::from_str(&Target::Json.write(parameters)).expect("the export is JSON")
}

#[test]
fn what_is_exported_is_as_the_schema_says() {
    let schema = schema(1);
    for name in published_names() {
        let mut parameters = published(name).expect("a published set");
        parameters.decomposition = match parameters.decomposition {
            Decomposition::Data => Decomposition::Task { tasks: 1 },
            Decomposition::Task { .. } => Decomposition::Data,
        };
        for (index, entry) in parameters.terms.entries().into_iter().enumerate() {
            let estimate = parameters.terms.estimate_mut(entry).expect("its own entry");
            estimate.std_error = (index % 2 == 0).then_some(0.5);
            estimate.degrees_of_freedom = (index % 4 == 0).then_some(3.0);
            estimate.combined_with = vec!["alpha".into(); index % 3];
        }
        for parameters in [published(name).expect("a published set"), parameters] {
            let object = exported(&parameters);
            assert_eq!(broken(&schema, &schema, &object, ""), Vec::<String>::new(), "{object:#}");
        }
    }
}

#[test]
fn what_is_no_export_breaks_the_schema() {
    let schema = schema(1);
    let good = exported(&published("pbpi-qs20").expect("a published set"));
    let cases = [
        ("/schema", json!(2)),
        ("/apus", json!(0)),
        ("/apus", json!(1.5)),
        ("/name", json!(null)),
        ("/decomposition", json!({"kind": "task"})),
        ("/decomposition", json!({"kind": "data", "tasks": 3})),
        ("/terms/t_hpu_s", json!({"value": -1})),
        ("/terms/t_hpu_s", json!({"value": 1, "error": 1})),
        ("/terms/t_hpu_s", json!({"std_error": 1})),
        ("/terms/t_hpu_s", json!(1)),
        ("/terms/alpha", json!({"m": [], "value": []})),
        ("/terms/alpha", json!({"m": [0], "value": [1]})),
        ("/terms/alpha", json!({"m": [1], "value": [null]})),
        ("/terms", json!({})),
    ];
    check_each_breaks(&schema, &good, &cases);
}

/// Each value at its place breaks the schema.
fn check_each_breaks(schema: &Value, good: &Value, cases: &[(&str, Value)]) {
    for (pointer, bad) in cases {
        let mut object = good.clone();
        *object.pointer_mut(pointer).expect("a place in the export") = bad.clone();
        assert!(!broken(schema, schema, &object, "").is_empty(), "{pointer}: {bad}");
    }
}

/// What only the second layout holds, in the words of a parameter file.
const FURTHER: &str = "\n[refined]\niterations = 2499\nhardware_contexts = 4\n\
    exposed_transfer_s = 9e-8\nmemory_demand_bytes_per_s = 2e9\n\
    memory_bandwidth_bytes_per_s = { value = 20e9, source = \"memory.csv\" }\nmemories = 2\n\
    memory_of = \"apu\"\nwork_growth_s = 0.01\n\
    [traced]\ncorrelation = [[\"host_repeated_s\", \"work_shared_s\", -0.5]]\n\
    processors = { count = 4, computing = 0.9 }\n[traced.sizes]\nhost_repeated_s = 1.0\nwork_shared_s = { value = 2.0, std_error = 0.1 }\n\
    [runs]\nsource = \"runs.csv\"\nm = [1, 4]\np = [2, 2]\ntime_s = [200.0, 70.5]\n\
    repetitions = [3, 1]\nscatter = 1e-4\ndegrees_of_freedom = 2\n\
    [before_runs]\nunknown = [\"c_apu_s\"]\n";

#[test]
fn refined_terms_and_runs_are_exported_as_the_second_schema_says() {
    let toml = published("pbpi-qs20").expect("a published set").to_toml();
    let (_, terms) = toml.split_once("[terms]").expect("a table of terms");
    let correlation = "[before_runs.correlation]\nentries = [\"t_hpu_s\", \"g_s\"]\n\
                       t_hpu_s = [1.0, 0.5]\ng_s = [0.5, 1.0]\n";
    let text = format!("{toml}{FURTHER}[before_runs.terms]{terms}{correlation}");
    let source = mmgp::table::Source::new("p.toml", &text);
    let parameters = Parameters::read(&source).expect("a parameter file");
    let object = exported(&parameters);
    let schema = schema(2);
    assert_eq!(broken(&schema, &schema, &object, ""), Vec::<String>::new(), "{object:#}");
    let times: Vec<f64> = parameters
        .evidence
        .iter()
        .flat_map(|it| &it.observations.configurations)
        .map(|it| it.time.0)
        .collect();
    assert_eq!(object["runs"]["time_s"], json!(times));
    assert_eq!(object["before_runs"]["terms"]["t_hpu_s"], object["terms"]["t_hpu_s"]);
    let cases = [
        ("/schema", json!(1)),
        ("/refined/iterations", json!(0)),
        ("/refined/memory_of", json!("node")),
        ("/refined/work_growth_s", json!(0.01)),
        ("/traced/sizes/host_repeated_s", json!("1 s")),
        ("/traced/processors", json!({"count": 0, "computing": 0.9})),
        ("/traced/correlation", json!([["host_repeated_s"]])),
        ("/runs/m", json!([])),
        ("/runs/repetitions", json!([0, 1])),
        ("/runs", json!({"m": [1], "p": [1], "time_s": [1]})),
        ("/before_runs/terms", json!({})),
        ("/before_runs/correlation/matrix", json!([[2, 0], [0, 2]])),
    ];
    check_each_breaks(&schema, &object, &cases);
}
