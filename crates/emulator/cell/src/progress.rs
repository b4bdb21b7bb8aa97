//! How far an emulated program is, for a progress bar.

use std::fmt;
use std::rc::Rc;

/// A callback for each step of a program: a generation of a chain, a task, a measurement. It takes
/// no virtual time and does not affect the program.
#[derive(Clone, Default)]
pub struct Progress {
    told: Option<Rc<dyn Fn()>>,
}

impl Progress {
    /// Calls `told` after each step.
    pub fn new(told: impl Fn() + 'static) -> Self {
        Self { told: Some(Rc::new(told)) }
    }

    /// One further step is done.
    pub fn step(&self) {
        if let Some(told) = &self.told {
            told();
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = if self.told.is_some() { "told" } else { "not told" };
        f.debug_tuple("Progress").field(&told).finish()
    }
}
