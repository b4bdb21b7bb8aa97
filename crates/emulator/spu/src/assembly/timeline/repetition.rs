//! A loop again and again, until it repeats itself.

use std::collections::BTreeMap;

use super::row::{Iterations, Row};
use super::run::{Run, State, Totals, Way};
use crate::assembly::bind::{Control, When};
use mmgp_base::units::Cycles;

/// A loop on its way through its iterations.
pub(super) struct Loop {
    first: usize,
    count: u64,
    /// For each state that an iteration began with: which, when, and what was counted until then.
    seen: BTreeMap<State, (u64, u64, Totals)>,
    /// Cycles and iterations after which everything repeats itself.
    steady: Option<(u64, u64)>,
}

/// What came of a loop.
pub(super) struct Looped {
    pub(super) rows: Vec<Row>,
    pub(super) iterations: Iterations,
}

impl Loop {
    pub(super) const fn new(first: usize, count: u64) -> Self {
        Self { first, count, seen: BTreeMap::new(), steady: None }
    }

    pub(super) fn run(mut self, run: &mut Run<'_, '_>) -> Looped {
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
    pub(super) fn iterate(&self, iteration: u64, run: &mut Run<'_, '_>) -> (u64, Vec<Row>) {
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

    /// Where an iteration begins as an earlier one did, all that follows is known: says how many
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
