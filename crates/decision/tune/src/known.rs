//! What the runs so far tell of each configuration.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::units::Seconds;
use mmgp_model::fit::runs::{Cell, Runs};
use mmgp_model::models::observations::{LowerBound, Observations};

use crate::search::{Found, Tried};

/// What the runs of one configuration tell of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Record {
    /// Its times \[s\], in their order.
    pub times_s: Vec<f64>,
    /// It takes longer than this.
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
pub(crate) struct Known {
    records: BTreeMap<Mapping, Record>,
}

impl Known {
    /// What came of these runs, in their order.
    pub fn of(tried: &[Tried]) -> Self {
        let mut records: BTreeMap<Mapping, Record> = BTreeMap::new();
        for Tried { mapping, found } in tried {
            let record = records.entry(*mapping).or_default();
            match *found {
                // What has no logarithm cannot be compared.
                Found::Time(time) if time.0 > 0.0 && time.0.is_finite() => {
                    record.times_s.push(time.0);
                }
                Found::Longer(bound) if bound.0 > 0.0 && bound.0.is_finite() => {
                    let before = record.longer_than.map_or(0.0, |before| before.0);
                    record.longer_than = Some(Seconds(before.max(bound.0)));
                }
                Found::Time(_) | Found::Failed => record.failures += 1,
                Found::Longer(_) => {}
            }
        }
        Self { records }
    }

    /// What is known of a configuration, where it was tried.
    pub fn of_mapping(&self, mapping: Mapping) -> Option<&Record> {
        self.records.get(&mapping)
    }

    /// Whether a configuration was tried, whatever came of it.
    pub fn was_tried(&self, mapping: Mapping) -> bool {
        self.records.contains_key(&mapping)
    }

    /// Whether a configuration has a time.
    pub fn ran(&self, mapping: Mapping) -> bool {
        self.of_mapping(mapping).is_some_and(|record| !record.times_s.is_empty())
    }

    /// Whether it is not to be chosen, nor run again.
    pub fn is_out(&self, mapping: Mapping) -> bool {
        self.of_mapping(mapping).is_some_and(Record::is_out)
    }

    /// All with what is known of them.
    pub fn all(&self) -> impl Iterator<Item = (Mapping, &Record)> {
        self.records.iter().map(|(mapping, record)| (*mapping, record))
    }

    /// What predictions are conditioned on. The times of configurations that are out are times.
    pub fn observations(&self) -> Observations {
        let ran = self.all().filter(|(_, record)| !record.times_s.is_empty());
        let cell = |(at, record): (Mapping, &Record)| Cell::of((at.m(), at.p()), &record.times_s);
        let bound = |(mapping, record): (Mapping, &Record)| {
            record.longer_than.map(|longer_than| LowerBound { mapping, longer_than })
        };
        let timed = Runs::new("the runs", ran.map(cell).collect());
        timed.observations().with_bounds(self.all().filter_map(bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(found: &[Found]) -> Known {
        let tried = |found: &Found| Tried { mapping: Mapping::of(2, 1), found: *found };
        Known::of(&found.iter().map(tried).collect::<Vec<_>>())
    }

    #[test]
    fn a_failure_takes_out_what_did_not_run_well_more_often() {
        let time = Found::Time(Seconds(2.0));
        let is_out = |found: &[Found]| known(found).is_out(Mapping::of(2, 1));
        assert!(is_out(&[Found::Failed]));
        assert!(is_out(&[time, Found::Failed]));
        assert!(!is_out(&[time, time, Found::Failed]));
        assert!(!is_out(&[time]) && !is_out(&[Found::Longer(Seconds(2.0))]) && !is_out(&[]));
        // A time that is none.
        assert!(is_out(&[Found::Time(Seconds(0.0))]));
    }

    #[test]
    fn the_largest_bound_counts() {
        let bounds = [3.0, 9.0, 4.0].map(|bound| Found::Longer(Seconds(bound)));
        let known = known(&bounds);
        let record = known.of_mapping(Mapping::of(2, 1)).unwrap();
        assert_eq!(record.longer_than, Some(Seconds(9.0)));
        let observations = known.observations();
        assert!(observations.configurations.is_empty());
        assert_eq!(observations.bounds[0].longer_than, Seconds(9.0));
        // With a time there is no bound.
        let known = self::known(&[bounds[0], Found::Time(Seconds(12.0)), bounds[1]]);
        assert!(known.observations().bounds.is_empty());
    }
}
