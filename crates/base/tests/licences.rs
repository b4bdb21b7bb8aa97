//! Everything that the workspace is built from, on any platform and with any feature, has a licence
//! that `deny.toml` allows and comes from crates.io: as `cargo deny check` says, without that tool.

#![allow(clippy::disallowed_methods)] // `deny.toml` is read here.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The parts of an SPDX expression between words that stand outside parentheses.
fn parts<'a>(expression: &'a str, word: &str) -> Vec<&'a str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in expression.match_indices(word) {
        let before = &expression[..at];
        if before.matches('(').count() == before.matches(')').count() {
            parts.push(&expression[start..at]);
            start = at + word.len();
        }
    }
    parts.push(&expression[start..]);
    parts
}

/// Whether an expression offers a choice of licences that are all allowed. A slash is how OR was
/// written once.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.trim().replace('/', " OR ");
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let all = |choice: &str| match parts(choice, " AND ")[..] {
        [one] => inner.map_or(allowed.contains(&one.trim()), |it| is_allowed(it, allowed)),
        ref several => several.iter().all(|part| is_allowed(part, allowed)),
    };
    match parts(&expression, " OR ")[..] {
        [one] => all(one),
        ref several => several.iter().any(|choice| is_allowed(choice, allowed)),
    }
}

#[test]
fn an_expression_is_allowed_where_some_choice_is() {
    let check = |expression: &str, expected: bool| {
        assert_eq!(
            is_allowed(expression, &["MIT", "Zlib", "Unicode-3.0"]),
            expected,
            "{expression}"
        );
    };
    check("MIT", true);
    check("Apache-2.0", false);
    check("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true);
    check("Unlicense/MIT", true);
    check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
    check("(Apache-2.0 OR BSL-1.0) AND Unicode-3.0", false);
    check("MIT AND GPL-3.0", false);
    check("GPL-3.0 OR MIT AND Zlib", true);
    check("(GPL-3.0)", false);
    check("", false);
}

#[test]
fn every_dependency_has_an_allowed_licence_and_comes_from_crates_io() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("deny.toml")).expect("it is in the repository");
    let line = text.lines().find(|line| line.starts_with("allow = ["));
    let allowed: Vec<&str> =
        line.expect("a list in one line").split('"').skip(1).step_by(2).collect();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version=1", "--locked", "--all-features"]).current_dir(root);
    let output = cargo.output().expect("cargo runs this test");
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        // Those of other platforms have to be fetched.
        return testing::skipped("cargo metadata");
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 150, "only {} packages", packages.len());
    let ours = metadata["workspace_members"].as_array().expect("a list");
    for package in packages {
        let name = &package["name"];
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{name}: {licence:?}");
        let source = package["source"].as_str();
        let is_ours = ours.contains(&package["id"]);
        let crates_io = "registry+https://github.com/rust-lang/crates.io-index";
        assert!(source.map_or(is_ours, |it| it == crates_io), "{name}: {source:?}");
    }
}
