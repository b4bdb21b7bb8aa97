//! Irregular work by software-managed threads: how long list ranking by sublists takes on p
//! accelerators, with s sublists and b requests of each accelerator under way.
//!
//! An accelerator has a thread for each of its sublists. Each asks for its next node and gives way to
//! the next thread; b lists of requests are under way at once. So a node takes (Bader, Agarwal and
//! Madduri, IPDPS 2007, carried on)
//!
//! ```text
//! T(b) ~ (n/p) A(s) max(C + e, (L + C + e)/b)
//! ```
//!
//! with C the computation for a node, e the request's own cost, L the latency that is left, and A(s)
//! the load of the accelerator with the most nodes over the mean. What this leaves out, and
//! [`SoftwareThreads`] has, each as a term of its own:
//!
//! * a turn costs for each list (`list_turn_s`) as well as for each node (`turn_s`), and the nodes of
//!   a list come one after the other;
//! * threads come to their ends one after another, and the last ones hide less of the latency;
//! * memory delivers nodes to all accelerators together at a rate of its own (`gather_s`);
//! * each thread costs something (`thread_s`), the host has work for each sublist (`sublist_s`), and two passes stream through all nodes (`stream_s`).
//!
//! The terms are estimated from a few short runs
//! ([`estimate_threads`](crate::fit::estimate_threads)).
//!
//! ```
//! use mmgp_model::models::threads::{SublistChoice, Division, SoftwareThreads, ThreadTerms};
//! use mmgp_model::models::parameters::Estimate;
//! use mmgp_model::models::time_model::TimeModel;
//! use mmgp_model::Mapping;
//!
//! // A node takes 20 ns and a request 100 ns more; nothing else costs.
//! let terms = ThreadTerms {
//!     turn_s: Estimate::exact(20e-9),
//!     latency_s: Estimate::exact(100e-9),
//!     ..ThreadTerms::nothing(&[1, 8])
//! };
//! let time = |buffers| {
//!     let choice = SublistChoice { sublists: 48, buffers };
//!     let model = SoftwareThreads::new(terms.clone(), 1_000_000, Division::Even, choice);
//!     model.time(Mapping::of(1, 8)).0
//! };
//! // Six requests hide the latency: 125,000 nodes of 20 ns each.
//! assert!((time(6) - 2.5e-3).abs() < 1e-9 && (time(16) - 2.5e-3).abs() < 1e-9);
//! // One list has all six nodes, but nothing is done while they come: 100 ns + 6 x 20 ns a turn.
//! assert!((time(1) - 125_000.0 / 6.0 * 220e-9).abs() < 1e-9);
//! ```

use statrs::distribution::{ContinuousCDF as _, Gamma};

use crate::models::parameters::Estimate;
use crate::models::time_model::{Part, TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// Name of the model.
pub const NAME: &str = "threads";

/// What there is to choose beside the number of accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SublistChoice {
    /// Sublists of all accelerators together.
    pub sublists: u32,
    /// Lists of requests of each accelerator that are under way at once.
    pub buffers: u32,
}

/// How long sublists are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// Sublists as long as one another.
    Even,
    /// Their heads are drawn at random.
    Random,
}

impl Division {
    /// Name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Random => "random",
        }
    }
}

/// The model for one choice; of the mapping p alone counts.
#[derive(Debug, Clone)]
pub struct SoftwareThreads {
    terms: ThreadTerms,
    nodes: f64,
    division: Division,
    choice: SublistChoice,
}

/// Relative step of the differences that gradients are taken from.
const STEP: f64 = 1e-4;
/// The least step, for terms that are nothing \[s\].
const LEAST_STEP: f64 = 1e-15;

impl SoftwareThreads {
    /// Model for a list of so many nodes.
    pub fn new(terms: ThreadTerms, nodes: u32, division: Division, choice: SublistChoice) -> Self {
        Self { terms, nodes: nodes.into(), division, choice }
    }

    /// The time of a turn of `threads` that are left on an accelerator: their own, or the round trip of a
    /// list, whose nodes come one after the other, whichever is longer \[s\].
    fn turn(&self, threads: f64) -> f64 {
        let ThreadTerms { turn_s, list_turn_s, latency_s, gather_s, .. } = &self.terms;
        let lists = threads.min(self.choice.buffers.into());
        let busy = threads * turn_s.value + lists * list_turn_s.value;
        let node = turn_s.value + gather_s.at(1).value;
        busy.max(latency_s.value + threads / lists * node + list_turn_s.value)
    }

    /// The time of ranking all sublists, and how it is made up \[s\].
    fn ranking(&self, p: u32) -> StepTime {
        let SublistChoice { sublists, .. } = self.choice;
        let (s, active) = (f64::from(sublists), p.min(sublists));
        let threads = sublists.div_ceil(active);
        let length = self.nodes / s;
        // Each thread ends in its turn. Of random ends the mean gap falls as one over those left.
        let stretches: Vec<f64> = match self.division {
            Division::Even => vec![length * self.turn(threads.into())],
            Division::Random => (1..=threads)
                .map(|left| length / f64::from(left) * self.turn(left.into()))
                .collect(),
        };
        let mean: f64 = stretches.iter().sum();
        let own = length * f64::from(threads);
        // Gaps of random ends are independent and exponential, so their sum has this variance.
        let squares: f64 = stretches.iter().map(|it| it * it).sum();
        let loads = match self.division {
            Division::Even => vec![1.0; active as usize],
            Division::Random => ordered(active, mean * mean / squares),
        };
        // From the end of one accelerator to that of the next, those that are left share memory.
        let node = mean / own;
        let (mut before, mut compute, mut memory) = (0.0, 0.0, 0.0);
        for (ended, &load) in (0..active).zip(&loads) {
            let nodes = own * (load - before);
            compute += nodes * node;
            let left = active - ended;
            let shared = f64::from(left) * self.terms.gather_s.at(left).value;
            memory += nodes * (shared - node).max(0.0);
            before = load;
        }
        StepTime { compute: compute + f64::from(threads) * self.terms.thread_s.value, memory }
    }

    fn all_parts(&self, p: u32) -> [f64; 5] {
        let ThreadTerms { start_s, sublist_s, stream_s, .. } = &self.terms;
        let StepTime { compute, memory } = self.ranking(p);
        let streams = self.nodes * stream_s.at(p).value;
        let sublists = f64::from(self.choice.sublists) * sublist_s.value;
        [compute, memory, streams, sublists, start_s.value]
    }
}

/// Time of step 2, the ranking \[s\].
struct StepTime {
    /// Time of the accelerator that takes longest, were memory as fast as one likes.
    compute: f64,
    /// What is waited for memory beyond that.
    memory: f64,
}

/// What the parts are called.
const PARTS: [&str; 5] = [
    "(n/p) A max(C+e, (L+C+e)/b)",
    "waiting for memory",
    "streams through all nodes",
    "sublists on the host",
    "start",
];

impl TimeModel for SoftwareThreads {
    fn name(&self) -> &str {
        NAME
    }

    fn apus(&self) -> u32 {
        self.terms.most_apus()
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        Seconds(self.all_parts(mapping.p()).iter().sum())
    }

    fn values(&self) -> Vec<Value> {
        self.terms.named().into_iter().map(|(name, estimate)| Value::new(name, estimate)).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let time = |terms| Self { terms, ..self.clone() }.time(mapping).0;
        slopes(&self.terms, time)
    }

    fn parts(&self, mapping: Mapping) -> Vec<Part> {
        let parts = PARTS.into_iter().zip(self.all_parts(mapping.p()));
        parts.map(|(name, time)| Part { name, time: Seconds(time) }).collect()
    }
}

/// The slopes of a time along the terms that it depends on, by their places, from differences.
fn slopes(terms: &ThreadTerms, time: impl Fn(ThreadTerms) -> f64) -> Vec<(usize, f64)> {
    let now = time(terms.clone());
    let slope = |(place, (_, estimate)): (usize, (String, &Estimate))| {
        let step = (STEP * estimate.value).max(LEAST_STEP);
        let mut moved = terms.clone();
        moved.set(place, estimate.value + step);
        (place, (time(moved) - now) / step)
    };
    let slopes = terms.named().into_iter().enumerate().map(slope);
    slopes.filter(|&(_, slope)| slope != 0.0).collect()
}

/// A term that is nothing.
fn nothing() -> Estimate {
    Estimate::exact(0.0)
}

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

    const NODES: u32 = 1_000_000;

    fn terms(turn: f64, list_turn: f64, latency: f64) -> ThreadTerms {
        ThreadTerms {
            turn_s: Estimate::exact(turn),
            list_turn_s: Estimate::exact(list_turn),
            latency_s: Estimate::exact(latency),
            ..ThreadTerms::nothing(&[1, 8])
        }
    }

    fn time(terms: ThreadTerms, division: Division, [p, sublists, buffers]: [u32; 3]) -> f64 {
        let choice = SublistChoice { sublists, buffers };
        SoftwareThreads::new(terms, NODES, division, choice).time(Mapping::of(1, p)).0
    }

    #[track_caller]
    fn check(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} instead of {expected}");
    }

    #[test]
    fn one_thread_waits_for_every_node_and_enough_of_them_for_none() {
        let terms = terms(15e-9, 5e-9, 100e-9);
        check(time(terms.clone(), Division::Even, [1, 1, 1]), 0.12, 1e-9);
        check(time(terms.clone(), Division::Even, [1, 4, 4]), 0.12 / 4.0, 1e-9);
        check(time(terms.clone(), Division::Even, [1, 8, 8]), 0.02, 1e-9);
        // 32 threads on 8 lists: a list's turn costs once for four nodes.
        check(time(terms, Division::Even, [1, 32, 8]), 0.015 + 0.005 / 4.0, 1e-9);
    }

    #[test]
    fn random_sublists_load_one_accelerator_more_and_leave_its_last_threads_waiting() {
        // A thread each on 8: the longest of 8 exponential lengths, 1 + 1/2 + ... + 1/8 of the mean.
        let harmonic: f64 = (1..=8).map(|k| 1.0 / f64::from(k)).sum();
        let random = time(terms(20e-9, 0.0, 0.0), Division::Random, [8, 8, 1]);
        check(random, harmonic * 0.02 / 8.0, 0.03);
        // One accelerator with 8 threads: turns of the last j take 100 + 20 ns until j = 6 fill it,
        // for 1/j of an eighth of the nodes each.
        let gap = |j: u32| f64::from(20 * j).max(120.0) / f64::from(j);
        let by_hand: f64 = (1..=8).map(gap).sum();
        let random = time(terms(20e-9, 0.0, 100e-9), Division::Random, [1, 8, 8]);
        check(random, 1e-9 * by_hand * 1e6 / 8.0, 1e-9);
    }

    #[test]
    fn memory_is_shared_by_those_that_are_at_work() {
        let mut terms = terms(16e-9, 0.0, 0.0);
        terms.gather_s.set(8, Estimate::exact(5e-9));
        // 2 ns a node by 8 accelerators, 5 by memory.
        check(time(terms.clone(), Division::Even, [8, 512, 16]), 5e-3, 1e-9);
        // Three at a time get 15 ns of memory, less than a node takes.
        terms.gather_s.set(8, Estimate::exact(1.9e-9));
        check(time(terms, Division::Even, [8, 512, 16]), 2e-3, 1e-9);
    }

    #[test]
    fn every_gradient_is_a_slope_of_the_time() {
        let mut all = terms(15e-9, 5e-9, 100e-9);
        all.sublist_s = Estimate::exact(1e-7);
        all.stream_s.set(8, Estimate::exact(2e-9));
        let choice = SublistChoice { sublists: 64, buffers: 4 };
        let model = SoftwareThreads::new(all.clone(), NODES, Division::Random, choice);
        let at = Mapping::of(1, 8);
        for (place, slope) in model.gradient(at) {
            let mut moved = all.clone();
            let value = all.named()[place].1.value;
            moved.set(place, value + 1e-9);
            let moved = SoftwareThreads::new(moved, NODES, Division::Random, choice);
            let by_hand = (moved.time(at).0 - model.time(at).0) / 1e-9;
            check(slope, by_hand, 0.05);
        }
        // The stream of 8 accelerators: a time for each node.
        let slopes = model.gradient(at);
        assert!(slopes.iter().any(|&(_, slope)| (slope - 1e6).abs() < 1.0), "{slopes:?}");
    }

    #[test]
    fn the_parts_add_up_to_the_time() {
        let choice = SublistChoice { sublists: 64, buffers: 4 };
        let all = terms(15e-9, 5e-9, 100e-9);
        let model = SoftwareThreads::new(all, NODES, Division::Random, choice);
        let at = Mapping::of(1, 3);
        let sum: f64 = model.parts(at).iter().map(|part| part.time.0).sum();
        check(sum, model.time(at).0, 1e-12);
    }

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
