//! A part of a trace that is short enough to be kept.

use super::{Category, Event, Sink};
use crate::units::SimTime;

/// Passes on what happens in a window of time, spans cut at its ends. DMA commands, which are most
/// of a trace, and arrows, which need both their ends, are left out.
pub struct Excerpt<S> {
    sink: S,
    from: SimTime,
    until: SimTime,
}

impl<S: Sink> Excerpt<S> {
    /// From one instant to a later one.
    pub fn new(sink: S, from: SimTime, until: SimTime) -> Self {
        Self { sink, from, until }
    }

    /// Where it goes.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }
}

impl<S: Sink> Sink for Excerpt<S> {
    fn record(&mut self, event: &Event) {
        let Event::Span { category, start, end, .. } = event else { return };
        if *category == Category::Dma || *end <= self.from || *start >= self.until {
            return;
        }
        let mut cut = *event;
        if let Event::Span { start, end, .. } = &mut cut {
            (*start, *end) = ((*start).max(self.from), (*end).min(self.until));
        }
        self.sink.record(&cut);
    }
}
