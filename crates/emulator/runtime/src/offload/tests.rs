use crate::{Loop, SpeProgram};
use mmgp_base::error::Result;
use mmgp_cell::Blade;
use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::{Edtlp, Policy, Runtime, Task};
use mmgp_base::units::{Cycles, Seconds};
use mmgp_cell::KernelTiming;
use mmgp_cell::trace::{ArrowEnd, Event, Sink};
use mmgp_machine::Machine;

/// Computes for 3200 cycles, a microsecond, the second SPE for half of it, and so on, and keeps its
/// calls.
#[derive(Default)]
struct Program {
    calls: RefCell<Vec<(u32, Call)>>,
}

impl SpeProgram for Program {
    const FUNCTIONS: &'static [&'static str] = &["first", "second"];

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        self.calls.borrow_mut().push((spe.index, call));
        let start = spe.sim.now();
        spe.spend(Cycles(3200 / u64::from(call.share + 1))).await;
        Ok(vec![Loop { start, end: spe.sim.now() }])
    }
}

#[derive(Default)]
struct Kept(Vec<Event>);

impl Sink for Kept {
    fn record(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

const OFFLOADS: u32 = 5;

/// The time of so many off-loads to `p` SPEs, and what the trace says.
fn run(signalling: Signalling, policy: Box<dyn Policy>, p: u32) -> (f64, Vec<Event>) {
    let kept = Rc::new(RefCell::new(Kept::default()));
    let sink = Rc::clone(&kept) as Rc<RefCell<dyn Sink>>;
    let machine = Machine::named("qs20").unwrap();
    let on = Runtime::new(Blade::traced(&machine, KernelTiming::Cached, 0.0, sink), policy);
    let program = Rc::new(Program::default());
    on.load(&program, signalling);
    let process = on.process(0, (0..p).collect());
    on.blade().sim.spawn("rank 0", async move {
        process.resume().await;
        for number in 0..OFFLOADS {
            let task = Task::new(number % 2, p, &|_| EffectiveAddress::default());
            assert_eq!(process.off_load(task).await, p);
        }
        process.finish(0);
    });
    let Seconds(time) = on.blade().run().unwrap().seconds();
    let calls = program.calls.borrow();
    assert_eq!(calls.len() as u32, OFFLOADS * p);
    for (number, (spe, call)) in (0..).zip(calls.iter()) {
        let expected = (number / p % 2, number % p, p);
        assert_eq!((call.function, call.share, call.shares), expected, "call {number}");
        assert_eq!(*spe, number % p);
    }
    let events = std::mem::take(&mut kept.borrow_mut().0);
    (time, events)
}

fn names(events: &[Event]) -> std::collections::BTreeSet<String> {
    let name = |event: &Event| match event {
        Event::Span { label, .. } => Some(label.to_string()),
        Event::Arrow { .. } => None,
    };
    events.iter().filter_map(name).collect()
}

fn check_time(p: u32, expected: f64) {
    let own_only = crate::policies().into_iter().filter(|policy| policy.leases_own_only());
    for policy in own_only {
        let name = policy.name();
        let (time, _) = run(Signalling::Mailbox, policy, p);
        let expected = f64::from(OFFLOADS) * expected;
        assert!((time - expected).abs() < 1e-15, "{name}, {p}: {time:e}, not {expected:e}");
    }
}

#[test]
fn an_offload_by_mailbox_takes_the_loads_stores_and_channels_that_it_is_made_of() {
    // Load of the status 150 ns, store of the word 100 ns, both channels 6 cycles; a call of 1 us.
    // The first poll begins with the call; the 7th ends at 1050 ns, after the 1003.75 ns that the
    // SPE takes. Then the word is loaded.
    check_time(1, 250e-9 + 1050e-9 + 150e-9);
    // Polls begin 250 ns after the first SPE; the 6th ends after its 1003.75 ns. The second SPE is
    // done by then, which takes a poll to see.
    check_time(2, 500e-9 + 900e-9 + 150e-9 + 2.0 * 150e-9);
}

#[test]
fn an_offload_by_mailbox_takes_longer_than_through_memory_and_the_trace_names_it() {
    for p in [1, 4] {
        let (memory, flags) = run(Signalling::Memory, Box::new(Edtlp::default()), p);
        let (mailbox, words) = run(Signalling::Mailbox, Box::new(Edtlp::default()), p);
        assert!(mailbox > memory + f64::from(OFFLOADS * p) * 50e-9, "{p}: {mailbox} {memory}");
        let (flags, words) = (names(&flags), names(&words));
        for name in ["write mailbox of SPE 0", "poll SPE 0", "read mailbox of SPE 0"] {
            assert!(words.contains(name) && !flags.contains(name), "{name}: {words:?}");
        }
        assert!(words.contains("inbound mailbox") && words.contains("outbound mailbox"));
        assert!(flags.contains("start SPE 0") && !words.contains("start SPE 0"));
    }
}

#[test]
fn arrows_of_an_offload_by_mailbox_have_two_ends() {
    let (_, events) = run(Signalling::Mailbox, Box::new(Edtlp::default()), 4);
    let ends = |wanted: ArrowEnd| {
        let arrow = |event: &&Event| matches!(event, Event::Arrow { end, .. } if *end == wanted);
        events.iter().filter(arrow).count() as u32
    };
    let calls = OFFLOADS * 4;
    assert_eq!([ends(ArrowEnd::Departure), ends(ArrowEnd::Arrival)], [2 * calls; 2]);
}

#[test]
fn who_polls_a_mailbox_keeps_the_hardware_thread_from_others() {
    // Two processes on one hardware thread, each with an SPE: through memory their calls overlap.
    let time = |signalling| {
        let machine = Machine::named("qs20").unwrap();
        let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        on.load(&Rc::new(Program::default()), signalling);
        let threads = machine.layout.cells * machine.layout.threads_per_ppe;
        for rank in [0, threads] {
            let process = on.process(rank, vec![rank % 8]);
            on.blade().sim.spawn(format!("rank {rank}"), async move {
                process.resume().await;
                for _ in 0..OFFLOADS {
                    process.off_load(Task::new(0, 1, &|_| EffectiveAddress::default())).await;
                }
                process.finish(0);
            });
        }
        let Seconds(time) = on.blade().run().unwrap().seconds();
        time
    };
    let alone = run(Signalling::Mailbox, Box::new(Edtlp::default()), 1).0;
    assert!(time(Signalling::Mailbox) > 2.0 * alone);
}
