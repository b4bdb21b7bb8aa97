//! The terms of the model.

use super::nothing;
use crate::models::parameters::Estimate;

/// A term that was measured with several numbers of accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct OverP {
    /// By p, increasing; at least one.
    entries: Vec<(u32, Estimate)>,
}

impl OverP {
    /// Nothing at each of these, of which there is at least one.
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
    /// Of an accelerator for a node, with its request: the part of C + e that each node costs \[s\].
    pub turn_s: Estimate,
    /// Of an accelerator for a list of requests, in each turn: the other part \[s\].
    pub list_turn_s: Estimate,
    /// From the request for a list of nodes until the first of them is on its way: L \[s\].
    pub latency_s: Estimate,
    /// Of an accelerator for the beginning and the end of a thread \[s\].
    pub thread_s: Estimate,
    /// Of the host for a sublist \[s\].
    pub sublist_s: Estimate,
    /// What a run takes without any nodes \[s\].
    pub start_s: Estimate,
    /// Of memory for a node, by the number of accelerators that ask for as many as they can \[s\].
    pub gather_s: OverP,
    /// Of the two passes that stream through all nodes, for a node \[s\].
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

    /// All terms, each with its name: `turn_s`, `gather_s(8)`.
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
