//! Two logs of the same configurations, before and after a change: faster, slower, or not to be told.
//!
//! Logarithms of times are compared, configuration by configuration. The noise of a run is one for all: the
//! scatter of repetitions in both logs, pooled. A configuration alone is said to be faster or slower where
//! that is so with 95 % for all of them together (Bonferroni); what lies between the days of the two logs,
//! another machine or another load, is in no interval.

use std::collections::BTreeMap;

use mmgp_base::attempt::{Attempt, Status};
use mmgp_base::{Error, Mapping, Result};
use mmgp_model::statistics::student_quantile;

use crate::derived;
use crate::engine::mapping;

/// A configuration: m, p, and values of further factors.
pub type Choice = (Mapping, BTreeMap<String, String>);

/// A ratio of times, new to old, with its interval (95 %).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The ratio; below 1 where the new is faster.
    pub ratio: f64,
    /// Ends of the interval.
    pub interval: (f64, f64),
}

/// What a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tendency {
    /// The new takes less time.
    Faster,
    /// The new takes more time.
    Slower,
    /// The interval has no change in it, too.
    CannotTell,
}

impl Change {
    /// A change of logarithms, whose interval is so wide to either side.
    fn of_logs(change: f64, half: f64) -> Self {
        Self { ratio: change.exp(), interval: ((change - half).exp(), (change + half).exp()) }
    }

    /// What it is.
    pub fn tendency(&self) -> Tendency {
        match self.interval {
            (_, high) if high < 1.0 => Tendency::Faster,
            (low, _) if low > 1.0 => Tendency::Slower,
            _ => Tendency::CannotTell,
        }
    }

    /// Whether it is surely slower by more than a part of the time.
    pub fn is_slower_by(&self, part: f64) -> bool {
        self.interval.0 > 1.0 + part
    }
}

/// A configuration in both logs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedChoice {
    /// The configuration.
    pub choice: Choice,
    /// Timed runs in either log.
    pub runs: (usize, usize),
    /// The times over all runs, geometric means, in either log \[s\].
    pub times_s: (f64, f64),
    /// The change; `None` where nothing ran twice, so that the noise is not known.
    pub change: Option<Change>,
}

/// What two logs say of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The configurations that ran well in both, in their order.
    pub choices: Vec<ComparedChoice>,
    /// The fastest of these, in either log.
    pub best: (Choice, Choice),
    /// The change from the one to the other.
    pub of_best: Option<Change>,
    /// The change over all, a geometric mean.
    pub overall: Option<Change>,
    /// Configurations that ran well before and do not now.
    pub broken: Vec<Choice>,
    /// Configurations of one of the logs alone.
    pub alone: (usize, usize),
    /// Standard deviation of the logarithm of a run, with its degrees of freedom.
    pub noise: Option<(f64, usize)>,
}

/// How improbable a wrong interval is.
const ERROR: f64 = 0.05;

/// Logarithms of the times of configurations that ran well.
fn logs(attempts: &[Attempt]) -> BTreeMap<Choice, Vec<f64>> {
    let mut logs: BTreeMap<Choice, Vec<f64>> = BTreeMap::new();
    for attempt in attempts.iter().filter(|it| it.repetition > 0 && it.status == Status::Ok) {
        if let Some(time_s) = attempt.time_s.filter(|it| *it > 0.0) {
            logs.entry((mapping(attempt), attempt.params.clone())).or_default().push(time_s.ln());
        }
    }
    logs
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squares about the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Compares the runs of two logs.
///
/// # Errors
/// [`Error::OutOfRange`] where they have no configuration in common, or measured something else.
pub fn compare(old: &[Attempt], new: &[Attempt]) -> Result<Comparison> {
    let quantities = (derived::quantity(old), derived::quantity(new));
    if quantities.0 != quantities.1 {
        return Err(Error::out_of_range(
            "NEW",
            format!("runs of which {} was measured", quantities.1.name()),
            format!("runs of which {} was, as in OLD", quantities.0.name()),
        ));
    }
    let (before, after) = (logs(old), logs(new));
    let common: Vec<(&Choice, &Vec<f64>, &Vec<f64>)> = before
        .iter()
        .filter_map(|(choice, times)| Some((choice, times, after.get(choice)?)))
        .collect();
    if common.is_empty() {
        return Err(Error::out_of_range(
            "NEW",
            format!("{} configurations that ran well, none of them in OLD", after.len()),
            "runs of the same configurations",
        ));
    }
    let repeated = || before.values().chain(after.values()).filter(|times| times.len() > 1);
    let freedom: usize = repeated().map(|times| times.len() - 1).sum();
    let noise = (freedom > 0).then(|| {
        let sum: f64 = repeated().map(|times| squares(times)).sum();
        ((sum / freedom as f64).sqrt(), freedom)
    });
    // The change of a mean of `terms` configurations each with this sum of 1/runs, and the part of the error
    // that it may have.
    let change = |change: f64, inverse_runs: f64, error: f64| {
        let (sigma, freedom) = noise?;
        let quantile = student_quantile(1.0 - error / 2.0, freedom as f64);
        Some(Change::of_logs(change, quantile * sigma * inverse_runs.sqrt()))
    };
    let inverse = |one: &[f64], other: &[f64]| 1.0 / one.len() as f64 + 1.0 / other.len() as f64;
    let count = common.len() as f64;
    let of = |(choice, one, other): &(&Choice, &Vec<f64>, &Vec<f64>)| ComparedChoice {
        choice: (*choice).clone(),
        runs: (one.len(), other.len()),
        times_s: (mean(one).exp(), mean(other).exp()),
        change: change(mean(other) - mean(one), inverse(one, other), ERROR / count),
    };
    let choices: Vec<ComparedChoice> = common.iter().map(of).collect();
    let least = |time: fn(&ComparedChoice) -> f64| {
        let least = choices.iter().min_by(|one, other| time(one).total_cmp(&time(other)));
        least.map(|it| it.choice.clone()).expect("invariant: some are in common")
    };
    let best = (least(|it| it.times_s.0), least(|it| it.times_s.1));
    let (one, other) = (&before[&best.0], &after[&best.1]);
    let of_best = change(mean(other) - mean(one), inverse(one, other), ERROR);
    let changes: Vec<f64> = common.iter().map(|(_, one, other)| mean(other) - mean(one)).collect();
    let sum: f64 = common.iter().map(|(_, one, other)| inverse(one, other)).sum();
    let by_noise = change(mean(&changes), sum / count.powi(2), ERROR);
    // Configurations may change differently: then the mean over them is known by their scatter.
    let by_scatter = (changes.len() > 1).then(|| {
        let error = (squares(&changes) / (count - 1.0) / count).sqrt();
        Change::of_logs(mean(&changes), student_quantile(1.0 - ERROR / 2.0, count - 1.0) * error)
    });
    let overall = by_noise.map(|one| match by_scatter {
        Some(other) if other.interval.1 > one.interval.1 => other,
        _ => one,
    });
    let failed = |choice: &&Choice| {
        let tried = |it: &&Attempt| mapping(it) == choice.0 && it.params == choice.1;
        !after.contains_key(*choice)
            && new
                .iter()
                .filter(tried)
                .any(|it| matches!(it.status, Status::Failed | Status::Wrong))
    };
    let broken = before.keys().filter(failed).cloned().collect();
    let alone = (before.len() - choices.len(), after.len() - choices.len());
    Ok(Comparison { choices, best, of_best, overall, broken, alone, noise })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A log of `count` configurations, each so often, of times 10 s * (place + 1) * factor with noise.
    fn log(count: u32, runs: u32, factor: f64, (noise, seed): (f64, u64)) -> Vec<Attempt> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let attempt = |(place, repetition): (u32, u32)| {
            let deviate: f64 = StandardNormal.sample(&mut random);
            let time_s = 10.0 * f64::from(place + 1) * factor * (noise * deviate).exp();
            let of = Attempt::new(u64::from(runs * place + repetition), place + 1, 1, Status::Ok);
            Attempt { time_s: Some(time_s), repetition, ..of }
        };
        (0..count).flat_map(|place| (1..=runs).map(move |it| (place, it))).map(attempt).collect()
    }

    #[test]
    fn a_change_beyond_the_noise_is_told_and_one_within_is_not() {
        let check = |factor: f64, expected: Tendency| {
            let found = compare(&log(4, 3, 1.0, (0.01, 1)), &log(4, 3, factor, (0.01, 2))).unwrap();
            assert_eq!(found.overall.unwrap().tendency(), expected, "{factor}: {found:?}");
            assert_eq!(found.of_best.unwrap().tendency(), expected, "{factor}: {found:?}");
            let slow = expected == Tendency::Slower;
            assert_eq!(found.of_best.unwrap().is_slower_by(0.05), slow);
        };
        check(1.2, Tendency::Slower);
        check(0.8, Tendency::Faster);
        check(1.002, Tendency::CannotTell);
    }

    /// Of 400 pairs of logs of the same program, 5 % are called otherwise: 20 +- 4.4.
    #[test]
    fn the_same_program_is_said_to_have_changed_in_one_of_twenty() {
        let wrong = |of: &dyn Fn(&Comparison) -> bool| {
            let pair =
                |seed| compare(&log(5, 2, 1.0, (0.05, seed)), &log(5, 2, 1.0, (0.05, seed + 1000)));
            (0..400).filter(|&seed| of(&pair(seed).unwrap())).count()
        };
        let is_told = |it: Option<Change>| it.unwrap().tendency() != Tendency::CannotTell;
        let any = wrong(&|it| it.choices.iter().any(|it| is_told(it.change)));
        let overall = wrong(&|it| is_told(it.overall));
        assert!((4..=34).contains(&any) && overall <= 34, "{any} {overall}");
    }

    #[test]
    fn without_any_repetition_nothing_is_told() {
        let found = compare(&log(3, 1, 1.0, (0.01, 1)), &log(3, 1, 2.0, (0.01, 2))).unwrap();
        assert_eq!((found.of_best, found.overall, found.noise), (None, None, None));
    }

    #[test]
    fn what_fails_now_is_named_and_other_configurations_are_counted() {
        let (old, mut new) = (log(3, 2, 1.0, (0.01, 1)), log(4, 2, 1.0, (0.01, 2)));
        for attempt in new.iter_mut().filter(|it| it.m == 1) {
            (attempt.status, attempt.time_s) = (Status::Failed, None);
        }
        let found = compare(&old, &new).unwrap();
        assert_eq!(found.broken, [(Mapping::of(1, 1), BTreeMap::new())]);
        assert_eq!((found.choices.len(), found.alone), (2, (1, 1)));
        assert!(compare(&old, &[]).is_err());
    }
}
