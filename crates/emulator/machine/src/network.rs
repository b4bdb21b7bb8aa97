//! What connects the blades of a machine of nodes, and the hosts of these.

use mmgp_base::units::{Bytes, BytesPerSecond, Hertz, Seconds};
use serde::Deserialize;

/// Nodes of several blades with a host each, and the network between them.
///
/// Each Cell of a node is tied to one core of its host; all cores share one adapter. Nodes make units,
/// each with a switch of two levels of crossbars; units are connected by switches of three levels.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Network {
    /// Blades of a node.
    pub blades_per_node: u32,
    /// Nodes of a unit.
    pub nodes_per_unit: u32,
    /// Units.
    pub units: u32,
    /// Nodes on one crossbar of their unit's switch.
    pub nodes_per_crossbar: u32,
    /// Units on the near side of the switches between units; the others are on the far side.
    pub near_units: u32,
    /// What each crossbar after the first takes.
    pub hop: Seconds,
    /// Clock of a core of the host.
    pub host_clock: Hertz,
    /// Floating-point operations in double precision that a core of the host does in a cycle at most.
    pub host_operations: u32,
    /// Latency of messages between a Cell and its core of the host.
    pub dacs_latency: Seconds,
    /// Overhead of messages between a Cell and its core of the host.
    pub dacs_overhead: Seconds,
    /// Rate of messages between a Cell and its core of the host.
    pub dacs_rate: BytesPerSecond,
    /// Latency of messages between cores of different nodes, over one crossbar.
    pub mpi_latency: Seconds,
    /// Overhead of messages between cores of different nodes, over one crossbar.
    pub mpi_overhead: Seconds,
    /// Rate of messages between cores of different nodes, over one crossbar.
    pub mpi_rate: BytesPerSecond,
    /// Latency of messages between cores of a node, through their memory.
    pub shared_latency: Seconds,
    /// Overhead of messages between cores of a node, through their memory.
    pub shared_overhead: Seconds,
    /// Rate of messages between cores of a node, through their memory.
    pub shared_rate: BytesPerSecond,
    /// What a core of the host executes to pass a message on, beside its libraries.
    pub forward: Seconds,
    /// The longest message that a PPE stores into a local store by itself.
    pub stored: Bytes,
    /// Messages that a PPE keeps whose receiver does not wait for them yet.
    pub room: u32,
}

/// How messages get from one processor to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transport {
    /// Time from the sender's call to the end of the receiver's, of no bytes.
    pub latency: Seconds,
    /// The part of it for which what carries the message has no time for others.
    pub overhead: Seconds,
    /// Bytes that follow in a second.
    pub rate: BytesPerSecond,
}

impl Transport {
    /// Time for which a message of so many bytes keeps others from being carried.
    pub fn occupied(&self, bytes: Bytes) -> Seconds {
        self.overhead + Seconds(bytes.0 as f64 / self.rate.0)
    }
}

impl Network {
    /// All nodes.
    pub fn nodes(&self) -> u32 {
        self.units * self.nodes_per_unit
    }

    /// The time of so many floating-point operations on a core of the host, at its peak rate.
    pub fn host_time(&self, operations: u32) -> Seconds {
        let cycles = f64::from(operations) / f64::from(self.host_operations);
        Seconds(cycles / self.host_clock.0)
    }

    /// How messages get between a Cell and its core of the host.
    pub fn dacs(&self) -> Transport {
        let Self { dacs_latency: latency, dacs_overhead: overhead, dacs_rate: rate, .. } = *self;
        Transport { latency, overhead, rate }
    }

    /// How messages get between cores of different nodes, over one crossbar.
    pub fn mpi(&self) -> Transport {
        let Self { mpi_latency: latency, mpi_overhead: overhead, mpi_rate: rate, .. } = *self;
        Transport { latency, overhead, rate }
    }

    /// How messages get between cores of a node, through their memory.
    pub fn shared(&self) -> Transport {
        let Self { shared_latency: latency, shared_overhead: overhead, shared_rate: rate, .. } =
            *self;
        Transport { latency, overhead, rate }
    }

    /// Crossbars on the way between two nodes.
    ///
    /// One where they are on the same; three within a unit, over its second level. A unit's crossbar has
    /// links to switches between units which lead to the crossbar with the same number of another unit,
    /// over one crossbar or, from the near side to the far one, three; where the numbers differ, the
    /// way goes over the second level of one unit in addition.
    pub fn crossbars(&self, from: u32, to: u32) -> u32 {
        let place = |node: u32| {
            let (unit, within) = (node / self.nodes_per_unit, node % self.nodes_per_unit);
            (unit, within / self.nodes_per_crossbar)
        };
        let ((from_unit, from_crossbar), (to_unit, to_crossbar)) = (place(from), place(to));
        let turn = if from_crossbar == to_crossbar { 0 } else { 2 };
        if from_unit == to_unit {
            return 1 + turn;
        }
        let is_near = |unit: u32| unit < self.near_units;
        let between = if is_near(from_unit) == is_near(to_unit) { 1 } else { 3 };
        2 + between + turn
    }
}

#[cfg(test)]
mod tests {
    use crate::Machine;

    #[test]
    fn the_way_between_nodes_is_as_long_as_the_switches_are_deep() {
        let network = Machine::named("roadrunner").unwrap().network.unwrap();
        // Eight nodes a crossbar, 180 a unit; units 0 to 11 on the near side.
        for (from, to, crossbars) in [
            (0, 7, 1),
            (0, 8, 3),
            (179, 0, 3),
            (0, 180 + 7, 3),
            (0, 180 + 8, 5),
            (0, 12 * 180, 5),
            (12 * 180 + 9, 3, 7),
            (12 * 180, 16 * 180, 3),
        ] {
            assert_eq!(network.crossbars(from, to), crossbars, "{from} to {to}");
        }
    }
}
