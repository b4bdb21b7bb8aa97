//! What a transfer passes: ports, segments of a ring, command bus, memory controller, link.

use crate::unit::Unit;
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
    /// Of each place of the ring: into the bus and out of it.
    out: Vec<Option<Capacity>>,
    into: Vec<Option<Capacity>>,
    /// From each place to the next one, and from the next one to it.
    clockwise: Vec<Capacity>,
    counterclockwise: Vec<Capacity>,
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

/// Most capacities that a transfer passes: on each of two Cells two ports, the command bus and half
/// a ring, which has 24 places at most; two of a memory controller at each end; and the link.
const MOST: usize = 2 * (2 + 1 + 12) + 2 * 2 + 1;

/// The way of a transfer.
pub(super) struct Route {
    capacities: [Capacity; MOST],
    length: usize,
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
        // Half of the rings go each way round.
        let direction = port * f64::from(machine.eib.rings) / 2.0;
        let segments = || order.iter().map(|_| flows.add(direction)).collect();
        let bus = |_| Bus {
            out: ports(),
            into: ports(),
            clockwise: segments(),
            counterclockwise: segments(),
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

    /// The way from one unit to another, at the present load; one of them is an SPE.
    pub fn route(&self, flows: &Flows, from: Unit, to: Unit) -> Route {
        let mut route = Route {
            capacities: [Capacity::default(); MOST],
            length: 0,
            rate: self.rates.port,
            stream: f64::INFINITY,
        };
        let (source, first) = self.place(from);
        let (destination, last) = self.place(to);
        if let Unit::Memory { .. } = from {
            let bus = &self.cells[source];
            route.limit([Some(bus.controller), bus.reads], self.rates.read);
        }
        if let Unit::Memory { .. } = to {
            let bus = &self.cells[destination];
            route.limit([Some(bus.controller), bus.writes], self.rates.write);
        }
        if source == destination {
            self.cells[source].pass(&mut route, flows, first, last);
        } else {
            let link = self.position(Participant::Link);
            self.cells[source].pass(&mut route, flows, first, link);
            route.limit([Some(self.cells[destination].link)], self.rates.link);
            route.stream = self.rates.link_stream;
            self.cells[destination].pass(&mut route, flows, link, last);
        }
        route
    }

    /// The Cell of a unit and its place on the ring.
    fn place(&self, unit: Unit) -> (usize, usize) {
        let (cell, participant) = match unit {
            Unit::Memory { cell } => (cell, Participant::Memory),
            Unit::Spe { spe } => {
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
    /// Adds what lies between two places of the ring: the shorter way round, of two equal ones the
    /// one that is less loaded.
    fn pass(&self, route: &mut Route, flows: &Flows, from: usize, to: usize) {
        route.push(self.commands);
        self.out[from].into_iter().for_each(|port| route.push(port));
        let places = self.out.len();
        let clockwise = (to + places - from) % places;
        let (there, back) = (clockwise, places - clockwise);
        let ahead = |step: usize| self.clockwise[(from + step) % places];
        let behind = |step: usize| self.counterclockwise[(from + places - 1 - step) % places];
        let load = |segment: Capacity| flows.load(segment);
        let is_ahead = there < back
            || there == back && {
                let highest = |loads: f64, load: f64| loads.max(load);
                let one = (0..there).map(ahead).map(load).fold(0.0, highest);
                one <= (0..there).map(behind).map(load).fold(0.0, highest)
            };
        if is_ahead {
            (0..there).map(ahead).for_each(|segment| route.push(segment));
        } else if there > 0 {
            (0..back).map(behind).for_each(|segment| route.push(segment));
        }
        self.into[to].into_iter().for_each(|port| route.push(port));
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
