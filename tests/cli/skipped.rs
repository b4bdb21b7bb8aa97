//! What a test says that cannot run.

use std::io::Write as _;

/// Says on standard error, also where the test passes, that it or a part of it is skipped because
/// there is no `what`. The line is added to the file `MMGP_SKIPPED` where that is set; where
/// `MMGP_MAY_SKIP` is, the test fails unless `what` is one of its words.
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
