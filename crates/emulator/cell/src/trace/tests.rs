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
