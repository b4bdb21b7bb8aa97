//! How long messages keep those from being served that come after them.

use super::{PERIOD, ends, shape};
use super::{Place, Step, run};
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cluster::{Curve, Link, Route, Stage, Station};
use mmgp_machine::Machine;

/// Two SPEs between which a message goes.
pub(super) type Pair = [Place; 2];

/// What two messages share that are sent at once.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shared {
    /// The Cell that sends; they go to two.
    Sender,
    /// No Cell, but the nodes.
    Nodes,
    /// The Cell that receives; they come from two.
    Receiver,
}

/// Who sends to whom; none where the machine has no such link, or one Cell a blade.
pub(super) fn pairs(machine: &Machine, link: Link, shared: Shared) -> Option<[Pair; 2]> {
    let [from, to] = ends(machine, link)?;
    let shape = shape(machine);
    if link < Link::BetweenBlades || shape.cells_per_blade < 2 {
        return None;
    }
    let beside = |place: Place| Place { spe: place.spe + 1, ..place };
    let other_cell = |place: Place| Place { spe: place.spe + shape.spes_per_cell, ..place };
    Some(match shared {
        Shared::Sender => [[from, to], [beside(from), other_cell(to)]],
        Shared::Nodes => [[from, to], [other_cell(from), other_cell(to)]],
        Shared::Receiver => [[from, to], [other_cell(from), beside(to)]],
    })
}

/// When messages arrive whose senders begin at once while their receivers wait, in order, counted from
/// then.
pub(super) fn arrivals(machine: &Machine, pairs: &[Pair], bytes: Bytes) -> Result<Vec<f64>> {
    let start = Seconds(PERIOD / 2.0);
    let of_pair = |(&[from, to], number): (&Pair, u32)| {
        let send = vec![Step::Until(start), Step::Send(2 * number + 1, bytes)];
        [(from, send), (to, vec![Step::Receive(2 * number, bytes)])]
    };
    let ranks: Vec<(Place, Vec<Step>)> = pairs.iter().zip(0..).flat_map(of_pair).collect();
    let took = run(machine, &ranks)?;
    let arrival = |steps: &Vec<super::Took>| (steps[0].end - start).0;
    let mut arrivals: Vec<f64> = took.iter().skip(1).step_by(2).map(arrival).collect();
    arrivals.sort_by(f64::total_cmp);
    Ok(arrivals)
}

/// The time by which the second of two such messages comes later: for so long, the narrowest of what they share
/// is occupied.
pub(super) fn spacing(machine: &Machine, pairs: &[Pair; 2], bytes: Bytes) -> Result<Seconds> {
    let arrivals = arrivals(machine, pairs, bytes)?;
    Ok(Seconds(arrivals[1] - arrivals[0]))
}

/// The stations of a link's messages, as far as two messages at once show them; none where there is none.
///
/// From outside one sees the narrowest stage of what a Cell sends by, and of what it receives by, not
/// which it is. The first is written down as the occupancy of its PPE, the second as that of its host
/// core, so that a Cell's messages in both directions do not wait for each other. Adapters
/// of both nodes are occupied together; the sender's stands for both. Left out: the words of completion
/// that go back, messages of no bytes.
///
/// # Errors
/// What the measurement runs into, and sizes that do not increase.
pub(super) fn route(machine: &Machine, link: Link, sizes: &[Bytes]) -> Result<Route> {
    let occupancy = |shared| -> Result<Option<Curve>> {
        let Some(pairs) = pairs(machine, link, shared) else { return Ok(None) };
        let point = |&bytes: &Bytes| Ok((bytes, spacing(machine, &pairs, bytes)?));
        let points = sizes.iter().map(point).collect::<Result<Vec<_>>>()?;
        Curve::through(&points).map(Some)
    };
    let (Some(out), Some(into)) = (occupancy(Shared::Sender)?, occupancy(Shared::Receiver)?) else {
        return Ok(Route::default());
    };
    let stage = |station, occupancy: &Curve| Stage { station, occupancy: occupancy.clone() };
    let mut forward = vec![stage(Station::SenderPpe, &out)];
    if link > Link::BetweenBlades
        && let Some(adapter) = occupancy(Shared::Nodes)?
    {
        forward.push(stage(Station::SenderAdapter, &adapter));
    }
    forward.push(stage(Station::ReceiverHost, &into));
    Ok(Route { forward, ..Route::default() })
}
