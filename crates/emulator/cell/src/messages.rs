//! Messages among programs on SPEs: what a program that runs wholly on them (*reverse acceleration*)
//! needs of MPI, built on DMA alone. After the Cell Messaging Layer (Pakin, Lang, Kerbyson, IBM Journal
//! of Research and Development 53(5), 2009).
//!
//! ```
#![doc = include_str!("../examples/messages.rs")]
//! ```
//!
//! # Within one address space
//! The ranks of a blade reach each other's local stores. No PPE takes part:
//!
//! ```text
//!   receiver   |library|put of a descriptor|            spins            |library|
//!   sender              |library|  spins  ~~|library|data|flag (fenced)|~
//! ```
//!
//! A receive puts a descriptor of 64 bytes (target, its size, tag, where its flag is) into the slot that
//! it has in the *sender's* local store, and spins on a flag in its own. A send spins until a descriptor
//! with its tag is there, puts the data straight to the target and then the flag, with a fence. So one
//! latency is exposed where the receiver was early, two where it was late. There is a slot for each rank
//! of the blade, and one is enough: a rank waits for one message at a time.
//!
//! # Between blades
//! A process on the last hardware thread of each PPE takes part, and the [hosts and the
//! network](super::nodes). A send puts its data, then a descriptor, into its place in its PPE's queue; a
//! receive puts a descriptor into its place in that of its own PPE, and each spins:
//!
//! ```text
//!   sender SPE -> its PPE ~ DaCS, MPI, DaCS ~> the other PPE -> receiver SPE
//!   sender SPE <- its PPE <~ the same hops ~   acknowledgement
//! ```
//!
//! What a PPE does, it does for all eight SPEs, one thing after the other, first come, first served. With
//! *look* = a look round all places and a line from memory, 929 cycles in all:
//!
//! | what | occupies the PPE for |
//! |---|---|
//! | a send: the descriptor is taken, the data handed to the host | look + 342 cycles |
//! | a receive: its descriptor is compared with k messages that are there, at least 1 | look + 124 + 35 k cycles; if one fits, delivery |
//! | a message that arrives | the same |
//! | delivery of n <= `stored` bytes, n > 0 | 500 + 6 cycles for each 8 bytes + `mmio_store` for the data; `mmio_store` for the flag; 218 cycles for the acknowledgement |
//! | delivery of none | `mmio_store`, 218 cycles |
//! | delivery of more | 2 `mmio_store`, 218 cycles; then the SPE gets the data |
//! | word of an SPE that it has got them | look |
//! | an acknowledgement | look + `mmio_store` |
//! | a call | look + 124 cycles, what it executes; answer: 6 cycles a word + 2 `mmio_store` |
//!
//! (Where the caches are warm and the PPE does nothing else.) Each crossing carries 64 bytes of header. A
//! message whose receive is not there waits in one of `room` buffers of the receiver's PPE; where none is
//! free it is dropped, and asked for again when its receive is there. Until then its sender stalls, as
//! it does anyway. Calls of functions of the PPE and its host ([`Rank::call`]) go the same way.
//!
//! The process of the PPE never lets its hardware thread go, so a program of the host has the other ones.
//!
//! # Semantics
//! A send is synchronous: it comes back when the receiver has matched it and the data have left its
//! buffer. Messages from one rank to another do not overtake each other, for there is never more than
//! one. A receive names its source and tag; there is no wildcard. A rank is in one call at a time: it is
//! one thread of control, and so must its user be.
//!
//! Buffers begin at multiples of 16. An MFC moves whole quadwords, so a message takes room for its size
//! *rounded up to a multiple of 16* at both ends, and what lies in the last quadword behind it is sent
//! along. A message of no bytes is its flag alone. What is longer than a command of the MFC takes
//! several.
//!
//! As is MPI's default, errors are fatal: a rank that names one which does not exist, or whose buffer is
//! too small, never comes back, and the run ends with [`MpiError`](crate::MpiError).
//!
//! # What is in local store, and what is not
//! Descriptors and flags lie at the base that the program gives, for real: transfers that overwrite them
//! do harm. [`Messages::state`] says how much room they take, [`CODE`] and [`COLLECTIVES`] what the
//! library's instructions take; a program adds them to its [`SpeImage`](super::context::SpeImage), whose
//! code and data, which are loaded, lie below the base. Commands are given with the tag groups 29 and 30.
//!
//! # What is left out
//! Initialisation and finalisation take no time; non-blocking operations; communicators other
//! than those of all ranks and of a memory domain.

mod group;
mod post;
mod rank;
mod state;
mod station;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

pub use group::{Location, Operation, Reduction, Word};
pub use rank::{MOST_WORDS, Rank, Request, Service};
pub use state::{CODE, COLLECTIVES, Call, Observer};

use group::Group;
use rank::{Port, RankPlace, Services, Shared, out_of_range};
use state::RankState;
use station::Stations;
use station::desk::Desk;

use super::Blade;
use super::nodes::{Nodes, Seat};
use mmgp_base::error::Result;
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::LocalAddress;

/// All ranks of a program on SPEs; clones refer to the same.
#[derive(Clone)]
pub struct Messages {
    shared: Rc<Shared>,
}

impl Messages {
    /// The ranks 0, 1 and so on are the SPEs of `blade` with these numbers. Each has its part of the
    /// state in its local store from `base` on, a multiple of 128.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where an SPE does not exist, comes twice, or its local store does not hold
    /// the state.
    pub fn on_blade(
        blade: &Blade,
        spes: impl IntoIterator<Item = u32>,
        base: LocalAddress,
    ) -> Result<Self> {
        let each = blade.machine.layout.spes_per_cell;
        let place = |spe| {
            let (cell, seat) = (spe / each, Seat { blade: 0, cell: spe / each });
            RankPlace { blade, seat, at: Location { node: 0, blade: 0, cell, spe } }
        };
        Self::new(&spes.into_iter().map(place).collect::<Vec<_>>(), base, None)
    }

    /// The ranks are these SPEs of these blades: pairs of a blade, counted among those of `nodes`, and the
    /// number of an SPE on it.
    ///
    /// # Errors
    /// As [`Messages::on_blade`].
    pub fn on_nodes(
        nodes: &Nodes,
        ranks: impl IntoIterator<Item = (usize, u32)>,
        base: LocalAddress,
    ) -> Result<Self> {
        let each = nodes.blades()[0].machine.layout.spes_per_cell;
        let place = |(blade, spe): (usize, u32)| {
            let Some(of) = nodes.blades().get(blade) else {
                let expected = format!("one below {}", nodes.blades().len());
                return Err(out_of_range(format!("blade {blade}"), expected));
            };
            let cell = spe / each;
            let (node, position) = (nodes.node(blade), nodes.position(blade));
            let at = Location { node, blade: position, cell, spe };
            Ok(RankPlace { blade: of, seat: Seat { blade, cell }, at })
        };
        let places: Vec<RankPlace<'_>> = ranks.into_iter().map(place).collect::<Result<_>>()?;
        let messages = Self::new(&places, base, Some(nodes))?;
        if messages.shared.domains.len() > 1 {
            nodes.blades().iter().enumerate().for_each(|(index, blade)| {
                messages.attend_to(index, blade);
            });
        }
        Ok(messages)
    }

    fn new(places: &[RankPlace<'_>], base: LocalAddress, nodes: Option<&Nodes>) -> Result<Self> {
        let Some(&RankPlace { blade: first, .. }) = places.first() else {
            return Err(out_of_range("no SPE", "at least one"));
        };
        let (ports, domains) = Port::of_all(places, base)?;
        let locations: Rc<[Location]> = ports.iter().map(|port| port.at).collect();
        let group = |context, members| Rc::new(Group::new(context, members, &locations));
        let machine = &first.machine;
        let shared = Shared {
            sim: first.sim.clone(),
            fault: first.fault(),
            costs: machine.messages,
            largest: machine.mfc.largest,
            load: machine.spu.load,
            channel: machine.spu.channel,
            timebase: first.recorder.own().clock(),
            world: group(0, (0..ports.len() as u32).collect()),
            domains: domains.into_iter().map(|members| group(1, members)).collect(),
            ports,
            reasons: RefCell::default(),
            observer: RefCell::default(),
            stations: Stations::new(nodes.map(|nodes| Rc::clone(nodes.fabric()))),
            services: Services::default(),
        };
        Ok(Self { shared: Rc::new(shared) })
    }

    /// Bytes of local store that the state of each rank takes, where `ranks` share an address space.
    pub const fn state(ranks: u32) -> Bytes {
        RankState::bytes(ranks)
    }

    /// Ranks.
    pub fn size(&self) -> u32 {
        self.shared.world.size()
    }

    /// The handle of a rank, with which its program calls.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn rank(&self, rank: u32) -> Rank {
        let world = Rc::clone(&self.shared.world);
        let spe = self.shared.ports[rank as usize].spe.clone();
        Rank { shared: Rc::clone(&self.shared), group: world, rank, world: rank, spe }
    }

    /// Location of a rank.
    pub fn location(&self, rank: u32) -> Location {
        self.shared.ports[rank as usize].at
    }

    /// Starts the program of every rank, as a process that bears its name, when all SPEs of its blade
    /// have been [loaded](Blade::create_contexts); an error of one ends the run with it.
    pub fn start<F>(&self, program: impl Fn(Rank) -> F)
    where
        F: Future<Output = Result<()>> + 'static,
    {
        for rank in 0..self.size() {
            let (fault, life) = (self.shared.fault.clone(), program(self.rank(rank)));
            let loading = self.shared.ports[rank as usize].loading.clone();
            self.shared.sim.spawn(self.name(rank), async move {
                loading.wait_until(|loading| loading.under_way == 0).await;
                if let Err(error) = life.await {
                    fault.raise(error);
                }
            });
        }
    }

    /// Name of a rank in reports: `rank 3 (SPE 3)`, with node and blade where there are several.
    pub fn name(&self, rank: u32) -> String {
        let Location { node, blade, spe, .. } = self.location(rank);
        if self.shared.domains.len() == 1 {
            format!("rank {rank} (SPE {spe})")
        } else {
            format!("rank {rank} (node {node}, blade {blade}, SPE {spe})")
        }
    }

    /// Has a process on each PPE of `blade` answer the [calls](Rank::call) of its ranks. Where there are
    /// several blades, those that carry messages do.
    pub fn attend(&self, blade: &Blade) {
        if self.shared.domains.len() == 1 {
            self.attend_to(self.shared.ports[0].seat.blade, blade);
        }
    }

    /// Starts the PPEs of a blade that have ranks.
    fn attend_to(&self, index: usize, blade: &Blade) {
        for cell in 0..blade.machine.layout.cells {
            let seat = Seat { blade: index, cell };
            let has_rank = self.shared.ports.iter().any(|port| port.seat == seat);
            if has_rank && self.shared.stations.at(seat).is_none() {
                Desk::open(&self.shared, blade, seat);
            }
        }
    }

    /// Has calls of that function answered in that way.
    pub fn serve(&self, function: u32, service: Service) {
        self.shared.services.add(function, service);
    }

    /// Tells `observer` of every call of every rank from now on, when it comes back: the profiling
    /// interface (PMPI). Calls are spans in a trace as well.
    pub fn observe(&self, observer: Rc<RefCell<dyn Observer>>) {
        *self.shared.observer.borrow_mut() = Some(observer);
    }
}
