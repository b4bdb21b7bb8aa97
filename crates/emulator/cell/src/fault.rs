//! What ends a run early: programs that break a rule of the machine.

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

/// A DMA command that breaks a rule of the hardware, which raises a bus error there: a bug in the emulated
/// program.
#[derive(Debug, thiserror::Error)]
#[error("SPE {spe}: {command}: {rule}")]
pub struct BusError {
    /// The SPE that issued it.
    pub spe: u32,
    /// The command, its addresses and size.
    pub command: String,
    /// The rule it breaks.
    pub rule: &'static str,
}

/// A call of MPI that breaks a rule, which ends the program: a bug in the emulated program.
#[derive(Debug, thiserror::Error)]
#[error("rank {rank}: {operation}: {rule}")]
pub struct MpiError {
    /// The rank that called it.
    pub rank: u32,
    /// The call.
    pub operation: String,
    /// The rule it breaks.
    pub rule: String,
}

/// A program touches data that a DMA command, another SPE or the host may touch at the same time, or that
/// nobody has written. Wait, tell each other, or order commands by a fence or a barrier.
#[derive(Debug, thiserror::Error)]
#[error("hazard at {place}: {later}; {problem} {earlier}")]
pub struct Hazard {
    /// The memory and the bytes.
    pub place: String,
    /// Who touches it later in the run, by what, when, and how.
    pub later: String,
    /// What is wrong: `unordered with`.
    pub problem: &'static str,
    /// The same of who touched it before.
    pub earlier: String,
}
