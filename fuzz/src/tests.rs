//! A few cases of each target, the same in every run.

use super::*;

#[test]
fn nothing_is_found_in_the_first_cases_of_each_target() {
    trial::keep_panics();
    let arguments = Arguments::parse_from(["fuzz"]);
    let mut found = Vec::new();
    for target in targets() {
        let extent = extent(&arguments, 1, 1, &*target);
        let tally = campaign::run(&*target, extent);
        found.extend(tally.findings.into_iter().map(|it| (target.name(), it.wrong.message)));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Refuses what holds a `7`, and takes more letters than there are for what is right.
struct Sevens;

impl Target for Sevens {
    fn name(&self) -> &'static str {
        "sevens"
    }

    fn about(&self) -> &'static str {
        "there is no 7"
    }

    fn input(&self, random: &mut random::Random) -> target::Input {
        let digits = (0..200).map(|_| random.within(0, 99).to_string() + "\n");
        target::Input::of("digits", digits.collect())
    }

    fn check(&self, input: &target::Input) -> Result<target::Outcome, String> {
        let text = input.first().text;
        assert!(!text.contains("13"), "there is a 13");
        if text.contains('7') {
            return Err("there is a 7".into());
        }
        let held = target::Held { promise: "half".into(), share: 0.5, least: 0.5, kept: 0, of: 1 };
        Ok(target::Outcome { seen: target::Seen::Taken, held: vec![held] })
    }
}

#[test]
fn what_is_wrong_is_found_made_small_and_made_again() {
    trial::keep_panics();
    let extent = Extent { seed: 5, first: 0, cases: 50, seconds: f64::INFINITY };
    let tally = campaign::run(&Sevens, extent);
    let mut found: Vec<&str> =
        tally.findings.iter().map(|it| it.input.0[0].text.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, ["13", "7"]);
    let panic = tally.findings.iter().find(|it| it.input.0[0].text == "13");
    assert!(panic.is_some_and(|it| it.wrong.message.ends_with("there is a 13")));
    let again = Extent { first: tally.findings[0].case, cases: 1, ..extent };
    let again = campaign::run(&Sevens, again);
    assert_eq!(again.findings[0].wrong, tally.findings[0].wrong);
}

#[test]
fn a_promise_that_is_broken_is_found_and_one_that_is_kept_is_not() {
    struct Promising(u32);
    impl Target for Promising {
        fn name(&self) -> &'static str {
            "promising"
        }
        fn about(&self) -> &'static str {
            "half of all"
        }
        fn input(&self, random: &mut random::Random) -> target::Input {
            target::Input::of("digit", random.below(10).to_string())
        }
        fn check(&self, input: &target::Input) -> Result<target::Outcome, String> {
            let digit: u32 = input.first().text.parse().unwrap_or(0);
            let kept = u32::from(digit < self.0);
            let held = target::Held { promise: "half".into(), share: 0.5, least: 0.5, kept, of: 1 };
            Ok(target::Outcome { seen: target::Seen::Taken, held: vec![held] })
        }
    }
    let extent = Extent { seed: 1, first: 0, cases: 1000, seconds: f64::INFINITY };
    let found = |kept_in_ten| campaign::run(&Promising(kept_in_ten), extent).findings.len();
    assert_eq!([4, 5, 6].map(found), [1, 0, 0]);
}
