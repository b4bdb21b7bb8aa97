//! The scheduler of the host processes, and the cost of their collectives.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command};

use super::MachineArguments;
use crate::cli::choice::one_of;
use crate::error::{Error, Result};
use crate::machine::{Collectives, Machine};
use crate::measure::Emulated;
use crate::runtime::{Dispatch, Policy};
use crate::schedulers::{policies, policy_named};

/// Flags of the scheduler and of collectives.
#[derive(Args)]
pub struct SchedulerArguments {
    /// Scheduler of the host processes; some have variants, as edtlp:ready
    #[arg(
        id = "scheduler",
        long = "scheduler",
        value_name = "SCHEDULER",
        value_parser = SchedulerParser,
        default_value = "edtlp"
    )]
    name: String,
    /// Order in which EDTLP gives hardware threads to processes
    #[arg(long, value_name = "ORDER", value_parser = orders())]
    dispatch: Option<String>,
    /// Cost of a collective operation of MPI
    #[arg(long, value_parser = one_of(&COLLECTIVES), default_value = "messages")]
    collectives: Collectives,
}

/// What a collective may cost.
const COLLECTIVES: [(Collectives, &str, &str); 2] = [
    (Collectives::Messages, "messages", "Its messages"),
    (
        Collectives::Table,
        "table",
        "Times that were measured for so many ranks: an input, which comes out again",
    ),
];

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
        machine.mpi.collectives = self.collectives;
        Ok(machine)
    }

    /// Cost of a collective, as a report names it.
    pub fn collectives(&self) -> &'static str {
        match self.collectives {
            Collectives::Messages => "messages",
            Collectives::Table => "table (input)",
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

/// A scheduler as the help lists it.
fn possible_value(policy: Box<dyn Policy>) -> PossibleValue {
    PossibleValue::new(policy.name()).help(policy.summary())
}

/// The name of a scheduler, or of a variant of one, as [`policy_named`] reads them.
#[derive(Clone)]
struct SchedulerParser;

impl TypedValueParser for SchedulerParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<String, clap::Error> {
        let variant = value.to_str().filter(|name| name.contains(':'));
        match variant.map(|name| (name, policy_named(name))) {
            Some((name, Ok(_))) => Ok(name.into()),
            Some((name, Err(Error::UnknownName { known, .. }))) => {
                let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
                if let Some(argument) = argument {
                    let argument = ContextValue::String(argument.to_string());
                    error.insert(ContextKind::InvalidArg, argument);
                }
                error.insert(ContextKind::InvalidValue, ContextValue::String(name.into()));
                error.insert(ContextKind::ValidValue, ContextValue::Strings(known));
                Err(error)
            }
            _ => {
                let plain = PossibleValuesParser::new(policies().into_iter().map(possible_value));
                plain.parse_ref(command, argument, value)
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(policies().into_iter().map(possible_value)))
    }
}

fn orders() -> PossibleValuesParser {
    let value = |order: Dispatch| PossibleValue::new(order.name()).help(order.summary());
    PossibleValuesParser::new(Dispatch::ALL.map(value))
}
