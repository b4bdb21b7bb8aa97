//! What a trace says of off-loads: spans that nest and add up, arrows with two ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Cycles, Seconds, SimSpan, SimTime};
use mmgp_cell::mfc::{Command, Direction, Hazards};
use mmgp_cell::ppe::Work;
use mmgp_cell::trace::chrome::Excerpt;
use mmgp_cell::trace::{Arrow, ArrowEnd, Category, Event, Sink, Track};
use mmgp_cell::{Blade, KernelTiming, Spe};
use mmgp_machine::Machine;
use mmgp_runtime::{Call, Edtlp, Loop, Runtime, Signalling, SpeProgram, Task};
use mmgp_spu::{LocalAddress, Quadword};

/// A sink for tests.
#[derive(Default)]
struct Kept(Vec<Event>);

impl Sink for Kept {
    fn record(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

const BLOCK: u64 = 4096;

/// Fetches its share's block into four buffers while it computes, and stores another there.
struct Program;

impl SpeProgram for Program {
    const FUNCTIONS: &'static [&'static str] = &["first", "second"];

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let start = spe.sim.now();
        let block = call.arguments.offset(BLOCK * u64::from(call.share));
        let command = |direction, tag: u8| {
            let local = LocalAddress(BLOCK as u32 * u32::from(tag + 1));
            Command::new(direction, local, block, Bytes(BLOCK), tag)
        };
        for tag in 0..4 {
            spe.mfc.enqueue(command(Direction::Get, tag)).await?;
        }
        spe.spend(Cycles(1000)).await;
        for tag in 0..4 {
            spe.mfc.wait_for(tag).await;
        }
        spe.write(LocalAddress(6 * BLOCK as u32), &[Quadword::ZERO; BLOCK as usize / 16])?;
        spe.mfc.enqueue(command(Direction::Put, 5)).await?;
        spe.mfc.wait_for(5).await;
        Ok(vec![Loop { start, end: spe.sim.now() }])
    }
}

const RANKS: u32 = 6;
const OFFLOADS: u32 = 3;

/// Six ranks of a QS20, two on a hardware thread at least once, that off-load to two SPEs each.
fn run() -> (Runtime, Vec<Event>) {
    let kept = Rc::new(RefCell::new(Kept::default()));
    let machine = Machine::named("qs20").unwrap();
    let sink = Rc::clone(&kept) as Rc<RefCell<dyn Sink>>;
    let blade = Blade::traced(&machine, KernelTiming::Cached, 0.0, sink);
    blade.set_hazards(Hazards::Checked);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    let blade = on.blade();
    on.load(&Rc::new(Program), Signalling::Memory);
    for (rank, spes) in (0..RANKS).zip(on.assign(Mapping::of(RANKS, 2)).unwrap()) {
        let process = on.process(rank, spes);
        let data = blade.memory.allocate(blade.cell_of(rank), Bytes(2 * BLOCK));
        blade.sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            for number in 0..OFFLOADS {
                process.work(Work { integers: 100, ..Work::default() }).await;
                process.run(Task::new(number % 2, 2, &|_| data)).await;
            }
            process.finish(0);
        });
    }
    blade.run().unwrap();
    let events = std::mem::take(&mut kept.borrow_mut().0);
    (on, events)
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

fn total(events: &[Event], category: Category) -> SimSpan {
    spans(events, category).into_iter().map(|(_, start, end)| end.since(start)).sum()
}

#[test]
fn spans_on_one_track_nest_or_do_not_overlap() {
    let (_, events) = run();
    let mut open: BTreeMap<Track, Vec<(SimTime, SimTime)>> = BTreeMap::new();
    for event in &events {
        if let Event::Span { track, start, end, .. } = *event {
            open.entry(track).or_default().push((start, end));
        }
    }
    // Six ranks, four hardware threads, twelve SPUs, and DMA with several commands at once.
    assert!(open.len() > 6 + 4 + 12 + 12, "{}", open.len());
    for (track, spans) in open {
        for (index, a) in spans.iter().enumerate() {
            for b in &spans[index + 1..] {
                let apart = a.1 <= b.0 || b.1 <= a.0;
                let nested = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                assert!(apart || nested, "{track:?}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn spans_add_up_to_what_the_machine_counted() {
    let (on, events) = run();
    let blade = on.blade();
    let Seconds(busy) = blade.recorder.host_busy_time();
    assert_eq!(total(&events, Category::Ppe).seconds().0, busy);
    assert_eq!(spans(&events, Category::Dma).len() as u64, blade.dma_commands());
    assert_eq!(spans(&events, Category::Switch).len() as u64, blade.context_switches());
    assert!(blade.context_switches() > 0);
    assert_eq!(spans(&events, Category::Offload).len() as u32, RANKS * OFFLOADS);
    // A call is timed by the timebase: as a whole it is a tick of 70 ns off at most.
    let calls = spans(&events, Category::Call).len() as f64;
    assert_eq!(calls as u32, RANKS * OFFLOADS * 2);
    let readings = blade.recorder.own();
    let of_functions = readings.functions();
    let counted: u64 = of_functions.iter().map(|totals| totals.parallel + totals.serial).sum();
    let off = readings.ticks(counted).0 - total(&events, Category::Call).seconds().0;
    assert!(off.abs() < calls * readings.ticks(1).0, "{off}");
}

#[test]
fn each_arrow_leaves_one_span_and_later_reaches_another() {
    let (_, events) = run();
    let mut ends: BTreeMap<Arrow, Vec<(ArrowEnd, SimTime)>> = BTreeMap::new();
    for event in &events {
        let Event::Arrow { track, at, arrow, end } = *event else { continue };
        ends.entry(arrow).or_default().push((end, at));
        let around = |event: &&Event| match **event {
            Event::Span { track: of, start, end, .. } => of == track && start < at && at < end,
            Event::Arrow { .. } => false,
        };
        assert!(events.iter().any(|event| around(&event)), "{event:?} is in no span");
    }
    // To the SPE and back, for each SPE of each off-load.
    assert_eq!(ends.len() as u32, RANKS * OFFLOADS * 2 * 2);
    for (arrow, ends) in ends {
        let [(ArrowEnd::Departure, from), (ArrowEnd::Arrival, to)] = ends[..] else {
            panic!("{arrow:?}: {ends:?}")
        };
        assert!(from < to, "{arrow:?}");
    }
}

#[test]
fn an_excerpt_has_what_touches_its_window_cut_at_the_ends() {
    let (_, events) = run();
    let offloads: Vec<SimTime> = events
        .iter()
        .filter_map(|event| match event {
            Event::Span { category: Category::Offload, end, .. } => Some(*end),
            _ => None,
        })
        .collect();
    let (from, length) = (offloads[4], SimSpan::from_ticks(3_000_000_000));
    let until = from + length;
    let mut excerpt = Excerpt::new(Kept::default(), 4, length);
    events.iter().for_each(|event| excerpt.record(event));
    let kept = &excerpt.sink().0;
    let inside = |event: &&Event| match **event {
        Event::Span { category, start, end, .. } => {
            category != Category::Dma && start < until && end > from
        }
        Event::Arrow { .. } => false,
    };
    assert_eq!(kept.len(), events.iter().filter(inside).count());
    assert!(kept.len() > 10 && kept.len() < events.len() / 2, "{} of {}", kept.len(), events.len());
    for event in kept {
        let Event::Span { start, end, .. } = *event else { panic!("{event:?}") };
        assert!(from <= start && start < end && end <= until, "{event:?}");
    }
}
