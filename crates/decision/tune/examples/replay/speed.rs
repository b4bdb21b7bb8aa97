//! How long a decision takes.

#[expect(clippy::disallowed_types, reason = "it measures what a decision takes")]
use std::time::Instant;

use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Site};
use mmgp_model::belief::Prior;
use mmgp_model::models::parameters::Decomposition;
use mmgp_tune::{Finding, Goal, Search, Trial};

/// Prints the seconds of a decision among so many configurations after so many runs, the least of
/// five.
pub fn measure() {
    let grid = |ms: u32, ps: u32| -> Vec<Mapping> {
        (1..=ms).flat_map(|m| (1..=ps).map(move |p| Mapping::of(m, p))).collect()
    };
    for (space, runs) in [
        (mmgp_model::decide::feasible(16).collect(), 10),
        (mmgp_model::decide::feasible(16).collect(), 30),
        (grid(20, 20), 30),
        (grid(100, 100), 30),
    ] {
        let prior = Prior::of_runs(Decomposition::Data);
        let (goal, objective) = (Goal::Expected(0.02), Default::default());
        let search = Search {
            space: space.into_iter().map(Site::from).collect(),
            prior,
            objective,
            goal,
            processors: None,
            baseline: None,
            most_runs: None,
            seed: 1,
        };
        let time = |it: Site| {
            let (m, p) = (f64::from(it.mapping.m()), f64::from(it.mapping.p()));
            let noise = 1.0 + 0.02 * (7.3 * m + 5.1 * p).sin();
            Seconds((12.0 + 3.0 * m + 400.0 / (m * p).min(7.0) + 1.5 * p) * noise)
        };
        let mut tried: Vec<Trial> = Vec::new();
        let mut least = f64::INFINITY;
        while tried.len() < runs {
            let (site, _) = search.judge(&tried).expect("configurations").next[0];
            tried.push(Trial { site, found: Finding::Time(time(site)) });
        }
        for _ in 0..5 {
            #[expect(clippy::disallowed_types, reason = "it measures what a decision takes")]
            let start = Instant::now();
            search.judge(&tried).expect("configurations");
            least = least.min(start.elapsed().as_secs_f64());
        }
        println!("{} configurations, {runs} runs: {least:.4} s", search.space.len());
    }
}
