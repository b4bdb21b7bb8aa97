//! What happens when in the middle of a run, seen while it is measured anyway.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use crate::Mapping;
use crate::apps::{Application, Ran};
use crate::cell::trace::Sink;
use crate::cell::trace::chrome::ChromeTrace;
use crate::cell::trace::excerpt::Excerpt;
use crate::cell::{Blade, KernelTiming};
use crate::error::Result;
use crate::measure::Emulated;
use crate::units::SimSpan;

/// A part of the run at one mapping that is to be traced.
#[derive(Debug)]
pub struct Watch {
    mapping: Mapping,
    /// Off-loads that end before it.
    before: u64,
    length: SimSpan,
    /// The trace, once it was run.
    trace: Mutex<Option<Vec<u8>>>,
}

impl Watch {
    /// A part of that length, after so many off-loads.
    pub fn new(mapping: Mapping, before: u64, length: SimSpan) -> Self {
        Self { mapping, before, length, trace: Mutex::default() }
    }

    /// Whether it is a part of the run at that mapping.
    pub(super) fn is_of(&self, mapping: Mapping) -> bool {
        self.mapping == mapping
    }

    /// The trace, in Chrome's format, if the run has ended.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs the workload, and keeps the trace.
    pub(super) fn run(&self, on: &Emulated, workload: &dyn Application) -> Result<Ran> {
        let chrome = ChromeTrace::new(Vec::new(), on.machine().layout);
        let excerpt = Excerpt::new(chrome, self.before, self.length);
        let excerpt = Rc::new(RefCell::new(excerpt));
        let sink = Rc::clone(&excerpt) as Rc<RefCell<dyn Sink>>;
        let blade = Blade::traced(on.machine(), KernelTiming::Cached, 0.0, sink);
        let ran = workload.run(&on.at_rest(blade)?, self.mapping)?;
        let mut excerpt = excerpt.borrow_mut();
        let chrome = excerpt.sink();
        chrome.finish().expect("invariant: writing to memory cannot fail");
        let trace = std::mem::take(chrome.out());
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
        Ok(ran)
    }
}
