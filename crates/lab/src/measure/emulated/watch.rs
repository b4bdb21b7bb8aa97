//! What happens when in the middle of a run, seen while it is measured anyway.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use crate::measure::Emulated;
use mmgp_apps::{Application, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{SimSpan, SimTime};
use mmgp_cell::trace::chrome::{ChromeTrace, Excerpt};
use mmgp_cell::trace::{Category, Event, Sink};
use mmgp_cell::{Blade, KernelTiming};

/// A part of the run at one mapping that is to be traced.
#[derive(Debug)]
pub struct Watch {
    mapping: Mapping,
    begin: Begin,
    length: SimSpan,
    /// The trace, once it was run.
    trace: Mutex<Option<Vec<u8>>>,
}

/// The begin of a part of a run.
#[derive(Debug, Clone, Copy)]
enum Begin {
    /// The instant when so many off-loads and one more have ended.
    AfterOffloads(u64),
    /// An instant that is given.
    At(SimTime),
}

impl Watch {
    /// A part of that length, after so many off-loads.
    pub fn new(mapping: Mapping, before: u64, length: SimSpan) -> Self {
        let begin = Begin::AfterOffloads(before);
        Self { mapping, begin, length, trace: Mutex::default() }
    }

    /// A part of that length from an instant on, which several runs may have.
    pub fn at(mapping: Mapping, instant: SimTime, length: SimSpan) -> Self {
        Self { mapping, begin: Begin::At(instant), length, trace: Mutex::default() }
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
        let excerpt = match self.begin {
            Begin::AfterOffloads(before) => {
                Part::AfterOffloads(Excerpt::new(chrome, before, self.length))
            }
            Begin::At(from) => Part::Between(chrome, [from, from + self.length]),
        };
        let excerpt = Rc::new(RefCell::new(excerpt));
        let sink = Rc::clone(&excerpt) as Rc<RefCell<dyn Sink>>;
        let blade = Blade::traced(on.machine(), KernelTiming::Cached, 0.0, sink);
        let ran = workload.run(&on.at_rest(blade)?, self.mapping)?;
        let mut excerpt = excerpt.borrow_mut();
        let chrome = excerpt.chrome();
        chrome.finish().expect("invariant: writing to memory cannot fail");
        let trace = std::mem::take(chrome.out());
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
        Ok(ran)
    }
}

/// What passes on a part of what happens.
enum Part {
    AfterOffloads(Excerpt<ChromeTrace<Vec<u8>>>),
    /// Spans are cut at both instants. As of an excerpt, there are no DMA commands and no arrows.
    Between(ChromeTrace<Vec<u8>>, [SimTime; 2]),
}

impl Part {
    /// The trace that it goes to.
    fn chrome(&mut self) -> &mut ChromeTrace<Vec<u8>> {
        match self {
            Self::AfterOffloads(excerpt) => excerpt.sink(),
            Self::Between(chrome, _) => chrome,
        }
    }
}

impl Sink for Part {
    fn record(&mut self, event: &Event) {
        let (chrome, [from, until]) = match self {
            Self::AfterOffloads(excerpt) => return excerpt.record(event),
            Self::Between(chrome, window) => (chrome, *window),
        };
        let mut cut = *event;
        let Event::Span { category, start, end, .. } = &mut cut else { return };
        if *category == Category::Dma || *end <= from || *start >= until {
            return;
        }
        (*start, *end) = ((*start).max(from), (*end).min(until));
        chrome.record(&cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Target as _;
    use mmgp_apps::synthetic::{Burst, Durations, Synthetic};
    use mmgp_base::table::Source;
    use mmgp_base::table::trace::Trace;
    use mmgp_base::units::Seconds;
    use mmgp_machine::Machine;

    #[test]
    fn a_part_from_an_instant_on_is_the_part_that_off_loads_before_it_open() {
        let each = Burst { host: Seconds(11e-6), offload: Seconds(96e-6) };
        let program = Synthetic::new(3, 40, Durations::constant(each).unwrap(), 7).unwrap();
        let (mapping, length) = (Mapping::of(3, 1), SimSpan::from_seconds(Seconds(400e-6)));
        let ps3 = Emulated::new(Machine::named("ps3").unwrap());
        let trace = |watch: Watch| {
            let watch = std::sync::Arc::new(watch);
            ps3.watched(&watch).run(&program, mapping).unwrap();
            let text = String::from_utf8(watch.take().unwrap()).unwrap();
            Trace::read(&Source::new("trace", &text)).unwrap()
        };
        let opened = trace(Watch::new(mapping, 60, length));
        let spans = || opened.tracks.iter().flat_map(|track| &track.spans);
        let first = spans().map(|span| span.start_s).fold(f64::INFINITY, f64::min);
        let last = spans().map(|span| span.end_s).fold(0.0, f64::max);
        approx::assert_relative_eq!(last - first, 400e-6, max_relative = 1e-9);
        let instant = SimTime::ZERO + SimSpan::from_seconds(Seconds(first));
        let at = trace(Watch::at(mapping, instant, length));
        // The off-load whose end opens the one ends where the other begins.
        assert_eq!(at, opened);
    }
}
