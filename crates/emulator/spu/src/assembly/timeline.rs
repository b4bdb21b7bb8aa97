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

mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::assembly::Listing;
use crate::assembly::bind::{Control, When};
use crate::assembly::expression::Value;
use crate::pipeline::Timing;
use mmgp_base::error::Result;
use mmgp_base::units::Cycles;
use run::{Run, State, Totals, Way};

pub use run::{Awaited, Iterations, Row, Timeline};

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

/// A loop on its way through its iterations.
struct Loop {
    first: usize,
    count: u64,
    /// Iterations by the state that they began with: which, when, and what was counted until then.
    seen: BTreeMap<State, (u64, u64, Totals)>,
    /// Cycles and iterations after which everything repeats itself.
    steady: Option<(u64, u64)>,
}

/// What came of a loop.
struct Looped {
    rows: Vec<Row>,
    iterations: Iterations,
}

impl Loop {
    const fn new(first: usize, count: u64) -> Self {
        Self { first, count, seen: BTreeMap::new(), steady: None }
    }

    fn run(mut self, run: &mut Run<'_, '_>) -> Looped {
        let shown = self.count.saturating_sub(1).max(1);
        let mut began = None;
        let mut rows = Vec::new();
        let (mut shown_begins, mut shown_cycles) = (0, 0);
        let mut iteration = 1;
        while iteration <= self.count {
            if iteration > 1 && self.steady.is_none() {
                iteration += self.skip(iteration, run);
            }
            let (begins, of_iteration) = self.iterate(iteration, run);
            began.get_or_insert(begins);
            if iteration == shown {
                rows = of_iteration;
                shown_begins = begins + run.totals.skipped;
                shown_cycles = run.pipeline.earliest() - begins;
            }
            iteration += 1;
        }
        let cycles = run.pipeline.earliest() + run.totals.skipped - began.unwrap_or(0);
        let steady = self.steady.unwrap_or((shown_cycles, 1));
        let iterations = Iterations {
            count: self.count,
            first: self.first,
            shown,
            shown_begins: Cycles(shown_begins),
            steady: steady.0 as f64 / steady.1 as f64,
            period: self.steady.map(|(_, period)| period),
            mean: cycles as f64 / self.count as f64,
        };
        Looped { rows, iterations }
    }

    /// Goes once through the loop; gives the cycle in which it began and the rows, counted from it.
    fn iterate(&self, iteration: u64, run: &mut Run<'_, '_>) -> (u64, Vec<Row>) {
        let begins = run.pipeline.earliest();
        let last = run.instructions.len() - 1;
        let mut rows: Vec<Row> = (self.first..last).map(|index| run.pass(index)).collect();
        let mut closing = run.issue(last);
        let is_conditional = matches!(
            run.instructions[last].control,
            Control::Branch { when: When::Conditional, .. }
        );
        let ends = iteration == self.count && is_conditional;
        run.leave(last, if ends { Way::FallsThrough } else { Way::Taken }, &mut closing);
        rows.push(closing);
        // The first instruction may share the cycle of the one before the loop.
        let begins = begins.min(rows[0].cycle.0);
        rows.iter_mut().for_each(|row| row.cycle = Cycles(row.cycle.0 - begins));
        (begins, rows)
    }

    /// Skips iterations: where one begins as an earlier one did, all that follows is known; says how many
    /// iterations need not be gone through, and counts them. The last two always are.
    fn skip(&mut self, iteration: u64, run: &mut Run<'_, '_>) -> u64 {
        let now = run.pipeline.earliest();
        let totals = run.totals;
        let Some((earlier, then, before)) = self.seen.get(&run.state()) else {
            self.seen.insert(run.state(), (iteration, now, totals));
            return 0;
        };
        let (cycles, period) = (now - then, iteration - earlier);
        self.steady = Some((cycles, period));
        let periods = (self.count + 1 - iteration).saturating_sub(2) / period;
        run.totals.skipped += periods * cycles;
        run.totals.instructions += periods * (totals.instructions - before.instructions);
        run.totals.dual_issues += periods * (totals.dual_issues - before.dual_issues);
        run.totals.stalls += (totals.stalls - before.stalls) * periods;
        periods * period
    }
}
