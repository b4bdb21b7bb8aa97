//! Traces in the trace-event format of Chrome, which Perfetto's viewer opens.
//!
//! One event stands on one line: spans as complete events (`X`), arrows as flow events (`s`, `f`,
//! bound to the span around them), names as metadata (`M`) before the first event of their track.
//! Times are microseconds with as many decimals as the femtoseconds of virtual time need, so no two
//! instants merge. Each Cell is a process of the trace, and so are the host's processes together.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::io::Write;

use crate::trace::{Argument, Arrow, ArrowEnd, Category, Event, Sink, Track};
use mmgp_base::units::{Bytes, SimSpan, SimTime};
use mmgp_machine::Layout;

/// Writes a trace as JSON while it comes, and holds no more of it than a buffer.
pub struct ChromeTrace<W> {
    out: W,
    layout: Layout,
    buffer: String,
    /// Tracks and processes of the trace that have a name.
    named: BTreeSet<(u32, Option<u32>)>,
    events: u64,
    limit: Option<Limit>,
    /// The first failure to write; nothing is written after it.
    failure: Option<io::Error>,
}

/// What a trace may take.
#[derive(Debug, Clone, Copy)]
struct Limit {
    bytes: u64,
    written: u64,
    /// The instant of the first event that found no room.
    reached: Option<SimTime>,
}

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// Ticks of virtual time, which are femtoseconds, in a microsecond.
const TICKS_PER_MICROSECOND: u64 = 1_000_000_000;

/// Thread numbers: viewers sort by them, and want them to differ between processes too.
const FIRST_RANK: u32 = 10_000;
const FIRST_SPE: u32 = 100_000;
/// Tracks of an SPE: its SPU and the lanes of its DMA.
const TRACKS_PER_SPE: u32 = 2_000;

impl<W: Write> ChromeTrace<W> {
    /// A trace of a machine with that layout.
    pub fn new(out: W, layout: Layout) -> Self {
        let mut buffer = String::with_capacity(BUFFER_BYTES + 1024);
        buffer.push_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        Self { out, layout, buffer, named: BTreeSet::new(), events: 0, limit: None, failure: None }
    }

    /// The same of so many bytes at most, but for what completes the last events: what happens after
    /// that is left out.
    pub fn limited(self, limit: Bytes) -> Self {
        Self { limit: Some(Limit { bytes: limit.0, written: 0, reached: None }), ..self }
    }

    /// Instant from which on events have been left out, if any were.
    pub fn ended_early(&self) -> Option<SimTime> {
        self.limit.and_then(|limit| limit.reached)
    }

    /// Whether there is room for an event that ends at `instant`.
    fn has_room(&mut self, instant: SimTime) -> bool {
        let gathered = self.buffer.len() as u64;
        let Some(limit) = &mut self.limit else { return true };
        if limit.reached.is_none() && limit.written + gathered >= limit.bytes {
            limit.reached = Some(instant);
        }
        limit.reached.is_none()
    }

    /// Completes the trace; how many events it holds, names included.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(&mut self) -> io::Result<u64> {
        self.buffer.push_str("\n]}\n");
        self.flush();
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.out.flush().map(|()| self.events),
        }
    }

    /// Writer of the trace.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    fn flush(&mut self) {
        if let Some(limit) = &mut self.limit {
            limit.written += self.buffer.len() as u64;
        }
        if self.failure.is_none() {
            self.failure = self.out.write_all(self.buffer.as_bytes()).err();
        }
        self.buffer.clear();
    }

    /// Begins an event: all have a phase and belong to a thread of a process.
    fn begin(&mut self, phase: char, process: u32, thread: u32) {
        let separator = if self.events == 0 { "\n" } else { ",\n" };
        self.buffer.push_str(separator);
        self.events += 1;
        self.text(format_args!("{{\"ph\":\"{phase}\",\"pid\":{process},\"tid\":{thread}"));
    }

    fn text(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.buffer.write_fmt(text);
    }

    /// A time in microseconds, exactly.
    fn time(&mut self, name: &str, ticks: u64) {
        let (whole, mut part) = (ticks / TICKS_PER_MICROSECOND, ticks % TICKS_PER_MICROSECOND);
        self.text(format_args!(",\"{name}\":{whole}"));
        if part > 0 {
            let mut digits = 9;
            while part.is_multiple_of(10) {
                part /= 10;
                digits -= 1;
            }
            self.text(format_args!(".{part:0digits$}"));
        }
    }

    /// The numbers of a track, which is named when it is met first.
    fn place(&mut self, track: Track) -> (u32, u32) {
        let (process, thread) = self.numbers(track);
        if self.named.insert((process, Some(thread))) {
            if self.named.insert((process, None)) {
                let name = match process.checked_sub(1) {
                    Some(cell) if cell < self.layout.cells => format!("Cell {cell}"),
                    _ => "Host processes".to_string(),
                };
                self.name("process_name", (process, thread), &name);
                self.number("process_sort_index", (process, thread), process);
            }
            let name = match track {
                Track::Rank(rank) => format!("rank {rank}"),
                Track::HardwareThread { thread, .. } => format!("PPE thread {thread}"),
                Track::Spu(spe) => format!("SPE {spe}"),
                Track::Dma { spe, lane: 0 } => format!("SPE {spe} DMA"),
                Track::Dma { spe, lane } => format!("SPE {spe} DMA ({})", lane + 1),
            };
            self.name("thread_name", (process, thread), &name);
            self.number("thread_sort_index", (process, thread), thread);
        }
        (process, thread)
    }

    /// Process and thread of the trace for a track: Cells count from 1, and the host's processes
    /// come after them.
    fn numbers(&self, track: Track) -> (u32, u32) {
        let of_spe = |spe: u32| (1 + spe / self.layout.spes_per_cell, spe * TRACKS_PER_SPE);
        match track {
            Track::Rank(rank) => (1 + self.layout.cells, FIRST_RANK + rank),
            Track::HardwareThread { cell, thread } => {
                (1 + cell, 1 + cell * self.layout.threads_per_ppe + thread)
            }
            Track::Spu(spe) => {
                let (process, first) = of_spe(spe);
                (process, FIRST_SPE + first)
            }
            Track::Dma { spe, lane } => {
                let (process, first) = of_spe(spe);
                (process, FIRST_SPE + first + 1 + lane)
            }
        }
    }

    fn name(&mut self, what: &str, (process, thread): (u32, u32), name: &str) {
        self.begin('M', process, thread);
        self.text(format_args!(",\"name\":\"{what}\",\"args\":{{\"name\":\"{name}\"}}}}"));
    }

    fn number(&mut self, what: &str, (process, thread): (u32, u32), index: u32) {
        self.begin('M', process, thread);
        self.text(format_args!(",\"name\":\"{what}\",\"args\":{{\"sort_index\":{index}}}}}"));
    }

    fn arguments<'a>(&mut self, arguments: impl Iterator<Item = &'a Argument>) {
        let mut separator = ",\"args\":{";
        for (name, value) in arguments {
            self.text(format_args!("{separator}\"{name}\":{value}"));
            separator = ",";
        }
        if separator == "," {
            self.buffer.push('}');
        }
    }
}

impl<W: Write> Sink for ChromeTrace<W> {
    fn record(&mut self, event: &Event) {
        let (Event::Span { end: instant, .. } | Event::Arrow { at: instant, .. }) = *event;
        if !self.has_room(instant) {
            return;
        }
        match *event {
            Event::Span { track, category, label, start, end, arguments } => {
                let (process, thread) = self.place(track);
                self.begin('X', process, thread);
                self.time("ts", start.ticks());
                self.time("dur", end.since(start).ticks());
                let category = category.name();
                self.text(format_args!(",\"name\":\"{label}\",\"cat\":\"{category}\""));
                self.arguments(arguments.iter().flatten());
            }
            Event::Arrow { track, at, arrow, end } => {
                let (process, thread) = self.place(track);
                self.begin(phase(end), process, thread);
                self.time("ts", at.ticks());
                let (name, id) = identity(arrow);
                self.text(format_args!(",\"name\":\"{name}\",\"cat\":\"offload\",\"id\":{id}"));
                if end == ArrowEnd::Arrival {
                    // It reaches the span around it, as it leaves one, not the next to begin.
                    self.buffer.push_str(",\"bp\":\"e\"");
                }
            }
        }
        self.buffer.push('}');
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }
}

const fn phase(end: ArrowEnd) -> char {
    match end {
        ArrowEnd::Departure => 's',
        ArrowEnd::Arrival => 'f',
    }
}

/// Name and number of an arrow: 40 bits of the call, then the SPE, of which there are at most 1024,
/// so a number that JSON's readers, who have doubles, take exactly.
fn identity(arrow: Arrow) -> (&'static str, u64) {
    let number = |spe: u32, call: u64| (u64::from(spe) << 40 | call) << 1;
    match arrow {
        Arrow::Start { spe, call } => ("start", number(spe, call)),
        Arrow::Stop { spe, call } => ("stop", number(spe, call) | 1),
    }
}

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

    /// Destination of the events.
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

    /// Destination of the events.
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
