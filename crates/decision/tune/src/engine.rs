//! Runs what a search asks for, until the choice is good enough or the budget is spent.
//!
//! Everything follows from the log: whoever goes on with a log that was cut anywhere goes on as if
//! nothing had happened.

mod due;

use std::collections::BTreeMap;

use mmgp_base::attempt::{Attempt, Order, Status};
use mmgp_base::table::log::Log;
use mmgp_base::target::Target;
use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Result, Site};

use crate::derived;
pub use crate::goal::End;
use crate::search::{Finding, Search, Trial, Verdict};
use due::{PROPOSED, orders_due};

/// What orders are given to.
pub type OrderTarget<'a> = dyn Target<Workload = Order, Ran = Attempt> + 'a;

/// A search, and what its levels are.
pub struct Plan {
    /// Names and values of further factors at each level; one without any where there is nothing but m and p.
    pub levels: Vec<BTreeMap<String, String>>,
    /// The search.
    pub search: Search,
}

impl Plan {
    /// The further factors of a configuration.
    pub fn factors(&self, site: Site) -> &BTreeMap<String, String> {
        &self.levels[site.level as usize]
    }

    /// The configuration of an attempt; `None` where its further factors have other values than all levels.
    pub fn site(&self, attempt: &Attempt) -> Option<Site> {
        let level = self.levels.iter().position(|factors| *factors == attempt.params)?;
        Some(Site::new(mapping(attempt), level as u32))
    }

    /// What is known after some attempts.
    ///
    /// # Errors
    /// Those of [`Search::judge`].
    pub fn judge(&self, attempts: &[Attempt]) -> Result<Verdict> {
        self.search.judge(&self.tried(attempts))
    }

    /// What attempts say of the configurations.
    ///
    /// What is stopped has run so long by the wall clock. Where the program reports something else, the
    /// bound is what the least share of that in the wall clock's leaves of it: nothing until a run says so.
    pub fn tried(&self, attempts: &[Attempt]) -> Vec<Trial> {
        let placed = || attempts.iter().filter_map(|it| Some((self.site(it)?, it)));
        let shares =
            placed().filter_map(|(_, it)| Some(it.time_s? / it.wall_s.filter(|wall| *wall > 0.0)?));
        let least = shares.reduce(f64::min);
        let share = match derived::quantity(placed().map(|(_, it)| it)).is_time() {
            true => least.map_or(1.0, |least| least.min(1.0)),
            false => least.unwrap_or(0.0),
        };
        placed().filter_map(|(site, it)| Some(Trial { site, found: found(it, share)? })).collect()
    }
}

/// How many runs there may be, and how long they may take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Budget {
    /// Timed runs, failed ones among them; warm-ups are none.
    pub runs: Option<u64>,
    /// All the time that runs take, warm-ups among them \[s\].
    pub time: Option<Seconds>,
}

/// When a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timeout {
    /// A time of so many times the shortest run so far, and a second at least.
    Times(f64),
    /// A time of its own \[s\].
    After(Seconds),
}

/// How runs are made.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Discipline {
    /// Runs of each configuration before its first timed one.
    pub warm_ups: u32,
    /// When a run is stopped.
    pub timeout: Option<Timeout>,
    /// Nodes of configurations that take more than one.
    pub nodes: BTreeMap<Mapping, u32>,
}

/// Who wants to know how it goes, and may end it.
pub trait Observer {
    /// Hears, before each run, what is known so far and what is run next.
    fn begins(&mut self, progress: &Progress<'_>);

    /// Whether to make no more runs.
    fn is_interrupted(&self) -> bool;
}

/// How far a search is.
#[non_exhaustive]
pub struct Progress<'a> {
    /// All attempts so far.
    pub attempts: &'a [Attempt],
    /// Timed runs so far.
    pub runs: u64,
    /// Time that runs took so far \[s\].
    pub spent: Seconds,
    /// The search.
    pub plan: &'a Plan,
    /// What is known.
    pub verdict: &'a Verdict,
    /// What runs next.
    pub mapping: Mapping,
    /// Order by which it runs: attempt, repetition, limit.
    pub order: &'a Order,
}

/// Searches for the fastest configuration.
///
/// # Errors
/// Those of the target, of the log, and of [`Search::judge`].
pub fn tune(
    target: &OrderTarget<'_>,
    log: &mut Log,
    plan: &Plan,
    discipline: &Discipline,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Result<End> {
    loop {
        let verdict = plan.judge(log.attempts())?;
        if let Some(end) = verdict.end {
            return Ok(end);
        }
        if observer.is_interrupted() {
            return Ok(End::Interrupted);
        }
        let (runs, spent) = (timed(log.attempts()), spent(log.attempts()));
        if budget.runs.is_some_and(|most| runs >= most) {
            return Ok(End::Runs);
        }
        let attempts = log.attempts();
        let left = budget.time.map(|time| Seconds(time.0 - spent.0));
        let most = [left, budget.at_first(attempts)].into_iter().flatten();
        let most = most.reduce(|one, other| Seconds(one.0.min(other.0)));
        let due = orders_due(plan, &verdict, attempts, (discipline, most)).next();
        let Some((mapping, expected, order)) = due else { return Ok(End::Exhausted) };
        if left.is_some_and(|left| left.0 <= expected.map_or(0.0, |time| time.0)) {
            return Ok(End::Time);
        }
        observer.begins(&Progress {
            attempts,
            runs,
            spent,
            plan,
            verdict: &verdict,
            mapping,
            order: &order,
        });
        log.append(target.run(&order, mapping)?)?;
    }
}

/// A configuration to time, and how often it will have been timed then.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Values of further factors.
    pub factors: BTreeMap<String, String>,
    /// The configuration.
    pub mapping: Mapping,
    /// Timed runs of it, this one among them.
    pub repetition: u32,
}

/// Runs all of these in their order; what the log has already is not run again, and neither is what
/// failed once.
///
/// # Errors
/// Those of the target and of the log.
pub fn measure(
    target: &OrderTarget<'_>,
    log: &mut Log,
    cells: &[Cell],
    discipline: &Discipline,
    budget: Budget,
    observer: &mut dyn CellObserver,
) -> Result<End> {
    for cell in cells {
        // Warm-ups first, then the run itself.
        while is_due(cell, log.attempts()) {
            if observer.is_interrupted() {
                return Ok(End::Interrupted);
            }
            if budget.runs.is_some_and(|most| timed(log.attempts()) >= most) {
                return Ok(End::Runs);
            }
            let left = budget.time.map(|time| Seconds(time.0 - spent(log.attempts()).0));
            if left.is_some_and(|left| left.0 <= 0.0) {
                return Ok(End::Time);
            }
            let order = discipline.order(&cell.factors, cell.mapping, log.attempts(), left);
            observer.begins_cell(log.attempts(), cell);
            log.append(target.run(&order, cell.mapping)?)?;
        }
    }
    Ok(End::Exhausted)
}

/// Who wants to know which cell is next, and may end it.
pub trait CellObserver {
    /// Orders before each run.
    fn begins_cell(&mut self, attempts: &[Attempt], cell: &Cell);

    /// Whether to make no more runs.
    fn is_interrupted(&self) -> bool;
}

/// Whether a cell is still to be timed.
pub fn is_due(cell: &Cell, attempts: &[Attempt]) -> bool {
    let has_failed = attempts.iter().any(|it| {
        it.params == cell.factors
            && mapping(it) == cell.mapping
            && matches!(it.status, Status::Failed | Status::Wrong)
    });
    !has_failed && tried_so_often(attempts, &cell.factors, cell.mapping) < cell.repetition
}

/// The orders of what is worth running next, without running it, and what is known: for other drivers.
///
/// # Errors
/// Those of [`Search::judge`].
pub fn ask(
    plan: &Plan,
    attempts: &[Attempt],
    discipline: &Discipline,
) -> Result<(Vec<(Mapping, Order)>, Verdict)> {
    let verdict = plan.judge(attempts)?;
    let mut orders = Vec::new();
    if !verdict.is_settled() {
        let due = orders_due(plan, &verdict, attempts, (discipline, None));
        for (mapping, _, mut order) in due.take(PROPOSED) {
            order.id += orders.len() as u64;
            orders.push((mapping, order));
        }
    }
    Ok((orders, verdict))
}

/// The configuration of an attempt.
pub fn mapping(attempt: &Attempt) -> Mapping {
    Mapping::new(attempt.m, attempt.p).expect("invariant: a log has no m or p of 0")
}

/// What an attempt says of its configuration: nothing where it was interrupted, or went well and was to
/// warm up.
fn found(attempt: &Attempt, share: f64) -> Option<Finding> {
    match attempt.status {
        Status::Ok if attempt.repetition == 0 => None,
        Status::Ok => attempt.time_s.map(|time| Finding::Time(Seconds(time))),
        Status::Failed | Status::Wrong => Some(Finding::Failed),
        // How long it took to end then says nothing of the configuration.
        Status::Timeout => {
            let bound = attempt.limit_s.or(attempt.wall_s);
            bound.map(|bound| Finding::Longer(Seconds(share * bound)))
        }
        Status::Interrupted => None,
    }
}

/// Timed runs.
pub fn timed(attempts: &[Attempt]) -> u64 {
    let counts = |it: &&Attempt| it.repetition > 0 && it.status != Status::Interrupted;
    attempts.iter().filter(counts).count() as u64
}

/// The time that all attempts took.
pub fn spent(attempts: &[Attempt]) -> Seconds {
    Seconds(attempts.iter().filter_map(|attempt| attempt.wall_s.or(attempt.time_s)).sum())
}

/// Attempts at a configuration that count as tries, well or not.
fn tried_so_often(attempts: &[Attempt], factors: &BTreeMap<String, String>, of: Mapping) -> u32 {
    let counts = |it: &&Attempt| {
        it.params == *factors
            && mapping(it) == of
            && it.status != Status::Interrupted
            && (it.repetition > 0 || it.status != Status::Ok)
    };
    attempts.iter().filter(counts).count() as u32
}

impl Budget {
    /// A budget of so many runs and so much time.
    pub const fn new(runs: Option<u64>, time: Option<Seconds>) -> Self {
        Self { runs, time }
    }

    /// The most that a run may take while nobody knows how long one takes: a tenth of the time, and twice as
    /// much after each that was stopped.
    fn at_first(&self, attempts: &[Attempt]) -> Option<Seconds> {
        let is_timed = |it: &Attempt| it.status == Status::Ok;
        let stopped = attempts.iter().filter(|it| it.status == Status::Timeout).count();
        let share = AT_FIRST * 2_f64.powi(i32::try_from(stopped).unwrap_or(i32::MAX));
        self.time.filter(|_| !attempts.iter().any(is_timed)).map(|time| Seconds(share * time.0))
    }
}

/// Share of a time budget that the first run may take.
const AT_FIRST: f64 = 0.1;

/// What is stopped no sooner than after this, however fast others were.
const SHORTEST_TIMEOUT: Seconds = Seconds(1.0);

impl Discipline {
    /// A discipline of so many warm-ups, an end of each run, and the nodes of configurations that take several.
    pub const fn new(
        warm_ups: u32,
        timeout: Option<Timeout>,
        nodes: BTreeMap<Mapping, u32>,
    ) -> Self {
        Self { warm_ups, timeout, nodes }
    }

    /// The next run of a configuration: a warm-up, or a timed one.
    pub fn order(
        &self,
        factors: &BTreeMap<String, String>,
        of: Mapping,
        attempts: &[Attempt],
        left: Option<Seconds>,
    ) -> Order {
        let tries = tried_so_often(attempts, factors, of);
        let is_warm_up = |it: &&Attempt| {
            it.params == *factors
                && mapping(it) == of
                && it.repetition == 0
                && it.status == Status::Ok
        };
        let warm_ups = attempts.iter().filter(is_warm_up).count() as u32;
        let warms_up = tries == 0 && warm_ups < self.warm_ups;
        let last = attempts.iter().map(|attempt| attempt.id).max().unwrap_or(0);
        let limits = [self.limit(attempts), left].into_iter().flatten();
        Order {
            id: last + 1,
            nodes: self.nodes.get(&of).copied().unwrap_or(1),
            factors: factors.clone(),
            repetition: if warms_up { 0 } else { tries + 1 },
            limit: limits.reduce(|one, other| Seconds(one.0.min(other.0))),
        }
    }

    fn limit(&self, attempts: &[Attempt]) -> Option<Seconds> {
        match self.timeout? {
            Timeout::After(time) => Some(time),
            Timeout::Times(factor) => {
                let went_well = attempts.iter().filter(|it| it.status == Status::Ok);
                let shortest = went_well.filter_map(|it| it.wall_s).reduce(f64::min)?;
                Some(Seconds((factor * shortest).max(SHORTEST_TIMEOUT.0)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
