//! Reverse acceleration: a rank on each SPE.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::cells::{Array, Cells};
use super::local_map::{LocalMap, MESSAGES, Sizes};
use super::neighbours::Neighbours;
use super::rank::{Account, RankProgram, fan_bytes};
use super::reflections::Reflections;
use super::seats::{Seat, Seats};
use super::{Findings, Sweep3d};
use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Cycles, Seconds, SimTime};
use mmgp_cell::Blade;
use mmgp_cell::messages;
use mmgp_kernels::sweep3d::{face_bytes, pack_external, pack_total, unpack_moments};
use mmgp_runtime::Runtime;
use mmgp_spu::Quadword;
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
    placed.iter().for_each(|own| own.fill(problem));
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
        let loaded: Vec<_> = blades.iter().map(|blade| blade.loaded()).collect();
        async move {
            for of_blade in loaded {
                of_blade.await;
            }
            program.run().await
        }
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
        let angles = problem.angles_of_block() as u32;
        let extents = part.cells.map(|it| it as u32);
        let map = LocalMap::new(Sizes {
            cells: extents[I],
            lines: extents[J],
            planes: problem.planes_of_block() as u32,
            angles: face_bytes(angles).0 as u32,
            coefficients: (fan_bytes(angles) * problem.fan_count() as u64) as u32,
        })?;
        let cells = Cells::allocate(extents, |bytes| blade.memory.allocate(cell, bytes));
        Ok(Self { part, cells, map, blade, cell })
    }

    /// Writes what a program has before its first iteration.
    fn fill(&self, problem: &Problem) {
        let memory = &self.blade.memory;
        let [it, jt, kt] = self.part.cells;
        let total = pack_total(&vec![problem.cross_sections.total; it]);
        for k in 0..kt {
            for j in 0..jt {
                let [first_i, first_j, first_k] = self.part.origin;
                let source = |i| problem.source_at([first_i + i, first_j + j, first_k + k]);
                let external: Vec<f64> = (0..it).map(source).collect();
                let external = pack_external(&external, &vec![0.0; it]);
                let line = |array| self.cells.line(array, j as u32, k as u32);
                memory.write(line(Array::Total), total.iter().copied());
                memory.write(line(Array::External), external);
            }
        }
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

    /// phi_0 to phi_3 of a line.
    fn flux(&self, j: usize, k: usize) -> Vec<[f64; 4]> {
        let memory = &self.blade.memory;
        let start = self.cells.line(Array::Flux, j as u32, k as u32);
        let quadwords = 2 * self.part.cells[I] as u64;
        let line: Vec<Quadword> =
            (0..quadwords).map(|it| memory.read(start.offset(16 * it))).collect();
        unpack_moments(&line)
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
    let [it, jt, kt] = problem.cells();
    let mut flux = vec![[0.0; 4]; it * jt * kt];
    for own in placed {
        let Part { origin, cells } = own.part;
        for (j, k) in (0..cells[K]).flat_map(|k| (0..cells[J]).map(move |j| (j, k))) {
            let start = origin[I] + it * (origin[J] + j + jt * (origin[K] + k));
            let line = own.flux(j, k);
            flux[start..start + cells[I]].copy_from_slice(&line);
        }
    }
    let mut last = started;
    let spans = account.ends.iter().map(|&end| {
        let span = end.since(last).seconds();
        last = end;
        span
    });
    let ranks = placed.len() as f64;
    let blocks = ranks * (problem.step_count() * account.errors.len()) as f64;
    let [absorbed, leaked @ ..] = account.sums;
    let (volume, sections) = (problem.cell_volume(), problem.cross_sections);
    let area = |axis: usize| volume / problem.widths()[axis];
    Findings {
        processes: decomposition.processes().map(|it| it as u32),
        errors: account.errors.clone(),
        fix_ups: account.fix_ups.clone(),
        absorption: absorbed * (sections.total - sections.isotropic) * volume,
        source: problem.total_source(),
        leakage: [I, J, K].map(|axis| [0, 1].map(|side| leaked[2 * axis + side] * area(axis))),
        iterations: spans.collect(),
        sweeps: account.sweeps.iter().map(|[start, end]| end.since(*start).seconds()).collect(),
        compute: Seconds(account.in_kernels.seconds().0 / ranks),
        block: Seconds(account.in_blocks.seconds().0 / blocks),
        messages: Seconds(account.in_messages.seconds().0 / ranks),
        flux,
    }
}
