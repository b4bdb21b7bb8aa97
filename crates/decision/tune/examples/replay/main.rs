//! Searches for the fastest configuration of programs whose every time is known, and how far off
//! the choice was after each run: JSON lines, one for each search.
//!
//! ```text
//! replay [--data DIR] [--seeds 100] [--runs 20] [--only NAME,NAME] [--regret 0.02 | --expected 0.05]
//!        [--workers 2]
//! replay --scripts ...   # the times that the runs take, for whoever searches otherwise
//! replay --speed         # seconds for one decision
//! ```

mod problems;
mod speed;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use mmgp_base::Site;
use mmgp_base::units::Seconds;
use mmgp_model::belief::{Levels, Prior};
use mmgp_model::models::parameters::Decomposition;
use mmgp_tune::{Finding, Goal, Search, Trial};
use problems::Problem;

/// What the arguments ask for.
struct Given {
    data: PathBuf,
    seeds: u64,
    runs: usize,
    only: Option<String>,
    goal: Goal,
    workers: usize,
    scripts: bool,
    speed: bool,
    /// Ends each search where it settles, or after twice as many runs as there are configurations.
    stops: bool,
}

fn given() -> Given {
    let mut given = Given {
        data: "../shared/data/hybrid".into(),
        seeds: 100,
        runs: 20,
        only: None,
        goal: Goal::Sure(0.02),
        workers: 2,
        scripts: false,
        speed: false,
        stops: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{name}: no value"));
        match name.as_str() {
            "--data" => given.data = value().into(),
            "--seeds" => given.seeds = value().parse().expect("a number of seeds"),
            "--runs" => given.runs = value().parse().expect("a number of runs"),
            "--only" => given.only = Some(value()),
            "--regret" => given.goal = Goal::Sure(value().parse().expect("a regret")),
            "--expected" => given.goal = Goal::Expected(value().parse().expect("a regret")),
            "--workers" => given.workers = value().parse().expect("a number of workers"),
            "--scripts" => given.scripts = true,
            "--speed" => given.speed = true,
            "--stops" => given.stops = true,
            _ => panic!("{name}: not known"),
        }
    }
    given
}

fn main() {
    let given = given();
    if given.speed {
        return speed::measure();
    }
    let mut problems = problems::all(&given.data).expect("tables");
    if let Some(only) = &given.only {
        problems.retain(|problem| only.split(',').any(|name| name == problem.name));
    }
    let each = |problem: usize| (0..given.seeds).map(move |seed| (problem, seed));
    let jobs: Vec<(usize, u64)> = (0..problems.len()).flat_map(each).collect();
    let next = AtomicUsize::new(0);
    let (lines, found) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..given.workers {
            let lines = lines.clone();
            let (jobs, problems, given, next) = (&jobs, &problems, &given, &next);
            scope.spawn(move || {
                while let Some(&(problem, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let line = line(&problems[problem], seed, given);
                    lines.send(((problem, seed), line)).expect("somebody listens");
                }
            });
        }
        drop(lines);
        // In the order of the jobs, whoever is done first.
        let mut waiting = BTreeMap::new();
        let mut due = jobs.iter();
        let mut job = due.next();
        for (done, line) in found {
            waiting.insert(done, line);
            while let Some(line) = job.and_then(|job| waiting.remove(job)) {
                println!("{line}");
                job = due.next();
            }
        }
    });
}

/// One search, or its script.
fn line(problem: &Problem, seed: u64, given: &Given) -> String {
    let script = problem.script(
        seed,
        given.runs.max(if given.stops { 2 * problem.configurations.len() } else { 0 }),
    );
    if given.scripts {
        let configuration = |(at, times): (&Site, &Vec<f64>)| {
            let (m, p) = (at.mapping.m(), at.mapping.p());
            serde_json::json!({
                "m": m, "p": p, "level": at.level, "true_s": problem.configurations[at].0, "times_s": times,
            })
        };
        let all: Vec<_> = script.iter().map(configuration).collect();
        let line = serde_json::json!({
            "problem": problem.name,
            "table": problem.is_table,
            "seed": seed,
            "configurations": all,
        });
        return line.to_string();
    }
    let search = Search {
        space: problem.configurations.keys().copied().collect(),
        prior: Prior::of_runs(Decomposition::Data).with_levels(Levels::of(&problem.levels)),
        objective: Default::default(),
        goal: given.goal,
        processors: None,
        baseline: None,
        most_runs: (!given.stops).then_some(given.runs as u64),
        seed,
    };
    let mut tried: Vec<Trial> = Vec::new();
    let mut steps = Vec::new();
    let mut verdict = search.judge(&tried).expect("configurations");
    while !verdict.is_settled()
        && let Some(&(site, _)) = verdict.next.first()
    {
        let before = tried.iter().filter(|it| it.site == site).count();
        let time = script[&site][before];
        tried.push(Trial { site, found: Finding::Time(Seconds(time)) });
        verdict = search.judge(&tried).expect("configurations");
        let choice = verdict.choice.expect("something ran");
        steps.push(serde_json::json!({
            "m": site.mapping.m(),
            "p": site.mapping.p(),
            "level": site.level,
            "time_s": time,
            "choice": [choice.mapping.m(), choice.mapping.p(), choice.level],
            "regret": problem.regret(choice),
            "expected_regret": verdict.expected_regret,
            "regret_95": verdict.regret_95,
            "end": verdict.end.map(|end| format!("{end:?}")),
            "noise": verdict.noise,
        }));
    }
    serde_json::json!({ "problem": problem.name, "seed": seed, "runs": steps }).to_string()
}
