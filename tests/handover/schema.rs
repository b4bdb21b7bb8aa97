//! The JSON Schema in the repository holds what the writer writes, and refuses what it never would.

use mmgp::export::Target;
use mmgp::model::parameters::{Decomposition, Parameters};
use mmgp::model::{published, published_names};
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

fn schema() -> Value {
    let text = include_str!("../../schema/parameters-1.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

fn exported(parameters: &Parameters) -> Value {
    serde_json::from_str(&Target::Json.write(parameters)).expect("the export is JSON")
}

#[test]
fn what_is_exported_is_as_the_schema_says() {
    let schema = schema();
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
    let schema = schema();
    let good = exported(&published("pbpi-qs20").expect("a published set"));
    for (pointer, bad) in [
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
    ] {
        let mut object = good.clone();
        *object.pointer_mut(pointer).expect("a place in the export") = bad.clone();
        assert!(!broken(&schema, &schema, &object, "").is_empty(), "{pointer}: {bad}");
    }
}
