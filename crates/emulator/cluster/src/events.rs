//! Iterations in which messages are in each other's way.

mod ranks;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Cluster;
use crate::link::Station;
use crate::placement::Shape;
use crate::wavefront::seconds;
use crate::{Between, Outcome, Visit};
use mmgp_base::units::Seconds;

/// What comes out of a run by events.
#[derive(Debug, Clone, PartialEq)]
pub struct Events {
    /// When iterations end, and what ranks did meanwhile.
    pub outcome: Outcome,
    /// What messages met at their stations, by kind; those that were visited.
    pub queues: Vec<Queue>,
}

/// What messages met at the stations of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// Kind of the stations.
    pub station: Station,
    /// Visits of messages.
    pub visits: u64,
    /// What all of them waited, together.
    pub waited: Seconds,
    /// What the longest of these visits waited.
    pub longest_wait: Seconds,
    /// How long all of them occupied their stations, together.
    pub occupied: Seconds,
}

impl Cluster {
    /// Times so many iterations, of which there is at least one, message by message, where the stations on
    /// their [routes](super::Route) serve them one after the other.
    ///
    /// Ranks are programs: receive, receive, compute, send, send. A message leaves when its sender is ready, passes
    /// the stations of `forward`, meets its receiver, passes those of `delivery`, and word of it goes
    /// back past those of `acknowledgement`. What an exchange takes beyond its stations is spent after
    /// the last of `forward`, before `delivery`, and after the last of `acknowledgement`, so that with
    /// free stations it takes what the [exchange](super::Exchange) says.
    ///
    /// Only arrivals at stations are events on a calendar. What a rank does between them depends on nobody
    /// but its neighbours and is done at once, however far it lies ahead; it can only bring about
    /// arrivals that come later. So the calendar holds one entry for each message that is under way
    /// past stations. This is no process of `mmgp_sim` for each rank, which takes some 30 times as long (0.75 us a rank and step):
    /// the crate's tests have one to compare with.
    pub fn events(&self, iterations: u32, between: Between) -> Events {
        ranks::Run::new(self, iterations.max(1), between).run()
    }
}

/// A message between a rank and its neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Twice the rank at the lower end, and 1 more along y.
    pub edge: u32,
    /// Whether it goes towards the higher end.
    pub up: bool,
}

/// A part of a message's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leg {
    /// Way from the sender until it meets the receiver.
    Forward,
    /// Way to the receiver, when it is there.
    Delivery,
    /// Back to the sender.
    Acknowledgement,
}

/// A message's arrival at a station; in the order of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// When \[ticks\].
    pub at: u64,
    /// Which message: its edge.
    pub edge: u32,
    /// Whether it goes towards the higher end.
    pub up: bool,
    /// Part of its way.
    pub leg: Leg,
    /// Which station of that part.
    pub visit: u8,
}

impl Arrival {
    /// The message.
    pub fn message(self) -> Message {
        Message { edge: self.edge, up: self.up }
    }
}

/// Arrivals that are to come.
#[derive(Default)]
pub struct Calendar {
    arrivals: BinaryHeap<Reverse<Arrival>>,
}

impl Calendar {
    /// Notes an arrival, which is no earlier than the last that was taken.
    pub fn add(&mut self, arrival: Arrival) {
        self.arrivals.push(Reverse(arrival));
    }

    /// Takes the first one.
    pub fn next(&mut self) -> Option<Arrival> {
        self.arrivals.pop().map(|Reverse(arrival)| arrival)
    }
}

/// All stations of a machine.
pub struct Stations {
    shape: Shape,
    cells: usize,
    /// When each is free: PPEs, host cores, adapters outwards, adapters inwards \[ticks\].
    free: Vec<f64>,
    tallies: [Tally; 6],
}

/// What has happened at stations of a kind \[ticks\].
#[derive(Clone, Copy, Default)]
struct Tally {
    visits: u64,
    waited: f64,
    longest_wait: f64,
    occupied: f64,
}

impl Stations {
    /// Stations of a machine of which so many SPEs have ranks, the first ones.
    pub fn new(shape: Shape, spes: u32) -> Self {
        let cells = spes.div_ceil(shape.spes_per_cell) as usize;
        let nodes = spes.div_ceil(shape.spes_per_node()) as usize;
        Self { shape, cells, free: vec![0.0; 2 * (cells + nodes)], tallies: Default::default() }
    }

    /// Serves a message that arrives at `at`, after all that have arrived before; when it leaves.
    pub fn serve(&mut self, visit: Visit, at: f64, [sender, receiver]: [u32; 2]) -> f64 {
        let Visit { station, occupancy } = visit;
        let place = self.place(station, sender, receiver);
        let start = self.free[place].max(at);
        self.free[place] = start + occupancy;
        let tally = &mut self.tallies[station as usize];
        tally.visits += 1;
        tally.waited += start - at;
        tally.longest_wait = tally.longest_wait.max(start - at);
        tally.occupied += occupancy;
        start + occupancy
    }

    fn place(&self, station: Station, sender: u32, receiver: u32) -> usize {
        let cell = |spe: u32| (spe / self.shape.spes_per_cell) as usize;
        let node = |spe: u32| (spe / self.shape.spes_per_node()) as usize;
        let nodes = self.free.len() / 2 - self.cells;
        match station {
            Station::SenderPpe => cell(sender),
            Station::ReceiverPpe => cell(receiver),
            Station::SenderHost => self.cells + cell(sender),
            Station::ReceiverHost => self.cells + cell(receiver),
            Station::SenderAdapter => 2 * self.cells + node(sender),
            Station::ReceiverAdapter => 2 * self.cells + nodes + node(receiver),
        }
    }

    /// What messages met at stations that were visited.
    pub fn queues(&self) -> Vec<Queue> {
        let tallies = Station::ALL.into_iter().zip(self.tallies);
        let queue = |(station, tally): (Station, Tally)| Queue {
            station,
            visits: tally.visits,
            waited: seconds(tally.waited),
            longest_wait: seconds(tally.longest_wait),
            occupied: seconds(tally.occupied),
        };
        tallies.filter(|(_, tally)| tally.visits > 0).map(queue).collect()
    }
}
