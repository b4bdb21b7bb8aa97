//! The parameters of the model, in the formats of other tools.
//!
//! A target is one file with one function from [`Parameters`] to text. Numbers are written with
//! the fewest digits from which they can be read back exactly.

mod csv;
mod json;

pub use csv::csv;
pub use json::json;

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::model::parameters::{Estimate, OverM, Parameters, Phase, Terms};

/// A format to hand parameters over in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// See [`json`].
    Json,
    /// See [`csv`].
    Csv,
}

impl Target {
    /// Every target, in the order in which they are offered.
    pub const ALL: &'static [Self] = &[Self::Json, Self::Csv];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    /// The parameters in this format, the last line ended by a newline.
    pub fn write(self, parameters: &Parameters) -> String {
        match self {
            Self::Json => json(parameters),
            Self::Csv => csv(parameters),
        }
    }
}

impl FromStr for Target {
    type Err = Error;

    /// Finds the target of that [name](Self::name).
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|target| target.name() == name).ok_or_else(|| {
            Error::UnknownName {
                kind: "export target",
                name: name.into(),
                known: Self::ALL.iter().map(|target| target.name().into()).collect(),
            }
        })
    }
}

/// A term as every target needs it: its name in files, its unit, its value.
struct Term<'a> {
    name: &'static str,
    unit: &'static str,
    value: Value<'a>,
}

/// The two shapes of a term's value.
enum Value<'a> {
    /// One number.
    Single(&'a Estimate),
    /// A number or a table over m.
    OverM(&'a OverM),
}

/// The terms of the whole program in the order of a parameter file, without the absent ones.
fn terms(terms: &Terms) -> Vec<Term<'_>> {
    let single = |name, unit, estimate| Term { name, unit, value: Value::Single(estimate) };
    let over_m = |name, unit, value| Term { name, unit, value: Value::OverM(value) };
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
fn phase_terms(phase: &Phase) -> Vec<Term<'_>> {
    let single = |name, unit, estimate| Term { name, unit, value: Value::Single(estimate) };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::{Decomposition, Table};

    /// A parameter set with everything that may be there, and things that are hard to write.
    pub(super) fn everything() -> Parameters {
        let measured = |value, std_error, source: &str| Estimate {
            value,
            std_error: Some(std_error),
            freedom: None,
            source: Some(source.into()),
            combined_with: Vec::new(),
        };
        let sum = Estimate {
            combined_with: vec!["t_csw_s".into(), "o_col_s".into()],
            ..Estimate::exact(7e-8)
        };
        let alpha = Table {
            m: vec![1, 2],
            values: vec![Estimate::exact(1.0), measured(1.28, 0.01, "alpha.csv")],
        };
        Parameters {
            name: "PBPI \"107\", QS20".into(),
            decomposition: Decomposition::Task { tasks: 16 },
            apus: 16,
            terms: Terms {
                t_hpu_s: measured(1.3, 0.02, "profile.csv"),
                t_apu_s: Estimate::exact(370.0),
                c_apu_s: Estimate::exact(0.1 + 0.2),
                offloads: Estimate::exact(20000.0),
                o_offload_s: sum,
                t_csw_s: Estimate::exact(0.0),
                g_s: Estimate::exact(4e-5),
                collectives: Some(Estimate::exact(100.0)),
                alpha: OverM::Table(alpha),
                o_col_s: OverM::Constant(Estimate::exact(1.6e-5)),
            },
            phases: vec![Phase {
                name: "newview, \"left\"".into(),
                t_hpu_s: Estimate::exact(0.5),
                t_apu_s: Estimate::exact(370.0),
                c_apu_s: Estimate::exact(0.25),
                offloads: Estimate::exact(20000.0),
                g_s: Estimate::exact(4e-5),
                collectives: None,
            }],
            correlation: None,
            refinements: None,
        }
    }

    /// A parameter set in which everything that may be absent is.
    pub(super) fn bare() -> Parameters {
        let full = everything();
        Parameters {
            name: "bare".into(),
            decomposition: Decomposition::Data,
            terms: Terms {
                t_hpu_s: Estimate::exact(1.0),
                o_offload_s: Estimate::exact(0.0),
                collectives: None,
                alpha: OverM::Constant(Estimate::exact(1.28)),
                ..full.terms
            },
            phases: Vec::new(),
            correlation: None,
            refinements: None,
            ..full
        }
    }

    #[test]
    fn every_target_is_found_by_its_name() {
        for &target in Target::ALL {
            assert_eq!(target.name().parse::<Target>().expect("a known name"), target);
        }
    }

    #[test]
    fn an_unknown_target_names_the_known_ones() {
        let error = "jsn".parse::<Target>().expect_err("not a target");
        assert_eq!(
            error.to_string(),
            "there is no export target \"jsn\"; did you mean \"json\"?; known: json, csv"
        );
    }

    #[test]
    fn every_target_ends_its_last_line() {
        for &target in Target::ALL {
            assert!(target.write(&everything()).ends_with('\n'), "{}", target.name());
        }
    }
}
