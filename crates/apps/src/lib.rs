//! The programs that off-load work to accelerators, and what surrounds their kernels.

pub mod description;
pub mod pbpi;
pub mod phylogeny;
pub mod raxml;
pub mod run;
mod scaling;
mod streaming;

use mmgp_base::error::{Error, Result};
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};

/// A program with its input, ready to run on any machine at any (m, p).
#[derive(Debug, Clone)]
pub enum App {
    /// Bayesian inference of phylogenies.
    Pbpi(pbpi::Pbpi),
    /// Maximum-likelihood inference of phylogenies.
    Raxml(raxml::Raxml),
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Times and counts.
    pub run: run::Run,
    /// ln likelihood of the tree that the program ended at; none where RAxML made no inference, for
    /// bootstraps are of other columns.
    pub log_likelihood: Option<f64>,
    /// Proposals accepted, where the program is a Markov chain.
    pub accepted: Option<usize>,
    /// What came of its chains, where the program is PBPI.
    pub inference: Option<pbpi::Inference>,
    /// What the tasks found, where the program is RAxML.
    pub findings: Option<raxml::Findings>,
}

impl App {
    /// The names of all programs.
    pub const NAMES: [&'static str; 2] = ["pbpi", "raxml"];

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
            Self::Pbpi(_) => Self::NAMES[0],
            Self::Raxml(_) => Self::NAMES[1],
        }
    }

    /// The off-loaded function after which the program's collective follows, if it has one.
    pub fn function_before_collective(&self) -> Option<&'static str> {
        match self {
            Self::Pbpi(_) => Some(pbpi::FUNCTIONS[2]),
            Self::Raxml(_) => None,
        }
    }

    /// How many independent tasks the program deals to its host processes; none where these share
    /// one.
    pub fn tasks(&self) -> Option<u32> {
        match self {
            Self::Pbpi(_) => None,
            Self::Raxml(raxml) => Some(raxml.tasks().count()),
        }
    }

    /// How many steps a run tells the [`mmgp_cell::Progress`] of its machine: the generations of
    /// PBPI, the tasks of RAxML.
    pub fn steps(&self) -> u64 {
        match self {
            Self::Pbpi(pbpi) => u64::from(pbpi.generations()),
            Self::Raxml(raxml) => u64::from(raxml.tasks().count()),
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
        let blade = Blade::new(machine, timing, clock_phase);
        self.emulate_on(&Runtime::new(blade, Box::new(Edtlp)), configuration)
    }

    /// Runs the program `on` a machine at rest.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where it has fewer than m * p SPEs.
    pub fn emulate_on(&self, on: &Runtime, configuration: (u32, u32)) -> Result<Outcome> {
        self.emulate_sampled(on, configuration, None)
    }

    /// The same, with each sample of a Markov chain also given to `samples` as it comes.
    ///
    /// # Errors
    /// As those of [`Self::emulate_on`].
    pub fn emulate_sampled(
        &self,
        on: &Runtime,
        configuration: (u32, u32),
        samples: Option<pbpi::SampleSink>,
    ) -> Result<Outcome> {
        match self {
            Self::Pbpi(pbpi) => {
                let (run, inference) = pbpi.emulate_on(on, configuration, samples)?;
                Ok(Outcome {
                    run,
                    log_likelihood: Some(inference.log_likelihood()),
                    accepted: Some(inference.accepted()),
                    inference: Some(inference),
                    findings: None,
                })
            }
            Self::Raxml(raxml) => {
                let (run, findings) = raxml.emulate_on(on, configuration)?;
                Ok(Outcome {
                    run,
                    log_likelihood: findings.best.as_ref().map(|best| best.found.log_likelihood),
                    accepted: None,
                    inference: None,
                    findings: Some(findings),
                })
            }
        }
    }
}
