//! What ends a run early.

use std::cell::RefCell;
use std::rc::Rc;

use mmgp_base::error::Error;
use mmgp_sim::Sim;

/// The first error of an emulated program: what would be a signal on the hardware.
#[derive(Clone)]
pub struct Fault {
    error: Rc<RefCell<Option<Error>>>,
    sim: Sim,
}

impl Fault {
    /// None so far.
    pub(crate) fn new(sim: &Sim) -> Self {
        Self { error: Rc::default(), sim: sim.clone() }
    }

    /// Keeps the first error, and ends the run: who spins for what a program that ended does no more would
    /// go on for ever.
    pub fn raise(&self, error: Error) {
        self.error.borrow_mut().get_or_insert(error);
        self.sim.halt();
    }

    /// What there is, for the end of the run.
    pub(crate) fn take(&self) -> Option<Error> {
        self.error.borrow_mut().take()
    }
}
