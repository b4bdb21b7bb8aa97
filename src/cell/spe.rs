//! A synergistic processing element: an SPU with its local store and its MFC.

use std::cell::RefCell;
use std::rc::Rc;

use super::eib::Eib;
use super::mfc::Mfc;
use super::offload::Mailslot;
use super::timing::KernelTimings;
use crate::machine::Machine;
use crate::sim::Sim;
use crate::spu::Kernel;
use crate::spu::local_store::LocalStore;
use crate::units::{Cycles, Hertz};

/// One SPE; clones refer to the same.
#[derive(Clone)]
pub struct Spe {
    /// Its number, counted through all Cells.
    pub index: u32,
    /// Its DMA.
    pub mfc: Mfc,
    /// Its local store.
    pub store: Rc<RefCell<LocalStore>>,
    pub(super) mailslot: Mailslot,
    /// Virtual time.
    pub sim: Sim,
    clock: Hertz,
    timings: Rc<RefCell<KernelTimings>>,
}

impl Spe {
    pub(super) fn new(
        sim: &Sim,
        machine: &Machine,
        eib: &Rc<Eib>,
        timings: &Rc<RefCell<KernelTimings>>,
        index: u32,
    ) -> Self {
        Self {
            index,
            mfc: Mfc::new(sim, machine, eib, index),
            store: Rc::clone(eib.memory().local_store(index)),
            mailslot: Mailslot::new(sim, index),
            sim: sim.clone(),
            clock: machine.clock,
            timings: Rc::clone(timings),
        }
    }

    /// Runs a kernel of that `shape`, on which alone its time depends; virtual time goes on by what
    /// the pipeline says it takes.
    pub async fn compute<K: Kernel>(&self, kernel: &K, shape: u32) -> K::Output {
        let (output, cycles) =
            self.timings.borrow_mut().run(kernel, shape, &mut self.store.borrow_mut());
        self.spend(cycles).await;
        output
    }

    /// Lets so many cycles of the SPU go by.
    pub async fn spend(&self, cycles: Cycles) {
        self.sim.sleep(cycles.at(self.clock)).await;
    }
}
