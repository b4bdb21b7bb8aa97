//! What tests of all crates share: how many seeds they take, and what they say where they cannot run.
//!
//! | variable | without it | meaning |
//! |---|---|---|
//! | `MMGP_SEEDS` | 0.1 | the share of their seeds that tests of many take: 1 is all, 10 ten times as many |
//! | `MMGP_SKIPPED` | no file | a file to which what is skipped is added, a line each |
//! | `MMGP_MAY_SKIP` | everything | words of what may be missing; where anything else is, its test fails |

#![allow(clippy::disallowed_methods)] // Tests write this list.

use std::io::Write as _;

/// The share that tests take of their seeds where nothing is said.
const USUAL_SHARE: f64 = 0.1;

/// The share that tests take of their seeds.
///
/// # Panics
/// Where `MMGP_SEEDS` is no number above 0.
#[must_use]
pub fn share() -> f64 {
    let Ok(given) = std::env::var("MMGP_SEEDS") else { return USUAL_SHARE };
    let share = given.parse().ok().filter(|share: &f64| *share > 0.0 && share.is_finite());
    share.unwrap_or_else(|| panic!("MMGP_SEEDS is {given:?}, and no share as 0.1 or 1"))
}

/// How many seeds a test takes that has so many; one at least.
#[must_use]
pub fn seeds(all: u64) -> u64 {
    ((all as f64 * share()).round() as u64).max(1)
}

/// How much wider the band of a share is among the seeds that a test takes than among all that it has:
/// three standard errors by which the one may differ from the other.
#[must_use]
pub fn room(share: f64, all: u64) -> f64 {
    let missing = 1.0 / seeds(all) as f64 - 1.0 / all as f64;
    3.0 * (share * (1.0 - share) * missing.max(0.0)).sqrt()
}

/// One in so many places that a test takes which goes through all of them where `MMGP_SEEDS` is 1.
#[must_use]
pub fn stride(usual: usize) -> usize {
    if share() < 1.0 { usual } else { 1 }
}

/// Says on standard error, also where the test passes, that it or a part of it is skipped because
/// there is no `what`.
///
/// # Panics
/// Where `MMGP_MAY_SKIP` does not have `what` among its words.
pub fn skipped(what: &str) {
    let test = std::thread::current();
    let line = format!("skipped: {}: there is no {what} here\n", test.name().unwrap_or("a test"));
    // `eprint!` would be captured.
    std::io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
    if let Some(path) = std::env::var_os("MMGP_SKIPPED") {
        let list = std::fs::OpenOptions::new().create(true).append(true).open(path);
        list.and_then(|mut list| list.write_all(line.as_bytes())).expect("MMGP_SKIPPED is a file");
    }
    if let Ok(may) = std::env::var("MMGP_MAY_SKIP") {
        assert!(may.split_whitespace().any(|word| word == what), "{line}");
    }
}
