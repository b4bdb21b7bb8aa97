//! What happened when: spans on the time lines of processes, hardware threads and SPEs, and arrows
//! between them.
//!
//! A part of the machine that works or waits opens a span in one line,
//!
//! ```text
//! let _span = self.trace.span(Track::Spu(spe), Category::Kernel, "node_update");
//! ```
//!
//! and the span ends where the guard is dropped. Each event goes to a [`Sink`] as soon as it is
//! known and is kept nowhere, so a trace is as long as its sink can bear. A tracer that is off costs
//! one comparison a span.
//!
//! Spans on one track nest or do not overlap. A span of no length is left out: it could not be
//! seen, and viewers disagree on where it belongs.

pub mod chrome;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use mmgp_base::units::{SimSpan, SimTime};
use mmgp_sim::Sim;

/// Destination of events.
pub trait Sink {
    /// Takes one event; spans come in the order of their ends.
    fn record(&mut self, event: &Event);
}

/// A time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// A process of the host, by its rank: what it does and what it waits for.
    Rank(u32),
    /// A hardware thread of a PPE: which process it runs, and what that one executes.
    HardwareThread {
        /// The Cell of the PPE.
        cell: u32,
        /// The thread, counted on that PPE.
        thread: u32,
    },
    /// An SPU, by the number of its SPE, counted through all Cells.
    Spu(u32),
    /// DMA commands of an SPE. Commands that are under way at the same time lie in different lanes.
    Dma {
        /// The SPE.
        spe: u32,
        /// Lane, from 0.
        lane: u32,
    },
}

/// The category of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// A process holds a hardware thread.
    Run,
    /// The operating system changes from one process to another.
    Switch,
    /// Host code executes.
    Ppe,
    /// An off-load as the host sees it.
    Offload,
    /// An off-load as one SPE sees it: from the start flag to the stop flag.
    Call,
    /// A kernel runs on an SPU.
    Kernel,
    /// A DMA command, from its place in the queue to its last byte.
    Dma,
    /// Something waits for something else.
    Wait,
    /// An operation of MPI, waiting included.
    Mpi,
}

impl Category {
    /// Name in a trace.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Switch => "switch",
            Self::Ppe => "ppe",
            Self::Offload => "offload",
            Self::Call => "call",
            Self::Kernel => "kernel",
            Self::Dma => "dma",
            Self::Wait => "wait",
            Self::Mpi => "mpi",
        }
    }
}

/// The name of a span: a text, and a number after it where it says which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    text: &'static str,
    number: Option<u32>,
}

impl From<&'static str> for Label {
    fn from(text: &'static str) -> Self {
        Self { text, number: None }
    }
}

impl From<(&'static str, u32)> for Label {
    fn from((text, number): (&'static str, u32)) -> Self {
        Self { text, number: Some(number) }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{} {number}", self.text),
            None => f.write_str(self.text),
        }
    }
}

/// A named number that belongs to a span, such as its bytes.
pub type Argument = (&'static str, u64);

/// Arguments of a span at most.
const MOST_ARGUMENTS: usize = 4;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Something that took its time.
    Span {
        /// Time line.
        track: Track,
        /// Category.
        category: Category,
        /// Name.
        label: Label,
        /// Begin.
        start: SimTime,
        /// End, later than its begin.
        end: SimTime,
        /// What else is known.
        arguments: [Option<Argument>; MOST_ARGUMENTS],
    },
    /// One end of an arrow.
    Arrow {
        /// The track of the span that it leaves or reaches.
        track: Track,
        /// An instant within that span.
        at: SimTime,
        /// Which arrow.
        arrow: Arrow,
        /// Which end.
        end: ArrowEnd,
    },
}

/// Which end of an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrowEnd {
    /// Leaves a span.
    Departure,
    /// Reaches a span.
    Arrival,
}

/// An arrow between the host and an SPE. Both know the number of the call, so neither has to tell
/// the other what the arrow is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arrow {
    /// Start flag of the host, to the SPE that sees it.
    Start {
        /// The SPE.
        spe: u32,
        /// How many calls it has had, this one included.
        call: u64,
    },
    /// Stop flag of an SPE, to the host that sees it.
    Stop {
        /// The SPE.
        spe: u32,
        /// How many calls it has had, this one included.
        call: u64,
    },
}

/// Opens spans; clones write to the same sink.
#[derive(Clone, Default)]
pub struct Tracer {
    shared: Option<Rc<TraceState>>,
}

struct TraceState {
    sim: Sim,
    sink: Rc<RefCell<dyn Sink>>,
    /// Ends of the last command of each lane, by SPE.
    lanes: RefCell<BTreeMap<u32, Vec<SimTime>>>,
    functions: Cell<&'static [&'static str]>,
}

impl Tracer {
    /// A tracer that keeps nothing.
    pub(crate) fn off() -> Self {
        Self::default()
    }

    /// A tracer of what happens in `sim`.
    pub(crate) fn new(sim: &Sim, sink: Rc<RefCell<dyn Sink>>) -> Self {
        let (lanes, functions) = (RefCell::default(), Cell::default());
        Self { shared: Some(Rc::new(TraceState { sim: sim.clone(), sink, lanes, functions })) }
    }

    /// Whether anybody is told what happens.
    pub(crate) fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// Opens a span that ends when it is dropped.
    #[must_use = "the span ends where it is dropped"]
    pub fn span(&self, track: Track, category: Category, label: impl Into<Label>) -> Span {
        let open = self.shared.as_ref().map(|shared| OpenSpan {
            shared: Rc::clone(shared),
            track,
            category,
            label: label.into(),
            start: shared.sim.now(),
            arguments: [None; MOST_ARGUMENTS],
        });
        Span { open }
    }

    /// A DMA command of `spe` that was queued at `since` and is complete now; up to four arguments.
    pub(crate) fn transfer(
        &self,
        spe: u32,
        label: impl Into<Label>,
        since: SimTime,
        arguments: impl IntoIterator<Item = Argument>,
    ) {
        let Some(own) = &self.shared else { return };
        let end = own.sim.now();
        if end == since {
            return;
        }
        let lane = own.lane(spe, since, end);
        let mut arguments = arguments.into_iter();
        own.sink.borrow_mut().record(&Event::Span {
            track: Track::Dma { spe, lane },
            category: Category::Dma,
            label: label.into(),
            start: since,
            end,
            arguments: std::array::from_fn(|_| arguments.next()),
        });
    }

    /// Names the functions of the program on the SPEs, in the order of their numbers.
    pub fn name_functions(&self, names: &'static [&'static str]) {
        if let Some(own) = &self.shared {
            own.functions.set(names);
        }
    }

    /// What the off-loaded function with that number is called.
    pub fn function(&self, number: u32) -> Label {
        let names = self.shared.as_ref().map_or(&[][..], |own| own.functions.get());
        names.get(number as usize).map_or(("function", number).into(), |&name| name.into())
    }
}

impl TraceState {
    /// A lane in which nothing overlaps the given time. Commands come in the order of their ends;
    /// taking the lane that has been idle for the shortest time needs the fewest lanes.
    fn lane(&self, spe: u32, since: SimTime, end: SimTime) -> u32 {
        let mut lanes = self.lanes.borrow_mut();
        let lanes = lanes.entry(spe).or_default();
        let idle = (0..lanes.len()).filter(|&lane| lanes[lane] <= since);
        let lane = idle.max_by_key(|&lane| (lanes[lane], std::cmp::Reverse(lane)));
        match lane {
            Some(lane) => lanes[lane] = end,
            None => lanes.push(end),
        }
        lane.unwrap_or(lanes.len() - 1) as u32
    }
}

/// A span that is open until it is dropped; nothing where the tracer is off.
pub struct Span {
    open: Option<OpenSpan>,
}

struct OpenSpan {
    shared: Rc<TraceState>,
    track: Track,
    category: Category,
    label: Label,
    start: SimTime,
    arguments: [Option<Argument>; MOST_ARGUMENTS],
}

/// Arrows end within spans, not at their very ends, where rounding to nanoseconds (which viewers
/// do) could put them outside.
const INSIDE: SimSpan = SimSpan::from_ticks(2_000_000);

impl Span {
    /// Adds an argument; those beyond the fourth are left out.
    #[must_use = "the span ends where it is dropped"]
    pub fn with(mut self, name: &'static str, value: u64) -> Self {
        if let Some(open) = &mut self.open
            && let Some(free) = open.arguments.iter_mut().find(|argument| argument.is_none())
        {
            *free = Some((name, value));
        }
        self
    }

    /// An arrow leaves the span a little before the present instant.
    pub fn depart(&self, arrow: Arrow) {
        let Some(open) = &self.open else { return };
        let age = open.shared.sim.now().since(open.start);
        open.arrow(arrow, ArrowEnd::Departure, age - INSIDE.min(half(age)));
    }

    /// An arrow reached the span, halfway between its begin and the present instant.
    pub fn arrive(&self, arrow: Arrow) {
        let Some(open) = &self.open else { return };
        let age = open.shared.sim.now().since(open.start);
        open.arrow(arrow, ArrowEnd::Arrival, half(age));
    }
}

fn half(span: SimSpan) -> SimSpan {
    SimSpan::from_ticks(span.ticks() / 2)
}

impl OpenSpan {
    fn arrow(&self, arrow: Arrow, end: ArrowEnd, after: SimSpan) {
        let event = Event::Arrow { track: self.track, at: self.start + after, arrow, end };
        self.shared.sink.borrow_mut().record(&event);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(OpenSpan { shared, track, category, label, start, arguments }) = self.open.take()
        else {
            return;
        };
        let end = shared.sim.now();
        if end > start {
            let event = Event::Span { track, category, label, start, end, arguments };
            shared.sink.borrow_mut().record(&event);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use super::chrome::ChromeTrace;
    use super::*;
    use mmgp_machine::Layout;

    /// A sink for tests.
    #[derive(Default)]
    struct Kept(Vec<Event>);

    impl Sink for Kept {
        fn record(&mut self, event: &Event) {
            self.0.push(*event);
        }
    }

    /// Track, begin and end of each span of a category.
    fn spans(events: &[Event], wanted: Category) -> Vec<(Track, SimTime, SimTime)> {
        let span = |event: &Event| match *event {
            Event::Span { track, category, start, end, .. } if category == wanted => {
                Some((track, start, end))
            }
            _ => None,
        };
        events.iter().filter_map(span).collect()
    }

    #[test]
    fn commands_that_overlap_lie_in_different_lanes() {
        let (sim, kept) = (Sim::new(), Rc::new(RefCell::new(Kept::default())));
        let trace = Tracer::new(&sim, Rc::clone(&kept) as Rc<RefCell<dyn Sink>>);
        let own = sim.clone();
        sim.spawn("engine", async move {
            // [since, end]: the second begins before the first ends, the third when it ends, the
            // fourth after both.
            for (since, end) in [(0, 10), (5, 12), (10, 15), (13, 20), (20, 20)] {
                let at = |ticks| SimTime::ZERO + SimSpan::from_ticks(ticks);
                own.sleep_until(at(end)).await;
                trace.transfer(3, "get", at(since), [("bytes", 16)]);
            }
        });
        sim.run().unwrap();
        let lanes: Vec<Track> =
            spans(&kept.borrow().0, Category::Dma).into_iter().map(|(track, ..)| track).collect();
        assert_eq!(lanes, [0, 1, 0, 1].map(|lane| Track::Dma { spe: 3, lane }));
    }

    const LAYOUT: Layout = Layout { cells: 2, spes_per_cell: 8, threads_per_ppe: 2 };

    fn span(track: Track, start: u64, end: u64) -> Event {
        Event::Span {
            track,
            category: Category::Dma,
            label: ("get", 7).into(),
            start: SimTime::ZERO + SimSpan::from_ticks(start),
            end: SimTime::ZERO + SimSpan::from_ticks(end),
            arguments: [Some(("bytes", 128)), Some(("tag", 3)), None, None],
        }
    }

    /// The lines of a trace, without those of names.
    fn lines(events: &[Event]) -> Vec<String> {
        let mut written = Vec::new();
        let mut trace = ChromeTrace::new(&mut written, LAYOUT);
        for event in events {
            trace.record(event);
        }
        trace.finish().unwrap();
        let text = String::from_utf8(written).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(value["traceEvents"].is_array());
        text.lines()
            .filter(|line| line.starts_with("{\"ph\"") && !line.contains('_'))
            .map(str::to_string)
            .collect()
    }

    #[test]
    fn an_event_is_a_line_with_exact_microseconds() {
        // 312,500 femtoseconds are a cycle at 3.2 GHz: 0.0003125 microseconds.
        let at = SimTime::ZERO + SimSpan::from_ticks(5_000_000_001);
        let arrow = Arrow::Stop { spe: 1, call: 2 };
        let end = ArrowEnd::Arrival;
        let rank = Track::Rank(4);
        assert_eq!(
            lines(&[
                span(Track::Spu(9), 1_000_000_000, 1_000_312_500),
                Event::Arrow { track: rank, at, arrow, end },
            ]),
            [
                "{\"ph\":\"X\",\"pid\":2,\"tid\":118000,\"ts\":1,\"dur\":0.0003125,\"name\":\"get 7\",\
                 \"cat\":\"dma\",\"args\":{\"bytes\":128,\"tag\":3}},",
                "{\"ph\":\"f\",\"pid\":3,\"tid\":10004,\"ts\":5.000000001,\"name\":\"stop\",\
                 \"cat\":\"offload\",\"id\":2199023255557,\"bp\":\"e\"}",
            ]
        );
    }

    /// Counts what is written, and how much at once.
    #[derive(Default)]
    struct Counting {
        bytes: usize,
        most: usize,
        /// Writes that succeed.
        limit: Option<usize>,
    }

    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.limit == Some(0) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.limit = self.limit.map(|limit| limit - 1);
            self.bytes += bytes.len();
            self.most = self.most.max(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_million_events_pass_through_a_small_buffer() {
        let mut trace = ChromeTrace::new(Counting::default(), LAYOUT);
        for number in 0..1_000_000 {
            let track = Track::Dma { spe: number as u32 % 16, lane: 0 };
            trace.record(&span(track, 1_000_000 * number, 1_000_000 * number + 312_500));
        }
        // A million spans, the names and places of 16 tracks and of two Cells.
        assert_eq!(trace.finish().unwrap(), 1_000_000 + 2 * (16 + 2));
        let Counting { bytes, most, .. } = trace.out();
        assert!(*bytes > 100_000_000, "{bytes}");
        assert!(*most < (1 << 16) + 1024, "{most}");
    }

    #[test]
    fn nothing_is_written_after_a_failure_which_the_end_tells() {
        let out = Counting { limit: Some(2), ..Counting::default() };
        let mut trace = ChromeTrace::new(out, LAYOUT);
        for number in 0..10_000 {
            trace.record(&span(Track::Spu(0), number, number + 1));
        }
        assert_eq!(trace.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(trace.out().bytes < 3 << 16);
    }
}
