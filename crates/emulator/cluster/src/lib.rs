//! Wavefronts over many ranks and links: what a sweep takes where blocks and messages take what was
//! measured of them.
//!
//! Read on at [`Cluster`], which times the iterations of a sweep.
//!
//! A [`Wavefront`] is a grid of ranks, each of which receives two faces, computes a block and sends two
//! faces on, step after step. A [`Placement`] says where each rank runs, and so what lies between two
//! neighbours; a [`Network`] what a message costs there. Together they are a [`Cluster`], whose
//! iterations are timed in two ways:
//!
//! * [`Cluster::recurrence`], where no message is in another's way: each rank's times follow from those of
//!   its neighbours upstream, exactly;
//! * [`Cluster::events`], where messages queue up at PPEs, host cores and adapters. Without such
//!   [stations](Station) it gives the same times, to the tick.
//!
//! This crate knows no kernel and no Cell. All times are put in, and come from elsewhere: kernels,
//! emulated messages, or a published table.
//!
//! ```
//! use mmgp_base::units::{Bytes, Seconds};
//! use mmgp_cluster::{
//!     Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Network, Placement, Shape, Steps,
//!     Wavefront,
//! };
//!
//! // 4 x 3 ranks on two Cells; a block takes 10 us and a message 1 us, wherever it goes.
//! let grid = Grid::new(4, 3)?;
//! let shape = Shape {
//!     spes_per_cell: 8,
//!     cells_per_blade: 2,
//!     blades_per_node: 1,
//!     nodes_per_unit: 1,
//!     units: 1,
//! };
//! let steps = Steps { angle_blocks: 2, plane_blocks: 5 };
//! let faces = Faces::same(grid, Bytes(800), Bytes(800));
//! let wavefront = Wavefront::new(grid, steps, Blocks::same(Seconds(10e-6)), faces)?;
//! let network = Network::uniform(&Exchange::symmetric(Curve::constant(Seconds(1e-6))?));
//! let cluster = Cluster::new(wavefront, &Placement::row_major(grid, shape)?, &network)?;
//!
//! let outcome = cluster.recurrence(1, Between::Nothing);
//! // S = 80 steps and F = 2 x 3 + 4 x 2 to fill: W (S + F) + c (4 S + 2 F - 10).
//! assert!((outcome.first().0 - (94.0 * 10e-6 + 338.0 * 1e-6)).abs() < 1e-15);
//! assert_eq!(cluster.events(1, Between::Nothing).outcome, outcome);
//! # Ok::<(), mmgp_base::Error>(())
//! ```
//!
//! # Ordering guarantee
//!
//! 1. Stations serve messages in the order in which they arrive.
//! 2. Messages that arrive at the same instant are served in the order of their ranks, first those along
//!    x.

mod events;
mod link;
mod placement;
mod recurrence;
mod wavefront;

pub use events::{Events, Queue};
pub use link::{Curve, Exchange, Link, Network, Route, Stage, Station};
pub use placement::{Placement, Shape, Tiles};
pub use wavefront::{Blocks, Faces, Grid, Steps, Wavefront};

use std::collections::BTreeMap;

use crate::wavefront::{seconds, ticks};
use mmgp_base::error::{Error, Result};
use mmgp_base::units::{Bytes, Seconds};

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
    /// Costs of messages between a rank and its neighbour at x + 1, by place in `costs`.
    pub(crate) along_x: Vec<u16>,
    /// Costs of messages between a rank and its neighbour at y + 1, by place in `costs`.
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

    /// Time from both the message's and the receiver's presence to the receiver's completion.
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
        ideal.recurrence(iterations, Between::Nothing).next().0 / outcome.next().0
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

/// What happens between an iteration and the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Between {
    /// Each rank goes on when it is done.
    Nothing,
    /// All wait for the last one, and then so long: the sums and maxima of all ranks
    /// ([`Cluster::reduction`](crate::Cluster::reduction)).
    Reductions(Seconds),
}

/// When iterations end, and what ranks did meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// When each iteration ends, counted from the start of the first: what happens between iterations
    /// counts to the one before.
    pub ends: Vec<Seconds>,
    /// What each rank did, by its number.
    pub ranks: Vec<Split>,
}

/// Into what the time of a rank splits, all iterations together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Computing blocks.
    pub compute: Seconds,
    /// Time in receives: waiting, and what the message takes.
    pub receive: Seconds,
    /// Time in sends: waiting, and what the message takes.
    pub send: Seconds,
    /// Done, while others are not.
    pub idle: Seconds,
}

impl Split {
    /// All but computing.
    pub fn wait(&self) -> Seconds {
        self.receive + self.send + self.idle
    }
}

impl Outcome {
    /// The time of all iterations.
    pub fn total(&self) -> Seconds {
        self.ends.last().copied().unwrap_or(Seconds(0.0))
    }

    /// The time of the first iteration.
    pub fn first(&self) -> Seconds {
        self.ends.first().copied().unwrap_or(Seconds(0.0))
    }

    /// The time from the end of the last iteration but one to the end of the last; of a single iteration,
    /// its own.
    pub fn next(&self) -> Seconds {
        match self.ends[..] {
            [.., before, last] => last - before,
            _ => self.first(),
        }
    }

    /// The part of the ranks' time in which they compute.
    pub fn busy(&self) -> f64 {
        let compute: Seconds = self.ranks.iter().map(|split| split.compute).sum();
        compute.0 / (self.total().0 * self.ranks.len() as f64)
    }
}

/// Books of a run that is under way \[ticks\].
#[derive(Debug, Clone, Default)]
pub(crate) struct Books {
    /// End of each iteration.
    pub ends: Vec<f64>,
    /// Time in receives, by rank.
    pub received: Vec<f64>,
    /// Done while others were not, by rank.
    pub idle: Vec<f64>,
}

impl Books {
    pub fn new(ranks: usize) -> Self {
        Self { ends: Vec::new(), received: vec![0.0; ranks], idle: vec![0.0; ranks] }
    }

    /// Closes them, when ranks are done at `done` and have computed so long.
    pub fn close(self, done: &[f64], compute: &[f64]) -> Outcome {
        let end = self.ends.last().copied().unwrap_or(0.0);
        let ranks = done.iter().zip(compute).zip(self.received.iter().zip(&self.idle));
        let ranks = ranks.map(|((done, compute), (received, idle))| Split {
            compute: seconds(*compute),
            receive: seconds(*received),
            send: seconds(done - compute - received - idle),
            idle: seconds(idle + end - done),
        });
        Outcome { ranks: ranks.collect(), ends: self.ends.into_iter().map(seconds).collect() }
    }
}

impl Cluster {
    /// What a sum or a maximum of `bytes` over all ranks takes until every rank has it, from when the last
    /// one is there: over a tree that follows the machine, up and down again.
    ///
    /// Among n parts of a whole (SPEs of a Cell, Cells of a blade, blades of a node, nodes of a unit,
    /// units) a binomial tree has `ceil(log2 n)` messages one after the other, each an exchange whose
    /// receiver waits. Up, a rank's next message comes from another rank, so a sender's `release` is
    /// not waited for; down, a rank sends one message after the other, and its release is. Stations are taken to be free.
    pub fn reduction(&self, bytes: Bytes) -> Seconds {
        let levels = Link::ALL.into_iter().zip(self.in_use);
        let times = levels.map(|(link, parts)| {
            let exchange = self.network.exchange(link);
            let (early, release) = (exchange.early.at(bytes), exchange.release.at(bytes));
            let rounds = f64::from(parts.next_power_of_two().trailing_zeros());
            // The last part is reached over as many messages, of which all but one wait for a release.
            early * (2.0 * rounds) + release * (rounds - 1.0).max(0.0)
        });
        times.sum()
    }
}
