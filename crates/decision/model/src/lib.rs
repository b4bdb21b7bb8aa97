//! The model's side of mmgp: from measurements to a ranking, with no emulator, terminal or picture.
//!
//! Read on at [`models`], the equations.
//!
//! [`fit`] makes parameters of tables, [`models`] holds the equations, [`belief`] what is believed
//! of the times and how far the equations are off, [`decide`] ranks mappings
//! (m, p) by any [`TimeModel`](models::time_model::TimeModel), [`export`] hands parameters to other
//! tools, [`guided`] decides at run time, [`statistics`] is what all count on. Timed runs of a program on a
//! machine with four APUs, and what follows from them:
//!
//! ```
//! use mmgp_model::fit::{Inputs, Runs, Settings, fit};
//! use mmgp_model::models::parameters::Decomposition;
//! use mmgp_model::belief::Posterior;
//! use mmgp_model::decide::{Constraints, Sampling, candidates, rank};
//! use mmgp_model::table::Source;
//!
//! let csv = "m,p,repetition,time_s\n\
//!            1,1,1,10.02\n1,1,2,9.97\n1,1,3,10.01\n1,2,1,6.52\n1,2,2,6.47\n1,2,3,6.51\n\
//!            1,4,1,5.21\n1,4,2,5.26\n1,4,3,5.24\n2,1,1,6.31\n2,1,2,6.27\n2,1,3,6.30\n\
//!            2,2,1,4.78\n2,2,2,4.81\n2,2,3,4.80\n4,1,1,4.73\n4,1,2,4.69\n4,1,3,4.71\n";
//! let (runs, _warnings) = Runs::read(&Source::new("runs.csv", csv))?;
//! let inputs = Inputs { runs: Some(runs), ..Inputs::default() };
//! let fitted = fit(&inputs, &Settings::new("my program", Decomposition::Data, 4))?;
//! for warning in &fitted.warnings {
//!     eprintln!("warning: {warning}");
//! }
//!
//! let posterior = Posterior::of(&fitted.parameters)?;
//! let mappings = candidates(&posterior, &Constraints::NONE, 4)?.mappings;
//! let ranking = rank(&posterior, &mappings, Sampling::new(4_000, 1))?;
//! println!("{}", ranking.choice);
//! for configuration in &ranking.configurations {
//!     let (mapping, time) = (configuration.mapping, configuration.time);
//!     let (low, high) = (configuration.low, configuration.high);
//!     println!("{mapping}: {time}, {low} to {high}");
//! }
//! let best = ranking.choice.mapping;
//! assert_eq!((best.m(), best.p()), (4, 1));
//! # Ok::<(), mmgp_model::Error>(())
//! ```

pub mod belief;
pub mod complexity;
pub mod decide;
pub mod export;
pub mod fit;
pub mod guided;
pub mod models;
pub mod objective;
pub mod statistics;
#[cfg(test)]
mod toy;

pub use mmgp_base::{Error, Mapping, Result, Warning, error, table, units};
