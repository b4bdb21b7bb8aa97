//! How far an emulated program is, for whoever waits for the emulation.

use std::fmt;
use std::rc::Rc;

/// What is told of each step of a program: a generation of a chain, a task, a measurement. Telling
/// takes no virtual time, and the program learns nothing of it.
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
