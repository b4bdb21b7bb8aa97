//! What happens when in the middle of a run.

use std::cell::RefCell;
use std::rc::Rc;

use crate::Mapping;
use crate::apps::Application;
use crate::cell::trace::Sink;
use crate::cell::trace::chrome::ChromeTrace;
use crate::cell::trace::excerpt::Excerpt;
use crate::cell::{Blade, KernelTiming};
use crate::error::Result;
use crate::measure::Emulated;
use crate::model::Parameters;
use crate::model::parameters::Decomposition;
use crate::units::{Seconds, SimSpan};

/// Off-loads of a process that an excerpt of a trace shows.
const OFFLOADS_SHOWN: f64 = 12.0;

/// A run once more, for what happens when in its middle: a short trace.
pub(super) fn excerpt(
    app: &dyn Application,
    target: &Emulated,
    parameters: &Parameters,
    mapping: Mapping,
    time: Seconds,
) -> Result<Vec<u8>> {
    let machine = target.machine();
    let m = f64::from(mapping.m());
    let of_each = parameters.terms.offloads.value
        / match parameters.decomposition {
            Decomposition::Data => 1.0,
            Decomposition::Task { .. } => m,
        };
    let length = time * (OFFLOADS_SHOWN / of_each.max(OFFLOADS_SHOWN));
    let before = (of_each * m - OFFLOADS_SHOWN * m).max(0.0) / 2.0;
    let chrome = ChromeTrace::new(Vec::new(), machine.layout);
    let excerpt = Excerpt::new(chrome, before as u64, SimSpan::from_seconds(length));
    let excerpt = Rc::new(RefCell::new(excerpt));
    let sink = Rc::clone(&excerpt) as Rc<RefCell<dyn Sink>>;
    let blade = Blade::traced(machine, KernelTiming::Cached, 0.0, sink);
    app.run(&target.at_rest(blade)?, mapping)?;
    let mut excerpt = excerpt.borrow_mut();
    let chrome = excerpt.sink();
    chrome.finish().expect("invariant: writing to memory cannot fail");
    Ok(std::mem::take(chrome.out()))
}
