//! Many cases of a target: what panics, what hangs, what is wrong, and which promises hold how often.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mmgp::native::Stopwatch;

use crate::target::{Input, PromiseCount, Random, Seen, Target, Verdict};

/// Which cases of a target are tried.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of the first case.
    pub first: u64,
    /// Number of cases, at most.
    pub cases: u64,
    /// Time after which no more are tried \[s\].
    pub seconds: f64,
}

/// What came of a target's cases.
#[derive(Debug, Default)]
pub struct Tally {
    /// Number of cases tried.
    pub cases: u64,
    /// Number of cases taken.
    pub taken: u64,
    /// Time taken \[s\].
    pub seconds: f64,
    /// What is wrong, by its kind.
    pub findings: BTreeMap<String, Finding>,
    /// Promises by what is promised.
    pub promises: BTreeMap<String, Promise>,
}

/// Cases with which the same is wrong.
#[derive(Debug)]
pub struct Finding {
    /// Number of the first of them.
    pub case: u64,
    /// Number of cases.
    pub count: u64,
    /// What is wrong with the first.
    pub message: String,
    /// The smallest input found with which it is; empty where it is about all cases.
    pub input: Input,
}

/// A promise over all cases. Its parts within a case go together, so that cases are counted.
#[derive(Debug, Default, Clone, Copy)]
pub struct Promise {
    /// Share of all in which it must hold.
    pub least: f64,
    /// Cases in which it was made.
    pub cases: f64,
    /// Parts of all cases of which it was made.
    pub parts: f64,
    /// Sums over cases of the shares kept, and of their squares.
    sums: [f64; 2],
}

impl Promise {
    fn add(&mut self, held: &PromiseCount) {
        let kept = f64::from(held.kept) / f64::from(held.of);
        self.least = held.least;
        self.cases += 1.0;
        self.parts += f64::from(held.of);
        self.sums = [self.sums[0] + kept, self.sums[1] + kept * kept];
    }

    /// The share in which it held, as a mean over cases.
    pub fn mean(&self) -> f64 {
        self.sums[0] / self.cases
    }

    /// The standard error of that share over cases; at least that of as many draws of the share
    /// itself, for a promise kept throughout has no scatter.
    pub fn standard_error(&self) -> f64 {
        let variance = (self.sums[1] / self.cases - self.mean().powi(2)).max(0.0);
        let binomial = self.least * (1.0 - self.least) / self.parts;
        (variance / self.cases).max(binomial).sqrt()
    }

    /// Whether there are cases enough to say how often it holds.
    pub fn says_something(&self) -> bool {
        self.cases >= FEWEST
    }

    fn is_broken(&self) -> bool {
        self.says_something() && self.mean() < self.least - DEVIATIONS * self.standard_error()
    }
}

/// Fewer cases say nothing of a share.
const FEWEST: f64 = 30.0;

/// Chance takes a share this many standard errors off once in 30,000 times.
const DEVIATIONS: f64 = 4.0;

thread_local! {
    /// Place and message of this thread's last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The case that runs: the command that does it again, the seconds beyond which it hangs, and since when it runs.
static RUNNING: Mutex<Option<(String, f64, Stopwatch)>> = Mutex::new(None);

/// Keeps panics from here on, which are not printed.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        PANIC.with(|panic| *panic.borrow_mut() = info.to_string());
    }));
}

/// Ends the program with the case that hangs, as soon as one does.
pub fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((command, most, since)) = running.as_ref()
            && since.elapsed().0 > *most
        {
            println!("a case hangs for {most:.0} s:\n  {command}");
            std::process::exit(1);
        }
    }
}

/// The command that does a case again.
pub fn command(target: &Target, seed: u64, case: u64) -> String {
    let name = target.name;
    format!("cargo run --release -p fuzz -- --only {name} --seed {seed} --first {case} --cases 1")
}

/// Tries cases of a target.
pub fn run(target: &Target, extent: Extent) -> Tally {
    let watch = Stopwatch::start();
    let mut tally = Tally::default();
    for seed in &target.corpus {
        let input = Input::of(target.name, seed.clone());
        let message = match tried(target, &input) {
            Ok(outcome) if outcome.seen == Seen::Taken => continue,
            Ok(_) => "a good file is refused".to_string(),
            Err(message) => format!("a good file: {message}"),
        };
        let finding = Finding { case: 0, count: 1, message: message.clone(), input };
        tally.findings.insert(message, finding);
    }
    for case in extent.first..extent.first.saturating_add(extent.cases) {
        if watch.elapsed().0 > extent.seconds {
            break;
        }
        let input = (target.input)(&mut Random::of_case(extent.seed, target.name, case));
        tally.cases += 1;
        let running = |it| *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = it;
        let again = command(target, extent.seed, case);
        running(Some((again, target.most_seconds(), Stopwatch::start())));
        let outcome = tried(target, &input);
        running(None);
        match outcome {
            Ok(outcome) => {
                tally.taken += u64::from(outcome.seen == Seen::Taken);
                for held in outcome.held.iter().filter(|held| held.of > 0) {
                    tally.promises.entry(held.promise.clone()).or_default().add(held);
                }
            }
            Err(message) => {
                let found = || {
                    let input = minimised(target, input, kind_of(&message));
                    Finding { case, count: 0, message: message.clone(), input }
                };
                let kind = kind_of(&message).to_string();
                tally.findings.entry(kind).or_insert_with(found).count += 1;
            }
        }
    }
    tally.seconds = watch.elapsed().0;
    tally.judge(target.least_taken);
    tally
}

impl Tally {
    /// Finds what is wrong with all cases together.
    fn judge(&mut self, least_taken: f64) {
        let Self { cases, taken, findings, promises, .. } = self;
        let broken = promises.iter().filter(|(_, kept)| kept.is_broken()).map(|(promise, kept)| {
            let (mean, error) = (100.0 * kept.mean(), 100.0 * kept.standard_error());
            format!("{promise}: {mean:.1} +- {error:.1} % instead of {:.1} %", 100.0 * kept.least)
        });
        let mut all: Vec<String> = broken.collect();
        if *cases >= 1000 && (*taken as f64) < least_taken * *cases as f64 {
            all.push(format!("only {taken} of {cases} inputs were taken"));
        }
        for message in all {
            let input = Input(Vec::new());
            let finding = Finding { case: 0, count: *cases, message: message.clone(), input };
            findings.insert(message, finding);
        }
    }
}

/// Tries an input: what was seen of it, or what is wrong.
fn tried(target: &Target, input: &Input) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| (target.check)(input)))
        .unwrap_or_else(|_| Err(PANIC.with(|panic| panic.borrow().clone())))
}

/// What a finding is told from others by: the place of a panic, or a message up to its first number or quotation.
fn kind_of(message: &str) -> &str {
    if message.starts_with("panicked at") {
        return message.lines().next().unwrap_or_default();
    }
    let end = message.find(|letter: char| letter.is_ascii_digit() || "\"`{[(".contains(letter));
    message[..end.unwrap_or(message.len())].trim()
}

/// Seconds that are spent on the way to a small input.
const MOST_SECONDS: f64 = 20.0;

/// A smaller input with which the same is wrong: without as many lines, then letters, as can be.
fn minimised(target: &Target, mut input: Input, kind: &str) -> Input {
    let watch = Stopwatch::start();
    let is_wrong = |input: &Input| {
        watch.elapsed().0 < MOST_SECONDS
            && tried(target, input).is_err_and(|message| kind_of(&message) == kind)
    };
    for by in ["\n", ""] {
        for part in 0..input.0.len() {
            let text = input.0[part].text.clone();
            input.0[part].text = fewest(text.split_inclusive(by).collect(), |fewer| {
                let mut candidate = input.clone();
                candidate.0[part].text = fewer.concat();
                is_wrong(&candidate)
            });
        }
    }
    input
}

/// The fewest pieces that are still wrong: halves are left out first, then quarters, at last each.
fn fewest(mut pieces: Vec<&str>, is_wrong: impl Fn(&[&str]) -> bool) -> String {
    let mut length = pieces.len() + 1;
    while length > 1 {
        length = length.div_ceil(2);
        let mut start = 0;
        while start < pieces.len() {
            let mut fewer = pieces.clone();
            fewer.drain(start..(start + length).min(pieces.len()));
            if is_wrong(&fewer) {
                pieces = fewer;
            } else {
                start += length;
            }
        }
    }
    pieces.concat()
}
