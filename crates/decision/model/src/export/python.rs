//! Parameters as a module of Python.

use super::names::quoted;
use super::program::{Language, constant, numbers, program};
use crate::models::parameters::{Decomposition, Parameters};
use crate::models::terms::{Term, Value};

/// The text of a module for Python 3: every term as a constant, or as a list of `(m, value)`, and
/// the time of a run as `time_s(m, p)`. It imports nothing.
///
/// Standard errors, sources and the phases of the program are left out.
pub fn python(parameters: &Parameters) -> String {
    program(&PYTHON, parameters)
}

const PYTHON: Language = Language {
    comment: "#",
    name_and_apus: |parameters| {
        format!("NAME = \"{}\"\nAPUS = {}\n", python_text(&parameters.name), parameters.apus)
    },
    constant: list,
    head: "

def time_s(m, p):
    \"\"\"The time of a run with m host threads and p APUs for each, in seconds.\"\"\"
    if m < 1 or p < 1:
        raise ValueError(\"m and p are at least 1\")
",
    variable: ["", ""],
    share,
    alpha: |otherwise| format!("1.0 if m == 1 else {otherwise}"),
    p: "p",
    sum: ["    return (\n        ", "    )\n"],
    interpolated: ("_interpolated", INTERPOLATED),
};

/// The function of the module that reads a table.
const INTERPOLATED: &str = "

def _interpolated(table, m, low):
    low_m = 1
    for high_m, high in table:
        if high_m == m:
            return high
        if high_m > m:
            return low + (high - low) * ((m - low_m) / (high_m - low_m))
        low_m, low = high_m, high
    return low
";

fn list(term: Term, value: Value<'_>) -> String {
    match numbers(value) {
        Ok(number) => format!("{} = {number:?}", constant(term)),
        Err(pairs) => format!("{} = [{pairs}]", constant(term)),
    }
}

/// As in JSON, save that Python names what lies beyond 16 bits by one number.
fn python_text(text: &str) -> String {
    let letter = |letter: char| match u32::from(letter) {
        number @ 0x10000.. => format!("\\U{number:08x}"),
        _ => quoted(letter.encode_utf8(&mut [0; 4])),
    };
    text.chars().map(letter).collect()
}

fn share(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["1.0".into(), "m * p".into()],
        Decomposition::Task { tasks } => [format!("-(-{tasks} // m) / {tasks}"), "p".into()],
    }
}
