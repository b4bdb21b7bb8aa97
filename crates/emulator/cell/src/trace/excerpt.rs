//! A part of a trace that is short enough to be kept.

use super::{Category, Event, Sink};
use mmgp_base::units::{SimSpan, SimTime};

/// Passes on what happens in a window of time that opens after a number of off-loads; spans are cut
/// at its ends. DMA commands, which are most of a trace, and arrows, which need
/// both their ends, are left out.
pub struct Excerpt<S> {
    sink: S,
    /// Off-loads that still have to end before it opens.
    before: u64,
    length: SimSpan,
    /// Once it is open.
    window: Option<(SimTime, SimTime)>,
}

impl<S: Sink> Excerpt<S> {
    /// A window of that length, which opens with the end of an off-load: of the first, where `before`
    /// is 0.
    pub fn new(sink: S, before: u64, length: SimSpan) -> Self {
        Self { sink, before, length, window: None }
    }

    /// Where it goes.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }
}

impl<S: Sink> Sink for Excerpt<S> {
    fn record(&mut self, event: &Event) {
        let Event::Span { category, start, end, .. } = event else { return };
        // Spans come in the order of their ends, so what reaches into the window comes after it opened.
        let Some((from, until)) = self.window else {
            if *category == Category::Offload {
                match self.before.checked_sub(1) {
                    Some(fewer) => self.before = fewer,
                    None => self.window = Some((*end, *end + self.length)),
                }
            }
            return;
        };
        if *category == Category::Dma || *end <= from || *start >= until {
            return;
        }
        let mut cut = *event;
        if let Event::Span { start, end, .. } = &mut cut {
            (*start, *end) = ((*start).max(from), (*end).min(until));
        }
        self.sink.record(&cut);
    }
}
