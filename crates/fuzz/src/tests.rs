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
