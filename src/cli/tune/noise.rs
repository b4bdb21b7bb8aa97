//! What else got the processors while runs were timed, in words.

use std::collections::BTreeMap;

use crate::Mapping;
use crate::attempt::Attempt;
use crate::tune::engine::mapping;
use crate::units::Percent;

/// A share of stolen time that is worth a word: an idle host steals some thousandths, and choices are
/// promised to a few per cent.
const STOLEN: f64 = 0.02;

/// The shortest run of which the stolen share is told by itself \[s\]. Linux counts ticks of 10 ms: of
/// fewer than fifty on each processor, one is 2 %.
const TOLD_S: f64 = 0.5;

/// Involuntary switches per second of CPU time that are worth a word. A program by itself on its processor had
/// 2 (Linux 6.18), beside one that computes 500: from a tenth of that on, something took a part of it.
const SWITCHES: f64 = 50.0;

/// The factor by which they exceed those of the configuration with the fewest: what all have in common
/// belongs to the program.
const MORE: f64 = 5.0;

/// What other virtual machines took; `None` where that is little, or not known.
pub fn stolen(attempts: &[&Attempt], name: &dyn Fn(Mapping) -> String) -> Option<String> {
    let known = || attempts.iter().filter_map(|it| Some((it, it.steal?, it.wall_s?)));
    let long = known().filter(|(_, _, wall_s)| *wall_s >= TOLD_S);
    let most = long.max_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
    let (share, of) = match most {
        Some((attempt, share, _)) => (share, format!("a run of {}", name(mapping(attempt)))),
        // Short runs tell it together.
        None => {
            let all_s: f64 = known().map(|(_, _, wall_s)| wall_s).sum();
            let stolen_s: f64 = known().map(|(_, share, wall_s)| share * wall_s).sum();
            (if all_s >= TOLD_S { stolen_s / all_s } else { 0.0 }, "the runs".into())
        }
    };
    (share > STOLEN).then(|| {
        format!(
            "Other virtual machines took {} of the processors' time during {of} (steal).",
            Percent(share)
        )
    })
}

/// The configuration that lost its processors most often, of those that have one for each of their threads;
/// `None` where that is seldom, or no more often than with the others.
pub fn interrupted(
    attempts: &[&Attempt],
    processors: Option<u32>,
    name: &dyn Fn(Mapping) -> String,
) -> Option<String> {
    let processors = processors?;
    let mut used: BTreeMap<Mapping, (u64, f64)> = BTreeMap::new();
    for attempt in attempts {
        let Some((switches, cpu_s)) = attempt.involuntary_switches.zip(attempt.cpu_s) else {
            continue;
        };
        let working = attempt.placement.as_ref().map_or(0, |it| it.working_at_once());
        let places = mapping(attempt).apus().div_ceil(u64::from(attempt.nodes));
        // Threads of its own take turns.
        if places.max(u64::from(working)) <= u64::from(processors) {
            let of = used.entry(mapping(attempt)).or_default();
            *of = (of.0 + switches, of.1 + cpu_s);
        }
    }
    let rates = || {
        let known = used.iter().filter(|(_, (_, cpu_s))| *cpu_s >= TOLD_S);
        known.map(|(&of, &(switches, cpu_s))| (of, switches as f64 / cpu_s))
    };
    let by_rate = |one: &(Mapping, f64), other: &(Mapping, f64)| one.1.total_cmp(&other.1);
    let ((most, many), (least, few)) = (rates().max_by(by_rate)?, rates().min_by(by_rate)?);
    (many >= SWITCHES && many > MORE * few).then(|| {
        format!(
            "{} lost a processor to something else {many:.0} times per second of CPU time, {} {few:.0} times \
             (involuntary context switches).",
            name(most),
            name(least)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::Status;

    fn check(said: Option<String>, expected: Option<&str>) {
        assert_eq!(said.as_deref(), expected);
    }

    #[test]
    fn stolen_time_is_named_above_two_per_cent() {
        let run = |m: u32, wall_s: f64, steal| {
            let mut run = Attempt::new(1, m, 1, Status::Ok);
            (run.wall_s, run.steal) = (Some(wall_s), steal);
            run
        };
        let said = |all: &[Attempt]| stolen(&all.iter().collect::<Vec<_>>(), &|it| it.to_string());
        let much = "Other virtual machines took 7.0 % of the processors' time during a run of (2, 1) (steal).";
        check(said(&[run(1, 2.0, Some(0.01)), run(2, 1.0, Some(0.07))]), Some(much));
        check(said(&[run(1, 2.0, Some(0.01)), run(2, 1.0, Some(0.02))]), None);
        // A tick of a short run is much of it.
        check(said(&[run(1, 2.0, Some(0.01)), run(2, 0.02, Some(0.5))]), None);
        check(said(&[run(2, 0.02, Some(0.5))]), None);
        let short: Vec<Attempt> = (0..10).map(|_| run(1, 0.1, Some(0.04))).collect();
        let much =
            "Other virtual machines took 4.0 % of the processors' time during the runs (steal).";
        check(said(&short), Some(much));
        // Logs of earlier versions do not say.
        check(said(&[run(1, 2.0, None)]), None);
    }

    #[test]
    fn involuntary_switches_are_named_where_others_have_far_fewer() {
        let run = |m: u32, switches: u64, cpu_s: f64| {
            let mut run = Attempt::new(1, m, 1, Status::Ok);
            (run.involuntary_switches, run.cpu_s) = (Some(switches), Some(cpu_s));
            run
        };
        let said = |all: &[Attempt], processors| {
            interrupted(&all.iter().collect::<Vec<_>>(), processors, &|it| it.to_string())
        };
        let quiet = || run(1, 4, 2.0);
        let told = "(2, 1) lost a processor to something else 250 times per second of CPU time, (1, 1) 2 times \
                    (involuntary context switches).";
        check(said(&[quiet(), run(2, 400, 2.0), run(2, 100, 0.0)], Some(4)), Some(told));
        // Few; as many with all; own threads that take turns; too short to tell.
        check(said(&[quiet(), run(2, 80, 2.0)], Some(4)), None);
        check(said(&[run(1, 500, 2.0), run(2, 600, 2.0)], Some(4)), None);
        check(said(&[quiet(), run(8, 600, 2.0)], Some(4)), None);
        check(said(&[quiet(), run(2, 100, 0.2)], Some(4)), None);
        check(said(&[quiet(), run(2, 600, 2.0)], None), None);
        let old = Attempt::new(1, 2, 1, Status::Ok);
        check(said(&[quiet(), old], Some(4)), None);
    }
}
