//! Parameters and timed runs in the formats of other tools.
//!
//! A target is one file with one function from [`Parameters`] (or from runs, see [`runs`]) to text.
//! Numbers are written with the fewest digits from which they can be read back exactly, where the
//! format allows it. What a format cannot carry is said in a comment of the text itself. But for
//! [`json`], a table that goes on beyond its last m is written out to all APUs
//! ([`Parameters::tabulated`]).
//!
//! ```
//! use mmgp_model::export::Target;
//!
//! let parameters = mmgp_model::models::published("pbpi-qs20")?;
//! let header = "c-header".parse::<Target>()?.write(&parameters);
//! assert!(header.contains("static inline double mmgp_pbpi_on_qs20_time_s(unsigned m, unsigned p)"));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod names;
mod program;
pub mod runs;
mod simulators;
mod tables;

pub use program::{c_header, python, rust};
pub use simulators::{loggopsim, simgrid, starpu};
pub use tables::{csv, json, latex, markdown};

use std::str::FromStr;

use crate::models::parameters::Parameters;
use mmgp_base::error::{Error, Result, of_name};

/// A format to hand parameters over in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// See [`json`].
    Json,
    /// See [`csv()`].
    Csv,
    /// See [`c_header`].
    CHeader,
    /// See [`rust`].
    Rust,
    /// See [`python`].
    Python,
    /// See [`markdown`].
    Markdown,
    /// See [`latex`].
    Latex,
    /// See [`starpu`].
    StarPu,
    /// See [`simgrid`].
    SimGrid,
    /// See [`loggopsim`].
    LogGopSim,
}

/// Writes parameters in a format.
type Writer = fn(&Parameters) -> String;

/// The name by which each target is asked for, and what writes it.
const TARGETS: [(Target, &str, Writer); 10] = [
    (Target::Json, "json", json),
    (Target::Csv, "csv", csv),
    (Target::CHeader, "c-header", c_header),
    (Target::Rust, "rust", rust),
    (Target::Python, "python", python),
    (Target::Markdown, "markdown", markdown),
    (Target::Latex, "latex", latex),
    (Target::StarPu, "starpu", starpu),
    (Target::SimGrid, "simgrid", simgrid),
    (Target::LogGopSim, "loggopsim", loggopsim),
];

impl Target {
    /// Targets in the order in which they are offered.
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::Json; TARGETS.len()];
        let mut place = 0;
        while place < all.len() {
            all[place] = TARGETS[place].0;
            place += 1;
        }
        all
    };

    /// Name by which it is asked for.
    pub fn name(self) -> &'static str {
        TARGETS[self as usize].1
    }

    /// Writes the parameters in this format, the last line ended by a newline.
    pub fn write(self, parameters: &Parameters) -> String {
        TARGETS[self as usize].2(parameters)
    }
}

impl FromStr for Target {
    type Err = Error;

    /// Finds the target of that [name](Self::name).
    fn from_str(name: &str) -> Result<Self> {
        of_name("export target", Self::ALL, Self::name, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::{
        Decomposition, Estimate, Interpolation, OverM, Phase, Table, Terms,
    };
    use crate::toy::estimate;

    /// A parameter set with everything that may be there, and things that are hard to write.
    pub(in crate::export) fn everything() -> Parameters {
        let measured = |value, std_error, source: &str| Estimate {
            source: Some(source.into()),
            ..estimate(value, std_error)
        };
        let sum = Estimate {
            combined_with: vec!["t_csw_s".into(), "o_col_s".into()],
            ..Estimate::exact(7e-8)
        };
        let values = vec![Estimate::exact(1.0), measured(1.28, 0.01, "alpha.csv")];
        let alpha = Table::new(vec![1, 2], values);
        Parameters {
            name: "PBPI \"107\", QS20".into(),
            decomposition: Decomposition::Task { tasks: 16 },
            apus: 16,
            quantity: mmgp_base::quantity::Quantity::Time,
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
            evidence: None,
        }
    }

    /// A parameter set in which everything that may be absent is.
    pub(in crate::export) fn bare() -> Parameters {
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
            "there is no export target \"jsn\"; did you mean \"json\"? known: json, csv, \
             c-header, rust, python, markdown, latex, starpu, simgrid, loggopsim"
        );
    }

    #[test]
    fn only_json_says_how_a_table_goes_on_and_the_others_write_it_out() {
        let mut parameters = everything();
        let OverM::Table(alpha) = &mut parameters.terms.alpha else { panic!("a table") };
        alpha.interpolation = Interpolation::Line;
        // 1 + 15 times 0.28, on 16 APUs.
        let last = parameters.terms.alpha_at(16).to_string();
        for &target in Target::ALL {
            let text = target.write(&parameters);
            let knows_alpha = ![Target::Json, Target::StarPu, Target::LogGopSim].contains(&target);
            assert_eq!(text.contains(&last), knows_alpha, "{}", target.name());
            assert_eq!(text.contains("\"line\""), target == Target::Json, "{}", target.name());
        }
    }

    #[test]
    fn every_target_ends_its_last_line() {
        for &target in Target::ALL {
            assert!(target.write(&everything()).ends_with('\n'), "{}", target.name());
        }
    }
}
