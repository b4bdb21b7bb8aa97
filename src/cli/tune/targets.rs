//! Targets that `tune` and `measure` can have their runs made by. A further one is a file of this module, a line
//! `mod` and an entry of [`TARGETS`].

/// The toy of CONTRIBUTING.md, compiled and tested with the tests.
#[cfg(test)]
#[path = "../../../examples/toy_target.rs"]
mod toy_target;

mod host;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Job;
use super::session::{Interrupt, Session};
use crate::error::Result;
use crate::tune::engine::OrderTarget;

/// All targets, the first of which is used where none is named.
pub const TARGETS: &[TargetEntry] = &[host::ENTRY];

/// A target that makes runs, and how to know that a signal has ended one.
pub type StartedTarget = (Box<OrderTarget<'static>>, Interrupt);

/// A target on the command line.
pub struct TargetEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// What makes the runs, in a line.
    pub about: &'static str,
    /// Function that starts it. Where the interrupt is [`Interrupt::default`], signals end the whole command, which goes on when it is typed again.
    pub start: fn(&Job, &Session) -> Result<StartedTarget>,
}

/// Parser of the name of a target.
pub fn parser() -> impl TypedValueParser<Value = &'static TargetEntry> {
    let names = TARGETS.iter().map(|it| PossibleValue::new(it.name).help(it.about));
    PossibleValuesParser::new(names).map(|name| {
        let named = TARGETS.iter().find(|it| it.name == name);
        named.expect("invariant: the name is one of the targets")
    })
}
