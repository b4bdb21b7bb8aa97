//! What a transfer passes: ports, command bus, memory controller, link; and which places of the rings
//! are its ends.
//!
//! The window of an MFC: it has so many lines outstanding, and asks for another only when one of
//! them has arrived.
//!
//! There is a place for each line that may be outstanding, and lines take the places in turn. A
//! place is asked for its next line when its last one has arrived, and gets it a round trip later,
//! or when the way has brought the lines before it. So an MFC that was idle gets its first window at
//! the rate of the way, pauses until the round trip of the first line is over, gets the next window,
//! and so on: in the long run window / round trip. A program that waits for each transfer before it
//! asks for the next finds all places free as long as the latency and the transfer of a window
//! together take longer than a round trip.

use crate::eib::rings::Leg;
use crate::memory::{BusUnit, LINE};
use mmgp_base::units::{Seconds, SimSpan, SimTime};
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
#[derive(Clone)]
pub(super) struct Route {
    capacities: [Capacity; MOST],
    length: usize,
    /// Legs on the rings of each Cell that it passes.
    pub legs: [Option<Leg>; 2],
    /// Whether it is between the memory of a Cell and a unit of the same one.
    pub is_home: bool,
    /// Time from the moment an MFC takes up a command to the arrival of its first byte, without
    /// contention.
    pub latency: SimSpan,
    /// How fast lines can come.
    pub pace: Pace,
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

    /// The way from one unit to another, of which one is an SPE, with the latency and the round trip
    /// between them.
    pub fn route(
        &self,
        (from, to): (BusUnit, BusUnit),
        (latency, round_trip): (SimSpan, SimSpan),
    ) -> Route {
        let mut route = Route {
            capacities: [Capacity::default(); MOST],
            length: 0,
            legs: [None; 2],
            is_home: false,
            latency,
            pace: Pace { line: SimSpan::ZERO, round_trip },
        };
        // What the narrowest place carries.
        let mut rate = self.rates.port;
        let (source, first) = self.place(from);
        let (destination, last) = self.place(to);
        if let BusUnit::Memory { .. } = from {
            let bus = &self.cells[source];
            [Some(bus.controller), bus.reads].into_iter().flatten().for_each(|it| route.push(it));
            rate = rate.min(self.rates.read);
        }
        if let BusUnit::Memory { .. } = to {
            let bus = &self.cells[destination];
            [Some(bus.controller), bus.writes].into_iter().flatten().for_each(|it| route.push(it));
            rate = rate.min(self.rates.write);
        }
        if source == destination {
            let is_memory = |unit| matches!(unit, BusUnit::Memory { .. });
            route.is_home = is_memory(from) || is_memory(to);
            self.cells[source].pass(&mut route, Leg { cell: source, from: first, to: last });
        } else {
            let link = self.position(Participant::Link);
            self.cells[source].pass(&mut route, Leg { cell: source, from: first, to: link });
            route.push(self.cells[destination].link);
            // A single stream over the link has a limit of its own.
            rate = rate.min(self.rates.link).min(self.rates.link_stream);
            self.cells[destination]
                .pass(&mut route, Leg { cell: destination, from: link, to: last });
        }
        route.pace.line = SimSpan::from_seconds(Seconds(LINE as f64 / rate));
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
}

/// The places of an MFC's outstanding lines.
pub(super) struct Window {
    /// When the last line of each place arrived, if there was one.
    arrivals: Vec<Option<SimTime>>,
    /// The place whose turn it is: that of the oldest line.
    next: usize,
    /// When the last of all lines arrived.
    latest: SimTime,
}

/// How fast lines can come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Time from one line to the next at the rate of the way.
    pub line: SimSpan,
    /// Time from the arrival of a line to that of the next one of its place.
    pub round_trip: SimSpan,
}

impl Window {
    /// Window of so many places, at least one, none of them taken.
    pub fn new(places: u32) -> Self {
        Self { arrivals: vec![None; places as usize], next: 0, latest: SimTime::ZERO }
    }

    /// Takes places for lines of which the first can come from `start` on. When the last one
    /// arrives without contention.
    pub fn expect(&mut self, lines: u64, start: SimTime, pace: Pace) -> SimTime {
        let places = self.arrivals.len() as u64;
        let whole = pace.line * places;
        if pace.round_trip >= whole && self.latest + pace.round_trip <= start + pace.line {
            return self.expect_idle(lines, start, pace);
        }
        let mut last = start;
        for _ in 0..lines {
            let place = &mut self.arrivals[self.next];
            let by_way = last + pace.line;
            last = place.map_or(by_way, |before| by_way.max(before + pace.round_trip));
            *place = Some(last);
            self.next += 1;
            if self.next == self.arrivals.len() {
                self.next = 0;
            }
        }
        self.latest = self.latest.max(last);
        last
    }

    /// The same where all places are free and a round trip takes longer than a window: lines come by
    /// windows, one a round trip.
    fn expect_idle(&mut self, lines: u64, start: SimTime, pace: Pace) -> SimTime {
        let places = self.arrivals.len() as u64;
        let arrival = |number: u64| {
            start + pace.line * (number % places + 1) + pace.round_trip * (number / places)
        };
        for number in lines.saturating_sub(places)..lines {
            let place = (self.next as u64 + number) % places;
            self.arrivals[place as usize] = Some(arrival(number));
        }
        self.next = ((self.next as u64 + lines) % places) as usize;
        let last = lines.checked_sub(1).map_or(start, arrival);
        self.latest = self.latest.max(last);
        last
    }

    /// When the place whose turn it is can have its next line, by that round trip.
    pub fn next_free(&self, round_trip: SimSpan) -> SimTime {
        self.arrivals[self.next].map_or(SimTime::ZERO, |arrival| arrival + round_trip)
    }

    /// When all places are free, with no round trip longer than that.
    pub fn open(&self, round_trip: SimSpan) -> SimTime {
        let last = self.arrivals.iter().flatten().max();
        last.map_or(SimTime::ZERO, |&last| last + round_trip)
    }

    /// The lines that were expected last, from `start` to `expected`, have taken until `end`, since
    /// others were in the way: each was late in proportion.
    pub fn delay(&mut self, lines: u64, start: SimTime, expected: SimTime, end: SimTime) {
        if end <= expected {
            return;
        }
        self.latest = self.latest.max(end);
        let stretch = end.since(start).seconds().0 / expected.since(start).seconds().0;
        let (before, from) = self.arrivals.split_at_mut(self.next);
        let latest_first = before.iter_mut().rev().chain(from.iter_mut().rev());
        for arrival in latest_first.take(lines as usize).flatten() {
            let late = arrival.since(start).seconds().0 * stretch;
            *arrival = start + SimSpan::from_seconds(Seconds(late));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_ticks(ticks)
    }

    /// Lines follow one another after 10 ticks; a place gets its next one after 50.
    const PACE: Pace = Pace { line: SimSpan::from_ticks(10), round_trip: SimSpan::from_ticks(50) };

    #[track_caller]
    fn check(window: &mut Window, start: u64, lines: u64, last: u64) {
        assert_eq!(window.expect(lines, at(start), PACE), at(last));
    }

    #[test]
    fn an_idle_window_takes_lines_as_one_by_one() {
        for lines in 1..40 {
            let (mut whole, mut single) = (Window::new(3), Window::new(3));
            check(&mut whole, 7, 2, 27);
            check(&mut single, 7, 2, 27);
            let last = whole.expect(lines, at(500), PACE);
            let mut one = at(500);
            // Never idle: the place that is taken first has its line from the far past.
            single.latest = at(1_000_000);
            for _ in 0..lines {
                one = single.expect(1, one, PACE);
            }
            assert_eq!((last, whole.next), (one, single.next), "{lines}");
            assert_eq!(whole.arrivals, single.arrivals, "{lines}");
        }
    }

    #[test]
    fn each_line_waits_for_its_way_and_for_its_place() {
        // Two places. Lines arrive at 10 and 20; at 60 and 70, when the round trips of these are
        // over; at 110.
        for (lines, last) in [(1, 10), (2, 20), (3, 60), (4, 70), (5, 110)] {
            check(&mut Window::new(2), 0, lines, last);
        }
    }

    #[test]
    fn a_transfer_that_follows_at_once_waits_for_the_places_of_the_one_before() {
        let mut window = Window::new(2);
        // At 10, 20, 60; then 70, 110, 120, just as if it were one transfer.
        check(&mut window, 0, 3, 60);
        check(&mut window, 60, 3, 120);
        // The places are free at 110 + 50 and 120 + 50.
        check(&mut window, 155, 1, 165);
        check(&mut window, 165, 1, 175);
    }

    #[test]
    fn places_are_free_a_round_trip_after_their_lines_not_after_the_whole_transfer() {
        let mut window = Window::new(2);
        // At 10 and 20. The next begin at 50, 30 after the end: 60 and 70 are 50 later each.
        check(&mut window, 0, 2, 20);
        check(&mut window, 50, 2, 70);
    }

    #[test]
    fn what_is_late_keeps_its_place_for_longer() {
        let mut window = Window::new(2);
        // Expected at 10, 20, 60; it took until 120, so they came at 20, 40, 120.
        check(&mut window, 0, 3, 60);
        window.delay(3, at(0), at(60), at(120));
        // Its place is free from 40 + 50 on, but the way brings it from 120 on; then 120 + 50.
        check(&mut window, 120, 1, 130);
        check(&mut window, 130, 1, 170);
    }
}
