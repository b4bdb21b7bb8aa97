//! All accelerators as ranks of one grid.

use std::ops::RangeInclusive;

use super::choice::{Choice, Problem};
use super::period::usage;
use super::terms::{CELL, WavefrontTerms};
use crate::models::time_model::{Part, TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

/// An iteration of a wavefront whose ranks are accelerators (reverse acceleration), with a cost for each kind
/// of link.
///
/// A mapping is m nodes with p ranks each. The model has a list of choices, and its time for a mapping is that
/// of the fastest choice with as many nodes and ranks; of one choice alone, the model says what that
/// takes. A mapping of no choice takes for ever.
#[derive(Debug, Clone)]
pub struct Flat {
    terms: WavefrontTerms,
    problem: Problem,
    choices: Vec<Choice>,
}

impl Flat {
    /// For a problem, and what there is to choose among ([`choices`](super::choices)).
    pub fn new(terms: WavefrontTerms, problem: Problem, choices: Vec<Choice>) -> Self {
        Self { terms, problem, choices }
    }

    /// The time of an iteration.
    pub fn time_of(&self, choice: &Choice) -> Seconds {
        let usage = usage(&self.terms, &self.problem, choice);
        let terms = self.terms.numbers();
        Seconds(usage.0.iter().zip(terms).map(|(count, value)| count * value).sum())
    }

    /// All choices with their times, the fastest first; of equal ones, in the order of choices.
    pub fn ranked(&self) -> Vec<(Choice, Seconds)> {
        let timed = self.choices.iter().map(|choice| (*choice, self.time_of(choice)));
        let mut ranked: Vec<(Choice, Seconds)> = timed.collect();
        ranked.sort_by(|one, other| one.1.0.total_cmp(&other.1.0).then(one.0.cmp(&other.0)));
        ranked
    }

    /// The fastest choice for a mapping.
    pub fn best(&self, mapping: Mapping) -> Option<(Choice, Seconds)> {
        let of_mapping = self.choices.iter().filter(|choice| choice.mapping() == Some(mapping));
        let timed = of_mapping.map(|choice| (*choice, self.time_of(choice)));
        timed.min_by(|one, other| one.1.0.total_cmp(&other.1.0).then(one.0.cmp(&other.0)))
    }

    /// What is swept.
    pub(super) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The slope of the time of a choice along each term.
    pub(super) fn gradient_of(&self, choice: &Choice) -> Vec<f64> {
        usage(&self.terms, &self.problem, choice).0
    }

    fn counts(&self, mapping: Mapping) -> Vec<f64> {
        let best = self.best(mapping);
        best.map_or_else(Vec::new, |(choice, _)| usage(&self.terms, &self.problem, &choice).0)
    }
}

impl TimeModel for Flat {
    fn name(&self) -> &str {
        "wavefront"
    }

    fn apus(&self) -> u32 {
        self.choices.iter().map(|choice| choice.px * choice.py).max().unwrap_or(0)
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        self.best(mapping).map_or(Seconds(f64::INFINITY), |(_, time)| time)
    }

    fn values(&self) -> Vec<Value> {
        self.terms.named().into_iter().map(|(name, estimate)| Value::new(name, estimate)).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let counts = self.counts(mapping).into_iter().enumerate();
        counts.filter(|&(_, count)| count != 0.0).collect()
    }

    /// What costs nothing, such as a link that a machine has not, needs no error.
    fn warnings(&self, _: RangeInclusive<u32>) -> Vec<Warning> {
        let unsure = |value: &Value| value.std_error.is_none() && value.value != 0.0;
        let names: Vec<String> =
            self.values().into_iter().filter(unsure).map(|value| value.name).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let names = names.join(", ");
        vec![Warning::Note(format!("intervals know no error of {names}: none is given"))]
    }

    fn parts(&self, mapping: Mapping) -> Vec<Part> {
        let (counts, terms) = (self.counts(mapping), self.terms.numbers());
        let products: Vec<f64> =
            counts.iter().zip(terms).map(|(count, value)| count * value).collect();
        let (blocks, messages) = products.split_at((CELL + 1).min(products.len()));
        let sum = |times: &[f64]| Seconds(times.iter().sum());
        vec![
            Part { name: "W (S + F)", time: sum(blocks) },
            Part { name: "messages", time: sum(messages) },
        ]
    }
}
