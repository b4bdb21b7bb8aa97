//! What holds of every policy, whatever runs on whatever machine: nothing is lost, done twice, kept
//! waiting for ever or done in two places, as the trace has it, and a program finds what it finds.
//!
//! `MMGP_SEEDS=10 cargo test --release --test properties` runs a hundred times as many random workloads
//! under each policy as are run without it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mmgp::Mapping;
use mmgp::apps::pbpi::Pbpi;
use mmgp::apps::phylogeny::{Patterns, simulate};
use mmgp::apps::raxml::search::{Effort, Rates, Settings, Start};
use mmgp::apps::raxml::{Raxml, Tasks};
use mmgp::apps::{Application, Port};
use mmgp::cell::trace::{Arrow, ArrowEnd, Category, Event, Sink, Track};
use mmgp::cell::{Blade, EffectiveAddress, KernelTiming, Spe};
use mmgp::error::Result;
use mmgp::machine::Machine;
use mmgp::runtime::{Call, Loop, Policy, Runtime, Signalling, SpeProgram, Task, Teams};
use mmgp::schedulers::{policies, policy_named};
use mmgp::sim::Watch;
use mmgp::units::{Cycles, SimTime};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random workloads under each policy, of which a test takes its share.
const WORKLOADS: u64 = 750;

/// Random numbers of a workload.
struct Random(Xoshiro256PlusPlus);

impl Random {
    /// A number from `from` to `to`, both included.
    fn within(&mut self, from: u32, to: u32) -> u32 {
        from + (self.0.next_u64() % u64::from(to - from + 1)) as u32
    }

    /// Once in so many times.
    fn once_in(&mut self, times: u32) -> bool {
        self.within(1, times) == 1
    }

    /// About so many cycles, seldom far more.
    fn cycles(&mut self, about: u32) -> Cycles {
        let long = if self.once_in(8) { 20 } else { 1 };
        Cycles(u64::from(self.within(0, long * about)))
    }
}

/// One task of a process, with what the host does before it.
#[derive(Debug, Clone, Copy)]
struct Turn {
    burst: Cycles,
    /// Work on one SPE.
    task: Cycles,
    most_shares: u32,
    function: u32,
    on_host: Option<Cycles>,
    gives_way: bool,
    /// Whether only its process can go on with what comes next.
    binds: bool,
}

#[derive(Debug)]
struct Workload {
    machine: &'static str,
    mapping: Mapping,
    teams: Teams,
    /// The turns of each process.
    turns: Vec<Vec<Turn>>,
}

impl Workload {
    fn random(seed: u64) -> Self {
        let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let (machine, spes) = [("qs20", 16), ("qs20-cell", 8), ("ps3", 6)][seed as usize % 3];
        let m = random.within(1, spes);
        let mapping = Mapping::of(m, random.within(1, spes / m));
        let teams = if random.once_in(2) { Teams::ByHost } else { Teams::ByMaster };
        let host_can = random.once_in(4);
        let turns = |random: &mut Random| {
            let count = random.within(0, 6);
            (0..count).map(|_| Turn::random(random, host_can)).collect()
        };
        let turns = (0..m).map(|_| turns(&mut random)).collect();
        Self { machine, mapping, teams, turns }
    }
}

impl Turn {
    fn random(random: &mut Random, host_can: bool) -> Self {
        Self {
            burst: random.cycles(40_000),
            task: random.cycles(300_000),
            most_shares: random.within(1, 16),
            function: random.within(0, 1),
            on_host: host_can.then(|| random.cycles(300_000)),
            gives_way: random.once_in(6),
            binds: random.once_in(3),
        }
    }
}

/// The place where arguments would lie: they are the number of the turn, and what is done on the SPEs is looked up.
struct Program {
    teams: Teams,
    turns: Vec<Vec<Turn>>,
    calls: RefCell<Vec<(EffectiveAddress, u32, Call)>>,
    /// Tasks of each process that its master has begun.
    begun: Vec<Watch<u64>>,
}

/// The number of a turn of a process.
fn number(process: u32, turn: usize) -> EffectiveAddress {
    EffectiveAddress(u64::from(process) << 32 | turn as u64)
}

impl SpeProgram for Program {
    fn teams(&self) -> Teams {
        self.teams
    }

    async fn call(&self, spe: &Spe, call: Call) -> Result<Vec<Loop>> {
        let EffectiveAddress(number) = call.arguments;
        let (process, turn) = ((number >> 32) as usize, number as u32);
        self.calls.borrow_mut().push((call.arguments, spe.index, call));
        let begun = &self.begun[process];
        match call.share {
            0 => begun.update(|begun| *begun = u64::from(turn) + 1),
            _ => begun.wait_until(|&begun| begun > u64::from(turn)).await,
        }
        let Cycles(task) = self.turns[process][turn as usize].task;
        spe.spend(Cycles(task / u64::from(call.shares))).await;
        Ok(Vec::new())
    }
}

/// A sink for what the checks look at.
#[derive(Default)]
struct Kept(Vec<Event>);

impl Sink for Kept {
    fn record(&mut self, event: &Event) {
        let kept = match event {
            Event::Span { category, .. } => matches!(
                category,
                Category::Run | Category::Call | Category::Offload | Category::Wait
            ),
            Event::Arrow { .. } => true,
        };
        if kept {
            self.0.push(*event);
        }
    }
}

/// Runs a workload; what the SPEs were called for, how many SPEs each turn had, and the trace.
fn run(workload: &Workload, policy: Box<dyn Policy>) -> Result<(Rc<Program>, Shares, Vec<Event>)> {
    let kept = Rc::new(RefCell::new(Kept::default()));
    let sink = Rc::clone(&kept) as Rc<RefCell<dyn Sink>>;
    let machine = Machine::named(workload.machine)?;
    let on = Runtime::new(Blade::traced(&machine, KernelTiming::Cached, 0.0, sink), policy);
    let sim = &on.blade().sim;
    let begun = (0..workload.mapping.m()).map(|_| Watch::new(sim, "a master", 0));
    let program = Rc::new(Program {
        teams: workload.teams,
        turns: workload.turns.clone(),
        calls: RefCell::default(),
        begun: begun.collect(),
    });
    on.load(&program, Signalling::Memory);
    let shares = Rc::new(RefCell::new(BTreeMap::new()));
    for ((rank, own), turns) in (0..).zip(on.assign(workload.mapping)?).zip(&workload.turns) {
        let (process, turns, shares) = (on.process(rank, own), turns.clone(), Rc::clone(&shares));
        sim.spawn(format!("rank {rank}"), async move {
            process.resume().await;
            for (place, turn) in turns.into_iter().enumerate() {
                process.compute(turn.burst, &[]).await;
                let number = number(rank, place);
                let arguments = |_: &[u32]| number;
                let task = Task::new(turn.function, turn.most_shares, &arguments);
                let task = if turn.binds { task.continued_by_its_process() } else { task };
                let task = match turn.on_host {
                    None => task,
                    Some(cycles) => task.or_on_host(Box::pin(process.compute(cycles, &[]))),
                };
                let shared = process.run(task).await;
                let before = shares.borrow_mut().insert(number, shared);
                assert_eq!(before, None);
                if turn.gives_way {
                    process.give_way().await;
                }
            }
            process.finish(0);
        });
    }
    on.blade().run()?;
    let events = std::mem::take(&mut kept.borrow_mut().0);
    Ok((program, shares.take(), events))
}

/// How many SPEs shared each turn, none where the host did it.
type Shares = BTreeMap<EffectiveAddress, u32>;

/// Every turn was done, each share of it once, by an SPE of its own.
fn check_calls(workload: &Workload, program: &Program, shares: &Shares) {
    let all: usize = workload.turns.iter().map(Vec::len).sum();
    assert_eq!(shares.len(), all, "turns that were done");
    let mut called: BTreeMap<EffectiveAddress, Vec<(u32, u32)>> = BTreeMap::new();
    for &(number, spe, call) in program.calls.borrow().iter() {
        assert_eq!(call.shares, shares[&number], "{number:?}");
        called.entry(number).or_default().push((call.share, spe));
    }
    for (number, &shares) in shares {
        let mut calls = called.remove(number).unwrap_or_default();
        calls.sort_unstable();
        let of_share: Vec<u32> = calls.iter().map(|&(share, _)| share).collect();
        assert_eq!(of_share, (0..shares).collect::<Vec<_>>(), "{number:?}");
        let spes: BTreeSet<u32> = calls.iter().map(|&(_, spe)| spe).collect();
        assert_eq!(spes.len(), calls.len(), "{number:?} has an SPE twice");
    }
}

/// An SPE serves one call at a time, and a hardware thread runs one process.
fn check_tracks(events: &[Event]) {
    let mut busy: BTreeMap<Track, Vec<(SimTime, SimTime)>> = BTreeMap::new();
    for event in events {
        if let Event::Span { track, start, end, category, .. } = *event
            && matches!(category, Category::Run | Category::Call)
        {
            busy.entry(track).or_default().push((start, end));
        }
    }
    for (track, mut spans) in busy {
        spans.sort_unstable();
        for two in spans.windows(2) {
            assert!(two[0].1 <= two[1].0, "{track:?} does two things at once: {two:?}");
        }
    }
}

/// What the host starts, an SPE begins once; what an SPE ends, the host hears once.
fn check_arrows(events: &[Event]) {
    let mut ends: BTreeMap<Arrow, [u32; 2]> = BTreeMap::new();
    for event in events {
        if let Event::Arrow { arrow, end, .. } = *event {
            ends.entry(arrow).or_default()[usize::from(end == ArrowEnd::Arrival)] += 1;
        }
    }
    assert!(ends.values().all(|&ends| ends == [1, 1]), "{ends:?}");
    let starts = ends.keys().filter(|arrow| matches!(arrow, Arrow::Start { .. })).count();
    assert_eq!(2 * starts, ends.len());
}

/// The policies that promise to conserve work: no task waits for an SPE while one is idle.
const WORK_CONSERVING: [&str; 3] = ["edtlp-llp", "oracle", "mgps"];

/// All SPEs were leased at each moment at which a process began to wait for one.
fn check_conserved(workload: &Workload, shares: &Shares, events: &[Event]) {
    // The off-loads of a process in their order, with the SPEs that each had.
    let mut spans: BTreeMap<u32, Vec<(SimTime, SimTime)>> = BTreeMap::new();
    let mut waits = Vec::new();
    for event in events {
        match *event {
            Event::Span {
                track: Track::Rank(rank),
                category: Category::Offload,
                start,
                end,
                ..
            } => {
                spans.entry(rank).or_default().push((start, end));
            }
            Event::Span { category: Category::Wait, label, start, .. }
                if label.to_string() == "an idle SPE" =>
            {
                waits.push(start);
            }
            _ => {}
        }
    }
    let mut leases = Vec::new();
    for (rank, mut spans) in spans {
        spans.sort_unstable();
        let of_rank = shares.iter().filter(|&(&EffectiveAddress(number), &spes)| {
            (number >> 32) as u32 == rank && spes > 0
        });
        let spes: Vec<u32> = of_rank.map(|(_, &spes)| spes).collect();
        assert_eq!(spes.len(), spans.len(), "off-loads of process {rank}");
        leases.extend(spans.into_iter().zip(spes));
    }
    let spes = Machine::named(workload.machine).unwrap().layout.spes();
    for at in waits {
        let then = leases.iter().filter(|((start, end), _)| (*start..=*end).contains(&at));
        let leased: u32 = then.map(|(_, spes)| spes).sum();
        assert!(leased >= spes, "{leased} of {spes} SPEs are leased at {at:?}");
    }
}

/// All policies and their variants, numbers in whose names are small.
fn names() -> Vec<String> {
    let of = |policy: Box<dyn Policy>| {
        let name = policy.name();
        let variants = policy.variants().into_iter();
        let variants = variants.map(move |it| format!("{name}:{}", it.replace("-N", "-3")));
        std::iter::once(name.to_string()).chain(variants)
    };
    policies().into_iter().flat_map(of).collect()
}

#[test]
fn no_policy_loses_an_off_load_does_one_twice_or_keeps_a_process_waiting() {
    for name in names() {
        for seed in 0..testing::seeds(WORKLOADS) {
            let workload = Workload::random(seed);
            let policy = policy_named(&name).unwrap();
            let (program, shares, events) = run(&workload, policy)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}\n{workload:?}"));
            let checks = std::panic::AssertUnwindSafe(|| {
                check_calls(&workload, &program, &shares);
                check_tracks(&events);
                check_arrows(&events);
                if WORK_CONSERVING.iter().any(|it| name.split(':').next() == Some(it)) {
                    check_conserved(&workload, &shares, &events);
                }
            });
            if let Err(cause) = std::panic::catch_unwind(checks) {
                eprintln!("under {name}, seed {seed}: {workload:?}");
                std::panic::resume_unwind(cause);
            }
        }
    }
}

/// Eight taxa, few columns, short searches.
fn raxml() -> Raxml {
    let tree = simulate::tree(8, 0.1, 3).unwrap();
    let alignment = simulate::alignment(&tree, &simulate::names(8), 150, 3).unwrap();
    let settings = Settings::new(5, Rates::Gamma).starting_at(Start::Random);
    let settings = settings.with_effort(Effort { prunings: 2, ..Effort::SHORT });
    let tasks = Tasks { inferences: 0, bootstraps: 4 };
    Raxml::new(Patterns::compress(&alignment), settings, tasks, Port::Tuned).unwrap()
}

fn pbpi() -> Pbpi {
    let tree = simulate::tree(8, 0.1, 3).unwrap();
    let alignment = simulate::alignment(&tree, &simulate::names(8), 400, 3).unwrap();
    Pbpi::new(Patterns::compress(&alignment), None, 5, 3).unwrap()
}

#[test]
fn a_program_finds_the_same_under_every_policy_to_the_bit_where_sums_keep_their_order() {
    let machine = Machine::named("ps3").unwrap();
    let programs: [Box<dyn Application>; 2] = [Box::new(raxml()), Box::new(pbpi())];
    for program in programs {
        let run = |policy| {
            let blade = Blade::new(&machine, KernelTiming::Cached, 0.0);
            program.run(&Runtime::new(blade, policy), Mapping::of(3, 2)).unwrap()
        };
        let first = run(policies().remove(0));
        for name in names().into_iter().skip(1) {
            let policy = policy_named(&name).unwrap();
            let keeps_shares = policy.leases_own_only();
            let ran = run(policy);
            assert_eq!(ran.fingerprint.differs_from(&first.fingerprint), None, "{name}");
            if keeps_shares {
                assert_eq!(ran.fingerprint, first.fingerprint, "{name}");
            }
        }
    }
}
