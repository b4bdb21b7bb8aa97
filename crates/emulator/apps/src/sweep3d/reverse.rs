//! Reverse acceleration: a rank on each SPE.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::cells::{Cells, Neighbours, Reflections, fill, take_flux};
use super::lines::{MESSAGES, RankMap};
use super::rank::RankProgram;
use super::{Account, Findings, Sweep3d};
use crate::run::Run;
use crate::run::require;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Cycles;
use mmgp_cell::Blade;
use mmgp_cell::messages::{self, Messages};
use mmgp_cell::nodes::Nodes;
use mmgp_runtime::Runtime;
use mmgp_spu::LocalAddress;
use mmgp_sweep::{Decomposition, I, J, Moments, Part, Problem};

/// Instructions with which a line's addresses are found, one after the other.
const ADDRESSING: u64 = 12;

/// The cells of a rank, and where they lie.
struct PlacedCells {
    part: Part,
    cells: Cells,
    map: RankMap,
    blade: Rc<Blade>,
    /// The Cell of it whose memory they lie in.
    cell: u32,
}

/// Runs the program with a rank on each of p SPEs.
pub fn run(app: &Sweep3d, on: &Runtime, mapping: Mapping) -> Result<(Run, Findings)> {
    let problem = &app.problem;
    let decomposition = app.decomposition(mapping.p())?;
    let seats = Seats::new(on, app.places.as_deref(), mapping)?;
    let place =
        |(rank, seat): (usize, &Seat)| PlacedCells::new(problem, decomposition.part(rank), seat);
    let placed: Vec<PlacedCells> =
        seats.seats.iter().enumerate().map(place).collect::<Result<_>>()?;
    for PlacedCells { part, cells, blade, .. } in &placed {
        fill(cells, part, problem, &blade.memory);
    }
    let largest = placed.iter().max_by_key(|own| own.map.end());
    let image = largest.expect("invariant: there is a rank").map.image();
    let blades = seats.blades();
    for blade in &blades {
        blade.create_contexts(&image)?;
    }
    let messages = seats.messages(MESSAGES)?;
    let account = Rc::new(RefCell::new(Account::default()));
    messages.start(|rank| {
        let own = &placed[rank.rank() as usize];
        let program = own.program((problem, &decomposition), rank, &account);
        program.run()
    });
    on.blade().run()?;
    let dma_commands = blades.iter().map(|blade| blade.dma_commands()).sum();
    let run = Run { dma_commands, ..Run::collect(on, mapping, &[]) };
    let processes = decomposition.processes().map(|it| it as u32);
    let (ranks, flux) = ((processes, mapping.p()), flux(problem, &placed));
    Ok((run, account.take().findings(problem, ranks, on.blade().started(), flux)))
}

impl PlacedCells {
    fn new(problem: &Problem, part: Part, seat: &Seat) -> Result<Self> {
        let blade = Rc::clone(&seat.blade);
        let cell = seat.spe / blade.machine.layout.spes_per_cell;
        let extents = part.cells.map(|it| it as u32);
        let planes = problem.planes_of_block() as u32;
        let angles = [problem.angles_of_block(), problem.quadrature().count()];
        let map = RankMap::of_block([extents[I], extents[J], planes], angles.map(|it| it as u32))?;
        let cells = Cells::allocate(extents, |bytes| blade.memory.allocate(cell, bytes));
        Ok(Self { part, cells, map, blade, cell })
    }

    fn program(
        &self,
        (problem, decomposition): (&Arc<Problem>, &Decomposition),
        messages: messages::Rank,
        account: &Rc<RefCell<Account>>,
    ) -> RankProgram {
        let (blade, cell) = (&self.blade, self.cell);
        let allocate = |bytes| blade.memory.allocate(cell, bytes);
        let reflections = Reflections::allocate(problem, &self.part, self.map.face_bytes, allocate);
        RankProgram {
            neighbours: Neighbours::of(decomposition, messages.rank()),
            messages,
            problem: Arc::clone(problem),
            cells: self.cells,
            map: self.map,
            reflections,
            progress: blade.progress.clone(),
            addressing: Cycles(ADDRESSING * blade.machine.spu.simple_fixed.0),
            account: Rc::clone(account),
            in_messages: Cell::default(),
            in_blocks: Cell::default(),
            in_kernels: Cell::default(),
        }
    }
}

/// What lies in memory at the end.
fn flux(problem: &Problem, placed: &[PlacedCells]) -> Vec<Moments> {
    let grid = problem.cells();
    let mut flux = vec![[0.0; 4]; grid.iter().product()];
    for PlacedCells { part, cells, blade, .. } in placed {
        take_flux(cells, part, grid, &blade.memory, &mut flux);
    }
    flux
}

/// The SPE on which a rank runs.
pub struct Seat {
    pub blade: Rc<Blade>,
    /// The number of the blade among those that are emulated.
    index: usize,
    /// The SPE, counted on its blade.
    pub spe: u32,
}

/// The blades that are emulated, and the seat of each rank.
pub struct Seats {
    /// The seats by rank.
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
        require(
            places.len() == ranks as usize,
            "ranks of sweep3d",
            ranks,
            format!("{}, as many as have places", places.len()),
        )?;
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
    /// The errors of [`Messages::on_blade`].
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
