//! The accelerator model: the host runs the program, and hands lines of cells to the SPEs.
//!
//! A block (octant, angles, planes) falls into lines of cells along i, each for *one pair* of angles: as
//! many as stand side by side in a register. Of each what it works on and what flows into it go from main
//! memory to local store and back; only the loop over i runs there. Lines on a *diagonal*, whose
//! j + k + pair are equal as the sweep counts them, are independent: the host off-loads a diagonal as one
//! task, which SPEs share line by line, and waits for it.
//!
//! That a pair follows the one before it by one diagonal keeps two SPEs from adding to the flux of one cell
//! at once. The alternative, lines of all angles of a block with diagonals over j + k, moves the cells once
//! for all pairs, but its diagonals have half as many lines to share. For input.50 on eight SPEs
//! (jt = 50, mk = 10, mmi = 3: two pairs), in times of a line of one pair:
//!
//! | lines of | diagonals | lines of most | rounds of 8 lines | time |
//! |---|---|---|---|---|
//! | all angles | 59 | 10 | 102 | 204 |
//! | a pair | 60 | 20 | 156 | **156** |
//!
//! 125 would be ideal. Faces lie in main memory as well; the host sets them to zero before a block, and adds up
//! what leaves over the boundary after it. It also makes the source and takes the error.
//!
//! # What is left out
//! What the host stores, as zeros of a face, is in its caches: SPEs get it as if it were in main memory.

mod host;
mod lines;
mod spe_program;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::cells::{self, Cells, Reflections};
use super::{Account, Findings, Sweep3d};
use crate::run::Run;
use host::LineHost;
use lines::{Calls, Faces};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_cell::Placement;
use mmgp_runtime::{Runtime, Signalling};
use spe_program::{FUNCTIONS, LineMap, LineProgram};

/// Instructions with which an SPE finds what a line works on, one after the other: it takes the line's
/// four numbers apart, and for six arrays a product and a sum make an address.
const ADDRESSING: u64 = 24;

/// Runs the program on the host, with p SPEs.
pub fn run(app: &Sweep3d, on: &Runtime, mapping: Mapping) -> Result<(Run, Findings)> {
    let (blade, problem) = (on.blade(), &app.problem);
    let own = on.assign(mapping)?.swap_remove(0);
    let homes = blade.homes(Placement::default(), 0, &own);
    let allocate = |bytes: Bytes| homes.allocate(bytes);
    let part = app.decomposition(1)?.part(0);
    let cells = Cells::allocate(part.cells.map(|it| it as u32), allocate);
    cells::fill(&cells, &part, problem, &blade.memory);
    let faces = Faces::allocate(problem, allocate);
    let calls = Calls::allocate(problem, blade.machine.layout.spes(), allocate);
    let map = LineMap::new(problem, &calls);
    blade.create_contexts(&map.image(problem))?;
    let program = Rc::new(LineProgram {
        map,
        cells,
        faces,
        calls,
        angles: problem.angles_of_block() as u32,
        addressing: Cycles(ADDRESSING * blade.machine.spu.simple_fixed.0),
        in_kernels: RefCell::default(),
        fixed: RefCell::new(vec![0; blade.machine.layout.spes() as usize]),
    });
    on.load(&program, Signalling::Memory);
    let host = LineHost {
        problem: Arc::clone(problem),
        memory: Rc::clone(&blade.memory),
        process: on.process(0, own),
        most_shares: mapping.p(),
        cells,
        faces,
        reflections: Reflections::allocate(problem, &part, faces.bytes(), allocate),
        calls,
        progress: blade.progress.clone(),
    };
    let account = Rc::new(RefCell::new(Account::default()));
    let kept = Rc::clone(&account);
    let life = async move { *kept.borrow_mut() = host.solve().await };
    blade.sim.spawn("rank 0", life);
    blade.run()?;
    let run = Run::collect(on, mapping, &FUNCTIONS);
    let account = account.take();
    let mut flux = vec![[0.0; 4]; part.volume()];
    cells::take_flux(&cells, &part, problem.cells(), &blade.memory, &mut flux);
    let account = Account { in_kernels: *program.in_kernels.borrow(), ..account };
    let ranks = ([1, 1], mapping.p());
    let findings = account.findings(problem, ranks, blade.started(), flux);
    Ok((run, findings))
}
