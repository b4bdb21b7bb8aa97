//! A wavefront on a machine: every cost that its ranks meet.

use std::collections::BTreeMap;

use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;

use super::link::{Link, Network, Stage, Station};
use super::outcome::Outcome;
use super::placement::{Placement, Shape};
use super::wavefront::{Wavefront, seconds, ticks};

/// A wavefront whose ranks are placed on a machine, with what their messages cost.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub(crate) wavefront: Wavefront,
    pub(crate) shape: Shape,
    /// SPE of each rank.
    pub(crate) spes: Vec<u32>,
    /// Parts of the machine with ranks ([`Placement::in_use`]).
    pub(crate) in_use: [u32; 5],
    pub(crate) network: Network,
    /// The costs that occur; few.
    pub(crate) costs: Vec<Cost>,
    /// Of messages between a rank and its neighbour at x + 1, by place in `costs`.
    pub(crate) along_x: Vec<u16>,
    /// Of messages between a rank and its neighbour at y + 1, by place in `costs`.
    pub(crate) along_y: Vec<u16>,
}

/// What a message of a certain size costs on a kind of link \[ticks\].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cost {
    pub early: f64,
    pub late: f64,
    pub release: f64,
    /// Stations before the message meets its receiver, with their occupancies.
    pub forward: Vec<Visit>,
    /// Stations after that.
    pub delivery: Vec<Visit>,
    /// Stations of the word that goes back.
    pub acknowledgement: Vec<Visit>,
}

/// A station, and how long it is occupied \[ticks\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Visit {
    pub station: Station,
    pub occupancy: f64,
}

impl Cost {
    fn of(network: &Network, link: Link, bytes: Bytes) -> Result<Self> {
        let (exchange, route) = (network.exchange(link), network.route(link));
        let visits = |stages: &[Stage]| -> Vec<Visit> {
            let visit = |stage: &Stage| Visit {
                station: stage.station,
                occupancy: ticks(stage.occupancy.at(bytes)),
            };
            stages.iter().map(visit).collect()
        };
        let cost = Self {
            early: ticks(exchange.early.at(bytes)),
            late: ticks(exchange.late.at(bytes)),
            release: ticks(exchange.release.at(bytes)),
            forward: visits(&route.forward),
            delivery: visits(&route.delivery),
            acknowledgement: visits(&route.acknowledgement),
        };
        let delivery = occupied(&cost.delivery);
        let longest = [
            ("stations up to delivery", occupied(&cost.forward) + delivery, cost.early),
            ("stations of delivery", delivery, cost.late),
            ("stations on the way back", occupied(&cost.acknowledgement), cost.release),
        ];
        for (name, found, most) in longest {
            if found > most {
                let (found, most) = (seconds(found), seconds(most));
                return Err(Error::out_of_range(
                    name,
                    format!("{found} for {} bytes on the link {}", bytes.0, link.name()),
                    format!("no more than {most}, all of the exchange"),
                ));
            }
        }
        Ok(cost)
    }

    /// From both the message's and the receiver's presence to the receiver's completion.
    pub fn delivery_time(&self) -> f64 {
        occupied(&self.delivery)
    }
}

/// How long stations are occupied, one after the other.
pub(crate) fn occupied(visits: &[Visit]) -> f64 {
    visits.iter().map(|visit| visit.occupancy).sum()
}

/// The costs that occur, each once.
#[derive(Default)]
struct Known {
    places: BTreeMap<(Link, Bytes), u16>,
    costs: Vec<Cost>,
}

impl Known {
    fn place(&mut self, network: &Network, link: Link, bytes: Bytes) -> Result<u16> {
        if let Some(&place) = self.places.get(&(link, bytes)) {
            return Ok(place);
        }
        let Ok(place) = u16::try_from(self.costs.len()) else {
            return Err(Error::out_of_range(
                "sizes of faces",
                "more than 13,000 different ones",
                "fewer",
            ));
        };
        self.costs.push(Cost::of(network, link, bytes)?);
        self.places.insert((link, bytes), place);
        Ok(place)
    }
}

impl Cluster {
    /// Puts ranks on their SPEs and finds what their messages cost.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the placement is that of another grid, and where stations are occupied
    /// for longer than the exchange takes of which they are a part.
    pub fn new(wavefront: Wavefront, placement: &Placement, network: &Network) -> Result<Self> {
        let grid = wavefront.grid;
        if placement.grid() != grid {
            return Err(Error::out_of_range(
                "placed ranks",
                placement.grid().to_string(),
                grid.to_string(),
            ));
        }
        let mut known = Known::default();
        let (mut along_x, mut along_y) = (Vec::new(), Vec::new());
        for [x, y] in grid.all() {
            let rank = grid.rank([x, y]);
            let mut place = |has_neighbour: bool, distance: u32, bytes: Bytes| {
                if !has_neighbour {
                    return Ok(0);
                }
                known.place(network, placement.link(rank, rank + distance), bytes)
            };
            along_x.push(place(x + 1 < grid.px(), 1, wavefront.faces.east_west[y as usize])?);
            let face = wavefront.faces.north_south[x as usize];
            along_y.push(place(y + 1 < grid.py(), grid.px(), face)?);
        }
        Ok(Self {
            shape: placement.shape(),
            spes: (0..grid.ranks()).map(|rank| placement.spe(rank)).collect(),
            in_use: placement.in_use(),
            network: network.clone(),
            costs: known.costs,
            along_x,
            along_y,
            wavefront,
        })
    }

    /// What runs.
    pub fn wavefront(&self) -> &Wavefront {
        &self.wavefront
    }

    /// The same with messages that take no time.
    #[must_use]
    pub fn on_ideal_network(&self) -> Self {
        let ideal = Network::ideal();
        let nothing = Cost {
            early: 0.0,
            late: 0.0,
            release: 0.0,
            forward: Vec::new(),
            delivery: Vec::new(),
            acknowledgement: Vec::new(),
        };
        let costs = vec![nothing; self.costs.len()];
        Self { network: ideal, costs, ..self.clone() }
    }

    /// The time on an ideal network over that of `outcome`, per iteration after the first.
    pub fn efficiency(&self, outcome: &Outcome) -> f64 {
        let ideal = self.on_ideal_network();
        let iterations = outcome.ends.len() as u32;
        ideal.recurrence(iterations, super::Between::Nothing).next().0 / outcome.next().0
    }

    /// How long each rank computes in an iteration \[ticks\].
    pub(crate) fn compute(&self) -> Vec<f64> {
        let Wavefront { grid, steps, blocks, .. } = &self.wavefront;
        let steps = steps.in_iteration() as usize;
        let of_rank = |rank: usize| {
            if blocks.vary() {
                (0..steps).map(|step| blocks.at(rank, step)).sum()
            } else {
                blocks.at(rank, 0) * steps as f64
            }
        };
        (0..grid.ranks() as usize).map(of_rank).collect()
    }
}
