//! Parameters as a module of Python.

use super::names::{comment, quoted};
use super::terms;
use crate::model::parameters::{Decomposition, OverM, Parameters};

/// The text of a module for Python 3: every term as a constant, or as a list of `(m, value)`, and
/// the time of a run as `time_s(m, p)`. It imports nothing.
///
/// Standard errors, sources and the phases of the program are left out.
pub fn python(parameters: &Parameters) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text += line;
        text.push('\n');
    };
    line(&format!("# {}: parameters of equation 11 of MMGP.", comment(&parameters.name)));
    line("# Times are seconds. Standard errors, sources and phases are not carried over.\n");
    line(&format!("NAME = \"{}\"", python_text(&parameters.name)));
    line(&format!("APUS = {}", parameters.apus));
    for term in terms(&parameters.terms) {
        let name = term.name.to_ascii_uppercase();
        match term.numbers()[..] {
            [(None, estimate)] => line(&format!("{name} = {:?}", estimate.value)),
            ref numbers => {
                let pairs: Vec<String> = numbers
                    .iter()
                    .map(|(m, estimate)| format!("({}, {:?})", m.unwrap_or(1), estimate.value))
                    .collect();
                line(&format!("{name} = [{}]", pairs.join(", ")));
            }
        }
    }
    line("\n");
    line("def time_s(m, p):");
    line("    \"\"\"The time of a run with m host threads and p APUs for each, in seconds.\"\"\"");
    line("    if m < 1 or p < 1:");
    line("        raise ValueError(\"m and p are at least 1\")");
    for statement in share(parameters.decomposition) {
        line(&format!("    {statement}"));
    }
    line(&format!(
        "    alpha = 1.0 if m == 1 else {}",
        value(&parameters.terms.alpha, "ALPHA", "1.0")
    ));
    line(&format!("    o_col_s = {}", value(&parameters.terms.o_col_s, "O_COL_S", "0.0")));
    line("    offloads = fraction * OFFLOADS");
    let count = if parameters.terms.collectives.is_some() { "COLLECTIVES" } else { "OFFLOADS" };
    line("    return (");
    line("        fraction * alpha * T_HPU_S");
    line("        + fraction * T_APU_S / pieces");
    line("        + fraction * C_APU_S");
    line("        + offloads * O_OFFLOAD_S");
    line("        + offloads * T_CSW_S");
    line(&format!("        + fraction * {count} * o_col_s"));
    line("        + offloads * p * G_S");
    line("    )");
    let is_table = |value: &OverM| matches!(value, OverM::Table(_));
    if is_table(&parameters.terms.alpha) || is_table(&parameters.terms.o_col_s) {
        line(INTERPOLATED);
    }
    text
}

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
    return low";

/// As in JSON, save that Python names what lies beyond 16 bits by one number.
fn python_text(text: &str) -> String {
    let letter = |letter: char| match u32::from(letter) {
        number @ 0x10000.. => format!("\\U{number:08x}"),
        _ => quoted(letter.encode_utf8(&mut [0; 4])),
    };
    text.chars().map(letter).collect()
}

/// The expression of a term at m.
fn value(value: &OverM, name: &str, at_one: &str) -> String {
    match value {
        OverM::Constant(_) => name.into(),
        OverM::Table(_) => format!("_interpolated({name}, m, {at_one})"),
    }
}

fn share(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["fraction = 1.0".into(), "pieces = m * p".into()],
        Decomposition::Task { tasks } => {
            [format!("fraction = -(-{tasks} // m) / {tasks}"), "pieces = p".into()]
        }
    }
}
