//! The calendar of arrivals at stations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// From the sender until it meets the receiver.
    Forward,
    /// From there to the receiver.
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
    /// On which part of its way.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_is_16_bytes() {
        assert_eq!(size_of::<Reverse<Arrival>>(), 16);
    }
}
