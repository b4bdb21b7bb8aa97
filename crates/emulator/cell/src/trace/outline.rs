//! A trace without what happens within calls.

use super::{Category, Event, Sink};

/// Passes on who runs on which hardware thread and what it does there, off-loads as host and SPEs see
/// them, and operations of MPI; not the kernels, transfers and waits within a call, nor arrows, which
/// are nineteen of twenty events and more.
pub struct Outline<S> {
    sink: S,
}

impl<S: Sink> Outline<S> {
    /// An outline that goes to `sink`.
    pub fn new(sink: S) -> Self {
        Self { sink }
    }

    /// Where it goes.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }
}

impl<S: Sink> Sink for Outline<S> {
    fn record(&mut self, event: &Event) {
        let Event::Span { category, .. } = event else { return };
        if !matches!(category, Category::Wait | Category::Kernel | Category::Dma) {
            self.sink.record(event);
        }
    }
}
