//! Adaptive unbalancing of loops (PPoPP 2007): how many more iterations the master of a team takes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::offload::Call;
use mmgp_base::units::SimSpan;
use mmgp_cell::record::Loop;

/// Calls over which idle time is measured before it is looked at: long enough that the kinds of calls
/// of a function (tips or inner nodes, few or many steps) have about the same share in each.
const CALLS: u32 = 64;

/// What calls have in common whose loops are divided alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Which function of the program.
    pub function: u32,
    /// How many SPEs share it.
    pub shares: u32,
}

/// Moves iterations between the master of a team and its workers, until least of their time is idle.
///
/// ```text
///   master |====== loop ======|- idle -|        The master hears of all workers before it goes on;
///   worker |========= loop ===========|        who has ended its part of a loop waits for the last.
///   worker |======= loop =======|-idle-|
/// ```
///
/// No rule is published beyond that the idle gaps of master and workers are measured at each
/// invocation of a loop, and that iterations move to the master until idle time is least. Here the
/// gaps of 64 calls of a function with as many SPEs are added, over the time of their loops. Then the
/// master gets one iteration more, or one less where it is the master for which the workers wait. That
/// goes on while what is idle becomes less; the first time that it does not, the last step is taken
/// back, and the function keeps what it has. An iteration is what a program can move: a group of
/// patterns.
///
/// All processes share it, as functions do the same for each. What it takes to read the clock twice and
/// to add is left out: some tens of cycles of thousands.
#[derive(Debug, Default)]
pub(crate) struct Unbalancing {
    functions: RefCell<BTreeMap<Kind, Search>>,
    /// The loops of the calls of each process that have ended, of a task that has not.
    parts: RefCell<BTreeMap<u32, Parts>>,
}

/// When the loops began and ended on each SPE of a task, the master's first.
type Parts = Vec<Option<Vec<Loop>>>;

/// State of the search for the least idle time of a function.
#[derive(Debug, Default)]
struct Search {
    /// Iterations that the master takes beyond its equal part; below 0, fewer.
    lead: i32,
    direction: Option<Direction>,
    /// What was idle one step before.
    before: Option<f64>,
    is_settled: bool,
    gaps: Gaps,
}

/// Direction in which iterations move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToMaster,
    ToWorkers,
}

impl Direction {
    fn step(self) -> i32 {
        match self {
            Self::ToMaster => 1,
            Self::ToWorkers => -1,
        }
    }
}

/// The gaps of some calls.
#[derive(Debug, Clone, Copy, Default)]
struct Gaps {
    calls: u32,
    /// Gaps of the master [ticks].
    master: u64,
    /// Gaps of all SPEs together, and the time of their loops [ticks].
    idle: u64,
    loops: u64,
}

impl Unbalancing {
    /// How many iterations beyond its equal part the master takes of calls of that kind.
    pub fn lead(&self, kind: Kind) -> i32 {
        self.functions.borrow().get(&kind).map_or(0, |search| search.lead)
    }

    /// An SPE has done its part of a task of that process, with loops that ran so.
    pub fn ended(&self, process: u32, call: Call, loops: &[Loop]) {
        let Call { function, share, shares, .. } = call;
        if shares < 2 {
            return;
        }
        let mut all = self.parts.borrow_mut();
        let parts = all.entry(process).or_insert_with(|| vec![None; shares as usize]);
        parts[share as usize] = Some(loops.to_vec());
        if parts.iter().all(Option::is_some)
            && let Some(parts) = all.remove(&process)
        {
            let parts: Vec<Vec<Loop>> = parts.into_iter().flatten().collect();
            self.measure(Kind { function, shares }, &parts);
        }
    }

    /// Adds the gaps of a call. They count where all SPEs have run as many loops.
    fn measure(&self, kind: Kind, shares: &[Vec<Loop>]) {
        let count = shares.first().map_or(0, Vec::len);
        if shares.iter().any(|loops| loops.len() != count) {
            return;
        }
        let mut functions = self.functions.borrow_mut();
        let search = functions.entry(kind).or_default();
        if search.is_settled {
            return;
        }
        for index in 0..count {
            search.gaps.add(shares.iter().map(|loops| loops[index]));
        }
        search.gaps.calls += 1;
        if search.gaps.calls == CALLS {
            search.step(kind.shares);
        }
    }
}

impl Gaps {
    /// Adds those of one loop, the master's part of it first.
    fn add(&mut self, parts: impl Iterator<Item = Loop> + Clone) {
        let Some(last) = parts.clone().map(|part| part.end).max() else { return };
        let gap = |part: Loop| last.since(part.end).ticks();
        let all: u64 = parts.clone().map(gap).sum();
        self.master += parts.clone().next().map_or(0, gap);
        self.idle += all;
        let length = |part: Loop| part.end.since(part.start);
        self.loops += parts.map(length).map(SimSpan::ticks).sum::<u64>();
    }

    /// What is idle over what is at work.
    fn idle(&self) -> f64 {
        self.idle as f64 / self.loops.max(1) as f64
    }
}

impl Search {
    /// Looks at the gaps, and moves an iteration.
    fn step(&mut self, shares: u32) {
        let gaps = std::mem::take(&mut self.gaps);
        let idle = gaps.idle();
        // Whether the master is idle for longer than an SPE in the mean.
        let waits = gaps.master * u64::from(shares) > gaps.idle;
        let towards = if waits { Direction::ToMaster } else { Direction::ToWorkers };
        let direction = *self.direction.get_or_insert(towards);
        if self.before.is_some_and(|before| idle >= before) {
            self.lead -= direction.step();
            self.is_settled = true;
        } else {
            self.lead += direction.step();
            self.before = Some(idle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::units::SimTime;
    use mmgp_cell::EffectiveAddress;

    const SHARES: u32 = 4;
    const FUNCTION: u32 = 1;

    /// How long an iteration takes [ticks].
    const ITERATION: u64 = 100;
    /// How many each SPE does of a loop that is divided equally.
    const EQUAL: i32 = 12;

    /// The lead after so many calls of a loop that the workers begin so much later than the master.
    fn after(calls: u32, delay: u64) -> i32 {
        let unbalancing = Unbalancing::default();
        let kind = Kind { function: FUNCTION, shares: SHARES };
        for _ in 0..calls {
            let lead = unbalancing.lead(kind);
            for share in 0..SHARES {
                let arguments = EffectiveAddress(0);
                let call = Call { function: FUNCTION, arguments, share, shares: SHARES, lead };
                // What one worker of three has less is a third of what the master has more.
                let (begin, ticks) = match share {
                    0 => (0, ITERATION * EQUAL.saturating_add(lead) as u64),
                    _ => (delay, ITERATION * (3 * EQUAL - lead) as u64 / 3),
                };
                let start = SimTime::ZERO + SimSpan::from_ticks(begin);
                let end = start + SimSpan::from_ticks(ticks);
                unbalancing.ended(7, call, &[Loop { start, end }]);
            }
        }
        unbalancing.lead(kind)
    }

    #[test]
    fn iterations_move_until_least_is_idle() {
        // Four thirds of an iteration between master and worker for each that moves.
        assert_eq!(after(20 * CALLS, 3 * ITERATION), 2);
        assert_eq!(after(20 * CALLS, 0), 0);
        assert_eq!(after(20 * CALLS, ITERATION / 4), 0);
    }

    #[test]
    fn one_moves_at_a_time_and_none_before_gaps_have_been_measured() {
        let delay = 8 * ITERATION;
        assert_eq!([0, CALLS - 1, CALLS, 2 * CALLS].map(|calls| after(calls, delay)), [0, 0, 1, 2]);
    }
}
