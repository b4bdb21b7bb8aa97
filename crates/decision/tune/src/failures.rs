//! What failures say of configurations that were not tried.
//!
//! Programs fail for want of cores or of memory: what fails with m and p fails with more of them. Or
//! they need so many at least. A failure is taken to reach upwards, or downwards, while nothing in that
//! direction ran. One may be an accident; where two reach the same way, what they reach is taken to
//! fail, neither run nor held against the choice.

use mmgp_base::Mapping;

use crate::design::{apart, place};
use crate::known::Known;

/// What failed, what ran, and which way failures reach.
pub(crate) struct Failures {
    failed: Vec<Mapping>,
    ran: Vec<Mapping>,
    upwards: Vec<Mapping>,
    downwards: Vec<Mapping>,
}

/// So many failures that reach the same way are no accident.
const NO_ACCIDENT: usize = 2;

/// The chance to run of what one failure reaches.
const AFTER_ONE: f64 = 0.1;

/// Whether one has at least the processes and the APUs of another.
fn holds(large: Mapping, small: Mapping) -> bool {
    large.m() >= small.m() && large.p() >= small.p()
}

impl Failures {
    /// As the runs have it.
    pub fn of(known: &Known) -> Self {
        let those = |is_it: &dyn Fn(Mapping) -> bool| -> Vec<Mapping> {
            known.all().map(|(mapping, _)| mapping).filter(|&mapping| is_it(mapping)).collect()
        };
        let failed = those(&|mapping| known.is_out(mapping));
        // What was stopped ran, if slowly.
        let ran = those(&|mapping| !known.is_out(mapping));
        let reaching = |reaches: fn(Mapping, Mapping) -> bool| -> Vec<Mapping> {
            let is_contradicted = |it: &Mapping| ran.iter().any(|&ran| reaches(ran, *it));
            failed.iter().copied().filter(|it| !is_contradicted(it)).collect()
        };
        let upwards = reaching(holds);
        let downwards = reaching(|ran, failed| holds(failed, ran));
        Self { failed, ran, upwards, downwards }
    }

    /// Whether failures that are no accident reach a configuration.
    pub fn reach(&self, mapping: Mapping) -> bool {
        let by = |those: &[Mapping], reaches: &dyn Fn(Mapping) -> bool| {
            those.len() >= NO_ACCIDENT && those.iter().any(|&it| reaches(it))
        };
        by(&self.upwards, &|failed| holds(mapping, failed))
            || by(&self.downwards, &|failed| holds(failed, mapping)) && !self.ran.is_empty()
    }

    /// How likely a configuration runs: the nearer it lies to one that failed, in the distance of the
    /// nearest that ran, the less.
    pub fn chance(&self, mapping: Mapping) -> f64 {
        let nearest = |those: &[Mapping]| {
            let distances = those.iter().map(|&it| apart(place(it), place(mapping)));
            distances.fold(f64::INFINITY, f64::min)
        };
        let (failed, ran) = (nearest(&self.failed), nearest(&self.ran));
        if failed.is_infinite() || ran == 0.0 {
            return 1.0;
        }
        let reached = self.upwards.iter().any(|&it| holds(mapping, it));
        let factor = if reached { AFTER_ONE } else { 1.0 };
        if ran.is_infinite() { factor } else { factor * failed / (failed + ran) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Found, Tried};
    use mmgp_base::units::Seconds;

    fn failures(ran: &[(u32, u32)], failed: &[(u32, u32)]) -> Failures {
        let tried = |found| move |&(m, p): &(u32, u32)| Tried { mapping: Mapping::of(m, p), found };
        let times = ran.iter().map(tried(Found::Time(Seconds(1.0))));
        let all: Vec<Tried> = times.chain(failed.iter().map(tried(Found::Failed))).collect();
        Failures::of(&Known::of(&all))
    }

    #[test]
    fn what_lies_nearer_to_a_failure_than_to_a_time_is_likely_to_fail() {
        assert_eq!(failures(&[(1, 1)], &[]).chance(Mapping::of(64, 1)), 1.0);
        let failures = failures(&[(1, 1)], &[(16, 1)]);
        let chance = |m, p| failures.chance(Mapping::of(m, p));
        assert_eq!(chance(1, 1), 1.0);
        // Squares of log 8 and log 2.
        approx::assert_relative_eq!(chance(8, 1), 1.0 / 10.0, max_relative = 1e-9);
        approx::assert_relative_eq!(chance(4, 1), 0.5, max_relative = 1e-9);
        assert!(chance(32, 1) < 0.1 * chance(8, 1));
    }

    #[test]
    fn two_failures_reach_all_above_them_and_one_or_a_contradicted_one_does_not() {
        let reach = |ran: &[(u32, u32)], failed: &[(u32, u32)]| {
            let failures = failures(ran, failed);
            move |m, p| failures.reach(Mapping::of(m, p))
        };
        let two = reach(&[(1, 1)], &[(4, 4), (8, 2)]);
        assert!(two(4, 5) && two(16, 2) && two(8, 4) && !two(3, 8) && !two(16, 1) && !two(2, 2));
        assert!(!reach(&[(1, 1)], &[(4, 4)])(8, 8));
        // (8, 8) ran: (4, 4) was an accident.
        assert!(!reach(&[(1, 1), (8, 8)], &[(4, 4), (8, 2)])(16, 16));
        // Not enough processes.
        let few = reach(&[(8, 1)], &[(2, 1), (1, 2)]);
        assert!(few(1, 1) && !few(4, 1));
    }
}
