//! When each instruction of a listing issues, and what it waits for.
//!
//! ```text
//!   a straight line                      a loop, `iterations` times
//!
//!   first instruction  cycle 0           what stands before the loop, once   cycle 0
//!     |  every branch falls through        |
//!     v                                    v
//!   last instruction                     label:  <-----------+  taken, but for the last time,
//!                                          ...               |  when a conditional one falls
//!                                        last instruction ---+  through
//! ```
//!
//! A branch that is taken and was not hinted, or not to where it goes, and one that was hinted and
//! falls through, costs the branch penalty. There is one hint buffer: a hint takes the place of the
//! one before it and, as on the emulated SPU, is spent when its branch runs. (Whether the hardware
//! keeps it for the next iterations was not found, so a hint before its loop is warned of.) Nothing
//! is charged for a branch that is always taken but leads elsewhere than around the loop: what it
//! leads to is not here.
//!
//! Registers are the only thing that is waited for: writes happen in the order of the program, so
//! neither a second write to a register nor a write after a read waits; loads and stores reach local
//! store in the order in which they issue. Channels never block, and no DMA has the port of the local
//! store; the fetch of the listing's own instructions has it where loads and stores leave it.

mod repetition;
mod row;
mod run;

pub use row::{Awaited, Iterations, Row, Timeline};

use super::Listing;
use super::bind::{Control, When};
use super::expression::Value;
use crate::pipeline::Timing;
use mmgp_base::error::Result;
use repetition::Loop;
use run::Run;

impl Listing<'_> {
    /// Times the listing as a straight line, in which no branch is taken.
    pub fn time(&self, timing: &Timing) -> Timeline {
        let instructions = self.instructions();
        let mut run = Run::new(instructions, timing);
        let last = instructions.len() - 1;
        let mut rows: Vec<Row> = (0..last).map(|index| run.pass(index)).collect();
        rows.push(run.issue(last));
        Timeline { warnings: self.warnings(None), ..run.timeline(rows, None) }
    }

    /// Times `count` iterations, at least one, of the loop that the last instruction closes, and
    /// what stands before it once.
    ///
    /// # Errors
    /// [`Error::Input`](mmgp_base::error::Error::Input) where the last instruction is not a branch to a label
    /// of the listing further up.
    pub fn time_loop(&self, count: u64, timing: &Timing) -> Result<Timeline> {
        let first = self.first_of_loop()?;
        let instructions = self.instructions();
        let mut run = Run::new(instructions, timing);
        let mut rows: Vec<Row> = (0..first).map(|index| run.pass(index)).collect();
        let looped = Loop::new(first, count.max(1)).run(&mut run);
        rows.extend(looped.rows);
        let warnings = self.warnings(Some(&looped.iterations));
        Ok(Timeline { warnings, ..run.timeline(rows, Some(looped.iterations)) })
    }

    /// The index of the instruction to which the last one branches back.
    fn first_of_loop(&self) -> Result<usize> {
        let last = self.instructions.last().expect("invariant: a listing has an instruction");
        let refuse = |what: &str| {
            let found = format!("`{}`{what} at the end of the listing", last.text);
            let expected = "a branch to a label further up, which closes the loop";
            Err(self.mistake(last, found, expected.to_string()))
        };
        let (When::Always | When::Conditional, target) = (match last.control {
            Control::Branch { when, target } => (when, target),
            _ => return refuse(""),
        }) else {
            return refuse(", a call,");
        };
        let place = match target {
            Some(Value::Place(section, address)) => (section, address),
            Some(Value::Unknown) => return refuse(", whose label is not defined here,"),
            _ => return refuse(""),
        };
        let first = self.instructions.iter().position(|it| it.place() == place);
        first.map_or_else(|| refuse(", which leads elsewhere,"), Ok)
    }
}

#[cfg(test)]
mod tests;
