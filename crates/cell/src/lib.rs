//! The emulated machine: Cell processors, their memory, Linux and MPI.
//!
//! Everything that waits is a process of [`mmgp_sim`]; everything that computes on an SPE runs
//! on [`mmgp_spu`]. What is here are mechanisms with costs, and the costs come from the machine's
//! file: no equation of any performance model is in this module.
//!
//! ```text
//!   host process --- hardware thread --- PPE pipeline (shared by its two threads)
//!       |  flags in local store, mailboxes, signals, proxy commands (MMIO)
//!       v
//!   SPE: SPU + local store --- MFC: queues, order, lists, lock lines
//!                                |
//!             EIB: ports, rings, command bus --- memory controller and banks
//!                                |
//!                              FlexIO --- the same of the other Cell
//! ```
//!
//! # How a processor is found for each process
//! Host processes are dealt round robin to the Cells, then to the hardware threads of each, and
//! stay there. Which SPEs work for a process is not decided here. A process's data lies in the memory of its own Cell, unless it is given another
//! [`Placement`].
//!
//! # What is left out
//! Address translation by the MFC, the scalar code on an SPE around its kernels except its channel
//! commands, and what an interrupt takes from whoever runs on the host. DMA takes the port of a local
//! store from a kernel in the mean of its cycles, and never has to wait for it ([`Spe::compute`]);
//! the accesses of the host to a local store take no cycle of the port.

mod channel;
pub mod context;
pub mod decrementer;
pub mod eib;
pub mod event;
pub mod host;
pub mod linux;
pub mod mailbox;
pub mod memory;
pub mod mfc;
pub mod mpi;
pub mod ppe;
mod progress;
pub mod record;
pub mod signal;
pub mod spe;
mod timing;
pub mod trace;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use host::HostProcess;
pub use memory::EffectiveAddress;
pub use memory::placement::{Homes, Placement};
pub use progress::Progress;
pub use spe::Spe;
use timing::KernelTimings;
pub use timing::{KernelTiming, pipeline};

use context::Loading;
use decrementer::Timebase;
use eib::Eib;
use linux::{Affinity, Scheduler, Sharing};
use memory::Memory;
use mfc::Hazards;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::SimTime;
use mmgp_machine::Machine;
use mmgp_sim::{Sim, Watch};
use ppe::Ppe;
use record::Recorder;
use spe::Board;
use trace::{Sink, Tracer};

/// A whole machine at work.
pub struct Blade {
    /// Virtual time.
    pub sim: Sim,
    /// Its description.
    pub machine: Rc<Machine>,
    /// Main memory, that of all Cells.
    pub memory: Rc<Memory>,
    /// What happened, for reports.
    pub recorder: Rc<Recorder>,
    /// What happened when, for a viewer.
    pub trace: Tracer,
    /// How far the program is, for whoever waits for it.
    pub progress: Progress,
    spes: Vec<Spe>,
    ppes: Rc<Vec<Ppe>>,
    scheduler: Rc<Scheduler>,
    fault: Fault,
    hazards: Rc<Cell<Hazards>>,
    loading: Watch<Loading>,
}

/// The first error of an emulated program: what would be a signal on the hardware.
#[derive(Clone, Default)]
pub struct Fault {
    error: Rc<RefCell<Option<Error>>>,
}

impl Fault {
    /// Keeps the first error.
    pub fn raise(&self, error: Error) {
        self.error.borrow_mut().get_or_insert(error);
    }
}

impl Blade {
    /// A machine at rest, its host processes scheduled [cooperatively](Sharing::cooperative) at first.
    /// `clock_phase` in [0, 1) is how far the timebase is into a tick at the start.
    pub fn new(machine: &Machine, timing: KernelTiming, clock_phase: f64) -> Self {
        Self::build(machine, timing, clock_phase, (Sim::new(), Tracer::off()))
    }

    /// The same, telling `sink` what happens when.
    pub fn traced(
        machine: &Machine,
        timing: KernelTiming,
        clock_phase: f64,
        sink: Rc<RefCell<dyn Sink>>,
    ) -> Self {
        let sim = Sim::new();
        let trace = Tracer::new(&sim, sink);
        Self::build(machine, timing, clock_phase, (sim, trace))
    }

    fn build(
        machine: &Machine,
        timing: KernelTiming,
        clock_phase: f64,
        (sim, trace): (Sim, Tracer),
    ) -> Self {
        let machine = Rc::new(machine.clone());
        let memory = Rc::new(Memory::new(&machine));
        let eib = Rc::new(Eib::new(&sim, &machine, &memory));
        let fault = Fault::default();
        let timings = Rc::new(RefCell::new(KernelTimings::new(&machine, timing)));
        let timebase = Timebase::new(machine.timebase, clock_phase);
        let board = Board::new(&sim, &machine, &eib, timebase, (&fault, &trace));
        let spes = (0..machine.layout.spes()).map(|index| Spe::new(&board, &timings, index));
        let (spes, hazards) = (spes.collect(), Rc::clone(&board.hazards));
        let ppe = |cell| Ppe::new(&sim, &machine, cell);
        let ppes = Rc::new((0..machine.layout.cells).map(ppe).collect());
        let sharing = Sharing::cooperative(&machine);
        let scheduler = Rc::new(Scheduler::new(&sim, &machine, &ppes, &sharing));
        let recorder = Rc::new(Recorder::new(timebase));
        let loading = Watch::new(&sim, "the programs of the SPEs", Loading::default());
        Self {
            sim,
            machine,
            memory,
            recorder,
            trace,
            progress: Progress::default(),
            spes,
            ppes,
            scheduler,
            fault,
            hazards,
            loading,
        }
    }

    /// Chooses whether to look for hazards, before anything runs; see [`Hazards`]. They are ignored
    /// at first, but in the tests of this library.
    pub fn set_hazards(&self, hazards: Hazards) {
        self.hazards.set(hazards);
    }

    /// The same machine at rest, its processes sharing the hardware threads in that way.
    pub fn under(self, sharing: &Sharing) -> Self {
        let Self { sim, machine, ppes, .. } = &self;
        let scheduler = Rc::new(Scheduler::new(sim, machine, ppes, sharing));
        Self { scheduler, ..self }
    }

    /// The same machine, its program telling how far it is.
    pub fn telling(self, progress: Progress) -> Self {
        Self { progress, ..self }
    }

    /// The SPE with that number, counted through all Cells.
    pub fn spe(&self, index: u32) -> &Spe {
        &self.spes[index as usize]
    }

    /// The Cell on which the host process `rank` runs.
    pub fn cell_of(&self, rank: u32) -> u32 {
        rank % self.machine.layout.cells
    }

    /// A process of the host, pinned to its hardware thread.
    pub fn host_process(&self, rank: u32) -> HostProcess {
        self.host_process_with(rank, Affinity::Pinned)
    }

    /// A process of the host that begins on its hardware thread.
    pub fn host_process_with(&self, rank: u32, affinity: Affinity) -> HostProcess {
        let layout = self.machine.layout;
        let turn = rank / layout.cells % layout.threads_per_ppe;
        let thread = self.cell_of(rank) * layout.threads_per_ppe + turn;
        HostProcess::new(self, rank, thread as usize, affinity)
    }

    /// The memory of the host process `rank`, whose SPEs are `spes`.
    pub fn homes(&self, placement: Placement, rank: u32, spes: &[u32]) -> Homes {
        let cells = spes.iter().map(|spe| spe / self.machine.layout.spes_per_cell).collect();
        Homes::new(&self.memory, placement, self.cell_of(rank), cells)
    }

    /// Runs everything to its end; the instant of the last event.
    pub fn run(&self) -> Result<SimTime> {
        let ended = self.sim.run();
        // A program that broke a rule leaves others waiting: the fault is the cause.
        match self.fault.error.borrow_mut().take() {
            Some(fault) => Err(fault),
            None => ended,
        }
    }

    /// Where a program that breaks a rule says so.
    pub fn fault(&self) -> Fault {
        self.fault.clone()
    }

    /// DMA commands of all SPEs so far.
    pub fn dma_commands(&self) -> u64 {
        self.spes.iter().map(|spe| spe.mfc.commands()).sum()
    }

    /// How often a hardware thread changed from one process to another.
    pub fn context_switches(&self) -> u64 {
        self.scheduler.switches()
    }
}
