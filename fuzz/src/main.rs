//! Random and damaged input for everything that mmgp reads, fits, predicts and writes.
//!
//! A [`Target`] makes the input of a case from random numbers, which follow from the seed and the
//! number of the case, and says what is wrong with what comes of it. What is found is printed with
//! a small input and the command that does the same again; what was mended stands as a test beside
//! the code.

mod campaign;
mod folders;
mod listings;
mod mutation;
mod pages;
mod programs;
mod readers;
mod target;
mod words;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::PathBuf;
use std::process::ExitCode;

use campaign::{Extent, Tally};
use clap::Parser;
use target::Target;

/// Random and damaged input for everything that mmgp reads, fits, predicts and
/// writes
///
/// Findings are printed with a small input and the command that does the same
/// again; the exit code then is 1.
#[derive(Debug, Parser)]
#[command(name = "fuzz")]
struct Arguments {
    /// Minutes of the whole, each target having the same part of them
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Number of cases of each target; of one whose cases take long, fewer (--list
    /// says how many times fewer) [default: 1000 without --minutes]
    #[arg(long, value_name = "N")]
    cases: Option<u64>,
    /// The number of the first case
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// All random numbers follow from it [default: 1; with --minutes, another in
    /// each run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// These targets alone, by name or the beginning of names
    #[arg(long, value_name = "TARGET,...", value_delimiter = ',')]
    only: Vec<String>,
    /// The program whose folders of studies are tried; without it, they are not
    #[arg(long, value_name = "PATH")]
    mmgp: Option<PathBuf>,
    /// Say what there is and end
    #[arg(long)]
    list: bool,
}

/// All targets, in the order in which they are tried.
fn targets() -> Vec<Target> {
    [
        readers::targets(),
        listings::targets(),
        words::targets(),
        pages::targets(),
        programs::targets(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut targets = targets();
    match arguments.mmgp.as_deref().map(folders::target) {
        Some(Ok(folders)) => targets.push(folders),
        Some(Err(why)) => {
            eprintln!("no studies: {why}");
            return ExitCode::from(2);
        }
        None => println!("skipped: study-folder, as no --mmgp says which program to try"),
    }
    let is_asked = |name: &str| arguments.only.iter().any(|beginning| name.starts_with(beginning));
    targets.retain(|target| arguments.only.is_empty() || is_asked(target.name));
    if targets.is_empty() {
        eprintln!("no target has such a name; --list says which there are");
        return ExitCode::from(2);
    }
    if arguments.list {
        targets.iter().for_each(|target| println!("{:24} 1/{}", target.name, target.cost));
        return ExitCode::SUCCESS;
    }
    campaign::keep_panics();
    std::thread::spawn(campaign::watch);
    let seed = arguments.seed.unwrap_or_else(|| match arguments.minutes {
        Some(_) => RandomState::new().build_hasher().finish() >> 32,
        None => 1,
    });
    println!("seed {seed}");
    println!("{:24} {:>10} {:>8} {:>8}  findings", "target", "cases", "taken", "seconds");
    let mut is_clean = true;
    for target in &targets {
        let tally = campaign::run(target, extent(&arguments, seed, targets.len(), target));
        print(target, seed, &tally);
        is_clean &= tally.findings.is_empty();
    }
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Which cases of a target the arguments ask for.
fn extent(arguments: &Arguments, seed: u64, targets: usize, target: &Target) -> Extent {
    let seconds = arguments.minutes.map_or(f64::INFINITY, |it| 60.0 * it / targets as f64);
    let unasked = if arguments.minutes.is_some() { u64::MAX } else { 1000 };
    let cases = arguments.cases.unwrap_or(unasked).div_ceil(target.cost);
    Extent { seed, first: arguments.first, cases, seconds }
}

fn print(target: &Target, seed: u64, tally: &Tally) {
    let Tally { cases, taken, seconds, findings, promises } = tally;
    let share = 100.0 * *taken as f64 / (*cases).max(1) as f64;
    let found = if findings.is_empty() { "none".into() } else { findings.len().to_string() };
    println!("{:24} {cases:>10} {share:>6.1} % {seconds:>8.1}  {found}", target.name);
    for (promise, kept) in promises.iter().filter(|(_, kept)| kept.says_something()) {
        let [mean, error, least] =
            [kept.mean(), kept.standard_error(), kept.least].map(|it| 100.0 * it);
        let (parts, cases) = (kept.parts, kept.cases);
        println!(
            "  {mean:5.1} +- {error:3.1} % of {parts:6} in {cases:5} cases: {promise} (at least {least:.0} %)"
        );
    }
    for finding in findings.values() {
        println!("FOUND in {} cases: {}", finding.count, finding.message);
        if !finding.input.0.is_empty() {
            println!("  {}", campaign::command(target, seed, finding.case));
        }
        for part in &finding.input.0 {
            println!("  {} ({} bytes):", part.name, part.text.len());
            for line in part.text.split_inclusive('\n').take(MOST_LINES) {
                println!("    \"{}\"", line.escape_debug());
            }
        }
    }
}

/// Lines of a part that are printed; the command makes all of them again.
const MOST_LINES: usize = 60;

/// A few cases of each target, the same in every run.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_found_in_the_first_cases_of_each_target() {
        campaign::keep_panics();
        let arguments = Arguments::parse_from(["fuzz"]);
        let mut found = Vec::new();
        for target in targets() {
            let extent = extent(&arguments, 1, 1, &target);
            let tally = campaign::run(&target, extent);
            found.extend(tally.findings.into_values().map(|it| (target.name, it.message)));
        }
        assert!(found.is_empty(), "{found:#?}");
    }

    /// Refuses what holds a `7`, and panics at a 13.
    fn sevens() -> Target {
        let input = |random: &mut target::Random| {
            let digits = (0..200).map(|_| random.within(0, 99).to_string() + "\n");
            target::Input::of("digits", digits.collect())
        };
        Target::new("sevens", input, |input| {
            let text = &input.first().text;
            assert!(!text.contains("13"), "there is a 13");
            if text.contains('7') {
                return Err("there is a 7".into());
            }
            Ok(target::Seen::Taken.into())
        })
    }

    #[test]
    fn what_is_wrong_is_found_made_small_and_made_again() {
        campaign::keep_panics();
        let extent = Extent { seed: 5, first: 0, cases: 50, seconds: f64::INFINITY };
        let findings = campaign::run(&sevens(), extent).findings;
        let mut found: Vec<&str> =
            findings.values().map(|it| it.input.0[0].text.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, ["13", "7"]);
        assert!(findings.values().any(|it| it.message.ends_with("there is a 13")));
        for (kind, finding) in &findings {
            let again = Extent { first: finding.case, cases: 1, ..extent };
            let again = campaign::run(&sevens(), again).findings;
            assert_eq!(again[kind].message, finding.message);
        }
    }

    #[test]
    fn a_promise_that_is_broken_is_found_and_one_that_is_kept_is_not() {
        let promising = |kept_in_ten: u32| {
            let input = |random: &mut target::Random| {
                target::Input::of("digit", random.below(10).to_string())
            };
            Target::new("promising", input, move |input| {
                let digit: u32 = input.first().text.parse().unwrap_or(0);
                let kept = u32::from(digit < kept_in_ten);
                let held = target::PromiseCount { promise: "half".into(), least: 0.5, kept, of: 1 };
                Ok(target::Outcome { seen: target::Seen::Taken, held: vec![held] })
            })
        };
        let extent = Extent { seed: 1, first: 0, cases: 1000, seconds: f64::INFINITY };
        let found = |kept_in_ten| campaign::run(&promising(kept_in_ten), extent).findings.len();
        assert_eq!([4, 5, 6].map(found), [1, 0, 0]);
    }
}
