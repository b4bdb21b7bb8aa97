//! Who is on the rings, and what they leave to whom.
//!
//! Flows are a fluid until they meet: as long as no segment has to carry more than one ring does,
//! and no direction more lines than its rings can start, the rings are in nobody's way. From there on
//! the arbiter says what share of its rate each flow of the Cell gets (see `arbiter.rs`), once for
//! each set of flows. What those who get less leave unused of ports and memory goes to the others,
//! whom the arbiter is not asked about again.

use std::collections::BTreeMap;

use super::arbiter::{Arbiter, Offer, PARTS, Way};
use mmgp_machine::Machine;
use mmgp_sim::{Flow, Flows};

/// A sum of rates may exceed a limit by so much and count as within it.
const ROUNDING: f64 = 1e-9;

/// A part of a way that lies on the rings of one Cell, from place to place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leg {
    pub cell: usize,
    pub from: usize,
    pub to: usize,
}

/// A flow on the rings.
pub(super) struct Passage {
    pub flow: Flow,
    /// Rate without the rings \[byte/s\].
    pub cap: f64,
    /// One on each Cell that it passes.
    pub legs: [Option<Leg>; 2],
    /// Whether it is between the memory of a Cell and a unit of the same one.
    pub is_home: bool,
}

/// The rings of all Cells.
pub(super) struct Rings {
    arbiter: Arbiter,
    /// Ways from each place to each, in rows.
    ways: Vec<[Option<Way>; 2]>,
    cells: usize,
    /// What a port carries, and a ring over each segment \[byte/s\].
    port: f64,
    /// What the rings of a direction can start \[byte/s\].
    starts: f64,
    /// Longest by what factor a line on the longest way keeps it for longer than for its beats.
    longest: f64,
    /// Passages in the order of their beginning.
    under_way: Vec<Passage>,
    /// How many of them are not at home. Those that are have the ports of the memory to pass, and so
    /// bring no more onto any segment than a ring carries, if each line has its way for its beats only.
    abroad: usize,
    /// Flows that get less than their caps because of the rings.
    limited: Vec<Flow>,
    granted: BTreeMap<Vec<Offer>, Vec<f64>>,
    /// Rates of those under way, while they are looked at.
    rates: Vec<f64>,
}

impl Rings {
    pub fn new(machine: &Machine) -> Self {
        let arbiter = Arbiter::new(&machine.eib);
        let (port, places) = (machine.eib.port(machine.clock).0, arbiter.places);
        let at_once = f64::from(arbiter.beats) / f64::from(arbiter.interval);
        let ways: Vec<[Option<Way>; 2]> =
            (0..places * places).map(|it| arbiter.ways(it / places, it % places)).collect();
        let longer = ways.iter().flatten().flatten().map(|way| arbiter.lengthening(way.segments));
        Self {
            cells: machine.layout.cells as usize,
            port,
            longest: longer.fold(1.0, f64::max),
            starts: port * arbiter.rings as f64 * at_once.min(arbiter.most as f64),
            ways,
            arbiter,
            under_way: Vec::new(),
            abroad: 0,
            limited: Vec::new(),
            granted: BTreeMap::new(),
            rates: Vec::new(),
        }
    }

    /// A flow has begun.
    pub fn enter(&mut self, flows: &Flows, passage: Passage) {
        self.abroad += usize::from(self.is_abroad(&passage));
        self.under_way.push(passage);
        self.arbitrate(flows);
    }

    /// A flow has ended.
    pub fn leave(&mut self, flows: &Flows, flow: Flow) {
        let index = self.under_way.iter().position(|passage| passage.flow == flow);
        let passage = self.under_way.remove(index.expect("invariant: it has entered"));
        self.abroad -= usize::from(self.is_abroad(&passage));
        self.limited.retain(|&limited| limited != flow);
        self.arbitrate(flows);
    }

    /// Whether it has to be looked at even among its like.
    const fn is_abroad(&self, passage: &Passage) -> bool {
        !passage.is_home || self.arbiter.hop > 0
    }

    /// Limits the flows to what the arbiter grants them.
    fn arbitrate(&mut self, flows: &Flows) {
        if self.abroad == 0 && self.limited.is_empty() {
            return;
        }
        self.lift_limits(flows);
        let mut rates = std::mem::take(&mut self.rates);
        rates.clear();
        rates.extend(self.under_way.iter().map(|passage| flows.rate(passage.flow)));
        let mut limits: Vec<(Flow, f64)> = Vec::new();
        for cell in 0..self.cells {
            if !self.is_oversubscribed(cell, &rates) {
                continue;
            }
            for (index, share) in self.shares(cell, &rates) {
                let (flow, cap) = (self.under_way[index].flow, rates[index] * share);
                match limits.iter_mut().find(|(limited, _)| *limited == flow) {
                    Some((_, before)) => *before = before.min(cap),
                    None if share < 1.0 => limits.push((flow, cap)),
                    None => {}
                }
            }
        }
        if !limits.is_empty() {
            flows.limit(&limits);
            self.limited.extend(limits.into_iter().map(|(flow, _)| flow));
        }
        self.rates = rates;
    }

    /// Gives all flows their own caps back.
    fn lift_limits(&mut self, flows: &Flows) {
        if self.limited.is_empty() {
            return;
        }
        let limited = |passage: &&Passage| self.limited.contains(&passage.flow);
        let own: Vec<_> =
            self.under_way.iter().filter(limited).map(|it| (it.flow, it.cap)).collect();
        flows.limit(&own);
        self.limited.clear();
    }

    /// The ways on the rings of a Cell, each with the place of its flow among all that are under way.
    fn legs(&self, cell: usize) -> impl Iterator<Item = (usize, Leg)> + '_ {
        let of = |passage: &Passage| passage.legs.into_iter().flatten();
        let all = self.under_way.iter().enumerate();
        all.flat_map(move |(index, passage)| of(passage).map(move |leg| (index, leg)))
            .filter(move |(_, leg)| leg.cell == cell)
    }

    /// Whether there is a segment over which more has to pass than one ring carries, or a direction
    /// in which more has to begin than its rings start. Of two equal ways round each has a half.
    fn is_oversubscribed(&self, cell: usize, rates: &[f64]) -> bool {
        let exceeds = |sum: f64, limit: f64| sum > limit * (1.0 + ROUNDING);
        let sum = self.legs(cell).map(|(index, _)| rates[index]).sum();
        if !exceeds(sum, self.port.min(self.starts) / self.longest) {
            return false;
        }
        let mut segments = [[0.0; u32::BITS as usize]; 2];
        let mut starts = [0.0; 2];
        for (index, leg) in self.legs(cell) {
            let ways = self.ways[leg.from * self.arbiter.places + leg.to];
            let rate = rates[index] / ways.iter().flatten().count() as f64;
            for way in ways.into_iter().flatten() {
                starts[way.direction] += rate;
                let load = rate * self.arbiter.lengthening(way.segments);
                let mut left = way.segments;
                while left != 0 {
                    let segment = &mut segments[way.direction][left.trailing_zeros() as usize];
                    *segment += load;
                    if exceeds(*segment, self.port) {
                        return true;
                    }
                    left &= left - 1;
                }
            }
        }
        starts.iter().any(|&sum| exceeds(sum, self.starts))
    }

    /// What share of its rate each flow is granted on a Cell, by its place among all that are under
    /// way.
    fn shares(&mut self, cell: usize, rates: &[f64]) -> Vec<(usize, f64)> {
        let offer = |(index, leg): (usize, Leg)| {
            // Rounded down: ports that are used up are not asked for more.
            let parts = f64::from(PARTS) * (rates[index] / self.port) * (1.0 + ROUNDING);
            let parts = parts.min(f64::from(PARTS)) as u8;
            (Offer { from: leg.from as u8, to: leg.to as u8, parts }, index)
        };
        let mut offers: Vec<(Offer, usize)> = self.legs(cell).map(offer).collect();
        offers.sort_unstable();
        let (offers, flows): (Vec<Offer>, Vec<usize>) = offers.into_iter().unzip();
        let granted = match self.granted.get(&offers) {
            Some(granted) => granted.clone(),
            None => {
                let granted = self.arbiter.grants(&offers);
                self.granted.entry(offers).or_insert(granted).clone()
            }
        };
        flows.into_iter().zip(granted).collect()
    }
}
