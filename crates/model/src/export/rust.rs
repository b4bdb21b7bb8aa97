//! Parameters as a module of Rust.

use std::fmt::Write;

use super::names::comment;
use super::terms;
use crate::model::parameters::{Decomposition, OverM, Parameters};

/// The text of a module: every term as a constant, or as a table of `(m, value)`, and the time of a
/// run as `pub fn time_s(m: u32, p: u32) -> f64`. It uses nothing but `core`.
///
/// Standard errors, sources and the phases of the program are left out.
pub fn rust(parameters: &Parameters) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text += line;
        text.push('\n');
    };
    line(&format!("// {}: parameters of equation 11 of MMGP.", comment(&parameters.name)));
    line("// Times are seconds. Standard errors, sources and phases are not carried over.\n");
    line("/// What the parameters are of.");
    line(&format!("pub const NAME: &str = \"{}\";", parameters.name.escape_default()));
    line("/// APUs available.");
    line(&format!("pub const APUS: u32 = {};", parameters.apus));
    for term in terms(&parameters.terms) {
        let name = term.name.to_ascii_uppercase();
        line(&format!("/// {}.", term.symbol));
        match term.numbers()[..] {
            [(None, estimate)] => line(&format!("pub const {name}: f64 = {:?};", estimate.value)),
            ref numbers => {
                let mut pairs = String::new();
                for (m, estimate) in numbers {
                    let _ = write!(pairs, "({}, {:?}), ", m.unwrap_or(1), estimate.value);
                }
                let pairs = pairs.trim_end_matches(", ");
                line(&format!("pub const {name}: &[(u32, f64)] = &[{pairs}];"));
            }
        }
    }
    line(
        "\n/// The time of a run with m host threads and p APUs for each \\[s\\], both at least 1.",
    );
    line("pub fn time_s(m: u32, p: u32) -> f64 {");
    line("    assert!(m >= 1 && p >= 1, \"m and p are at least 1\");");
    for statement in share(parameters.decomposition) {
        line(&format!("    {statement}"));
    }
    line(&format!(
        "    let alpha = if m == 1 {{ 1.0 }} else {{ {} }};",
        value(&parameters.terms.alpha, "ALPHA", "1.0")
    ));
    line(&format!("    let o_col_s = {};", value(&parameters.terms.o_col_s, "O_COL_S", "0.0")));
    line("    let offloads = fraction * OFFLOADS;");
    let count = if parameters.terms.collectives.is_some() { "COLLECTIVES" } else { "OFFLOADS" };
    line("    fraction * alpha * T_HPU_S");
    line("        + fraction * T_APU_S / pieces");
    line("        + fraction * C_APU_S");
    line("        + offloads * O_OFFLOAD_S");
    line("        + offloads * T_CSW_S");
    line(&format!("        + fraction * {count} * o_col_s"));
    line("        + offloads * f64::from(p) * G_S");
    line("}");
    let is_table = |value: &OverM| matches!(value, OverM::Table(_));
    if is_table(&parameters.terms.alpha) || is_table(&parameters.terms.o_col_s) {
        line(INTERPOLATED);
    }
    text
}

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
}";

/// The expression of a term at m.
fn value(value: &OverM, name: &str, at_one: &str) -> String {
    match value {
        OverM::Constant(_) => name.into(),
        OverM::Table(_) => format!("interpolated({name}, m, {at_one})"),
    }
}

fn share(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => {
            ["let fraction = 1.0;".into(), "let pieces = f64::from(m) * f64::from(p);".into()]
        }
        Decomposition::Task { tasks } => [
            format!("let fraction = f64::from({tasks}_u32.div_ceil(m)) / {tasks}.0;"),
            "let pieces = f64::from(p);".into(),
        ],
    }
}
