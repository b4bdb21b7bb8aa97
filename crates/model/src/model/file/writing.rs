//! Parameters as the text of a file; floats are written with as many digits as give them back.

use std::fmt::Write;

use super::super::parameters::{Decomposition, Estimate, OverM, Parameters, Phase, Table, Terms};
use super::super::sensitivity::Entry;
use super::super::uncertainty::Correlation;
use super::SCHEMA;

/// A term's name in files, and what stands in the comment above it.
const T_HPU: (&str, &str) = ("t_hpu_s", "T_HPU(1,1): time on the host in a sequential run [s]");
const T_APU: (&str, &str) = ("t_apu_s", "T_APU(1,1): APU time of the part that p APUs share [s]");
const C_APU: (&str, &str) = ("c_apu_s", "C_APU: APU time of the part that they cannot share [s]");
const OFFLOADS: (&str, &str) = ("offloads", "N: off-loads in the run");
const O_OFFLOAD: (&str, &str) =
    ("o_offload_s", "O_offload: signal there and back, arguments, result [s per off-load]");
const T_CSW: (&str, &str) = ("t_csw_s", "T_CSW: context switch on the host [s per off-load]");
const G: (&str, &str) = ("g_s", "g: gap between off-loads [s per off-load and APU]");
const COLLECTIVES: (&str, &str) = ("collectives", "Collective operations in the run");
const ALPHA: (&str, &str) = ("alpha", "alpha_m: slowdown of host code under m threads");
const O_COL: (&str, &str) = ("o_col_s", "O_COL: global synchronisation [s per collective]");
const O_COL_OF_OFFLOADS: (&str, &str) =
    ("o_col_s", "O_COL: global synchronisation [s per off-load]");

pub(super) fn parameters(parameters: &Parameters) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("schema = {SCHEMA}"));
    line(&mut text, format_args!("name = {}", quoted(&parameters.name)));
    match parameters.decomposition {
        Decomposition::Data => line(&mut text, format_args!("decomposition = \"data\"")),
        Decomposition::Task { tasks } => {
            line(&mut text, format_args!("decomposition = \"task\"\ntasks = {tasks}"));
        }
    }
    line(&mut text, format_args!("apus = {}\n\n[terms]", parameters.apus));
    terms(&mut text, &parameters.terms);
    for phase in &parameters.phases {
        self::phase(&mut text, phase);
    }
    if let Some(known) = &parameters.correlation {
        correlation(&mut text, known, &parameters.terms);
    }
    if let Some(refinements) = &parameters.refinements {
        super::refined::write(&mut text, refinements);
    }
    text
}

fn terms(text: &mut String, terms: &Terms) {
    for (term, value) in [
        (T_HPU, &terms.t_hpu_s),
        (T_APU, &terms.t_apu_s),
        (C_APU, &terms.c_apu_s),
        (OFFLOADS, &terms.offloads),
        (O_OFFLOAD, &terms.o_offload_s),
        (T_CSW, &terms.t_csw_s),
        (G, &terms.g_s),
    ] {
        commented(text, term, &inline_table(value, None));
    }
    if let Some(value) = &terms.collectives {
        commented(text, COLLECTIVES, &inline_table(value, None));
    }
    commented(text, ALPHA, &over_m(&terms.alpha));
    let o_col = if terms.collectives.is_some() { O_COL } else { O_COL_OF_OFFLOADS };
    commented(text, o_col, &over_m(&terms.o_col_s));
}

fn phase(text: &mut String, phase: &Phase) {
    line(text, format_args!("\n[[phases]]\nname = {}", quoted(&phase.name)));
    for ((name, _), value) in [
        (T_HPU, Some(&phase.t_hpu_s)),
        (T_APU, Some(&phase.t_apu_s)),
        (C_APU, Some(&phase.c_apu_s)),
        (OFFLOADS, Some(&phase.offloads)),
        (G, Some(&phase.g_s)),
        (COLLECTIVES, phase.collectives.as_ref()),
    ] {
        if let Some(value) = value {
            line(text, format_args!("{name} = {}", inline_table(value, None)));
        }
    }
}

fn correlation(text: &mut String, correlation: &Correlation, terms: &Terms) {
    let name = |&entry: &Entry| quoted(&terms.name_of(entry));
    let names: Vec<String> = correlation.entries().iter().map(name).collect();
    line(text, format_args!("\n# How the errors of the terms go together"));
    line(text, format_args!("[correlation]\nentries = [{}]", names.join(", ")));
    for (index, name) in names.iter().enumerate() {
        line(text, format_args!("{name} = {:?}", correlation.row(index)));
    }
}

pub(super) fn commented(text: &mut String, (name, comment): (&str, &str), value: &str) {
    line(text, format_args!("# {comment}\n{name} = {value}"));
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("invariant: writing to a string cannot fail");
}

fn over_m(term: &OverM) -> String {
    match term {
        OverM::Constant(estimate) => inline_table(estimate, None),
        OverM::Table(table) => columns(table).unwrap_or_else(|| rows(table)),
    }
}

/// The table by columns, where what is known of its entries has the same shape for all.
fn columns(table: &Table) -> Option<String> {
    let first = table.values.first()?;
    let alike = |estimate: &Estimate| {
        estimate.std_error.is_some() == first.std_error.is_some()
            && estimate.freedom.is_some() == first.freedom.is_some()
            && estimate.source == first.source
            && estimate.combined_with.is_empty()
    };
    if !table.values.iter().all(alike) {
        return None;
    }
    let values: Vec<f64> = table.values.iter().map(|estimate| estimate.value).collect();
    let mut text = format!("{{ m = {:?}, value = {values:?}", table.m);
    if first.std_error.is_some() {
        let errors: Vec<f64> = table.values.iter().filter_map(|value| value.std_error).collect();
        text += &format!(", std_error = {errors:?}");
    }
    if first.freedom.is_some() {
        let freedoms: Vec<f64> = table.values.iter().filter_map(|value| value.freedom).collect();
        text += &format!(", freedom = {freedoms:?}");
    }
    if let Some(source) = &first.source {
        text += &format!(", source = {}", quoted(source));
    }
    Some(text + " }")
}

/// The table by rows, each with what is known of it.
fn rows(table: &Table) -> String {
    let rows = table.m.iter().zip(&table.values);
    let rows: Vec<String> =
        rows.map(|(&m, value)| format!("    {},\n", inline_table(value, Some(m)))).collect();
    format!("[\n{}]", rows.concat())
}

pub(super) fn inline_table(estimate: &Estimate, m: Option<u32>) -> String {
    let m = m.map(|m| format!("m = {m}, ")).unwrap_or_default();
    let mut text = format!("{{ {m}value = {:?}", estimate.value);
    if let Some(error) = estimate.std_error {
        text += &format!(", std_error = {error:?}");
    }
    if let Some(freedom) = estimate.freedom {
        text += &format!(", freedom = {freedom:?}");
    }
    if let Some(source) = &estimate.source {
        text += &format!(", source = {}", quoted(source));
    }
    if !estimate.combined_with.is_empty() {
        let names: Vec<String> = estimate.combined_with.iter().map(|name| quoted(name)).collect();
        text += &format!(", combined_with = [{}]", names.join(", "));
    }
    text + " }"
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => quoted += &format!("\\u{:04X}", u32::from(letter)),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}
