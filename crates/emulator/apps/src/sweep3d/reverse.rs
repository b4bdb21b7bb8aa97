//! Reverse acceleration: a rank on each SPE.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::cells::Cells;
use super::contents::{absorption, fill, leakage, spans, take_flux};
use super::local_map::{LocalMap, MESSAGES};
use super::neighbours::Neighbours;
use super::rank::{Account, RankProgram};
use super::reflections::Reflections;
use super::seats::{Seat, Seats};
use super::{Findings, Sweep3d};
use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Cycles, Seconds, SimTime};
use mmgp_cell::Blade;
use mmgp_cell::messages;
use mmgp_runtime::Runtime;
use mmgp_sweep::{Decomposition, I, J, K, Part, Problem};

/// Instructions with which a line's addresses are found, one after the other.
const ADDRESSING: u64 = 12;

/// The cells of a rank, and where they lie.
struct Placed {
    part: Part,
    cells: Cells,
    map: LocalMap,
    blade: Rc<Blade>,
    /// The Cell of it whose memory they lie in.
    cell: u32,
}

/// Runs the program with a rank on each of p SPEs.
pub fn run(app: &Sweep3d, on: &Runtime, mapping: Mapping) -> Result<(Run, Findings)> {
    let problem = &app.problem;
    let decomposition = app.decomposition(mapping.p())?;
    let seats = Seats::new(on, app.places.as_deref(), mapping)?;
    let place = |(rank, seat): (usize, &Seat)| Placed::new(problem, decomposition.part(rank), seat);
    let placed: Vec<Placed> = seats.seats.iter().enumerate().map(place).collect::<Result<_>>()?;
    for Placed { part, cells, blade, .. } in &placed {
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
    let account = account.take();
    Ok((run, findings(app, &decomposition, &placed, on.blade().started(), &account)))
}

impl Placed {
    fn new(problem: &Problem, part: Part, seat: &Seat) -> Result<Self> {
        let blade = Rc::clone(&seat.blade);
        let cell = seat.spe / blade.machine.layout.spes_per_cell;
        let extents = part.cells.map(|it| it as u32);
        let planes = problem.planes_of_block() as u32;
        let angles = [problem.angles_of_block(), problem.quadrature().count()];
        let map = LocalMap::of_block([extents[I], extents[J], planes], angles.map(|it| it as u32))?;
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

/// What lies in memory at the end, and what the first rank has told.
fn findings(
    app: &Sweep3d,
    decomposition: &Decomposition,
    placed: &[Placed],
    started: SimTime,
    account: &Account,
) -> Findings {
    let problem = &app.problem;
    let grid = problem.cells();
    let mut flux = vec![[0.0; 4]; grid.iter().product()];
    for Placed { part, cells, blade, .. } in placed {
        take_flux(cells, part, grid, &blade.memory, &mut flux);
    }
    let ranks = placed.len() as f64;
    let blocks = ranks * (problem.step_count() * account.errors.len()) as f64;
    let [absorbed, leaked @ ..] = account.sums;
    let leaked = [I, J, K].map(|axis| [0, 1].map(|side| leaked[2 * axis + side]));
    Findings {
        processes: decomposition.processes().map(|it| it as u32),
        errors: account.errors.clone(),
        fix_ups: account.fix_ups.clone(),
        absorption: absorption(problem, absorbed),
        source: problem.total_source(),
        leakage: leakage(problem, leaked),
        iterations: spans(started, &account.ends),
        sweeps: account.sweeps.iter().map(|[start, end]| end.since(*start).seconds()).collect(),
        compute: Seconds(account.in_kernels.seconds().0 / ranks),
        block: Seconds(account.in_blocks.seconds().0 / blocks),
        messages: Seconds(account.in_messages.seconds().0 / ranks),
        flux,
    }
}
