//! The terms of a parameter set as a list.

use crate::model::parameters::{Estimate, OverM, Phase, Terms};

/// A term as every target needs it: its name in files, its unit, its value.
pub(super) struct Term<'a> {
    /// As in parameter files.
    pub name: &'static str,
    /// `s` or `1`.
    pub unit: &'static str,
    /// The paper's symbol.
    pub symbol: &'static str,
    /// What is known of it.
    pub value: Value<'a>,
}

/// The two shapes of a term's value.
pub(super) enum Value<'a> {
    /// One number.
    Single(&'a Estimate),
    /// A number or a table over m.
    OverM(&'a OverM),
}

/// The terms of the whole program in the order of a parameter file, without the absent ones.
pub(super) fn terms(terms: &Terms) -> Vec<Term<'_>> {
    let single = |name, unit, estimate| Term {
        name,
        unit,
        symbol: symbol(name),
        value: Value::Single(estimate),
    };
    let over_m =
        |name, unit, value| Term { name, unit, symbol: symbol(name), value: Value::OverM(value) };
    let mut list = vec![
        single("t_hpu_s", "s", &terms.t_hpu_s),
        single("t_apu_s", "s", &terms.t_apu_s),
        single("c_apu_s", "s", &terms.c_apu_s),
        single("offloads", "1", &terms.offloads),
        single("o_offload_s", "s", &terms.o_offload_s),
        single("t_csw_s", "s", &terms.t_csw_s),
        single("g_s", "s", &terms.g_s),
    ];
    list.extend(terms.collectives.as_ref().map(|count| single("collectives", "1", count)));
    list.push(over_m("alpha", "1", &terms.alpha));
    list.push(over_m("o_col_s", "s", &terms.o_col_s));
    list
}

/// The terms of one phase in the order of a parameter file, without the absent ones.
pub(super) fn phase_terms(phase: &Phase) -> Vec<Term<'_>> {
    let single = |name, unit, estimate| Term {
        name,
        unit,
        symbol: symbol(name),
        value: Value::Single(estimate),
    };
    let mut list = vec![
        single("t_hpu_s", "s", &phase.t_hpu_s),
        single("t_apu_s", "s", &phase.t_apu_s),
        single("c_apu_s", "s", &phase.c_apu_s),
        single("offloads", "1", &phase.offloads),
        single("g_s", "s", &phase.g_s),
    ];
    list.extend(phase.collectives.as_ref().map(|count| single("collectives", "1", count)));
    list
}

/// The paper's symbol of a term.
fn symbol(name: &str) -> &'static str {
    match name {
        "t_hpu_s" => "T_HPU(1,1)",
        "t_apu_s" => "T_APU(1,1)",
        "c_apu_s" => "C_APU",
        "offloads" => "N",
        "o_offload_s" => "O_offload",
        "t_csw_s" => "T_CSW",
        "g_s" => "g",
        "collectives" => "N_COL",
        "alpha" => "alpha_m",
        _ => "O_COL",
    }
}

impl<'a> Term<'a> {
    /// Each number of the term, with its m where it is one of a table.
    pub fn numbers(&self) -> Vec<(Option<u32>, &'a Estimate)> {
        match self.value {
            Value::Single(estimate) | Value::OverM(OverM::Constant(estimate)) => {
                vec![(None, estimate)]
            }
            Value::OverM(OverM::Table(table)) => {
                table.m.iter().map(|&m| Some(m)).zip(&table.values).collect()
            }
        }
    }
}
