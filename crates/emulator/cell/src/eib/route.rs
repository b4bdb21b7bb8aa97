//! What a transfer passes: ports, command bus, memory controller, link; and which places of the rings
//! are its ends.

use super::rings::Leg;
use crate::memory::BusUnit;
use mmgp_machine::{Layout, Machine, Participant};
use mmgp_sim::{Capacity, Flows};

/// The capacities of all buses.
pub(super) struct Buses {
    cells: Vec<Bus>,
    order: Vec<Participant>,
    layout: Layout,
    rates: Rates,
}

/// The capacities of one Cell. A capacity is absent where another one that is always passed with it
/// is at least as narrow: whatever a flow passes costs time to look at.
struct Bus {
    /// Capacity of each place of the ring, into the bus.
    out: Vec<Option<Capacity>>,
    into: Vec<Option<Capacity>>,
    commands: Capacity,
    /// The memory controller: all that it does, what it reads, what it writes.
    controller: Capacity,
    reads: Option<Capacity>,
    writes: Option<Capacity>,
    /// The link, towards this Cell.
    link: Capacity,
}

/// What one flow alone gets \[bytes/s\].
struct Rates {
    port: f64,
    read: f64,
    write: f64,
    link: f64,
    link_stream: f64,
}

/// Most capacities that a transfer passes: on each of two Cells two ports and the command bus; two of
/// a memory controller at each end; and the link.
const MOST: usize = 2 * (2 + 1) + 2 * 2 + 1;

/// The way of a transfer.
pub(super) struct Route {
    capacities: [Capacity; MOST],
    length: usize,
    /// Legs on the rings of each Cell that it passes.
    pub legs: [Option<Leg>; 2],
    /// Whether it is between the memory of a Cell and a unit of the same one.
    pub is_home: bool,
    /// What the narrowest place of it carries \[bytes/s\].
    pub rate: f64,
    /// What a single stream gets where there is a limit of its own \[bytes/s\].
    pub stream: f64,
}

impl Buses {
    pub fn new(flows: &Flows, machine: &Machine) -> Self {
        let port = machine.eib.port(machine.clock).0;
        let (read, write) = (machine.memory.read.0, machine.memory.write.0);
        let order = machine.eib.order.clone();
        let (controller, link) = (read.max(write), machine.flexio.rate.0);
        let ports = || {
            let behind = |participant: &Participant| match participant {
                Participant::Memory => controller,
                Participant::Link => link,
                Participant::Ppe | Participant::Spe(_) | Participant::Io => f64::INFINITY,
            };
            order.iter().map(|unit| (behind(unit) > port).then(|| flows.add(port))).collect()
        };
        let bus = |_| Bus {
            out: ports(),
            into: ports(),
            commands: flows.add(machine.eib.commands(machine.clock).0),
            controller: flows.add(controller),
            reads: (read < controller).then(|| flows.add(read)),
            writes: (write < controller).then(|| flows.add(write)),
            link: flows.add(link),
        };
        let cells = (0..machine.layout.cells).map(bus).collect();
        let rates = Rates { port, read, write, link, link_stream: machine.flexio.stream.0 };
        Self { cells, order, layout: machine.layout, rates }
    }

    /// The way from one unit to another, of which one is an SPE.
    pub fn route(&self, from: BusUnit, to: BusUnit) -> Route {
        let mut route = Route {
            capacities: [Capacity::default(); MOST],
            length: 0,
            legs: [None; 2],
            is_home: false,
            rate: self.rates.port,
            stream: f64::INFINITY,
        };
        let (source, first) = self.place(from);
        let (destination, last) = self.place(to);
        if let BusUnit::Memory { .. } = from {
            let bus = &self.cells[source];
            route.limit([Some(bus.controller), bus.reads], self.rates.read);
        }
        if let BusUnit::Memory { .. } = to {
            let bus = &self.cells[destination];
            route.limit([Some(bus.controller), bus.writes], self.rates.write);
        }
        if source == destination {
            let is_memory = |unit| matches!(unit, BusUnit::Memory { .. });
            route.is_home = is_memory(from) || is_memory(to);
            self.cells[source].pass(&mut route, Leg { cell: source, from: first, to: last });
        } else {
            let link = self.position(Participant::Link);
            self.cells[source].pass(&mut route, Leg { cell: source, from: first, to: link });
            route.limit([Some(self.cells[destination].link)], self.rates.link);
            route.stream = self.rates.link_stream;
            self.cells[destination]
                .pass(&mut route, Leg { cell: destination, from: link, to: last });
        }
        route
    }

    /// The Cell of a unit and its place on the ring.
    fn place(&self, unit: BusUnit) -> (usize, usize) {
        let (cell, participant) = match unit {
            BusUnit::Memory { cell } => (cell, Participant::Memory),
            BusUnit::Spe { spe } => {
                let each = self.layout.spes_per_cell;
                (spe / each, Participant::Spe(spe % each))
            }
        };
        (cell as usize, self.position(participant))
    }

    fn position(&self, wanted: Participant) -> usize {
        let position = self.order.iter().position(|&participant| participant == wanted);
        position.expect("invariant: the reader has seen every unit of the ring")
    }
}

impl Bus {
    /// Adds what lies between two places of the ring, the rings apart.
    fn pass(&self, route: &mut Route, leg: Leg) {
        route.push(self.commands);
        self.out[leg.from].into_iter().for_each(|port| route.push(port));
        self.into[leg.to].into_iter().for_each(|port| route.push(port));
        let free = route.legs.iter_mut().find(|place| place.is_none());
        *free.expect("invariant: two Cells at most") = Some(leg);
    }
}

impl Route {
    /// The capacities in the order of their adding.
    pub fn path(&self) -> &[Capacity] {
        &self.capacities[..self.length]
    }

    fn push(&mut self, capacity: Capacity) {
        self.capacities[self.length] = capacity;
        self.length += 1;
    }

    /// Adds what there is of `capacities`, of which one flow alone gets `rate`.
    fn limit<const COUNT: usize>(&mut self, capacities: [Option<Capacity>; COUNT], rate: f64) {
        capacities.into_iter().flatten().for_each(|capacity| self.push(capacity));
        self.rate = self.rate.min(rate);
    }
}
