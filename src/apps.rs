//! The programs that off-load work to accelerators, and what surrounds their kernels.

pub mod pbpi;
pub mod phylogeny;
pub mod raxml;
pub mod run;
mod streaming;

use crate::cell::{Blade, KernelTiming};
use crate::error::{Error, Result};
use crate::machine::Machine;

/// A program with its input, ready to run on any machine at any (m, p).
#[derive(Debug, Clone)]
pub enum App {
    /// Bayesian inference of phylogenies.
    Pbpi(pbpi::Pbpi),
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Times and counts.
    pub run: run::Run,
    /// ln likelihood of the tree that the program ended at.
    pub log_likelihood: f64,
    /// Proposals accepted, where the program is a Markov chain.
    pub accepted: Option<usize>,
}

impl App {
    /// The names of all programs.
    pub const NAMES: [&'static str; 1] = ["pbpi"];

    /// Whether a program has that name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that there are.
    pub fn check_name(name: &str) -> Result<()> {
        if Self::NAMES.contains(&name) {
            return Ok(());
        }
        let known = Self::NAMES.map(String::from).to_vec();
        Err(Error::UnknownName { kind: "application", name: name.into(), known })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pbpi(_) => "pbpi",
        }
    }

    /// The off-loaded function after which the program's collective follows.
    pub fn function_before_collective(&self) -> &'static str {
        match self {
            Self::Pbpi(_) => pbpi::FUNCTIONS[2],
        }
    }

    /// Runs the program on `machine` with m host processes and p SPEs for each.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where the machine has fewer than m * p SPEs.
    pub fn emulate(
        &self,
        machine: &Machine,
        configuration: (u32, u32),
        timing: KernelTiming,
        clock_phase: f64,
    ) -> Result<Outcome> {
        self.emulate_on(&Blade::new(machine, timing, clock_phase), configuration)
    }

    /// Runs the program on `blade`, a machine at rest.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where it has fewer than m * p SPEs.
    pub fn emulate_on(&self, blade: &Blade, configuration: (u32, u32)) -> Result<Outcome> {
        match self {
            Self::Pbpi(pbpi) => {
                let (run, trace) = pbpi.emulate_on(blade, configuration)?;
                let log_likelihood = trace.log_likelihood();
                Ok(Outcome { run, log_likelihood, accepted: Some(trace.accepted()) })
            }
        }
    }
}
