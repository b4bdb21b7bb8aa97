//! What the runs so far tell of each configuration, and what failures say of those that were not tried.
//!
//! Programs fail for want of cores or of memory: what fails with m and p fails with more of them. Or
//! they need so many at least. A failure is taken to reach upwards, or downwards, while nothing in that
//! direction ran. One may be an accident; where two reach the same way, what they reach is taken to
//! fail, neither run nor held against the choice.

use std::collections::BTreeMap;

use mmgp_base::Site;
use mmgp_base::units::Seconds;
use mmgp_model::fit::runs::Cell;
use mmgp_model::models::observations::{LowerBound, Observation, Observations};

use crate::design::apart;
use crate::search::{Finding, Trial};

/// What the runs of one configuration tell of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Record {
    /// Times \[s\], in their order.
    pub times_s: Vec<f64>,
    /// The time that it takes longer than.
    pub longer_than: Option<Seconds>,
    /// How often it failed.
    pub failures: usize,
}

impl Record {
    /// Whether it is not to be chosen, nor run again: it failed, and did not run well more often
    /// than that. A single failure of many is the machine's, and does not speak against the
    /// configuration.
    pub fn is_out(&self) -> bool {
        self.failures > 0 && self.times_s.len() <= self.failures
    }
}

/// All configurations that were tried.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct History {
    records: BTreeMap<Site, Record>,
}

impl History {
    /// What came of these runs, in their order.
    pub fn of(tried: &[Trial]) -> Self {
        let mut records: BTreeMap<Site, Record> = BTreeMap::new();
        for Trial { site, found } in tried {
            let record = records.entry(*site).or_default();
            match *found {
                // What has no logarithm cannot be compared.
                Finding::Time(time) if time.0 > 0.0 && time.0.is_finite() => {
                    record.times_s.push(time.0);
                }
                Finding::Longer(bound) if bound.0 > 0.0 && bound.0.is_finite() => {
                    let before = record.longer_than.map_or(0.0, |before| before.0);
                    record.longer_than = Some(Seconds(before.max(bound.0)));
                }
                Finding::Time(_) | Finding::Failed => record.failures += 1,
                Finding::Longer(_) => {}
            }
        }
        Self { records }
    }

    /// The same but for one configuration.
    pub fn without(&self, site: Site) -> Self {
        let mut records = self.records.clone();
        records.remove(&site);
        Self { records }
    }

    /// What is known of a configuration, where it was tried.
    pub fn of_site(&self, site: Site) -> Option<&Record> {
        self.records.get(&site)
    }

    /// Whether a configuration was tried, whatever came of it.
    pub fn was_tried(&self, site: Site) -> bool {
        self.records.contains_key(&site)
    }

    /// Whether a configuration has a time.
    pub fn ran(&self, site: Site) -> bool {
        self.of_site(site).is_some_and(|record| !record.times_s.is_empty())
    }

    /// Whether it is not to be chosen, nor run again.
    pub fn is_out(&self, site: Site) -> bool {
        self.of_site(site).is_some_and(Record::is_out)
    }

    /// All with what is known of them.
    pub fn all(&self) -> impl Iterator<Item = (Site, &Record)> {
        self.records.iter().map(|(site, record)| (*site, record))
    }

    /// What predictions are conditioned on. The times of configurations that are out are times.
    pub fn observations(&self) -> Observations {
        let (mut configurations, mut scatter, mut degrees_of_freedom) = (Vec::new(), 0.0, 0.0);
        for (Site { mapping, level }, record) in self.all() {
            if record.times_s.is_empty() {
                continue;
            }
            let cell = Cell::of((mapping.m(), mapping.p()), &record.times_s);
            let (time, repetitions) = (Seconds(cell.log_time.exp()), cell.count as f64);
            scatter += cell.log_squares;
            degrees_of_freedom += repetitions - 1.0;
            configurations.push(Observation { mapping, level, time, repetitions });
        }
        let bound = |(Site { mapping, level }, record): (Site, &Record)| {
            record.longer_than.map(|longer_than| LowerBound { mapping, level, longer_than })
        };
        Observations::new("the runs", configurations, scatter, degrees_of_freedom)
            .with_bounds(self.all().filter_map(bound))
    }
}

/// What failed, what ran, and which way failures reach.
pub(crate) struct Failures {
    failed: Vec<Site>,
    ran: Vec<Site>,
    upwards: Vec<Site>,
    downwards: Vec<Site>,
}

/// Number of failures that reach the same way and are no accident.
const NO_ACCIDENT: usize = 2;

/// The chance to run of what one failure reaches.
const AFTER_ONE: f64 = 0.1;

/// Whether one has at least the processes and the APUs of another, and the same further factors.
fn holds(large: Site, small: Site) -> bool {
    let (m, p) = (small.mapping.m(), small.mapping.p());
    large.level == small.level && large.mapping.m() >= m && large.mapping.p() >= p
}

impl Failures {
    /// What failures say by these runs.
    pub fn of(history: &History) -> Self {
        let those = |is_it: &dyn Fn(Site) -> bool| -> Vec<Site> {
            history.all().map(|(site, _)| site).filter(|&site| is_it(site)).collect()
        };
        let failed = those(&|site| history.is_out(site));
        // What was stopped ran, if slowly.
        let ran = those(&|site| !history.is_out(site));
        let reaching = |reaches: fn(Site, Site) -> bool| -> Vec<Site> {
            let is_contradicted = |it: &Site| ran.iter().any(|&ran| reaches(ran, *it));
            failed.iter().copied().filter(|it| !is_contradicted(it)).collect()
        };
        let upwards = reaching(holds);
        let downwards = reaching(|ran, failed| holds(failed, ran));
        Self { failed, ran, upwards, downwards }
    }

    /// Whether failures that are no accident reach a configuration.
    pub fn reach(&self, site: Site) -> bool {
        let by = |those: &[Site], reaches: &dyn Fn(Site) -> bool| {
            those.len() >= NO_ACCIDENT && those.iter().any(|&it| reaches(it))
        };
        by(&self.upwards, &|failed| holds(site, failed))
            || by(&self.downwards, &|failed| holds(failed, site)) && !self.ran.is_empty()
    }

    /// How likely a configuration runs: the nearer it lies to one that failed, in the distance of the
    /// nearest that ran, the less.
    pub fn chance(&self, site: Site) -> f64 {
        let nearest = |those: &[Site]| {
            let distances = those.iter().map(|&it| apart(it, site));
            distances.fold(f64::INFINITY, f64::min)
        };
        let (failed, ran) = (nearest(&self.failed), nearest(&self.ran));
        if failed.is_infinite() || ran == 0.0 {
            return 1.0;
        }
        let reached = self.upwards.iter().any(|&it| holds(site, it));
        let factor = if reached { AFTER_ONE } else { 1.0 };
        if ran.is_infinite() { factor } else { factor * failed / (failed + ran) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::Mapping;

    fn known(found: &[Finding]) -> History {
        let tried = |found: &Finding| Trial { site: Mapping::of(2, 1).into(), found: *found };
        History::of(&found.iter().map(tried).collect::<Vec<_>>())
    }

    #[test]
    fn a_failure_takes_out_what_did_not_run_well_more_often() {
        let time = Finding::Time(Seconds(2.0));
        let is_out = |found: &[Finding]| known(found).is_out(Mapping::of(2, 1).into());
        assert!(is_out(&[Finding::Failed]));
        assert!(is_out(&[time, Finding::Failed]));
        assert!(!is_out(&[time, time, Finding::Failed]));
        assert!(!is_out(&[time]) && !is_out(&[Finding::Longer(Seconds(2.0))]) && !is_out(&[]));
        // A time that is none.
        assert!(is_out(&[Finding::Time(Seconds(0.0))]));
    }

    #[test]
    fn the_largest_bound_counts() {
        let bounds = [3.0, 9.0, 4.0].map(|bound| Finding::Longer(Seconds(bound)));
        let known = known(&bounds);
        let record = known.of_site(Mapping::of(2, 1).into()).unwrap();
        assert_eq!(record.longer_than, Some(Seconds(9.0)));
        let observations = known.observations();
        assert!(observations.configurations.is_empty());
        assert_eq!(observations.bounds[0].longer_than, Seconds(9.0));
        // With a time there is no bound.
        let known = self::known(&[bounds[0], Finding::Time(Seconds(12.0)), bounds[1]]);
        assert!(known.observations().bounds.is_empty());
    }

    fn failures(ran: &[(u32, u32)], failed: &[(u32, u32)]) -> Failures {
        let tried =
            |found| move |&(m, p): &(u32, u32)| Trial { site: Mapping::of(m, p).into(), found };
        let times = ran.iter().map(tried(Finding::Time(Seconds(1.0))));
        let all: Vec<Trial> = times.chain(failed.iter().map(tried(Finding::Failed))).collect();
        Failures::of(&History::of(&all))
    }

    #[test]
    fn what_lies_nearer_to_a_failure_than_to_a_time_is_likely_to_fail() {
        assert_eq!(failures(&[(1, 1)], &[]).chance(Mapping::of(64, 1).into()), 1.0);
        let failures = failures(&[(1, 1)], &[(16, 1)]);
        let chance = |m, p| failures.chance(Mapping::of(m, p).into());
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
            move |m, p| failures.reach(Mapping::of(m, p).into())
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
