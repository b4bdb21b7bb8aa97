//! What ends a run early.

use std::cell::RefCell;
use std::rc::Rc;

use mmgp_base::error::Error;

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

    /// What there is, for the end of the run.
    pub(crate) fn take(&self) -> Option<Error> {
        self.error.borrow_mut().take()
    }
}
