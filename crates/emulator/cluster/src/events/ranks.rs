//! Ranks as programs, and their messages.

use crate::Cluster;
use crate::wavefront::{CORNERS, ticks};
use crate::{Between, Books, Visit, occupied};

use super::Events;
use crate::events::{Arrival, Calendar, Leg, Message, Stations};

/// What a rank does next in its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    ReceiveX,
    ReceiveY,
    Compute,
    SendX,
    SendY,
    End,
}

/// A rank at its next operation.
#[derive(Debug, Clone, Copy)]
struct Rank {
    /// When it began to wait for its last message, or goes on \[ticks\].
    clock: f64,
    iteration: u32,
    /// Step of the iteration.
    step: u32,
    operation: Operation,
}

/// Who waits between two neighbours \[ticks\].
#[derive(Debug, Clone, Copy)]
enum Meeting {
    Nobody,
    /// A message, since it has come so far.
    Message(f64),
    /// A receiver, which could have it delivered from then on.
    Receiver(f64),
}

/// What the exchange of a message takes \[ticks\].
#[derive(Clone, Copy)]
struct Passage<'a> {
    /// The message up to the meeting, with its stations.
    forward: f64,
    /// The receiver from its posting to the meeting.
    posting: f64,
    /// The word back, with its stations.
    release: f64,
    visits: [&'a [Visit]; 3],
}

/// A run that is under way.
pub struct Run<'a> {
    cluster: &'a Cluster,
    iterations: u32,
    between: Between,
    steps: u32,
    passages: Vec<Passage<'a>>,
    ranks: Vec<Rank>,
    /// Meetings by edge: along x and along y of each rank.
    meetings: Vec<Meeting>,
    /// Ranks that can go on.
    able: Vec<u32>,
    /// Ranks that are done, by iteration.
    done: Vec<u32>,
    calendar: Calendar,
    stations: Stations,
    books: Books,
}

impl<'a> Run<'a> {
    pub fn new(cluster: &'a Cluster, iterations: u32, between: Between) -> Self {
        let ranks = cluster.spes.len();
        let passages = cluster.costs.iter().map(|cost| {
            let meeting = cost.delivery_time();
            Passage {
                forward: cost.early - meeting,
                posting: cost.late - meeting,
                release: cost.release,
                visits: [&cost.forward, &cost.delivery, &cost.acknowledgement],
            }
        });
        let start = Rank { clock: 0.0, iteration: 0, step: 0, operation: Operation::ReceiveX };
        let spes = cluster.spes.iter().max().map_or(0, |&last| last + 1);
        let mut books = Books::new(ranks);
        books.ends = vec![0.0; iterations as usize];
        Self {
            cluster,
            iterations,
            between,
            steps: cluster.wavefront.steps.in_iteration(),
            passages: passages.collect(),
            ranks: vec![start; ranks],
            meetings: vec![Meeting::Nobody; 2 * ranks],
            able: (0..ranks as u32).collect(),
            done: vec![0; iterations as usize],
            calendar: Calendar::default(),
            stations: Stations::new(cluster.shape, spes),
            books,
        }
    }

    pub fn run(mut self) -> Events {
        loop {
            while let Some(rank) = self.able.pop() {
                self.go_on(rank);
            }
            let Some(arrival) = self.calendar.next() else { break };
            self.arrive(arrival);
        }
        let last = self.done.last();
        assert_eq!(
            last.copied(),
            Some(self.ranks.len() as u32),
            "invariant: no rank waits for ever"
        );
        let iterations = f64::from(self.iterations);
        let compute: Vec<f64> =
            self.cluster.compute().into_iter().map(|time| time * iterations).collect();
        let clocks: Vec<f64> = self.ranks.iter().map(|rank| rank.clock).collect();
        Events { outcome: self.books.close(&clocks, &compute), queues: self.stations.queues() }
    }

    /// Lets a rank go on until it waits or is done.
    fn go_on(&mut self, rank: u32) {
        loop {
            let Rank { clock, step, operation, .. } = self.ranks[rank as usize];
            let towards = CORNERS[(step / (self.steps / 4)) as usize];
            let own = &mut self.ranks[rank as usize];
            match operation {
                Operation::ReceiveX => {
                    own.operation = Operation::ReceiveY;
                    if let Some(message) = self.message(rank, Side::Upstream, Axis::X, towards) {
                        return self.receive(message, clock);
                    }
                }
                Operation::ReceiveY => {
                    own.operation = Operation::Compute;
                    if let Some(message) = self.message(rank, Side::Upstream, Axis::Y, towards) {
                        return self.receive(message, clock);
                    }
                }
                Operation::Compute => {
                    own.operation = Operation::SendX;
                    let block = self.cluster.wavefront.blocks.at(rank as usize, step as usize);
                    own.clock = clock + block;
                }
                Operation::SendX => {
                    own.operation = Operation::SendY;
                    if let Some(message) = self.message(rank, Side::Downstream, Axis::X, towards) {
                        return self.send(message, clock);
                    }
                }
                Operation::SendY => {
                    own.operation = Operation::End;
                    if let Some(message) = self.message(rank, Side::Downstream, Axis::Y, towards) {
                        return self.send(message, clock);
                    }
                }
                Operation::End => {
                    own.operation = Operation::ReceiveX;
                    own.step = step + 1;
                    if own.step == self.steps && !self.end_iteration(rank) {
                        return;
                    }
                }
            }
        }
    }

    /// Ends an iteration of a rank; whether it goes on at once.
    fn end_iteration(&mut self, rank: u32) -> bool {
        let Rank { clock, iteration, .. } = self.ranks[rank as usize];
        let place = iteration as usize;
        self.done[place] += 1;
        self.books.ends[place] = self.books.ends[place].max(clock);
        let is_last = iteration + 1 == self.iterations;
        let own = &mut self.ranks[rank as usize];
        // The step of a rank that is done for good is looked at no more.
        (own.step, own.iteration) = (0, iteration + 1);
        match self.between {
            Between::Nothing => !is_last,
            Between::Reductions(time) => {
                if self.done[place] as usize == self.ranks.len() {
                    self.reduce(place, ticks(time), is_last);
                }
                false
            }
        }
    }

    /// All ranks are done with an iteration, and wait until its sums are there.
    fn reduce(&mut self, iteration: usize, time: f64, is_last: bool) {
        let end = self.books.ends[iteration] + time;
        self.books.ends[iteration] = end;
        for (rank, idle) in self.ranks.iter_mut().zip(&mut self.books.idle) {
            *idle += end - rank.clock;
            rank.clock = end;
        }
        if !is_last {
            self.able.extend(0..self.ranks.len() as u32);
        }
    }

    /// The message of a rank with its neighbour on that side, if there is one, where the sweep goes
    /// `towards`.
    fn message(&self, rank: u32, side: Side, axis: Axis, towards: [bool; 2]) -> Option<Message> {
        let grid = self.cluster.wavefront.grid;
        let up = towards[axis as usize];
        let (place, places, distance) = match axis {
            Axis::X => (rank % grid.px(), grid.px(), 1),
            Axis::Y => (rank / grid.px(), grid.py(), grid.px()),
        };
        let neighbour_is_higher = up == (side == Side::Downstream);
        let lower = if neighbour_is_higher {
            (place + 1 < places).then_some(rank)
        } else {
            (place > 0).then(|| rank - distance)
        };
        lower.map(|lower| Message { edge: 2 * lower + axis as u32, up })
    }

    /// The sender and the receiver of a message.
    fn ends(&self, message: Message) -> [u32; 2] {
        let lower = message.edge / 2;
        let along_x = message.edge.is_multiple_of(2);
        let higher = lower + if along_x { 1 } else { self.cluster.wavefront.grid.px() };
        if message.up { [lower, higher] } else { [higher, lower] }
    }

    fn passage(&self, message: Message) -> &Passage<'a> {
        let lower = (message.edge / 2) as usize;
        let along_x = message.edge.is_multiple_of(2);
        let costs = if along_x { &self.cluster.along_x } else { &self.cluster.along_y };
        &self.passages[costs[lower] as usize]
    }

    /// A rank is ready to send.
    fn send(&mut self, message: Message, at: f64) {
        let forward = self.passage(message).forward;
        if !self.sets_out(message, Leg::Forward, at) {
            self.arrived(message, at + forward);
        }
    }

    /// A rank posts a receive.
    fn receive(&mut self, message: Message, at: f64) {
        let from = at + self.passage(message).posting;
        match self.meetings[message.edge as usize] {
            Meeting::Message(since) => self.meet(message, since.max(from)),
            _ => self.meetings[message.edge as usize] = Meeting::Receiver(from),
        }
    }

    /// A message has come as far as it does without its receiver.
    fn arrived(&mut self, message: Message, at: f64) {
        match self.meetings[message.edge as usize] {
            Meeting::Receiver(from) => self.meet(message, at.max(from)),
            _ => self.meetings[message.edge as usize] = Meeting::Message(at),
        }
    }

    /// Message and receiver are both there.
    fn meet(&mut self, message: Message, at: f64) {
        self.meetings[message.edge as usize] = Meeting::Nobody;
        if !self.sets_out(message, Leg::Delivery, at) {
            self.delivered(message, at);
        }
    }

    /// The receiver has it all.
    fn delivered(&mut self, message: Message, at: f64) {
        let [_, receiver] = self.ends(message);
        let rank = &mut self.ranks[receiver as usize];
        self.books.received[receiver as usize] += at - rank.clock;
        rank.clock = at;
        self.able.push(receiver);
        let release = self.passage(message).release;
        if !self.sets_out(message, Leg::Acknowledgement, at) {
            self.released(message, at + release);
        }
    }

    /// The sender goes on.
    fn released(&mut self, message: Message, at: f64) {
        let [sender, _] = self.ends(message);
        self.ranks[sender as usize].clock = at;
        self.able.push(sender);
    }

    /// Puts a message on its way to the first station of a leg; false where there is none.
    fn sets_out(&mut self, message: Message, leg: Leg, at: f64) -> bool {
        let has_stations = !self.passage(message).visits[leg as usize].is_empty();
        if has_stations {
            let Message { edge, up } = message;
            self.calendar.add(Arrival { at: at as u64, edge, up, leg, visit: 0 });
        }
        has_stations
    }

    /// A message arrives at a station.
    fn arrive(&mut self, arrival: Arrival) {
        let Arrival { at, leg, visit, .. } = arrival;
        let message = arrival.message();
        let Passage { forward, release, visits, .. } = *self.passage(message);
        let visits = visits[leg as usize];
        let spes = self.ends(message).map(|rank| self.cluster.spes[rank as usize]);
        let end = self.stations.serve(visits[visit as usize], at as f64, spes);
        if (visit as usize) + 1 < visits.len() {
            let next = Arrival { at: end as u64, visit: visit + 1, ..arrival };
            return self.calendar.add(next);
        }
        match leg {
            Leg::Forward => self.arrived(message, end + (forward - occupied(visits))),
            Leg::Delivery => self.delivered(message, end),
            Leg::Acknowledgement => self.released(message, end + (release - occupied(visits))),
        }
    }
}

/// Side at which a neighbour is, seen along the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Upstream,
    Downstream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    X,
    Y,
}
