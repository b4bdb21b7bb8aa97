//! Which scheduler the host processes have.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::MachineArguments;
use crate::error::Result;
use crate::measure::Emulated;
use crate::runtime::{Policy, policies, policy_named};

#[derive(Args)]
pub struct SchedulerArguments {
    /// Scheduler of the host processes
    #[arg(
        id = "scheduler",
        long = "scheduler",
        value_name = "SCHEDULER",
        value_parser = schedulers(),
        default_value = "edtlp"
    )]
    pub name: String,
}

impl SchedulerArguments {
    /// The machine as a target under the scheduler.
    pub fn target(&self, machine: &MachineArguments) -> Result<Emulated> {
        machine.target()?.under(&self.name)
    }

    /// A policy for one run.
    ///
    /// # Errors
    /// None: the names that are accepted are those that there are.
    pub fn policy(&self) -> Result<Box<dyn Policy>> {
        policy_named(&self.name)
    }
}

fn schedulers() -> PossibleValuesParser {
    let value = |policy: Box<dyn Policy>| PossibleValue::new(policy.name()).help(policy.summary());
    PossibleValuesParser::new(policies().into_iter().map(value))
}
