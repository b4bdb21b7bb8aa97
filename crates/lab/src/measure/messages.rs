//! What messages among SPEs cost, on each kind of link and by size: measured by programs on SPEs, which
//! know of the machine how many blades it has and where they stand, and no constant.
//!
//! ```
//! use mmgp_cluster::Link;
//! use mmgp_machine::Machine;
//! use mmgp_lab::measure::messages;
//! use mmgp_base::units::Bytes;
//!
//! let qs20 = Machine::named("qs20")?;
//! let network = messages::network(&qs20, &[Bytes(0), Bytes(1024), Bytes(16384)], 1)?;
//! let exchange = network.exchange(Link::WithinCell);
//! assert!(exchange.early.at(Bytes(1024)) < exchange.late.at(Bytes(1024)));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod queues;

use std::cell::RefCell;
use std::rc::Rc;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::{Maybe, MessageRun, MessageTime};
use mmgp_base::units::{Bytes, Seconds, SimSpan, SimTime};
use mmgp_cell::messages::{Messages, Rank};
use mmgp_cell::nodes::Nodes;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_cluster::{Curve, Exchange, Link, Network, Shape};
use mmgp_machine::Machine;
use mmgp_spu::LocalAddress;

use super::on_threads;

#[cfg(test)]
use mmgp_base::units::Cycles;

/// Sizes of messages that tell what there is to know of a link.
pub const SIZES: [Bytes; 13] = [
    Bytes(0),
    Bytes(16),
    Bytes(128),
    Bytes(256),
    Bytes(512),
    Bytes(1 << 10),
    Bytes(2 << 10),
    Bytes(4 << 10),
    Bytes(8 << 10),
    Bytes(16 << 10),
    Bytes(32 << 10),
    Bytes(64 << 10),
    Bytes(128 << 10),
];

/// How many of what a machine has. Without a network it is one blade.
pub fn shape(machine: &Machine) -> Shape {
    let network = machine.network.as_ref();
    Shape {
        spes_per_cell: machine.layout.spes_per_cell,
        cells_per_blade: machine.layout.cells,
        blades_per_node: network.map_or(1, |network| network.blades_per_node),
        nodes_per_unit: network.map_or(1, |network| network.nodes_per_unit),
        units: network.map_or(1, |network| network.units),
    }
}

/// The kinds of links that a machine has.
pub fn links(machine: &Machine) -> Vec<Link> {
    Link::ALL.into_iter().filter(|&link| ends(machine, link).is_some()).collect()
}

/// Two SPEs with that link between them; none where the machine has no such link.
///
/// Nodes of a unit are half of a unit apart, and nodes of two units as well, so that the way between
/// them is as long as that of most.
fn ends(machine: &Machine, link: Link) -> Option<[Place; 2]> {
    let shape = shape(machine);
    let node = |number: u32| number * shape.blades_per_node;
    let middle = shape.nodes_per_unit / 2;
    let (blade, spe) = match link {
        Link::WithinCell => (0, 1),
        Link::BetweenCells => (0, shape.spes_per_cell),
        Link::BetweenBlades => (1, 0),
        Link::BetweenNodes => (node(middle), 0),
        Link::BetweenUnits => (node(shape.nodes_per_unit + middle), 0),
    };
    let number = blade * shape.spes_per_blade() + spe;
    let exists = number < shape.spes() && shape.link(0, number) == link;
    exists.then_some([Place { blade: 0, spe: 0 }, Place { blade, spe }])
}

/// Measures messages of those sizes on each link of a machine, on so many threads of this computer.
///
/// # Errors
/// What the measurement runs into.
pub fn times(machine: &Machine, sizes: &[Bytes], threads: usize) -> Result<Vec<MessageTime>> {
    let cases: Vec<(Link, Bytes)> = links(machine)
        .into_iter()
        .flat_map(|link| sizes.iter().map(move |&bytes| (link, bytes)))
        .collect();
    on_threads(&cases, threads, &|&(link, bytes)| time(machine, link, bytes))
}

/// What messages cost, and how long they occupy what they share. Links that the machine lacks cost what
/// the farthest costs that it has.
///
/// A sender that is done before its receiver is taken to be done with it: [`Exchange`] knows no negative
/// release.
///
/// # Errors
/// What the measurement runs into, and [`Error::OutOfRange`] for sizes that do not increase.
pub fn network(machine: &Machine, sizes: &[Bytes], threads: usize) -> Result<Network> {
    let links = links(machine);
    let routes = on_threads(&links, threads, &|&link| queues::route(machine, link, sizes))?;
    let network = network_of(&times(machine, sizes, threads)?)?;
    Ok(links
        .into_iter()
        .zip(routes)
        .fold(network, |network, (link, route)| network.with_route(link, route)))
}

/// What messages cost where nobody else is in their way, from measured times by increasing sizes on each
/// link.
///
/// # Errors
/// [`Error::OutOfRange`] for sizes that do not increase, and where a link has no row.
pub fn network_of(times: &[MessageTime]) -> Result<Network> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for link in Link::ALL {
        let rows: Vec<&MessageTime> = times.iter().filter(|row| row.link == link.name()).collect();
        let curve = |cost: fn(&MessageTime) -> f64| {
            let points = rows.iter().map(|row| (Bytes(row.bytes), Seconds(cost(row))));
            Curve::through(&points.collect::<Vec<_>>())
        };
        let exchange = match exchanges.last() {
            Some(nearer) if rows.is_empty() => nearer.clone(),
            _ => Exchange {
                early: curve(|row| row.early_s)?,
                late: curve(|row| row.late_s)?,
                release: curve(|row| row.release_s.max(0.0))?,
            },
        };
        exchanges.push(exchange);
    }
    let all: [Exchange; 5] = exchanges.try_into().expect("invariant: one for each link");
    Ok(Network::new(all))
}

/// The three costs of each message, a row for each; messages between units cost the model what those between
/// nodes do.
pub fn runs(times: &[MessageTime]) -> Vec<MessageRun> {
    let rows = times.iter().filter(|row| row.link != Link::BetweenUnits.name());
    rows.flat_map(|row| {
        let costs =
            [("early", row.early_s), ("late", row.late_s), ("release", row.release_s.max(0.0))];
        costs.map(|(way, time_s)| MessageRun {
            link: row.link.clone(),
            way: way.into(),
            bytes: row.bytes as u32,
            repetition: 1,
            time_s,
        })
    })
    .collect()
}

/// Messages of which one side comes late, and how far apart they begin: much longer than any takes.
const MEETINGS: u32 = 4;
const PERIOD: f64 = 4e-3;

/// A late side comes so much later each time, so that it is not always at the same point of a loop that
/// spins.
const SHIFT: f64 = 37e-9;

/// Messages of the turns to and fro and of those that follow one another, and how many of them go before
/// those that are timed.
const TURNS: u32 = 12;
const WARM: u32 = 2;

fn time(machine: &Machine, link: Link, bytes: Bytes) -> Result<MessageTime> {
    let ends = ends(machine, link).ok_or_else(|| {
        Error::out_of_range("links", link.name(), format!("one that {} has", machine.name))
    })?;
    let [sender, receiver] = [Role::Sender, Role::Receiver].map(|role| role.steps(bytes));
    let took = run(machine, &[(ends[0], sender), (ends[1], receiver)])?;
    let calls = |rank: usize| Calls::new(&took[rank]);
    let (sent, received) = (calls(0), calls(1));
    let of_meetings = |cost: &dyn Fn(usize) -> f64, meetings: std::ops::Range<usize>| {
        let count = meetings.len() as f64;
        meetings.map(cost).sum::<f64>() / count
    };
    let meetings = MEETINGS as usize;
    let (early, late) = (0..meetings, meetings..2 * meetings);
    let timed = f64::from(TURNS - WARM);
    let round = (last(&sent.turns).end - sent.turns[2 * WARM as usize].begin).0 / timed;
    let steady = (last(&received.stream).end - received.stream[WARM as usize - 1].end).0 / timed;
    Ok(MessageTime {
        link: link.name().into(),
        bytes: bytes.0,
        early_s: of_meetings(&|i| (received.met[i].end - sent.met[i].begin).0, early),
        late_s: of_meetings(&|i| (received.met[i].end - received.met[i].begin).0, late),
        release_s: of_meetings(&|i| (sent.met[i].end - received.met[i].end).0, 0..2 * meetings),
        half_round_trip_s: round / 2.0,
        rate_bytes_per_s: Maybe((bytes.0 > 0).then(|| bytes.0 as f64 / steady)),
    })
}

fn last(calls: &[Took]) -> Took {
    *calls.last().expect("invariant: there are calls")
}

/// The part that a rank has in a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Sender,
    Receiver,
}

impl Role {
    /// Meetings for which the receiver is early, meetings for which it is late, turns to and fro, messages
    /// that follow one another.
    fn steps(self, bytes: Bytes) -> Vec<Step> {
        let other = if self == Self::Sender { 1 } else { 0 };
        let (send, receive) = (Step::Send(other, bytes), Step::Receive(other, bytes));
        let (one_way, back) = match self {
            Self::Sender => (send, receive),
            Self::Receiver => (receive, send),
        };
        let mut steps = Vec::new();
        for meeting in 0..2 * MEETINGS {
            let is_first = (meeting < MEETINGS) == (self == Self::Receiver);
            let behind = if is_first { 0.0 } else { PERIOD / 2.0 + f64::from(meeting) * SHIFT };
            steps.push(Step::Until(Seconds(f64::from(meeting) * PERIOD + behind)));
            steps.push(one_way);
        }
        let then = |phase: u32| Step::Until(Seconds(f64::from(2 * MEETINGS + phase) * PERIOD));
        steps.push(then(0));
        steps.extend((0..TURNS).flat_map(|_| [one_way, back]));
        steps.push(then(20));
        steps.extend((0..TURNS).map(|_| one_way));
        steps
    }
}

/// When the calls of a rank were, as [`Role::steps`] has them.
struct Calls {
    met: Vec<Took>,
    turns: Vec<Took>,
    stream: Vec<Took>,
}

impl Calls {
    fn new(took: &[Took]) -> Self {
        let (met, rest) = took.split_at(4 * MEETINGS as usize);
        let (turns, stream) = rest[1..].split_at(2 * TURNS as usize);
        let met = met.iter().skip(1).step_by(2).copied().collect();
        Self { met, turns: turns.to_vec(), stream: stream[1..].to_vec() }
    }
}

#[cfg(test)]
mod tests;

/// The place of a rank: the number of its blade in the whole machine, and its own on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub blade: u32,
    pub spe: u32,
}

/// What a rank does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Waits until an instant of the run.
    Until(Seconds),
    /// Sends to a rank.
    Send(u32, Bytes),
    /// Receives from a rank.
    Receive(u32, Bytes),
    /// Computes.
    #[cfg(test)]
    Compute(Cycles),
}

/// When a step began and ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    pub begin: Seconds,
    pub end: Seconds,
}

/// The places of things in each local store.
const STATE: LocalAddress = LocalAddress(0x4000);
const DATA: LocalAddress = LocalAddress(0x8000);

/// Runs the steps of each rank; when each of them began and ended. Blades without ranks are idle.
pub(super) fn run(machine: &Machine, ranks: &[(Place, Vec<Step>)]) -> Result<Vec<Vec<Took>>> {
    let mut blades: Vec<u32> = ranks.iter().map(|(place, _)| place.blade).collect();
    blades.sort_unstable();
    blades.dedup();
    let first = Rc::new(Blade::new(machine, KernelTiming::Cached, 0.0));
    let steps: Rc<[Vec<Step>]> = ranks.iter().map(|(_, steps)| steps.clone()).collect();
    let log = Rc::new(RefCell::new(vec![Vec::new(); ranks.len()]));
    let program = |rank: Rank| live(rank, Rc::clone(&steps), Rc::clone(&log));
    if blades.len() == 1 {
        let spes = ranks.iter().map(|(place, _)| place.spe);
        Messages::on_blade(&first, spes, STATE)?.start(program);
        first.run()?;
    } else {
        let nodes = Nodes::at(first, blades.clone())?;
        let seat = |place: &Place| (blades.partition_point(|&it| it < place.blade), place.spe);
        let seats = ranks.iter().map(|(place, _)| seat(place));
        Messages::on_nodes(&nodes, seats, STATE)?.start(program);
        nodes.run()?;
    }
    Ok(log.take())
}

async fn live(rank: Rank, steps: Rc<[Vec<Step>]>, log: Rc<RefCell<Vec<Vec<Took>>>>) -> Result<()> {
    let (own, sim) = (rank.rank() as usize, rank.spe().sim.clone());
    for step in &steps[own] {
        let begin = sim.now().seconds();
        match *step {
            Step::Until(time) => {
                sim.sleep_until(SimTime::ZERO + SimSpan::from_seconds(time)).await;
            }
            Step::Send(to, bytes) => rank.send(DATA, bytes, to, 0).await,
            Step::Receive(from, bytes) => {
                rank.receive(DATA, bytes, from, 0).await;
            }
            #[cfg(test)]
            Step::Compute(cycles) => rank.spe().spend(cycles).await,
        }
        log.borrow_mut()[own].push(Took { begin, end: sim.now().seconds() });
    }
    Ok(())
}
