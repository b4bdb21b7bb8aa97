//! Many cases of each target: how many, what was found, and which promises held how often.

use std::collections::BTreeMap;

use mmgp::native::Stopwatch;

use crate::random::Random;
use crate::target::{Held, Input, Seen, Target};
use crate::trial::{Wrong, minimised, tried};

/// Which cases of a target are tried.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// All random numbers follow from it.
    pub seed: u64,
    /// The number of the first case.
    pub first: u64,
    /// So many cases at most.
    pub cases: u64,
    /// And no more after so long \[s\].
    pub seconds: f64,
}

/// What came of a target's cases.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many were tried.
    pub cases: u64,
    /// How many of them were taken.
    pub taken: u64,
    /// How long it took \[s\].
    pub seconds: f64,
    /// What was found.
    pub findings: Vec<Finding>,
    /// By promise.
    pub promises: BTreeMap<String, Promise>,
}

/// Cases with which the same is wrong.
#[derive(Debug)]
pub struct Finding {
    /// The number of the first of them.
    pub case: u64,
    /// How many there are.
    pub count: u64,
    /// What is wrong with the first.
    pub wrong: Wrong,
    /// The smallest input found with which it is; empty where it is about all cases.
    pub input: Input,
}

/// A promise over all cases. Its parts within a case go together, so that cases are counted.
#[derive(Debug, Default, Clone, Copy)]
pub struct Promise {
    /// In which share of all it should hold.
    pub share: f64,
    /// In which share of all it is known to hold.
    pub least: f64,
    /// Cases with any.
    pub cases: f64,
    /// Sums over cases: the shares kept, their squares.
    sums: [f64; 2],
    /// Parts of all cases that were kept, and all.
    pub parts: [u64; 2],
}

impl Promise {
    fn add(&mut self, held: &Held) {
        if held.of == 0 {
            return;
        }
        let kept = f64::from(held.kept) / f64::from(held.of);
        (self.share, self.least) = (held.share, held.least);
        self.cases += 1.0;
        self.sums = [self.sums[0] + kept, self.sums[1] + kept * kept];
        self.parts[0] += u64::from(held.kept);
        self.parts[1] += u64::from(held.of);
    }

    /// The share in which it held, as a mean over cases.
    pub fn mean(&self) -> f64 {
        self.sums[0] / self.cases
    }

    /// The standard error of that share over cases; at least that of as many draws of the share
    /// itself, for a promise kept throughout has no scatter.
    pub fn standard_error(&self) -> f64 {
        let variance = (self.sums[1] / self.cases - self.mean().powi(2)).max(0.0);
        let binomial = self.share * (1.0 - self.share) / self.parts[1] as f64;
        (variance / self.cases).max(binomial).sqrt()
    }

    /// Whether there are cases enough to say how often it holds.
    pub fn says_something(&self) -> bool {
        self.cases >= FEWEST
    }

    /// Whether it holds less often than chance and known weaknesses explain.
    pub fn is_broken(&self) -> bool {
        self.says_something() && self.mean() < self.least - DEVIATIONS * self.standard_error()
    }
}

/// Fewer cases say nothing of a share.
const FEWEST: f64 = 30.0;

/// Chance takes a share this many standard errors off once in 30,000 times.
const DEVIATIONS: f64 = 4.0;

/// The command that does the same again.
pub fn command(target: &dyn Target, seed: u64, case: u64) -> String {
    let name = target.name();
    format!("cargo run --release -p fuzz -- --only {name} --seed {seed} --first {case} --cases 1")
}

/// Tries cases of a target.
pub fn run(target: &dyn Target, extent: Extent) -> Tally {
    let watch = Stopwatch::start();
    let mut tally = Tally::default();
    for case in extent.first..extent.first.saturating_add(extent.cases) {
        if watch.elapsed().0 > extent.seconds {
            break;
        }
        let input = target.input(&mut Random::of_case(extent.seed, target.name(), case));
        tally.cases += 1;
        match tried(target, &input, &command(target, extent.seed, case)) {
            Ok(outcome) => {
                tally.taken += u64::from(outcome.seen == Seen::Taken);
                for held in &outcome.held {
                    tally.promises.entry(held.promise.clone()).or_default().add(held);
                }
            }
            Err(wrong) => tally.found(target, case, &input, wrong),
        }
    }
    tally.seconds = watch.elapsed().0;
    tally.judge(target, extent.seed);
    tally
}

impl Tally {
    fn found(&mut self, target: &dyn Target, case: u64, input: &Input, wrong: Wrong) {
        if let Some(known) = self.findings.iter_mut().find(|it| it.wrong.kind == wrong.kind) {
            known.count += 1;
            return;
        }
        let input = minimised(target, input, &wrong);
        self.findings.push(Finding { case, count: 1, wrong, input });
    }

    /// What is wrong with all cases together.
    fn judge(&mut self, target: &dyn Target, seed: u64) {
        let mut all = Vec::new();
        let wanted = target.least_taken();
        if self.cases >= 1000 && (self.taken as f64) < wanted * self.cases as f64 {
            let Self { taken, cases, .. } = self;
            all.push(format!("only {taken} of {cases} inputs were taken (seed {seed})"));
        }
        for (promise, kept) in self.promises.iter().filter(|(_, kept)| kept.is_broken()) {
            let (mean, error) = (100.0 * kept.mean(), 100.0 * kept.standard_error());
            let least = 100.0 * kept.least;
            all.push(format!("{promise}: {mean:.1} +- {error:.1} % instead of {least:.1} %"));
        }
        for message in all {
            let wrong = Wrong { kind: "all cases".into(), message };
            let input = Input(Vec::new());
            self.findings.push(Finding { case: 0, count: self.cases, wrong, input });
        }
    }
}
