//! Parameters as a header for C and C++.

use std::fmt::Write;

use super::left_out::left_out;
use super::names::{comment, identifier};
use crate::models::parameters::{Decomposition, OverM, Parameters};
use crate::models::terms::Value;

/// A header with every term as a `static const double` and the time of a run as
/// `static inline double mmgp_NAME_time_s(unsigned m, unsigned p)`, where `NAME` is the name of the
/// parameters in lower case with an underscore for whatever is not a letter or a digit.
///
/// It needs nothing but `<math.h>`'s NAN, is valid C99 and C++, and allocates nothing. Standard
/// errors, sources and the phases of the program are left out.
pub fn c_header(parameters: &Parameters) -> String {
    let parameters = &parameters.tabulated(parameters.apus);
    let name = identifier(&parameters.name);
    let guard = format!("MMGP_{}_H", name.to_ascii_uppercase());
    let mut text = String::new();
    let mut line = |line: &str| {
        text += &line.replace("NAME", &name);
        text.push('\n');
    };
    line(&format!("/* {}: parameters of equation 11 of MMGP. */", comment(&parameters.name)));
    line("/* Times are seconds. Standard errors, sources and phases are not carried over. */");
    if let Some(sentence) = left_out(parameters) {
        line(&format!("/* {sentence} */"));
    }
    line(&format!("#ifndef {guard}\n#define {guard}\n"));
    line("#include <math.h>\n");
    line(&format!("static const unsigned mmgp_NAME_apus = {}u;", parameters.apus));
    for (term, value) in parameters.terms.values() {
        line(&constants(term.name(), value));
    }
    line("");
    line(&interpolation(&parameters.terms.alpha, "alpha", Some("1.0")));
    line(&interpolation(&parameters.terms.o_col_s, "o_col_s", None));
    line(
        "/* The time of a run with m host threads and p APUs for each [s]; NAN where one is 0. */",
    );
    line("static inline double mmgp_NAME_time_s(unsigned m, unsigned p)");
    line("{");
    line("    double fraction, pieces, alpha, o_col_s, offloads;");
    line("    if (m == 0 || p == 0)\n        return NAN;");
    for statement in share(parameters.decomposition) {
        line(&format!("    {statement}"));
    }
    line("    alpha = mmgp_NAME_alpha_at(m);");
    line("    o_col_s = mmgp_NAME_o_col_s_at(m);");
    line("    offloads = fraction * mmgp_NAME_offloads;");
    line("    return fraction * alpha * mmgp_NAME_t_hpu_s");
    line("        + fraction * mmgp_NAME_t_apu_s / pieces");
    line("        + fraction * mmgp_NAME_c_apu_s");
    line("        + offloads * mmgp_NAME_o_offload_s");
    line("        + offloads * mmgp_NAME_t_csw_s");
    let count = if parameters.terms.collectives.is_some() { "collectives" } else { "offloads" };
    line(&format!("        + fraction * mmgp_NAME_{count} * o_col_s"));
    line("        + offloads * (double)p * mmgp_NAME_g_s;");
    line("}\n");
    line("#endif");
    text
}

/// A number, or the two arrays of a table.
fn constants(name: &str, value: Value<'_>) -> String {
    let numbers: Vec<_> = value.numbers().collect();
    if let [(None, estimate)] = numbers[..] {
        return format!("static const double mmgp_NAME_{name} = {:?};", estimate.value);
    }
    let (mut m, mut values) = (String::new(), String::new());
    for (index, (known, estimate)) in numbers.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(m, "{comma}{}u", known.unwrap_or(1));
        let _ = write!(values, "{comma}{:?}", estimate.value);
    }
    format!(
        "static const unsigned mmgp_NAME_{name}_m[] = {{ {m} }};\n\
         static const double mmgp_NAME_{name}[] = {{ {values} }};"
    )
}

/// The function that gives a term at m: `fixed` at m = 1 where that is given; a table is
/// interpolated linearly, from 1 for alpha and from 0 for O_COL where it begins above m = 1.
fn interpolation(value: &OverM, name: &str, fixed: Option<&str>) -> String {
    let at_one = fixed.unwrap_or("0.0");
    let first = match fixed {
        Some(fixed) => format!("    if (m == 1)\n        return {fixed};\n"),
        None => String::new(),
    };
    let body = match value {
        OverM::Constant(_) if fixed.is_none() => {
            format!("    (void)m;\n    return mmgp_NAME_{name};\n")
        }
        OverM::Constant(_) => format!("    return mmgp_NAME_{name};\n"),
        OverM::Table(table) => format!(
            "    const unsigned count = {}u;\n    unsigned index = 0, low_m = 1;\n    \
             double low = {at_one};\n{first}    \
             while (index < count && mmgp_NAME_{name}_m[index] < m) {{\n        \
             low_m = mmgp_NAME_{name}_m[index];\n        low = mmgp_NAME_{name}[index];\n        \
             index++;\n    }}\n    if (index == count)\n        return low;\n    \
             if (mmgp_NAME_{name}_m[index] == m)\n        return mmgp_NAME_{name}[index];\n    \
             return low + (mmgp_NAME_{name}[index] - low)\n        \
             * ((double)(m - low_m) / (double)(mmgp_NAME_{name}_m[index] - low_m));\n",
            table.m.len()
        ),
    };
    let body = if matches!(value, OverM::Constant(_)) { first + &body } else { body };
    format!("static inline double mmgp_NAME_{name}_at(unsigned m)\n{{\n{body}}}\n")
}

/// What falls to the slowest thread: the fraction of the totals, and the pieces of its APU time.
fn share(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["fraction = 1.0;".into(), "pieces = (double)m * (double)p;".into()],
        Decomposition::Task { tasks } => [
            format!("fraction = (double)({tasks}u / m + ({tasks}u % m != 0)) / {tasks}.0;"),
            "pieces = (double)p;".into(),
        ],
    }
}
