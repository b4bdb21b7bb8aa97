//! Searches of a scripted program: exact, and over at once.

use std::cell::Cell as Counter;
use std::path::PathBuf;

use mmgp_model::belief::{Levels, Prior};
use mmgp_model::decide::feasible;
use mmgp_model::models::parameters::Decomposition;
use mmgp_model::objective::Objective;

use super::*;
use crate::Goal;

/// A program whose attempts are given by its configuration and repetition.
struct Script<F>(F);

impl<F: Fn(Mapping, &Order) -> (Status, f64)> Target for Script<F> {
    type Workload = Order;
    type Ran = Attempt;

    fn name(&self) -> &str {
        "script"
    }

    fn description(&self) -> &str {
        "a script"
    }

    fn run(&self, order: &Order, mapping: Mapping) -> Result<Attempt> {
        let (status, time_s) = (self.0)(mapping, order);
        let limit = order.limit.map_or(f64::INFINITY, |limit| limit.0);
        let is_late = status == Status::Ok && time_s > limit;
        let status = if is_late { Status::Timeout } else { status };
        Ok(Attempt {
            params: order.factors.clone(),
            repetition: order.repetition,
            wall_s: Some(time_s.min(limit)),
            time_s: (status == Status::Ok).then_some(time_s),
            ..Attempt::new(order.id, mapping.m(), mapping.p(), status)
        })
    }
}

/// Ends a search after so many runs.
struct After(Counter<u64>);

impl Observer for After {
    fn begins(&mut self, _: &Progress<'_>) {
        self.0.set(self.0.get().saturating_sub(1));
    }

    fn is_interrupted(&self) -> bool {
        self.0.get() == 0
    }
}

/// Watches nothing.
struct Watch;

impl CellObserver for Watch {
    fn begins_cell(&mut self, _: &[Attempt], _: &Cell) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The first run of a configuration.
fn cell((m, p): (u32, u32)) -> Cell {
    Cell { factors: BTreeMap::new(), mapping: Mapping::of(m, p), repetition: 1 }
}

fn time(mapping: Mapping) -> f64 {
    let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
    12.0 + 3.0 * m + 400.0 / (m * p) + 1.5 * p
}

/// Fails for many threads, and takes long on one.
fn script(mapping: Mapping, order: &Order) -> (Status, f64) {
    let status = if mapping.p() > 8 { Status::Failed } else { Status::Ok };
    (status, time(mapping) * (1.0 + 0.001 * f64::from(order.repetition)))
}

/// A plan with these values of one further factor.
fn plan(values: &[&str]) -> Plan {
    let levels: Vec<Vec<String>> = values.iter().map(|value| vec![(*value).to_string()]).collect();
    let level = |level: u32| feasible(16).map(move |mapping| Site::new(mapping, level));
    Plan {
        search: Search {
            space: (0..values.len() as u32).flat_map(level).collect(),
            prior: Prior::of_runs(Decomposition::Data).with_levels(Levels::of(&levels)),
            objective: Objective::default(),
            goal: Goal::Sure(0.01),
            processors: None,
            baseline: None,
            most_runs: None,
            seed: 3,
        },
        levels: values
            .iter()
            .map(|value| [("scheme".to_string(), (*value).to_string())].into())
            .collect(),
    }
}

/// What attempts say without further factors.
fn tried(attempts: &[Attempt]) -> Vec<Trial> {
    Plan { levels: vec![BTreeMap::new()], ..plan(&[""]) }.tried(attempts)
}

/// A log of its own for each test.
fn log(name: &str) -> (PathBuf, Log) {
    let path = std::env::temp_dir().join(format!("mmgp-engine-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let log = Log::open(&path).expect("a new log");
    (path, log)
}

/// Searches until the end, with so many runs before an interruption at first.
fn search(
    name: &str,
    discipline: &Discipline,
    interrupt_after: Option<u64>,
) -> (End, Vec<Attempt>) {
    let (path, mut log) = log(name);
    let plan = plan(&["a", "b"]);
    let budget = Budget::new(Some(12), None);
    if let Some(runs) = interrupt_after {
        let mut after = After(Counter::new(runs + 1));
        let end = tune(&Script(script), &mut log, &plan, discipline, budget, &mut after);
        assert_eq!(end.expect("it ends"), End::Interrupted);
        drop(log);
        log = Log::open(&path).expect("it is free");
    }
    let mut never = After(Counter::new(u64::MAX));
    let end = tune(&Script(script), &mut log, &plan, discipline, budget, &mut never);
    let attempts = log.attempts().to_vec();
    std::fs::remove_file(&path).expect("it is removed");
    (end.expect("it ends"), attempts)
}

#[test]
fn whoever_goes_on_goes_on_as_if_nothing_had_happened() {
    let discipline = Discipline::new(1, Some(Timeout::Times(3.0)), BTreeMap::new());
    let (end, undisturbed) = search("whole", &discipline, None);
    assert_eq!((end, timed(&undisturbed)), (End::Runs, 12));
    for runs in [2, 9] {
        assert_eq!(search("cut", &discipline, Some(runs)).1, undisturbed, "after {runs}");
    }
}

#[test]
fn each_configuration_has_its_warm_ups_first() {
    let discipline = Discipline::new(2, None, BTreeMap::new());
    let (_, attempts) = search("levels", &discipline, None);
    for (place, attempt) in attempts.iter().enumerate() {
        let is_same =
            |it: &&Attempt| (it.m, it.p, &it.params) == (attempt.m, attempt.p, &attempt.params);
        let same = attempts[..place].iter().filter(is_same);
        let warm_ups = same.filter(|it| it.repetition == 0).count();
        let has_failed = attempt.status == Status::Failed;
        let is_right = if attempt.repetition == 0 { warm_ups < 2 } else { warm_ups == 2 };
        assert!(is_right || has_failed, "{attempt:?}");
    }
}

#[test]
fn what_is_stopped_has_a_bound_that_is_no_time() {
    let (path, mut log) = log("stopped");
    let cells = [(4, 4), (1, 1)].map(cell);
    let discipline = Discipline::new(0, Some(Timeout::Times(2.0)), BTreeMap::new());
    let end =
        measure(&Script(script), &mut log, &cells, &discipline, Budget::default(), &mut Watch);
    assert_eq!(end.expect("it ends"), End::Exhausted);
    // 12 + 12 + 25 + 6, and a thousandth of the first repetition; (1, 1) takes 416.5.
    let limit = 2.0 * 55.0 * 1.001;
    let late = &log.attempts()[1];
    assert_eq!((late.status, late.time_s), (Status::Timeout, None));
    let found = tried(log.attempts())[1].found;
    assert_eq!(found, Finding::Longer(Seconds(limit)));
    std::fs::remove_file(&path).expect("it is removed");
}

#[test]
fn a_program_that_measures_less_than_the_wall_clock_has_bounds_as_much_lower() {
    let mut attempts =
        vec![Attempt::new(1, 1, 1, Status::Ok), Attempt::new(2, 2, 1, Status::Timeout)];
    (attempts[0].wall_s, attempts[0].time_s) = (Some(10.0), Some(4.0));
    attempts[1].wall_s = Some(20.0);
    let found = tried(&attempts)[1].found;
    assert_eq!(found, Finding::Longer(Seconds(8.0)));
    // How long it took to end does not count.
    attempts[1].limit_s = Some(15.0);
    let found = tried(&attempts)[1].found;
    assert_eq!(found, Finding::Longer(Seconds(6.0)));
}

#[test]
fn a_budget_of_time_is_not_begun_to_be_exceeded() {
    let (path, mut log) = log("budget");
    let plan = plan(&["a"]);
    let budget = Budget::new(None, Some(Seconds(700.0)));
    let discipline = Discipline::default();
    let mut never = After(Counter::new(u64::MAX));
    let end = tune(&Script(script), &mut log, &plan, &discipline, budget, &mut never);
    assert!(matches!(end.expect("it ends"), End::Time | End::Settled));
    assert!(spent(log.attempts()).0 <= 700.0);
    std::fs::remove_file(&path).expect("it is removed");
}

#[test]
fn what_failed_once_is_not_measured_again() {
    let (path, mut log) = log("measure");
    let again = |it: Cell| Cell { repetition: 2, ..it };
    let (fails, runs) = (cell((1, 9)), cell((2, 1)));
    let cells = [fails.clone(), runs.clone(), again(runs), again(fails)];
    let discipline = Discipline::new(1, None, BTreeMap::new());
    for _ in 0..2 {
        let end =
            measure(&Script(script), &mut log, &cells, &discipline, Budget::default(), &mut Watch);
        assert_eq!(end.expect("it ends"), End::Exhausted);
        let ran: Vec<_> = log.attempts().iter().map(|it| (it.m, it.p, it.repetition)).collect();
        assert_eq!(ran, [(1, 9, 0), (2, 1, 0), (2, 1, 1), (2, 1, 2)]);
    }
    std::fs::remove_file(&path).expect("it is removed");
}

/// Searches all of a program on one level, within a budget; the end and the attempts.
fn searched(
    name: &str,
    of: impl Fn(Mapping, &Order) -> (Status, f64),
    discipline: &Discipline,
    budget: Budget,
) -> (End, Vec<Attempt>) {
    let (path, mut log) = log(name);
    let mut never = After(Counter::new(u64::MAX));
    let end = tune(&Script(of), &mut log, &plan(&["a"]), discipline, budget, &mut never);
    let attempts = log.attempts().to_vec();
    std::fs::remove_file(&path).expect("it is removed");
    (end.expect("it ends"), attempts)
}

#[test]
fn until_a_time_is_known_no_run_takes_more_than_a_tenth_of_the_budget_then_twice_as_much() {
    // Two hang, whichever come first.
    let runs = Counter::new(0);
    let hangs_twice = |mapping, _: &Order| {
        runs.set(runs.get() + 1);
        (Status::Ok, if runs.get() <= 2 { 1e9 } else { time(mapping) / 100.0 })
    };
    let budget = Budget::new(None, Some(Seconds(100.0)));
    let (_, attempts) = searched("tenth", hangs_twice, &Discipline::default(), budget);
    let limits: Vec<f64> = attempts.iter().take(3).filter_map(|it| it.wall_s).collect();
    assert_eq!(limits[..2], [10.0, 20.0]);
    assert_eq!((attempts[2].status, limits[2] < 40.0), (Status::Ok, true));
}

#[test]
fn what_was_stopped_is_not_run_again_unless_it_is_given_more_time() {
    // All with several processes hang.
    let hangs = |mapping: Mapping, _: &Order| {
        (Status::Ok, if mapping.m() > 1 { 1e9 } else { 10.0 + 40.0 / f64::from(mapping.p()) })
    };
    let discipline = Discipline::new(0, Some(Timeout::Times(30.0)), BTreeMap::new());
    let (_, attempts) = searched("again", hangs, &discipline, Budget::new(Some(60), None));
    for (place, attempt) in attempts.iter().enumerate() {
        let earlier = attempts[..place].iter().filter(|it| (it.m, it.p) == (attempt.m, attempt.p));
        let stopped = earlier.filter(|it| it.status == Status::Timeout);
        let most = stopped.filter_map(|it| it.wall_s).fold(0.0, f64::max);
        assert!(attempt.status != Status::Timeout || attempt.wall_s > Some(most), "{attempt:?}");
    }
    assert!(attempts.iter().any(|it| it.status == Status::Timeout));
}

#[test]
fn where_all_is_stopped_nothing_is_left_to_ask_for() {
    let hangs = |_: Mapping, _: &Order| (Status::Ok, 1e9);
    let discipline = Discipline::new(0, Some(Timeout::After(Seconds(5.0))), BTreeMap::new());
    let (end, attempts) = searched("all", hangs, &discipline, Budget::new(Some(500), None));
    assert_eq!((end, attempts.len()), (End::Exhausted, feasible(16).count()));
    assert!(ask(&plan(&["a"]), &attempts, &discipline).expect("orders").0.is_empty());
}

#[test]
fn a_bound_of_what_is_no_time_is_in_its_unit_and_none_before_any_is_known() {
    let mut attempts =
        vec![Attempt::new(1, 1, 1, Status::Timeout), Attempt::new(2, 2, 1, Status::Ok)];
    attempts[0].wall_s = Some(20.0);
    attempts[1].wall_s = Some(10.0);
    attempts[1].measured(Seconds(900.0), mmgp_base::quantity::Quantity::Amount("J".into()));
    // 90 W for 20 s at least.
    assert_eq!(tried(&attempts)[0].found, Finding::Longer(Seconds(1800.0)));
}
