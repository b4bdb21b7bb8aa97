//! The two models: all accelerators as ranks of one grid, and nodes that off-load their blocks to
//! accelerators.

use std::ops::RangeInclusive;

use super::period::usage;
use super::{CELL, GridChoice, MessageLine, Problem, WavefrontTerms};
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
    choices: Vec<GridChoice>,
}

impl Flat {
    /// Model of a problem, and what there is to choose among ([`choices`](super::choices)).
    pub fn new(terms: WavefrontTerms, problem: Problem, choices: Vec<GridChoice>) -> Self {
        Self { terms, problem, choices }
    }

    /// The time of an iteration.
    pub fn time_of(&self, choice: &GridChoice) -> Seconds {
        let usage = usage(&self.terms, &self.problem, choice);
        let terms = self.terms.numbers();
        Seconds(usage.0.iter().zip(terms).map(|(count, value)| count * value).sum())
    }

    /// Choices with their times, the fastest first; of equal ones, in the order of choices.
    pub fn ranked(&self) -> Vec<(GridChoice, Seconds)> {
        let timed = self.choices.iter().map(|choice| (*choice, self.time_of(choice)));
        let mut ranked: Vec<(GridChoice, Seconds)> = timed.collect();
        ranked.sort_by(|one, other| one.1.0.total_cmp(&other.1.0).then(one.0.cmp(&other.0)));
        ranked
    }

    /// The fastest choice for a mapping.
    pub fn best(&self, mapping: Mapping) -> Option<(GridChoice, Seconds)> {
        let of_mapping = self.choices.iter().filter(|choice| choice.mapping() == Some(mapping));
        let timed = of_mapping.map(|choice| (*choice, self.time_of(choice)));
        timed.min_by(|one, other| one.1.0.total_cmp(&other.1.0).then(one.0.cmp(&other.0)))
    }

    /// What is swept.
    pub(super) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The slope of the time of a choice along each term.
    pub(super) fn gradient_of(&self, choice: &GridChoice) -> Vec<f64> {
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

/// An iteration of a wavefront in the accelerator model: m nodes are its ranks, and each has its blocks swept
/// by qx x qy accelerators, an inner wavefront that is filled anew in every outer step:
///
/// ```text
/// W_node = tau_in + [(qx - 1) + (qy - 1) + B_in] (w_in + c_in) + tau_out
/// ```
///
/// with `tau = latency + surface/bandwidth` for the faces that go to the accelerators and come back. T is
/// that of [`Flat`] over nodes, with `W_node` and the messages between nodes.
#[derive(Debug, Clone)]
pub struct TwoLevel {
    outer: Flat,
    inner: Inner,
    nodes: Mapping,
    choice: GridChoice,
}

/// What happens within a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Inner {
    /// Accelerators along x and y: qx, qy.
    pub accelerators: [u32; 2],
    /// Inner blocks of a node's block: `B_in`.
    pub blocks: u32,
    /// Time of an inner block with its message: `w_in + c_in`. Its latency counts once a block, and its
    /// rate by cells and angles of it.
    pub block: MessageLine,
    /// Faces from and to the accelerators.
    pub transfer: Transfer,
}

/// What a face takes on its way between a node and its accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// Towards the accelerators, by bytes.
    pub to: MessageLine,
    /// Back, by bytes.
    pub back: MessageLine,
}

impl TwoLevel {
    /// Model of one choice over nodes: its px and py count nodes, and its tiling has one rank a node. Of
    /// `terms` the messages count alone.
    pub fn new(
        terms: &WavefrontTerms,
        inner: Inner,
        (problem, choice): (Problem, GridChoice),
    ) -> Self {
        let mut outer = WavefrontTerms { links: terms.links.clone(), ..WavefrontTerms::nothing() };
        outer.block_s.value = inner.node_block(&problem, &choice);
        let [x, y] = inner.accelerators;
        let nodes = Mapping::of(choice.px * choice.py, (x * y).max(1));
        Self { outer: Flat::new(outer, problem, vec![choice]), inner, nodes, choice }
    }

    /// The time of a node's block.
    pub fn node_block(&self) -> Seconds {
        Seconds(self.inner.node_block(self.outer.problem(), &self.choice))
    }
}

impl Inner {
    /// `W_node` \[s\].
    fn node_block(&self, problem: &Problem, choice: &GridChoice) -> f64 {
        let (times, inner) = (self.counts(problem, choice), self.lines());
        times.into_iter().zip(inner).map(|(count, line)| count * line).sum()
    }

    /// Latency and rate of a block, of a face to the accelerators, and of one back.
    fn lines(&self) -> [f64; 6] {
        let Transfer { to, back } = &self.transfer;
        let values = |line: &MessageLine| [line.latency_s.value, line.byte_s.value];
        let [block, to, back] = [&self.block, to, back].map(values);
        [block[0], block[1], to[0], to[1], back[0], back[1]]
    }

    /// How often each of them enters.
    fn counts(&self, problem: &Problem, choice: &GridChoice) -> [f64; 6] {
        let [qx, qy] = self.accelerators;
        let turns = f64::from(qx.max(1) - 1 + qy.max(1) - 1 + self.blocks);
        let (it, jt) = (problem.it.div_ceil(choice.px), problem.jt.div_ceil(choice.py));
        let planes = f64::from(choice.planes * choice.angles);
        let updates = f64::from(it * jt) * planes / f64::from(qx * qy * self.blocks);
        // Both faces of the block.
        let surface = 8.0 * f64::from(it + jt) * planes;
        [turns, turns * updates, 1.0, surface, 1.0, surface]
    }
}

impl TimeModel for TwoLevel {
    fn name(&self) -> &str {
        "wavefront-two-level"
    }

    fn apus(&self) -> u32 {
        self.nodes.m() * self.nodes.p()
    }

    /// Time of m nodes with p accelerators each; without end where these are not those of the choice.
    fn time(&self, mapping: Mapping) -> Seconds {
        if mapping == self.nodes {
            self.outer.time_of(&self.choice)
        } else {
            Seconds(f64::INFINITY)
        }
    }

    fn values(&self) -> Vec<Value> {
        let Transfer { to, back } = &self.inner.transfer;
        let named = [("inner", &self.inner.block), ("to", to), ("back", back)];
        let inner = named.into_iter().flat_map(|(name, line)| {
            [
                Value::new(format!("{name}_s"), &line.latency_s),
                Value::new(format!("{name}_unit_s"), &line.byte_s),
            ]
        });
        self.outer.values().into_iter().chain(inner).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        if mapping != self.nodes {
            return Vec::new();
        }
        let mut outer = self.outer.gradient_of(&self.choice);
        // `W_node` stands in the place of a block's own time, which is no value of this model.
        let blocks = std::mem::take(&mut outer[0]);
        outer[1] = 0.0;
        outer[2] = 0.0;
        let inner = self.inner.counts(self.outer.problem(), &self.choice);
        let inner = inner.into_iter().map(|count| blocks * count);
        let all = outer.into_iter().chain(inner).enumerate();
        all.filter(|&(_, slope)| slope != 0.0).collect()
    }
}
