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

mod c_header;
mod csv;
mod json;
mod latex;
mod left_out;
mod loggopsim;
mod markdown;
mod names;
mod program;
mod python;
pub mod runs;
mod rust;
mod simgrid;
mod starpu;

pub use c_header::c_header;
pub use csv::csv;
pub use json::json;
pub use latex::latex;
pub use loggopsim::loggopsim;
pub use markdown::markdown;
pub use python::python;
pub use rust::rust;
pub use simgrid::simgrid;
pub use starpu::starpu;

use std::str::FromStr;

use crate::models::parameters::Parameters;
use mmgp_base::error::{Error, Result};

/// A format to hand parameters over in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// See [`json`].
    Json,
    /// See [`csv`].
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

impl Target {
    /// Every target, in the order in which they are offered.
    pub const ALL: &'static [Self] = &[
        Self::Json,
        Self::Csv,
        Self::CHeader,
        Self::Rust,
        Self::Python,
        Self::Markdown,
        Self::Latex,
        Self::StarPu,
        Self::SimGrid,
        Self::LogGopSim,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::CHeader => "c-header",
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Markdown => "markdown",
            Self::Latex => "latex",
            Self::StarPu => "starpu",
            Self::SimGrid => "simgrid",
            Self::LogGopSim => "loggopsim",
        }
    }

    /// The parameters in this format, the last line ended by a newline.
    pub fn write(self, parameters: &Parameters) -> String {
        match self {
            Self::Json => json(parameters),
            Self::Csv => csv(parameters),
            Self::CHeader => c_header(parameters),
            Self::Rust => rust(parameters),
            Self::Python => python(parameters),
            Self::Markdown => markdown(parameters),
            Self::Latex => latex(parameters),
            Self::StarPu => starpu(parameters),
            Self::SimGrid => simgrid(parameters),
            Self::LogGopSim => loggopsim(parameters),
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

#[cfg(test)]
mod tests;
