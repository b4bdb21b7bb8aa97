//! Every reader against damaged files and random bytes: no panic, no endless loop, and nothing read
//! that is negative or not finite where that makes no sense.
//!
//! 2,000 cases for each reader; `MMGP_FUZZ_CASES=1000000` for more. Cases are the same in every run
//! of the same number.

mod parameters;
mod phylogeny;
mod tables;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// A change to a file. Places are fractions of its length in 65536ths.
#[derive(Debug, Clone)]
enum Change {
    /// A word for what stands at a place, up to the next border of a word.
    Word(u16, usize),
    /// Another digit for the next one after a place.
    Digit(u16, u8),
    /// A word at a place.
    Insert(u16, usize),
    /// Nothing for what stands between two places that lie near each other.
    Delete(u16, u8),
    /// A line twice, at another place.
    Repeat(u16, u16),
    /// Bytes for those at a place.
    Bytes(u16, Vec<u8>),
    /// Nothing from a place on.
    Cut(u16),
}

/// What files go wrong by.
const WORDS: &[&str] = &[
    "",
    "-1",
    "-0",
    "0",
    "1",
    "2",
    "-3.5",
    "1e999",
    "-1e999",
    "1e-999",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "infinity",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "0x10",
    "1_000",
    "+1",
    ".5",
    "5.",
    "1e",
    "null",
    "true",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    ":",
    "\"",
    "'",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "#",
    "=",
    "\u{0}",
    "\u{feff}",
    "\u{b5}",
    "\u{1f600}",
    "\\u0000",
    "\\ud800",
    "\\",
    "[[",
    "m",
    "p",
    "time",
    "time_s",
    "value",
    "std_error",
    "PARAMETER",
    "POINTS",
    "DATA",
    "METRIC",
    "REGION",
    "schema = 1",
    "\"m\": 1",
    "[1, 2]",
    "{}",
    "[]",
    "\"\"",
    "1,1,1,1",
    "9999999999999999999999999999",
];

fn change() -> impl Strategy<Value = Change> {
    let word = 0..WORDS.len();
    prop_oneof![
        4 => (any::<u16>(), word.clone()).prop_map(|(at, word)| Change::Word(at, word)),
        5 => (any::<u16>(), b'0'..=b'9').prop_map(|(at, digit)| Change::Digit(at, digit)),
        3 => (any::<u16>(), word).prop_map(|(at, word)| Change::Insert(at, word)),
        2 => (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Change::Delete(at, length)),
        1 => (any::<u16>(), any::<u16>()).prop_map(|(from, to)| Change::Repeat(from, to)),
        1 => (any::<u16>(), prop::collection::vec(any::<u8>(), 1..8))
            .prop_map(|(at, bytes)| Change::Bytes(at, bytes)),
        1 => any::<u16>().prop_map(Change::Cut),
    ]
}

/// The byte at a fraction of a text.
fn place(text: &[u8], fraction: u16) -> usize {
    text.len() * usize::from(fraction) / 65536
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-_".contains(byte);
    match change {
        Change::Word(at, word) => {
            let start = place(text, *at);
            let before = text[..start].iter().rev().take_while(|byte| is_word(byte)).count();
            let after = text[start..].iter().take_while(|byte| is_word(byte)).count();
            let length = after.max(usize::from(before == 0 && start < text.len()));
            text.splice(start - before..start + length, WORDS[*word].bytes());
        }
        Change::Digit(at, digit) => {
            let start = place(text, *at);
            if let Some(old) = text[start..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *old = *digit;
            }
        }
        Change::Insert(at, word) => {
            let start = place(text, *at);
            text.splice(start..start, WORDS[*word].bytes());
        }
        Change::Delete(at, length) => {
            let start = place(text, *at);
            let end = (start + usize::from(*length)).min(text.len());
            text.drain(start..end);
        }
        Change::Repeat(from, to) => {
            let (from, to) = (place(text, *from), place(text, *to));
            let end = text[from..].iter().position(|&byte| byte == b'\n');
            let line = text[from..end.map_or(text.len(), |end| from + end + 1)].to_vec();
            text.splice(to..to, line);
        }
        Change::Bytes(at, bytes) => {
            let start = place(text, *at);
            let end = (start + bytes.len()).min(text.len());
            text.splice(start..end, bytes.iter().copied());
        }
        Change::Cut(at) => text.truncate(place(text, *at)),
    }
}

/// A text made of one of `seeds` by a few changes; one in eight is random bytes.
fn texts(seeds: &'static [&'static str]) -> impl Strategy<Value = String> {
    let changed =
        (0..seeds.len(), prop::collection::vec(change(), 1..5)).prop_map(move |(seed, changes)| {
            let mut text = seeds[seed].as_bytes().to_vec();
            changes.iter().for_each(|change| apply(&mut text, change));
            text
        });
    let random = prop::collection::vec(any::<u8>(), 0..300);
    prop_oneof![7 => changed, 1 => random]
        .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Calls `read` with many texts; it fails where it panics or answers what is wrong. At least one
/// text in a hundred must have been read, or the changes are too wild to find anything.
fn fuzz(seeds: &'static [&'static str], read: impl Fn(&str) -> Result<Read, String>) {
    let cases = std::env::var("MMGP_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(2000),
        failure_persistence: None,
        max_shrink_iters: 5000,
        ..Config::default()
    };
    let wanted = config.cases / 100;
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let accepted = std::cell::Cell::new(0);
    let result = runner.run(&texts(seeds), |text| match read(&text) {
        Ok(Read::Refused) => Ok(()),
        Ok(Read::Accepted) => {
            accepted.set(accepted.get() + 1);
            Ok(())
        }
        Err(wrong) => Err(TestCaseError::fail(wrong)),
    });
    match result {
        Ok(()) => assert!(accepted.get() >= wanted, "only {} texts were read", accepted.get()),
        Err(TestError::Fail(reason, text)) => panic!("{reason}\n{text:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
    for seed in seeds {
        assert_eq!(read(seed), Ok(Read::Accepted), "a seed must be good:\n{seed}");
    }
}

/// What a reader did with a text.
#[derive(Debug, PartialEq)]
enum Read {
    Accepted,
    Refused,
}

/// What a reader did, the numbers that it gave being finite and not negative.
fn sane<T>(result: mmgp::Result<T>, numbers: impl FnOnce(&T) -> Vec<f64>) -> Result<Read, String> {
    match result {
        Err(error) => {
            // A message is made of the text, and making it must not fail either.
            let _ = error.to_string();
            Ok(Read::Refused)
        }
        Ok(value) => {
            match numbers(&value).iter().find(|number| !(**number >= 0.0 && number.is_finite())) {
                None => Ok(Read::Accepted),
                Some(number) => Err(format!("{number} was read")),
            }
        }
    }
}
