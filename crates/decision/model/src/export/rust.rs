//! Parameters as a module of Rust.

use super::program::{Language, constant, numbers, program};
use crate::models::parameters::{Decomposition, Parameters};
use crate::models::terms::{Term, Value};

/// The text of a module: every term as a constant, or as a table of `(m, value)`, and the time of a
/// run as `pub fn time_s(m: u32, p: u32) -> f64`. It uses nothing but `core`.
///
/// Standard errors, sources and the phases of the program are left out.
pub fn rust(parameters: &Parameters) -> String {
    program(&RUST, parameters)
}

const RUST: Language = Language {
    comment: "//",
    name_and_apus: |parameters| {
        format!(
            "/// What the parameters are of.\npub const NAME: &str = \"{}\";\n\
             /// APUs available.\npub const APUS: u32 = {};\n",
            parameters.name.escape_default(),
            parameters.apus
        )
    },
    constant: table,
    head: "
/// The time of a run with m host threads and p APUs for each \\[s\\], both at least 1.
pub fn time_s(m: u32, p: u32) -> f64 {
    assert!(m >= 1 && p >= 1, \"m and p are at least 1\");
",
    variable: ["let ", ";"],
    share,
    alpha: |otherwise| format!("if m == 1 {{ 1.0 }} else {{ {otherwise} }}"),
    p: "f64::from(p)",
    sum: ["    ", "}\n"],
    interpolated: ("interpolated", INTERPOLATED),
};

/// The function of the module that reads a table.
const INTERPOLATED: &str = "
/// The value at m: linear between the entries of a table, from `low` at m = 1 where it begins later,
/// and constant beyond its last.
fn interpolated(table: &[(u32, f64)], m: u32, mut low: f64) -> f64 {
    let mut low_m = 1;
    for &(high_m, high) in table {
        if high_m == m {
            return high;
        }
        if high_m > m {
            let position = f64::from(m - low_m) / f64::from(high_m - low_m);
            return low + (high - low) * position;
        }
        (low_m, low) = (high_m, high);
    }
    low
}
";

fn table(term: Term, value: Value<'_>) -> String {
    let (name, symbol) = (constant(term), term.symbol());
    match numbers(value) {
        Ok(number) => format!("/// {symbol}.\npub const {name}: f64 = {number:?};"),
        Err(pairs) => format!("/// {symbol}.\npub const {name}: &[(u32, f64)] = &[{pairs}];"),
    }
}

fn share(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["1.0".into(), "f64::from(m) * f64::from(p)".into()],
        Decomposition::Task { tasks } => {
            [format!("f64::from({tasks}_u32.div_ceil(m)) / {tasks}.0"), "f64::from(p)".into()]
        }
    }
}
