//! Parameters as a program of a few lines: a header for C and C++, a module of Python or of Rust.

use std::fmt::Write;

use super::{comment, identifier, left_out, quoted};
use crate::models::parameters::{Decomposition, OverM, Parameters};
use crate::models::terms::{Term, TermValue};

/// How a language says it.
pub(super) struct Language {
    /// What begins a comment.
    pub comment: &'static str,
    /// What the parameters are of, and the APUs.
    pub name_and_apus: fn(&Parameters) -> String,
    /// A term as a constant, or as a list of `(m, value)`.
    pub constant: fn(Term, TermValue<'_>) -> String,
    /// The function of (m, p) down to its first statement.
    pub head: &'static str,
    /// What stands around the definition of a variable.
    pub variable: [&'static str; 2],
    /// The fraction of the totals that falls to the slowest thread, and the pieces of its APU time.
    pub share: fn(Decomposition) -> [String; 2],
    /// The value of alpha, 1 at m = 1, else the expression that is given.
    pub alpha: fn(&str) -> String,
    /// p as a number that can be multiplied.
    pub p: &'static str,
    /// What stands before and after the sum that the function returns.
    pub sum: [&'static str; 2],
    /// The function that reads a table.
    pub interpolated: (&'static str, &'static str),
}

/// The text of the program, with the time of a run as `time_s(m, p)`.
pub(super) fn program(language: &Language, parameters: &Parameters) -> String {
    let &Language { comment: begin, sum: [before, after], .. } = language;
    let parameters = &parameters.tabulated(parameters.apus);
    let terms = &parameters.terms;
    let name = comment(&parameters.name);
    let mut text = format!(
        "{begin} {name}: parameters of equation 11 of MMGP.\n{begin} Times are seconds. Standard \
         errors, sources and phases are not carried over.\n"
    );
    if let Some(sentence) = left_out(parameters) {
        text += &format!("{begin} {sentence}\n");
    }
    text.push('\n');
    text += &(language.name_and_apus)(parameters);
    for (term, value) in terms.values() {
        text += &(language.constant)(term, value);
        text.push('\n');
    }
    text += language.head;
    let [fraction, pieces] = (language.share)(parameters.decomposition);
    for (variable, value) in [
        ("fraction", fraction),
        ("pieces", pieces),
        ("alpha", (language.alpha)(&at_m(language, &terms.alpha, Term::Alpha, "1.0"))),
        ("o_col_s", at_m(language, &terms.o_col_s, Term::CollectiveCost, "0.0")),
        ("offloads", "fraction * OFFLOADS".into()),
    ] {
        let [define, end] = language.variable;
        text += &format!("    {define}{variable} = {value}{end}\n");
    }
    let count = if terms.collectives.is_some() { Term::Collectives } else { Term::Offloads };
    let (count, p) = (constant(count), language.p);
    text += &format!(
        "{before}fraction * alpha * T_HPU_S
        + fraction * T_APU_S / pieces
        + fraction * C_APU_S
        + offloads * O_OFFLOAD_S
        + offloads * T_CSW_S
        + fraction * {count} * o_col_s
        + offloads * {p} * G_S
{after}"
    );
    if [&terms.alpha, &terms.o_col_s].into_iter().any(|term| matches!(term, OverM::Table(_))) {
        text += language.interpolated.1;
    }
    text
}

/// The name of a term's constant.
pub(super) fn constant(term: Term) -> String {
    term.name().to_ascii_uppercase()
}

/// The list of `(m, value)`, or the only value.
pub(super) fn numbers(value: TermValue<'_>) -> Result<f64, String> {
    if let (None, [estimate]) = (value.m, value.estimates) {
        return Ok(estimate.value);
    }
    let pairs = value.numbers().map(|(m, each)| format!("({}, {:?})", m.unwrap_or(1), each.value));
    Err(pairs.collect::<Vec<_>>().join(", "))
}

/// The expression of a term at m.
fn at_m(language: &Language, value: &OverM, term: Term, at_one: &str) -> String {
    match value {
        OverM::Constant(_) => constant(term),
        OverM::Table(_) => {
            format!("{}({}, m, {at_one})", language.interpolated.0, constant(term))
        }
    }
}

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
    for statement in share_in_c(parameters.decomposition) {
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
fn constants(name: &str, value: TermValue<'_>) -> String {
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
fn share_in_c(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["fraction = 1.0;".into(), "pieces = (double)m * (double)p;".into()],
        Decomposition::Task { tasks } => [
            format!("fraction = (double)({tasks}u / m + ({tasks}u % m != 0)) / {tasks}.0;"),
            "pieces = (double)p;".into(),
        ],
    }
}

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
    share: share_in_python,
    alpha: |otherwise| format!("1.0 if m == 1 else {otherwise}"),
    p: "p",
    sum: ["    return (\n        ", "    )\n"],
    interpolated: ("_interpolated", INTERPOLATED_IN_PYTHON),
};

/// The function of the module that reads a table.
const INTERPOLATED_IN_PYTHON: &str = "

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

fn list(term: Term, value: TermValue<'_>) -> String {
    match numbers(value) {
        Ok(number) => format!("{} = {number:?}", constant(term)),
        Err(pairs) => format!("{} = [{pairs}]", constant(term)),
    }
}

/// Text as in JSON, save that Python names what lies beyond 16 bits by one number.
fn python_text(text: &str) -> String {
    let letter = |letter: char| match u32::from(letter) {
        number @ 0x10000.. => format!("\\U{number:08x}"),
        _ => quoted(letter.encode_utf8(&mut [0; 4])),
    };
    text.chars().map(letter).collect()
}

fn share_in_python(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["1.0".into(), "m * p".into()],
        Decomposition::Task { tasks } => [format!("-(-{tasks} // m) / {tasks}"), "p".into()],
    }
}

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
    share: share_in_rust,
    alpha: |otherwise| format!("if m == 1 {{ 1.0 }} else {{ {otherwise} }}"),
    p: "f64::from(p)",
    sum: ["    ", "}\n"],
    interpolated: ("interpolated", INTERPOLATED_IN_RUST),
};

/// The function of the module that reads a table.
const INTERPOLATED_IN_RUST: &str = "
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

fn table(term: Term, value: TermValue<'_>) -> String {
    let (name, symbol) = (constant(term), term.symbol());
    match numbers(value) {
        Ok(number) => format!("/// {symbol}.\npub const {name}: f64 = {number:?};"),
        Err(pairs) => format!("/// {symbol}.\npub const {name}: &[(u32, f64)] = &[{pairs}];"),
    }
}

fn share_in_rust(decomposition: Decomposition) -> [String; 2] {
    match decomposition {
        Decomposition::Data => ["1.0".into(), "f64::from(m) * f64::from(p)".into()],
        Decomposition::Task { tasks } => {
            [format!("f64::from({tasks}_u32.div_ceil(m)) / {tasks}.0"), "f64::from(p)".into()]
        }
    }
}
