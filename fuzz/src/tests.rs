//! A few cases of each target, the same in every run.

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
    let input = |random: &mut random::Random| {
        let digits = (0..200).map(|_| random.within(0, 99).to_string() + "\n");
        target::Input::of("digits", digits.collect())
    };
    Target::new("sevens", input, |input| {
        let text = input.first().text;
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
    let mut found: Vec<&str> = findings.values().map(|it| it.input.0[0].text.as_str()).collect();
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
        let input =
            |random: &mut random::Random| target::Input::of("digit", random.below(10).to_string());
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
