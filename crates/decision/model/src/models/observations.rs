//! Timed runs of a program as predictions are conditioned on them: one time for each configuration,
//! and the scatter of repetitions over all of them.

use super::parameters::Terms;
use super::sensitivity::Correlation;
use super::terms::Term;
use mmgp_base::quantity::Quantity;
use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Site};

/// Timed configurations, by m, then p, each once.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Observations {
    /// The file that they came from.
    pub source: String,
    /// What was measured of them.
    pub quantity: Quantity,
    /// What was timed.
    pub configurations: Vec<Observation>,
    /// Sum over all configurations of the squared deviations of the logarithms of the times from
    /// their mean.
    pub scatter: f64,
    /// Degrees of freedom of the scatter: repetitions beyond the first.
    pub degrees_of_freedom: f64,
    /// What is known of others that were stopped, by m, then p, each once. No file keeps it.
    pub bounds: Vec<LowerBound>,
}

/// The runs that parameters were fitted with, and what files said of the terms before.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The runs.
    pub observations: Observations,
    /// What files said, where any did.
    pub before: Option<Before>,
}

/// The terms as files alone know them.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// Terms by files; those that no file knows change no time.
    pub terms: Terms,
    /// How the errors of the others go together.
    pub correlation: Option<Correlation>,
    /// Terms that no file knows.
    pub unknown: Vec<Term>,
}

/// A configuration that was timed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Processes m and accelerators p of each.
    pub mapping: Mapping,
    /// Place of the values that further factors had.
    pub level: u32,
    /// The mean of its times, that of their logarithms, above 0.
    pub time: Seconds,
    /// How often it was run; less than once where the run is in doubt.
    pub repetitions: f64,
}

/// A configuration of which every run was stopped before its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LowerBound {
    /// Processes m and accelerators p of each.
    pub mapping: Mapping,
    /// Place of the values that further factors had.
    pub level: u32,
    /// Time that it takes longer than, above 0.
    pub longer_than: Seconds,
}

/// The smallest and the largest m and p that were timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Smallest and largest m.
    pub m: (u32, u32),
    /// Smallest and largest p.
    pub p: (u32, u32),
}

impl Observations {
    /// Timed configurations in any order; of one that stands there twice the later counts.
    pub fn new(
        source: impl Into<String>,
        mut configurations: Vec<Observation>,
        scatter: f64,
        degrees_of_freedom: f64,
    ) -> Self {
        configurations.reverse();
        configurations.sort_by_key(Observation::site);
        configurations.dedup_by_key(|observed| observed.site());
        let bounds = Vec::new();
        let (source, quantity) = (source.into(), Quantity::Time);
        Self { source, quantity, configurations, scatter, degrees_of_freedom, bounds }
    }

    /// The same where something else than times was measured.
    #[must_use]
    pub fn of_quantity(self, quantity: Quantity) -> Self {
        Self { quantity, ..self }
    }

    /// The same with what is known of runs that were stopped. Of a configuration that was timed a bound
    /// says nothing, and of several the largest counts.
    #[must_use]
    pub fn with_bounds(mut self, bounds: impl IntoIterator<Item = LowerBound>) -> Self {
        self.bounds.extend(bounds);
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.retain(|bound| self.of(bound.site()).is_none());
        bounds.sort_by(|one, other| {
            let by_bound = other.longer_than.0.total_cmp(&one.longer_than.0);
            one.site().cmp(&other.site()).then(by_bound)
        });
        bounds.dedup_by_key(|bound| bound.site());
        Self { bounds, ..self }
    }

    /// What both know; of a configuration that both have, what `later` says.
    pub fn merged(self, later: Self) -> Self {
        let is_again = |old: &Observation| later.of(old.site()).is_some_and(|new| new == *old);
        let is_same = self.configurations.iter().all(is_again);
        // The scatter of the same runs counts once.
        let (scatter, degrees_of_freedom) = if is_same {
            (later.scatter, later.degrees_of_freedom)
        } else {
            (self.scatter + later.scatter, self.degrees_of_freedom + later.degrees_of_freedom)
        };
        let source = if self.source == later.source || is_same {
            later.source
        } else {
            format!("{} and {}", self.source, later.source)
        };
        let all = self.configurations.into_iter().chain(later.configurations).collect();
        let bounds = self.bounds.into_iter().chain(later.bounds);
        let both = Self::new(source, all, scatter, degrees_of_freedom).with_bounds(bounds);
        both.of_quantity(self.quantity)
    }

    /// What is known of a configuration, where it was timed.
    pub fn of(&self, site: impl Into<Site>) -> Option<Observation> {
        let found = self.configurations.binary_search_by_key(&site.into(), Observation::site);
        found.ok().map(|index| self.configurations[index])
    }

    /// The fastest that was timed.
    pub fn fastest(&self) -> Option<Observation> {
        let by_time =
            |one: &&Observation, other: &&Observation| one.time.0.total_cmp(&other.time.0);
        self.configurations.iter().min_by(by_time).copied()
    }

    /// The range of what was timed; `None` of nothing.
    pub fn range(&self) -> Option<Range> {
        Range::of(self.configurations.iter().map(|observed| observed.mapping))
    }
}

impl Observation {
    /// What was timed.
    pub fn site(&self) -> Site {
        Site::new(self.mapping, self.level)
    }
}

impl LowerBound {
    /// What was stopped.
    pub fn site(&self) -> Site {
        Site::new(self.mapping, self.level)
    }
}

impl Range {
    /// The least range that holds these mappings; `None` of none.
    pub fn of(mappings: impl Iterator<Item = Mapping> + Clone) -> Option<Self> {
        let ends = |of: fn(Mapping) -> u32| {
            let all = mappings.clone().map(of);
            Some((all.clone().min()?, all.max()?))
        };
        Some(Self { m: ends(Mapping::m)?, p: ends(Mapping::p)? })
    }

    /// Whether a mapping lies within it.
    pub fn holds(&self, mapping: Mapping) -> bool {
        (self.m.0..=self.m.1).contains(&mapping.m()) && (self.p.0..=self.p.1).contains(&mapping.p())
    }

    /// The dimension that never varied and that `mapping` asks to be varied: its effect is not
    /// known.
    pub fn never_varied(&self, mapping: Mapping) -> Option<&'static str> {
        let asks = |(low, high): (u32, u32), value: u32| low == high && value != low;
        if asks(self.m, mapping.m()) {
            return Some("m");
        }
        asks(self.p, mapping.p()).then_some("p")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(m: u32, p: u32, time_s: f64) -> Observation {
        Observation {
            mapping: Mapping::of(m, p),
            level: 0,
            time: Seconds(time_s),
            repetitions: 1.0,
        }
    }

    fn observations(times: &[(u32, u32, f64)], scatter: f64) -> Observations {
        let all = times.iter().map(|&(m, p, time_s)| observed(m, p, time_s)).collect();
        Observations::new("runs.csv", all, scatter, 2.0)
    }

    #[test]
    fn what_was_measured_later_replaces_what_was_measured_before_and_nothing_else_is_lost() {
        let old = observations(&[(1, 1, 9.0), (2, 1, 5.0)], 0.1);
        let new = observations(&[(4, 1, 3.0), (2, 1, 5.5)], 0.3);
        let both = old.clone().merged(new);
        assert_eq!(
            both.configurations,
            [(1, 9.0), (2, 5.5), (4, 3.0)].map(|(m, t)| observed(m, 1, t))
        );
        assert_eq!((both.scatter, both.degrees_of_freedom), (0.4, 4.0));
        // The same file again, with a row more, is no second measurement of the rest.
        let longer = observations(&[(1, 1, 9.0), (2, 1, 5.0), (8, 1, 2.0)], 0.1);
        let both = old.merged(longer.clone());
        assert_eq!(both, longer);
    }

    #[test]
    fn of_what_was_timed_no_bound_is_kept_and_of_bounds_the_largest() {
        let bound = |m, longer_than| LowerBound {
            mapping: Mapping::of(m, 1),
            level: 0,
            longer_than: Seconds(longer_than),
        };
        let old = observations(&[(1, 1, 9.0)], 0.1).with_bounds([bound(4, 2.0), bound(2, 3.0)]);
        assert_eq!(old.bounds, [bound(2, 3.0), bound(4, 2.0)]);
        let new = observations(&[(2, 1, 5.5)], 0.3).with_bounds([bound(1, 20.0), bound(4, 6.0)]);
        assert_eq!(old.merged(new).bounds, [bound(4, 6.0)]);
    }

    #[test]
    fn a_dimension_that_never_varied_is_named_where_it_is_asked_to() {
        let range = observations(&[(1, 1, 9.0), (4, 1, 5.0)], 0.0).range().unwrap();
        assert_eq!(range, Range { m: (1, 4), p: (1, 1) });
        assert_eq!(range.never_varied(Mapping::of(8, 1)), None);
        assert_eq!(range.never_varied(Mapping::of(2, 2)), Some("p"));
        assert!(range.holds(Mapping::of(3, 1)) && !range.holds(Mapping::of(8, 1)));
    }

    #[test]
    fn the_same_runs_from_another_file_keep_the_later_name_and_others_both() {
        let named = |source: &str, time_s: f64| {
            Observations::new(source, vec![observed(1, 1, time_s)], 0.25, 2.0)
        };
        let same = named("old.csv", 9.0).merged(named("new.csv", 9.0));
        assert_eq!((same.source.as_str(), same.scatter), ("new.csv", 0.25));
        let both = named("old.csv", 9.0).merged(named("new.csv", 8.0));
        assert_eq!((both.source.as_str(), both.scatter), ("old.csv and new.csv", 0.5));
        let again = named("runs.csv", 9.0).merged(named("runs.csv", 8.0));
        assert_eq!((again.source.as_str(), again.degrees_of_freedom), ("runs.csv", 4.0));
        let other = Observations::new("other.csv", vec![observed(2, 1, 5.0)], 0.25, 3.0);
        assert_eq!(other.merged(again).degrees_of_freedom, 7.0);
    }

    #[test]
    fn the_fastest_is_that_of_the_least_time() {
        let all = observations(&[(1, 1, 9.0), (2, 1, 5.0), (4, 1, 7.0)], 0.1);
        assert_eq!(all.fastest(), Some(observed(2, 1, 5.0)));
        assert_eq!(observations(&[], 0.1).fastest(), None);
    }
}
