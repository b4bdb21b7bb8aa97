//! On which SPEs of which blades ranks run.

use std::rc::Rc;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_cell::Blade;
use mmgp_cell::messages::Messages;
use mmgp_cell::nodes::Nodes;
use mmgp_runtime::Runtime;
use mmgp_spu::LocalAddress;

/// Where a rank runs.
pub struct Seat {
    pub blade: Rc<Blade>,
    /// The number of the blade among those that are emulated.
    index: usize,
    /// The SPE, counted on its blade.
    pub spe: u32,
}

/// The blades that are emulated, and the seat of each rank.
pub struct Seats {
    /// By rank.
    pub seats: Vec<Seat>,
    /// None where there is one blade.
    nodes: Option<Nodes>,
}

impl Seats {
    /// Ranks on the SPEs with those numbers, counted through all blades of the machine; rank after rank on
    /// SPE after SPE where nobody says.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where there are more ranks than SPEs, [`Error::OutOfRange`] where not as many
    /// places as ranks are given, and what [`Nodes::at`] refuses.
    pub fn new(on: &Runtime, places: Option<&[u32]>, mapping: Mapping) -> Result<Self> {
        let first = on.shared_blade();
        let (spes, ranks) = (first.machine.layout.spes(), mapping.p());
        let places: Vec<u32> = match places {
            Some(places) => places.to_vec(),
            None if ranks <= spes => on.assign(mapping)?.swap_remove(0),
            None => (0..ranks).collect(),
        };
        if places.len() != ranks as usize {
            return Err(Error::out_of_range(
                "ranks of sweep3d",
                ranks.to_string(),
                format!("{}, as many as have places", places.len()),
            ));
        }
        let of = |blade: &Rc<Blade>, index, place: u32| Seat {
            blade: Rc::clone(blade),
            index,
            spe: place % spes,
        };
        let mut positions: Vec<u32> = places.iter().map(|place| place / spes).collect();
        positions.sort_unstable();
        positions.dedup();
        if positions == [0] {
            let seats = places.iter().map(|&place| of(first, 0, place)).collect();
            return Ok(Self { seats, nodes: None });
        }
        if first.machine.network.is_none() {
            return Err(Error::Infeasible { m: 1, p: ranks, apus: spes });
        }
        let nodes = Nodes::at(Rc::clone(first), positions.clone())?;
        let seat = |&place: &u32| {
            let index = positions.partition_point(|&position| position < place / spes);
            of(&nodes.blades()[index], index, place)
        };
        Ok(Self { seats: places.iter().map(seat).collect(), nodes: Some(nodes) })
    }

    /// The blades.
    pub fn blades(&self) -> Vec<Rc<Blade>> {
        match &self.nodes {
            Some(nodes) => nodes.blades().to_vec(),
            None => vec![Rc::clone(&self.seats[0].blade)],
        }
    }

    /// The messages of the ranks, whose state lies there in each local store.
    ///
    /// # Errors
    /// As [`Messages::on_blade`].
    pub fn messages(&self, base: LocalAddress) -> Result<Messages> {
        match &self.nodes {
            Some(nodes) => {
                Messages::on_nodes(nodes, self.seats.iter().map(|it| (it.index, it.spe)), base)
            }
            None => {
                let spes = self.seats.iter().map(|seat| seat.spe);
                Messages::on_blade(&self.seats[0].blade, spes, base)
            }
        }
    }
}
