//! A synergistic processing element: an SPU with its local store, its MFC and its channels.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::Fault;
use super::channel::Channels;
use super::decrementer::{Decrementer, Timebase};
use super::eib::Eib;
use super::event::EventFacility;
use super::mailbox::{InboundMailbox, OutboundMailbox};
use super::mfc::{Detector, Hazards, Mfc, Touch};
use super::offload::Mailslot;
use super::signal::{Signal, SignalRegister};
use super::timing::KernelTimings;
use super::trace::{Category, Tracer, Track};
use crate::error::Result;
use crate::machine::Machine;
use crate::sim::Sim;
use crate::spu::local_store::{LocalAddress, LocalStore};
use crate::spu::{Kernel, Quadword};
use crate::units::{Bytes, Cycles, Hertz};

/// One SPE; clones refer to the same.
#[derive(Clone)]
pub struct Spe {
    /// Its number, counted through all Cells.
    pub index: u32,
    /// Its DMA.
    pub mfc: Mfc,
    /// Its local store, as the host sees it; an SPE's program uses [`Spe::read`] and
    /// [`Spe::write`], which look for hazards.
    pub store: Rc<RefCell<LocalStore>>,
    pub(super) mailslot: Mailslot,
    /// Virtual time.
    pub sim: Sim,
    clock: Hertz,
    timings: Rc<RefCell<KernelTimings>>,
    channels: Rc<[Channels]>,
    detector: Rc<Detector>,
    fault: Fault,
    pub(super) trace: Tracer,
}

impl Spe {
    pub(super) fn new(board: &Board, timings: &Rc<RefCell<KernelTimings>>, index: u32) -> Self {
        let detector = Rc::new(Detector::new(index, &board.hazards));
        Self {
            index,
            mfc: Mfc::new(board, &detector, index),
            store: Rc::clone(board.eib.memory().local_store(index)),
            mailslot: Mailslot::new(&board.sim, index),
            sim: board.sim.clone(),
            clock: board.machine.clock,
            timings: Rc::clone(timings),
            channels: Rc::clone(&board.channels),
            detector,
            fault: board.fault.clone(),
            trace: board.trace.clone(),
        }
    }

    /// Runs a kernel of that `shape`, on which alone its time depends; virtual time goes on by what
    /// the pipeline says it takes.
    ///
    /// Where hazards are looked for and the kernel meets one, the SPE stops for ever, and the run of
    /// the machine ends with [`Error::Hazard`](crate::error::Error::Hazard).
    pub async fn compute<K: Kernel>(&self, kernel: &K, shape: u32) -> K::Output {
        let _span = self.trace.span(Track::Spu(self.index), Category::Kernel, kernel.name());
        let (output, cycles) = match self.detector.mode() {
            Hazards::Ignored => {
                self.timings.borrow_mut().run(kernel, shape, &mut self.store.borrow_mut())
            }
            Hazards::Checked => self.compute_checked(kernel, shape).await,
        };
        self.spend(cycles).await;
        output
    }

    async fn compute_checked<K: Kernel>(&self, kernel: &K, shape: u32) -> (K::Output, Cycles) {
        let (output, cycles, accesses) =
            self.timings.borrow_mut().run_watched(kernel, shape, &mut self.store.borrow_mut());
        if let Err(hazard) = self.detector.kernel(kernel.name(), &accesses) {
            self.fault.raise(hazard);
            std::future::pending::<()>().await;
        }
        (output, cycles)
    }

    /// What the program outside its kernels loads from local store; `bytes` are rounded outwards to
    /// whole quadwords. The time is the caller's to spend.
    ///
    /// # Errors
    /// [`Error::Hazard`](crate::error::Error::Hazard), where hazards are looked for.
    pub fn read(&self, at: LocalAddress, bytes: Bytes) -> Result<Vec<Quadword>> {
        self.detector.program("the program", Touch::Reads, at, bytes)?;
        Ok(self.store.borrow().slice(at, bytes).to_vec())
    }

    /// Stores of the program outside its kernels, from a multiple of 16 on.
    ///
    /// # Errors
    /// As [`Spe::read`].
    pub fn write(&self, at: LocalAddress, quadwords: &[Quadword]) -> Result<()> {
        let bytes = Bytes(16 * quadwords.len() as u64);
        self.detector.program("the program", Touch::Writes, at, bytes)?;
        self.store.borrow_mut().slice_mut(at, bytes).copy_from_slice(quadwords);
        Ok(())
    }

    /// Lets so many cycles of the SPU go by.
    pub async fn spend(&self, cycles: Cycles) {
        self.sim.sleep(cycles.at(self.clock)).await;
    }

    /// Words from the host and other SPEs to the SPU.
    pub fn inbound_mailbox(&self) -> &InboundMailbox {
        &self.channels().inbound_mailbox
    }

    /// Words from the SPU that the host polls for.
    pub fn outbound_mailbox(&self) -> &OutboundMailbox {
        &self.channels().outbound_mailbox
    }

    /// Words from the SPU that interrupt the host.
    pub fn interrupt_mailbox(&self) -> &OutboundMailbox {
        &self.channels().interrupt_mailbox
    }

    /// One of the two signal-notification registers.
    pub fn signal(&self, signal: Signal) -> &SignalRegister {
        self.channels().signal(signal)
    }

    /// The SPU's decrementer.
    pub fn decrementer(&self) -> &Decrementer {
        &self.channels().decrementer
    }

    /// The SPU's events.
    pub fn events(&self) -> &EventFacility {
        &self.channels().events
    }

    fn channels(&self) -> &Channels {
        &self.channels[self.index as usize]
    }
}

/// What all SPEs of a machine have in common.
pub(super) struct Board {
    pub sim: Sim,
    pub machine: Rc<Machine>,
    pub eib: Rc<Eib>,
    pub channels: Rc<[Channels]>,
    pub hazards: Rc<Cell<Hazards>>,
    pub fault: Fault,
    pub trace: Tracer,
}

impl Board {
    pub fn new(
        sim: &Sim,
        machine: &Rc<Machine>,
        eib: &Rc<Eib>,
        timebase: Timebase,
        (fault, trace): (&Fault, &Tracer),
    ) -> Self {
        let spes = 0..machine.layout.spes();
        let channels: Rc<[Channels]> =
            spes.map(|spe| Channels::new(sim, machine, timebase, spe)).collect();
        let listeners = channels.iter().map(|channels| channels.events.clone());
        eib.memory().lock_lines().listen(listeners);
        let hazards = if cfg!(test) { Hazards::Checked } else { Hazards::Ignored };
        Self {
            sim: sim.clone(),
            machine: Rc::clone(machine),
            eib: Rc::clone(eib),
            channels,
            hazards: Rc::new(Cell::new(hazards)),
            fault: fault.clone(),
            trace: trace.clone(),
        }
    }
}
