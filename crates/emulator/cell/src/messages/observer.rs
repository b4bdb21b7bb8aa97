//! The profiling interface: who is told of calls.

use std::cell::RefCell;
use std::rc::Rc;

use crate::trace::Span;
use mmgp_base::units::{Bytes, SimTime};
use mmgp_sim::Sim;

/// A call that has come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Who called, by its number among all ranks.
    pub rank: u32,
    /// As MPI calls it: `MPI_Send`.
    pub name: &'static str,
    /// The other rank, or the root, by its number in the communicator.
    pub peer: Option<u32>,
    /// What the caller gave or had room for.
    pub bytes: Bytes,
    /// When it was called.
    pub start: SimTime,
    /// When it came back.
    pub end: SimTime,
}

/// Who is told of calls.
///
/// A call within another one, such as the messages of which a collective consists, is not told of.
pub trait Observer {
    /// A call has come back.
    fn returned(&mut self, call: &Call);
}

/// Somebody who is told.
pub(super) type Listener = Rc<RefCell<dyn Observer>>;

/// A call that has not come back.
pub(super) struct Open {
    _span: Span,
    listener: Option<Listener>,
    call: Call,
    sim: Sim,
}

impl Open {
    pub fn new(span: Span, listener: Option<Listener>, call: Call, sim: &Sim) -> Self {
        Self { _span: span, listener, call, sim: sim.clone() }
    }

    /// The call has come back. One that is dropped by the end of a run has not.
    pub fn returned(self) {
        if let Some(listener) = self.listener {
            listener.borrow_mut().returned(&Call { end: self.sim.now(), ..self.call });
        }
    }
}
