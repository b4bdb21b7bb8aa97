//! `mmgp measure`

use clap::Args;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::output::data;
use super::tune::{self, RunsArguments};
use super::{Answer, Invocation};
use crate::Site;
use crate::error::Result;
use crate::tune::engine::{self, Cell, End, Plan};

/// Run your program at every (m, p) of a list, in random order, and keep the times
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    runs: RunsArguments,
    /// How often each configuration is timed
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "When it stops")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
}

const HELP: &str = "\
Examples:
  mmgp measure --configurations table.csv --out runs -- mpirun -n {m} ./app
  mmgp measure --m 1,2,4 --p 1,2 --repetitions 5 --warmup 1 -- ./program {m} {p}

Every configuration is timed once, in an order of its own, before any is timed again, so that a \
machine that is busy for a while does not harm one configuration alone. A configuration that fails \
is not run again. The folder is that of `mmgp tune`, which goes on from there.

Exit code 0: all ran, well or not; 1: the budget was spent first; 130, 143: interrupted.";

pub fn run(arguments: &Arguments, invocation: &Invocation) -> Result<Answer> {
    let repetitions = arguments.repetitions;
    let arguments = &arguments.runs;
    let job = arguments.prepared(invocation)?;
    let cells = cells(&job.plan, repetitions, arguments.search.seed);
    let budget = arguments.budget.budget();
    if !arguments.elsewhere.is_here() {
        let orders = job.orders_of(&cells, &job.attempts()?);
        return arguments.elsewhere.hand_over(&job, &orders, arguments.dry_run);
    }
    if arguments.dry_run {
        data(None, &job.runs_of(&cells, &job.attempts()?, budget))?;
        return Ok(Answer::Done);
    }
    let (end, interrupt) = job.conduct(budget, arguments.quiet.into(), |target, log, watch| {
        engine::measure(target, log, &cells, &job.discipline, budget, watch)
    })?;
    Ok(match end {
        End::Interrupted => tune::interrupted(&interrupt),
        End::Runs | End::Time => Answer::No,
        End::Settled | End::Alike | End::NotWorth | End::Exhausted => Answer::Done,
    })
}

/// All configurations, once in an order drawn for each repetition.
fn cells(plan: &Plan, repetitions: u32, seed: u64) -> Vec<Cell> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut cells = Vec::new();
    for repetition in 1..=repetitions {
        let cell = |&site: &Site| {
            let factors = plan.factors(site).clone();
            Cell { factors, mapping: site.mapping, repetition }
        };
        let mut block: Vec<Cell> = plan.search.space.iter().map(cell).collect();
        // Fisher and Yates: every order is as likely.
        for last in (1..block.len()).rev() {
            let other = (random.next_u64() % (last as u64 + 1)) as usize;
            block.swap(last, other);
        }
        cells.extend(block);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mapping;
    use crate::belief::Prior;
    use crate::models::parameters::Decomposition;
    use crate::tune::{Goal, Search};

    #[test]
    fn every_configuration_is_run_once_before_any_is_run_again() {
        let space: Vec<Mapping> = (1..=20).map(|m| Mapping::of(m, 1)).collect();
        let prior = Prior::of_runs(Decomposition::Data);
        let (goal, objective) = (Goal::Expected(0.01), Default::default());
        let search = Search {
            space: space.iter().map(|&it| it.into()).collect(),
            prior,
            goal,
            objective,
            processors: None,
            baseline: None,
            most_runs: None,
            seed: 1,
        };
        let plan = Plan { levels: vec![Default::default()], search };
        let cells = cells(&plan, 2, 1);
        let orders: Vec<Vec<Mapping>> =
            cells.chunks(20).map(|block| block.iter().map(|it| it.mapping).collect()).collect();
        for (order, repetition) in orders.iter().zip([1, 2]) {
            assert!(cells.iter().filter(|it| it.repetition == repetition).count() == 20);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, space);
            assert_ne!(*order, space);
        }
        assert_ne!(orders[0], orders[1]);
    }
}
