//! Off-loading by flags in local store, or by mailboxes.
//!
//! [`Signalling::Memory`] is the protocol of the papers' run-time system: the host stores `stop = 0`
//! into a structure mapped into the SPE's local store, then `start = function`; the SPE spins on
//! `start`, fetches the arguments by DMA, computes, commits its results, stores `stop = 1`; the host
//! sees it when it loads `stop`. A task whose loops are shared by several SPEs is started on one after
//! the other and complete when the last has stopped. What the host process does meanwhile is up to
//! the [`Policy`](crate::Policy).
//!
//! [`Signalling::Mailbox`] is that of a first port: the host loads the status of the SPE's inbound
//! mailbox and writes the function there; the SPE's program reads it from its channel, computes as
//! above, and writes the function into its outbound mailbox. The host process loads the status of that
//! mailbox until there is a word, and then the word. It polls itself, under any policy, so that it
//! keeps its hardware thread until the SPEs are done: a scheduler that gives a thread away knows flags
//! in memory alone.
//!
//! The host's side stands first; the SPE's, a program that serves calls ([`SpeProgram`]), after it.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::course::Course;
use crate::leases::Lease;
use crate::policy::{Completion, Continuation, Images, Pending};
use crate::process::{Process, Shared, Slot, Told};
use crate::unbalancing::Kind;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, SimSpan};
use mmgp_cell::context::Code;
use mmgp_cell::element::{Fingerprint, Timed, Values, Writer};
use mmgp_cell::record::{Loop, Recorder};
use mmgp_cell::trace::{Arrow, Category, Track};
use mmgp_cell::{Blade, EffectiveAddress, Fault, Spe};
use mmgp_machine::Machine;

/// The host's side of an off-load.
impl Process {
    /// Tells the SPEs of a lease of a call, one after the other; the numbers of the calls of those
    /// that the host talks with.
    pub(crate) async fn start(
        &self,
        lease: &Lease,
        function: u32,
        (arguments, written): (EffectiveAddress, Bytes),
    ) -> Vec<u64> {
        let shares = lease.spes().len() as u32;
        let Shared { slots, courses, unbalancing, .. } = &*self.shared;
        let lead = match (unbalancing, slots.teams.get()) {
            (Some(unbalancing), Teams::ByMaster) => unbalancing.lead(Kind { function, shares }),
            _ => 0,
        };
        let call = |(slot, share)| (slot, Call { function, arguments, share, shares, lead });
        let calls: Vec<(&Slot, Call)> = slots.of(lease, 0..).map(call).collect();
        let of_spes: Vec<(&Spe, Call)> =
            calls.iter().map(|&(slot, call)| (&slot.spe, call)).collect();
        let by_host = slots.told_by_host(of_spes.len());
        let planned = match courses.of_task(self.rank, &of_spes, by_host) {
            Ok(planned) => planned,
            Err(error) => {
                self.shared.fault.raise(error);
                std::future::pending().await
            }
        };
        let told = calls.iter().zip(planned);
        let told = told
            .map(|(&(slot, call), course)| (slot, Told { process: self.rank, call, course }))
            .collect::<Vec<_>>();
        // Those that the host does not tell have been waiting all along.
        for (slot, told) in &told[by_host..] {
            slot.tell(told.clone());
        }
        let mut numbers = Vec::with_capacity(by_host);
        // The first start waits until all that was written can be fetched.
        let mut written = written;
        for (slot, told) in &told[..by_host] {
            let written = std::mem::take(&mut written);
            numbers.push(self.start_spe(slot, told.clone(), written).await);
        }
        numbers
    }

    async fn start_spe(&self, slot: &Slot, told: Told, written: Bytes) -> u64 {
        let spe = &slot.spe;
        let span = match self.shared.slots.signalling.get() {
            Signalling::Memory => {
                let span = self.crossing("start SPE", spe);
                self.claim(written).await;
                // stop = 0, then start = function.
                self.store_to_spe().await;
                self.store_to_spe().await;
                span
            }
            Signalling::Mailbox => {
                let span = self.crossing("write mailbox of SPE", spe);
                self.claim(written).await;
                // Whether there is room: what is written into a full mailbox overwrites.
                self.load_from_spe().await;
                self.write_mailbox(spe, told.call.function).await;
                span
            }
        };
        self.tells(spe);
        let number = slot.tell(told);
        span.depart(Arrow::Start { spe: spe.index, call: number });
        number
    }

    /// Waits until each SPE of a lease that the host talks with has served the call with its number, for
    /// somebody who can go on then.
    pub(crate) async fn wait_for_stops(
        &self,
        lease: &Lease,
        numbers: &[u64],
        continuation: Continuation,
    ) {
        let _wait = self.trace.span(self.track(), Category::Wait, "SPEs");
        let Shared { policy, slots, .. } = &*self.shared;
        let calls = slots.of(lease, numbers);
        match slots.signalling.get() {
            Signalling::Memory => {
                let stops = calls.map(|(slot, &number)| (slot.stopped.clone(), number)).collect();
                policy.wait(self, &Pending::new(stops, continuation)).await;
            }
            Signalling::Mailbox => {
                for (slot, _) in calls {
                    self.poll_mailbox(&slot.spe).await;
                }
            }
        }
    }

    /// Reads that the calls with those numbers are done, which they are.
    pub(crate) async fn collect(&self, lease: &Lease, numbers: &[u64]) {
        for (slot, &number) in self.shared.slots.of(lease, numbers) {
            let spe = &slot.spe;
            let span = match self.shared.slots.signalling.get() {
                Signalling::Memory => {
                    let span = self.crossing("collect SPE", spe);
                    self.load_from_spe().await;
                    span
                }
                Signalling::Mailbox => {
                    let span = self.crossing("read mailbox of SPE", spe);
                    let word = self.read_mailbox(spe.outbound_mailbox()).await;
                    word.expect("invariant: the status of the mailbox has told of a word");
                    span
                }
            };
            self.hears(spe);
            span.arrive(Arrow::Stop { spe: spe.index, call: number });
        }
    }
}

/// Loads a program on every SPE, which then serves calls for ever.
pub(crate) fn load<P: SpeProgram>(
    blade: &Blade,
    shared: &Rc<Shared>,
    program: &Rc<P>,
    signalling: Signalling,
) {
    blade.trace.name_functions(P::FUNCTIONS);
    shared.slots.signalling.set(signalling);
    shared.slots.teams.set(program.teams());
    if blade.is_functional_first() {
        shared.courses.write(program);
    }
    for spe in 0..blade.machine.layout.spes() {
        let server = Server {
            spe: blade.spe(spe).clone(),
            program: Rc::clone(program),
            shared: Rc::clone(shared),
            recorder: Rc::clone(&blade.recorder),
            machine: Rc::clone(&blade.machine),
            fault: blade.fault(),
            code: blade.code(),
            holds_parallel: Cell::new(false),
        };
        blade.sim.spawn_daemon(format!("SPE {spe}"), server.serve());
    }
}

/// The program of one SPE at work.
struct Server<P> {
    spe: Spe,
    program: Rc<P>,
    shared: Rc<Shared>,
    recorder: Rc<Recorder>,
    machine: Rc<Machine>,
    fault: Fault,
    /// What is fetched in place of the program that the SPE holds.
    code: Option<Code>,
    /// Whether it holds the program for tasks that several SPEs share, where that is another one.
    holds_parallel: Cell<bool>,
}

/// Whom an SPE tells that it is done by a flag in memory, and by what the policy adds.
enum Tells {
    Host,
    /// Nobody: it is told by other means, or its master is.
    Nobody,
}

impl<P: SpeProgram> Server<P> {
    /// Fetches the program that a call wants, unless the SPE holds it; how long that took.
    async fn fetch_program(&self, call: Call) -> Result<SimSpan> {
        let Some(code) = self.code else { return Ok(SimSpan::ZERO) };
        let (parallel, since) = (call.shares > 1, self.spe.sim.now());
        if self.shared.policy.images() == Images::SerialAndParallel
            && self.holds_parallel.replace(parallel) != parallel
        {
            let spe = &self.spe;
            let what = "the code of a program";
            let _span = spe.trace.span(Track::Spu(spe.index), Category::Wait, what);
            code.fetch(&Timed::new(spe)).await?;
        }
        Ok(self.spe.sim.now().since(since))
    }

    /// Runs a call's function, as its course says; how long its program was fetched before, and its loops.
    async fn follow(&self, call: Call, course: &Course) -> Result<(SimSpan, Vec<Loop>)> {
        let fetched = self.fetch_program(call).await?;
        let loops = match course {
            Course::Direct => self.program.call(&self.spe, call).await?,
            _ => self.shared.courses.follow(&self.spe, course).await,
        };
        Ok((fetched, loops))
    }

    async fn serve(self) {
        let Self { spe, shared, .. } = &self;
        let (slot, signalling) =
            (&shared.slots.slots[spe.index as usize], &shared.slots.signalling);
        for number in 1.. {
            slot.start.wait_until(|(count, _)| *count >= number).await;
            let Some(Told { process, call, course }) = slot.start.read(|(_, told)| told.clone())
            else {
                continue;
            };
            let begin = spe.sim.now();
            let label = spe.trace.function(call.function);
            let span = spe.trace.span(Track::Spu(spe.index), Category::Call, label);
            let by_host = (call.share as usize) < shared.slots.told_by_host(call.shares as usize);
            match signalling.get() {
                _ if !by_host => {}
                Signalling::Memory => spe.spend(spe.poll()).await,
                Signalling::Mailbox => self.read_mailbox().await,
            }
            if by_host {
                spe.hears_host();
                span.arrive(Arrow::Start { spe: spe.index, call: number });
            }
            match self.follow(call, &course).await {
                Ok((fetched, loops)) => {
                    if let Some(unbalancing) = &shared.unbalancing {
                        unbalancing.ended(process, call, &loops);
                    }
                    self.recorder.spe_run(call.function, begin + fetched, &loops, spe.sim.now());
                }
                Err(error) => return self.fault.raise(error),
            }
            let (function, at) = (call.function, spe.sim.now());
            let done = Completion { spe: spe.index, process, function, at };
            let tells = match signalling.get() {
                Signalling::Memory if by_host => Tells::Host,
                _ => Tells::Nobody,
            };
            self.tell(done, &course, tells).await;
            if by_host {
                if signalling.get() == Signalling::Mailbox {
                    self.write_mailbox(call.function).await;
                } else if matches!(course, Course::Direct) {
                    spe.tells_host();
                }
                span.depart(Arrow::Stop { spe: spe.index, call: number });
            }
            drop(span);
            shared.policy.completed(done);
            slot.stopped.update(|stopped| *stopped = number);
        }
    }

    /// Tells the host that the function is done as the policy has it, beside the flag, where it `tells`.
    async fn tell(&self, done: Completion, course: &Course, tells: Tells) {
        let Shared { policy, courses, .. } = &*self.shared;
        let steps = match tells {
            Tells::Host => policy.tell(done, &self.spe, &self.machine),
            Tells::Nobody => None,
        };
        let is_told = steps.is_some();
        courses.tell(&self.spe, course, steps).await;
        if is_told {
            policy.told(done, &self.spe);
        }
    }

    /// Takes the word that tells of the call.
    async fn read_mailbox(&self) {
        let track = Track::Spu(self.spe.index);
        let _span = self.spe.trace.span(track, Category::Wait, "inbound mailbox");
        self.spe.inbound_mailbox().read().await;
    }

    /// Tells the host that the function is done.
    async fn write_mailbox(&self, function: u32) {
        let track = Track::Spu(self.spe.index);
        let _span = self.spe.trace.span(track, Category::Wait, "outbound mailbox");
        self.spe.outbound_mailbox().write(function).await;
    }
}

/// What the host tells an SPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which function of the SPE's program.
    pub function: u32,
    /// Address of its arguments.
    pub arguments: EffectiveAddress,
    /// Which of the SPEs that share the task this one is, from 0.
    pub share: u32,
    /// How many share it.
    pub shares: u32,
    /// How many iterations of its loops the first of them takes beyond its equal part; below 0, fewer.
    pub lead: i32,
}

/// How host and SPE tell each other that a call begins and that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalling {
    /// Flags in local store.
    Memory,
    /// Words through the SPE's inbound and outbound mailbox.
    Mailbox,
}

/// Who tells the SPEs that share a task that it begins, and hears that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Teams {
    /// The host, one SPE after the other.
    #[default]
    ByHost,
    /// The host tells the first, the *master*, which tells the others, the *workers*, from local
    /// store to local store, and hears from them (LLP of PPoPP 2007). The others spin until it does;
    /// that is their program's business.
    ByMaster,
}

/// The program that is loaded on every SPE.
pub trait SpeProgram: 'static {
    /// What its functions are called in a trace, in the order of their numbers.
    const FUNCTIONS: &'static [&'static str] = &[];

    /// Who starts the SPEs of a task.
    fn teams(&self) -> Teams {
        Teams::ByHost
    }

    /// Runs one function and says when its shared loops began and ended, in their order; the
    /// results are committed when it returns.
    fn call(&self, spe: &Spe, call: Call) -> impl Future<Output = Result<Vec<Loop>>>;

    /// The same with the clock stopped, where its course does not depend on when things happen:
    /// see [`Element`](mmgp_cell::element::Element).
    fn write<'a>(&'a self, _: &'a Writer, _: Call) -> Option<Writing<'a>> {
        None
    }

    /// Fingerprint of all that the scripts of a task's calls depend on, where nothing is computed. Tasks of the same
    /// fingerprint have the same scripts, and which of them were written leaves no trace. Nothing
    /// where the calls must be written to know.
    fn alike(&self, _: &[(&Spe, Call)]) -> Option<Fingerprint> {
        None
    }

    /// Whether calls that are written down compute anything.
    fn values(&self) -> Values {
        Values::Computed
    }
}

/// What [`SpeProgram::write`] gives.
pub type Writing<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

#[cfg(test)]
mod tests {
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
            let arrow =
                |event: &&Event| matches!(event, Event::Arrow { end, .. } if *end == wanted);
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
}
