//! The terms of the model, the formula that it carries on, and how unevenly random sublists load
//! accelerators.

use statrs::distribution::{ContinuousCDF as _, Gamma};

use super::{Division, SoftwareThreads, SublistChoice, nothing, slopes};
use crate::models::parameters::Estimate;
use crate::models::time_model::{TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// A term that was measured with several numbers of accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct OverP {
    /// Estimates by p, increasing; at least one.
    entries: Vec<(u32, Estimate)>,
}

impl OverP {
    /// Term that is nothing at each of these p, of which there is at least one.
    pub fn nothing(ps: &[u32]) -> Self {
        Self { entries: ps.iter().map(|&p| (p, nothing())).collect() }
    }

    /// What was measured with the most accelerators that are no more than p; with the fewest, where
    /// all were more.
    pub fn at(&self, p: u32) -> &Estimate {
        let below = self.entries.iter().rev().find(|&&(measured, _)| measured <= p);
        &below.unwrap_or(&self.entries[0]).1
    }

    /// Puts in what was measured with p accelerators.
    pub fn set(&mut self, p: u32, estimate: Estimate) {
        match self.entries.iter_mut().find(|entry| entry.0 == p) {
            Some(entry) => entry.1 = estimate,
            None => {
                self.entries.push((p, estimate));
                self.entries.sort_by_key(|entry| entry.0);
            }
        }
    }
}

/// What the time of list ranking is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadTerms {
    /// Time of an accelerator for a node, with its request: the part of C + e that each node costs \[s\].
    pub turn_s: Estimate,
    /// Time of an accelerator for a list of requests, in each turn: the other part \[s\].
    pub list_turn_s: Estimate,
    /// Time from the request for a list of nodes until the first of them is on its way: L \[s\].
    pub latency_s: Estimate,
    /// Time of an accelerator for the beginning and the end of a thread \[s\].
    pub thread_s: Estimate,
    /// Time of the host for a sublist \[s\].
    pub sublist_s: Estimate,
    /// What a run takes without any nodes \[s\].
    pub start_s: Estimate,
    /// Time of memory for a node, by the number of accelerators that ask for as many as they can \[s\].
    pub gather_s: OverP,
    /// Time of the two passes that stream through all nodes, for a node \[s\].
    pub stream_s: OverP,
}

impl ThreadTerms {
    /// Terms that are nothing, with those numbers of accelerators measured.
    pub fn nothing(ps: &[u32]) -> Self {
        Self {
            turn_s: nothing(),
            list_turn_s: nothing(),
            latency_s: nothing(),
            thread_s: nothing(),
            sublist_s: nothing(),
            start_s: nothing(),
            gather_s: OverP::nothing(ps),
            stream_s: OverP::nothing(ps),
        }
    }

    /// The most accelerators that were measured.
    pub fn most_apus(&self) -> u32 {
        self.gather_s.entries.last().map_or(1, |entry| entry.0)
    }

    /// Terms, each with its name: `turn_s`, `gather_s(8)`.
    pub fn named(&self) -> Vec<(String, &Estimate)> {
        let Self { turn_s, list_turn_s, latency_s, .. } = self;
        let Self { thread_s, sublist_s, start_s, gather_s, stream_s, .. } = self;
        let single = [
            ("turn_s", turn_s),
            ("list_turn_s", list_turn_s),
            ("latency_s", latency_s),
            ("thread_s", thread_s),
            ("sublist_s", sublist_s),
            ("start_s", start_s),
        ];
        let single = single.into_iter().map(|(name, estimate)| (name.to_string(), estimate));
        let over = [("gather_s", gather_s), ("stream_s", stream_s)];
        let over = over.into_iter().flat_map(|(name, over)| {
            over.entries.iter().map(move |(p, estimate)| (format!("{name}({p})"), estimate))
        });
        single.chain(over).collect()
    }

    /// Changes the value of a term, by its place in [`Self::named`].
    pub(super) fn set(&mut self, place: usize, value: f64) {
        let Self { turn_s, list_turn_s, latency_s, .. } = self;
        let Self { thread_s, sublist_s, start_s, gather_s, stream_s, .. } = self;
        let over = gather_s.entries.iter_mut().chain(&mut stream_s.entries);
        let single = [turn_s, list_turn_s, latency_s, thread_s, sublist_s, start_s].into_iter();
        if let Some(term) = single.chain(over.map(|entry| &mut entry.1)).nth(place) {
            term.value = value;
        }
    }
}

/// `T(b) ~ (n/p) A(s) max(C + e, (L + C + e)/b)`: the ranking of sublists alone, with b requests of each
/// accelerator under way all the time.
///
/// C + e is `turn_s + list_turn_s`, a node that is a list of its own. A(s) is the expected load of the
/// accelerator with the most nodes over the mean. No more requests are under way than there are
/// threads.
#[derive(Debug, Clone)]
pub struct ThreadFormula(SoftwareThreads);

impl ThreadFormula {
    /// Formula for a list of so many nodes.
    pub fn new(terms: ThreadTerms, nodes: u32, division: Division, choice: SublistChoice) -> Self {
        Self(SoftwareThreads::new(terms, nodes, division, choice))
    }
}

impl TimeModel for ThreadFormula {
    fn name(&self) -> &str {
        "formula"
    }

    fn apus(&self) -> u32 {
        self.0.apus()
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        let SoftwareThreads { terms, nodes, division, choice } = &self.0;
        let ThreadTerms { turn_s, list_turn_s, latency_s, .. } = terms;
        let &SublistChoice { sublists, buffers } = choice;
        let active = mapping.p().min(sublists);
        let threads = f64::from(sublists) / f64::from(active);
        let longest = match division {
            Division::Even => threads.ceil() / threads,
            Division::Random => ordered(active, threads)[active as usize - 1],
        };
        let node = turn_s.value + list_turn_s.value;
        let under_way = threads.min(buffers.into());
        let each = node.max((latency_s.value + node) / under_way);
        Seconds(nodes / f64::from(active) * longest * each)
    }

    fn values(&self) -> Vec<Value> {
        self.0.values()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let with = |terms| Self(SoftwareThreads { terms, ..self.0.clone() });
        slopes(&self.0.terms, |terms| with(terms).time(mapping).0)
    }
}

/// The loads of so many accelerators in increasing order, over their mean, as expected where each is
/// drawn from a Gamma distribution of that shape: a sum of `shape` exponential lengths.
///
/// The expected order statistics by Blom's approximation (1958): the quantiles at
/// `(i - 3/8)/(count + 1/4)`, which is good to some 2 % here; their mean is made 1.
pub fn ordered(count: u32, shape: f64) -> Vec<f64> {
    let loads = Gamma::new(shape, shape).expect("invariant: a sum has a positive shape");
    let place = |rank: u32| (f64::from(rank) - 0.375) / (f64::from(count) + 0.25);
    let mut loads: Vec<f64> = (1..=count).map(|rank| loads.inverse_cdf(place(rank))).collect();
    let mean = loads.iter().sum::<f64>() / f64::from(count);
    loads.iter_mut().for_each(|load| *load /= mean);
    loads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::Estimate;

    #[test]
    fn six_requests_hide_five_times_the_time_of_a_node() {
        let terms = ThreadTerms {
            turn_s: Estimate::exact(15e-9),
            list_turn_s: Estimate::exact(5e-9),
            latency_s: Estimate::exact(100e-9),
            ..ThreadTerms::nothing(&[1])
        };
        let time = |p, sublists, buffers| {
            let choice = SublistChoice { sublists, buffers };
            ThreadFormula::new(terms.clone(), 1_000_000, Division::Even, choice)
                .time(Mapping::of(1, p))
                .0
        };
        for (p, sublists, buffers, expected) in [
            (1, 16, 1, 0.12),
            (1, 16, 3, 0.04),
            (1, 16, 6, 0.02),
            (1, 16, 16, 0.02),
            // Two threads each; 3 sublists on 2 accelerators: 2 of 1.5.
            (8, 16, 16, 0.06 / 8.0),
            (2, 3, 16, 0.12 / 1.5 / 2.0 * 2.0 / 1.5),
        ] {
            let found = time(p, sublists, buffers);
            assert!((found / expected - 1.0).abs() < 1e-9, "{p} {sublists} {buffers}: {found}");
        }
    }

    #[test]
    fn the_longest_load_is_that_of_simulations() {
        // Mean over random heads of the longest of 8 SPEs' loads over the average, by simulation
        // (of n = 2^20 nodes).
        for (sublists, expected) in
            [(8.0, 2.72), (16.0, 2.18), (32.0, 1.81), (64.0, 1.56), (128.0, 1.38), (256.0, 1.26)]
        {
            let found = ordered(8, sublists / 8.0)[7];
            assert!((found / expected - 1.0).abs() < 0.03, "{sublists}: {found}, {expected}");
        }
    }

    #[test]
    fn a_single_accelerator_has_it_all() {
        assert_eq!(ordered(1, 3.0), [1.0]);
    }
}
