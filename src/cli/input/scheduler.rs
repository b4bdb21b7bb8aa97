//! Which scheduler the host processes have, and how their collectives take place.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};

use super::MachineArguments;
use crate::error::Result;
use crate::machine::{Collectives, Machine};
use crate::measure::Emulated;
use crate::runtime::{Dispatch, Policy};
use crate::schedulers::{policies, policy_named};

#[derive(Args)]
pub struct SchedulerArguments {
    /// Scheduler of the host processes; some have variants, as edtlp:ready
    #[arg(
        id = "scheduler",
        long = "scheduler",
        value_name = "SCHEDULER",
        value_parser = schedulers(),
        default_value = "edtlp"
    )]
    name: String,
    /// To whom EDTLP gives a hardware thread
    #[arg(long, value_name = "ORDER", value_parser = orders())]
    dispatch: Option<String>,
    /// What a collective operation of MPI takes
    #[arg(long, value_enum, default_value = "messages")]
    collectives: CollectivesArgument,
}

/// [`Collectives`] on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum CollectivesArgument {
    /// Its messages
    Messages,
    /// What was measured for so many ranks: an input, which comes out again
    Table,
}

impl SchedulerArguments {
    /// The scheduler and, where one was chosen, its order, as [`policy_named`] reads them.
    pub fn name(&self) -> String {
        match &self.dispatch {
            Some(order) => format!("{}:{order}", self.name),
            None => self.name.clone(),
        }
    }

    /// The machine as a target under the scheduler.
    ///
    /// # Errors
    /// [`UnknownName`](crate::Error::UnknownName) where the scheduler has no orders to choose from.
    pub fn target(&self, machine: &MachineArguments) -> Result<Emulated> {
        Emulated::new(self.read(machine)?).choosing_from(policy_named).under(&self.name())
    }

    /// The machine, its collectives as chosen.
    pub fn read(&self, machine: &MachineArguments) -> Result<Machine> {
        let mut machine = machine.read()?;
        machine.mpi.collectives = match self.collectives {
            CollectivesArgument::Messages => Collectives::Messages,
            CollectivesArgument::Table => Collectives::Table,
        };
        Ok(machine)
    }

    /// What a collective takes, as a report calls it.
    pub fn collectives(&self) -> &'static str {
        match self.collectives {
            CollectivesArgument::Messages => "messages",
            CollectivesArgument::Table => "table (input)",
        }
    }

    /// A policy for one run.
    ///
    /// # Errors
    /// [`UnknownName`](crate::Error::UnknownName) where the scheduler has no orders to choose from.
    pub fn policy(&self) -> Result<Box<dyn Policy>> {
        policy_named(&self.name())
    }
}

/// Of a policy with variants, each is a value too: `edtlp:ready`.
fn schedulers() -> PossibleValuesParser {
    let values = |policy: Box<dyn Policy>| {
        let named = PossibleValue::new(policy.name()).help(policy.summary());
        let variant = |name| PossibleValue::new(format!("{}:{name}", policy.name())).hide(true);
        let variants: Vec<PossibleValue> = policy.variants().into_iter().map(variant).collect();
        std::iter::once(named).chain(variants)
    };
    PossibleValuesParser::new(policies().into_iter().flat_map(values))
}

fn orders() -> PossibleValuesParser {
    let value = |order: Dispatch| PossibleValue::new(order.name()).help(order.summary());
    PossibleValuesParser::new(Dispatch::ALL.map(value))
}
